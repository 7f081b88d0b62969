"""examples/service.py as a process: clients that retry, kills, restarts, and nothing lost."""

import asyncio
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from bestarm.baics import FWS, TaSCS
from conftest import module_of

pytest.importorskip("fastapi", reason="the extra `service` is not installed")

ARGUMENTS = {
    "n_arms": ["flat", "loyalty", "delivery"],
    "weights": {"new": 7000, "regular": 3000},
    "delta": 1e-6,
}
CLIENTS, TRIALS = 8, 25


#: Results before a service is killed.
OFTEN_ENOUGH = 20


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """The service in a process of its own, restarted at will."""

    def __init__(self, root, folder, clock=False, **more):
        self.environment, self.options = None, []
        self.command = [sys.executable, str(root / "examples/service.py")]
        self.experiment, self.log = folder / "experiment.yaml", folder / "trials.sqlite"
        content = {"paper": "baics", "strategy": "TaSCS", "arguments": ARGUMENTS | more}
        content |= {"clock": True} if clock else {}
        self.experiment.write_text(yaml.safe_dump(content))
        self.port = free_port()
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [
                *(*self.command, str(self.experiment), "--log", str(self.log)),
                *("--port", str(self.port), *self.options),
            ],
            stderr=subprocess.PIPE,
            env=self.environment,
        )
        for _ in range(600):
            with contextlib.suppress(OSError):
                if self.get("/health") == {"status": "ok"}:
                    return
            assert self.process.poll() is None, self.process.stderr.read()
            time.sleep(0.1)
        raise TimeoutError("the service does not answer")

    def kill(self):
        """Also if it is dead already."""
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
            return json.load(answer)

    def post(self, path, body, **headers):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", **headers},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def insist(self, *arguments, **headers):
        """Post until there is an answer, as clients of a service that restarts do."""
        for pause in range(1, 100):
            try:
                return self.post(*arguments, **headers)
            except urllib.error.HTTPError:
                raise
            except (OSError, http.client.HTTPException):  # the answer may be cut short
                time.sleep(0.02 * pause)
        raise AssertionError("the service does not come back")

    def events(self):
        with contextlib.closing(sqlite3.connect(self.log)) as log:
            rows = log.execute("SELECT kind, key, body FROM events ORDER BY number").fetchall()
        return [(kind, key, json.loads(body)) for kind, key, body in rows[1:]]


@pytest.fixture(scope="module")
def shared(root, tmp_path_factory):
    """One for all tests that do not disturb it."""
    server = Server(root, tmp_path_factory.mktemp("service"))
    yield server
    server.kill()


@pytest.fixture
def server(root, tmp_path):
    server = Server(root, tmp_path)
    yield server
    server.kill()


def status_of(call):
    with pytest.raises(urllib.error.HTTPError) as error:
        call()
    error.value.close()
    return error.value.code


def test_it_says_what_is_wrong(shared):
    server = shared
    (trial,) = server.post("/trials", {})
    assert trial == {"id": 0, "arm": ["flat", "new"]}
    result = "/trials/0/result"
    assert status_of(lambda: server.post(result, {"reward": "much"})) == 422
    assert status_of(lambda: server.post(result, {"reward": 1.0, "costs": [1.0]})) == 422
    assert status_of(lambda: server.post("/trials/7/result", {"reward": 1.0})) == 422
    assert status_of(lambda: server.post("/trials", {"n": 0})) == 422
    assert status_of(lambda: server.post("/trials", {"segment": "old"})) == 422
    assert server.post(result, {"reward": 1.0}) == {"done": False}
    assert server.post(result, {"reward": 1.0}) == {"done": False}  # again
    assert status_of(lambda: server.post(result, {"reward": 2.0})) == 409
    key = {"Idempotency-Key": "a"}
    assert server.post("/trials", {"n": 2}, **key) == server.post("/trials", {"n": 2}, **key)
    assert server.post("/trials", {"segment": "regular"})[0]["arm"][1] == "regular"
    server.post("/trials/1/abandon", {})
    seen = server.get("/summary")
    assert (seen["told"], seen["outstanding"], seen["done"]) == (1, 2, False)
    assert len(seen["estimates"]) == 9
    assert seen["estimates"][-1]["segment"] == "all"
    assert "difference" not in seen["estimates"][0]
    compared = server.get("/summary?control=flat")["estimates"]
    assert compared[0]["difference"] is None  # its own, and no results yet
    assert "difference_low" in compared[3]
    assert status_of(lambda: server.get("/summary?control=none")) == 422


