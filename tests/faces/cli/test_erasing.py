"""Erasing on the command line: single facts, and by a plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore


@pytest.fixture
def drawn(cli: CommandLine) -> CommandLine:
    """An episode with two facts drawn from it, of which one was confirmed."""
    with memstore.open(cli.db, embedder=None) as store:
        said = store.episodes.record("Ana lives in Lisbon \x1b[31m and likes tea", source="chat")
        store.add("Ana lives in Lisbon", subject="ana", episode_id=said.id)
        store.confirm(store.add("Ana likes tea", subject="ana", episode_id=said.id).id)
    return cli


def test_a_selection_is_shown_and_nothing_changed_without_a_terminal(drawn: CommandLine) -> None:
    answer = drawn("erase", "--episode", 1)
    assert answer.code == 1
    assert [line.split("\t")[0::2] for line in answer.out.splitlines()] == [
        ["#1", "is erased"],
        ["e1", "is erased"],
        ["#2", "stays"],
    ]
    assert "\x1b" not in answer.out
    assert answer.err == "nothing was changed: add --yes to do it\n"
    assert len(drawn.json("list")) == 2


def test_a_selection_is_erased_with_yes(drawn: CommandLine) -> None:
    Path(f"{drawn.db}.version-6").write_bytes(b"an old copy")
    answer = drawn("erase", "--episode", 1, "--yes")
    assert answer.out == "erased 1 fact, 1 episode, 2 supports, 2 lines of the journal, 1 piece\n"
    assert answer.err == f"this copy still has what was in it: {drawn.db}.version-6\n"
    assert [fact["id"] for fact in drawn.json("list")] == [2]
    done = drawn.json("erase", "--subject", "ana", "--yes")
    assert (done["counts"], done["done"]["counts"]) == (done["counts"],) * 2
    assert done["done"]["is_gone"] is True


@pytest.mark.parametrize(("reply", "code"), [("y\n", 0), ("\n", 1)])
def test_a_selection_is_asked_about_on_a_terminal(
    drawn: CommandLine, monkeypatch: pytest.MonkeyPatch, reply: str, code: int
) -> None:
    monkeypatch.setattr("memstore.faces.cli.command.can_ask", lambda: True)
    answer = drawn("erase", "--source", "chat", "--keep-drawn", stdin=reply)
    assert answer.code == code
    asked = "Erase 1 episode, 2 supports, 1 line of the journal, 1 piece permanently? [y/N]"
    assert asked in answer.err
    assert len(drawn.json("list")) == 2
    assert len(drawn.json("episode", "list")) == code


def test_several_ids_are_erased_by_a_plan(cli: CommandLine) -> None:
    for n in range(3):
        cli.add(f"fact {n}")
    answer = cli("erase", 1, "#3", "--yes")
    assert answer.out == "erased 2 facts, 2 supports, 2 lines of the journal\n"
    assert [fact["id"] for fact in cli.json("list")] == [2]
    assert cli("erase", 1, "--yes").out == "erased nothing\n"  # it rewrites the file again


def test_erasing_the_newest_of_a_chain_says_that_nothing_is_active(cli: CommandLine) -> None:
    cli.add("old words")
    cli.add("new words", "alice", "--supersedes", "1")
    answer = cli("erase", 2, "--yes")
    assert answer.out == "erased #2\n"
    assert answer.err == (
        "nothing of its chain is active now; memstore reinstate 1 brings #1 back: old words\n"
    )
    assert cli("erase", 1, "--yes").err == ""


def test_an_erased_episode_names_the_facts_that_stay(
    drawn: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = "1 fact drawn from it stay: #1; memstore erase --episode 1 erases them too"
    monkeypatch.setattr("memstore.faces.cli.command.can_ask", lambda: True)
    assert left in drawn("episode", "erase", 1, stdin="n\n").err
    answer = drawn("episode", "erase", 1, "--yes")
    assert (answer.out, answer.err) == ("erased episode #1\n", f"{left}\n")
    assert drawn("erase", "--episode", 1, "--yes").out.startswith("erased 1 fact, ")


def test_a_fact_of_another_owner_is_named_without_its_words(cli: CommandLine) -> None:
    with memstore.open(cli.db, embedder=None) as store:
        ana = memstore.Scope(user_id="ana")
        said = store.of(ana).episodes.add("Ana and Bob live in Lisbon", source="chat")
        store.add("Bob lives in Lisbon", subject="bob", user_id="bob", episode_id=said.id)
    shown = cli("erase", "--owner", "ana", "--user", "ana")
    rows = [line.split("\t") for line in shown.out.splitlines()]
    assert rows[1] == [
        "a fact",
        "",
        "stays",
        "it belongs to other owners; it was said in episode 1",
    ]
    assert "bob: Bob lives in Lisbon" in cli("erase", "--owner", "ana").out


def test_an_owner_is_all_of_a_user(cli: CommandLine) -> None:
    for n, more in enumerate((["--user", "ana"], ["--user", "ana", "--agent", "x"], [])):
        cli.add(f"fact {n}", "alice", *more)
    for more, number in (((), 2), (("--user", "ana"), 1)):
        plan = json.loads(cli("erase", "--owner", "ana", *more, "--json").out)
        assert len(plan["steps"]) == number
    assert "nothing that is stored is selected" in cli("erase", "--owner", "bob").err
    assert "nothing is selected" in cli("erase", "--user", "ana").err


def test_erase_words_its_errors_with_flags(cli: CommandLine) -> None:
    assert "--run-uuid is not the id of a run" in cli("erase", "--run-uuid", "x").err
    assert cli("erase", "--episode", 9).code == 1
    assert "--owner is empty" in cli("erase", "--owner", " ").err


def test_prove_says_where_a_word_is_left(cli: CommandLine) -> None:
    fact = cli.add("the name of the hamster is hunter2")  # a password would be redacted
    answer = cli("erase", "--prove", "hunter2", "Hunter3")
    assert answer.code == 1
    [line] = answer.out.splitlines()
    word, path, kind, form, number, _ = line.split("\t")
    assert (word, kind, form) == ("hunter2", "file", "as it is")
    assert Path(path).name == cli.db.name
    assert number.endswith("places")
    document = cli("erase", "--prove", "hunter2", "--json")
    assert document.code == 1
    assert json.loads(document.out)["left"][0]["word"] == "hunter2"
    Path(f"{cli.db}.version-6").write_bytes(b"hunter2")
    answer = cli("erase", fact, "--yes", "--prove", "hunter2")
    assert answer.code == 1
    assert f"hunter2\t{cli.db}.version-6\tcopy\tas it is\t1 place\t" in answer.out
    Path(f"{cli.db}.version-6").unlink()
    answer = cli("erase", "--prove", "hunter2")
    assert (answer.code, answer.out) == (0, "none of 1 word is left in any byte\n")


def test_prove_after_a_refusal_does_not_search(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = cli.add("hunter2")
    monkeypatch.setattr("memstore.faces.cli.command.can_ask", lambda: True)
    answer = cli("erase", fact, "--prove", "hunter2", stdin="n\n")
    assert (answer.code, answer.out) == (1, "")
    assert "--prove" in cli("erase", "--prove", "ab").err
