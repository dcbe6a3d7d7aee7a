"""Output: plain rows in a pipe, colours on a terminal, and stored text escaped."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore.faces.cli.render import PlainShow, progress_bar, to_json
from memstore.faces.cli.render_terminal import TerminalShow
from memstore.faces.escaping import visible_lines
from memstore.faces.mcp.answers import seen
from memstore.text.escaping import HIDDEN, visible

HOSTILE = (
    "\x1b]0;title\x07\x1b[2J\x1b[31mred \x9b31m [bold]b[/bold] [link=http://x]l[/] :smile: "
    "\u202e rtl\r\nnext\tline \u2028 \U000e0041 ${jndi} 緑茶"
)


class Screen:
    """A terminal that records its output."""

    def __init__(self, width: int = 80, colour: bool = True) -> None:
        self.file, self.error_file = io.StringIO(), io.StringIO()
        options = {"width": width, "highlight": False, "no_color": not colour}
        system = "truecolor" if colour else None
        self.show = TerminalShow(
            Console(file=self.file, force_terminal=True, color_system=system, **options),
            Console(file=self.error_file, force_terminal=True, color_system=system, **options),
        )

    @property
    def text(self) -> str:
        return self.file.getvalue()


@pytest.fixture
def store() -> object:
    with memstore.open(":memory:", embedder=None) as store:
        yield store


def test_piped_rows_are_plain_and_untruncated(cli: CommandLine) -> None:
    long = "word " * 100
    cli.add(long + HOSTILE, "x\ty\n\x1b[1m", "--category", "c\rd", "-m", "k=\x1b[2Jv")
    for command in (("list",), ("search", "word"), ("history", "1")):
        answer = cli(*command)
        assert HIDDEN.search(answer.out.replace("\n", "").replace("\t", "")) is None
        (row,) = answer.out.splitlines()
        cells = row.split("\t")
        assert cells[0] == "1"
        assert len(cells) == (10 if command[0] == "search" else 9)
        assert cells[-3].startswith(long)
        assert "[bold]b[/bold]" in cells[-3]
        assert json.loads(cells[-2]) == {"k": "\x1b[2Jv"}


def test_every_command_keeps_hostile_text_harmless(cli: CommandLine) -> None:
    cli.add(HOSTILE, HOSTILE, "--category", HOSTILE, "-m", f"{HOSTILE.replace('=', '')}={HOSTILE}")
    cli("task", "add", HOSTILE, "--project", HOSTILE)
    for command in (
        *(("list",), ("get", "1"), ("history", "1"), ("history", "1", "--journal")),
        *(("search", "red"), ("task", "list"), ("status",), ("confirm", "1")),
        *(("list", "--subject", HOSTILE), ("add", "x", "--subject", "x", "--valid-at", HOSTILE)),
        (f"{HOSTILE}",),
    ):
        for answer in (cli(*command), cli(*command, "--json")):
            for text in (answer.out, answer.err):
                assert HIDDEN.search(text.replace("\n", "").replace("\t", "")) is None


def test_json_is_exact_however_hostile_the_text(cli: CommandLine) -> None:
    fact = cli.add(HOSTILE, HOSTILE)
    got = cli.json("get", fact)
    assert (got["content"], got["subject"]) == (HOSTILE, HOSTILE.strip())


@given(st.recursive(st.none() | st.text() | st.integers(), st.lists))
def test_json_round_trips_without_control_characters(value: object) -> None:
    text = to_json(value)
    assert json.loads(text) == value
    assert HIDDEN.search(text) is None


@given(st.text())
def test_visible_text_is_one_harmless_line(text: str) -> None:
    shown = visible(text)
    assert HIDDEN.search(shown) is None
    assert len(shown.splitlines()) <= 1 or "\u0085" in text


def test_a_terminal_does_not_interpret_markup_or_escapes_in_text(store: memstore.Store) -> None:
    screen = Screen(colour=False)
    fact = store.add(HOSTILE, subject=HOSTILE, category=HOSTILE, metadata={HOSTILE: HOSTILE})
    task = store.tasks.create(HOSTILE, project=HOSTILE)
    screen.show.facts([fact])
    screen.show.fact(fact)
    screen.show.hits(store.search("red"))
    screen.show.chain([fact])
    screen.show.journal(store.ledger.journal(1))
    screen.show.tasks([task])
    screen.show.status(store.status())
    screen.show.done(HOSTILE, {})
    screen.show.note(HOSTILE)
    own_styles = screen.text.replace("\x1b[0m", "")
    assert "\x1b]0;" not in own_styles
    assert "\x1b[2J" not in own_styles
    assert "\x9b" not in own_styles
    assert "[bold]b[/bold]" in own_styles
    assert ":smile:" in own_styles
    assert "\\x1b[31mred" in own_styles
    assert "\u202e" not in own_styles
    assert "\x1b]0;" not in screen.error_file.getvalue()


def test_a_terminal_wraps_under_the_heading(store: memstore.Store) -> None:
    screen = Screen(width=40, colour=False)
    store.add("word " * 30, subject="alice", category="preference")
    store.add("緑茶" * 30, subject="alice")
    screen.show.facts(store.list())
    lines = screen.text.splitlines()
    assert lines[0] == "#1  alice · preference"
    assert lines[1].startswith("    word word")
    assert all(len(line) <= 40 for line in lines)
    assert screen.text.count("緑") == 30
    assert screen.text.count("word") == 30


def test_a_terminal_marks_inactive_facts(store: memstore.Store) -> None:
    screen = Screen(colour=False, width=100)
    old = store.add("old", subject="alice")
    store.add("new", subject="alice", supersedes=old.id)
    store.delete(store.add("gone", subject="alice").id)
    screen.show.facts(store.list(active_only=False, include_deleted=True))
    assert "#1  alice · note  superseded by #2" in screen.text
    assert "#3  alice · note  deleted" in screen.text
    chain = Screen(colour=False, width=100)
    chain.show.chain(store.history(old.id))
    lines = chain.text.splitlines()
    assert lines[1].startswith("○  #1  ")
    assert "superseded by #2 on " in lines[1]
    assert lines[2] == "│  old"
    assert lines[4].startswith("●  #2  ")
    assert lines[5] == "   new"


def test_subject_with_several_chains_is_shown_chain_by_chain(store: memstore.Store) -> None:
    first = store.add("a1", subject="alice", category="a")
    second = store.add("b1", subject="alice", category="b")
    store.add("a2", subject="alice", category="a", supersedes=first.id)
    store.add("b2", subject="alice", category="b", supersedes=second.id)
    screen = Screen(colour=False)
    screen.show.chain(store.history(subject="alice"))
    said = [line.strip("│ ") for line in screen.text.splitlines()]
    assert [line for line in said if len(line) == 2] == ["a1", "a2", "b1", "b2"]


def test_terminal_output_has_colours_unless_disabled(
    store: memstore.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = store.add("text", subject="alice")
    colourful = Screen()
    colourful.show.facts([fact])
    assert "\x1b[1;36m#1" in colourful.text
    monkeypatch.setenv("NO_COLOR", "1")
    file = io.StringIO()
    TerminalShow(Console(file=file, force_terminal=True, width=80)).facts([fact])
    assert "36m" not in file.getvalue()


def test_findings_and_scores_on_a_terminal(store: memstore.Store) -> None:
    from memstore.file.findings import Finding

    screen = Screen(colour=False)
    screen.show.findings([Finding("words", "differs", repairable=True)], ["rebuilt it"], "in force")
    assert screen.text.splitlines() == ["✓ rebuilt it", "! words  differs", "locks: in force"]
    store.add("text", subject="alice", category="identity")
    hits = Screen(colour=False)
    hits.show.hits(store.search("text", ranking="classic"))
    assert hits.text.splitlines()[0] == "#1  alice · identity  0.60"
    assert "words 1.00 · meaning 0.00" in hits.text
    for other in ("tea", "milk", "bread"):
        store.add(other, subject="shop")
    explained = Screen(colour=False)
    explained.show.hits(store.search("text"), explain=True)
    assert "words 0." in explained.text
    assert "terms 0." in explained.text


def test_scores_are_drawn_only_where_something_was_compared(store: memstore.Store) -> None:
    store.episodes.add("harbour", source="x")
    newest = Screen(colour=False)
    newest.show.episode_hits(store.episodes.search(""))
    assert "harbour" in newest.text
    assert "0.00" not in newest.text
    store.add("tea", subject="alice", created_at="2020-01-01")
    aged = Screen(colour=False)
    aged.show.hits(store.search("tea", ranking="classic"))
    score = aged.text.splitlines()[0].split()[-1]
    assert 0 < float(score) < 0.001, "two digits of a score that age has made small"


def test_neighbours_stand_around_their_hit_on_a_terminal(store: memstore.Store) -> None:
    for text in ("[b]one[/b]", "needle", "\u202etwo"):
        store.add(text, subject="alice", thread="a")
        store.episodes.add(text, source="x", thread="a", speaker="Ana")
    for show, hits in (
        ("hits", store.search("needle", context=1, limit=1)),
        ("episode_hits", store.episodes.search("needle", context=1, mode="words")),
    ):
        screen = Screen(colour=False)
        getattr(screen.show, show)(hits)
        lines = screen.text.splitlines()
        sign, who = ("#", "alice") if show == "hits" else ("e", "Ana")
        assert lines[0].split(maxsplit=1) == [f"{sign}1", f"{who}: [b]one[/b]"]
        assert lines[1].startswith(f"{sign}2")
        assert lines[-2].split(maxsplit=1) == [f"{sign}3", f"{who}: \\u202etwo"]
        assert lines[-1] == ""


HIDING = [
    *("\u061c", "\u200e", "\u200f", *map(chr, range(0x2028, 0x202F)), "\ufeff"),
    *map(chr, range(0x2060, 0x206A)),
    *map(chr, range(0xFFF9, 0xFFFC)),
    *map(chr, (0xE0000, 0xE0041, 0xE0100, 0xE01EF)),
    *(chr(n) for n in (*range(0x20), *range(0x7F, 0xA0)) if chr(n) not in "\n\t"),
]


@pytest.mark.parametrize("char", HIDING, ids=lambda char: f"U+{ord(char):04X}")
def test_no_interface_shows_hidden_characters(char: str) -> None:
    for shown in (visible(f"a{char}b"), visible_lines(f"a{char}b"), to_json(char), seen(char)):
        assert char not in shown
        assert shown.isascii()
    assert json.loads(to_json(char)) == char


def test_no_interface_escapes_visible_characters() -> None:
    text = "緑茶 e\u0301 👩\u200d🚀 line\n\ttab\u00a0"
    assert seen(text) == text
    assert visible(text) == text.replace("\n", "\\n").replace("\t", "\\t")


@pytest.mark.parametrize("width", [30, 40, 80, 120])
def test_no_line_is_wider_than_the_terminal(store: memstore.Store, width: int) -> None:
    screen = Screen(width=width, colour=False)
    for text in ("word " * 60, "緑茶" * 60, "x" * 300, "two\nlines and a little more " * 5):
        store.add(text, subject="alice of the hills", metadata={"a key": "and its value " * 5})
        store.tasks.create(text, project="lighthouse", due="2026-12-01")
    old = store.add("old", subject="bob")
    store.add("new " * 40, subject="bob", supersedes=old.id)
    facts = store.list(active_only=False)
    screen.show.facts(facts)
    screen.show.hits(store.search("word line"))
    screen.show.chain(facts)
    screen.show.journal(store.ledger.journal(old.id))
    screen.show.tasks(store.tasks.list())
    screen.show.status(store.status())
    for fact in facts:
        screen.show.fact(fact)
    widths = [cell_len(line) for line in screen.text.splitlines()]
    assert max(widths) <= min(width, 100)


@pytest.mark.parametrize("width", [30, 40, 80, 120])
def test_the_first_line_is_as_wide_as_the_others(width: int) -> None:
    screen = Screen(width=width, colour=False)
    screen.show.line(("#1  ", ""), ("ab " * 100, ""), hang=4)
    screen.show.line(("#2  ", ""), ("short\n\n  then " + "ab " * 100, ""), hang=4)
    text = screen.text
    first, *more = text[: text.index("#2")].splitlines()
    for line in (first, *more[:-1]):
        assert min(width, 100) - len(line) < 3
    assert first.startswith("#1  ab ab")
    assert all(line.startswith("    ab") for line in more)
    assert (first + "".join(more)).count("ab") == 100
    assert "#2  short\n\n      then ab" in text
    assert text[text.index("#2") :].count("ab") == 100


def test_status_names_the_other_namespaces(cli: CommandLine) -> None:
    cli.add("one")
    assert "namespaces  " not in terminal_status(cli)
    cli.add("two", "alice", "--namespace", "work")
    assert "2 namespaces" in terminal_status(cli)
    assert "default 1  work 1" in terminal_status(cli)


def terminal_status(cli: CommandLine) -> str:
    screen = Screen(width=200, colour=False)
    with memstore.open(cli.db, embedder=None) as store:
        screen.show.status(store.status())
    return re.sub(r"\x1b\[[0-9;]*m", "", screen.text)


def test_plain_get_prints_the_status_once(cli: CommandLine) -> None:
    cli.add("one")
    cli.add("two", "alice", "--supersedes", "1")
    lines = cli("get", 1).out.splitlines()
    assert [line for line in lines if line.startswith("status")] == ["status: superseded"]
    assert "superseded_by: 2" in lines


def test_the_doctor_shows_its_progress(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []

    @contextmanager
    def progress(_: object, title: str) -> Iterator[object]:
        yield lambda done, total: told.append((title, done, total))

    cli.add("one")
    monkeypatch.setattr(PlainShow, "progress", progress)
    assert cli("doctor", "--rebuild").code == 0
    for title in ("examining", "rebuilding"):
        ends = [(done, total) for name, done, total in told if name == title]
        assert ends
        assert ends[-1][0] == ends[-1][1]


def test_progress_is_drawn_for_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", pipe := io.StringIO())
    with progress_bar("copying") as progress:
        assert progress is None
    assert pipe.getvalue() == ""
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    with progress_bar("copying") as progress:
        assert progress is not None
        progress(1, 2)
    assert "copying" in terminal.getvalue()


def test_hanging_indent_shrinks_on_a_narrow_screen() -> None:
    screen = Screen(width=30, colour=False)
    screen.show.line(("last confirmed at  ", ""), ("word " * 20, ""), hang=19)
    assert [line[:6] for line in screen.text.splitlines()[1:3]] == ["  word", "  word"]
