"""The file is moved away and back, or replaced, while servers use it, which may be killed."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.process.conftest import RawClient
from tests.support.clock import wait_until
from tests.support.moving import WAYS, Way, away, folder_away
from tests.support.served import MCP_HEADERS, Served, request

import memstore

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="there, an open file is not renamed"),
]

LOG_STAYS_OR_RETURNS = [way for name, way in WAYS.items() if name != "and back without its log"]

REFUSED = "nothing was stored"


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return WAYS[request.param]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with a fact and a token, in a folder of its own."""
    path = tmp_path / "folder" / "memory.db"
    with memstore.open(path, embedder=None) as store:
        store.add("kept before", subject="s")
    return path


def facts_of(path: Path) -> list[str]:
    with memstore.open(path, embedder=None) as store:
        assert store.file.doctor(deep=True) == []
        return [fact.content for fact in store.list(limit=None)]


# -- each face -------------------------------------------------------------------------------------


def test_a_server_over_pipes_goes_on(
    path: Path, raw_client: Callable[..., RawClient], way: Way
) -> None:
    client = raw_client("--namespace", "auto")
    client.hello()
    assert client.call("memory_search", query="kept")["facts"]
    for turn in range(2):
        way.away(path)
        for tool in ("memory_store", "memory_store", "memory_search"):
            arguments = {"content": "into the void", "subject": "s"}
            told = client.error(tool, **({"query": "x"} if tool == "memory_search" else arguments))
            assert repr(str(path)) in told
            assert "Put the file back, or mount its disk: the next call uses it." in told
            assert "For a new memory, restart the server" in told
            assert not path.exists()
        way.back(path)
        client.call("memory_store", content=f"turn {turn}", subject="s", category="preference")
    client.close()
    assert facts_of(path) == ["kept before", "turn 0", "turn 1"]


@pytest.mark.parametrize("flags", [(), ("--no-token",), ("--read-only",)])
def test_a_server_over_http_goes_on(path: Path, way: Way, flags: tuple[str, ...]) -> None:
    token = None
    if flags != ("--no-token",):
        with memstore.open(path, embedder=None) as store:
            _, token = store.file.tokens.create("team", namespace=store.namespace)
    server = Served(path, "--pages", *flags)
    search = request("tools/call", name="memory_search", arguments={"query": "kept"})
    add = request("tools/call", name="memory_store", arguments={"content": "void", "subject": "s"})
    try:
        for _ in range(2):
            assert "kept before" in server.post(search, token).text
            assert server.get("/readyz").status_code == 200
            way.away(path)
            hook = {"event": "prompt", "host": "claude-code", "prompt": "what is kept before?"}
            for path_of, message in (("/mcp", add), ("/mcp", search), ("/mcp/hook", hook)):
                headers = MCP_HEADERS | ({"Authorization": f"Bearer {token}"} if token else {})
                answer = httpx.post(
                    server.url + path_of, json=message, headers=headers, trust_env=False
                )
                assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
                assert "the memory's file is missing" in answer.json()["error"]["message"]
                assert str(path) not in answer.text
            assert wait_until(lambda: server.get("/readyz").status_code == 503)
            assert (server.get("/livez").status_code, path.exists()) == (200, False)
            way.back(path)
            assert wait_until(lambda: server.get("/readyz").status_code == 200)
            if flags != ("--read-only",):
                assert server.post(add, token).json()["result"]["isError"] is False
        assert any(repr(str(path)) in line for line in server.told)
        assert not any("token create" in line for line in server.told)
    finally:
        server.close()
    assert facts_of(path)[0] == "kept before"


def test_a_gap_between_two_files_is_a_gap(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        _, token = store.file.tokens.create("team", namespace=store.namespace)
        store.file.backup(path.with_name("backup.db"))
        store.add("kept after the backup", subject="s")
    server = Served(path)
    search = request("tools/call", name="memory_search", arguments={"query": "kept"})
    try:
        assert "after the backup" in server.post(search, token).text
        path.rename(away(path))
        for _ in range(3):
            answer = server.post(search, token)
            assert answer.status_code == 503
            assert "token create" not in answer.text
            assert not path.exists()
        path.with_name("backup.db").rename(path)
        assert wait_until(lambda: server.post(search, token).status_code == 200)
        found = server.post(search, token).text
        assert ("kept before" in found, "after the backup" in found) == (True, False)
    finally:
        server.close()


# -- at random -------------------------------------------------------------------------------------


class Caller(threading.Thread):
    """Stores facts without a pause; knows which were acknowledged, and which were refused.

    ``start_server`` starts a server of its own and returns a function that stores a text there: it
    returns what was answered, and whether it was acknowledged; and one that kills the server.
    """

    def __init__(self, name: str, start_server: Callable[[], Any]) -> None:
        super().__init__(name=name, daemon=True)
        self._start_server = start_server
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        """Of which the answer said that nothing was stored."""
        self.missed = 0
        self.troubles: list[str] = []
        self._ended = threading.Event()
        self._server = start_server()
        self._number = 0

    def run(self) -> None:
        while not self._ended.is_set():
            text = f"{self.name} {self._number}"
            self._number += 1
            try:
                told, is_stored = self._server.store(text)
            except (AssertionError, OSError, ValueError, RuntimeError, httpx.TransportError):
                self._ended.wait(0.01)  # it was killed
                continue
            if is_stored:
                self.acknowledged.append(text)
            else:
                self._note_refusal(text, told)
            self._ended.wait(0.002)  # a few thousand facts are enough

    def _note_refusal(self, text: str, told: str) -> None:
        self.missed += 1
        if REFUSED in told:
            self.refused.append(text)
        elif "while it was open" not in told and "may hold this write" not in told:
            self.troubles.append(told)

    def kill(self) -> None:
        self._server.kill()

    def restart(self) -> None:
        self._server = self._start_server()

    def end(self) -> None:
        self._ended.set()
        self.join(60)
        self._server.kill()


class OverPipes:
    """A server over pipes."""

    def __init__(self, path: Path) -> None:
        self._client = RawClient(path, "--embedder", "none", "--durability", "normal")
        self._client.hello()

    def store(self, text: str) -> tuple[str, bool]:
        arguments = {"content": text, "subject": "s"}
        done = self._client.request("tools/call", {"name": "memory_store", "arguments": arguments})
        return done["content"][0]["text"], not done["isError"]

    def kill(self) -> None:
        process = self._client.process
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):
                pipe.close()


