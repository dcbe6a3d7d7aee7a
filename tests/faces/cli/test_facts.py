"""The commands that store facts and correct them."""

from __future__ import annotations

import json

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import providers


def test_add_returns_the_whole_fact(cli: CommandLine) -> None:
    fact = cli.json(
        *("add", "prefers tea", "--subject", "alice", "--category", "preference"),
        *("-m", "n=3", "-m", "on=true", "-m", "lang=en", "-m", "list=[1]", "-m", "eq=a=b"),
        *("--metadata", '{"n": 1, "deep": {"x": null}}'),
        *("--valid-at", "2026-03-01", "--expires-at", "2099-01-01", "--source", "chat"),
        *("--key", "k1"),
    )
    assert fact["metadata"] == {
        "n": 3,
        "deep": {"x": None},
        "on": True,
        "lang": "en",
        "list": [1],
        "eq": "a=b",
    }
    assert fact["valid_at"] == "2026-03-01T00:00:00.000000Z"
    assert (fact["source"], fact["idempotency_key"]) == ("chat", "k1")
    assert cli.json("get", fact["id"]) == fact


def test_add_reports_what_was_stored(cli: CommandLine) -> None:
    assert cli("add", "one", "--subject", "x").out == "stored as #1\n"
    assert cli("add", "two", "--subject", "x", "--supersedes", "#1").out == (
        "stored as #2, superseding #1\n"
    )


def test_add_reads_standard_input(cli: CommandLine) -> None:
    fact = cli.json("add", "-", "--subject", "x", stdin="  zwei\nZeilen 緑茶\n")
    assert fact["content"] == "zwei\nZeilen 緑茶"


def test_add_refuses_input_that_is_not_text(cli: CommandLine) -> None:
    answer = cli("add", "-", "--subject", "x", stdin=b"\xff\xfe")
    assert (answer.code, answer.out) == (2, "")


def test_add_with_a_known_key_returns_the_same_fact(cli: CommandLine) -> None:
    assert cli.add("one", "x", "--key", "k") == cli.add("one", "x", "--key", "k")
    code, error = cli.error("add", "two", "--subject", "x", "--key", "k")
    assert code == 1
    assert "idempotency key" in error


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), "--subject"),
        (("--subject", ""), "subject is empty"),
        (("--subject", "x", "--valid-at", "soon"), "--valid-at is not a time: 'soon'"),
        (("--subject", "x", "--metadata", "[1]"), "JSON object"),
        (("--subject", "x", "--metadata", '{"x": NaN}'), "NaN is not a JSON number"),
        (("--subject", "x", "--metadata", "[" * 100_000), "argument --metadata"),
        (("--subject", "x", "-m", "novalue"), "key=value"),
        (("--subject", "x", "--supersedes", "two"), "an id is a whole number"),
        (("--subject", "x", "--supersedes", "9" * 19), "no fact has the id"),
        (("--subject", "x", "--colour", "red"), "--colour"),
    ],
)
def test_add_refuses_wrong_arguments(cli: CommandLine, more: tuple[str, ...], told: str) -> None:
    code, error = cli.error("add", "text", *more)
    assert code == 2
    assert told in error
    assert cli.json("list") == []


def test_a_stored_fact_is_ended_and_holds_again(cli: CommandLine) -> None:
    fact = cli.add("The office is closed")
    ended = cli("expire", fact)
    assert ended.out == f"#{fact} has expired; memstore expire {fact} --never undoes that\n"
    assert cli.json("list") == []
    assert [one["id"] for one in cli.json("list", "--all")] == [fact]
    assert cli("expire", fact, "--never").out == f"#{fact} does not expire\n"
    later = cli("expire", fact, "--expires-at", "2999-12-31", "--timezone", "UTC")
    assert later.out.startswith(f"#{fact} expires 2999-12-31 23:59; ")
    assert cli.json("get", fact)["status"] == "active"
    code, error = cli.error("expire", fact, "--expires-at", "soon")
    assert (code, "--expires-at is not a time: 'soon'" in error) == (2, True)
    assert cli.error("expire", 99)[0] == 1
    assert cli("expire", fact, "--expires-at", "2999-12-31", "--never").code == 2


def test_add_notes_an_expiry_that_is_past(cli: CommandLine) -> None:
    answer = cli("add", "It rains", "--subject", "lisbon", "--expires-at", "2020-01-01")
    told = "#1 has expired already, so that no search finds it (memstore expire 1 --never)\n"
    assert (answer.code, answer.err) == (0, told)


def test_add_superseding_a_missing_fact_stores_nothing(cli: CommandLine) -> None:
    code, error = cli.error("add", "new", "--subject", "x", "--supersedes", "7")
    assert code == 1
    assert "no fact 7" in error
    assert cli.json("list") == []


