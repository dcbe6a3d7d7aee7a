"""A server notes the end of the journal elsewhere, when it opens the memory and when it ends."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import memstore
from memstore.faces.serving.opening import Opening


def test_the_head_is_noted_at_opening_and_closing(path: Path, tmp_path: Path) -> None:
    noted = tmp_path / "heads.jsonl"
    for content in ("one", "two"):
        opening = Opening(lambda: memstore.open(path, embedder="none"), str(noted))
        opening.store().add(content, subject="x")
        opening.close()
    lines = [json.loads(line) for line in noted.read_text("utf-8").splitlines()]
    assert [line["head"].partition(":")[0] for line in lines] == ["0", "1", "1", "2"]
    assert all(line["at"].endswith("Z") for line in lines)
    with memstore.open(path, embedder="none") as store:
        assert {line["path"] for line in lines} == {store.path}
        assert [store.ledger.verify(line["head"]) for line in lines] == [[]] * 4


def test_a_file_that_cannot_be_written_stops_no_server(
    path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opening = Opening(lambda: memstore.open(path, embedder="none"), str(tmp_path / "no" / "heads"))
    with caplog.at_level(logging.WARNING):
        opening.store().add("one", subject="x")
        opening.close()
    assert "the journal's head was not noted" in caplog.text
