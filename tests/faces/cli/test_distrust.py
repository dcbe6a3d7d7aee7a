"""Distrusting a source, on the command line."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore.faces.cli import render_terminal


@pytest.fixture
def theirs(cli: CommandLine) -> int:
    """The id of a fact of a distrusted source, beside one that stays."""
    cli.add("lives in Rome", "ana")
    return int(cli.json("add", "in Oslo", "--subject", "ana", "--source", "web:a.org/x")["id"])


def test_distrust_and_trust_say_how_much_is_hidden_and_back(cli: CommandLine, theirs: int) -> None:
    answer = cli("distrust", "web:a.org")
    assert answer.out.endswith("web:a.org\tdistrusted\nhidden\t1 fact, 0 episodes\n")
    assert (answer.code, answer.err) == (0, "")
    assert cli.json("trust")["web:a.org"] == "distrusted"
    assert [fact["subject"] for fact in cli.json("list")] == ["ana"]
    assert cli.json("status")["distrusted"] == 1
    assert cli("trust", "web:a.org").out.endswith("back\t1 fact, 0 episodes\n")
    assert len(cli.json("list")) == 2


def test_distrust_as_json_has_the_levels_and_the_numbers(cli: CommandLine, theirs: int) -> None:
    change = cli.json("distrust", "web:a.org")
    assert change.pop("sources")["web:a.org"] == "distrusted"
    assert change == {
        "hidden_facts": 1,
        "shown_facts": 0,
        "hidden_episodes": 0,
        "shown_episodes": 0,
    }


def test_a_hidden_fact_says_so_by_its_id(cli: CommandLine, theirs: int) -> None:
    cli("distrust", "web:a.org")
    assert f"id: {theirs}\nstatus: distrusted\n" in cli("get", theirs).out
    assert cli.json("get", theirs)["distrusted"] is True
    assert "distrusted" in cli("history", theirs).out
    assert "which is not trusted" in cli("explain", theirs).out
    told = cli("search", "Oslo", "--why-not", theirs).out
    assert f"fact {theirs} rests on sources that are not trusted" in told


def test_on_a_terminal_a_person_reads_that_the_source_is_not_trusted(
    cli: CommandLine, theirs: int
) -> None:
    cli("distrust", "web:a.org")
    screen = io.StringIO()
    with memstore.open(cli.db, embedder=None) as store:
        console = Console(file=screen, width=100, highlight=False)
        show = render_terminal.TerminalShow(console, console)
        show.links(store.history(theirs))
        show.status(store.status())
    assert "source not trusted" in screen.getvalue()
    assert "hidden (source not trusted)" in screen.getvalue()
    assert "distrusted" not in screen.getvalue()


def test_distrust_needs_a_source(cli: CommandLine) -> None:
    assert cli("distrust").code == 2
    assert "source" in cli.error("distrust", " ")[1]


def test_confirming_brings_a_fact_back(cli: CommandLine, theirs: int) -> None:
    cli("distrust", "web:a.org")
    cli("confirm", theirs)
    assert cli.json("get", theirs)["status"] == "active"
    assert len(cli.json("list")) == 2