def test_the_example_is_the_test_of_the_page(root):
    """That of docs/live.md, whose own test runs it."""
    example = yaml.safe_load((root / "examples/experiment.yaml").read_text())
    page = (root / "docs/live.md").read_text(encoding="utf-8")
    names = {}
    exec(re.search(r"```python\n(.*?\ns = [^\n]*\n)", page, re.DOTALL)[1], names)
    assert example["strategy"] == "FWS"
    assert FWS(**example["arguments"]).fingerprint == names["s"].fingerprint


def said_of(call):
    """The status and what is said."""
    with pytest.raises(urllib.error.HTTPError) as error:
        call()
    with error.value as answer:
        return answer.code, json.load(answer)["detail"]


def raw(server, path, text):
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}{path}", text.encode(), {"Content-Type": "application/json"}
    )
    return urllib.request.urlopen(request, timeout=60)


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
def test_numbers_that_are_not_finite_are_refused(shared, number):
    (trial,) = shared.post("/trials", {})
    path = f"/trials/{trial['id']}/result"
    code, said = said_of(lambda: raw(shared, path, f'{{"reward": {number}}}'))
    assert code == 422
    assert said == "body.reward: Input should be a finite number"
    rows = f'[{{"arm": "flat", "segment": "new", "pulls": 1, "total": 1, "x": {number}}}]'
    assert said_of(lambda: raw(shared, "/counts", rows))[0] == 422


def test_a_key_is_of_one_request(shared):
    key = {"Idempotency-Key": "one request"}
    first = shared.post("/trials", {"n": 2, "segment": "new"}, **key)
    assert {trial["arm"][1] for trial in first} == {"new"}
    assert shared.post("/trials", {"n": 2, "segment": "new"}, **key) == first
    for path, body in (("/trials", {"n": 2, "segment": "regular"}), ("/allocation", {"n": 2})):
        code, said = said_of(lambda path=path, body=body: shared.post(path, body, **key))
        assert (code, said) == (422, "Idempotency-Key was used for another request")


def test_batches_counts_and_allocations(server):
    trials = server.post("/trials", {"n": 3, "segment": "new"})
    results = [{"id": trial["id"], "reward": 1.0} for trial in trials]
    again = server.post("/results", [*results, {"id": 0, "reward": 2.0}, {"id": 99, "reward": 1.0}])
    assert again["done"] is False
    assert [each["id"] for each in again["refused"]] == [0, 99]
    split = server.post("/allocation", {"n": 100, "segment": "new", "least_share": 0.2})
    assert sum(each["n"] for each in split) == 100
    assert min(each["n"] for each in split) >= 20
    rows = [
        {"arm": each["arm"], "segment": "new", "pulls": each["n"], "total": 50.0} for each in split
    ]
    code, said = said_of(lambda: server.post("/counts", rows))
    assert (code, said) == (422, "Idempotency-Key must be given, so that none counts twice")
    for _ in range(2):
        assert server.post("/counts", rows, **{"Idempotency-Key": "day 1"}) == {"done": False}
    assert server.get("/summary")["told"] == 103
    server.kill()
    server.start()
    assert server.post("/counts", rows, **{"Idempotency-Key": "day 1"}) == {"done": False}
    assert server.get("/summary")["told"] == 103


def test_messages_have_no_names_of_python(shared):
    (trial,) = shared.post("/trials", {})
    for path, body in [
        (f"/trials/{trial['id']}/result", {"reward": 1.0, "costs": [1.0]}),
        ("/trials", {"segment": "all"}),
        ("/trials", {"n": 1, "least_share": 0.1}),
        ("/allocation", {"n": 0}),
    ]:
        code, said = said_of(lambda path=path, body=body: shared.post(path, body))
        assert code == 422
        assert "\n" not in said
        for name in ("tell", "ask(", "argument", "self", "TaSCS", ".answer"):
            assert name not in said


def test_it_says_what_there_is(shared):
    with urllib.request.urlopen(f"http://127.0.0.1:{shared.port}/", timeout=60) as answer:
        text = answer.read().decode()
    for path in ("/trials", "/results", "/counts", "/allocation", "/summary", "BESTARM_TOKEN"):
        assert path in text


