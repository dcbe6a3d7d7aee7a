"""The commands that learn from text, against a scripted model behind real HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.clock import ManualClock
from tests.support.command_line import Answer, CommandLine, cli_fixture  # noqa: F401
from tests.support.model_server import ModelServer, Reply

import memstore
from memstore.facts.batch import AddFact, MayReplace

TEA = "Ana's favourite drink in the morning is tea"
COFFEE = "Ana's favourite drink in the morning is coffee"
HOSTILE = "Ana \x1b[2J likes \u202eevil"


def facts(*contents: str) -> str:
    return json.dumps(
        {"facts": [{"content": c, "subject": "ana", "category": "identity"} for c in contents]}
    )


def operation(event: str, memory: int | None = None, text: str | None = None) -> str:
    one = {"fact": 1, "event": event, "memory": memory, "text": text}
    return json.dumps({"operations": [one]})


@pytest.fixture
def model(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMSTORE_GENERATOR", "openai")
    monkeypatch.setenv("MEMSTORE_GENERATOR_URL", model_server.url)
    return model_server


@pytest.fixture(autouse=True)
def _no_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GENERATOR", "GENERATOR_MODEL", "GENERATOR_URL"):
        monkeypatch.delenv(f"MEMSTORE_{name}", raising=False)


@pytest.fixture
def proposed(
    cli: CommandLine, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """Extracts tea and then coffee, so that a supersession is proposed (or done)."""
    monkeypatch.setenv("MEMSTORE_EMBEDDER", "local")

    def run(*more: str) -> Answer:
        model.replies = [facts(TEA), facts(COFFEE)]
        assert cli("extract", "-", *more, stdin="tea").code == 0
        return cli("extract", "-", *more, stdin="coffee")

    return run


def test_extract_stores_what_the_model_found(cli: CommandLine, model: ModelServer) -> None:
    model.replies = [facts(TEA)]
    done = cli.json("extract", "-", "--source", "chat", stdin="I start my day with tea.")
    (item,) = done["items"]
    assert (item["outcome"], item["content"]) == ("stored", TEA)
    assert cli.json("get", item["fact_id"])["episode_id"] == done["episode"]
    assert "I start my day with tea." in model.prompts[0]


def test_extract_reads_a_file(cli: CommandLine, model: ModelServer, tmp_path: Path) -> None:
    model.replies = [facts(TEA)]
    text = tmp_path / "notes.txt"
    text.write_text("朝はお茶", encoding="utf-8")
    assert cli("extract", text).out.startswith("stored\t#1\t")
    assert "朝はお茶" in model.prompts[0]
    assert cli.error("extract", tmp_path / "missing.txt")[0] == 3


def test_file_in_another_encoding_is_refused_with_a_remedy(
    cli: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "latin.txt"
    file.write_bytes("Größe".encode("latin-1"))
    code, told = cli.error("extract", file, "--generator", "ollama")
    assert code == 2
    assert f"{file} is not UTF-8 text (byte 2): save it as UTF-8" in told


def test_extract_escapes_hidden_characters_in_a_reply(cli: CommandLine, model: ModelServer) -> None:
    model.replies = [facts(HOSTILE)]
    out = cli("extract", "-", stdin="x").out
    assert "\\x1b" in out
    assert "\\u202e" in out
    assert "\x1b" not in out


@pytest.mark.parametrize("command", ["extract", "remember"])
def test_a_command_without_a_generator_says_how_to_choose_one(
    cli: CommandLine, command: str, tmp_path: Path
) -> None:
    text = tmp_path / "text"
    text.write_text("some words", encoding="utf-8")
    code, error = cli.error(command, text)
    assert code == 2
    assert "--generator ollama|openai|anthropic" in error
    assert ("--direct" in error) == (command == "remember")


def test_an_address_without_a_generator_is_refused(cli: CommandLine) -> None:
    code, error = cli.error("remember", "x", "--generator-url", "http://localhost:1")
    assert code == 2
    assert "name it with --generator" in error


def test_the_generator_flag_ignores_the_url_of_another_generator(
    cli: CommandLine, model: ModelServer
) -> None:
    model.replies = [facts(), facts()]
    flags = ("--generator", "ollama", "--generator-url", model.url)
    assert cli("remember", "x", *flags).code == 0
    assert model.asked[-1].target == "/api/chat"
    assert cli("remember", "y", "--generator-model", "m2").code == 0
    assert (model.asked[-1].target, model.asked[-1].body["model"]) == (
        "/v1/chat/completions",
        "m2",
    )


@pytest.mark.parametrize("command", [("extract", "-"), ("remember", "-")])
def test_a_failing_generator_exits_with_4(
    cli: CommandLine, model: ModelServer, command: tuple[str, ...]
) -> None:
    model.replies = [Reply(status=401, words="no such key")]
    answer = cli(*command, stdin="some words")
    assert answer.code == 4
    assert "no such key" in answer.err
    assert "api_key" not in answer.err
    assert cli.json("list") == []


def test_unreachable_generator_names_its_flag(cli: CommandLine, manual_clock: ManualClock) -> None:
    flags = ("--generator", "ollama", "--generator-url", "http://127.0.0.1:9")
    code, error = cli.error("remember", "x", *flags)
    assert code == 4
    assert "--generator-url" in error


def test_remember_updates_what_has_changed(cli: CommandLine, model: ModelServer) -> None:
    model.replies = [facts("Ana lives in Berlin")]
    assert (
        cli("remember", "Berlin it is", "--user", "ana").out == "ADD\t#1\tAna lives in Berlin\t\t\n"
    )
    new = "Ana moved to Lisbon"
    model.replies = [facts(new), operation("UPDATE", 1, new)]
    done = cli.json("remember", "Lisbon now", "--user", "ana", "--at", "2099-03-01")
    (change,) = done["changes"]
    assert (change["event"], change["previous"]) == ("UPDATE", "Ana lives in Berlin")
    past = cli.json("history", change["id"], "--user", "ana")
    assert [event["event"] for event in past] == ["ADD", "UPDATE"]
    assert cli.error("history", change["id"], "--user", "ben")[0] == 1


def test_remember_asks_where_only_the_model_sees_a_change(
    cli: CommandLine, model: ModelServer
) -> None:
    cli("remember", "Ana drinks coffee", "--user", "ana", "--direct")
    new = "Ana plays chess"
    replies = [facts(new), operation("UPDATE", 1, "Ana drinks coffee and plays chess")]
    model.replies = [*replies]
    told = cli("remember", "chess", "--user", "ana")
    assert told.out.startswith("ADD")
    assert "rejected: UPDATE" in told.err
    assert "proposal 1" in told.err
    assert cli.json("proposals", "reject", "1", "--user", "ana")["state"] == "rejected"
    cli("forget", "2", "--user", "ana")
    model.replies = [*replies]
    trusting = ("--policy", "trust-the-model")
    assert cli("remember", "chess!", "--user", "ana", *trusting).out.startswith("UPDATE")


def test_remember_reports_what_was_refused(cli: CommandLine, model: ModelServer) -> None:
    cli("remember", "Ana drinks coffee", "--direct")
    reply = {"operations": [json.loads(operation("UPDATE", 9, "x"))["operations"][0]]}
    reply["operations"].append({"fact": 2, "event": "ADD", "memory": None, "text": None})
    model.replies = [facts("Ana drinks coffee at noon", "Ana has a cat"), json.dumps(reply)]
    answer = cli("remember", "coffee at noon, and my cat")
    assert answer.code == 0
    assert "rejected: UPDATE" in answer.err
    assert "Ana has a cat" in answer.out


def test_remember_direct_keeps_each_message_and_needs_no_model(
    cli: CommandLine, tmp_path: Path
) -> None:
    chat = tmp_path / "chat.json"
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    chat.write_text(json.dumps(said), encoding="utf-8")
    done = cli.json("remember", "--messages", chat, "--direct", "--user", "ana", "-m", "n=1")
    assert [change["memory"] for change in done["changes"]] == ["hi", "hello"]
    again = cli.json(
        "remember", "--messages", "-", "--direct", "--user", "ana", stdin=json.dumps(said)
    )
    assert {change["event"] for change in again["changes"]} == {"NONE"}


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ((), "a text or --messages"),
        (("a", "--messages", "-"), "a text or --messages"),
        (("a", "--user", " "), "--user"),
        (("", "--direct"), "empty"),
        (("a", "--at", "soon"), "is not a time: 'soon'"),
    ],
)
def test_remember_refuses_wrong_arguments(
    cli: CommandLine, argv: tuple[str, ...], told: str
) -> None:
    code, error = cli.error("remember", *argv, "--direct")
    assert code == 2
    assert told in error


@pytest.mark.parametrize("text", ["{", "3", "[]", "[3]", '[{"role": "user"}]', '{"role": "user"}'])
def test_remember_refuses_invalid_messages(cli: CommandLine, text: str) -> None:
    answer = cli("remember", "--messages", "-", "--direct", stdin=text)
    assert (answer.code, answer.out) == (2, "")


def test_forget_deletes_one_memory_of_its_owner(cli: CommandLine) -> None:
    cli("remember", "a", "--direct", "--user", "ana")
    assert cli.error("forget", 1)[0] == 1
    assert cli.error("forget", 1, "--user", "ben")[0] == 1
    assert "restore 1" in cli("forget", 1, "--user", "ana").out
    assert cli.json("list", "--scope", "all") == []


def test_forget_all_is_limited_to_the_named_owners(cli: CommandLine) -> None:
    for user in ("ana", "ben"):
        cli("remember", f"{user} one", "--direct", "--user", user)
        cli("remember", f"{user} two", "--direct", "--user", user)
    assert cli.error("forget", "--all")[0] == 2
    assert cli.error("forget", "--everything", "--user", "ana")[0] == 2
    assert cli.error("forget")[0] == 2
    assert len(cli.json("forget", "--all", "--user", "ana", "--yes")["changes"]) == 2
    assert {fact["user_id"] for fact in cli.json("list", "--scope", "all")} == {"ben"}
    cli.json("task", "add", "stays", "--user", "ben")
    assert len(cli.json("forget", "--everything", "--yes")["changes"]) == 2
    assert [fact["content"] for fact in cli.json("list", "--scope", "all")] == ["stays"]


@pytest.mark.model
def test_a_proposal_is_accepted_and_undone(
    cli: CommandLine, proposed: Callable[..., Answer]
) -> None:
    assert proposed().out.startswith("proposed\t#2\t#1\tproposal 1\t")
    (one,) = cli.json("proposals", "list")
    assert (one["old"]["content"], one["new"]["content"]) == (TEA, COFFEE)
    assert cli("proposals", "accept", 1).out.startswith("#1 is superseded by #2")
    assert cli.error("proposals", "accept", 1)[0] == 1
    done = cli("reinstate", 1)
    assert done.out == "reinstated #1 as #3, beside the newer fact; active now: #3, #2\n"
    assert {fact["content"] for fact in cli.json("list")} == {TEA, COFFEE}
    assert cli.error("reinstate", 1)[0] == 1


@pytest.mark.model
def test_a_proposal_is_rejected(cli: CommandLine, proposed: Callable[..., Answer]) -> None:
    proposed("--user", "ana")
    assert cli.json("proposals", "list", "--user", "ben") == []
    assert cli.error("proposals", "reject", 1)[0] == 1
    assert cli.error("proposals", "accept", 1, "--user", "ben")[0] == 1
    assert cli("proposals", "reject", 1, "--user", "ana").code == 0
    assert cli("proposals", "list", "--scope", "all").err == "no proposals\n"
    assert len(cli.json("proposals", "list", "--state", "rejected", "--user", "ana")) == 1
    assert len(cli.json("list", "--user", "ana")) == 2


@pytest.mark.model
def test_a_proposal_is_rejected_and_its_newer_fact_removed(
    cli: CommandLine, proposed: Callable[..., Answer]
) -> None:
    proposed("--user", "ana")
    done = cli("proposals", "reject", 1, "--remove", "--user", "ana")
    assert (
        done.out
        == "#1 remains active, #2 is deleted; memstore restore 2 --user ana brings it back\n"
    )
    assert [fact["id"] for fact in cli.json("list", "--user", "ana")] == [1]


def test_history_can_be_limited_to_an_owner(cli: CommandLine) -> None:
    cli("remember", "a", "--direct", "--user", "ana")
    assert cli("history", 1, "--user", "ana").out.startswith("ADD #1\t")
    (line,) = cli.json("history", 1, "--journal", "--user", "ana")
    assert line["kind"] == "add"
    assert len(cli.json("history", "--subject", "ana", "--user", "ana")) == 1
    assert cli.json("history", "--subject", "ana") == []
    assert cli.error("history", 1, "--journal")[0] == 1


def test_rows_on_a_terminal_are_wrapped_and_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    from memstore.faces.cli.render_terminal import TerminalShow

    show = TerminalShow(Console(width=40, highlight=False, force_terminal=False))
    show.rows([("ADD", "#1", None, "[bold]\x1b[2J " + "word " * 20)], {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ADD  #1  [bold]\\x1b[2J")
    assert all(len(line) <= 40 for line in lines)
    assert all(line.startswith("    ") for line in lines[1:])


def test_failed_conversation_is_retried(cli: CommandLine, model: ModelServer) -> None:
    model.replies = lambda _: Reply(status=400, words="model died")
    assert cli("remember", "I drink coffee", "--user", "ana").code != 0
    assert cli.json("status", "--scope", "all")["not_learned"] == 1
    assert cli("remember", "--retry", "--user", "ana").code != 0
    model.replies = [facts("Ana drinks coffee")]
    assert cli.json("remember", "--retry") == []
    (learned,) = cli.json("remember", "--retry", "--scope", "all")
    assert [change["memory"] for change in learned["changes"]] == ["Ana drinks coffee"]
    assert cli.json("status", "--user", "ana")["not_learned"] == 0
    told = cli("remember", "--retry", "--scope", "all")
    assert "learned from 0 conversations" in told.err


def test_learn_retries_conversations_and_texts(cli: CommandLine, model: ModelServer) -> None:
    model.replies = lambda _: Reply(status=400, words="model died")
    assert cli("remember", "I drink coffee", "--user", "ana").code != 0
    assert cli("extract", "-", stdin="Ana has a cat").code != 0
    assert cli.json("status", "--scope", "all")["not_learned"] == 2
    assert cli("learn", "--retry", "--scope", "all").code != 0
    model.replies = [facts("Ana drinks coffee"), facts("Ana has a cat")]
    done = cli.json("learn", "--retry", "--scope", "all")
    assert [one["memory"] for each in done["learned"] for one in each["changes"]] == [
        "Ana drinks coffee"
    ]
    assert [item["content"] for each in done["extracted"] for item in each["items"]] == [
        "Ana has a cat"
    ]
    assert cli.json("status", "--scope", "all")["not_learned"] == 0
    told = cli("learn", "--retry")
    assert "learned from 0 conversations and 0 texts" in told.err


def test_learn_reads_what_no_model_has_read(cli: CommandLine, model: ModelServer) -> None:
    assert cli("episode", "add", "I drink coffee", "--source", "chat", "--thread", "a").code == 0
    model.replies = [facts("Ana drinks coffee")]
    (learned,) = cli.json("learn")
    assert [change["memory"] for change in learned["changes"]] == ["Ana drinks coffee"]
    assert cli.error("learn", "--scope", "all")[0] == 2


@pytest.mark.parametrize(
    "argv",
    [
        ("--retry", "text"),
        ("--retry", "--direct"),
        ("--retry", "--at", "2026-01-01"),
        ("--retry", "-m", "a=1"),
        ("text", "--scope", "all"),
    ],
)
def test_retry_refuses_incompatible_options(
    cli: CommandLine, model: ModelServer, argv: tuple[str, ...]
) -> None:
    code, told = cli.error("remember", *argv)
    assert (code, "--retry" in told) == (2, True)


def test_inbox_without_a_terminal_is_a_list(cli: CommandLine, path: Path) -> None:
    assert "no proposals" in cli("inbox").err
    assert cli.json("inbox") == []
    with memstore.open(path, embedder=None) as store:
        held = store.add("Ana lives in Berlin", subject="ana")
        fact = memstore.NewFact(content="Ana lives in Lisbon", subject="ana", source="chat")
        store.ledger.apply([AddFact(fact=fact, precedence=MayReplace(held.id, 0.9))])
    told = cli("inbox")
    assert told.out == (
        '1\tana: "Ana lives in [Berlin]" -> "Ana lives in [Lisbon]" (from chat; held for less '
        "than a day; if accepted, #2 replaces #1)\n"
    )
    [shown] = cli.json("inbox")
    assert (shown["quoted"], shown["effect"]) == ("from chat", "#2 replaces #1")
    assert cli("proposals", "reject", "1").code == 0
    assert cli.json("inbox") == []
    assert cli("proposals", "reopen", "1").code == 0
    assert [one["id"] for one in cli.json("inbox")] == [1]
    code, why = cli.error("proposals", "reopen", "1")
    assert code != 0
    assert "is open already" in why
