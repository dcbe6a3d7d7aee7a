"""An export says what it was when it was written: a changed one is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

from memstore import Head, Store, TransferError

OpenStore = Callable[..., Store]

ROUNDS = 300


@pytest.fixture
def export(store: Store) -> list[str]:
    old = store.add("the port is 1", subject="x", metadata={"a": 1})
    store.add("the port is 2", subject="x", supersedes=old.id)
    said = store.episodes.add("something said", source="meeting", tags=["t"])
    store.add("something known", subject="y", episode_id=said.id)
    return [*store.transfer.export()]


def test_an_export_names_the_head_of_its_file(store: Store, export: list[str]) -> None:
    head = Head.parse(json.loads(export[0])["head"])
    assert head == store.file.head()
    assert [*store.transfer.export()] == export
    store.add("later", subject="x")
    assert store.ledger.verify(head) == []


def test_a_flipped_character_of_any_line_is_refused(
    export: list[str], path: Path, open_store: OpenStore
) -> None:
    chance = random.Random(1)
    target = open_store(path.with_name("target.db"))
    for _ in range(ROUNDS):
        number = chance.randrange(len(export))
        line = export[number]
        place = chance.randrange(len(line))
        other = chr(ord(line[place]) ^ (1 << chance.randrange(6)))
        changed = [*export]
        changed[number] = line[:place] + other + line[place + 1 :]
        if changed[number].strip() == line:
            continue
        with pytest.raises(TransferError):
            target.transfer.import_(changed)
    assert target.count(active_only=False) == 0


def test_a_truncated_or_reordered_export_is_refused(
    export: list[str], path: Path, open_store: OpenStore
) -> None:
    target = open_store(path.with_name("target.db"))
    for end in range(1, len(export)):
        with pytest.raises(TransferError):
            target.transfer.import_(export[:end])
    with pytest.raises(TransferError, match="was changed after it was written"):
        target.transfer.import_([export[0], *export[3:5], *export[1:3], *export[5:]])
    assert target.transfer.import_(export).imported == 3


def test_a_changed_export_is_taken_if_the_caller_says_so(
    export: list[str], path: Path, open_store: OpenStore
) -> None:
    target = open_store(path.with_name("target.db"))
    changed = [line.replace("the port is 2", "the port is 3") for line in export]
    with pytest.raises(TransferError, match="was changed after it was written") as refused:
        target.transfer.import_(changed)
    assert refused.value.remedy is not None
    assert target.transfer.import_(changed, unverified=True).imported == 3


def test_an_export_without_a_hash_is_taken(
    export: list[str], path: Path, open_store: OpenStore
) -> None:
    header = json.loads(export[0])
    del header["head"], header["hash"]
    target = open_store(path.with_name("target.db"))
    assert target.transfer.import_([json.dumps(header), *export[1:]]).imported == 3


def test_the_command_refuses_a_changed_export(cli: CommandLine, tmp_path: Path) -> None:
    cli.add("the port is 1")
    file = tmp_path / "export.jsonl"
    cli("export", file)
    file.write_text(file.read_text(encoding="utf-8").replace("port is 1", "port is 2"), "utf-8")
    _, told = cli.error("import", file, "--db", tmp_path / "other.db")
    assert "--unverified" in told
    done = cli.json("import", file, "--unverified", "--db", tmp_path / "other.db")
    assert done["imported"] == 1
