"""A tool: a function on the store, with its arguments as a schema and its errors as text."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, get_type_hints

from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME
from memstore.domain.records import NOBODY, SCOPE_FIELDS, Scope
from memstore.errors import Explained
from memstore.faces import wording
from memstore.faces.escaping import as_json
from memstore.faces.mcp.answers import Answer, seen
from memstore.faces.mcp.arguments import (
    REQUIRED,
    Argument,
    BeforeValidator,
    Field,
    WithJsonSchema,
    argument,
    from_json,
)
from memstore.faces.mcp.offers import followable
from memstore.frozen import field, frozen, replace
from memstore.lazy import cached_property
from memstore.store import store as stores
from memstore.text.secrets import noted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from memstore.store.store import Store


RECORDS: Final = ("facts", "said", "episodes", "before", "after", "older")
"""The members of answers, and of the records in them, that have facts or episodes."""


def with_sources(store: Store, answer: Answer) -> Answer:
    """Return an answer whose facts and episodes say where they are from, if they are of others."""
    records = [*_records(answer)]
    facts = [one["id"] for one in records if "subject" in one]
    names = {one["source"] for one in records if "subject" not in one and "source" in one}
    if facts or names:
        sources, external = stores.with_sources(store, facts, names)
        for one in records:
            if "subject" in one:
                if one["id"] in sources:
                    one["from"] = sources[one["id"]]
            elif one.get("source") in external:
                one["from"] = one["source"]
    return answer


def _records(answer: Answer) -> Iterator[dict[str, Any]]:
    for name in RECORDS:
        found = answer.get(name)
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, dict) and "content" in one:
                yield one
                yield from _records(one)


logger = logging.getLogger(__name__)

ERROR_CHARACTERS: Final = 600
"""The most characters of an error; it may quote an argument, which may be huge."""

SHOWN_FAULTS: Final = 3

NOTHING: Final = frozenset({"null", "none", "undefined"})
"""What some models write for what they leave out."""

TIMES: Final = frozenset(
    "after before valid_after valid_before valid_at expired_after expired_before as_of due".split()
)
"""Texts that are a time, so that a word of :data:`NOTHING` cannot be meant."""


def _numbered(value: Any) -> Any:
    """Read an id as the lines of an answer show it, such as ``#12``."""
    return value.strip().removeprefix("#") if isinstance(value, str) else value


