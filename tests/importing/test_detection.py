"""A file of another program than the one named: the error names the likely one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

from memstore import InvalidArgument, MemstoreError, Store
from memstore.importing import likely_source
from memstore.importing.importer import SOURCES

MEMORY = {"id": "a1", "memory": "likes tea", "user_id": "ann"}
EPISODE = {"id": "x1", "content": "said so", "group_id": "g"}
ENTITY = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["likes tea"]}

TEXTS = {
    "mem0": [json.dumps([MEMORY]), json.dumps({"results": [MEMORY]}, indent=2)],
    "engram": [json.dumps(EPISODE), json.dumps({"episodes": [EPISODE]})],
    "server-memory": [json.dumps(ENTITY) + "\n" + json.dumps(ENTITY)],
}
MIXED = json.dumps([MEMORY, EPISODE])
UNKNOWN = ["", "no JSON", "[]", "{}", '{"a": 1}', "SQLite format 3\0", MIXED]


@pytest.fixture(params=[(name, text) for name, texts in TEXTS.items() for text in texts])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    name, text = request.param
    file = tmp_path / "foreign"
    file.write_text(text, "utf-8")
    return name, file


def test_each_program_is_recognised(written: tuple[str, Path]) -> None:
    name, file = written
    assert likely_source(file) == name


@pytest.mark.parametrize("text", UNKNOWN)
def test_other_files_are_not_recognised(text: str, tmp_path: Path) -> None:
    file = tmp_path / "foreign"
    file.write_text(text, "utf-8")
    assert likely_source(file) is None
    assert likely_source(tmp_path / "missing") is None


@pytest.mark.parametrize("given", [*SOURCES, "mem-zero"])
def test_wrong_source_is_an_error_that_names_the_likely_one(
    given: Any, written: tuple[str, Path], store: Store
) -> None:
    name, file = written
    if given == name:
        assert store.transfer.import_from(given, file).namespaces
        return
    with pytest.raises((MemstoreError, InvalidArgument), match=rf"looks like one of {name}(\n|$)"):
        store.transfer.import_from(given, file)
    assert store.status().active == 0


def test_command_line_names_the_flag(written: tuple[str, Path], cli: CommandLine) -> None:
    name, file = written
    for flags in ([], ["--from", "mem-zero"]):
        assert f"looks like one of {name}: --from {name}" in cli.error("import", *flags, file)[1]
    wrong = next(source for source in SOURCES if source != name)
    told = cli.error("import", "--from", wrong, file)[1]
    assert f"looks like one of {name}" in told
    assert "Name that program: memstore import --from PROGRAM." in told
