"""Conversations as trees of messages: the path to the current one, or every branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.frozen import frozen
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BRANCHES: Final = "branches"
HIDDEN: Final = "hidden"
REASONING: Final = "reasoning"
TOOLS: Final = "tools"
INCLUDABLE: Final = (BRANCHES, HIDDEN, REASONING, TOOLS)
"""What of a conversation is imported only if asked for."""

LEFT_OUT: Final = {
    HIDDEN: "hidden messages",
    REASONING: "reasoning",
    TOOLS: "calls and output of tools",
}
"""What a report calls them."""


@frozen
class ChatMessage:
    """A message of a conversation, before it becomes an episode."""

    id: str
    speaker: str | None
    text: str
    kind: str | None = None
    """What it must be asked for by; ``None`` for what was said."""


class MessageWalk(NamedTuple):
    nodes: list[tuple[str, int]]
    """Each node with its depth, from the root."""
    circles: int
    """How often a parent led back to its own child."""


def path(parents: Mapping[str, str | None], end: str | None) -> MessageWalk:
    """Return the nodes from the root to one of them."""
    found: list[str] = []
    seen: set[str] = set()
    here = end
    while here is not None and here in parents and here not in seen:
        found.append(here)
        seen.add(here)
        here = parents[here]
    found.reverse()
    return MessageWalk([(node, depth) for depth, node in enumerate(found)], int(here in seen))


def every(parents: Mapping[str, str | None]) -> MessageWalk:
    """Return all nodes, by their depth."""
    depths: dict[str, int] = {}
    circles = 0
    for node in parents:
        chain: list[str] = []
        seen: set[str] = set()
        here: str | None = node
        while here is not None and here in parents and here not in depths and here not in seen:
            chain.append(here)
            seen.add(here)
            here = parents[here]
        circles += here in seen
        start = depths.get(here or "", -1)
        for up, one in enumerate(reversed(chain), 1):
            depths[one] = start + up
    return MessageWalk(sorted(depths.items(), key=lambda one: one[1]), circles)


def leaves(parents: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the nodes that are nobody's parent; the last one, if there are none."""
    inner = set(parents.values())
    outer = [node for node in parents if node not in inner]
    yield from outer or list(parents)[-1:]
