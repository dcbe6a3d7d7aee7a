"""The commands that find facts and show them, and those for tasks."""

from __future__ import annotations

import json

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import providers


def ids(facts: list[dict[str, object]]) -> list[object]:
    return [fact["id"] for fact in facts]


def test_search_prints_facts_and_scores(cli: CommandLine) -> None:
    fact = cli.add("Alice prefers dark mode")
    cli.add("Bob prefers light mode", "bob")
    (hit,) = cli.json("search", "dark", "--limit", "5", "--ranking", "classic")
    assert hit["fact"]["id"] == fact
    assert hit["word_score"] == 1.0
    assert hit["vector_score"] == 0.0
    assert hit["score"] == pytest.approx(0.6 * hit["decay"])
    assert set(hit) == {"fact", "score", "word_score", "vector_score", "decay", "parts"}
    assert hit["parts"]["words"] == 0.6
    (hit,) = cli.json("search", "dark")
    parts = hit["parts"]
    assert parts.pop("decay") == hit["decay"]
    assert hit["score"] == pytest.approx(sum(parts.values()))
    assert "terms 0." in cli("search", "dark", "--explain").out


def test_search_shows_neighbours_in_the_conversation(cli: CommandLine) -> None:
    for text in ("Who fed the cat?", "Ben did", "At noon?"):
        cli.add(text, "s", "--thread", "a")
        cli("episode", "add", text, "--thread", "a")
    (fact,) = cli.json("search", "Ben", "--context", 1, "--limit", 1, "--no-episodes")
    (episode,) = cli.json("episode", "search", "Ben", "--context", 1, "--limit", 1)
    for hit in (fact, episode):
        assert [one["content"] for one in hit["before"]] == ["Who fed the cat?"]
        assert [one["content"] for one in hit["after"]] == ["At noon?"]
    (alone,) = cli.json("search", "Ben", "--limit", 1, "--no-episodes")
    assert not {"before", "after"} & alone.keys()
    rows = [
        row.split("\t")
        for row in cli(
            "search", "Ben", "--context", 1, "--limit", 1, "--no-episodes"
        ).out.splitlines()
    ]
    assert [(row[0], row[1] != "", row[7]) for row in rows] == [
        ("1", False, "Who fed the cat?"), ("2", True, "Ben did"), ("3", False, "At noon?"),
    ]  # fmt: skip
    rows = [
        row.split("\t")
        for row in cli("episode", "search", "Ben", "--context", 1, "--limit", 1).out.splitlines()
    ]
    assert [(row[0], row[1] != "", row[8]) for row in rows] == [
        ("1", False, "Who fed the cat?"), ("2", True, "Ben did"), ("3", False, "At noon?"),
    ]  # fmt: skip
    assert cli.error("search", "Ben", "--context", 11) == (
        2, "--context must be a whole number from 0 to 10, not 11",
    )  # fmt: skip


def test_search_accepts_the_query_as_separate_words(cli: CommandLine) -> None:
    cli.add("Alice prefers dark mode")
    assert len(cli.json("search", "dark", "mode")) == 1
    odd = ('"dark AND (', "*", "NEAR/2")
    assert cli.json("search", *odd, "--min-relevance", 0)[0]["fact"]["id"] == 1


def test_search_without_relevant_facts_finds_nothing(cli: CommandLine) -> None:
    cli.add("Alice prefers dark mode in every editor")
    assert cli.json("search", "zzzz qqqq dark editor mode alice every")
    nothing = cli("search", "zzzz qqqq in xyzzy")
    assert nothing.out == ""
    with_all = cli("search", "zzzz", "qqqq", "--min-relevance", "2")
    assert "--min-relevance must be" in with_all.err


def test_search_tells_what_the_least_relevance_left_out(cli: CommandLine) -> None:
    with memstore.open(cli.db, embedder="local") as store:
        for content in ("The ferry is old", "Ben plays the violin", "undo.sh restores the table"):
            store.add(content, subject="note")
        store.episodes.add("The ferry is old", source="test")
        store.file.embed_pending()
    unrelated = ("which enzymes repair double strand breaks", "--embedder", "local")
    for command in (["search"], ["recall"], ["episode", "search"]):
        nothing = cli(*command, *unrelated)
        assert nothing.out == ""
        assert "nothing found but" in nothing.err
        assert "--min-relevance 0 shows" in nothing.err
        assert cli(*command, *unrelated, "--min-relevance", 0).out
    [first, *_] = cli.json("search", "undo.sh usage", "--embedder", "local")
    assert first["fact"]["content"] == "undo.sh restores the table"


