"""Imports of lines that are too long, or never end."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401 - a fixture
from tests.support.original_files import original_file
from tests.support.raw import raw

from memstore import Store, TransferError
from memstore.domain.arguments import MAX_CONTENT
from memstore.episodes import parts
from memstore.transfer import long_lines

TOO_LONG = "x" * (MAX_CONTENT + 1)


class Endless(io.RawIOBase):
    """A beginning, and then one character for ever."""

    def __init__(self, beginning: str, then: str) -> None:
        self._left = beginning.encode()
        self._then = then.encode()
        self.given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        part, self._left = self._left[: len(room)], self._left[len(room) :]
        part += self._then * (len(room) - len(part))
        room[:] = part
        self.given += len(part)
        return len(part)


def export_with(store: Store, **values: Any) -> list[str]:
    store.add("tea", subject="ana")
    lines = [json.loads(line) for line in store.transfer.export()]
    for line in lines:
        if "fact" in line:
            line["fact"].update(values)
    return [json.dumps(line) for line in lines]


@pytest.fixture
def other(open_store: Callable[..., Store], tmp_path: Path) -> Store:
    return open_store(tmp_path / "other.db")


@pytest.mark.parametrize("name", ["content", "subject", "category", "source"])
def test_a_fact_longer_than_add_allows_is_refused_with_its_line(
    store: Store, other: Store, name: str
) -> None:
    with pytest.raises(TransferError, match="1,000,001 characters long; the limit is") as refused:
        other.transfer.import_(export_with(store, **{name: TOO_LONG}))
    assert refused.value.place == "line 2"
    assert other.count() == 0


def test_a_fact_as_long_as_add_allows_is_imported_however_it_is_escaped(
    store: Store, other: Store
) -> None:
    lines = [line.replace("~", r"\u007e") for line in export_with(store, content="~" * MAX_CONTENT)]
    assert max(map(len, lines)) > 6 * MAX_CONTENT
    assert other.transfer.import_(io.StringIO("\n".join(lines)), unverified=True).imported == 1
    assert len(other.list()[0].content) == MAX_CONTENT


def test_a_long_episode_is_imported(store: Store, other: Store) -> None:
    text = "tea " * 1_000_000
    first = store.episodes.add(text, source="s")
    exported = [*store.transfer.export()]
    assert other.transfer.import_(io.StringIO("\n".join(exported))).episodes == 4
    held = other.episodes.list()
    assert held[0].uuid == first.uuid
    assert [one.content for one in parts.joined(held)] == [text]


ENDLESS = [
    ("", "\0", 2**20),
    ("", "x", 2**20),
    ("", " ", 2**20),
    ("{", "{", 2**20),
    ('{"memstore": "', "x", 2**20),
    ('{"fact": {"content": "', "\0", 2**20),
    ('{"episode": {"content": "', "\0", 2**20),
    ('{"fact": {"content": "', "x", long_lines.MAX_FACT_CHARACTERS + 2**20),
]


@pytest.mark.parametrize(("beginning", "then", "most"), ENDLESS)
def test_a_file_that_never_ends_is_refused_at_its_first_impossible_line(
    store: Store, other: Store, beginning: str, then: str, most: int
) -> None:
    before = "".join(line + "\n" for line in export_with(store))
    endless = Endless(before + beginning, then)
    with pytest.raises(TransferError, match="nothing was imported") as refused:
        other.transfer.import_(io.TextIOWrapper(io.BufferedReader(endless), encoding="utf-8"))
    assert refused.value.place == f"line {before.count(chr(10)) + 1}"
    assert endless.given < most
    assert other.count() == 0


FOREIGN: dict[str, dict[str, Any]] = {
    "mem0": {"id": "1", "memory": TOO_LONG},
    "server-memory": {"type": "entity", "name": "Ana", "observations": [TOO_LONG]},
}
BESIDE: dict[str, dict[str, Any]] = {
    "mem0": {"id": "2", "memory": "tea"},
    "server-memory": {"type": "entity", "name": "Ben", "observations": ["tea"]},
}


@pytest.mark.parametrize("source", FOREIGN)
def test_a_longer_fact_of_another_program_is_refused_with_its_line(
    store: Store, tmp_path: Path, source: str
) -> None:
    file = tmp_path / "memories.jsonl"
    file.write_text(f"\n{json.dumps(FOREIGN[source])}\n{json.dumps(BESIDE[source])}\n")
    with pytest.raises(TransferError, match="line 2: its content is 1,000,001 characters long"):
        store.transfer.import_from(source, file)
    assert (
        store.transfer.import_from(source, file, skip_damaged=True)
        .left_out["damaged records"]
        .count
        == 1
    )
    assert [fact.content for fact in store.list()] == ["tea"]


def test_a_longer_fact_of_the_original_is_refused(store: Store, tmp_path: Path) -> None:
    file = original_file(tmp_path / "original.db", 6)
    with raw(file) as tables:
        tables.execute("UPDATE memstore_facts SET content = ?", (TOO_LONG,))
        tables.commit()
    with pytest.raises(TransferError, match=r"fact \d+: its content is 1,000,001 characters long"):
        store.transfer.import_from("memstore", file)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="has no /dev/zero")
@pytest.mark.parametrize("source", ["", "mem0", "engram", "memstore", "server-memory"])
def test_a_device_is_refused(cli: CommandLine, source: str) -> None:
    flags = ["--from", source] if source else []
    code, told = cli.error("import", *flags, "/dev/zero")
    assert code == 1
    assert "nothing was imported" in told
