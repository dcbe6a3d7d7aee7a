"""The command line on a server: the same commands, with a URL for the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import postgres
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

pytestmark = pytest.mark.process


@pytest.fixture
def url() -> Iterator[str]:
    with postgres.database() as url:
        yield url


def test_commands_work_on_a_server(cli: CommandLine, url: str, tmp_path: Path) -> None:
    stored = cli.json("add", "The quay is open", "--subject", "quay", "--db", url)
    assert cli.json("get", stored["id"], "--db", url)["content"] == "The quay is open"
    assert "The quay is open" in cli("search", "quay", "--db", url).out
    assert cli.json("verify", "--db", url)["verified"]
    assert cli("doctor", "--db", url).code == 0
    code, text = cli.error("backup", tmp_path / "copy.db", "--db", url)
    assert code == 3
    assert "pg_dump" in text


def test_copy_brings_a_file_to_a_server(cli: CommandLine, url: str) -> None:
    cli.add("The quay is open")
    head = cli.json("status")["head"]
    assert cli.json("copy", cli.db, url)["head"] == head
    assert cli.json("status", "--db", url)["head"] == head
    code, text = cli.error("copy", cli.db, url)
    assert code != 0
    assert "is not empty" in text


def test_a_server_that_is_away_is_named_without_the_password(cli: CommandLine) -> None:
    code, text = cli.error("status", "--db", "postgresql://ana:secret@127.0.0.1:1/db")
    assert code == 3
    assert "postgresql://ana@127.0.0.1:1/db" in text
    assert "secret" not in text
