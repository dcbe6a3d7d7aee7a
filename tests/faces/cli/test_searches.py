"""memstore searches: what agents asked a server and were given."""

from __future__ import annotations

from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore


def test_searches_are_shown_and_cleared(cli: CommandLine) -> None:
    with memstore.open(cli.db, embedder=None, source="codex") as store:
        fact = store.add("likes tea", subject="ana")
        never = store.add("likes rain", subject="ana")
        store.searches.record("tea\x1b[1m?", facts=[fact.id], tokens=1200, milliseconds=2.6)
        store.searches.record("nothing here")
        store.of(user_id="ana").searches.record("Ana's")
    shown = cli("searches").out
    assert "\x1b" not in shown
    assert [line.split("\t")[0] for line in shown.splitlines()] == ["2", "1"]
    assert "#1\t1,200 tokens\t3 ms" in shown
    (last,) = cli.json("searches", "--scope", "all", "--limit", 1)
    assert last["query"] == "Ana's"
    assert [one["id"] for one in cli.json("searches", "--nothing")] == [2]
    (given,) = cli.json("searches", "--fact", fact.id, "--client", "codex")
    assert given["id"] == 1
    assert cli.json("searches", "--tool", "prompt") == []
    assert [one["id"] for one in cli.json("searches", "--tool", "search")] == [2, 1]
    assert cli.json("searches", "--most")[0]["fact"]["id"] == fact.id
    assert [one["fact"]["id"] for one in cli.json("searches", "--never")] == [never.id]
    assert "likes rain" in cli("searches", "--never").out
    code, text = cli.error("searches", "--never", "--most")
    assert code == 2
    assert "alternatives" in text
    assert cli.json("searches", "--clear", "--scope", "all") == {"removed": 3}
    assert "no such search" in cli("searches").err