def episode_id(value: object) -> int | str:
    """Read the number of an episode, which may be passed as text, or its UUID.

    Both may have the ``e`` that stands before them in the lines of an answer.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    if isinstance(value, str):
        text = value.strip().removeprefix("#")
        if len(text) != clock.UUID_CHARACTERS:
            text = text.removeprefix("e")
        if text.isascii() and text.isdigit() and len(text) < 20 and int(text):
            return int(text)
        if len(text) == clock.UUID_CHARACTERS:
            return text
    raise ValueError("an id is a whole number such as 12, or a UUID, as search returns it")


def _of_either(value: object) -> object:
    """Read the id of a fact as a number, and keep that of an episode, such as ``e12``, as text."""
    if isinstance(value, str) and value.strip()[:1] == "e":
        episode_id(value)
        return value
    number = _numbered(value)
    if isinstance(number, str):
        if not (number.isascii() and number.isdigit() and len(number) < 20):
            raise ValueError("an id is a whole number such as 12, or e12 for a turn")
        number = int(number)
    if isinstance(number, int | float) and number < 1:
        raise ValueError("must be 1 or more")
    return number


Id: TypeAlias = Annotated[
    int, Field(ge=1), BeforeValidator(_numbered), WithJsonSchema({"type": "integer"})
]
AnyId: TypeAlias = Annotated[
    int | str, BeforeValidator(_of_either), WithJsonSchema({"type": "string"})
]
"""Of a fact (12, #12), as a number; of an episode (e12), as text."""
EpisodeId: TypeAlias = Annotated[
    int | str, BeforeValidator(episode_id), WithJsonSchema({"type": "string"})
]
"""Of an episode (12, e12), as a number, or its UUID."""
Name: TypeAlias = Annotated[str, Field(max_length=MAX_NAME)]
Object: TypeAlias = Annotated[dict[str, Any], BeforeValidator(from_json)]


class ToolError(Exception):
    """An error of a call, worded so that a model can act on it."""


SHOWN: Final = {"anthropic/alwaysLoad": True}
"""Claude Code shows a tool without this only to a model that searches for it."""


@frozen
class Tool:
    """One tool. The function's docstring tells the model when to use it.

    Args:
        function: takes the store and typed arguments; returns the answer.
        title: shown to people instead of the name.
        answers: the schema of its answer.
        alias: another name, in case another server's tool has the same name.
        reads: it changes nothing.
        destroys: it removes or replaces something.
        repeats: calling it again with the same arguments changes nothing more.
        nulls: the values of arguments for which null has a meaning, when null is given.
        unasked: a model needs it when nobody asks it to, so a host should show it from the start.
        tells_owners: its schema shows the owners' arguments; it accepts them in any case.
        is_owned: it takes the owners ``user_id``, ``agent_id`` and ``run_id``, and its function
            gets the store of their memories; otherwise it is about every owner.
    """

    function: Callable[..., Answer]
    title: str
    answers: Mapping[str, Any]
    alias: str | None = None
    reads: bool = False
    destroys: bool = False
    repeats: bool = False
    nulls: Mapping[str, Any] = field(default_factory=dict)
    unasked: bool = False
    tells_owners: bool = False
    is_owned: bool = True

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def declaration(self) -> dict[str, Any]:
        """Its entry in ``tools/list``."""
        return {
            "name": self.name,
            "title": self.title,
            "description": " ".join((self.function.__doc__ or "").split()),
            "inputSchema": self._schema(),
            "outputSchema": self.answers,
            "annotations": {
                "readOnlyHint": self.reads,
                "destructiveHint": self.destroys,
                "idempotentHint": self.reads or self.repeats,
                "openWorldHint": False,
            },
            **({"_meta": SHOWN} if self.unasked else {}),
        }

    def call(
        self,
        open_store: Callable[[], Store],
        given: Mapping[str, Any],
        shown: Mapping[str, str | None] = wording.ANY_TOOL,
        owner: Scope = NOBODY,
        *,
        confined: bool = False,
    ) -> Answer:
        """Run the tool and return its answer. Blocks; meant for a worker thread.

        Args:
            open_store: returns the store.
            given: the arguments.
            shown: the name that each tool is shown by; ``None`` for those that are not offered.
            owner: the owners if the call names none.
            confined: calls may name no other user.

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
            named = self.read(said)
            if self.is_owned:
                asked = Scope(**{name: named.pop(name) for name in SCOPE_FIELDS})
                if confined and asked.user_id is None:
                    asked = replace(asked, user_id=owner.user_id)
                if confined and asked.user_id != owner.user_id:
                    raise ToolError("this access is one user's: leave user_id out")
                owner = owner if asked == NOBODY else asked
            elif confined:
                raise ToolError(f"{self.name} is about every owner, and this access is one user's")
            with noted() as redacted:
                store = open_store()
                store = store.of(owner) if self.is_owned else store
                answer: Answer = seen(with_sources(store, self.function(store, **named)))
            answer = followable(answer, shown)
            return answer | ({"redacted": sorted(redacted)} if redacted else {})
        except ToolError:
            raise
        except (Explained, ValueError) as error:
            raise ToolError(_clipped(wording.in_server(error, shown))) from error
        except BaseException as error:  # a panic of the kernel, too
            logger.exception("%s failed", self.name)
            raise ToolError(
                _clipped(f"{self.name} failed unexpectedly ({type(error).__name__}: {error})")
            ) from error

    def _schema(self) -> dict[str, Any]:
        shown = {
            name: one
            for name, one in self._arguments.items()
            if self.tells_owners or not (self.is_owned and name in SCOPE_FIELDS)
        }
        # Without "additionalProperties": some hosts reject that keyword, and unknown arguments are
        # refused anyway.
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: one.schema for name, one in shown.items()},
        }
        required = [name for name, one in shown.items() if one.required]
        return schema | ({"required": required} if required else {})

    @cached_property
    def _arguments(self) -> dict[str, Argument]:
        types = get_type_hints(self.function, include_extras=True)
        arguments: dict[str, Argument] = {}
        defaults = _defaults(self.function)
        _, *names = (name for name in types if name != "return")
        for name in names:
            arguments[name] = argument(types[name], defaults.get(name, REQUIRED))
        if self.is_owned:
            arguments |= {name: argument(str | None, None) for name in SCOPE_FIELDS}
        return arguments

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return every argument as the function takes it.

        Raises:
            ToolError: names each wrong argument and the ones that the tool takes; it never repeats
                a given value.
        """
        read: dict[str, Any] = {}
        faults = []
        for name, one in self._arguments.items():
            if name not in given or self._is_left_out(name, one, given[name]):
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

    def _is_left_out(self, name: str, one: Argument, value: Any) -> bool:
        """Whether a value is what models and proxies fill in for an argument that they leave out.

        ``""``, ``0``, ``[]``, ``{}`` and "null" are, wherever they cannot mean anything else: a
        0 that the argument takes is meant.
        """
        if one.required:
            return False
        word = value.strip().lower() if isinstance(value, str) else None
        if word is None:
            if isinstance(value, bool) or not (value == 0 or value == [] or value == {}):
                return False
        elif one.is_text:
            if not word:
                return name not in self.nulls
            return word in NOTHING and (name in TIMES or one.is_choice)
        elif word not in NOTHING | {"", "0", "[]", "{}"}:
            return False
        try:
            one.read(value)
        except ValueError:
            return True
        return False


def _defaults(function: Callable[..., Answer]) -> dict[str, Any]:
    """Return the defaults of a function or method, without ``inspect``, which takes 9 ms."""
    code = function.__code__
    names, given = code.co_varnames[: code.co_argcount], function.__defaults__ or ()
    return dict(zip(names[len(names) - len(given) :], given, strict=True))


def _clipped(text: str) -> str:
    text = as_json(text)  # it may quote stored text
    if len(text) <= ERROR_CHARACTERS:
        return text
    return f"{text[:ERROR_CHARACTERS]}… ({len(text) - ERROR_CHARACTERS:,} characters cut)"
