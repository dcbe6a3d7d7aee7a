"""The recipes of ``docs/embedding.md``, with models that are made on the spot."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memstore import Store

PAGE = (Path(__file__).parents[2] / "docs" / "embedding.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"<!-- tests/providers/test_recipes.py -->\n```python\n(.*?)^```$", PAGE,
                     re.MULTILINE | re.DOTALL)  # fmt: skip

Open = Callable[..., Store]


def run(name: str) -> dict[str, Any]:
    """Run the one recipe that names a class, and return what it defines."""
    [recipe] = [one for one in RECIPES if f"class {name}:" in one]
    names: dict[str, Any] = {}
    exec(compile(recipe, "docs/embedding.md", "exec"), names)
    return names


def finds(open_store: Open, embedder: Any) -> None:
    store = open_store(embedder=embedder)
    tea = store.add("tea at noon", subject="ana")
    store.add("rain", subject="ana")
    assert tea.embedded
    [hit, *_] = store.search("noon tea")
    assert hit.fact.id == tea.id
    assert hit.vector_score > 0


def test_an_onnx_graph_is_an_embedder(open_store: Open, tmp_path: Path) -> None:
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="needs the extra fastembed")
    from tests.support import onnx_models

    onnx_models.write(tmp_path / "graph")
    finds(open_store, run("Graph")["Graph"](tmp_path / "graph"))


@pytest.mark.process
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_sentence_transformers_are_an_embedder(open_store: Open, tmp_path: Path) -> None:
    sentences = pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    from sentence_transformers.models import StaticEmbedding
    from tests.support import onnx_models
    from tokenizers import Tokenizer

    onnx_models.write(tmp_path / "graph")
    tokenizer = Tokenizer.from_file(str(tmp_path / "graph" / "tokenizer.json"))
    table = StaticEmbedding(tokenizer, embedding_dim=16)
    sentences.SentenceTransformer(modules=[table]).save(str(tmp_path / "model"))
    kind = run("Sentences")["Sentences"]
    kind.model = str(tmp_path / "model")
    finds(open_store, kind())