class OverHttp:
    """A server over HTTP."""

    def __init__(self, path: Path, token: str) -> None:
        self._token = token
        self._server = Served(path, "--durability", "normal")

    def store(self, text: str) -> tuple[str, bool]:
        arguments = {"content": text, "subject": "s"}
        sent = request("tools/call", name="memory_store", arguments=arguments)
        answer = self._server.post(sent, self._token)
        if answer.status_code != 200:
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
            return f"{answer.text}: {REFUSED}", False
        done = answer.json()["result"]
        return done["content"][0]["text"], not done["isError"]

    def kill(self) -> None:
        self._server.process.kill()
        self._server.close()


class InThisProcess:
    """A store that is never opened again."""

    def __init__(self, path: Path) -> None:
        self._store = memstore.open(path, embedder=None, durability="normal")

    def store(self, text: str) -> tuple[str, bool]:
        try:
            self._store.add(text, subject="s")
        except memstore.MemstoreError as error:
            return str(error), False
        return "", True

    def kill(self) -> None:
        self._store.close()


def test_what_was_acknowledged_is_there_when_the_file_is_back(
    path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    dice = random.Random(40)
    rounds = pytestconfig.getoption("--kills")
    with memstore.open(path, embedder=None) as store:
        _, token = store.file.tokens.create("team", namespace=store.namespace)
    callers = [
        Caller("pipes one", lambda: OverPipes(path)),
        Caller("pipes two", lambda: OverPipes(path)),
        Caller("http", lambda: OverHttp(path, token)),
        Caller("library", lambda: InThisProcess(path)),
    ]
    kills = unnoticed = 0
    with ExitStack() as stack:
        for caller in callers:
            stack.callback(caller.end)
            caller.start()
        for number in range(rounds):
            _wait_for(callers, "acknowledged", dice.randrange(1, 8))
            way = dice.choice(LOG_STAYS_OR_RETURNS)
            way.away(path)
            killed = [one for one in callers[:3] if dice.random() < 0.1]
            if dice.random() < 0.2:
                unnoticed += 1  # it may be back before anybody looks
            else:
                others = [one for one in callers if one not in killed]
                _wait_for(others, "missed", dice.randrange(1, 4))
                assert not path.exists(), number
            for one in killed:
                one.kill()
                kills += 1
            assert not path.exists(), number
            way.back(path)
            for one in killed:
                one.restart()
        _wait_for(callers, "acknowledged", 1)
    found = facts_of(path)
    assert len(found) == len(set(found))
    acknowledged = {text for one in callers for text in one.acknowledged}
    refused = {text for one in callers for text in one.refused}
    assert acknowledged - set(found) == set()
    assert refused & set(found) == set()
    assert not folder_away(path).exists()
    record_property(
        "counts",
        f"{rounds} moves, {unnoticed} of them short, {kills} kills, {len(acknowledged)} "
        f"acknowledged, 0 lost; {len(refused)} refused, 0 stored",
    )


def test_a_replaced_file_has_what_was_acknowledged_before(
    path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    """A backup is put in the file's place, with a gap in between, and later the file again."""
    dice = random.Random(41)
    rounds = max(2, pytestconfig.getoption("--kills") // 4)
    with memstore.open(path, embedder=None) as store:
        _, token = store.file.tokens.create("team", namespace=store.namespace)
        store.file.backup(path.with_name("other.db"))
    callers = [
        Caller("pipes one", lambda: OverPipes(path)),
        Caller("pipes two", lambda: OverPipes(path)),
        Caller("http", lambda: OverHttp(path, token)),
    ]
    other, former = path.with_name("other.db"), path.with_name("former.db")
    with ExitStack() as stack:
        for caller in callers:
            stack.callback(caller.end)
            caller.start()
        for _ in range(rounds):
            _wait_for(callers, "acknowledged", dice.randrange(1, 8))
            path.rename(former)
            _wait_for(callers, "missed", 1)  # so each has taken its log along
            assert not path.exists()
            other.rename(path)
            other, former = former, other
            _wait_for(callers, "acknowledged", 1)
    there = [*facts_of(path), *facts_of(other)]
    acknowledged = {text for one in callers for text in one.acknowledged}
    assert acknowledged - set(there) == set()
    assert [one.name for one in path.parent.iterdir() if ".former-" in one.name] == []
    record_property("counts", f"{rounds} replaced, {len(acknowledged)} acknowledged, 0 lost")


def _wait_for(callers: list[Caller], what: str, more: int) -> None:
    """Wait until each caller has so many more of something."""

    def count(caller: Caller) -> int:
        value = getattr(caller, what)
        return value if isinstance(value, int) else len(value)

    goals = {caller: count(caller) + more for caller in callers}

    def is_reached() -> bool:
        assert [one.troubles for one in callers if one.troubles] == []
        return all(count(caller) >= goal for caller, goal in goals.items())

    assert wait_until(is_reached, 120), {one.name: count(one) - goals[one] for one in callers}
