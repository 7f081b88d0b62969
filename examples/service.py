"""An experiment as a web service: trials go out, results come in, nothing is lost.

    python examples/service.py experiment.yaml --log trials.sqlite

    POST /trials              {"n": 2}, {"segment": "phone"} or both -> [{"id": 0, "arm": [...]}]
    POST /trials/{id}/result  {"reward": 1.0, "costs": [...]}      -> {"done": false}
    POST /trials/{id}/abandon                                      -> {"done": false}
    POST /results             [{"id": 0, "reward": 1.0}, ...]      -> {"done": false, "refused": []}
    POST /allocation          {"n": 900, "segment": "phone"}       -> [{"arm": "a page", "n": 300}]
    POST /counts              [{"arm": "a page", "segment": "phone", "pulls": 300, "total": 60}]
    POST /drop                {"arm": "a page"}                    -> {"done": false}
    POST /add                 {"arm": "a new page"}                -> {"arm": "a new page"}
    GET  /summary             estimates, intervals, what is open, and the answer; with
                              ?control=old+page also differences from an arm
    GET  /health
    GET  /                    this list

Every request that changes something is written to an append-only table before it is answered, so a
service that is killed goes on where it was. A request to /trials, /allocation or /counts may carry
an `Idempotency-Key` header, one to /counts has to: repeated with the same key and body it gets the
same answer and changes nothing; with another body it is refused. A result may be sent again;
another result for the same trial is refused. Of /results each is taken or refused by itself. An arm
that was dropped may be dropped again, and a name added again: nothing changes.

What the strategy promises holds if no result is late, or missing, because of its value
(docs/live.md). If good ones come first, set `window` and `default` among the arguments; with
`clock: true` the window is in seconds. Counts of a day are told when the day is over.

It listens on 127.0.0.1 and asks for no token there. With --host it serves other machines too, and
wants a token: set BESTARM_TOKEN, and send `Authorization: Bearer ...` with every request but
/health. It has no encryption of its own: put it behind something that has.
"""

import argparse
import hmac
import json
import math
import os
import sqlite3
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import uvicorn
from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field, model_validator

from bestarm.core.inputs import Input, InputError, load
from bestarm.live.changing import Changing
from bestarm.live.interactive import AskTell


class Experiment(Input):
    """The file that says what is tried."""

    paper: Literal["bai", "baics", "linear", "cbmai", "lagex"]
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


Label = int | str
LOOPBACK = ("127.0.0.1", "::1", "localhost")
#: Entries of the log after which the state is kept beside it, at least, and as a share of the log.
OFTEN, GROWTH = 10_000, 0.2
#: What a message for Python calls things, and what they are called here.
WORDS = {
    "ask(n)": "POST /trials",
    "its answer is in .answer": "GET /summary has the answer",
    "subpopulation": "segment",
}


class Wanted(Body):
    """What is asked for: a number of trials, of a segment or not."""

    n: Annotated[int, Field(ge=1, le=1000)] = 1
    segment: Label | None = None
    least_share: float | dict[str, float] | None = None

    @property
    def options(self) -> dict[str, Any]:
        given = {"segment": self.segment, "least_share": self.least_share}
        return {name: value for name, value in given.items() if value is not None}


class Visitors(Wanted):
    """How many visitors are to be allocated."""

    n: Annotated[int, Field(ge=1, le=1_000_000)]


class Result(Body):
    """What came of a trial."""

    reward: float
    costs: list[float] | dict[str, float] | None = None


class ResultOf(Result):
    """The same with the id of its trial."""

    id: int


class Arm(Body):
    """An arm to drop, or to add; without a name it is the next number."""

    arm: Label | None = None


