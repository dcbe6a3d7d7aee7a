"""mem0's ``Memory`` and ``AsyncMemory`` on a store, without mem0.

A memory is a chain of facts under the external key ``mem0:<id>``, so its id survives updates, and
each version stays. Its owners are the fact's owners; its subject is the first of them. The metadata
holds what mem0 calls the payload: the caller's metadata, ``role``, ``actor_id``,
``expiration_date``, ``created_at`` and ``updated_at``. A text that no fact can have (blank, or with
a NUL) stands in the metadata, under ``data``. Facts that were stored in other ways are memories,
too; their id is the number of the first fact of their chain.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import uuid
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

from memstore.adapters.mem0_filters import entity_id, selected
from memstore.adapters.opened import Opened
from memstore.adapters.values import check_json
from memstore.adapters.waiting import finished, in_thread
from memstore.domain import clock, zones
from memstore.domain.arguments import MAX_NUMBER, stored_text
from memstore.domain.queries import FactSearch
from memstore.domain.records import (
    EVERYBODY,
    NOBODY,
    SCOPE_FIELDS,
    TODO,
    AtLeast,
    NewFact,
    Scope,
)
from memstore.domain.results import CLASSIC
from memstore.errors import FactChanged, InvalidArgument, InvalidArgumentType
from memstore.learn import memory as learning
from memstore.store.store import search_among

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    from memstore.adapters.mem0_filters import Selected
    from memstore.adapters.opened import StoreOrPath
    from memstore.domain.protocols import Generator
    from memstore.domain.records import Fact, SearchHit
    from memstore.learn.memory_view import MemoryEvent
    from memstore.store.store import Store

SOURCE: Final = "mem0"
KEY_PREFIX: Final = "mem0:<"
KEY_SUFFIX: Final = ">"
"""Ends a key, so that no key begins with another one."""

TEXT: Final = "data"
CREATED: Final = "created_at"
UPDATED: Final = "updated_at"
EXPIRY: Final = "expiration_date"
ACTOR: Final = "actor_id"
ROLE: Final = "role"

IDENTITY: Final = (*SCOPE_FIELDS, ACTOR)
"""Keys that metadata does not set."""
PROMOTED: Final = (*SCOPE_FIELDS, ACTOR, ROLE, "attributed_to", EXPIRY)
"""Keys of the payload that stand in a memory itself."""
COMPUTED: Final = frozenset({TEXT, "hash", "id", "text_lemmatized", UPDATED})
"""Keys of metadata that mem0 overwrites or hides."""

BLANK: Final = "(blank)"
"""The content of a fact whose text is blank."""
STATES: Final = ("active", "expired")
MAX_HITS: Final = 1000
"""The most hits that a search returns."""
PAGE: Final = 1000
"""Facts that are read at once where each is checked."""

UNSET: Final = object()

logger = logging.getLogger(__name__)


class ValidationError(InvalidArgument):
    """What mem0 calls ``mem0.exceptions.ValidationError``, for programs that do not import it.

    If ``mem0.exceptions`` is imported, its own class is raised.
    """

    def __init__(
        self, message: str, error_code: str, details: dict[str, Any], suggestion: str
    ) -> None:
        super().__init__(message)
        self.message = message
        self.error_code = error_code
        self.details = details
        self.suggestion = suggestion
        self.debug_info: dict[str, Any] = {}


class Memory:
    """mem0's ``Memory`` on a store; safe to share between threads.

    Args:
        store: an open store, or the path or URL of a memory, which :meth:`close` then closes.
        generator: the model that reads messages (``infer=True``), or the name of its provider.
        namespace: the namespace of the memories; by default the store's.
    """

    def __init__(
        self,
        store: StoreOrPath,
        generator: str | Generator | None = None,
        *,
        namespace: str | None = None,
    ) -> None:
        self._opened = Opened(store, SOURCE, namespace)
        self._store = self._opened.store
        self._learning = None
        if generator is not None:
            self._learning = learning.Memory(self._store, generator)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Return a memory of a configuration: ``store``, ``generator`` and ``namespace``.

        Raises:
            InvalidArgument: another key: mem0's models and vector stores have no meaning here.
        """
        known = ("store", "generator", "namespace")
        if unknown := [key for key in config_dict if key not in known]:
            raise InvalidArgument(
                f"has {unknown[0]!r}; it may have {', '.join(known)}", argument="config_dict"
            )
        return cls(**config_dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, if it was opened from a path."""
        self._opened.close()

    # -- storing -----------------------------------------------------------------------------

    def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Store messages, or what a model learns from them; all of it in one transaction.

        Args:
            messages: a text, ``{"role": …, "content": …}``, or a list of those.
            metadata: a JSON object to store with each memory.
            expiration_date: the last day (in UTC) on which they hold: a date, or its text.
            infer: ``False`` stores each message as it is; ``True`` needs a generator.
            timestamp, memory_type, prompt: are not supported, and refused.

        Raises:
            ValidationError: no owner, or messages of another type.
            ValueError: a blank owner, a bad date, ``infer`` without a generator, a text that is
                too long, or metadata that is not JSON; nothing was stored.
        """
        _refuse(timestamp is not None, "timestamp")
        expiry = _date(expiration_date)
        scope = _scope(user_id, agent_id, run_id)
        if scope == NOBODY:
            raise _invalid(
                "At least one of 'user_id', 'agent_id', or 'run_id' must be provided.",
                "VALIDATION_001",
                {"provided_ids": scope.ids},
                "Please provide at least one identifier to scope the memory operation.",
            )
        payload = _without_identity(metadata, {}, "add()")
        if expiry is not None:
            payload[EXPIRY] = expiry
        if memory_type not in (None, "procedural_memory"):
            raise _invalid(
                "Invalid 'memory_type'. Please pass procedural_memory to create procedural "
                "memories.",
                "VALIDATION_002",
                {"provided_type": memory_type, "valid_type": "procedural_memory"},
                "Leave it out.",
            )
        _refuse(memory_type is not None, "memory_type")
        read = [*_messages(messages)]
        if infer:
            _refuse(prompt is not None, "prompt")
            return {"results": self._learn(read, payload, scope)}
        return {"results": self._store_as_they_are(read, payload, scope)}

    def _store_as_they_are(
        self, messages: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any], scope: Scope
    ) -> list[dict[str, Any]]:
        now = clock.utc_now().isoformat()
        results, facts = [], []
        for message in messages:
            if message[ROLE] == "system":
                continue
            actor, text, id_ = message.get("name") or None, message["content"], str(uuid.uuid4())
            payload = {CREATED: now, **metadata, ROLE: message[ROLE]}
            payload |= {} if actor is None else {ACTOR: actor}
            payload[UPDATED] = payload[CREATED]
            facts.append(_new_fact(text, payload, scope, external_key=_key(id_)))
            results.append(
                {"id": id_, "memory": text, "event": "ADD", ACTOR: actor, ROLE: message[ROLE]}
            )
        self._store.keys.put(facts)
        return results

    def _learn(
        self, messages: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any], scope: Scope
    ) -> list[dict[str, Any]]:
        if self._learning is None:
            raise InvalidArgument(
                "needs a model: pass one (Memory(store, generator=…)), or infer=False to store the "
                "messages as they are",
                argument="infer=True",
            )
        owners = {name: owner for name, owner in scope.ids.items() if owner is not None}
        events = self._learning.add(messages, metadata=metadata or None, infer=True, **owners)
        changed = {event["id"]: event for event in events if event["id"] is not None}
        changed = {id_: event for id_, event in changed.items() if event["event"] != "NONE"}
        facts = self._store.get_many([*changed])
        expiry = _expires(metadata)
        for fact in facts if expiry is not None else ():
            if changed[fact.id]["event"] != "DELETE":
                self._store.set_expiry(fact.id, expiry)
        return [_learned(item["id"], changed[fact.id]) for item, fact in self._items(facts)]

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        expiration_date: Any = UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change the text, the metadata or the expiry of a memory; the version before stays.

        Args:
            metadata: keys to set; the others stay.
            expiration_date: the last day on which it holds; ``None`` for no end.
            data: the former name of ``text``.

        Raises:
            ValueError: no such memory, nothing to change, or something that cannot be stored.
        """
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is UNSET:
            raise InvalidArgument(
                "At least one of text, metadata, or expiration_date must be provided."
            )
        if text is not None:
            stored_text(text, "text")
        patch = dict(metadata or {})
        check_json(patch, "metadata")
        if expiration_date is not UNSET:
            patch[EXPIRY] = _date(expiration_date)

        def updated(store: Store, fact: Fact) -> None:
            item = self._item(fact)
            payload = fact.metadata | _without_identity(patch, _payload(fact), "update()")
            payload |= {CREATED: item[CREATED], UPDATED: clock.utc_now().isoformat()}
            new = item["memory"] if text is None else text
            keeps_expiry = EXPIRY not in patch
            following = _next_fact(fact, new, payload, keeps_expiry=keeps_expiry)
            (store.add_many if fact.external_key is None else store.keys.put)([following])

        missing = "not found. Please provide a valid 'memory_id'"
        self._change(memory_id, updated, missing)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Delete a memory; ``restore()`` of the store can bring it back.

        Raises:
            ValueError: no such memory.
        """
        self._change(memory_id, lambda store, fact: store.delete(fact.id), "not found")
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Delete all memories of these owners, whatever other owners they have too.

        Raises:
            ValueError: no owner, or a blank one.
        """
        scope = _scope(user_id, agent_id, run_id)
        if scope == NOBODY:
            raise InvalidArgument(
                "At least one filter is required to delete all memories. If you want to delete all "
                "memories, use the `reset()` method."
            )
        self._store.of(AtLeast(**scope.ids)).delete_all(include_expired=True)
        return {"message": "Memories deleted successfully!"}

    def reset(self) -> None:
        """Delete all memories that have an owner; the store can restore each of them."""
        for owner in self._store.owners(limit=MAX_NUMBER):
            if owner.facts and owner.scope != NOBODY:
                self._store.of(owner.scope).delete_all(include_expired=True)

    def _change(
        self, memory_id: object, change: Callable[[Store, Fact], object], missing: str
    ) -> None:
        """Change a memory as it is at that moment; what others change meanwhile is read again."""
        # It does not give up: whenever it has to begin again, another's change has succeeded.
        while True:
            line = self._store.line
            fact = self._current(memory_id)
            if fact is None:
                raise InvalidArgument(f"Memory with id {memory_id} {missing}")
            try:
                change(self._store.unless_changed([fact.id], line), fact)
            except FactChanged:
                continue
            return

    # -- finding -----------------------------------------------------------------------------

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory, expired or not; ``None`` if there is none with this id."""
        fact = self._current(memory_id)
        return None if fact is None else self._item(fact)

    def get_all(
        self,
        /,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return memories, the last stored or updated first.

        Args:
            filters: owners and conditions on metadata; at least one owner.
            top_k: the maximum number.
            show_expired: return expired ones, too.

        Raises:
            ValueError: owners outside ``filters``, none in it, or an unknown operator.
        """
        _refuse_owners(kwargs, "get_all")
        _check_top_k(top_k)
        chosen = selected(filters)
        found = self._listed(chosen, top_k, STATES if show_expired else STATES[:1])
        return {"results": [_unscored(item) for item, _ in self._items(found)]}

    def _listed(self, chosen: Selected, limit: int, states: Sequence[str]) -> list[Fact]:
        found: list[Fact] = []
        size, before = PAGE if limit > PAGE or not chosen.rule.is_whole else limit, None
        while len(found) < limit:
            page = self._store.of(chosen.scope).list(
                filters=chosen.rule.conditions,
                states=states,
                tasks=False,
                newest_first=True,
                limit=size,
                before_id=before,
            )
            found += [fact for fact in page if fact.scope != NOBODY and chosen.passes(fact)]
            if len(page) < size:
                break
            before = page[-1].id
        return found[:limit]

    def search(
        self,
        /,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Find memories by words and by meaning, best first.

        Args:
            top_k: the maximum number; more than 1000 are not found.
            filters: owners and conditions on metadata; at least one owner.
            threshold: the lowest score, 0 to 1; ``None`` for 0.1.
            rerank: there is no other ranking; it is ignored, as by mem0 without a reranker.
            explain: add the parts of each score, as ``score_details``.
            reference_date: is not supported, and refused.
            show_expired: return expired ones, too.

        Raises:
            ValueError: owners outside ``filters``, none in it, a blank query, an unknown operator.
        """
        _refuse(reference_date is not None, "reference_date")
        _refuse_owners(kwargs, "search")
        _check_top_k(top_k)
        least = _threshold(threshold)
        if not isinstance(query, str) or not query.strip():
            raise InvalidArgument("Invalid query: cannot be empty or whitespace-only.")
        chosen = selected(filters)
        hits = self._found(query.strip(), chosen, top_k, least, show_expired) if top_k else []
        items = self._items([hit.fact for hit in hits])
        return {
            "results": [
                item | {"score": hit.score} | (_details(hit, least) if explain else {})
                for hit, (item, _) in zip(hits, items, strict=True)
            ]
        }

    def _found(
        self, query: str, chosen: Selected, limit: int, least: float, show_expired: bool
    ) -> list[SearchHit]:
        states = STATES if show_expired else STATES[:1]
        owned = self._store.of(chosen.scope)
        asked = FactSearch(
            filters=chosen.rule.conditions,
            active_only=not show_expired,
            tasks=False,
            ranking=CLASSIC,
            half_lives_seconds={},
            limit=min(limit, MAX_HITS),
        )
        ids = None
        if show_expired or not chosen.rule.is_whole:
            # What no filter of a search selects is selected here, however much that reads.
            ids = [fact.id for fact in self._listed(chosen, MAX_NUMBER, states)]
        hits = search_among(owned, ids, query, asked)
        # Others may have changed what was selected.
        return [hit for hit in hits if hit.score >= least and hit.fact.status in states]

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the versions of a memory, oldest first, and its deletion; also of a deleted one.

        What was erased is left out.
        """
        chain = [fact for fact in self._chain(memory_id) if fact.status != "erased"]
        if not chain:
            return []
        created, events = self._item(chain[0])[CREATED], []
        for before, fact in zip([None, *chain], chain, strict=False):
            old = None if before is None else _text_of(before)
            event = "ADD" if before is None else "UPDATE"
            events.append(_event(memory_id, fact, event, (old, _text_of(fact)), created))
        if (last := chain[-1]).deleted_at is not None:
            deletion = _event(memory_id, last, "DELETE", (_text_of(last), None), created)
            deletion["id"] = str(uuid.uuid5(uuid.UUID(last.uuid), "DELETE"))
            events.append(deletion | {UPDATED: last.deleted_at.isoformat(), "is_deleted": True})
        return events

    def chat(self, query: str) -> None:
        """Raise ``NotImplementedError``, as mem0 does."""
        raise NotImplementedError("Chat function not implemented yet.")

    def _current(self, memory_id: object) -> Fact | None:
        """Return the current fact of a memory, which may have expired."""
        key = _key(memory_id)
        under_key = self._store.of(EVERYBODY).list(
            external_key_prefix=key, states=STATES, newest_first=True, limit=1
        )
        if under_key:
            return under_key[0]
        chain = self._numbered(memory_id)
        return chain[-1] if chain and chain[-1].status in STATES else None

    def _chain(self, memory_id: object) -> list[Fact]:
        under_key = self._store.of(EVERYBODY).history(external_key=_key(memory_id))
        numbered = self._numbered(under_key[0].id if under_key else memory_id)
        return numbered or under_key

    def _numbered(self, number: object) -> list[Fact]:
        """Return the chain of a fact by the fact's number; none of a task."""
        if not str(number).isascii() or not str(number).isdigit() or len(str(number)) > 18:
            return []
        chain = self._store.ledger.histories([int(str(number))]).get(int(str(number)), [])
        return [] if chain and _is_task(chain[-1]) else chain

    def _item(self, fact: Fact) -> dict[str, Any]:
        return self._items([fact])[0][0]

    def _items(self, facts: Sequence[Fact]) -> list[tuple[dict[str, Any], Fact]]:
        """Return facts as memories, in order, each with its fact."""
        bare = [fact.id for fact in facts if _id_in(fact) is None or CREATED not in fact.metadata]
        chains = self._store.ledger.histories(bare) if bare else {}
        return [(_as_memory(fact, (chains.get(fact.id) or [fact])[0]), fact) for fact in facts]


class AsyncMemory:
    """mem0's ``AsyncMemory`` on a store; every call runs in a thread.

    A cancelled call ends first, so that it is known what was written.

    Args:
        store: an open store, or the path or URL of a memory, which :meth:`close` then closes.
        generator: the model that reads messages (``infer=True``), or the name of its provider.
        namespace: the namespace of the memories; by default the store's.
    """

    def __init__(
        self,
        store: StoreOrPath,
        generator: str | Generator | None = None,
        *,
        namespace: str | None = None,
    ) -> None:
        self._blocking = Memory(store, generator, namespace=namespace)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Return a memory of a configuration; see :meth:`Memory.from_config`."""
        made = cls.__new__(cls)
        made._blocking = Memory.from_config(config_dict)
        return made

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await in_thread(self.close)

    def close(self) -> None:
        """Close the store, if it was opened from a path."""
        self._blocking.close()

    add = finished(Memory.add)
    update = finished(Memory.update)
    delete = finished(Memory.delete)
    delete_all = finished(Memory.delete_all)
    reset = finished(Memory.reset)
    get = finished(Memory.get)
    get_all = finished(Memory.get_all)
    search = finished(Memory.search)
    history = finished(Memory.history)
    chat = finished(Memory.chat)


# -- arguments -------------------------------------------------------------------------------


def _invalid(message: str, code: str, details: dict[str, Any], suggestion: str) -> Exception:
    """Return mem0's own error where the caller has imported it."""
    theirs = sys.modules.get("mem0.exceptions")
    kind = ValidationError if theirs is None else theirs.ValidationError
    error: Exception = kind(message, code, details, suggestion)
    return error


def _refuse(is_given: bool, name: str) -> None:
    if is_given:
        raise InvalidArgument("is not supported; leave it out", argument=name)


def _refuse_owners(options: Mapping[str, Any], method: str) -> None:
    if owners := {name for name in SCOPE_FIELDS if name in options}:
        raise InvalidArgument(
            f"Top-level entity parameters {owners} are not supported in {method}(). "
            "Use filters={'user_id': '...'} instead."
        )


def _scope(user_id: object, agent_id: object, run_id: object) -> Scope:
    given = zip(SCOPE_FIELDS, (user_id, agent_id, run_id), strict=True)
    return Scope(**{name: entity_id(value, name) for name, value in given})


def _check_top_k(top_k: object) -> None:
    if not isinstance(top_k, int) or isinstance(top_k, bool):
        raise InvalidArgument("top_k must be a valid integer")
    if top_k < 0:
        raise InvalidArgument(f"Invalid top_k: {top_k}. Must be a non-negative integer.")


def _threshold(threshold: object) -> float:
    if threshold is None:
        return 0.1
    if not isinstance(threshold, int | float):
        raise InvalidArgument("threshold must be a valid number")
    if not 0 <= threshold <= 1:
        raise InvalidArgument(
            f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive)."
        )
    return threshold


