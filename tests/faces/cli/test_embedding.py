"""The commands for embeddings: switching to another model, and back."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.embedders import WordEmbedder

import memstore
from memstore import providers


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str | None, WordEmbedder]:
    """Two models: the one that is chosen without ``--model``, and ``new``."""
    made: dict[str | None, WordEmbedder] = {None: WordEmbedder(), "new": WordEmbedder()}
    made["new"].model = "new-64"

    def embedder(name: str, *, model: str | None = None, **_: object) -> Any:
        return None if name == "none" else made[model]

    monkeypatch.setattr(providers, "embedder", embedder)
    monkeypatch.setenv("MEMSTORE_EMBEDDER", "ollama")
    return made


@pytest.fixture
def filled(cli: CommandLine, models: dict[str | None, WordEmbedder]) -> CommandLine:
    cli.add("tea")
    cli.add("rain")
    return cli


KEPT = (
    "the old vectors are kept: memstore reembed --switch-back returns to them at once, "
    "memstore reembed --drop removes them\n"
)


def test_file_switches_to_another_model_and_back(filled: CommandLine) -> None:
    there = filled("reembed", "--model", "new")
    assert (there.code, there.out) == (0, "embedded 2 texts; searches now use new-64\n")
    assert there.err == KEPT
    assert filled.json("status", "--model", "new")["model"] == "new-64"
    code, error = filled.error("search", "tea")
    assert code == 4
    assert "switch the file to another model with memstore reembed" in error
    assert filled.json("search", "tea", "--model", "new")
    filled.add("snow", "bob", "--model", "new")
    back = filled("reembed", "--switch-back")
    assert (back.code, back.out) == (0, "searches use words-64 again, generation 1\n")
    assert filled("embed-pending").out == "embedded 1 fact, 0 left\n"
    again = filled.json("reembed", "--switch-back")
    assert again == {"generation": 2, "model": "new-64", "switched": True}


def test_status_shows_generations(
    filled: CommandLine, models: dict[str | None, WordEmbedder]
) -> None:
    assert filled("reembed", "--status").out == (
        "#1\tactive\twords-64 (64 numbers)\tfacts: 2 embedded\tpieces of episodes: 0 embedded\n"
    )
    models["new"].failure = memstore.EmbedderUnavailable("nobody answers")
    stopped = filled("reembed", "--model", "new")
    assert stopped.code == 4
    assert stopped.out == "embedded 0 texts, 2 left; searches use the old vectors\n"
    assert stopped.err.splitlines() == [
        "stopped early: nobody answers",
        "run the same command to continue",
    ]
    lines = filled("reembed", "--status").out.splitlines()
    assert lines[1] == (
        "#2\tstaged\tnew-64\tfacts: 0 embedded, 2 pending\tpieces of episodes: 0 embedded"
    )
    [_, staged] = filled.json("reembed", "--status")
    assert staged["facts"] == {"embedded": 0, "pending": 2, "quarantined": 0}
    models["new"].failure = None
    assert filled.json("reembed", "--model", "new")["switched"]


def test_texts_refused_by_the_new_model_are_reported(
    filled: CommandLine, models: dict[str | None, WordEmbedder]
) -> None:
    models["new"].poison = "rain"
    answer = filled("reembed", "--model", "new")
    assert answer.code == 0
    assert "1 fact rejected by the new model, found by words only: #2\n" in answer.err


def test_a_generation_is_dropped(filled: CommandLine) -> None:
    filled("reembed", "--model", "new")
    code, error = filled.error("reembed", "--drop", "2")
    assert (code, "active one" in error) == (1, True)
    assert filled("reembed", "--drop", "1").out == "dropped generation 1\n"
    code, error = filled.error("reembed", "--switch-back")
    assert (code, error) == (
        1, "no older generation is kept"
    )  # fmt: skip


def test_invalid_values_are_refused(filled: CommandLine) -> None:
    code, error = filled.error("reembed")
    assert (code, "recompute all vectors with memstore reembed --again" in error) == (1, True)
    assert filled.json("reembed", "--again")["switched"]
    code, error = filled.error("reembed", "--embedder", "none")
    assert (code, "--embedder and --model" in error) == (2, True)
    assert filled.error("reembed", "--status", "--again")[0] == 2
    assert filled.error("reembed", "--drop", "0")[0] == 2
    assert filled.error("embed-pending", "--watch", "--limit", "3")[0] == 2
    assert filled.error("embed-pending", "--watch", "--embedder", "none")[0] == 4
