"""A tool: a function on the store, its arguments as a schema, its errors as text."""

from __future__ import annotations

import inspect
import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, get_type_hints

from memstore.domain.arguments import MAX_NAME
from memstore.domain.records import SCOPE_FIELDS, Scope
from memstore.errors import Explained
from memstore.faces import wording
from memstore.faces.escaping import as_json
from memstore.faces.mcp.answers import Answer, seen
from memstore.faces.mcp.arguments import (
    Argument,
    BeforeValidator,
    Field,
    WithJsonSchema,
    argument,
    from_json,
)
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

Id: TypeAlias = Annotated[int, Field(ge=1), WithJsonSchema({"type": "integer"})]
Name: TypeAlias = Annotated[str, Field(max_length=MAX_NAME)]
Object: TypeAlias = Annotated[dict[str, Any], BeforeValidator(from_json)]


class ToolError(Exception):
    """What went wrong in a call, in words that its model can act on."""


@dataclass(frozen=True)
class Tool:
    """One tool. The function's docstring tells the model when to use it.

    Args:
        function: takes the store and typed arguments; returns the answer.
        title: what people see in place of the name.
        answers: the schema of its answer.
        alias: another name it is called by, where its own may be that of another server's tool.
        reads: it changes nothing.
        destroys: it takes something away.
        repeats: calling it again with the same arguments changes nothing more.
        nulls: the value of an argument that is given as null, where null means something.
        tells_owners: its schema has the owners' arguments; it takes them whether or not.

    A function that takes ``owner`` gets the :class:`Scope` that ``user_id``, ``agent_id`` and
    ``run_id`` make.
    """

    function: Callable[..., Answer]
    title: str
    answers: Mapping[str, Any] = field(hash=False)
    alias: str | None = None
    reads: bool = False
    destroys: bool = False
    repeats: bool = False
    nulls: Mapping[str, Any] = field(default_factory=dict, hash=False)
    tells_owners: bool = False

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def declaration(self) -> dict[str, Any]:
        """What ``tools/list`` says of it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": " ".join(inspect.cleandoc(self.function.__doc__ or "").split()),
            "inputSchema": self._schema(),
            "outputSchema": self.answers,
            "annotations": {
                "readOnlyHint": self.reads,
                "destructiveHint": self.destroys,
                "idempotentHint": self.reads or self.repeats,
                "openWorldHint": False,
            },
        }

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
            named = self._read(said)
            if self._is_owned:
                named[OWNER] = Scope(**{name: named.pop(name) for name in SCOPE_FIELDS})
            with noted() as redacted:
                answer: Answer = seen(self.function(open_store(), **named))
            return answer | ({"redacted": sorted(redacted)} if redacted else {})
        except ToolError:
            raise
        except (Explained, ValueError) as error:
            raise ToolError(_clipped(wording.in_server(error))) from error
        except Exception as error:
            logger.exception("%s failed", self.name)
            raise ToolError(
                _clipped(f"{self.name} failed unexpectedly ({type(error).__name__}: {error})")
            ) from error

    def _schema(self) -> dict[str, Any]:
        shown = {
            name: one
            for name, one in self._arguments.items()
            if self.tells_owners or not (self._is_owned and name in SCOPE_FIELDS)
        }
        # Not "additionalProperties": some hosts refuse the keyword, and unknown ones are refused.
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: one.schema for name, one in shown.items()},
        }
        required = [name for name, one in shown.items() if one.required]
        return schema | ({"required": required} if required else {})

    @cached_property
    def _is_owned(self) -> bool:
        return OWNER in inspect.signature(self.function).parameters

    @cached_property
    def _arguments(self) -> dict[str, Argument]:
        types = get_type_hints(self.function, include_extras=True)
        _, *parameters = inspect.signature(self.function).parameters.values()
        arguments: dict[str, Argument] = {}
        for parameter in parameters:
            if parameter.name == OWNER:
                arguments |= {name: argument(str | None, None) for name in SCOPE_FIELDS}
            elif parameter.default is parameter.empty:
                arguments[parameter.name] = argument(types[parameter.name])
            else:
                arguments[parameter.name] = argument(types[parameter.name], parameter.default)
        return arguments

    def _read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return every argument as the function takes it.

        Raises:
            ToolError: names each argument that is wrong, and what the tool takes; it never repeats
                a value that was given.
        """
        read: dict[str, Any] = {}
        faults = []
        for name, one in self._arguments.items():
            if name not in given:
                if one.required:
                    faults.append(f"{name} is missing")
                read[name] = one.default
                continue
            try:
                read[name] = one.read(given[name])
            except ValueError as error:
                faults.append(f"{name}: {error}")
        unknown = [name for name in given if name not in self._arguments]
        faults += [f"there is no argument {name[:60]!r}" for name in unknown]
        if faults:
            takes = ", ".join(
                name if one.required else f"{name}?" for name, one in self._arguments.items()
            )
            raise ToolError(
                _clipped(
                    f"{'; '.join(faults[:SHOWN_FAULTS])}. {self.name} takes "
                    f"{takes or 'no arguments'}."
                )
            )
        return read


def _clipped(text: str) -> str:
    text = as_json(text)  # it may quote what is stored
    if len(text) <= ERROR_CHARACTERS:
        return text
    return f"{text[:ERROR_CHARACTERS]}… ({len(text) - ERROR_CHARACTERS:,} characters cut)"
