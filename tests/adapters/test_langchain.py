"""LangChain's retriever on a store; LangChain's own tests run where it is installed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memstore
from memstore import Store, StoreClosed


def test_without_langchain_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "memstore.adapters.langchain", raising=False)
    monkeypatch.setitem(sys.modules, "langchain_core.retrievers", None)
    with pytest.raises(
        ImportError, match=r"pip install langchain-core \(tested with 0\.3\.0 to 1\.8\.3"
    ):
        import memstore.adapters.langchain  # noqa: F401


@pytest.fixture
def retriever_of(store: Store) -> Any:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from memstore.adapters.langchain import MemstoreRetriever

    return lambda **options: MemstoreRetriever(**({"store": store} | options))


@pytest.fixture
def store() -> Iterator[Store]:
    with memstore.open(":memory:", embedder=None) as opened:
        for number in range(5):
            metadata = {"n": number, "memstore": "own"} if number else None
            opened.add(f"green tea {number}", subject="tea", metadata=metadata)
            opened.episodes.add(f"We drank tea {number}.", source="chat", thread="t")
        opened.add("green tea of Ana", subject="tea", user_id="ana", run_id="r")
        yield opened


def test_documents_have_the_memory_and_its_score(retriever_of: Any, store: Store) -> None:
    hit = store.search("tea 3")[0]
    [document] = retriever_of(k=1).invoke("tea 3")
    assert (document.page_content, document.id) == ("green tea 3", hit.fact.uuid)
    assert document.metadata["n"] == 3
    own = document.metadata["memstore"]
    assert own["score"] == pytest.approx(hit.score)
    assert (own["id"], own["metadata"]) == (hit.fact.id, hit.fact.metadata)
    assert json.loads(json.dumps(document.metadata)) == document.metadata


def test_episodes(retriever_of: Any, store: Store) -> None:
    documents = retriever_of(kind="episodes", k=2).invoke("tea 3")
    assert documents[0].page_content == "We drank tea 3."
    assert documents[0].metadata["memstore"]["thread"] == "t"
    assert len(documents) == 2


def test_filters_scopes_and_options(retriever_of: Any) -> None:
    assert len(retriever_of(filters=[("n", ">", 2)]).invoke("tea")) == 2
    assert len(retriever_of().invoke("tea", filters={"n": 2})) == 1
    ana = memstore.AtLeast(user_id="ana")
    assert len(retriever_of(scope=ana).invoke("tea")) == 1
    assert len(retriever_of().invoke("tea", scope=ana)) == 1
    assert retriever_of(options={"subject": "coffee"}).invoke("tea") == []
    assert len(asyncio.run(retriever_of().ainvoke("tea", k=2))) == 2


@pytest.mark.parametrize(
    "options",
    [{"k": 0}, {"k": 1001}, {"kind": "tasks"}, {"filters": "x"}, {"scope": "x"}, {"store": 7}],
)
def test_what_is_refused(retriever_of: Any, options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        retriever_of(**options)


def test_a_memory_opened_from_a_path_is_closed(retriever_of: Any, path: Path) -> None:
    retriever = retriever_of(store=path)
    assert retriever.invoke("tea") == []
    retriever.close()
    with pytest.raises(StoreClosed):
        retriever.invoke("tea")


def test_the_sample_of_the_page_runs(
    retriever_of: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs/adapters/langchain.md").read_text("utf-8")
    exec(page.split("```python\n")[1].split("```")[0], {})
    assert capsys.readouterr().out.startswith("Ana lives in Porto 0.")


def test_langchains_own_tests(retriever_of: Any) -> None:
    suite = pytest.importorskip(
        "langchain_tests.integration_tests", reason="langchain-tests is not installed"
    ).RetrieversIntegrationTests
    made = retriever_of()
    attributes = {
        "retriever_constructor": type(made),
        "retriever_constructor_params": {"store": made.store},
        "retriever_query_example": "green tea",
    }
    tests = type("Tests", (suite,), attributes)()
    tests.test_k_constructor_param()
    tests.test_invoke_with_k_kwarg(made)
    tests.test_invoke_returns_documents(made)
    asyncio.run(tests.test_ainvoke_returns_documents(made))
