"""Nothing that a server tells names a tool that it does not offer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memstore
from memstore import Store
from memstore.errors import Remedy
from memstore.faces import wording
from memstore.faces.mcp import catalogue, prompts
from memstore.faces.mcp.calls import Calls
from memstore.faces.mcp.catalogue import Catalogue
from memstore.faces.mcp.methods import Methods
from memstore.faces.mcp.offers import followable

SETS = ("facts", "tasks", "episodes", "graph", "learn")
EVERY = catalogue.offered(",".join(SETS))
TOOLS = [*EVERY.tools]
ALIASES = [one.alias for one in EVERY.tools.values() if one.alias]
CHOICES = st.lists(st.sampled_from([*SETS, *TOOLS, *ALIASES]), max_size=4, unique=True)
LEFT_OUT = st.lists(st.sampled_from(["tasks", *TOOLS]), max_size=3, unique=True)


def chosen(names: list[str], unwanted: list[str]) -> Catalogue:
    said = [*names, *(f"-{name}" for name in unwanted)]
    return catalogue.offered(",".join(said) or None)


def absent_in(text: str, offered: Catalogue) -> set[str]:
    """The tools that a text names but the server does not offer; "search" is also a word."""
    named = {name for name in TOOLS if "_" in name and re.search(rf"\b{name}\b", text)}
    named |= {"search"} if "Use search" in text else set()
    return named - set(offered.tools)


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("memory_store", {"content": "Ana drinks tea", "subject": "ana"}),
    ("memory_store", {"content": "Ana drinks coffee", "subject": "ana", "supersedes": 1}),
    ("memory_store", {"content": "long " * 5000, "subject": "x", "metadata": {"a": "b" * 999}}),
    ("memory_list", {}),
    ("memory_search", {"query": "long tea"}),
    ("memory_history", {"id": 1}),
    ("memory_confirm", {"id": 999}),
    ("memory_update", {"id": 2, "metadata": {"a": 1}}),
    ("memory_update", {"id": 2, "metadata": {"a": 2}}),
    ("memory_task_create", {"content": "task " * 5000, "scope": "user"}),
    ("memory_task_update", {"id": 4, "status": "completed"}),
    ("memory_task_update", {"id": 1, "status": "completed"}),
    ("memory_task_list", {"status": "all"}),
    ("memory_supersede", {"old_id": 999, "new_id": 1}),
    ("memory_delete", {"id": 999}),
    ("memory_delete", {"id": 2}),
    ("memory_confirm", {"id": 2}),
    ("add_memory", {"content": "said " * 9000, "name": "n", "source": "s"}),
    ("get_episodes", {}),
    ("update_episode", {"id": 999, "tags": ["a"]}),
    ("memory_proposals", {"action": "accept", "id": 999}),
    ("memory_graph_entities", {}),
    ("memory_graph_neighbours", {"name": "nobody"}),
]


@pytest.fixture
def told(open_store: Callable[..., Store]) -> Callable[[Catalogue], list[str]]:
    """Return everything that a server with these tools says during a session."""

    def told_(offered: Catalogue) -> list[str]:
        store = open_store(":memory:", embedder=None)
        calls, whole = Calls(offered, lambda: None), Calls(EVERY, lambda: None)
        said = []
        for name, arguments in CALLS:
            answer = (calls if offered.has(name) else whole).answer(
                lambda: store, {"name": name, "arguments": arguments}
            )
            if not offered.has(name):
                continue  # another server with other tools works on the same file
            said.append(answer["content"][0]["text"])

        class Source:
            def start(self) -> None: ...

            def store(self) -> Store:
                return store

        methods = Methods(offered)
        for uri in ("memory://startup", "memory://subject/x"):
            read = methods.read_resource(Source(), {"uri": uri}, older=False)
            said.append(read["contents"][0]["text"])
        return [*said, offered.instructions]

    return told_


@pytest.mark.parametrize("names", [*SETS, *TOOLS, *ALIASES, *(f"-{name}" for name in TOOLS[:12])])
def test_no_answer_names_a_tool_that_is_not_offered(
    names: str, told: Callable[[Catalogue], list[str]]
) -> None:
    offered = catalogue.offered(names)
    for text in told(offered):
        assert not absent_in(text, offered), text


def test_advice_is_given_with_the_tools_it_names(told: Callable[[Catalogue], list[str]]) -> None:
    said = "\n".join(told(EVERY))
    for tool in ("memory_delete", "memory_history", "memory_update", "memory_search"):
        assert tool in said


@given(CHOICES, LEFT_OUT, st.sampled_from(Remedy))
def test_no_remedy_or_description_names_a_tool_that_is_not_offered(
    names: list[str], unwanted: list[str], remedy: Remedy
) -> None:
    offered = chosen(names, unwanted)
    error = memstore.NotFound("there is no fact 5", remedy=remedy)
    texts = [wording.in_server(error, offered.shown), offered.instructions]
    texts += [one.declaration["description"] for one in offered.tools.values()]
    texts += [str(prompt) for prompt in prompts.listed(offered)]
    for text in texts:
        assert not absent_in(text, offered), text
    assert texts[0].startswith("there is no fact 5")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (None, " Use memory_search or memory_list to find the id."),
        ("facts,-memory_search", " Use memory_list to find the id."),
        ("tasks", " Use memory_task_list to find the id."),
        ("episodes", ""),
    ],
)
def test_a_wrong_id_is_found_with_what_is_offered(names: str | None, told: str) -> None:
    error = memstore.NotFound("There is no fact 5", remedy=Remedy.FIND_ID)
    shown = catalogue.offered(names).shown
    assert wording.in_server(error, shown) == f"There is no fact 5{'.' if told else ''}{told}"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("episodes", " Use search or get_episodes to find the id."),
        ("episode_search,update_episode", " Use episode_search to find the id."),
        ("update_episode", ""),
    ],
)
def test_a_wrong_episode_is_found_with_what_is_offered(names: str, told: str, store: Store) -> None:
    calls = Calls(catalogue.offered(names), lambda: None)
    answer = calls.answer(
        lambda: store, {"name": "update_episode", "arguments": {"id": 999, "tags": ["a"]}}
    )
    text = answer["content"][0]["text"]
    assert text == f"there is no episode 999 in namespace 'default'{'.' if told else ''}{told}"


def test_stored_text_is_never_taken_for_advice() -> None:
    stored = {"undo": "memory_delete id=1", "hint": "memory_delete; memory_list"}
    answer = {"facts": [{"content": "memory_delete", "metadata": stored}]}
    assert followable(answer, {"memory_delete": None}) == answer


def test_pending_embedding_is_told_with_its_reason(
    open_store: Callable[..., Store], embedder: Any
) -> None:
    def told(store: Store, content: str) -> str:
        arguments = {"content": content, "subject": "b"}
        calls = Calls(EVERY._replace(answers="json"), lambda: None)
        answer = calls.answer(lambda: store, {"name": "memory_store", "arguments": arguments})
        return str(answer["structuredContent"].get("embedding", ""))

    store = open_store()
    assert told(store, "first") == ""
    embedder.failure = memstore.EmbedderUnavailable("nobody answers")
    assert told(store, "second") == "pending, found by words until then: nobody answers"
    assert told(open_store(":memory:", embedder=None), "third") == ""