def test_other_machines_need_a_token(root, tmp_path, shared):
    command = [*shared.command, str(shared.experiment), "--log", str(tmp_path / "x.sqlite")]
    without = {name: value for name, value in os.environ.items() if name != "BESTARM_TOKEN"}
    refused = subprocess.run(
        [*command, "--host", "0.0.0.0"], capture_output=True, text=True, env=without
    )
    assert refused.returncode == 1
    assert "set BESTARM_TOKEN" in refused.stderr
    server = Server.__new__(Server)
    server.command, server.experiment = shared.command, shared.experiment
    server.log, server.port = tmp_path / "trials.sqlite", free_port()
    server.environment = without | {"BESTARM_TOKEN": "secret"}
    server.options = ["--host", "0.0.0.0"]
    server.start()
    try:
        code, said = said_of(lambda: server.post("/trials", {}))
        assert (code, said) == (401, "a token is needed: send Authorization: Bearer ...")
        assert said_of(lambda: server.post("/trials", {}, Authorization="Bearer x"))[0] == 401
        assert len(server.post("/trials", {}, Authorization="Bearer secret")) == 1
    finally:
        server.kill()


def test_many_outstanding_trials_do_not_delay_a_start(server):
    """A state is kept beside the log; what came after it is replayed."""
    n, asked = 15_000, 0
    while asked < n:
        asked += len(server.insist("/trials", {"n": 1000}))
    for id in range(OFTEN_ENOUGH):
        server.insist(f"/trials/{id}/result", {"reward": 1.0})
    before = server.get("/summary")
    server.kill()
    start = time.monotonic()
    server.start()
    assert server.get("/summary") == before
    assert before["outstanding"] == n - OFTEN_ENOUGH
    assert time.monotonic() - start < 60.0  # on the slowest machine


def test_a_kept_state_is_what_the_log_leads_to(root, tmp_path, monkeypatch):
    """A service that starts at any time, from a state or without one, is the one that was there."""
    module = module_of(root / "examples/service.py")
    monkeypatch.setattr(module, "OFTEN", 4)
    experiment = module.Experiment(paper="baics", strategy="TaSCS", arguments=ARGUMENTS)
    log = module.Log(tmp_path / "trials.sqlite")
    service, kept, first = module.Service(experiment, log), set(), None
    for k in range(30):
        wanted = module.Wanted(segment="new" if k % 3 else "regular").model_dump()
        answer = service.once("ask", f"key {k}", wanted)
        first = first or (wanted, json.dumps(answer))
        if k % 2:
            service.do("tell", None, {"id": k, "result": {"reward": 1.0, "costs": None}})
        again = module.Service(experiment, log)
        kept.add(again.kept)
        assert again.strategy.to_dict() == service.strategy.to_dict()
        assert again.results == service.results
        assert json.dumps(again.once("ask", "key 0", first[0])) == first[1]
        assert len(again.strategy.history) == len(service.strategy.history)
    assert len(kept) > 3


def test_a_window_in_seconds_passes_while_nobody_asks(root, tmp_path):
    """Also over a restart: the log has the times."""
    server = Server(root, tmp_path, clock=True, window=0.3, default=0.0)
    try:
        server.post("/trials", {"n": 2})
        server.post("/trials/1/result", {"reward": 5.0})
        server.kill()
        server.start()
        time.sleep(0.4)
        seen = server.get("/summary")
        rows = [row for row in seen["estimates"] if row["quantity"] == "reward" and row["pulls"]]
        assert sorted(row["estimate"] for row in rows) == [0.0, 5.0]
        assert server.post("/trials/0/result", {"reward": 9.0}) == {"done": False}  # too late
        assert server.get("/summary")["told"] == 2
    finally:
        server.kill()
    assert [kind for kind, _, _ in server.events()] == ["ask", "tell", "wait", "tell", "wait"]


def test_a_clock_needs_a_window(root, tmp_path):
    file = tmp_path / "experiment.yaml"
    content = {"paper": "baics", "strategy": "TaSCS", "arguments": ARGUMENTS, "clock": True}
    file.write_text(yaml.safe_dump(content))
    command = [sys.executable, str(root / "examples/service.py"), str(file)]
    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "clock: needs the argument window" in refused.stderr


