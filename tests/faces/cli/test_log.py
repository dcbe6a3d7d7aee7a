"""The log on the command line: a line an act, paged on a terminal, followed until interrupted."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from rich.console import Console
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import settings
from memstore.domain import clock
from memstore.domain.clock import Clock
from memstore.faces.cli.render_terminal import TerminalShow

HOSTILE = "\x1b[31mred\x1b[0m\n\u202e"


def test_log_prints_a_line_for_each_act(cli: CommandLine) -> None:
    cli.add(HOSTILE)
    cli("delete", 1)
    answer = cli("log")
    first, second = answer.out.splitlines()
    assert first.split("\t")[::4] == ["2", "deleted fact 1: alice: \\x1b[31mred\\x1b[0m \\u202e"]
    assert second.split("\t")[2:4] == ["user", "cli"]
    lines = [json.loads(line) for line in cli("log", "--json").out.splitlines()]
    assert [one["line"] for one in lines] == [2, 1]
    assert lines[0]["changes"][0]["facts"] == [1]


def test_log_takes_filters_and_pages(cli: CommandLine) -> None:
    for text in ("one", "two", "three"):
        cli.add(text)
    cli("delete", 2)
    assert len(cli("log", "--fact", "#2", "--since", "1h").out.splitlines()) == 2
    assert cli("log", "--kind", "delete").out.startswith("4\t")
    page = cli("log", "--limit", 3)
    assert page.err == "the newest 3 acts; --before 2 shows older ones\n"
    assert cli("log", "--before", 2, "--limit", 1).out.startswith("1\t")
    assert cli("log", "--before", 2, "--limit", 1).err == ""
    assert cli("log", "--actor", "nobody").err == "no such act\n"
    assert cli.error("log", "--kind", "x")[1].startswith("--kind has no 'x'")
    assert cli.error("log", "--run-uuid", "x")[1].startswith("--run-uuid is not the id of a run")
    assert cli.error("log", "--until", "soon")[1].startswith("--until is not a moment")


def test_log_names_other_owners_that_have_something(cli: CommandLine) -> None:
    cli.add("ana's", "x", "--user", "ana")
    assert "other owners have 1 fact" in cli("log").err
    assert len(cli("log", "--user", "ana").out.splitlines()) == 1


class Interrupted(Clock):
    """Lets another store write while somebody follows, and then interrupts."""

    def __init__(self, acts: list[Any]) -> None:
        self._acts = acts

    def sleep(self, seconds: float) -> None:
        if not self._acts:
            raise KeyboardInterrupt
        self._acts.pop(0)()


def test_follow_prints_acts_of_others_as_they_come(cli: CommandLine) -> None:
    cli.add("one")
    with memstore.open(cli.db, embedder=None, actor="bot") as other:
        acts = [
            lambda: other.add("two", subject="s"),
            lambda: None,
            lambda: (other.delete(1), other.add_many([{"content": "three", "subject": "s"}])),
        ]
        with clock.use(Interrupted(acts)):
            answer = cli("log", "--follow")
    assert answer.code == 0
    assert [row.split("\t")[0] for row in answer.out.splitlines()] == ["1", "2", "3", "4"]
    assert answer.err == "stopped\n"


def test_follow_waits_for_the_first_act_that_matches(cli: CommandLine) -> None:
    cli.add("one")
    with memstore.open(cli.db, embedder=None, actor="bot") as other:
        acts = [lambda: other.add("two", subject="s")]
        with clock.use(Interrupted(acts)):
            answer = cli("log", "--follow", "--actor", "bot", "--json")
    assert [json.loads(row)["line"] for row in answer.out.splitlines()] == [2]


# -- on a terminal -----------------------------------------------------------------------


def shown(store: memstore.Store, width: int = 80) -> str:
    screen = io.StringIO()
    console = Console(
        file=screen, force_terminal=True, color_system="truecolor", width=width, height=24
    )
    TerminalShow(console).acts(store.ledger.log(), paged=True)
    return screen.getvalue()


def test_a_terminal_shows_coloured_lines_cut_at_its_edge(store: memstore.Store) -> None:
    store.add("word " * 100, subject="s")
    store.add(HOSTILE, subject="s", supersedes=1)
    newest, oldest = shown(store).splitlines()
    assert "\x1b[33mreplaced fact 1 by 2\x1b[0m" in newest
    assert "\x1b[31mred" not in newest
    assert oldest.endswith("…")
    assert "\x1b[32madded fact 1" in oldest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Reader:
    """Stands for the pager's process."""

    read: str | None = None
    code = 0
    command = ""
    environment: Mapping[str, str] = MappingProxyType({})

    def __init__(self, command: str, **options: Any) -> None:
        type(self).command = command
        type(self).environment = options["env"]

    def communicate(self, text: str) -> None:
        type(self).read = text

    def wait(self) -> int:
        return self.code


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> type[Reader]:
    class Own(Reader):
        pass

    monkeypatch.setattr(subprocess, "Popen", Own)
    monkeypatch.delenv("PAGER", raising=False)
    monkeypatch.delenv("LESS", raising=False)
    return Own


