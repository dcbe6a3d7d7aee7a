"""The tools as a server offers them, called in this process; answers are checked by schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

from memstore import JSONGenerator, Store
from memstore.faces.mcp import catalogue
from memstore.faces.mcp.tool import Tool
from memstore.faces.mcp.tools import Tools


@cache  # checking a schema takes longer than most calls
def _validator(schema: str) -> Draft202012Validator:
    checked = json.loads(schema)
    Draft202012Validator.check_schema(checked)
    return Draft202012Validator(checked)


class Offered(NamedTuple):
    """A tool and its entry in the catalogue."""

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
        """Return the parts that a model may see, without the output schema."""
        every = {key for key in self.declaration if key != "outputSchema"}
        return {key: self.declaration[key] for key in self.declaration if key in (keys or every)}

    def call(self, open_store: Callable[[], Store], given: Mapping[str, Any]) -> dict[str, Any]:
        answer = self.tool.call(open_store, given)
        _validator(json.dumps(self.declaration["outputSchema"])).validate(answer)
        return answer


def offered(
    names: str = catalogue.DEFAULT_TOOLS,
    *,
    read_only: bool = False,
    generator: Callable[[], JSONGenerator | None] = lambda: None,
) -> dict[str, Offered]:
    """Return the tools selected by names in the syntax of ``--tools``."""
    tools = Tools(generator)
    chosen = catalogue.offered(names, read_only=read_only, answers="json")
    return {name: Offered(one, tools[one]) for name, one in chosen.tools.items()}


def instructions(tools: Mapping[str, Offered]) -> str:
    listed = {name: one.listed for name, one in tools.items()}
    return catalogue.offered()._replace(tools=listed).instructions
