"""``memstore demo``: its claims match its output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore.faces.cli import demo


@pytest.fixture(scope="module")
def told() -> memstore.Store:
    with memstore.open(":memory:") as store:
        for subject, category, content in demo.FACTS:
            store.add(content, subject=subject, category=category)
        yield store


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


@pytest.mark.model
@pytest.mark.parametrize(
    ("query", "place"), [*zip(demo.BY_MEANING, (1, 0), strict=True)], ids=demo.BY_MEANING
)
def test_vector_search_alone_ranks_the_fact_first(
    told: memstore.Store, query: str, place: int
) -> None:
    subject, _, content = demo.FACTS[place]
    best, *rest = told.search(query, limit=3, touch=False)
    assert best.fact.content == content
    assert best.word_score == 0
    assert not words(query) & words(f"{subject} {content}")
    assert all(best.score > 1.2 * other.score for other in rest)


@pytest.mark.model
def test_demo_is_plain_and_short_when_piped(cli: CommandLine, tmp_path: Path) -> None:
    cli.db.unlink()
    answer = cli("demo")
    assert (answer.code, answer.err) == (0, "")
    assert "\x1b" not in answer.out
    lines = answer.out.splitlines()
    assert len(lines) < 60
    for content in (demo.CORRECTION, *(fact[2] for fact in demo.FACTS)):
        assert content in answer.out
    for query in (*demo.BY_WORDS, *demo.BY_MEANING):
        found = lines[[query in line for line in lines].index(True) + 1]
        assert found.strip().startswith("#")
    assert "superseded by #7" in answer.out
    assert "8 active, 1 superseded, 0 pending" in answer.out
    assert "Next: memstore setup" in answer.out
    assert not cli.db.exists()


@pytest.mark.parametrize(
    ("called", "known", "said"),
    [
        (".venv/bin/memstore", None, ".venv/bin/memstore"),
        (".venv/bin/memstore", "/usr/bin/memstore", "memstore"),
        ("/a b/memstore", None, "'/a b/memstore'"),
        ("/usr/lib/memstore/__main__.py", None, "memstore"),
    ],
)
def test_demo_names_the_program_as_it_was_called(
    called: str, known: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [called, "demo"])
    monkeypatch.setattr("shutil.which", lambda name: known)
    assert demo._program() == said


def test_demo_names_uvx_if_that_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.prefix", "/home/ana/.cache/uv/archive-v0/x1")
    assert demo._program() == "uvx --from pymemstore memstore"


@pytest.mark.model
def test_demo_reports_a_failing_local_model(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> object:
        raise memstore.EmbedderRejected("the built-in model is missing")

    monkeypatch.setattr("memstore.providers.local.LocalEmbedder.embed_bytes", missing)
    answer = cli("demo")
    assert answer.code == 0
    assert "the built-in model is missing" in answer.out + answer.err