def test_add_reports_a_pending_embedding(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    class Down:
        model = "down"

        def embed(self, texts: object) -> object:
            raise memstore.EmbedderUnavailable("nobody answers\nat \x1b[31mhost")

    monkeypatch.setattr(providers, "embedder", lambda *_, **__: Down())
    answer = cli("add", "text", "--subject", "x")
    assert (answer.code, answer.out) == (0, "stored as #1\n")
    told = "stored as #1; its embedding is pending: nobody answers\\nat \\x1b[31mhost"
    assert answer.err.startswith(told)
    assert answer.err.count("\n") == 1
    told = cli("task", "add", "to do", "--json")
    assert json.loads(told.out)["id"] == 2
    assert "pending" in json.loads(told.err)["note"]


def test_supersede_retires_the_old_fact(cli: CommandLine) -> None:
    old, new = cli.add("old"), cli.add("new")
    assert cli.json("supersede", old, new)["superseded_by"] == new
    assert [fact["id"] for fact in cli.json("list")] == [new]
    code, error = cli.error("supersede", old, new)
    assert code == 1
    assert "already superseded" in error


def test_confirm_counts(cli: CommandLine) -> None:
    fact = cli.add("text")
    assert cli("confirm", fact).out == "confirmed #1, once so far\n"
    assert cli.json("confirm", fact)["confirmed_count"] == 2
    assert cli.error("confirm", 9)[0] == 1


def test_update_sets_and_removes_metadata(cli: CommandLine) -> None:
    fact = cli.add("text", "x", "-m", "a=1", "-m", "b=2", "-m", "c=3")
    updated = cli.json("update", fact, "-m", "a=one", "-m", "b=null", "--unset", "c")
    assert updated["metadata"] == {"a": "one"}
    code, error = cli.error("update", fact)
    assert code == 2
    assert "nothing to update" in error


def test_delete_and_restore(cli: CommandLine) -> None:
    fact = cli.add("text")
    assert "deleted_at" in cli.json("delete", fact)
    assert cli.json("list") == []
    assert [f["id"] for f in cli.json("list", "--deleted")] == [fact]
    assert "deleted_at" not in cli.json("restore", fact)
    assert cli.error("restore", fact)[0] == 1


def test_restore_of_a_superseded_fact_names_the_new_one(cli: CommandLine) -> None:
    old = cli.add("old")
    cli.add("new", "alice", "--supersedes", str(old))
    assert cli("restore", old).out == (
        "restored #1 as #3, which replaces the newer fact; active now: #3\n"
    )


def test_erase_without_a_terminal_needs_yes(cli: CommandLine) -> None:
    fact = cli.add("secret")
    code, error = cli.error("erase", fact)
    assert code == 1
    assert "--yes" in error
    assert cli.json("erase", fact, "--yes") == {"erased": fact}
    assert cli.error("get", fact)[0] == 1
    assert b"secret" not in cli.db.read_bytes()


@pytest.mark.parametrize(("reply", "code"), [("y\n", 0), ("YES\n", 0), ("\n", 1), ("", 1)])
def test_erase_asks_on_a_terminal(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, reply: str, code: int
) -> None:
    fact = cli.add("secret \x1b[31m")
    monkeypatch.setattr("memstore.faces.cli.command.can_ask", lambda: True)
    answer = cli("erase", fact, stdin=reply)
    assert answer.code == code
    assert "secret \\x1b[31m" in answer.err
    assert "[y/N]" in answer.err
    assert cli("get", fact).code == 1 - code


def test_adding_a_known_fact_confirms_it(cli: CommandLine) -> None:
    first = cli.json("add", "Ada lives in Rome", "--subject", "ada")
    again = cli.json("add", "Ada  lives in Rome.", "--subject", "Ada")
    assert (again["id"], again["status"], again["confirmed_count"]) == (
        first["id"], "duplicate", 1,
    )  # fmt: skip
    told = cli("add", "Ada lives in Rome", "--subject", "ada")
    assert "already stored, confirmed: #1" in told.out
    other = cli.json("add", "Ada lives in Rome", "--subject", "ada", "-m", "n=1")
    assert (other["id"] != first["id"], other["status"]) == (True, "active")
    cased = cli.json("add", "Ada lives in ROME", "--subject", "ada")  # letter case is content
    assert (cased["id"] not in (first["id"], other["id"]), cased["status"]) == (True, "active")


def test_restore_and_reinstate_report_the_active_facts(cli: CommandLine) -> None:
    for content in ("Ada lives in Rome", "Ada lives in Bonn"):
        cli("add", content, "--subject", "ada")
    cli("supersede", 1, 2)
    reinstated = cli.json("reinstate", 1)
    assert (reinstated["repair"], reinstated["active_now"]) == ("reinstate", [3, 2])
    cli("supersede", 3, 2)
    restored = cli.json("restore", 3)
    assert (restored["repair"], restored["active_now"]) == ("restore", [4])
    cli("delete", 4)
    assert cli("restore", 4).out == "restored #4; active now: #4\n"
    code, told = cli.error("reinstate", 4)
    assert (code, "nothing to reinstate" in told) == (1, True)
    shown = cli("restore", "--help").out + cli("reinstate", "--help").out
    assert "it replaces any newer version" in shown
    assert "both facts hold" in shown


def test_add_with_the_key_of_a_superseded_fact_is_not_a_duplicate(cli: CommandLine) -> None:
    again = ("add", "Ada lives in Rome", "--subject", "ada", "--key", "k")
    cli(*again)
    cli("confirm", 1)
    cli("add", "Ada lives in Bonn", "--subject", "ada", "--supersedes", 1)
    assert cli.json(*again)["status"] == "superseded"


def test_pinned_facts_are_listed_and_marked(cli: CommandLine) -> None:
    fact, other = cli.add("make builds it"), cli.add("tests run at night")
    assert cli("pin", fact).out == f"pinned #{fact}: sessions begin with it\n"
    assert [one["id"] for one in cli.json("list", "--pinned")] == [fact]
    assert "pinned_at" in cli.json("get", fact)
    assert "pinned_at" not in cli.json("get", other)
    assert "pinned" in cli("get", fact).out
    assert "pinned_at" not in cli.json("unpin", fact)
    assert cli.json("list", "--pinned") == []
    assert cli.error("pin", 9)[0] == 1
