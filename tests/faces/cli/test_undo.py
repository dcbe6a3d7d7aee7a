"""Taking back what a source or an hour did, on the command line."""

from __future__ import annotations

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401


def test_revert_shows_the_plan_and_changes_nothing_without_a_terminal(cli: CommandLine) -> None:
    fact = cli.add("a secret \x1b[31m")
    answer = cli("revert", "--since", "1h")
    assert answer.code == 1
    assert answer.out.startswith(f"#{fact}\t")
    assert "is deleted\tit was stored in line 1 (user through cli)" in answer.out
    assert "\x1b" not in answer.out
    assert answer.err == "nothing was changed: add --yes to do it\n"
    assert cli.json("get", fact)["status"] == "active"


def test_revert_does_it_with_yes_and_says_how_to_take_it_back(cli: CommandLine) -> None:
    fact = cli.add("wrong")
    answer = cli("revert", "--source", "cli", "--yes")
    assert answer.out == "did 1 step; memstore revert --line 2 takes it back\n"
    assert cli.json("get", fact)["status"] == "deleted"
    done = cli.json("revert", "--line", 2, "--yes")
    assert [step["action"] for step in done["done"]["steps"]] == ["restore"]
    assert cli.json("get", fact)["status"] == "active"


@pytest.mark.parametrize(("reply", "code"), [("y\n", 0), ("\n", 1)])
def test_revert_asks_on_a_terminal(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, reply: str, code: int
) -> None:
    fact = cli.add("wrong")
    monkeypatch.setattr("memstore.faces.cli.command.can_ask", lambda: True)
    answer = cli("revert", "--actor", "user", stdin=reply)
    assert answer.code == code
    assert "Take back 1 change? [y/N]" in answer.err
    assert cli.json("get", fact)["status"] == ("active" if code else "deleted")


def test_conflicts_stay_unless_they_are_named(cli: CommandLine) -> None:
    fact = cli.add("wrong")
    cli("pin", fact)
    shown = cli("revert", "--line", 1)
    assert f"stays as it is (--undo {fact}: #{fact} is deleted)" in shown.out
    left = cli("revert", "--line", 1, "--yes")
    assert left.out == "did 0 steps\n"
    assert left.err == "left alone: 1 conflict; --undo ID takes one back\n"
    assert "is deleted" in cli("revert", "--line", 1, "--undo", fact).out
    assert cli("revert", "--line", 1, "--undo", fact, "--yes").code == 0
    assert cli.json("get", fact)["status"] == "deleted"


def test_revert_of_an_hour_that_is_over_takes_back_nothing_since(cli: CommandLine) -> None:
    cli.add("right")
    assert "nothing to take back" in cli("revert", "--until", "1h", "--yes").err
    assert cli("revert", "--until", "now", "--yes").out.startswith("did 1 step")


def test_revert_words_its_errors_with_flags(cli: CommandLine) -> None:
    cli.add("something")
    assert "nothing is selected" in cli("revert").err
    assert "--run-uuid is not the id of a run" in cli("revert", "--run-uuid", "x").err
    assert "--since is not a moment" in cli("revert", "--since", "soon").err
    assert "--undo names fact 9" in cli("revert", "--line", 1, "--undo", 9, "--yes").err
    assert cli("revert", "--since", "1h", "--user", "ana").err.startswith("nothing to take back")


def test_an_act_is_taken_back_by_its_number_in_the_log(cli: CommandLine) -> None:
    for content in ("one", "two"):
        cli.add(content)
    cli("revert", "--actor", "user", "--yes")
    act = cli("log", "--limit", 1).out.split("\t")[0]
    assert cli("revert", "--act", act, "--yes").out.startswith("did 2 steps")
    assert len(cli.json("list")) == 2


def test_a_fact_with_another_support_stays(cli: CommandLine) -> None:
    for source in ("web:x", "letters"):
        cli("add", "Ana is tall", "--subject", "ana", "--source", source)
    shown = cli("revert", "--source", "web:x")
    assert "stays, it has other support" in shown.out
    assert "it was also restated, from letters, by user through cli, in line 2" in shown.out
    cli("revert", "--source", "web:x", "--yes")
    assert [support["source"] for support in cli.json("support", 1)] == ["letters"]
    assert "took support of fact 1 back" in cli("log").out
    assert "which was taken back" in cli("explain", 1).out
