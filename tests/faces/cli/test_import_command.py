"""``memstore import``: episodes of an export, and files of other programs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore.database.tables import imports
from memstore.faces.cli import transfer
from memstore.importing.importer import SOURCES

ROWS: list[dict[str, Any]] = [
    {
        "id": f"e{number}",
        "content": f"tea number {number}",
        "source": "chat",
        "group_id": f"g{number % 2}",
        "embedding": [1.0],
        "created_at": "2025-03-01T00:00:00Z",
    }
    for number in range(8)
]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "engram.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return file


def test_import_from_another_program_reports_what_is_not_imported(
    cli: CommandLine, rows: Path
) -> None:
    answer = cli("import", "--from", "engram", rows)
    assert (answer.code, answer.out) == (0, "imported 8 episodes\n")
    assert answer.err.splitlines() == [
        "not imported: embeddings: 8",
        "2 namespaces were merged into default; use --keep-namespaces to keep them apart",
    ]
    assert cli("import", "--from", "engram", rows).out == "imported 0 facts, 8 already known\n"
    kept = cli("import", "--from", "engram", rows, "--keep-namespaces")
    assert kept.out == "imported 8 episodes\n"
    assert "were merged into" not in kept.err


def test_incomplete_import_can_be_abandoned(cli: CommandLine) -> None:
    cli("add", "one", "--subject", "a")
    with memstore.open(cli.db, embedder=None) as store, store.file.engine.write() as transaction:
        imports.begin(transaction, "mark", "default")
    assert cli.json("status")["incomplete_imports"] == 1
    assert (
        cli("import", "--give-up").out == "abandoned 1 import; the records already imported stay\n"
    )
    assert cli.json("import", "--give-up") == {"given_up": 0}
    assert cli.json("status")["incomplete_imports"] == 0


@pytest.mark.parametrize("arguments", [[], ["memories.jsonl", "--give-up"]])
def test_import_takes_either_a_file_or_abandon(cli: CommandLine, arguments: list[str]) -> None:
    answer = cli("import", *arguments)
    assert answer.code == 2
    assert "give a FILE, - for standard input, or --give-up alone" in answer.err


def test_import_from_another_program_supports_json_output(cli: CommandLine, rows: Path) -> None:
    done = cli.json("import", "--from", "engram", rows)
    assert (done["source"], done["episodes"], done["facts"]) == ("engram", 8, 0)
    assert done["namespaces"] == {"g0": 4, "g1": 4}
    assert done["left_out"]["embeddings"]["count"] == 8


def test_import_from_another_program_through_a_pipe(cli: CommandLine, rows: Path) -> None:
    answer = cli("import", "--from", "engram", "-", stdin=rows.read_text())
    assert answer.out == "imported 8 episodes\n"


def test_import_names_five_of_each_kind_and_escapes_control_characters(
    cli: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "memory.jsonl"
    entities = [
        {"type": "entity", "name": f"\x1b[31m{n}", "entityType": "x", "observations": []}
        for n in range(7)
    ]
    file.write_text("".join(json.dumps(entity) + "\n" for entity in entities))
    answer = cli("import", "--from", "server-memory", file)
    assert answer.out == "imported 0 facts\n"
    assert "entities without observations: 7 (" in answer.err
    assert answer.err.count(", …)") == 1
    assert "\x1b" not in answer.err


def test_import_of_damaged_records_offers_to_skip_them(
    cli: CommandLine, rows: Path, tmp_path: Path
) -> None:
    rows.write_text(rows.read_text() + "{\n")
    code, error = cli.error("import", "--from", "engram", rows)
    assert code == 1
    assert error.startswith("line 9: not JSON")
    assert "--skip-damaged" in error
    answer = cli("import", "--from", "engram", rows, "--skip-damaged")
    assert answer.out == "imported 8 episodes\n"
    assert "not imported: damaged records: 1 (line 9: not JSON" in answer.err
    assert cli.error("import", rows, "--skip-damaged")[0] == 2


def test_import_from_an_unknown_program_is_a_usage_error(cli: CommandLine, rows: Path) -> None:
    assert cli.error("import", "--from", "zep", rows)[0] == 2
    code, error = cli.error("import", "--from", "mem0", rows.parent / "missing.json")
    assert (code, "missing.json" in error) == (3, True)
    assert cli.error("import", "--from", "memstore", rows)[0] == 3


def test_every_source_can_be_named() -> None:
    assert set(transfer.SOURCES) == set(SOURCES)


def test_export_and_import_carry_episodes(cli: CommandLine, rows: Path, tmp_path: Path) -> None:
    cli("import", "--from", "engram", rows)
    with memstore.open(cli.db, embedder=None) as store:
        store.add("Eve likes tea", subject="eve", episode_id=store.episodes.list()[0].id)
    file, other = tmp_path / "all.jsonl", tmp_path / "other.db"
    assert cli("export", file).out == f"exported 1 fact and 8 episodes to {file}\n"
    answer = cli("import", file, "--db", other)
    assert answer.out == "imported 1 fact; also 8 episodes\n"
    again = cli("import", file, "--db", other)
    assert again.out == ("imported 0 facts, 1 already known; also 0 episodes (8 already known)\n")
    lines = file.read_text().splitlines(keepends=True)
    header = json.loads(lines[0]) | {"operations": 1, "episodes": 0}
    facts = [line for line in lines if '"episode": ' not in line or line.startswith('{"fact"')]
    alone = tmp_path / "alone.jsonl"
    alone.write_text("".join([json.dumps(header) + "\n", *facts[1:]]))
    code, text = cli.error("import", alone, "--db", tmp_path / "third.db")
    assert code == 1
    assert (
        text == "line 2: refers to episode 1, which is not in an earlier line; nothing was imported"
    )


def test_a_dry_run_says_what_would_be_imported(cli: CommandLine, rows: Path) -> None:
    answer = cli("import", "--from", "engram", rows, "--dry-run")
    assert answer.out == "8 episodes can be imported; nothing was changed\n"
    assert "not imported: embeddings: 8" in answer.err
    assert cli("import", "--from", "engram", rows).out == "imported 8 episodes\n"
    for flags in (["--all-branches"], ["--include", "tools"], ["--delete"]):
        assert cli.error("import", *flags, rows)[0] == 2
    code, text = cli.error("import", "--dry-run", rows)  # of an export of memstore, without --from
    assert (code, "not the first line of an export" in text) == (1, True)
    assert "not for engram" in cli.error("import", "--from", "engram", "--all-branches", rows)[1]


def test_notes_go_out_and_edits_come_back(cli: CommandLine, tmp_path: Path) -> None:
    cli("add", "Ana likes tea", "--subject", "Ana")
    folder = tmp_path / "notes"
    assert cli("export", "--markdown", folder).out.startswith("wrote 1 note to ")
    note = folder / "Ana.md"
    note.write_text(note.read_text("utf-8").replace("likes tea", "likes mate"), "utf-8")
    assert "Ana.md has edits that were not imported" in cli("export", "--markdown", folder).err
    planned = cli("import", "--from", "markdown", folder, "--dry-run")
    assert planned.out == "1 edit planned; nothing was changed\n"
    assert "supersede #1: Ana likes mate [Ana.md, line 7]" in planned.err
    assert cli("import", "--from", "markdown", folder).out == "supersede 1\n"
    assert cli("import", "--from", "markdown", folder).out == "no edits\n"
    assert cli.error("export", "--markdown", folder, tmp_path / "file")[0] == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize(
    "command",
    [
        ["import"],
        ["import", "--from", "mem0"],
        ["import", "--from", "markdown"],
        ["import", "--from", "chatgpt"],
        ["export"],
    ],
    ids=" ".join,
)
def test_a_named_pipe_is_refused_at_once(
    cli: CommandLine, tmp_path: Path, command: list[str]
) -> None:
    cli("add", "tea", "--subject", "a")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    answer = cli(*command, pipe)
    assert answer.code == 3
    assert "is a named pipe" in answer.err


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no paths of open files")
def test_a_pipe_that_a_shell_has_opened_is_read(cli: CommandLine, rows: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, rows.read_bytes())
    os.close(writer)
    try:
        answer = cli("import", "--from", "engram", f"/dev/fd/{reader}")
    finally:
        os.close(reader)
    assert (answer.code, answer.out) == (0, "imported 8 episodes\n")
