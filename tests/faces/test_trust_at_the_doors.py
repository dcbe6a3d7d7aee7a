"""How much a text counts is asked at every door: command line, pages, tools over HTTP, imports.

The library's acts are in ``tests/facts/test_acts_of_others.py``; here each face does the same act
as a program whose source is external.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.asgi import client
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.pages import Pages
from tests.support.served import MCP_HEADERS, request

import memstore
from memstore import Conflict, Store
from memstore.faces.mcp import protocol

ROME, BONN = "Ana lives in Rome", "Ana lives in Bonn"
PROGRAM = "scraper"


@pytest.fixture
def person(cli: CommandLine) -> Iterator[Store]:
    """The memory of a person, on the file that the command line uses: fact 1."""
    with memstore.open(cli.db, embedder=None, actor="user", source="app") as store:
        store.add(ROME, subject="ana", external_key="home")
        yield store


def nothing(_: Store) -> None:
    pass


def deleted(person: Store) -> None:
    person.delete(1)


def superseded(person: Store) -> None:
    person.add(BONN, subject="ana", supersedes=1)


def newer(person: Store) -> None:
    person.add(BONN, subject="ana")


def pinned(person: Store) -> None:
    person.pin(1)


def proposed(person: Store) -> None:
    person.within(source="web:b.org").add(BONN, subject="ana", supersedes=1)
    assert len(person.proposals.list()) == 1


def rejected(person: Store) -> None:
    proposed(person)
    person.proposals.reject(1)


def tasked(person: Store) -> None:
    person.tasks.create("Water the ferns", scope="user")


def owned(person: Store) -> None:
    person.add("Ana drinks tea", subject="ana", user_id="u")


def said(person: Store) -> None:
    person.episodes.add("I live in Rome", source="chat", speaker="user")


Act = tuple[Callable[[Store], None], Any]

COMMANDS: dict[str, Act] = {
    "supersede": (newer, "supersede 1 2"),
    "delete": (nothing, "delete 1"),
    "restore": (deleted, "restore 1"),
    "restore an older one": (superseded, "restore 1"),
    "reinstate": (superseded, "reinstate 1"),
    "metadata": (nothing, "update 1 -m k=1"),
    "pin": (nothing, "pin 1"),
    "unpin": (pinned, "unpin 1"),
    "accept": (proposed, "proposals accept 1"),
    "reject": (proposed, "proposals reject 1"),
    "reopen": (rejected, "proposals reopen 1"),
    "task": (tasked, "task update 2 completed"),
    "revert": (pinned, "revert --source app --yes"),
    "erase": (nothing, "erase 1 --yes"),
    "erase a subject": (nothing, "erase --subject ana --yes"),
    "forget": (owned, "forget 2 --user u"),
    "forget all": (owned, "forget --all --user u --yes"),
    "an episode": (said, "episode update 1 --tag x"),
    "an episode erased": (said, "episode erase 1 --yes"),
    "trust": (nothing, "trust web:a.org --level person"),
    "distrust": (nothing, "distrust app"),
    "merge": (nothing, "graph merge Ana Anna"),
}

POSTS: dict[str, Act] = {
    "delete": (nothing, "fact/1/delete"),
    "restore": (deleted, "fact/1/restore"),
    "reinstate": (superseded, "fact/1/reinstate"),
    "pin": (nothing, "fact/1/pin"),
    "unpin": (pinned, "fact/1/unpin"),
    "metadata": (nothing, ("fact/1/metadata", {"metadata": '{"k": 1}'})),
    "accept": (proposed, "inbox/1/accept"),
    "reject": (proposed, "inbox/1/reject"),
    "reopen": (rejected, "inbox/1/reopen"),
    "several": (proposed, ("inbox/several", {"verdict": "accept", "one": "1"})),
    "task": (tasked, "tasks/2/complete"),
    "undo": (pinned, "undo/2"),
}

CALLS: dict[str, Act] = {
    "supersede": (newer, ("memory_supersede", {"old_id": 1, "new_id": 2})),
    "delete": (nothing, ("memory_delete", {"id": 1})),
    "restore": (deleted, ("memory_delete", {"id": 1, "undo": True})),
    "metadata": (nothing, ("memory_update", {"id": 1, "metadata": {"k": 1}})),
    "pin": (nothing, ("memory_update", {"id": 1, "pinned": True})),
    "task": (tasked, ("memory_task_update", {"id": 2, "status": "completed"})),
}


def everything(person: Store) -> tuple[object, ...]:
    """What the memory holds, decisions, words and levels of trust too.

    Open proposals, which anybody may make, are left out.
    """
    asked = person.of("all")
    return (
        [fact.to_dict() for fact in asked.get_many(range(1, 10))],
        [one.to_dict() for one in asked.proposals.list(None) if one.state != "open"],
        [one.to_dict() for one in asked.episodes.list()],
        person.sources.levels(),
        asked.graph.decisions(),
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_as_an_external_program_changes_nothing_of_a_person(
    cli: CommandLine, person: Store, command: str
) -> None:
    prepare, words = COMMANDS[command]
    prepare(person)
    person.sources.trust("cli", "external")
    before = everything(person)
    answer = cli(*words.split())
    assert answer.code != 0
    assert "counts less" in answer.err
    assert everything(person) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_of_a_person_does_it(
    cli: CommandLine, person: Store, command: str
) -> None:
    prepare, words = COMMANDS[command]
    prepare(person)
    before = everything(person)
    assert cli(*words.split()).code == 0
    assert everything(person) != before


def test_what_the_command_line_adds_as_an_external_program_is_a_proposal(
    cli: CommandLine, person: Store
) -> None:
    person.sources.trust("cli", "external")
    assert cli("add", BONN, "--subject", "ana", "--supersedes", 1).code == 0
    assert person.get(1).status == "active"
    assert [(one.old.id, one.new.id) for one in person.proposals.list()] == [(1, 2)]
    assert cli("delete", 2).code == 0  # its own it may delete


@pytest.mark.parametrize("by", ["external", "person"])
@pytest.mark.parametrize("post", POSTS)
def test_the_pages_change_a_person_s_facts_unless_they_are_external(
    person: Store, post: str, by: str
) -> None:
    prepare, sent = POSTS[post]
    prepare(person)
    person.sources.trust("web", by)
    pages = Pages(person)
    assert pages.enter().status_code == 303
    before = everything(person)
    path, fields = sent if isinstance(sent, tuple) else (sent, {})
    answer = pages.post(path, fields)
    assert answer.status_code < 500
    assert (everything(person) == before) == (by == "external")


def test_a_correction_on_the_pages_as_an_external_program_is_a_proposal(person: Store) -> None:
    person.sources.trust("web", "external")
    pages = Pages(person)
    pages.enter()
    pages.post("fact/1/correct", {"content": BONN})
    assert person.get(1).status == "active"


@pytest.mark.anyio
@pytest.mark.parametrize("by", ["external", "agent"])
@pytest.mark.parametrize("call", CALLS)
async def test_a_tool_over_http_with_a_token_changes_a_person_s_facts_unless_it_is_external(
    cli: CommandLine, person: Store, call: str, by: str
) -> None:
    prepare, (tool, arguments) = CALLS[call]
    prepare(person)
    person.sources.trust(PROGRAM, by)
    _, secret = person.file.tokens.create("laptop", namespace=person.namespace, access="write")
    before = everything(person)
    meta = {
        protocol.REVISION_KEY: "2026-07-28",
        protocol.CAPABILITIES_KEY: {},
        protocol.CLIENT_KEY: {"name": PROGRAM, "version": "1"},
    }
    asked = request("tools/call", name=tool, arguments=arguments, _meta=meta)
    headers = {
        **MCP_HEADERS,
        "Authorization": f"Bearer {secret}",
        "Mcp-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }

    def opened() -> Store:
        return memstore.open(cli.db, embedder=None, actor="agent", source="mcp")

    async with client(opened, needs_token=True) as served:
        answer = await served.http.post("/mcp", json=asked, headers=headers)
        assert answer.status_code == 200, answer.text
        assert ("counts less" in answer.text) == (by == "external")
    assert (everything(person) == before) == (by == "external")


# -- imports ---------------------------------------------------------------------------------------


def changed_elsewhere(person: Store, path: Path) -> list[str]:
    """Return an export of the memory in which somebody deleted the fact of this one."""
    with memstore.open(path, embedder=None, actor="user") as other:
        other.transfer.import_(person.transfer.export())
        other.delete(1)
        return [*other.transfer.export()]


@pytest.mark.parametrize("source", ["web:a.org", "tool:grep"])
def test_what_counts_less_imports_no_acts_of_others(
    cli: CommandLine, person: Store, tmp_path: Path, source: str
) -> None:
    lines = changed_elsewhere(person, tmp_path / "other.db")
    before = everything(person)
    with memstore.open(cli.db, embedder=None, source=source) as opened:
        for through in (person.within(source=source).transfer, opened.transfer, opened.file):
            for dry_run in (True, False):
                with pytest.raises(Conflict, match="counts less"):
                    through.import_(lines, dry_run=dry_run)
    assert everything(person) == before
    person.transfer.import_(lines)
    assert person.get(1).status == "deleted"


def test_the_command_line_as_an_external_program_imports_no_export(
    cli: CommandLine, person: Store, tmp_path: Path
) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text("\n".join(changed_elsewhere(person, tmp_path / "other.db")), encoding="utf-8")
    person.sources.trust("cli", "external")
    answer = cli("import", file)
    assert answer.code != 0
    assert "counts less" in answer.err
    assert person.get(1).status == "active"


def test_what_an_external_program_imports_of_another_program_counts_as_external(
    person: Store, tmp_path: Path
) -> None:
    file = tmp_path / "memory.jsonl"
    entity = {"type": "entity", "name": "ana", "entityType": "person", "observations": [BONN]}
    file.write_text(json.dumps(entity) + "\n", encoding="utf-8")
    person.within(source="web:a.org").transfer.import_from("server-memory", file)
    (fact,) = (one for one in person.list() if BONN in one.content)
    assert person.ledger.explain(fact.id).trust == "external"
    assert person.get(1).status == "active"