class Row(BaseModel):
    """Results of an arm as counts: also `squares`, and the sum of each cost by name."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False)
    __pydantic_extra__: dict[str, float]
    arm: Label
    segment: Label | None = None
    pulls: Annotated[int, Field(ge=0)]
    total: float


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
        self.database.execute("CREATE TABLE IF NOT EXISTS states (number INTEGER, body TEXT)")
        self.length = self.database.execute("SELECT COUNT(*) FROM events").fetchone()[0]

    def keep(self, state: Any) -> None:
        """Keep a state that all entries so far lead to, in place of an older one."""
        body = json.dumps(state)
        self.database.execute("BEGIN")
        self.database.execute("DELETE FROM states")
        self.database.execute("INSERT INTO states VALUES (?, ?)", (self.length, body))
        self.database.execute("COMMIT")

    def kept(self) -> tuple[int, Any]:
        """After how many entries a state was kept, and the state; 0 and None if none was."""
        row = self.database.execute("SELECT number, body FROM states").fetchone()
        return (row[0], json.loads(row[1])) if row else (0, None)

    def append(self, kind: str, key: str | None, body: Any) -> None:
        """Write an entry to the disk."""
        row = (kind, key, json.dumps(body))
        self.database.execute("INSERT INTO events (kind, key, body) VALUES (?, ?, ?)", row)
        self.length += 1

    def after(self, number: int):
        """The entries after so many."""
        select = "SELECT kind, key, body FROM events ORDER BY number LIMIT -1 OFFSET ?"
        rows = self.database.execute(select, (number,))
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
        self.strategy: AskTell[Any] = self.kind(**self.experiment.arguments)
        self.given: dict[str, tuple[Any, Any]] = {}  # by key what was asked for, and the answer
        self.results: dict[int, Any] = {}
        self.clock = 0.0  # the latest time of an entry
        first = next(self.log.after(0), None)
        if first is None:
            self.log.append("experiment", None, self.experiment.model_dump())
        elif Experiment(**first[2]) != self.experiment:
            raise InputError("the log is of another experiment: name another one with --log")
        self.kept, state = self.log.kept()
        if state is not None:
            self.strategy = self.kind.from_dict(state["strategy"])
            self.given = {key: tuple(value) for key, value in state["given"].items()}
            self.results = dict(state["results"])
            self.clock = state["clock"]
        for kind, key, body in self.log.after(max(self.kept, 1)):
            self.apply(kind, key, body)
        self.keep_state()

    def keep_state(self) -> None:
        """Keep the state beside the log if that has grown much, so that the next start is quick."""
        if self.log.length - self.kept < max(OFTEN, GROWTH * self.log.length):
            return
        state = {"strategy": self.strategy.to_dict(), "given": self.given, "clock": self.clock}
        self.log.keep(state | {"results": [*self.results.items()]})
        self.kept = self.log.length

    @property
    def kind(self) -> Any:
        """The class of the strategy. Raises InputError if there is none of its name."""
        module = import_module(f"bestarm.{self.experiment.paper}")
        if self.experiment.strategy not in module.__all__:
            raise InputError(f"strategy: must be one of {', '.join(module.__all__)}")
        return getattr(module, self.experiment.strategy)

    def apply(self, kind: str, key: str | None, body: Any) -> Any:
        """One entry of the log, old or new."""
        asked = {name: value for name, value in body.items() if name != "at"}
        at = {"at": body["at"]} if "at" in body else {}
        self.clock = max(self.clock, *at.values(), 0.0)
        s: Any = self.strategy
        if kind == "wait":
            s.wait(**at)
            return None
        if kind in ("tell", "abandon"):
            id = asked["id"]
            if kind == "abandon":
                s.abandon(id, **at)
            else:
                s.tell(s.trial(id), *self.told(Result(**asked["result"])), **at)
            self.results[id] = asked.get("result")
            return None
        if kind in ("drop", "add"):
            return self.change(kind, asked["arm"])
        if kind == "ask":
            wanted = Wanted(**asked)
            self.check_segment(wanted)
            answer = [trial._asdict() for trial in s.ask(wanted.n, **wanted.options, **at)]
        elif kind == "allocate":
            wanted = Visitors(**asked)
            self.check_segment(wanted)
            found = s.allocation(wanted.n, **wanted.options)
            answer = [{"arm": arm, "n": n} for arm, n in found.items()]
        else:
            s.tell_table(asked["columns"])
            answer = {"done": s.done}
        if key is not None:
            self.given[key] = (kind, asked), answer
        return answer

    def change(self, kind: str, arm: Any) -> dict[str, Any]:
        """Drop or add an arm. Raises ValueError if the strategy cannot, or refuses it."""
        if not isinstance(self.strategy, Changing):
            raise ValueError("arms cannot be dropped or added in this experiment")
        if kind == "add":
            return {"arm": self.strategy.add(arm)}
        self.strategy.drop(arm)
        return {"done": self.strategy.done}

    def is_changed(self, kind: str, arm: Any) -> bool:
        """Whether an arm was dropped, or added, before."""
        s = self.strategy
        return isinstance(s, Changing) and arm in (s.dropped if kind == "drop" else s.added)

    def told(self, result: Result) -> tuple[Any, ...]:
        """What `tell` takes after the trial. Raises ValueError for missing or unwanted costs."""
        if (result.costs is None) == bool(self.strategy.told_costs):
            names = ", ".join(self.strategy.told_costs)
            raise ValueError(f"costs must be given: {names}" if names else "costs: there are none")
        return (result.reward,) if result.costs is None else (result.reward, result.costs)

    def check_segment(self, wanted: Wanted) -> None:
        """Raises ValueError if there are no segments."""
        if wanted.segment is not None and "segment" not in self.strategy.arm_columns:
            raise ValueError("segment must be left out: this experiment has none")

    def do(self, kind: str, key: str | None, body: Any) -> Any:
        """A new entry: applied, written, answered."""
        if self.experiment.clock:
            self.clock = max(self.clock, time.time())  # clocks are set back now and then
            body = body | {"at": self.clock}
        try:
            found = self.apply(kind, key, body)
        except (ValueError, TypeError) as error:
            raise HTTPException(422, in_words(error)) from None
        except RuntimeError as error:
            raise HTTPException(409, in_words(error)) from None
        try:
            self.log.append(kind, key, body)
        except sqlite3.Error as error:
            self.rebuild()
            raise HTTPException(503, f"the log cannot be written: {error}") from None
        self.keep_state()
        return found

    def once(self, kind: str, key: str | None, body: Any) -> Any:
        """`do`, or the answer from before if it was asked for with this key."""
        before = self.given.get(key) if key else None
        if before is None:
            return self.do(kind, key, body)
        if json.dumps(before[0]) != json.dumps((kind, body)):
            raise HTTPException(422, "Idempotency-Key was used for another request")
        return before[1]


def make_app(service: Service, token: str | None = None) -> FastAPI:
    """The routes. They run one after another on one thread, so each is atomic."""
    app = FastAPI(title="bestarm", description=__doc__ or "", docs_url=None, redoc_url=None)
    Key = Annotated[str | None, Header(max_length=200)]

    @app.exception_handler(RequestValidationError)
    async def explain(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]  # without its input, which may be no JSON
        where = ".".join(map(str, first["loc"]))
        return JSONResponse({"detail": f"{where}: {first['msg']}"}, 422)

    @app.middleware("http")
    async def check_token(request: Request, answer: Any) -> Any:
        sent = request.headers.get("authorization", "").encode()
        needed = token is not None and request.url.path != "/health"
        if needed and not hmac.compare_digest(sent, f"Bearer {token}".encode()):
            said = "a token is needed: send Authorization: Bearer ..."
            return JSONResponse({"detail": said}, 401)
        return await answer(request)

    @app.get("/")
    async def contents() -> PlainTextResponse:
        return PlainTextResponse(__doc__ or "")

    @app.post("/trials")
    async def ask(wanted: Wanted | None = None, idempotency_key: Key = None) -> list[Any]:
        return service.once("ask", idempotency_key, (wanted or Wanted()).model_dump())

    @app.post("/allocation")
    async def allocate(wanted: Visitors, idempotency_key: Key = None) -> list[Any]:
        return service.once("allocate", idempotency_key, wanted.model_dump())

    @app.post("/counts")
    async def count(rows: list[Row], idempotency_key: Key = None) -> dict[str, Any]:
        if not idempotency_key:
            raise HTTPException(422, "Idempotency-Key must be given, so that none counts twice")
        told = [row.model_dump(exclude_none=True) for row in rows]
        if len({frozenset(row) for row in told}) != 1:
            raise HTTPException(422, "rows must have the same fields, and be at least one")
        columns = {name: [row[name] for row in told] for name in told[0]}
        return service.once("counts", idempotency_key, {"columns": columns})

    @app.post("/drop")
    async def drop(arm: Arm, idempotency_key: Key = None) -> dict[str, Any]:
        if service.is_changed("drop", arm.arm):
            return {"done": service.strategy.done}
        return service.once("drop", idempotency_key, arm.model_dump())

    @app.post("/add")
    async def add(arm: Arm, idempotency_key: Key = None) -> dict[str, Any]:
        if service.is_changed("add", arm.arm):
            return {"arm": arm.arm}
        return service.once("add", idempotency_key, arm.model_dump())

    @app.post("/results")
    async def tell_several(results: list[ResultOf]) -> dict[str, Any]:
        refused: list[dict[str, Any]] = []
        for result in results:
            try:
                finish(result.id, "tell", result.model_dump(exclude={"id"}))
            except HTTPException as error:
                if error.status_code == 503:
                    raise
                refused.append({"id": result.id, "detail": error.detail})
        return {"done": service.strategy.done, "refused": refused}

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
    async def summary(control: str | None = None) -> dict[str, Any]:
        s: Any = service.strategy
        if service.experiment.clock and not s.done:
            service.do("wait", None, {})
        try:
            table = s.summary(control=control)
        except ValueError as error:
            raise HTTPException(422, in_words(error)) from None
        return {
            "done": s.done,
            "answer": plain(answer_of(s)),
            "told": s.told,
            "outstanding": len(s.outstanding),
            "open": s.why_not_done(),
            "estimates": [plain(row) for row in table.to_dict("records")],
        }

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return app


def answer_of(strategy: Any) -> Any:
    """The answer, by the names of arms if it is a policy; None if there is none before the end."""
    if hasattr(type(strategy), "mixture"):
        return strategy.mixture if strategy.done else None
    return strategy.policy if hasattr(strategy, "policy") else strategy.answer


def in_words(error: Exception) -> str:
    """What an error says, in the words of this service."""
    said = str(error)
    for name, word in WORDS.items():
        said = said.replace(name, word)
    return said


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
    parser.add_argument("--host", default="127.0.0.1", help="others need BESTARM_TOKEN to be set")
    asked = parser.parse_args()
    token = os.environ.get("BESTARM_TOKEN") or None
    if asked.host not in LOOPBACK and token is None:
        sys.exit(f"error: --host {asked.host}: set BESTARM_TOKEN, which others then have to send")
    try:
        service = Service(load(Experiment, asked.experiment), Log(asked.log))
    except sqlite3.Error as error:
        sys.exit(f"error: {asked.log}: {error} (does another service use it?)")
    except (InputError, TypeError) as error:
        sys.exit(f"error: {asked.experiment}: {error}")
    uvicorn.run(make_app(service, token), host=asked.host, port=asked.port, log_level="warning")


if __name__ == "__main__":
    main()
