"""What has to be confirmed is not done without a terminal, and ends with one exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore.faces.cli.main import COMMANDS
from memstore.faces.cli.usage import REFUSED

ASKING = (
    ("erase", "1"),
    ("erase", "--subject", "alice"),
    ("erase", "--owner", "ana"),
    ("episode erase", "1"),
    ("forget", "--all", "--user", "ana"),
    ("forget", "--everything"),
    ("revert", "--since", "1h"),
    ("sync", "{folder}"),
    ("fetch-model", "BAAI/bge-small-en-v1.5"),
)
"""A line for each way in which a command asks."""


def test_every_command_that_can_be_confirmed_is_here(cli: CommandLine) -> None:
    taking = {name for name in COMMANDS if "--yes" in cli("help", *name.split()).out}
    assert taking == {name for name, *_ in ASKING} | {"setup"}  # which asks as sync does


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
@pytest.mark.parametrize("as_json", [False, True])
def test_without_a_terminal_nothing_is_done_and_the_code_is_1(
    cli: CommandLine, tmp_path: Path, words: tuple[str, ...], as_json: bool
) -> None:
    with memstore.open(cli.db, embedder=None) as store:
        store.add("Alice likes tea", subject="alice")
        store.add("Ana likes tea", subject="ana", user_id="ana")
        store.episodes.add("We met Alice", source="chat")
    before = _everything(cli)
    name, *given = words
    folder = tmp_path / "place"
    filled = [one.format(folder=folder) for one in given]
    answer = cli(*name.split(), *filled, *["--json"] * as_json)
    assert answer.code == REFUSED
    assert "--yes" in answer.err
    assert _everything(cli) == before
    assert not folder.exists()


def _everything(cli: CommandLine) -> list[object]:
    with memstore.open(cli.db, embedder=None) as store:
        everybody = store.of("all")
        facts = everybody.list(active_only=False, include_deleted=True)
        return [*facts, *everybody.episodes.list()]