def test_a_log_longer_than_the_screen_is_paged(
    store: memstore.Store, reader: type[Reader], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout", Terminal())
    store.add("one", subject="s")
    assert "added fact 1" in shown(store)  # it fits
    for n in range(40):
        store.add(f"fact {n}", subject="s")
    assert shown(store) == ""
    assert reader.read is not None
    assert reader.read.count("\n") == 41
    assert (reader.command, reader.environment["LESS"]) == ("less", "FRX")
    monkeypatch.setenv("PAGER", "most -x")
    shown(store)
    assert reader.command == "most -x"
    monkeypatch.setenv("PAGER", "cat")
    assert shown(store).count("\n") == 41
    reader.code = 127  # the shell finds no such command
    monkeypatch.setenv("PAGER", "nosuchpager")
    assert shown(store).count("\n") == 41


def test_nothing_is_paged_into_a_pipe(
    store: memstore.Store, reader: type[Reader], monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(60):
        store.add(f"fact {n}", subject="s")
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert shown(store).count("\n") == 50
    assert reader.read is None


def test_less_keeps_the_options_of_its_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LESS", "-S")
    assert settings.pager_environment()["LESS"] == "-S"


# -- differences -------------------------------------------------------------------------


def test_diff_prints_rows_json_and_notes(cli: CommandLine) -> None:
    cli.add("one")
    cli.add(HOSTILE)
    cli("delete", 1)
    cli.add("gone")
    cli("delete", 3)
    answer = cli("diff", "op:1")
    rows = [row.split("\t") for row in answer.out.splitlines()]
    assert [row[:2] for row in rows] == [["added", "2"], ["retired", "1"]]
    assert rows[1][3:] == ["alice: one", "deleted", "3", "user", "cli", ""]
    assert "\x1b" not in answer.out
    assert answer.err == "1 fact came and went in between\n"
    found = cli.json("diff", "op:1", "op:2")
    assert [one["fact_id"] for one in found["differences"]] == [2]
    assert found["b"]["line"] == 2
    assert cli("diff", "op:1", "--limit", 1).err.startswith("1 of 2 differences\n")
    assert cli("diff", "op:1", "--subject", "nobody").err == "nothing changed\n"


def test_diff_words_its_errors(cli: CommandLine) -> None:
    cli.add("one")
    cli.add("two")
    code, text = cli.error("diff", "op:2", "op:1")
    assert code == 2
    assert text.startswith("LATER (")
    assert text.endswith("Name the earlier moment first.")
    assert cli.error("diff", "soon")[1].startswith("EARLIER is not a moment: 'soon'; give a time")
    assert cli("diff", "yesterday", "now").out.count("added") == 2
    assert cli.error("diff", "op:9") == (1, "there is no line 9 in the journal; the last one is 2")


def test_a_terminal_shows_differences_as_a_changelog(store: memstore.Store) -> None:
    store.add("one", subject="s")
    store.add(HOSTILE, subject="s", supersedes=1)
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, color_system="truecolor", width=60)
    TerminalShow(console).differences(store.ledger.diff("op:1"))
    told = screen.getvalue()
    assert "\x1b[1;32mAdded\x1b[0m" in told
    assert "\x1b[1;31mRetired\x1b[0m" in told
    assert "\x1b[31mred" not in told
