"""An experiment as a web service: trials go out, results come in, nothing is lost.

    python examples/service.py experiment.yaml --log trials.sqlite

    POST /trials              {"n": 2} or {"segment": "new"}  -> [{"id": 0, "arm": ["flat", "new"]}]
    POST /trials/{id}/result     {"reward": 1.5, "costs": [...]} -> {"done": false}
    POST /trials/{id}/abandon                                    -> {"done": false}
    GET  /summary                estimates, intervals, what is open, and the answer
    GET  /health

Every request that changes something is written to an append-only table before it is answered, so a
service that is killed goes on where it was. A request to /trials may carry an `Idempotency-Key`
header: repeated with the same key it gets the same trials. A result may be sent again; another
result for the same trial is refused.

What the strategy promises holds if no result is late, or missing, because of its value
(docs/live.md). If good ones come first, set `window` and `default` among the arguments; with
`clock: true` the window is in seconds.

It listens on 127.0.0.1 and has no login: put it behind something that has.
"""

import argparse
import json
import math
import sqlite3
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import uvicorn
from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel, ConfigDict, Field, model_validator

from bestarm.core.inputs import Input, InputError, load
from bestarm.core.interactive import AskTell, Trial


class Experiment(Input):
    """The file that says what is tried."""

    paper: Literal["baics", "linear", "cbmai", "lagex"]
    strategy: str  # the name of its class, such as TaSCS
    arguments: dict[str, Any]
    clock: bool = False  # whether the argument `window` is in seconds, else in trials

    @model_validator(mode="after")
    def _has_a_window(self):
        if self.clock and self.arguments.get("window") is None:
            raise ValueError("clock: needs the argument window")
        return self


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Wanted(Body):
    """What is asked for: a number of trials, or one for somebody of a segment."""

    n: Annotated[int, Field(ge=1, le=1000)] = 1
    segment: int | str | None = None


class Result(Body):
    """What came of a trial."""

    reward: float
    costs: list[float] | None = None

    @property
    def told(self) -> tuple[Any, ...]:
        return (self.reward,) if self.costs is None else (self.reward, self.costs)


class Log:
    """The append-only table: what happened, in the order in which it did."""

    def __init__(self, path: Path | str) -> None:
        self.database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.execute("PRAGMA synchronous = FULL")
        self.database.execute("PRAGMA locking_mode = EXCLUSIVE")  # a second service is refused
        self.database.execute(
            "CREATE TABLE IF NOT EXISTS events"
            " (number INTEGER PRIMARY KEY, kind TEXT, key TEXT, body TEXT)"
        )

    def append(self, kind: str, key: str | None, body: Any) -> None:
        """Write an entry to the disk."""
        row = (kind, key, json.dumps(body))
        self.database.execute("INSERT INTO events (kind, key, body) VALUES (?, ?, ?)", row)

    def __iter__(self):
        rows = self.database.execute("SELECT kind, key, body FROM events ORDER BY number")
        return ((kind, key, json.loads(body)) for kind, key, body in rows)


