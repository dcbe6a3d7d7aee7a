"""The tool set ``learn``: a language model reads conversations and texts to remember facts."""

# No postponed annotations here: the schemas are made from the evaluated ones.

import threading
from collections.abc import Callable
from typing import Annotated, Any

from memstore.domain.arguments import MAX_CONTENT
from memstore.domain.protocols import JSONGenerator
from memstore.domain.records import Scope
from memstore.faces.mcp import answer_schemas
from memstore.faces.mcp.answers import Answer, of_decided, of_extraction, of_learned, of_proposals
from memstore.faces.mcp.arguments import BeforeValidator, Field, WithJsonSchema, from_json
from memstore.faces.mcp.tool import Id, Name, Object, Tool
from memstore.learn.extraction import Extractor
from memstore.learn.memory import Memory
from memstore.prompting.messages import ROLES
from memstore.store.store import Store

NO_GENERATOR = (
    "this server has no language model: start it with --generator "
    "ollama|openai|anthropic, or MEMSTORE_GENERATOR{else_}"
)


def _listed(value: object) -> object:
    """Read an array passed as JSON text, as some hosts do; other text is a user's message."""
    read = from_json(value)
    return read if isinstance(read, list) and read and isinstance(read[0], dict) else value


MESSAGES_SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "role": {"type": "string", "enum": list(ROLES)},
            "content": {"type": "string"},
            "name": {"type": "string"},
            "at": {"type": "string", "description": "when it was said, RFC 3339"},
        },
        "required": ["role", "content"],
    },
}

Messages = Annotated[str | list[Any], BeforeValidator(_listed), WithJsonSchema(MESSAGES_SCHEMA)]
Action = Annotated[str, WithJsonSchema({"type": "string", "enum": ["list", "accept", "reject"]})]


class Learning:
    """The tools, and the generator they share, which is created by the first call."""

    def __init__(self, make: Callable[[], JSONGenerator | None]) -> None:
        self._make = make
        self._making = threading.Lock()
        self._model: JSONGenerator | None = None

    def tools(self) -> tuple[Tool, ...]:
        return (
            Tool(
                self.memory_add, "Learn from a conversation", answer_schemas.LEARNED, destroys=True
            ),
            Tool(self.memory_extract, "Extract facts from a text", answer_schemas.EXTRACTED),
            Tool(
                self.memory_proposals, "Review proposals", answer_schemas.PROPOSALS, destroys=True
            ),
        )

    def memory_add(
        self,
        store: Store,
        messages: Messages,
        metadata: Object | None = None,
        thread: Annotated[str | None, Field(description="conversation that it continues")] = None,
        infer: Annotated[bool, Field(description="false stores each message word for word")] = True,
        every_role: Annotated[
            bool, Field(description="with infer=false, system and tool messages too")
        ] = False,
        *,
        owner: Scope,
    ) -> Answer:
        """Learn from a conversation: a model extracts facts, compares them with the same owners'
        memories, and adds, updates or deletes memories. Repeating it after an error is safe.
        """
        memory = Memory(store, self._generator(", or pass infer=false") if infer else None)
        return of_learned(
            memory.add(
                messages,
                metadata=metadata,
                thread=thread,
                infer=infer,
                every_role=every_role,
                **owner.ids,
            )
        )

    def memory_extract(
        self,
        store: Store,
        text: Annotated[str, Field(max_length=MAX_CONTENT)],
        subject: Annotated[
            Name | None, Field(description="subject of facts that name none")
        ] = None,
        source: Name | None = None,
        metadata: Object | None = None,
        *,
        owner: Scope,
    ) -> Answer:
        """Store the facts in a text. Replacing an older fact is only proposed."""
        extractor = Extractor(store, self._generator(), scope=owner)
        return of_extraction(extractor.extract(text, subject, metadata, source=source))

    def memory_proposals(
        self,
        store: Store,
        action: Action = "list",
        id: Id | None = None,  # noqa: A002 - the tool's argument
        *,
        owner: Scope,
    ) -> Answer:
        """List proposals to replace an older fact by a newer one, or several facts by one text;
        or decide one by its id.
        """
        if action == "list" and id is None:
            return of_proposals(store.proposals.list(scope=owner))
        decide = {"accept": store.proposals.accept, "reject": store.proposals.reject}
        if action not in decide or id is None:
            raise ValueError('action is "list", without an id, or "accept" or "reject" with one')
        return of_decided(decide[action](id, scope=owner))

    def _generator(self, else_: str = "") -> JSONGenerator:
        with self._making:
            if self._model is None:
                self._model = self._make()
        if self._model is None:
            raise ValueError(NO_GENERATOR.format(else_=else_))
        return self._model
