"""The samples of the documents run as they are printed, each page in an empty folder."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.embedding_server import EmbeddingServer
from tests.support.model_server import ModelServer
from tests.support.served import Served

import memstore

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SAMPLE = re.compile(r"(?<!-->\n)^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""Not those under a comment: they are files, which tests/test_frameworks.py runs."""
WRITTEN = [*sorted(DOCS.glob("*.md")), DOCS / "reference/keys.md", DOCS / "reference/browsing.md"]
PAGES = {
    page.stem: found
    for page in WRITTEN
    if (found := SAMPLE.findall(page.read_text(encoding="utf-8")))
}
TOPS = r"python|rust|tests|benches|docs|deploy|examples|\.ci|\.github"
PLACE = re.compile(rf"`((?:{TOPS})/[a-z\d_./-]*)")
PROGRAM = re.compile(r"python -m\s+((?:benches|tests)[\w.]*\w)")
LEARNT = '{"facts": [{"content": "Ida drinks coffee", "subject": "ida"}], "groups": []}'


def run(page: str, **replaced: str) -> None:
    """Run the samples of a page one after the other, as a reader does."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for sample in PAGES[page]:
        for old, new in replaced.items():
            assert old in sample
            sample = re.sub(rf"^{old} = .*$", f"{old} = {new!r}", sample, flags=re.MULTILINE)
        exec(compile(sample, f"docs/{page}.md", "exec"), names)
    if isinstance(store := names.get("store"), memstore.Store):
        store.close()


@pytest.mark.parametrize("page", [page for page in PAGES if page != "serving"])
def test_the_samples_of_a_page_run(
    page: str, model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model_server.replies = [LEARNT]
    with EmbeddingServer.running() as embeddings:
        for name, url in (
            ("OllamaGenerator", model_server.url),
            ("OllamaEmbedder", embeddings.url),
        ):
            monkeypatch.setattr(memstore, name, partial(getattr(memstore, name), base_url=url))
        run(page)


@pytest.mark.process
def test_the_sample_of_a_client_over_http_runs(
    no_proxy: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with memstore.open(tmp_path / "memory.db", embedder=None) as store:
        store.add("Alice likes the dark theme", subject="alice")
    server = Served(tmp_path / "memory.db")
    try:
        monkeypatch.setenv("SECRET", server.secret or "")
        run("serving", URL=f"{server.url}/mcp")
    finally:
        server.close()
    assert "dark theme" in capsys.readouterr().out


@pytest.mark.parametrize(
    "page",
    [*ROOT.glob("*.md"), *WRITTEN, *(ROOT / "benches").rglob("*.md")],
    ids=lambda page: page.stem,
)
def test_the_files_and_programs_on_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [place for place in PLACE.findall(text) if not (ROOT / place).exists()] == []
    for name in PROGRAM.findall(text):
        path = ROOT.joinpath(*name.split("."))
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), name