class Service:
    """A strategy, and the log that it can be made from again.

    An entry is applied in memory, written, and only then answered. If writing fails, memory is made
    from the log again.
    """

    def __init__(self, experiment: Experiment, log: Log) -> None:
        self.experiment, self.log = experiment, log
        self.rebuild()

    def rebuild(self) -> None:
        """The strategy as the log has it. Raises InputError if that is of another experiment."""
        kind = getattr(import_module(f"bestarm.{self.experiment.paper}"), self.experiment.strategy)
        self.strategy: AskTell[Any] = kind(**self.experiment.arguments)
        self.given: dict[str, list[Trial[Any]]] = {}  # by key
        self.results: dict[int, Any] = {}
        self.clock = 0.0  # the latest time of an entry
        entries = iter(self.log)
        first = next(entries, None)
        if first is None:
            self.log.append("experiment", None, self.experiment.model_dump())
        elif Experiment(**first[2]) != self.experiment:
            raise InputError("the log is of another experiment: name another one with --log")
        for kind, key, body in entries:
            self.apply(kind, key, body)

    def apply(self, kind: str, key: str | None, body: Any) -> Any:
        """One entry of the log, old or new."""
        at = {"at": body.pop("at")} if "at" in body else {}
        self.clock = max(self.clock, *at.values(), 0.0)
        if kind == "wait":
            self.strategy.wait(**at)
            return None
        if kind == "ask":
            wanted = Wanted(**body)
            if wanted.segment is not None:
                trials = [self.strategy.ask(segment=wanted.segment, **at)]  # pyright: ignore
            else:
                trials = self.strategy.ask(wanted.n, **at)
            if key is not None:
                self.given[key] = trials
            return trials
        id = body["id"]
        if kind == "abandon":
            self.strategy.abandon(id, **at)
        else:
            told = Result(**body["result"]).told
            self.strategy.tell(self.strategy.trial(id), *told, **at)  # pyright: ignore
        self.results[id] = body.get("result")
        return None

    def do(self, kind: str, key: str | None, body: Any) -> Any:
        """A new entry: applied, written, answered."""
        if self.experiment.clock:
            self.clock = max(self.clock, time.time())  # clocks are set back now and then
            body = body | {"at": self.clock}
        try:
            found = self.apply(kind, key, dict(body))
        except (ValueError, TypeError) as error:
            raise HTTPException(422, str(error)) from None
        except RuntimeError as error:
            raise HTTPException(409, str(error)) from None
        try:
            self.log.append(kind, key, body)
        except sqlite3.Error as error:
            self.rebuild()
            raise HTTPException(503, f"the log cannot be written: {error}") from None
        return found


def make_app(service: Service) -> FastAPI:
    """The routes. They run one after another on one thread, so each is atomic."""
    app = FastAPI(title="bestarm", description=__doc__ or "")

    @app.post("/trials")
    async def ask(
        wanted: Wanted | None = None,
        idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
    ) -> list[dict[str, Any]]:
        trials = service.given.get(idempotency_key) if idempotency_key else None
        if trials is None:
            trials = service.do("ask", idempotency_key, (wanted or Wanted()).model_dump())
        return [trial._asdict() for trial in trials]

    @app.post("/trials/{id}/result")
    async def tell(id: int, result: Result) -> dict[str, Any]:
        return finish(id, "tell", result.model_dump())

    @app.post("/trials/{id}/abandon")
    async def abandon(id: int) -> dict[str, Any]:
        return finish(id, "abandon", None)

    def finish(id: int, kind: str, result: Any) -> dict[str, Any]:
        if id not in service.results:
            service.do(kind, None, {"id": id, "result": result})
        elif service.results[id] != result:
            raise HTTPException(409, f"trial {id} has another result already")
        return {"done": service.strategy.done}

    @app.get("/summary")
    async def summary() -> dict[str, Any]:
        s: Any = service.strategy
        if service.experiment.clock and not s.done:
            service.do("wait", None, {})
        return {
            "done": s.done,
            "answer": plain(s.answer if s.done or service.experiment.paper != "cbmai" else None),
            "told": s.told,
            "outstanding": len(s.outstanding),
            "open": s.why_not_done(),
            "estimates": [plain(row) for row in s.summary().to_dict("records")],
        }

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return app


def plain(value: Any) -> Any:
    """JSON has no infinity and no nan: null for both."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", type=Path, help="what is tried: paper, strategy, arguments")
    parser.add_argument("--log", type=Path, default=Path("trials.sqlite"), help="the log, kept")
    parser.add_argument("--port", type=int, default=8000)
    asked = parser.parse_args()
    try:
        service = Service(load(Experiment, asked.experiment), Log(asked.log))
    except sqlite3.Error as error:
        sys.exit(f"error: {asked.log}: {error} (does another service use it?)")
    except (InputError, AttributeError, TypeError) as error:
        sys.exit(f"error: {asked.experiment}: {error}")
    uvicorn.run(make_app(service), host="127.0.0.1", port=asked.port, log_level="warning")


if __name__ == "__main__":
    main()
