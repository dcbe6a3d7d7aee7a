"""Usage of the command line: wrong arguments, completion, colours, interruptions."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

from memstore.domain.results import RANKINGS
from memstore.faces.cli import transfer
from memstore.faces.cli.main import COMMANDS
from memstore.faces.cli.usage import ELSEWHERE
from memstore.file.file import File


@pytest.mark.parametrize("word", ELSEWHERE)
def test_command_name_of_other_programs_suggests_ours(cli: CommandLine, word: str) -> None:
    assert word not in COMMANDS
    assert cli.error(word) == (
        2,
        f"there is no command {word!r}: {ELSEWHERE[word]}; see memstore --help",
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("task create", "add"),
        ("task creat", "add"),
        ("task lst", "list"),
        ("task done", "update"),
        ("episode find", "search"),
        ("episode serch", "search"),
        ("episode rm", "erase"),
        ("token new", "create"),
        ("token delete", "revoke"),
        ("graph neighbors", "neighbours"),
        ("proposals approve", "accept"),
        ("serach", "search"),
        ("tasks", "task"),
        ("lst", "list"),
        ("edit", "update"),
    ],
)
def test_unknown_command_suggests_the_one_meant(cli: CommandLine, typed: str, meant: str) -> None:
    *family, word = typed.split()
    program = " ".join(["memstore", *family])
    assert cli.error(*typed.split()) == (
        2,
        f"there is no command {word!r} (did you mean {meant}?); see {program} --help",
    )


@pytest.mark.parametrize("family", ["task", "episode", "graph", "token", "proposals"])
def test_words_of_other_commands_do_not_suggest_a_foreign_one(
    cli: CommandLine, family: str
) -> None:
    for word in (*ELSEWHERE, "xyzzy"):
        text = cli.error(family, word)[1]
        if guess := re.search(r"did you mean (\S+)\?", text):
            assert f"{family} {guess[1]}" in COMMANDS
        assert "memstore add creates" not in text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("list --limt 3", "--limit"),
        ("task add x --priorty low", "--priority"),
        ("task list --scop user", "--scope"),
        ("add text --subjct s", "--subject"),
        ("search tea --jsn", "--json"),
    ],
)
def test_unknown_option_suggests_the_one_meant(cli: CommandLine, typed: str, meant: str) -> None:
    code, text = cli.error(*typed.split())
    assert (code, f"(did you mean {meant}?)" in text) == (2, True)


def test_the_list_of_commands_is_in_columns(cli: CommandLine) -> None:
    lines = cli("--help").out.splitlines()
    columns = {
        re.match(rf"  {name} +", line).end()  # type: ignore[union-attr]
        for name, entry in COMMANDS.items()
        for line in lines
        if line.endswith(entry.summary) and line.startswith(f"  {name} ")
    }
    assert len(columns) == 1
    assert "which when:" in lines


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_covers_commands_options_and_files(cli: CommandLine, shell: str) -> None:
    script = cli("completion", shell).out
    for word in ("episode", "neighbours", "embed-pending", "dry-run"):
        assert word in script
    assert cli.json("completion", shell) == {"script": script.removesuffix("\n")}
    assert cli.error("completion", "tcsh")[0] == 2


@pytest.mark.process
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [("ta", "task"), ("graph ne", "neighbours"), ("setup --dr", "--dry-run")],
)
def test_bash_completes(cli: CommandLine, tmp_path: Path, typed: str, completed: str) -> None:
    script = tmp_path / "memstore.bash"
    script.write_text(cli("completion", "bash").out)
    words = f"COMP_WORDS=(memstore {typed}); COMP_CWORD={len(typed.split())}"
    told = subprocess.run(
        ["bash", "-c", f'source "$0"; {words}; _shtab_memstore; echo "${{COMPREPLY[@]}}"', script],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert told.stdout.split() == [completed]


def test_colours_can_be_forced_into_a_pipe(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.add("Ana drinks tea", "ana")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" not in cli("list").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in cli("list").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in cli("list").out


@pytest.mark.model
def test_interrupted_reembed_names_the_command_to_continue(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    cli.add("Ana drinks tea", "ana")
    monkeypatch.setattr(File, "reembed", interrupted)
    answer = cli("reembed", "--embedder", "local")
    assert answer.code == 130
    assert "run the same command to continue" in answer.err


def test_import_progress_begins_with_the_bytes_read() -> None:
    lines = "緑茶\n" * 2500
    told: list[tuple[int, int | None]] = []
    counted = transfer._counted(
        io.StringIO(lines), len(lines.encode()), lambda *at: told.append(at)
    )
    assert "".join(counted) == lines
    assert told == [(7, 17500), (7007, 17500), (14007, 17500)]


def test_text_in_place_of_a_file_suggests_standard_input(cli: CommandLine) -> None:
    code, text = cli.error("extract", "Ana drinks tea", "--generator", "ollama")
    assert (code, "pipe it into memstore extract -" in text) == (2, True)


@pytest.mark.parametrize("ranking", RANKINGS)
def test_help_names_every_ranking(cli: CommandLine, ranking: str) -> None:
    for command in (["search"], ["episode", "search"]):
        told = cli(*command, "--help").out
        assert re.search(rf"--ranking NAME.*\b{ranking}\b", told, re.DOTALL)


def test_texts_need_no_quotes(cli: CommandLine) -> None:
    told = cli.json("add", "Alice", "likes", "tea", "--subject", "alice")
    assert told["content"] == "Alice likes tea"
    assert cli.json("task", "add", "Call", "the", "notary")["content"] == "Call the notary"
    said = cli.json("episode", "add", "We", "agreed", "--source", "chat")
    assert said["content"] == "We agreed"
    piped = cli("add", "-", "--subject", "alice", stdin="Alice likes rye\n")
    assert piped.code == 0
    assert "Alice likes rye" in cli("list").out


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (["help"], "usage: memstore COMMAND"),
        (["help", "search"], "usage: memstore search"),
        (["help", "episode", "add"], "usage: memstore episode add"),
        (["help", "graph"], "usage: memstore graph COMMAND"),
        (["version"], "memstore "),
    ],
)
def test_help_and_version_are_commands_too(cli: CommandLine, words: list[str], out: str) -> None:
    answer = cli(*words)
    assert answer.code == 0
    assert answer.out.startswith(out)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["config"], "memstore status shows what is in use"),
        (["history", "alice"], "memstore list --subject alice shows the ids"),
        (["get", "the gate"], "memstore list --subject 'the gate' shows the ids"),
        (["list", "--filter", "level=>3"], "there is no operator '=>': write >="),
        (["list", "--filter", "level=<3"], "there is no operator '=<': write <="),
        (["list", "--filter", "level=!3"], "there is no operator '=!': write !="),
        (["where", "/none/such"], "there is no folder '/none/such'"),
        (["backup"], "name the backup file, which must not exist yet: memstore backup memory-"),
        (["history", " "], "memstore list shows the ids"),
        (["restore", "backups/m.db"], "memstore recover backups/m.db brings a backup file back"),
        (["restore"], "memstore recover FILE brings a backup back"),
        (["list", "--filter", "level~3"], "a condition is a key, one of ="),
        (["help", "serach"], "did you mean search?"),
        (["help", "nonsense"], "there is no command 'nonsense'"),
        (["log", "--sicne", "yesterday"], "did you mean --since?"),
        (["backup", "x.db", "--keep", "3"], "--keep goes with --every"),
        (["graph", "build", "--every", "soon"], "--every is a time such as 30m, 1h or 7d"),
    ],
)
def test_a_mistake_is_answered_with_what_to_write(
    cli: CommandLine, words: list[str], told: str
) -> None:
    code, error = cli.error(*words)
    assert code == 2
    assert told in error


def test_a_value_may_begin_with_an_operator(cli: CommandLine) -> None:
    cli.json("add", "one", "--subject", "s", "-m", 'level=">3"')
    assert len(cli.json("list", "--filter", "level==>3")) == 1


def test_distil_on_an_empty_memory_says_that_nothing_is_recorded(cli: CommandLine) -> None:
    assert cli("distil").err.startswith("no conversation is recorded here yet")


def test_the_doctor_repairs_with_fix_too(cli: CommandLine) -> None:
    assert cli("doctor", "--fix").out.startswith("rebuilt the full-text index of facts")
