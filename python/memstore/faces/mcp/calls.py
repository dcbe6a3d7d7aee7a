"""Calls of tools: finding the function, and returning its answer or error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.domain import clock
from memstore.domain.records import Scope
from memstore.errors import Explained
from memstore.faces import wording
from memstore.faces.escaping import as_json
from memstore.faces.mcp import lines, searches
from memstore.faces.mcp.answers import Answer, to_text
from memstore.faces.mcp.protocol import INTERNAL_ERROR, Refused
from memstore.faces.mcp.tool import ToolError
from memstore.faces.mcp.tools import Tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.store.store import Store

Answered = TypeVar("Answered")

SIGNS: Final = {"episodes": "e", "learn": "proposal "}
"""What stands before an id in the answers of a tool set, if it is not a fact's."""


class Calls:
    """Runs the functions of the tools that a catalogue offers.

    Args:
        on_error: called with each error that a tool answers with, as it was raised.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        generator: Callable[[], JSONGenerator | None],
        on_error: Callable[[BaseException], object] = lambda _error: None,
    ) -> None:
        self._catalogue = catalogue
        self._on_error = on_error
        self._tools = Tools(generator)

    def confined(self, catalogue: Catalogue) -> Calls:
        """Return the same tools with another catalogue, of which the owners differ."""
        other = Calls(catalogue, lambda: None, self._on_error)
        other._tools = self._tools
        return other

    def answer(self, open_store: Callable[[], Store], params: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool and return the result of the call. Blocks."""
        name, arguments = params["name"], params.get("arguments") or {}
        try:
            offered = self._catalogue.find(name)
            if offered is None:
                raise ToolError(
                    f"there is no tool {name[:60]!r} here: use one of "
                    f"{', '.join(self._catalogue.tools)}"
                )
            began = clock.monotonic()
            with searches.noted() as asked:
                answer = self._tools[offered].call(
                    open_store,
                    arguments,
                    self._catalogue.shown,
                    Scope(**self._catalogue.owners),
                    confined=self._catalogue.confined,
                )
        except ToolError as error:
            self._on_error(error.__cause__ or error)
            return {"content": [_text(str(error))], "isError": True}
        text = written(answer, self._catalogue, arguments, SIGNS.get(offered.tool_set, "#"))
        if self._catalogue.records:
            for one in asked:
                one.record(offered.tool, text, 1000 * (clock.monotonic() - began))
        # JSON twice, as the protocol asks: some programs read only the one, some only the other.
        structured = {"structuredContent": answer} if self._catalogue.answers == "json" else {}
        return {"content": [_text(text)], **structured, "isError": False}


def written(
    answer: Answer,
    catalogue: Catalogue,
    arguments: Mapping[str, Any] | None = None,
    sign: str = "#",
) -> str:
    """Return an answer as text, in the catalogue's form; ``sign`` as in :class:`lines.Manner`."""
    if catalogue.answers == "json":
        return to_text(answer)
    history = catalogue.shown["memory_history"]
    return lines.written(answer, lines.Manner(arguments or {}, history, sign))


def explained(work: Callable[[], Answered]) -> Answered:
    """Run a request other than a tool call; turn errors into :class:`Refused`."""
    try:
        return work()
    except (Explained, ValueError) as error:
        raise Refused(INTERNAL_ERROR, as_json(wording.in_server(error))) from error
    except Exception:
        raise
    except BaseException as error:  # a panic of the kernel would end the server over HTTP
        raise Refused(INTERNAL_ERROR, "the request failed unexpectedly") from error


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
