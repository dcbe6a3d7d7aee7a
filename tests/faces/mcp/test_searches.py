"""The server records what it was asked and what it gave, unless it is told not to."""

from __future__ import annotations

from typing import Any

import pytest

from memstore import Store
from memstore.faces.mcp import catalogue
from memstore.faces.mcp.calls import Calls
from memstore.faces.starting import every_flag
from memstore.providers.local import tokens_at_most


def call(store: Store, tool: str, *, records: bool = True, **arguments: Any) -> str:
    """Call a tool as a client does; return the text of the answer."""
    offered = catalogue.offered("facts,episodes")._replace(records=records)
    answer = Calls(offered, lambda: None).answer(
        lambda: store, {"name": tool, "arguments": arguments}
    )
    return str(answer["content"][0]["text"])


def test_searches_are_recorded_with_what_was_given(store: Store) -> None:
    fact = store.add("Alice prefers dark mode", subject="alice")
    said = store.episodes.add("Bob asked about the harbour", source="chat")
    client = store.within(source="claude-code")
    text = call(client, "memory_search", query="what does Alice prefer?")
    call(client, "memory_search", query="dark mode", max_tokens=200)
    call(client, "episode_search", query="harbour", user_id=None)
    call(client, "memory_search", query="dark mode", user_id="ana")
    found = store.searches.list()[::-1]
    assert [(one.tool, one.query, one.facts, one.episodes) for one in found] == [
        ("memory_search", "what does Alice prefer?", (fact.id,), ()),
        ("memory_search", "dark mode", (fact.id,), ()),
        ("search", "harbour", (), (said.id,)),
    ]
    assert found[0].tokens == tokens_at_most(text)
    assert found[0].milliseconds is not None
    assert found[0].client == "claude-code"
    (other,) = store.of(user_id="ana").searches.list()
    assert other.is_empty


def test_only_searches_are_recorded_and_only_if_the_server_does(store: Store) -> None:
    call(store, "memory_store", content="likes tea", subject="ana")
    call(store, "memory_list")
    call(store, "memory_search", query="")
    call(store, "memory_search", query="tea", records=False)
    call(store, "memory_search", wrong="tea")
    assert [one.query for one in store.searches.list()] == [""]


@pytest.mark.parametrize(
    ("arguments", "environment", "records"),
    [
        ([], {}, True),
        (["--no-record"], {}, False),
        ([], {"MEMSTORE_NO_RECORD": "yes"}, False),
        (["--read-only"], {}, False),
    ],
)
def test_recording_can_be_switched_off(
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environment: dict[str, str],
    records: bool,
) -> None:
    seen: list[catalogue.Catalogue] = []

    def run(offered: catalogue.Catalogue, *_: object, **_more: object) -> None:
        seen.append(offered)
        raise SystemExit

    monkeypatch.setattr("memstore.faces.mcp.session.run", run)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        every_flag.main(arguments)
    assert [one.records for one in seen] == [records]