def test_a_second_service_on_the_same_log_is_refused(shared):
    again = subprocess.run(
        [*shared.command, str(shared.experiment), "--log", str(shared.log), "--port", "0"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert again.returncode == 1
    assert again.stderr.startswith(f"error: {shared.log}: database is locked")


def test_a_log_of_another_experiment_is_refused(shared, tmp_path):
    """A copy of the log, which nobody has open."""
    log, experiment = tmp_path / "trials.sqlite", tmp_path / "experiment.yaml"
    for suffix in ("", "-wal"):
        shutil.copy(f"{shared.log}{suffix}", f"{log}{suffix}")
    experiment.write_text(shared.experiment.read_text().replace("1.0e-06", "0.1"))
    other = subprocess.run(
        [*shared.command, str(experiment), "--log", str(log), "--port", "0"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert other.returncode == 1
    assert "the log is of another experiment" in other.stderr


@pytest.mark.parametrize("kills", [[0.5], pytest.param([0.3, 0.6], marks=pytest.mark.long)])
def test_clients_that_retry_lose_nothing_when_it_is_killed(server, kills):
    """Every acknowledged result counts once; the state is that of an undisturbed replay.

    It is killed after these shares of the trials.
    """
    acknowledged = {}

    def client(number):
        coins = random.Random(number)
        for k in range(TRIALS):
            key = {"Idempotency-Key": f"{number}-{k}"}
            (trial,) = server.insist("/trials", {"n": 1}, **key)
            assert trial["id"] not in acknowledged
            reward = coins.gauss(1.0, 1.0)
            server.insist(f"/trials/{trial['id']}/result", {"reward": reward})
            if k % 5 == 0:  # the answer was lost on the way, say
                server.insist(f"/trials/{trial['id']}/result", {"reward": reward})
            acknowledged[trial["id"]] = reward

    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(client, number) for number in range(CLIENTS)]
        for share in kills:
            while len(acknowledged) < share * CLIENTS * TRIALS:
                for one in clients:
                    if one.done():
                        one.result()  # an error would keep us waiting
                time.sleep(0.01)
            server.kill()
            server.start()
        for one in clients:
            one.result()
    assert len(acknowledged) == CLIENTS * TRIALS
    seen = server.get("/summary")
    assert seen["told"] == CLIENTS * TRIALS
    assert seen["outstanding"] == 0
    estimates = [row["estimate"] for row in seen["estimates"]]
    server.kill()

    again = TaSCS(**ARGUMENTS)
    for kind, _, body in server.events():
        if kind == "ask":
            again.ask(body["n"])
        else:
            assert acknowledged[body["id"]] == body["result"]["reward"]
            again.tell(again.trial(body["id"]), body["result"]["reward"])
    assert estimates == again.summary().estimate.tolist()
    assert again.told == CLIENTS * TRIALS
    assert not Path(f"{server.log}-journal").exists()


def test_arms_that_are_dropped_and_added_are_so_after_a_restart(root, tmp_path):
    """Each once, however often it is sent; and not where a strategy cannot."""
    module = module_of(root / "examples/service.py")
    arguments = {"n_arms": ["a", "b", "c"], "may_add": True}
    experiment = module.Experiment(paper="bai", strategy="KLLUCB", arguments=arguments)
    service = module.Service(experiment, module.Log(tmp_path / "trials.sqlite"))
    send = {route.path: route.endpoint for route in module.make_app(service).routes}
    for _ in range(2):
        assert asyncio.run(send["/drop"](module.Arm(arm="b"))) == {"done": False}
        assert asyncio.run(send["/add"](module.Arm(arm="d"))) == {"arm": "d"}
    assert [event.kind for event in service.strategy.history] == ["new", "drop", "add"]
    service.rebuild()
    assert service.strategy.remaining == ["a", "c", "d"]
    with pytest.raises(module.HTTPException, match="arm must be one of a, b, c, d, got 'e'"):
        asyncio.run(send["/drop"](module.Arm(arm="e")))

    experiment = module.Experiment(
        paper="cbmai", strategy="SFSR", arguments={"n_arms": 3, "bounds": 1.0, "budget": 60}
    )
    service = module.Service(experiment, module.Log(tmp_path / "others.sqlite"))
    send = {route.path: route.endpoint for route in module.make_app(service).routes}
    with pytest.raises(module.HTTPException, match="cannot be dropped or added in this exp"):
        asyncio.run(send["/drop"](module.Arm(arm=0)))
