"""Errors in the terms of each face: flags, not arguments of the library."""

from __future__ import annotations

import argparse
import re
from contextlib import closing
from pathlib import Path

import pytest
from tests.support import mcp_tools
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import settings
from memstore.embedding.compatibility import mismatch
from memstore.errors import Reason, Remedy
from memstore.faces import wording
from memstore.faces.cli import main as command_line
from memstore.faces.mcp.tool import ToolError
from memstore.faces.options import chosen_settings
from memstore.faces.starting import every_flag
from memstore.providers.ollama import OllamaEmbedder
from memstore.providers.openai import OpenAIEmbedder

TOOLS = mcp_tools.offered()

LIBRARY = (
    "Open the store with",
    "embedder=None",
    "base_url",
    "api_key",
    "timeout_seconds",
    "read_only",
    "=True",
)


def errors_of_embedders() -> list[Exception]:
    errors: list[Exception] = []
    for address in ("http://127.0.0.1:9", "nonsense"):
        for kind in (OllamaEmbedder, OpenAIEmbedder):
            try:
                with closing(kind(base_url=address)) as embedder:
                    embedder.embed(["text"], timeout_seconds=1)
            except (ValueError, memstore.MemstoreError) as error:
                errors.append(error)
    assert len(errors) == 4
    return errors


def errors_of_the_library() -> list[Exception]:
    with (
        memstore.open(":memory:", embedder=None) as store,
        pytest.raises(memstore.EmbedderError) as wordless,
    ):
        store.file.embed_pending()
    return [
        *errors_of_embedders(),
        mismatch("memory.db", "one", "two"),
        wordless.value,
        memstore.EmbedderUnavailable("no answer in time (30 s)", remedy=Remedy.ALLOW_TIME),
        memstore.SchemaError("has schema version 6", remedy=Remedy.OPEN_WRITABLE),
    ]


def test_no_interface_names_the_librarys_arguments() -> None:
    for error in errors_of_the_library():
        in_library = "\n".join([str(error), *getattr(error, "__notes__", ())])
        assert any(word in in_library for word in LIBRARY), in_library
        for told in (wording.on_command_line(error), wording.in_server(error)):
            assert not any(word in told for word in LIBRARY), told


@pytest.mark.parametrize("remedy", Remedy)
def test_every_remedy_has_a_sentence_for_each_interface(remedy: Remedy) -> None:
    for face in (wording.on_command_line, wording.in_server):
        told = face(memstore.StorageError("It broke.", remedy=remedy))
        assert told.startswith("It broke. ")
        assert told.endswith(".")
        assert not any(word in told for word in LIBRARY), told
        assert "()" not in told


@pytest.mark.parametrize("remedy", Remedy)
def test_the_server_names_only_its_own_flags_and_those_of_the_command_it_names(
    remedy: Remedy, capsys: pytest.CaptureFixture[str]
) -> None:
    def flags(text: str) -> set[str]:
        return set(re.findall(r"--[a-z][a-z-]*", text))

    with pytest.raises(SystemExit):
        every_flag.main(["--help"])
    known = flags(capsys.readouterr().out)
    told = wording.in_server(memstore.StorageError("It broke.", remedy=remedy))
    own, *commands = re.split(r"\bmemstore (?=[a-z])", told)
    assert flags(own) <= known
    for named in commands:
        name = max((name for name in command_line.COMMANDS if named.startswith(name)), key=len)
        assert command_line.main([*name.split(), "--help"]) == 0
        assert flags(named) <= known | flags(capsys.readouterr().out), named


@pytest.mark.parametrize("remedy", Remedy)
def test_reason_keeps_the_remedy_of_its_error(remedy: Remedy) -> None:
    error = memstore.EmbedderUnavailable("It broke.", remedy=remedy)
    assert wording.on_command_line(Reason.of(error)) == wording.on_command_line(error)
    assert wording.in_server(Reason.of(error)) == wording.in_server(error)


def test_the_command_line_names_its_flags(cli: CommandLine) -> None:
    def told(*argv: str) -> str:
        return cli.error(*argv)[1]

    added = ("add", "text", "--subject", "s")
    assert told(*added, "--valid-at", "soon").startswith("--valid-at is not a time: ")
    assert told(*added, "--expires-at", "soon").startswith("--expires-at is not a time: ")
    late = told(*added, "--valid-at", "2026-03-01", "--expires-at", "2026-02-01")
    assert late.startswith("--expires-at is not after the time from which the fact is valid")
    cli.add("text")
    assert "Choose one with --embedder" in told("embed-pending")
    cli.json("task", "add", "to do")
    assert "memstore task update" in told("update", "2", "-m", "status=completed")


