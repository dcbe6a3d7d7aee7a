"""The functions of the tools, by set; a set is imported when one of its tools is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import CATEGORIES
from memstore.frozen import replace
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.mcp import episodes, facts, graph, learn, tasks
    from memstore.faces.mcp.catalogue import Offered
    from memstore.faces.mcp.tool import Tool
else:
    episodes = lazy_import("memstore.faces.mcp.episodes")
    facts = lazy_import("memstore.faces.mcp.facts")
    graph = lazy_import("memstore.faces.mcp.graph")
    learn = lazy_import("memstore.faces.mcp.learn")
    tasks = lazy_import("memstore.faces.mcp.tasks")

TEACHING: Final = (
    (
        "memory_search",
        "Before you answer about the user, their people, projects or past decisions, call {tool}.",
    ),
    (
        "memory_store",
        "When you learn something that will matter later, call {tool}: one self-contained claim "
        "per fact, a subject that you always spell the same, and a category: "
        f"{', '.join(CATEGORIES)}.",
    ),
    (
        "memory_store",
        "When a stored fact has changed, do not store a contradiction beside it: store the new "
        "one with supersedes=<old id>. Confirm facts that are still true.",
    ),
    (
        "memory_task_list",
        'At the start of a session, call {tool} with surface="startup".',
    ),
    (
        "memory_add",
        "When a conversation had more than one or two facts that will matter later, pass its "
        "messages to {tool} instead of storing them one by one.",
    ),
    (
        "search",
        "To recall what was said or done, word for word, call {tool}.",
    ),
    (
        "add_memory",
        "To keep something word for word as it was said or done, call {tool}, always with the "
        "same source.",
    ),
    (
        "memory_graph_neighbours",
        "To see how people, projects and things are related, call {tool}.",
    ),
    ("memory_task_update", "Keep the status of tasks current as you work."),
)
"""The instructions for the model, each with its tool."""


class Tools:
    """The tools of a server as functions; ``generator`` makes the language model for ``learn``."""

    def __init__(self, generator: Callable[[], JSONGenerator | None] = lambda: None) -> None:
        self._learning: Sequence[Tool] | None = None
        self._generator = generator

    def of(self, tool_set: str) -> Sequence[Tool]:
        if tool_set == "learn":
            if self._learning is None:
                self._learning = learn.Learning(self._generator).tools()
            return self._learning
        return SETS[tool_set]()

    def __getitem__(self, offered: Offered) -> Tool:
        return next(tool for tool in self.of(offered.tool_set) if tool.name == offered.tool)


SETS: Final[Mapping[str, Callable[[], Sequence[Tool]]]] = {
    "facts": lambda: facts.TOOLS,
    "tasks": lambda: tasks.TOOLS,
    "episodes": lambda: episodes.TOOLS,
    "graph": lambda: graph.TOOLS,
}


def declared() -> dict[str, Any]:
    """Return the catalogue of all tools, as the functions declare them."""
    tools = Tools()
    return {
        "teaching": TEACHING,
        "sets": {
            name: [
                replace(tool, tells_owners=True).declaration
                | ({"alias": tool.alias} if tool.alias else {})
                for tool in tools.of(name)
            ]
            for name in (*SETS, "learn")
        },
    }