def test_search_without_hits_is_not_an_error(cli: CommandLine) -> None:
    cli.add("something")
    answer = cli("search", "xyzzy")
    assert (answer.code, answer.out) == (0, "")
    assert "nothing found" in answer.err
    told = cli("search", "xyzzy", "--json")
    assert (told.code, json.loads(told.out)) == (0, [])
    assert "nothing found" in json.loads(told.err)["note"]


def test_recall_prints_a_text_within_the_budget(cli: CommandLine) -> None:
    for number in range(20):
        cli.add(f"tea of kind {number}", "tea")
    told = cli.json("recall", "tea", "kind", "--max-tokens", "100")
    keys = "text facts episodes left_out words_only hidden provisional respelt"
    assert set(told) == set(keys.split())
    assert 0 < len(told["facts"]) < 20
    assert len(told["facts"]) + told["left_out"] == 20
    assert cli("recall", "tea kind", "--max-tokens", "100").out == told["text"] + "\n"
    nothing = cli("recall", "xyzzy")
    assert (nothing.code, nothing.out) == (0, "")
    assert "nothing found" in nothing.err


def test_recall_filters(cli: CommandLine) -> None:
    cli.add("tea one", "alice", "--category", "preference", "-m", "level=3")
    cli.add("tea two", "bob")
    cli("episode", "add", "tea three", "--source", "chat")

    def found(*options: str) -> tuple[list[int], list[int]]:
        told = cli.json("recall", "tea", *options)
        return sorted(told["facts"]), told["episodes"]

    assert found() == ([1, 2], [1])
    assert found("--no-episodes") == ([1, 2], [])
    assert found("--subject", "bob") == ([2], [])
    assert found("-f", "level>=3") == ([1], [])


def test_search_filters(cli: CommandLine) -> None:
    cli.add("tea one", "alice", "--category", "preference", "-m", "level=3")
    cli.add("tea two", "bob", "-m", "level=5", "-m", "level_name=5")
    cli.add("tea three", "bob", "--supersedes", "2")

    def found(*options: str) -> set[object]:
        return {hit["fact"]["id"] for hit in cli.json("search", "tea", *options)}

    assert found() == {1, 3}
    assert found("--subject", "bob") == {3}
    assert found("--category", "preference") == {1}
    assert found("--all") == {1, 2, 3}
    assert found("--all", "-f", "level>=3") == {1, 2}
    assert found("--all", "-f", "level>3", "--filter", "level_name=5") == {2}
    assert found("--all", "-f", 'level="3"') == set()
    assert found("-f", "level = null") == {3}
    assert found("--after", "2999-01-01") == found("--valid-before", "1999-01-01") == set()
    assert found("--before", "2999-01-01", "--valid-after", "1999-01-01") == {1, 3}
    assert ids(cli.json("list", "--after", "1999-01-01")) == [1, 3]
    assert cli.json("list", "--valid-after", "2999-01-01") == []
    assert found("-f", "level==3") == {1}
    assert found("--limit", "1").issubset({1, 3})


def test_search_finds_tasks_on_request(cli: CommandLine) -> None:
    fact, task = cli.add("tea is fine"), cli.json("task", "add", "buy tea")["id"]

    def found(*options: str) -> set[object]:
        return {hit["fact"]["id"] for hit in cli.json("search", "tea", *options)}

    assert found() == {fact}
    assert found("--tasks") == {fact, task}
    assert found("--subject", "todo") == {task}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("-f", "level"), "a condition is a key"),
        (("-f", ">3"), "a condition is a key"),
        (("-f", "on>true"), "have no order"),
        (("-f", "x=[1]"), "must be a number"),
        (("-f", f"x={'9' * 30}"), ""),
        (("--limit", "0"), "1 or more"),
        (("--limit", "1001"), "limit must be 1 to 1000"),
        (("--word-weight", "-1"), "--word-weight must be 0 or more"),
        (
            ("--word-weight", "0", "--vector-weight", "0"),
            "--word-weight and the weight of the vectors cannot both be 0",
        ),
        (("--namespaces", ","), "name a namespace"),
    ],
)
def test_search_refuses_wrong_arguments(
    cli: CommandLine, options: tuple[str, ...], told: str
) -> None:
    cli.add("tea")
    code, error = cli.error("search", "tea", *options)
    assert code == 2
    assert told in error


