"""The project that a client works in, as its roots tell: calls use that project's memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memstore
from memstore import Store
from memstore.faces.mcp import catalogue, roots
from memstore.faces.mcp.methods import Methods
from memstore.faces.mcp.session import ClientSession


class Opened:
    def __init__(self, store: Store) -> None:
        self._store = store

    def start(self) -> None:
        pass

    def store(self) -> Store:
        return self._store


class Client:
    """A client of a server that was started in the folder ``work/a``."""

    def __init__(self, store: Store, capabilities: dict[str, Any]) -> None:
        self.sent: list[dict[str, Any]] = []
        self.session = ClientSession(
            Methods(catalogue.offered(answers="json")),
            Opened(store),
            self.sent.append,
            is_named=True,
        )
        hello = {"protocolVersion": "2025-11-25", "clientInfo": {"name": "t", "version": "1"}}
        self.say("initialize", 0, **hello, capabilities=capabilities)
        self.say("notifications/initialized")

    def say(self, method: str, number: int | None = None, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        self.receive(message if number is None else message | {"id": number})

    def receive(self, message: dict[str, Any]) -> None:
        self.session.receive(json.dumps(message).encode())

    def store(self) -> Store:
        """Return the store that its calls use."""
        return self.session._source.store()

    @property
    def questions(self) -> list[str]:
        return [one["id"] for one in self.sent if one.get("method") == "roots/list"]

    def tell(self, *folders: Path | str, question: str | None = None) -> None:
        """Answer the last question, or another one."""
        uris = [one.as_uri() if isinstance(one, Path) else one for one in folders]
        result = {"roots": [{"uri": uri} for uri in uris]}
        self.receive({"jsonrpc": "2.0", "id": question or self.questions[-1], "result": result})

    def stored_in(self) -> str:
        """Store a fact; return the namespace where it is."""
        given = {"content": f"fact {len(self.sent)}", "subject": "s"}
        self.say("tools/call", 100 + len(self.sent), name="memory_store", arguments=given)
        self.session.settle(20)
        answer = self.sent[-1]["result"]["structuredContent"]
        return str(self.store().get(answer["id"]).namespace)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("MEMSTORE_PROJECT", "CLAUDE_PROJECT_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("a", "b c", "é"):
        (tmp_path / "work" / name / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work" / "a")
    return tmp_path / "work"


@pytest.fixture
def store(work: Path) -> Iterator[Store]:
    with memstore.open(work / "m.db", namespace="auto", embedder=None, source="test") as store:
        yield store


WITH_ROOTS = {"roots": {"listChanged": True}}


def test_calls_use_the_project_of_the_clients_root(store: Store, work: Path) -> None:
    client = Client(store, WITH_ROOTS)
    client.tell(work / "b c" / ".git")
    assert client.stored_in() == "~/work/b c"


def test_a_client_that_changes_its_folder_goes_on_in_the_other_project(
    store: Store, work: Path
) -> None:
    client = Client(store, WITH_ROOTS)
    client.tell(work / "a")
    assert client.stored_in() == "~/work/a"
    client.say("notifications/roots/list_changed")
    client.tell(work / "é")
    assert client.stored_in() == "~/work/é"
    client.tell(work / "a", question=client.questions[0])  # late, of the folder before
    assert client.stored_in() == "~/work/é"


def test_what_is_about_the_user_stays_shared(store: Store, work: Path) -> None:
    client = Client(store, WITH_ROOTS)
    client.tell(work / "é")
    inside = client.store()
    assert inside.add("Ana likes tea", subject="ana", category="preference").namespace == "default"
    assert [hit.fact.content for hit in inside.search("tea")] == ["Ana likes tea"]


def test_of_several_roots_the_project_that_the_server_was_started_in_counts(
    store: Store, work: Path
) -> None:
    client = Client(store, WITH_ROOTS)
    client.tell(work / "é", work / "a")
    assert client.stored_in() == "~/work/a"


@pytest.mark.parametrize(
    "told",
    [
        pytest.param({"result": {"roots": []}}, id="no roots"),
        pytest.param({"result": {"roots": [{"uri": "https://a.org/x"}, {}, 7]}}, id="no folders"),
        pytest.param({"result": {"roots": [{"uri": "file:///none/such"}]}}, id="not there"),
        pytest.param({"result": {"roots": [{"uri": "file://other/work/é"}]}}, id="elsewhere"),
        pytest.param({"result": {"roots": [{"uri": "file:///%00"}]}}, id="NUL"),
        pytest.param({"result": {"roots": [{"uri": "file://[a"}]}}, id="no address"),
        pytest.param({"result": {"roots": {"uri": 1}}}, id="no list"),
        pytest.param({"result": 7}, id="no result"),
        pytest.param({"error": {"code": -32601, "message": "no"}}, id="an error"),
    ],
)
def test_an_answer_without_folders_leaves_the_project(store: Store, told: dict[str, Any]) -> None:
    client = Client(store, WITH_ROOTS)
    client.receive({"jsonrpc": "2.0", "id": client.questions[-1], **told})
    assert client.stored_in() == "~/work/a"


def test_a_client_that_does_not_answer_is_not_waited_for_long(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roots, "PATIENCE_SECONDS", 0)
    assert Client(store, WITH_ROOTS).stored_in() == "~/work/a"


@pytest.mark.parametrize("capabilities", [{}, {"roots": None}, {"sampling": {}}])
def test_a_client_without_roots_is_not_asked(store: Store, capabilities: dict[str, Any]) -> None:
    client = Client(store, capabilities)
    client.say("notifications/roots/list_changed")
    assert client.questions == []
    assert client.stored_in() == "~/work/a"


def test_nobody_is_asked_where_the_project_is_named(
    store: Store, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_PROJECT", str(work / "é"))
    assert Client(store, WITH_ROOTS).questions == []


def test_in_a_namespace_of_several_projects_the_roots_say_from_which_a_call_comes(
    work: Path,
) -> None:
    with memstore.open(work / "one.db", embedder=None, source="test") as shared:
        client = Client(shared, WITH_ROOTS)
        for folder in ("a", "b c"):
            client.tell(work / folder)
            assert client.stored_in() == "default"
            client.say("notifications/roots/list_changed")
        client.tell(work / "b c")
        found = [fact.metadata["project"] for fact in shared.list()]
        assert found == ["~/work/a", "~/work/b c"]
        seen = client.store()
        hits = seen.search("fact")
        assert {hit.project for hit in hits} == {None, "~/work/a"}


def test_without_roots_the_repository_counts_in_which_the_server_was_started(work: Path) -> None:
    with memstore.open(work / "one.db", embedder=None, source="test") as shared:
        client = Client(shared, {})
        client.stored_in()
        assert [fact.metadata for fact in shared.list()] == [{"project": "~/work/a"}]


def test_a_folder_that_is_no_repository_is_no_project_of_the_server(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "programs" / "windsurf").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "programs" / "windsurf")
    with memstore.open(work / "one.db", embedder=None, source="test") as shared:
        client = Client(shared, {})
        client.stored_in()
        assert [fact.metadata for fact in shared.list()] == [{}]
