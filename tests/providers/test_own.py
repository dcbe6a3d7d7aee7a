"""``MODULE:FACTORY`` as an embedder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memstore import Store, settings
from memstore.faces.hosts import registration

Open = Callable[..., Store]

MODULE = """
import time

class Own:
    model = "own"

    def embed(self, texts):
        return [[1.0, float(len(text))] for text in texts]

def quick():
    return Own()

def slow():
    time.sleep(0.4)
    return Own()

def fails():
    raise OSError("no weights")

def nothing():
    return "text"

value = 5
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_models.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def test_a_function_makes_the_embedder(open_store: Open) -> None:
    store = open_store(embedder="own_models:quick")
    assert store.add("tea", subject="ana").embedded
    assert store.status().model == "own"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own_models:missing", "cannot be imported"),
        ("no_such_module:make", "cannot be imported"),
        ("own_models:", "cannot be imported"),
        ("own_models:fails", "OSError: no weights"),
    ],
)
def test_what_cannot_be_made_is_refused(open_store: Open, name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        open_store(embedder=name)


@pytest.mark.parametrize("name", ["own_models:value", "own_models:nothing"])
def test_what_is_no_embedder_is_refused(open_store: Open, name: str) -> None:
    with pytest.raises(TypeError, match="own_models"):
        open_store(embedder=name)


def test_options_of_other_embedders_are_refused(open_store: Open) -> None:
    with pytest.raises(ValueError, match="model"):
        open_store(embedder="own_models:quick", model="x")


def test_a_module_is_never_remembered_for_a_later_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTORE_EMBEDDER", "own_models:quick")
    assert settings.keeping_environment()["MEMSTORE_EMBEDDER"] == "none"


@pytest.mark.process
def test_setup_measures_what_a_prompt_would_wait_for() -> None:
    assert registration.seconds_to_embed("own_models:slow") > 0.4
    with pytest.raises(ValueError, match="no weights"):
        registration.seconds_to_embed("own_models:fails")