def _date(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    try:
        return date.fromisoformat(value).isoformat()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidArgument(
            "expiration_date must be a valid date in YYYY-MM-DD format."
        ) from None


def _expires(payload: Mapping[str, Any]) -> datetime | None:
    """Return when a memory expires: at the end of its last day."""
    try:
        return zones.end(date.fromisoformat(payload.get(EXPIRY)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _without_identity(
    metadata: Mapping[str, Any] | None, known: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return metadata without the keys that it does not set."""
    if metadata is None:
        return {}
    check_json(metadata, "metadata")
    kept = {}
    for key, value in metadata.items():
        if key in IDENTITY:
            if value != known.get(key):
                logger.warning(
                    "%s: ignoring metadata[%r] - identity fields cannot be set through metadata",
                    where,
                    key,
                )
        elif key not in COMPUTED:
            kept[key] = value
    return kept


def _messages(messages: Any) -> Iterator[dict[str, Any]]:
    """Yield the messages that have a text."""
    if isinstance(messages, str):
        messages = [{ROLE: "user", "content": messages}]
    elif isinstance(messages, dict):
        messages = [messages]
    elif not isinstance(messages, list):
        raise _invalid(
            "messages must be str, dict, or list[dict]",
            "VALIDATION_003",
            {
                "provided_type": type(messages).__name__,
                "valid_types": ["str", "dict", "list[dict]"],
            },
            "Convert your input to a string, dictionary, or list of dictionaries.",
        )
    for place, message in enumerate(messages, 1):
        if not isinstance(message, dict):
            raise InvalidArgumentType(
                f"must be a dict, not {type(message).__name__}", place=f"message {place}"
            )
        content = _content(message.get("content"), f"message {place}")
        if message.get(ROLE) is None or content is None:
            logger.warning("message %d is skipped: it has no role or no text", place)
            continue
        check_json({name: message.get(name) for name in (ROLE, "name")}, f"message {place}")
        yield {**message, "content": content}


def _content(content: object, place: str) -> str | None:
    """Return the text of a message; ``None`` if it has none."""
    if isinstance(content, list):
        parts = [one for one in content if isinstance(one, dict) and one.get("type") == "text"]
        return " ".join(stored_text(one.get("text"), place) for one in parts) if parts else None
    if content is None or (isinstance(content, dict) and content.get("type") == "image_url"):
        return None
    return stored_text(content, f"{place}: content")


# -- memories as facts -----------------------------------------------------------------------


def _key(memory_id: object) -> str:
    """Return the external key of a memory; of an id that no key can have, one that names none."""
    text = str(memory_id)
    is_key = len(text) < 400 and "\0" not in text and KEY_SUFFIX not in text
    return f"{KEY_PREFIX}{text if is_key else ''}{KEY_SUFFIX}"


def _id_in(fact: Fact) -> str | None:
    """Return the id in a fact's external key, if the key is one of mem0's."""
    key = fact.external_key or ""
    return key[len(KEY_PREFIX) : -len(KEY_SUFFIX)] if key.startswith(KEY_PREFIX) else None


def _is_task(fact: Fact) -> bool:
    return fact.subject == TODO and fact.metadata.get("kind") == "task"


def _text_of(fact: Fact) -> str:
    """Return the text of a memory: the content of its fact, or what that stands for."""
    text = fact.metadata.get(TEXT)
    is_its = isinstance(text, str) and _storable(text) == fact.content
    return str(text) if is_its else fact.content


def _storable(text: str) -> str:
    """Return the content of the fact of a text."""
    content = text.replace("\0", " ")
    return content if content and not content.isspace() else BLANK


def _payload(fact: Fact) -> dict[str, Any]:
    return {**fact.metadata, **{name: owner for name, owner in fact.scope.ids.items() if owner}}


def _new_fact(text: str, payload: dict[str, Any], scope: Scope, **fields: Any) -> NewFact:
    """Return the fact of a text; one that cannot be a fact's content stays in the metadata."""
    content = _storable(stored_text(text, "text"))
    owners = [owner for owner in scope.ids.values() if owner is not None]
    values: dict[str, Any] = {
        "content": content,
        "subject": owners[0] if owners else "user",
        "metadata": payload if content == text else {**payload, TEXT: text},
        "expired_at": _expires(payload),
        "unsearched": True if content == BLANK else None,
        **scope.ids,
        **fields,
    }
    return NewFact(**values)


def _next_fact(fact: Fact, text: str, payload: dict[str, Any], *, keeps_expiry: bool) -> NewFact:
    """Return the next version of a memory."""
    fields: dict[str, Any] = {
        "subject": fact.subject,
        "category": fact.category,
        "source": fact.source,
        "external_key": fact.external_key,
        "supersedes": fact.id if fact.external_key is None else None,
        "any_subject": fact.external_key is None,
    }
    if keeps_expiry:
        fields["expired_at"] = fact.expired_at
    own = {key: value for key, value in payload.items() if key != TEXT}
    return _new_fact(text, own, fact.scope, **fields)


def _as_memory(fact: Fact, first: Fact) -> dict[str, Any]:
    """Return a fact as a memory; ``first`` is the first fact of its chain, where that matters."""
    text, payload = _text_of(fact), _payload(fact)
    created = payload.get(CREATED, first.metadata.get(CREATED, first.created_at.isoformat()))
    hidden = {*PROMOTED, *COMPUTED, CREATED}
    own = {key: value for key, value in payload.items() if key not in hidden}
    return {
        "id": _id_in(fact) or str(first.id),
        "memory": text,
        "hash": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": own or None,
        "score": None,
        CREATED: created,
        UPDATED: payload.get(UPDATED, fact.created_at.isoformat()),
        **{key: payload[key] for key in PROMOTED if key in payload},
    }


def _unscored(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "score"}


def _details(hit: SearchHit, threshold: float) -> dict[str, Any]:
    return {
        "score_details": {
            "semantic_score": hit.vector_score,
            "bm25_score": hit.word_score,
            "final_score": hit.score,
            "threshold": threshold,
        }
    }


def _event(
    memory_id: str, fact: Fact, event: str, texts: tuple[str | None, str | None], created: str
) -> dict[str, Any]:
    return {
        "id": fact.uuid,
        "memory_id": str(memory_id),
        "old_memory": texts[0],
        "new_memory": texts[1],
        "event": event,
        CREATED: created,
        UPDATED: fact.metadata.get(UPDATED, fact.created_at.isoformat()),
        "is_deleted": False,
        ACTOR: fact.metadata.get(ACTOR),
        ROLE: fact.metadata.get(ROLE),
    }


def _learned(memory_id: str, event: MemoryEvent) -> dict[str, Any]:
    """Return what a model did to a memory."""
    result = {"id": memory_id, "memory": event["memory"], "event": event["event"]}
    is_update = event["event"] == "UPDATE"
    return result | ({"previous_memory": event["previous"]} if is_update else {})