def test_a_tool_names_tools() -> None:
    with memstore.open(":memory:", embedder=None) as store:
        task = store.tasks.create("to do")
        with pytest.raises(ToolError, match="memory_task_update"):
            TOOLS["memory_update"].call(
                lambda: store, {"id": task.id, "metadata": {"status": "completed"}}
            )


def test_an_error_asks_for_an_object_by_that_name() -> None:
    with memstore.open(":memory:") as store, pytest.raises(ToolError) as caught:
        TOOLS["memory_update"].call(lambda: store, {"id": 1, "metadata": [1]})
    assert "metadata: must be an object" in str(caught.value)


def test_unexpected_type_error_is_logged_and_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> memstore.Store:
        raise TypeError("unsupported operand")

    with pytest.raises(ToolError, match=r"memory_status failed unexpectedly \(TypeError"):
        TOOLS["memory_status"].call(broken, {})
    assert "Traceback" in caplog.text


def test_error_escapes_hidden_characters() -> None:
    def broken() -> memstore.Store:
        raise memstore.StorageError("cannot open \u202e\u2066.db")

    with pytest.raises(ToolError) as caught:
        TOOLS["memory_status"].call(broken, {})
    assert str(caught.value) == r"cannot open \u202e\u2066.db"


def test_limits_and_conditions_are_in_the_schemas() -> None:
    def arguments(tool: str) -> dict[str, dict[str, object]]:
        return TOOLS[tool].declaration["inputSchema"]["properties"]

    stored = arguments("memory_store")
    assert stored["content"]["maxLength"] == 1_000_000
    for name in ("subject", "category", "idempotency_key"):
        assert stored[name]["maxLength"] == 500
    assert arguments("memory_task_create")["project"]["maxLength"] == 500
    assert arguments("memory_task_update")["note"]["maxLength"] == 500
    assert "conditions" in str(arguments("memory_search")["metadata"]["description"])


@pytest.mark.parametrize("flag", ["namespace", "db", "model"])
def test_an_empty_flag_is_refused(cli: CommandLine, flag: str) -> None:
    code, error = cli.error("list", f"--{flag}", "")
    assert (code, f"--{flag} is empty" in error) == (2, True)


def test_an_empty_variable_means_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in settings.Settings._fields:
        monkeypatch.setenv(f"MEMSTORE_{name.upper()}", "")
    assert chosen_settings(argparse.Namespace()) == settings.Settings()


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (("serch", "x"), "there is no command 'serch' (did you mean search?); see memstore --help"),
        (("task", "lst"), "(did you mean list?); see memstore task --help"),
        (("xyzzy",), "there is no command 'xyzzy'; see memstore --help"),
        (("list", "--bogus"), "unrecognized arguments: --bogus; see memstore list --help"),
        (("--db", "x", "get", "1", "--bogus"), "see memstore get --help"),
        (("add", "-foo", "--subject", "x"), "(if '-foo' is text, put -- before it)"),
        (("search", "-5x", "y"), "(if '-5x' is text, put -- before it)"),
        (("add", "x", "--subject", "-foo"), "(if '-foo' is its value, join the two with =)"),
        (("task", "list", "--surface", "x"), "invalid choice: 'x' (choose from "),
        (("--json", "demo"), "leave --json out"),
        (("--db", "x", "demo"), "leave --db out"),
    ],
    ids=" ".join,
)
def test_wrong_usage_suggests_a_fix(cli: CommandLine, argv: tuple[str, ...], told: str) -> None:
    answer = cli(*argv)
    assert answer.code == 2
    assert told in answer.err


def test_a_text_that_begins_with_a_dash_follows_a_double_dash(cli: CommandLine) -> None:
    assert cli("add", "--subject=-x", "--", "-foo").out == "stored as #1\n"
    assert cli.json("get", 1)["content"] == "-foo"
    assert cli("search", "--", "-foo").code == 0


def test_the_hint_after_an_empty_search_names_untried_options(cli: CommandLine) -> None:
    cli.add("text")
    assert "--all" in cli("search", "xyzzy").err
    assert "fewer conditions" not in cli("search", "xyzzy").err
    assert "--all" not in cli("search", "xyzzy", "--all").err
    assert "fewer conditions" in cli("search", "xyzzy", "--subject", "nobody").err


@pytest.mark.parametrize("width", ["40", "80"])
def test_help_does_not_wrap_the_default_path(
    cli: CommandLine,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: str,
) -> None:
    path = Path("/home/alice of-the-hills/Library/Application Support/some-where/memory.db")
    monkeypatch.setattr(settings, "default_path", lambda: path)
    monkeypatch.setenv("COLUMNS", width)
    assert str(path) in cli("list", "--help").out
    with pytest.raises(SystemExit):
        every_flag.main(["--help"])
    assert str(path) in capsys.readouterr().out
