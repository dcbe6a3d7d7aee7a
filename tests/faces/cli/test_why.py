"""Why a fact is believed, on the command line."""

from __future__ import annotations

from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401


def test_explain_prints_the_verdict_and_what_happened(cli: CommandLine) -> None:
    old = cli.add("prefers \x1b[31mtea", subject="alice")
    new = cli.json("add", "prefers coffee", "--subject", "alice", "--supersedes", old)["id"]
    answer = cli("explain", f"#{old}")
    verdict, said, replaced = answer.out.splitlines()
    assert verdict.startswith(f"fact {old} was superseded by fact {new} on ")
    assert said.startswith("said by user on ")
    assert replaced.startswith(f"→ superseded by fact {new} by user through cli on ")
    assert "\x1b" not in answer.out
    assert (answer.code, answer.err) == (0, "")


def test_explain_as_json_has_every_entry(cli: CommandLine) -> None:
    fact = cli.add("prefers tea", subject="alice")
    cli("confirm", fact)
    explanation = cli.json("explain", fact)
    assert [entry["kind"] for entry in explanation["entries"]] == ["said", "confirmed"]
    assert explanation["entries"][1]["line"] == 2
    assert (explanation["fact_id"], explanation["trust"]) == (fact, "person")


def test_explain_of_an_erased_fact_shows_no_word_of_it(cli: CommandLine) -> None:
    fact = cli.add("a secret")
    cli("erase", fact, "--yes")
    for owners in ((), ("--scope", "all")):
        answer = cli("explain", fact, *owners)
        assert answer.out.startswith(f"fact {fact} was erased on ")
        assert "secret" not in answer.out
    assert cli("explain", fact, "--user", "ana").code != 0


def test_explain_does_not_show_other_owners_facts(cli: CommandLine) -> None:
    fact = cli.json("add", "one", "--subject", "s", "--user", "ana")["id"]
    for owner in ((), ("--user", "ben")):
        answer = cli("explain", fact, *owner)
        assert (answer.out, "there is no fact" in answer.err) == ("", True)
    assert cli("explain", fact, "--user", "ana").code == 0


def test_why_not_says_what_lost_a_fact(cli: CommandLine) -> None:
    fact = cli.add("Alice prefers tea", "alice")
    assert cli("search", "tea", "--why-not", fact).out == f"fact {fact} is found, 1st\n"
    answer = cli("search", "tea", "--subject", "bob", "--why-not", f"#{fact}")
    assert answer.out == f"fact {fact} has the subject 'alice', not 'bob'\n"
    assert cli.json("search", "tea", "--subject", "bob", "--why-not", fact)["stage"] == "subject"


def test_why_not_puts_the_scores_side_by_side(cli: CommandLine) -> None:
    for number in range(3):
        cli.add(f"tea {'rain ' * number}", "s")
    last = cli.json("search", "tea", "--ranking", "classic")[-1]["fact"]["id"]
    arguments = ("search", "tea", "--ranking", "classic", "--limit", 2, "--why-not", last)
    first, heads, score, *_ = cli(*arguments).out.splitlines()
    assert first == f"fact {last} is ranked 3rd of 2"
    assert heads.split()[0] == f"#{last}"
    assert score.split()[0] == "score"
    assert cli.json(*arguments)["last"]["place"] == 2


def test_why_not_of_a_recall_knows_the_budget(cli: CommandLine) -> None:
    for number in range(9):
        cli.add(f"tea number {number} of the house is green and not black", "s")
    shown = cli.json("recall", "tea", "--max-tokens", 50)
    left = next(number for number in range(1, 10) if number not in shown["facts"])
    answer = cli("recall", "tea", "--max-tokens", 50, "--why-not", left)
    assert answer.out.startswith(f"fact {left} is cut by the budget: it is ")


def test_why_not_and_owners(cli: CommandLine) -> None:
    fact = cli.json("add", "tea", "--subject", "s", "--user", "ana")["id"]
    assert "belongs to other owners" in cli("search", "tea", "--why-not", fact).out
    assert "is found" in cli("search", "tea", "--user", "ana", "--why-not", fact).out
    answer = cli("search", "tea", "--user", "ben", "--why-not", fact)
    assert (answer.out, answer.code) == ("", 1)
    assert "there is no fact" in answer.err
