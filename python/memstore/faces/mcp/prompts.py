"""Prompts: slash commands for people, each with its text for the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.faces.mcp.protocol import INVALID_PARAMS, Refused
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.faces.mcp import distilling
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.store.store import Store
else:  # which imports the store
    distilling = lazy_import("memstore.faces.mcp.distilling")


class Prompt(NamedTuple):
    """One prompt.

    Attributes:
        tool: the tool that its text names; without this tool the prompt is not offered.
        argument: the name of its only argument, its description, and whether it is required.
        text: with ``{tool}``, and ``{given}`` for the argument.
        otherwise: the text if no argument is given.
    """

    title: str
    description: str
    tool: str
    argument: tuple[str, str, bool] | None
    text: str
    otherwise: str = ""


WRITING: Final = frozenset({"distil"})
"""The prompts that change something."""

PROMPTS: Final = {
    "recall": Prompt(
        title="Recall",
        description="Report what is stored about something",
        tool="memory_search",
        argument=("topic", "a person, a thing or a question", True),
        text="Search the memory with {tool} for: {given}\n"
        "If you find little, search once more with other words. Then tell me what is stored, with "
        "dates, and what has changed since. If nothing matches, tell me that; do not guess.",
    ),
    "remember": Prompt(
        title="Remember",
        description="Store what will matter later",
        tool="memory_store",
        argument=("what", "what to remember; by default, from this conversation", False),
        text="Store this with {tool}: {given}\n"
        "One claim per fact. Search first: if it corrects a stored fact, pass supersedes. Then "
        "tell me in one line what was stored.",
        otherwise="Review our conversation and store with {tool} what will matter in later ones: "
        "preferences, decisions, people, the state of the work. One claim per fact; leave out what "
        "matters only today. Search first: if one corrects a stored fact, pass supersedes. Then "
        "list what was stored, one line each.",
    ),
    "distil": Prompt(
        title="Distil conversations",
        description="Turn conversations that no model has read into facts, in portions",
        tool="memory_store",
        argument=("done", "the last turn of a portion that is stored, such as e57", False),
        text="",  # see distilling.py
    ),
    "review-proposals": Prompt(
        title="Review proposals",
        description="Decide which newer facts replace older ones",
        tool="memory_proposals",
        argument=None,
        text="List the open proposals with {tool}. Show me each one: the older fact, the newer "
        "one, and what you would do. Do not accept or reject any before I answer.",
    ),
}


def listed(catalogue: Catalogue) -> list[dict[str, Any]]:
    return [
        _declared(name, prompt) for name, prompt in PROMPTS.items() if catalogue.has(prompt.tool)
    ]


def got(
    catalogue: Catalogue,
    open_store: Callable[[], Store],
    name: str,
    arguments: Mapping[str, str],
) -> dict[str, Any]:
    """Return a prompt's messages; raise :class:`Refused` if there is no such prompt.

    Only the prompt ``distil`` opens the store.
    """
    prompt = PROMPTS.get(name)
    tool = catalogue.find(prompt.tool) if prompt is not None else None
    if prompt is None or tool is None:
        raise Refused(INVALID_PARAMS, f"there is no prompt {name[:60]!r} here")
    given = ""
    if prompt.argument is not None:
        argument, _, required = prompt.argument
        given = arguments.get(argument, "").strip()
        if required and not given:
            raise Refused(INVALID_PARAMS, f"the prompt {name!r} needs {argument!r}")
    if name == "distil":
        said = distilling.text(catalogue, open_store, given, arguments)
    else:
        text = prompt.text if given or not prompt.otherwise else prompt.otherwise
        said = text.replace("{tool}", tool.name).replace("{given}", given)
    return {
        "description": prompt.description,
        "messages": [{"role": "user", "content": {"type": "text", "text": said}}],
    }


def _declared(name: str, prompt: Prompt) -> dict[str, Any]:
    declared: dict[str, Any] = {
        "name": name,
        "title": prompt.title,
        "description": prompt.description,
    }
    if prompt.argument is not None:
        argument, description, required = prompt.argument
        declared["arguments"] = [
            {"name": argument, "description": description, "required": required}
        ]
    return declared
