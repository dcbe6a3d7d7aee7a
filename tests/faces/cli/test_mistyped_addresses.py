"""No command quotes the password of an address, or makes a file of one."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore.faces import options
from memstore.settings import Settings

ADDRESSES = [
    "postgresql://ana:p@hunter2@host.invalid/db",
    "postgresql://ana:p/hunter2@host/db",
    "postgresql://ana:hunter2/db",
    "postgresql://ana:p?q@hunter2@host.invalid/db",
    "postgresql://host/db?dbname=postgresql://ana:hunter2@host/db",
    "postgresql://host/db?host=ana:hunter2@host",
    "postgresql://127.0.0.1:1/db?password=hunter2&nothing=1",
    "postgresql:/ana:hunter2@host",
    "postgresl://ana:hunter2@host/db",
    "POSTGRESQL://ana:hunter2@127.0.0.1:1/db",
    "mysql://ana:hunter2@host/db",
    "ana:hunter2@host/db",
    "host=h password=hunter2",
    "host=h password='hunter2 x' dbname=d",
    "jdbc:postgresql://host/db?user=ana&password=hunter2",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("command", ["add tea --subject ana", "status", "doctor", "postgres check"])
def test_no_command_shows_a_password(
    cli: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    address: str,
    command: str,
) -> None:
    if address.startswith(("postgres", "POSTGRES")):
        pytest.importorskip("psycopg")
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for words in ([], ["--json"]):
        given = cli("--db", address, *shlex.split(command), *words)
        monkeypatch.setenv("MEMSTORE_DB", address)
        named = cli(*shlex.split(command), *words)
        monkeypatch.delenv("MEMSTORE_DB")
        for answer in (given, named):
            assert answer.code != 0
            assert "hunter2" not in answer.out + answer.err
            assert "Traceback" not in answer.err
    assert not [*folder.iterdir()]


@pytest.mark.parametrize("address", ["ana:hunter2@host/db", "host=h password=hunter2"])
def test_setup_registers_no_address(cli: CommandLine, address: str) -> None:
    answer = cli("--db", address, "setup", "codex", "--dry-run")
    assert answer.code != 0
    assert "hunter2" not in answer.out + answer.err


@pytest.mark.parametrize(
    "words",
    [
        "status postgresql://ana:hunter2@host/db",
        "--bd postgresql://ana:hun@hunter2@host/db status",
        "postgresql://ana:hunter2@host/db",
        "import postgresql://ana:hunter2@host/db",
        "import ana:hunter2@host/db",
    ],
)
def test_a_misplaced_address_is_quoted_without_its_password(cli: CommandLine, words: str) -> None:
    answer = cli(*words.split())
    assert answer.code != 0
    assert "hunter2" not in answer.out + answer.err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
@pytest.mark.parametrize(
    "name",
    [
        *("a:b.db", "a@b.db", "a=b.db", "we@ird=n:me.db", "ana:work@home.db", "user=ana.db"),
        *("./ana:x@host", "./host=h password=x", "key=v@l"),
    ],
)
def test_files_of_such_names_are_made_and_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        memstore.open(name, embedder=None).close()
    assert os.path.isfile(name)
    assert options.chosen_settings(options.RedactingParser().parse_args([])) is not None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_a_file_that_is_there_opens_by_a_name_like_an_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    memstore.open("./ana:x@host", embedder=None).close()
    memstore.open("ana:x@host", embedder=None).close()
    with pytest.raises(memstore.InvalidArgument, match="looks like the address"):
        memstore.open("ana:y@host", embedder=None)


def test_settings_are_told_without_addresses() -> None:
    chosen = Settings(db="host=h password=hunter2", ollama="http://a:hunter2@h", namespace="n")
    assert repr(chosen) == "Settings(db='…', namespace='n', ollama='…')"
    assert "hunter2" not in f"{chosen}"
