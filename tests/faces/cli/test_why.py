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


def test_explain_of_an_erased_fact_needs_all_owners(cli: CommandLine) -> None:
    fact = cli.add("a secret")
    cli("erase", fact, "--yes")
    assert cli("explain", fact).code != 0
    answer = cli("explain", fact, "--scope", "all")
    assert answer.out.startswith(f"fact {fact} was erased on ")
    assert "secret" not in answer.out


def test_explain_does_not_show_other_owners_facts(cli: CommandLine) -> None:
    fact = cli.json("add", "one", "--subject", "s", "--user", "ana")["id"]
    for owner in ((), ("--user", "ben")):
        answer = cli("explain", fact, *owner)
        assert (answer.out, "there is no fact" in answer.err) == ("", True)
    assert cli("explain", fact, "--user", "ana").code == 0
