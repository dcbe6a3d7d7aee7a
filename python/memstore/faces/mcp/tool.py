"""A tool: a function on the store, its arguments as a schema, its errors as text."""

from __future__ import annotations

import inspect
import json
import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, get_type_hints

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import Tool as Declaration
from mcp.types import ToolAnnotations
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from memstore.domain.arguments import MAX_NAME
from memstore.domain.records import SCOPE_FIELDS, Scope
from memstore.errors import Explained
from memstore.faces import wording
from memstore.faces.escaping import as_json
from memstore.faces.mcp.answers import Answer, seen
from memstore.text.secrets import noted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.store.store import Store

logger = logging.getLogger(__name__)

ERROR_CHARACTERS: Final = 600
"""What an error may take; it may quote an argument, and arguments may be huge."""

SHOWN_FAULTS: Final = 3

OWNER: Final = "owner"
"""The parameter of a function that asks whose facts are meant."""

PLAINER: Final = {"dict_type": "must be an object", "string_type": "must be text"}
"""Plainer texts for faults that pydantic describes in terms of Python."""


def _no_bool(value: object) -> object:
    if isinstance(value, bool):  # JSON's true is Python's 1, and no fact's id
        raise ValueError("must be a whole number")
    return value


def from_json(value: object) -> object:
    """Some hosts pass an object or an array as its JSON text."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


Id: TypeAlias = Annotated[int, Field(ge=1), BeforeValidator(_no_bool)]
Name: TypeAlias = Annotated[str, Field(max_length=MAX_NAME)]
Object: TypeAlias = Annotated[dict[str, Any], BeforeValidator(from_json)]


@dataclass(frozen=True)
class Tool:
    """One tool. The function's docstring tells the model when to use it.

    Args:
        function: takes the store and typed arguments; returns the answer.
        reads: it changes nothing.
        destroys: it takes something away.
        repeats: calling it again with the same arguments changes nothing more.
        nulls: the value of an argument that is given as null, where null means something.
        tells_owners: its schema has the owners' arguments; it takes them whether or not.

    A function that takes ``owner`` gets the :class:`Scope` that ``user_id``, ``agent_id`` and
    ``run_id`` make.
    """

    function: Callable[..., Answer]
    reads: bool = False
    destroys: bool = False
    repeats: bool = False
    nulls: Mapping[str, Any] = field(default_factory=dict, hash=False)
    tells_owners: bool = False

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def declaration(self) -> Declaration:
        """What ``tools/list`` says of it."""
        return Declaration(
            name=self.name,
            description=" ".join(inspect.cleandoc(self.function.__doc__ or "").split()),
            input_schema=self._schema(),
            annotations=ToolAnnotations(
                read_only_hint=self.reads,
                destructive_hint=self.destroys,
                idempotent_hint=self.reads or self.repeats,
                open_world_hint=False,
            ),
        )

    def call(self, open_store: Callable[[], Store], given: Mapping[str, Any]) -> Answer:
        """Run the tool and return its answer. Blocks; meant for a worker thread.

        Raises:
            ToolError: whatever went wrong, in words the model can act on.
        """
        try:
            # Some hosts send null for what they leave out.
            said = {
                name: self.nulls.get(name) if value is None else value
                for name, value in given.items()
                if value is not None or name in self.nulls
            }
            arguments = self._arguments.model_validate(said)
            named = {name: getattr(arguments, name) for name in type(arguments).model_fields}
            if self._is_owned:
                named[OWNER] = Scope(**{name: named.pop(name) for name in SCOPE_FIELDS})
            with noted() as redacted:
                answer: Answer = seen(self.function(open_store(), **named))
            return answer | ({"redacted": sorted(redacted)} if redacted else {})
        except ValidationError as error:
            raise ToolError(_clipped(self._faults(error))) from None
        except (Explained, ValueError) as error:
            raise ToolError(_clipped(wording.in_server(error))) from error
        except Exception as error:
            logger.exception("%s failed", self.name)
            raise ToolError(
                _clipped(f"{self.name} failed unexpectedly ({type(error).__name__}: {error})")
            ) from error

    def _schema(self) -> dict[str, Any]:
        lean = _lean(self._arguments.model_json_schema())
        if self._is_owned and not self.tells_owners:
            for name in SCOPE_FIELDS:
                del lean["properties"][name]
        return lean

    @cached_property
    def _is_owned(self) -> bool:
        return OWNER in inspect.signature(self.function).parameters

    @cached_property
    def _arguments(self) -> type[BaseModel]:
        types = get_type_hints(self.function, include_extras=True)
        _, *parameters = inspect.signature(self.function).parameters.values()
        fields: dict[str, Any] = {}
        for parameter in parameters:
            if parameter.name == OWNER:
                fields |= dict.fromkeys(SCOPE_FIELDS, (str | None, None))
                continue
            required = parameter.default is parameter.empty
            default = ... if required else parameter.default
            fields[parameter.name] = (types[parameter.name], default)
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    def _faults(self, error: ValidationError) -> str:
        """Name each argument that is wrong, and what the tool takes; never the value given."""
        faults = []
        for fault in error.errors(include_url=False, include_input=False)[:SHOWN_FAULTS]:
            name = str(fault["loc"][0])[:60] if fault["loc"] else "arguments"
            if fault["type"] == "missing":
                faults.append(f"{name} is missing")
            elif fault["type"] == "extra_forbidden":
                faults.append(f"there is no argument {name!r}")
            else:
                said = fault["msg"].removeprefix("Value error, ")
                faults.append(f"{name}: {PLAINER.get(fault['type'], said)}")
        takes = ", ".join(
            name if field.is_required() else f"{name}?"
            for name, field in self._arguments.model_fields.items()
        )
        return f"{'; '.join(faults)}. {self.name} takes {takes or 'no arguments'}."


def _lean(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Drop what is useless to a model: titles, null as a choice or default, open objects.

    Closed objects too: some hosts refuse the keyword, and we refuse unknown arguments anyway.
    """
    lean = {
        key: value
        for key, value in schema.items()
        if key not in ("title", "additionalProperties") and (key, value) != ("default", None)
    }
    choices = [choice for choice in lean.pop("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        lean = _lean(choices[0]) | lean
    elif choices:
        lean["anyOf"] = choices
    if "properties" in lean:
        lean["properties"] = {name: _lean(value) for name, value in lean["properties"].items()}
    return lean


def _clipped(text: str) -> str:
    text = as_json(text)  # it may quote what is stored
    if len(text) <= ERROR_CHARACTERS:
        return text
    return f"{text[:ERROR_CHARACTERS]}… ({len(text) - ERROR_CHARACTERS:,} characters cut)"
