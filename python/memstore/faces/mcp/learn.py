"""The tool set ``learn``: a language model reads conversations and texts to remember facts."""

# No postponed annotations here: the schemas are made from the evaluated ones.

import threading
from collections.abc import Callable
from typing import Annotated, Any

from memstore.domain.arguments import MAX_CONTENT
from memstore.domain.proposals import Proposal, ProposalState
from memstore.domain.protocols import JSONGenerator
from memstore.errors import Conflict, NotFound
from memstore.faces.mcp import answer_schemas
from memstore.faces.mcp.answers import (
    Answer,
    of_decided,
    of_decisions,
    of_extraction,
    of_learned,
    of_proposals,
)
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
ACTIONS = ("list", "rejected", "accept", "reject", "reopen")
Action = Annotated[str, WithJsonSchema({"type": "string", "enum": list(ACTIONS)})]


LISTED = {"list": ProposalState.OPEN, "rejected": ProposalState.REJECTED}
"""The actions that list proposals, with the state of these."""

WHICH = (
    'action is "list" or "rejected", without an id, or "accept", "reject" or "reopen" with an id '
    "or a subject"
)


def _decision(decide: Callable[[int], Proposal], one: Proposal) -> Proposal | tuple[Proposal, str]:
    """Decide one of several; return why not if another decision stands against it."""
    try:
        return decide(one.id)
    except (Conflict, NotFound) as error:
        return one, str(error)


class Learning:
    """The tools, and the generator they share, which is created by the first call."""

    def __init__(self, make: Callable[[], JSONGenerator | None]) -> None:
        self._make = make
        self._making = threading.Lock()
        self._model: JSONGenerator | None = None

    def tools(self) -> tuple[Tool, ...]:
        return (
            Tool(
                self.memory_add,
                "Learn from a conversation",
                answer_schemas.LEARNED,
                destroys=True,
                unasked=True,
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
    ) -> Answer:
        """Store the facts in a text. Replacing an older fact is only proposed."""
        extractor = Extractor(store, self._generator())
        return of_extraction(extractor.extract(text, subject, metadata, source=source))

    def memory_proposals(
        self,
        store: Store,
        action: Action = "list",
        id: Id | None = None,  # noqa: A002 - the tool's argument
        subject: Name | None = None,
    ) -> Answer:
        """List proposals to replace facts by a newer text, or those rejected; decide one by its id,
        or all of a subject.
        """
        if action in LISTED and id is None:
            return of_proposals(store.proposals.questions(LISTED[action], subject=subject))
        decide = {
            "accept": store.proposals.accept,
            "reject": store.proposals.reject,
            "reopen": store.proposals.reopen,
        }.get(action)
        if decide is None or (id is None) == (subject is None):
            raise ValueError(WHICH)
        if id is not None:
            return of_decided(decide(id))
        state = ProposalState.REJECTED if action == "reopen" else ProposalState.OPEN
        found = store.proposals.list(state, subject=subject)
        return of_decisions([_decision(decide, one) for one in found])

    def _generator(self, else_: str = "") -> JSONGenerator:
        with self._making:
            if self._model is None:
                self._model = self._make()
        if self._model is None:
            raise ValueError(NO_GENERATOR.format(else_=else_))
        return self._model
