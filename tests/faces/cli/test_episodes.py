"""The commands for the log of episodes."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore.faces.cli import render_terminal

HOSTILE = "Ana \x1b[2J likes \u202eevil"


def test_add_records_every_option(cli: CommandLine) -> None:
    answer = cli.json(
        *("episode", "add", "We met at the pier", "--source", "meeting", "--name", "Pier"),
        *("--source-model", "opus", "--source-description", "by phone", "--tag", "a"),
        *("--tag", "b", "--valid-at", "2026-03-01", "-m", "n=3", "--key", "k", "--user", "ana"),
    )
    assert answer["id"] == 1
    told = {name: answer[name] for name in ("source", "name", "tags", "metadata", "user_id")}
    assert told == {
        "source": "meeting",
        "name": "Pier",
        "tags": ["a", "b"],
        "metadata": {"n": 3},
        "user_id": "ana",
    }
    assert (answer["source_model"], answer["source_description"]) == ("opus", "by phone")
    assert answer["valid_at"] == "2026-03-01T00:00:00.000000Z"
    again = cli("episode", "add", "We met at the pier", "--key", "k", "--user", "ana")
    assert again.out == "recorded as episode #1\n"
    assert cli.json("episode", "get", 1, "--user", "ana") == answer
    assert cli.json("episode", "get", answer["uuid"], "--scope", "all") == answer


def test_add_places_episodes_and_facts_in_a_thread(cli: CommandLine) -> None:
    said = [
        cli.json("episode", "add", "Who fed the cat?", "--thread", "a", *more)
        for more in ([], ["--seq", 7, "--speaker", "Ben"], [])
    ]
    assert [one["seq"] for one in said] == [1, 7, 8]
    assert said[1]["speaker"] == "Ben"
    stored = [
        cli.json("add", "Ben fed it", "--subject", "ben", "-m", f"n={n}", "--thread", "a", *more)
        for n, more in enumerate(([], ["--seq", 7]))
    ]
    assert [(one["thread"], one["seq"]) for one in stored] == [("a", 1), ("a", 7)]
    code, error = cli.error("add", "x", "--subject", "y", "--seq", 3)
    assert (code, error) == (2, "--seq is a place in a thread, but no thread is given")
    assert cli.error("episode", "add", "x", "--thread", " ")[1] == "--thread is empty"


def test_add_reads_standard_input_verbatim(cli: CommandLine) -> None:
    text = "  line one\n\tline two, 東京\n\n"
    assert cli("episode", "add", "-", stdin=text).code == 0
    assert cli.json("episode", "get", "#1")["content"] == text
    assert cli.json("episode", "get", "1")["source"] == "cli"


def test_add_error_suggests_a_conversion_of_the_encoding(cli: CommandLine) -> None:
    answer = cli("episode", "add", "-", stdin=b"caf\xe9")
    assert answer.code == 2
    assert "standard input is not UTF-8 text (byte 3)" in answer.err
    assert "iconv" in answer.err


def test_erase_without_a_terminal_needs_yes(cli: CommandLine) -> None:
    cli("episode", "add", "the secret pier")
    code, error = cli.error("episode", "erase", 1)
    assert code == 1
    assert "--yes" in error
    assert cli.json("episode", "get", 1)["content"] == "the secret pier"
    assert cli.json("episode", "erase", "#1", "--yes") == {"erased": 1}
    assert cli("episode", "get", 1).code == 1
    assert b"secret pier" not in cli.db.read_bytes()


def test_add_embeds_nothing_and_opens_any_file(cli: CommandLine) -> None:
    with memstore.open(cli.db, embedder="local") as store:
        store.add("a fact", subject="s")
    assert cli("episode", "add", "text").code == 0
    assert cli.json("status")["episodes_pending"] == 1


def test_search_finds_and_filters(cli: CommandLine) -> None:
    for content, more in (
        ("harbour ice", ("--source", "mail", "--tag", "a", "--tag", "b")),
        ("harbour pier", ("--source", "chat", "--tag", "a")),
        ("violin", ("--user", "ana", "--valid-at", "2020-01-01")),
    ):
        assert cli("episode", "add", content, *more).code == 0

    def found(*argv: str) -> list[int]:
        hits = cli.json("episode", "search", *argv, "--mode", "words")
        return [hit["episode"]["id"] for hit in hits]

    assert found("harbour", "ice") == [1, 2]
    assert found("harbour", "--limit", "1") == [2]
    assert found("harbour", "--source", "mail") == [1]
    assert found("harbour", "--tag", "a", "--tag", "b") == [1]
    assert found("harbour") == [2, 1]  # of equals the newer
    assert found("harbour", "--tag", "b", "--tag-boost", "2") == [1, 2]
    assert found("--scope", "all") == [3, 2, 1]
    assert found() == [2, 1]
    assert found("--user", "ana") == [3]
    assert found("--valid-before", "2021-01-01", "--scope", "all") == [3]
    assert found("--valid-after", "2021-01-01") == [2, 1]
    assert found("--after", "2999-01-01") == []
    assert found("--namespaces", "other") == []
    cli("episode", "update", 2, "--expires-at", "2020-01-01")
    assert found("harbour") == [1]
    assert sorted(found("harbour", "--all")) == [1, 2]
    assert found("harbour", "--expired-before", "2021-01-01") == [2]
    assert found("--expired-after", "2021-01-01") == []


def test_what_was_not_compared_has_no_score(cli: CommandLine) -> None:
    cli("episode", "add", "harbour")
    for found, scores in ((("search",), [None]), (("search", "harbour"), ["0."])):
        [line] = cli("episode", *found).out.splitlines()
        shown = line.split("\t")[1]
        assert shown.startswith(scores[0]) if scores[0] else shown == ""
    assert cli.json("episode", "search")[0]["score"] is None
    assert cli.json("episode", "search", "harbour")[0]["score"] > 0


def test_search_reports_words_only(cli: CommandLine) -> None:
    cli("episode", "add", "harbour")
    cli("episode", "add", "pier")
    answer = cli("episode", "search", "harbour")
    assert [line.split("\t")[0] for line in answer.out.splitlines()] == ["1", "2"]
    assert answer.err == "the last 1 match no word and are only the newest\n"
    nothing = cli("episode", "search", "zebra", "--mode", "words")
    assert (nothing.out, nothing.code) == ("", 0)
    assert "memstore episode list" in nothing.err


def test_rows_have_the_documented_columns(cli: CommandLine) -> None:
    cli("episode", "add", "one\ntwo", "--name", "n", "--tag", "a", "--tag", "b", "-m", "k=1")
    row = cli("episode", "list").out.rstrip("\n").split("\t")
    created = row.pop(2)
    assert created.endswith("Z")
    assert row == ["1", "active", "cli", "n", "a,b", r"one\ntwo", '{"k":1}', "default"]
    found = cli("episode", "search", "one", "--mode", "words").out.rstrip("\n").split("\t")
    assert found[:3] == ["1", "1.000", ""]
    assert found[3] == "active"


def test_list_pages_and_orders(cli: CommandLine) -> None:
    for number in range(4):
        cli("episode", "add", f"line {number}", "--source", "ab"[number % 2])

    def ids(*argv: str) -> list[int]:
        return [one["id"] for one in cli.json("episode", "list", *argv)]

    assert ids() == [1, 2, 3, 4]
    assert ids("--newest", "--limit", "2", "--offset", "1") == [3, 2]
    assert ids("--source", "b") == [2, 4]
    assert cli("episode", "list", "--tag", "none").err == "no episodes\n"


def test_update_changes_only_the_given_options(cli: CommandLine) -> None:
    cli("episode", "add", "text", "--tag", "a", "-m", "k=1", "-m", "gone=2")
    changed = cli.json(*("episode", "update", 1, "--tag", "b", "-m", "n=3", "--unset", "gone"))
    assert (changed["tags"], changed["metadata"]) == (["b"], {"k": 1, "n": 3})
    changed = cli.json("episode", "update", 1, "--expires-at", "2020-01-01")
    assert changed["expired_at"] == "2020-01-01T23:59:59.999999Z"
    assert changed["tags"] == ["b"]
    changed = cli.json("episode", "update", 1, "--no-tags", "--unexpire")
    assert "tags" not in changed
    assert "expired_at" not in changed
    assert cli("episode", "update", 1, "--tag", "c").out == "updated episode #1\n"


@pytest.mark.parametrize(
    ("argv", "code", "says"),
    [
        (("update", "1"), 2, "nothing to update: give --tag, --no-tags"),
        (("update", "1", "--tag", "x", "--no-tags"), 2, "give --tag or --no-tags, not both"),
        (("update", "1", "--expires-at", "2026-01-01", "--unexpire"), 2, "not both"),
        (("update", "1", "--expires-at", "never"), 2, "--expires-at is not a time: 'never'"),
        (("update", "7", "--no-tags"), 1, "there is no episode 7"),
        (("update", "x", "--no-tags"), 2, "an id is a whole number such as 12"),
        (("get", "9"), 1, "there is no episode 9"),
        (("add", " "), 2, "content is empty"),
        (("add", "x", "--metadata", "{"), 2, "--metadata: not valid JSON"),
        (("add", "x", "--valid-at", "soon"), 2, "--valid-at is not a time: 'soon'"),
        (("search", "x", "--after", "soon"), 2, "--after is not a time: 'soon'"),
        (("search", "x", "--valid-before", "soon"), 2, "--valid-before is not a time: 'soon'"),
        (("list", "--expired-after", "soon"), 2, "--expired-after is not a time: 'soon'"),
        (("search", "x", "--alpha", "3"), 2, "alpha must be 0 to 1, not 3.0"),
        (
            ("list", "--after", "2026-02-01", "--before", "2026-01-01"),
            2,
            "--after (2026-02-01) is not earlier than the end of the period (2026-01-01)",
        ),
    ],
)
def test_errors_name_the_flag_and_a_remedy(
    cli: CommandLine, argv: tuple[str, ...], code: int, says: str
) -> None:
    cli("episode", "add", "text")
    found, text = cli.error("episode", *argv)
    assert says in text
    assert found == code


def test_reading_creates_no_file(cli: CommandLine) -> None:
    cli.db.unlink()
    for argv in (("search", "x"), ("list",), ("get", "1"), ("update", "1", "--no-tags")):
        code, text = cli.error("episode", *argv)
        assert code == 3
        assert "does not exist" in text
    assert not cli.db.exists()


def test_hostile_text_is_escaped_in_every_output(cli: CommandLine) -> None:
    cli("episode", "add", HOSTILE, "--name", HOSTILE, "--tag", HOSTILE, "-m", f"{HOSTILE}=1")
    for argv in (("list",), ("search", "Ana"), ("get", "1"), ("list", "--json")):
        answer = cli("episode", *argv)
        assert "\x1b" not in answer.out
        assert "\u202e" not in answer.out
        assert answer.code == 0


def test_a_terminal_shows_the_relevant_excerpt(cli: CommandLine) -> None:
    filler = "lorem ipsum dolor sit amet. " * 200
    cli("episode", "add", f"{filler} needle {filler}", "--name", "Long", "--tag", "x")
    cli("episode", "add", HOSTILE, "--source", "mail", "-m", "k=1")
    cli("episode", "update", 2, "--expires-at", "2020-01-01")
    console = Console(record=True, width=100, file=io.StringIO(), color_system=None)
    show = render_terminal.TerminalShow(console, console)
    with memstore.open(cli.db, embedder=None) as store:
        show.episodes(store.episodes.list(include_expired=True))
        show.episode_hits(store.episodes.search("needle", mode="words"))
        show.episode(store.episodes.get(1))
        show.status(store.status())
    screen = console.export_text()
    assert "e1   Long · cli  x" in screen
    assert "more characters: memstore episode get 1" in screen
    assert "e2   mail  expired" in screen
    assert "2 episodes" in screen
    assert "words 1.00 · similarity none yet" in screen
    assert screen.count("needle") == 2  # in the hit, and in the episode shown whole
    assert "\x1b" not in screen
    assert "2 pending" in screen


def test_json_output_of_a_search_is_complete(cli: CommandLine) -> None:
    cli("episode", "add", "harbour")
    [hit] = json.loads(cli("episode", "search", "harbour", "--json").out)
    assert set(hit) == {"episode", "score", "word_score", "similarity", "start", "stop", "parts"}
    assert (hit["start"], hit["stop"], hit["similarity"]) == (0, 7, None)
