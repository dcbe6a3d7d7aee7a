"""Models that were fetched: a graph of a few kilobytes, behind the loader of real ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memstore
from memstore import Store
from memstore.faces.cli.main import main
from memstore.providers import fetched
from memstore.providers.fetched import DEFAULT, FastEmbedder

pytest.importorskip("fastembed", reason="needs the extra fastembed")

from tests.support import onnx_models

Open = Callable[..., Store]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the default model, as a fetch leaves it."""
    folder = tmp_path / "models"
    onnx_models.write(tmp_path / "hub")
    fetched.keep(DEFAULT, tmp_path / "hub", folder / DEFAULT.replace("/", "--"))
    monkeypatch.setattr("memstore.settings.models_folder", lambda: str(folder))
    return folder


def test_its_vectors_are_those_of_the_graph(models: Path) -> None:
    embedder = FastEmbedder()
    one, same, other = embedder.embed(["tea at noon", "noon at tea", "rain"])
    assert one.dtype == np.float32
    assert one.shape == (onnx_models.DIMENSION,)
    assert np.linalg.norm(one) == pytest.approx(1.0, abs=1e-5)
    assert one @ same == pytest.approx(1.0, abs=1e-5)
    assert one @ other < 0.9
    assert embedder.embed([]).shape == (0, 0)


def test_questions_get_the_prompt_of_the_model(models: Path) -> None:
    embedder = FastEmbedder()
    question, passage = embedder.embed_queries(["tea"])[0], embedder.embed(["tea"])[0]
    assert question @ passage < 0.999
    assert "Represent this sentence" in embedder.model


def test_a_store_uses_it_by_name_and_records_its_digest(open_store: Open, models: Path) -> None:
    store = open_store(embedder="fastembed")
    tea = store.add("tea at noon", subject="ana")
    store.add("rain", subject="ana")
    assert tea.embedded
    assert store.search("noon tea")[0].fact.id == tea.id
    model = store.status().model
    assert model is not None
    assert model.startswith(f"{DEFAULT}@")
    again = open_store(embedder=f"fastembed:{DEFAULT}")
    assert again.status().embedder == model


def test_other_weights_under_the_same_name_are_another_model(
    open_store: Open, models: Path, tmp_path: Path
) -> None:
    open_store(embedder="fastembed").add("tea", subject="ana")
    place = models / DEFAULT.replace("/", "--")
    graph = tmp_path / "hub" / "model_optimized.onnx"
    graph.write_bytes(graph.read_bytes().replace(b"tiny", b"tidy"))
    for file in place.iterdir():
        file.unlink()
    place.rmdir()
    fetched.keep(DEFAULT, tmp_path / "hub", place)
    with pytest.raises(memstore.EmbedderMismatch, match=DEFAULT):
        open_store(embedder="fastembed")


def test_files_that_changed_after_the_fetch_are_refused(open_store: Open, models: Path) -> None:
    store = open_store(embedder="fastembed")
    graph = next(models.rglob("*.onnx"))
    graph.write_bytes(graph.read_bytes()[:-1])
    tea = store.add("tea", subject="ana")
    assert not tea.embedded
    with pytest.raises(memstore.EmbedderUnavailable, match="fetch it again"):
        FastEmbedder().embed(["tea"])


def test_a_model_that_is_not_here_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"memstore fetch-model intfloat/multilingual-e5-large"):
        FastEmbedder("intfloat/multilingual-e5-large", folder=tmp_path)


def test_the_command_says_size_and_licence_and_fetches_nothing_unasked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(*_: Any, **__: Any) -> None:
        raise AssertionError("fetched")

    monkeypatch.setattr(fetched, "fetch", fetch)
    assert main(["fetch-model", DEFAULT]) == 1
    told = capsys.readouterr()
    assert "MB" in told.out
    assert "mit" in told.out
    assert "--yes" in told.err
    assert main(["fetch-model", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert DEFAULT in {one["model"] for one in listed}


def test_a_failed_download_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Offline:
        def __init__(self, model: str, *, cache_dir: str, **_: object) -> None:
            (Path(cache_dir) / "half").mkdir(parents=True)
            raise OSError("no network")

    monkeypatch.setattr(fetched, "_text_embedding", lambda: Offline)
    with pytest.raises(memstore.StorageError, match="no network"):
        fetched.fetch(DEFAULT, folder=tmp_path)
    assert [*tmp_path.iterdir()] == []