def test_search_reaches_other_namespaces_on_request(cli: CommandLine) -> None:
    cli.add("tea here")
    cli.add("tea there", "bob", "--namespace", "other")
    cli.add("tea elsewhere", "bob", "--namespace", "third")
    assert len(cli.json("search", "tea")) == 1
    assert len(cli.json("search", "tea", "--namespaces", "default, other")) == 2
    assert len(cli.json("search", "tea", "--namespaces", "all")) == 3
    assert cli.error("get", 2)[0] == 1


def test_search_reports_when_vectors_were_not_used(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Down:
        model = "down"

        def embed(self, texts: object) -> object:
            raise memstore.EmbedderUnavailable("nobody answers")

    cli.add("tea")
    assert cli("search", "tea").err == ""
    monkeypatch.setattr(providers, "embedder", lambda *_, **__: Down())
    answer = cli("search", "tea")
    assert (answer.code, answer.err) == (0, "searched by words only: nobody answers\n")


def test_list_pages_and_filters(cli: CommandLine) -> None:
    for number in range(5):
        cli.add(f"fact {number}", "odd" if number % 2 else "even", "-m", f"n={number}")
    assert ids(cli.json("list")) == [1, 2, 3, 4, 5]
    assert ids(cli.json("list", "--newest", "--limit", "2", "--offset", "1")) == [4, 3]
    assert ids(cli.json("list", "--subject", "odd", "-f", "n<3")) == [2]
    assert cli.error("list", "--offset", "-1")[0] == 2


def test_empty_list_is_not_an_error(cli: CommandLine) -> None:
    cli.add("text")
    answer = cli("list", "--subject", "nobody")
    assert (answer.code, answer.out, answer.err) == (0, "", "no facts\n")


@pytest.mark.parametrize(
    "command", [("list",), ("search", "x"), ("get", "1"), ("status",), ("delete", "1")]
)
def test_reading_a_missing_file_does_not_create_it(
    cli: CommandLine, command: tuple[str, ...]
) -> None:
    cli.db.unlink()
    code, error = cli.error(*command)
    assert code == 3
    assert "does not exist" in error
    assert not cli.db.exists()


def test_history_shows_the_chain_oldest_first(cli: CommandLine) -> None:
    cli.add("one")
    cli.add("two", "alice", "--supersedes", "1")
    cli.add("other", "alice")
    cli.add("three", "alice", "--supersedes", "2")
    assert ids(cli.json("history", 2)) == [1, 2, 4]
    assert ids(cli.json("history", "--subject", "alice")) == [1, 2, 3, 4]
    assert [line.split("\t")[1:3] for line in cli("history", 1).out.splitlines()] == [
        ["superseded", "2"],
        ["superseded", "4"],
        ["active", ""],
    ]
    journal = cli.json("history", 1, "--journal")
    assert [(line["kind"], line["fact_id"]) for line in journal] == [
        ("add", 1),
        ("add", 2),
        ("supersede", 1),
        ("add", 4),
        ("supersede", 2),
    ]
    assert len(cli.json("history", "--subject", "alice", "--journal")) == 6


def test_history_works_after_a_fact_in_the_chain_is_erased(cli: CommandLine) -> None:
    cli.add("one")
    cli.add("two", "alice", "--supersedes", "1")
    cli("erase", 1, "--yes")
    assert ids(cli.json("history", 2)) == [1, 2]
    assert cli("history", 2, "--journal").code == 0


def test_history_refuses_wrong_arguments(cli: CommandLine) -> None:
    cli.add("one")
    assert cli.error("history")[0] == 2
    assert cli.error("history", "1", "--subject", "alice")[0] == 2
    assert cli.error("history", "5")[0] == 1
    assert "ever stored" in cli("history", "--subject", "nobody").err


def test_tasks_from_created_to_done(cli: CommandLine) -> None:
    task = cli.json(
        *("task", "add", "Renew the certificate", "--priority", "high", "--due", "2026-12-01"),
        *("--project", "web", "--scope", "agent"),
    )
    cli.json("task", "add", "Sweep")
    assert ids(cli.json("task", "list")) == [1, 2]
    assert ids(cli.json("task", "list", "--scope", "agent", "--project", "web")) == [1]
    assert ids(cli.json("task", "list", "--surface", "startup", "--limit", "1")) == [1]
    started = cli.json("task", "update", task["id"], "in-progress")
    assert started["status"] == "in_progress"
    done = cli.json("task", "update", task["id"], "completed", "--note", "until 2027")
    assert (done["status"], done["note"]) == ("completed", "until 2027")
    assert ids(cli.json("task", "list")) == [2]
    assert ids(cli.json("task", "list", "--status", "all")) == [1, 2]
    assert cli("task", "list", "--status", "completed").out == (
        "1\tcompleted\thigh\tagent\tweb\t2026-12-01\tRenew the certificate\n"
    )


def test_tasks_refuse_invalid_values(cli: CommandLine) -> None:
    cli.add("no task")
    cli.json("task", "add", "one")
    cli.json("task", "update", 2, "completed")
    assert cli.error("task", "update", 1, "completed")[0] == 1
    assert cli.error("task", "update", 2, "finished")[0] == 2
    assert cli.error("task", "add", "x", "--scope", "nobody")[0] == 2
    assert cli.error("task", "add", "x", "--due", " ")[0] == 2
    assert cli("task", "list", "--project", "none").err == "no tasks\n"


def test_too_long_query_is_refused(cli: CommandLine) -> None:
    cli.add("a fact", "s")
    code, error = cli.error("search", "x" * 100_000)
    assert code == 2
    assert "query is 100,000 characters long; the limit is 20,000" in error


TALK = (
    "Where does staging run after the migration?",
    "Staging moves to port 5499, and Marta owns the migration.",
    "Good. What is for lunch?",
)


def talk(cli: CommandLine) -> None:
    for text in TALK:
        cli.json("episode", "add", text, "--source", "host", "--thread", "monday")


def test_the_command_line_shows_facts_then_turns(cli: CommandLine) -> None:
    talk(cli)
    cli("add", "Staging has two cores", "--subject", "staging")
    found = cli.json("search", "staging", "port")
    kinds = ["fact" if "fact" in one else "episode" for one in found]
    assert kinds[0] == "fact"
    assert set(kinds[1:]) == {"episode"}
    assert found[1]["episode"]["content"] == TALK[1]
    rows = [line.split("\t")[0] for line in cli("search", "staging", "port").out.splitlines()]
    assert rows[0] == "1"
    assert "e2" in rows
    assert "e2" not in cli("search", "staging", "port", "--no-episodes").out


def test_history_of_a_turn_shows_what_was_around_it(cli: CommandLine) -> None:
    talk(cli)
    told = cli.json("history", "e2")
    assert [one["content"] for one in told] == [*TALK]
    assert cli("history", "e99").code != 0


def test_search_names_newer_facts_and_whose_answer_it_is(cli: CommandLine) -> None:
    cli.add("Ana works at Initech", "Ana", "--valid-at", "2024-03-01")
    cli.add("Ana drinks tea", "Ana", "--valid-at", "2024-03-01")
    cli.add("Ana no longer works at Initech", "Ana", "--valid-at", "2024-03-09")
    query = ("search", "Ana works at Initech")
    named = {hit["fact"]["id"]: hit.get("newer") for hit in cli.json(*query)}
    assert named == {1: [3], 2: None, 3: None}
    rows = {row[0]: row for row in (line.split("\t") for line in cli(*query).out.splitlines())}
    assert rows["1"][-1] == "newer #3"
    assert len(rows["1"]) - 1 == len(rows["2"]) == len(rows["3"])
    cli.add("Ben repairs boats", "Ben")
    answer = cli("search", "what does Ana repair?")
    assert "about Ben, not Ana" in answer.err
    assert "#4 is nearer by 0." in cli("search", "what does Ana repair?", "--explain").err


def test_add_names_what_the_fact_may_replace(cli: CommandLine) -> None:
    cli.add("Ana works at Initech", "Ana", "--valid-at", "2024-03-01")
    stored = cli.json("add", "Ana quit Initech", "--subject", "Ana")
    assert {"id": 1, "says": "Ana works at Initech"} in stored["near"]
    stored = cli.json("add", "Ana drinks tea", "--subject", "Ana")
    assert "near" not in stored
