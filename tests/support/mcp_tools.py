"""The tools as a server offers them, to be called in this process; each answer fits its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jsonschema

from memstore import JSONGenerator, Store
from memstore.faces.mcp import catalogue
from memstore.faces.mcp.tool import Tool
from memstore.faces.mcp.tools import Tools


class Offered(NamedTuple):
    """A tool with what the catalogue says of it."""

    listed: catalogue.Offered
    tool: Tool

    @property
    def name(self) -> str:
        return self.listed.name

    @property
    def reads(self) -> bool:
        return self.listed.reads

    @property
    def declaration(self) -> dict[str, Any]:
        return self.listed.declaration

    def shown(self, *keys: str) -> dict[str, Any]:
        """Return what a model may see of it, or just these parts: no schema of its answers."""
        every = {key for key in self.declaration if key != "outputSchema"}
        return {key: self.declaration[key] for key in self.declaration if key in (keys or every)}

    def call(self, open_store: Callable[[], Store], given: Mapping[str, Any]) -> dict[str, Any]:
        answer = self.tool.call(open_store, given)
        jsonschema.validate(answer, self.declaration["outputSchema"])
        return answer


def offered(
    names: str = catalogue.DEFAULT_TOOLS,
    *,
    read_only: bool = False,
    generator: Callable[[], JSONGenerator | None] = lambda: None,
) -> dict[str, Offered]:
    """Return the tools of the names, as ``--tools`` takes them."""
    tools = Tools(generator)
    chosen = catalogue.offered(names, read_only=read_only)
    return {name: Offered(one, tools[one]) for name, one in chosen.tools.items()}


def instructions(tools: Mapping[str, Offered]) -> str:
    listed = {name: one.listed for name, one in tools.items()}
    return catalogue.offered()._replace(tools=listed).instructions
