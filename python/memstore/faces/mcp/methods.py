"""The methods of the protocol, for stdio and HTTP alike.

Only tools, resources, completions and prompts may need the store; the others are answered at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from memstore import __version__
from memstore.faces.mcp import prompts
from memstore.faces.mcp.protocol import INVALID_PARAMS, RESOURCE_NOT_FOUND, Refused
from memstore.lazy import cached_property, lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.mcp import calls, resources
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.store.store import Store
else:  # imported with the store
    calls = lazy_import("memstore.faces.mcp.calls")
    resources = lazy_import("memstore.faces.mcp.resources")

Result = dict[str, Any]

NAME: Final = "memstore"

STARTUP: Final = {
    "uri": "memory://startup",
    "name": "startup",
    "title": "Start-up",
    "description": "What a session begins with: tasks, the user, the project, the last sessions",
}

PLAIN_TEXT: Final = {"mimeType": "text/plain"}

SUBJECT: Final = {
    "uriTemplate": "memory://subject/{name}",
    "name": "subject",
    "title": "Facts about a subject",
    "description": "The newest facts about one subject",
}

MIME_TYPES: Final = {"lines": "text/plain", "json": "application/json"}

MAX_COMPLETIONS: Final = 100
"""The protocol allows no more."""


class StoreSource(Protocol):
    """Opens the store for calls."""

    def start(self) -> None:
        """Begin opening the store, without waiting."""

    def store(self) -> Store:
        """Return the store once it is open; raise the error if it cannot be opened."""
        ...


class Methods:
    """Answers requests whose parameters have been checked.

    Args:
        generator: makes the language model of the set ``learn``.
        logging: whether log messages can be sent.
        on_error: called with each error that a tool answers with.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        generator: Callable[[], JSONGenerator | None] = lambda: None,
        *,
        logging: bool = False,
        on_error: Callable[[BaseException], object] = lambda _error: None,
    ) -> None:
        self.catalogue = catalogue
        self._generator = generator
        self._logging = logging
        self._on_error = on_error

    def confined(self, owners: Mapping[str, str]) -> Methods:
        """Return the same methods for calls that reach only the memories of these owners."""
        catalogue = self.catalogue._replace(owners=owners, confined=True)
        other = Methods(catalogue, self._generator, logging=self._logging, on_error=self._on_error)
        other.__dict__["tool_calls"] = self.tool_calls.confined(catalogue)
        return other

    @property
    def capabilities(self) -> Result:
        unchanging = {"listChanged": False}
        offered: Result = {"prompts": unchanging} if prompts.listed(self.catalogue) else {}
        offered |= {
            "resources": {"subscribe": False, **unchanging},
            "tools": unchanging,
            "completions": {},
        }
        return offered | ({"logging": {}} if self._logging else {})

    @property
    def server_info(self) -> Result:
        return {"name": NAME, "version": __version__}

    @property
    def instructions(self) -> str:
        return self.catalogue.instructions

    @cached_property
    def tool_calls(self) -> calls.Calls:
        """Runs the tools; used only with the store, which is imported then."""
        return calls.Calls(self.catalogue, self._generator, self._on_error)

    @property
    def _mime_type(self) -> Result:
        return {"mimeType": MIME_TYPES[self.catalogue.answers]}

    # -- at once -----------------------------------------------------------------------------------

    def list_tools(self) -> Result:
        return {"tools": self.catalogue.listed}

    def list_prompts(self) -> Result:
        return {"prompts": prompts.listed(self.catalogue)}

    def list_resources(self) -> Result:
        return {"resources": [STARTUP | PLAIN_TEXT]}

    def list_templates(self) -> Result:
        return {"resourceTemplates": [SUBJECT | self._mime_type]}

    # -- with the store ----------------------------------------------------------------------------

    def get_prompt(self, source: StoreSource, params: Mapping[str, Any]) -> Result:
        arguments = params.get("arguments") or {}
        return prompts.got(self.catalogue, source.store, params["name"], arguments)

    def read_resource(
        self, source: StoreSource, params: Mapping[str, Any], *, older: bool
    ) -> Result:
        """Return a resource; the error code for a missing one depends on the era."""
        uri = params["uri"]
        shown, owners = self.catalogue.shown, self.catalogue.owners
        answer = calls.explained(lambda: resources.read(source.store(), uri, shown, owners))
        if answer is None:
            missing = RESOURCE_NOT_FOUND if older else INVALID_PARAMS
            raise Refused(missing, "there is no such resource", {"uri": uri[:1_000]})
        if isinstance(answer, str):
            return {"contents": [{"uri": uri, **PLAIN_TEXT, "text": answer}]}
        text = calls.written(answer, self.catalogue)
        return {"contents": [{"uri": uri, **self._mime_type, "text": text}]}

    def complete(self, source: StoreSource, params: Mapping[str, Any]) -> Result:
        ref, argument = params["ref"], params["argument"]
        if ref["type"] == "ref/resource":
            known = ref["uri"] == SUBJECT["uriTemplate"] and argument["name"] == "name"
        else:
            known = ref["name"] in prompts.PROMPTS
        if not known:
            raise Refused(INVALID_PARAMS, "there is nothing of this name to complete")
        found: list[str] = []
        if argument["name"] in ("name", "topic"):
            found = calls.explained(
                lambda: resources.subjects(
                    source.store(), argument["value"], MAX_COMPLETIONS + 1, self.catalogue.owners
                )
            )
        has_more = len(found) > MAX_COMPLETIONS
        completion = {"values": found[:MAX_COMPLETIONS], "hasMore": has_more}
        return {"completion": completion if has_more else completion | {"total": len(found)}}
