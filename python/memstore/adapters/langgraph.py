"""The long-term memory of LangGraph: a ``BaseStore`` in one namespace of memstore.

An item is a fact with an external key (:mod:`memstore.importing.langgraph_keys`). Its value is in
the metadata, so that filters reach it; its text is what is searched, or its name if nothing is.
Putting again supersedes, deleting leaves a tombstone, a time to live is an expiry. What was before
stays in the chain of its key: :meth:`MemstoreStore.history`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from memstore.adapters import langgraph_filters
from memstore.adapters.frameworks import FRAMEWORKS
from memstore.adapters.opened import Opened
from memstore.adapters.values import check_json, from_json, to_json
from memstore.adapters.waiting import in_thread
from memstore.domain import clock
from memstore.domain.arguments import (
    MAX_CONTENT,
    MAX_NUMBER,
    MAX_QUERY,
    checked_number,
    fits_a_fact,
)
from memstore.domain.metadata import MAX_BYTES
from memstore.domain.records import NewFact
from memstore.errors import (
    Conflict,
    InvalidArgument,
    InvalidArgumentType,
    NotFound,
    StorageError,
)
from memstore.facts.keyed import DeleteKey
from memstore.importing import langgraph_keys
from memstore.importing.langgraph_keys import KEY, VALUE
from memstore.named import NamedTuple
from memstore.search.requests import MAX_LIMIT

NAME: Final = "langgraph"

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        PutOp,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
    )
except ImportError as error:
    raise FRAMEWORKS[NAME].missing(__name__) from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from memstore.adapters.langgraph_filters import Comparison
    from memstore.adapters.opened import StoreOrPath
    from memstore.domain.records import Fact

TTL: Final = "ttl"
"""A key of an item's metadata: the minutes that it lives."""

WHOLE: Final = "$"
"""The path of a whole value."""

CATEGORY: Final = "item"
PAGE: Final = 500
SWEEP_MINUTES: Final = 5.0

LATE: Final = 0.01
"""A time to live is renewed when this part of it has passed: a reading shortly after another one
writes nothing."""


class ItemVersion(NamedTuple):
    """A value that an item had."""

    value: dict[str, Any]
    stored_at: datetime
    ended_at: datetime | None
    """When it was overwritten, deleted or expired; ``None`` if it did not end."""
    status: str
    """``active``, ``superseded``, ``deleted``, ``expired`` or ``distrusted``."""
    fact_id: int


class Key(NamedTuple):
    namespace: tuple[str, ...]
    key: str


class MemstoreStore(BaseStore):
    """A store of LangGraph in a memstore.

    Safe for any number of threads and processes. Async methods run in threads. Within a batch, all
    reads see the state before its writes, and the writes are one transaction.

    Args:
        store: an open :class:`memstore.Store`, which stays open, or the path or URL of a memory,
            which :meth:`close` closes.
        namespace: the namespace of memstore in which all items are; by default the store's.
        fields: the paths of values that are searched, unless a put gives an ``index``: ``"$"`` for
            all of it, ``"a.b"``, ``"a[*].b"``.
        ttl: ``default_ttl``, ``refresh_on_read`` (unless a call says otherwise; false by default)
            and ``sweep_interval_minutes``. What has expired is not read, swept or not, as with
            ``omit_expired``.

    Raises:
        AccessDenied: the store is confined to another namespace.
        InvalidArgumentType: it is neither a store nor a path.
    """

    supports_ttl = True

    def __init__(
        self,
        store: StoreOrPath,
        *,
        namespace: str | None = None,
        fields: Sequence[str] = (WHOLE,),
        ttl: TTLConfig | None = None,
    ) -> None:
        self._fields = _checked_paths(fields, "fields")
        # As LangGraph's stores on SQLite and PostgreSQL, whatever its base class would do.
        self.ttl_config = {"refresh_on_read": False, **(ttl or {})}
        self._opened = Opened(store, NAME, namespace)
        self._store = self._opened.store
        self._ending = threading.Event()
        self._sweeper: Future[None] | None = None
        self._starting = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await in_thread(self.close)

    def close(self) -> None:
        """Stop the sweeper, and close the memory if it was opened from a path."""
        self.stop_ttl_sweeper()
        self._opened.close()

    # -- the interface of LangGraph ----------------------------------------------------------

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Execute operations: first every reading, then the writes, in one transaction.

        Raises:
            InvalidNamespaceError: of a name that is not possible.
            ValueError: a value that JSON cannot keep, a filter or a page that makes no sense;
                nothing was written.
            TypeError: the same, for what is of another type.
        """
        every = [*ops]
        puts: dict[Key, NewFact | DeleteKey] = {}
        for op in every:
            _check(op)
            if isinstance(op, PutOp):
                place = Key(tuple(op.namespace), op.key)
                puts.pop(place, None)  # the last one of a key counts, in its place
                puts[place] = self._to_put(place, op)
        reads = [self._reading(op) for op in every]
        results = [None if read is None else read() for read in reads]
        if puts:
            self._store.keys.put(puts.values())
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Execute operations in a thread; see :meth:`batch`.

        If it is cancelled, it ends first: either everything was written or nothing.
        """
        return await in_thread(self.batch, [*ops])

    # -- what memstore has besides -----------------------------------------------------------

    def history(self, namespace: tuple[str, ...], key: str) -> list[ItemVersion]:
        """Return every value that an item had, oldest first, also before it was deleted.

        Erased values are left out.
        """
        _check_namespace(namespace)
        facts = self._store.history(
            external_key=langgraph_keys.written(namespace, _checked_key(key))
        )
        return [
            ItemVersion(
                fact.metadata[VALUE],
                fact.created_at,
                fact.superseded_at or fact.deleted_at or _ended(fact.expired_at),
                fact.status,
                fact.id,
            )
            for fact in facts
            if VALUE in fact.metadata
        ]

    async def ahistory(self, namespace: tuple[str, ...], key: str) -> list[ItemVersion]:
        """Return every value that an item had; see :meth:`history`."""
        return await in_thread(self.history, namespace, key)

    def sweep_ttl(self) -> int:
        """Delete the items that have expired; return how many. They can be restored."""
        swept = 0
        while expired := self._store.list(
            states=["expired"], external_key_prefix=langgraph_keys.ROOT, limit=PAGE
        ):
            keys = (fact.external_key or "" for fact in expired)
            # Some may have been put again since they were read.
            deletions = [DeleteKey(external_key=key, if_expired=True) for key in keys]
            gone = self._store.keys.put(deletions)
            swept += sum(fact is not None for fact in gone)
        return swept

    async def asweep_ttl(self) -> int:
        """Delete the items that have expired; see :meth:`sweep_ttl`."""
        return await in_thread(self.sweep_ttl)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Sweep from time to time in a thread, until :meth:`stop_ttl_sweeper`.

        Args:
            sweep_interval_minutes: by default that of ``ttl``, or 5.

        Returns:
            What is done when the sweeper ends, also with the error of a sweep.
        """
        minutes = sweep_interval_minutes or self.ttl_config.get("sweep_interval_minutes")
        with self._starting:
            if self._sweeper is not None and not self._sweeper.done():
                return self._sweeper
            self._ending.clear()
            self._sweeper = Future()
            seconds = 60 * (minutes or SWEEP_MINUTES)
            threading.Thread(
                target=self._sweep, args=(self._sweeper, seconds), name="ttl-sweeper", daemon=True
            ).start()
            return self._sweeper

    def _sweep(self, ended: Future[None], seconds: float) -> None:
        try:
            while not self._ending.is_set():
                clock.wait(self._ending, seconds)
                if not self._ending.is_set():
                    self.sweep_ttl()
        except Exception as error:  # noqa: BLE001 - raised by the future
            ended.set_exception(error)
        else:
            ended.set_result(None)

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Let the sweeper end, and wait for it; return whether it has ended.

        Args:
            timeout: seconds to wait at most.
        """
        self._ending.set()
        if self._sweeper is None:
            return True
        try:
            self._sweeper.exception(timeout)
        except TimeoutError:
            return False
        return True

    # -- writing -----------------------------------------------------------------------------

    def _to_put(self, place: Key, op: Any) -> NewFact | DeleteKey:
        external_key = langgraph_keys.written(*place)
        if op.value is None:
            return DeleteKey(external_key=external_key)
        value = from_json(to_json(_checked_value(op.value), VALUE))
        metadata: dict[str, Any] = {VALUE: value}
        if langgraph_keys.read(external_key).key is None:
            metadata[KEY] = place.key
        if op.ttl is not None:
            metadata[TTL] = _checked_minutes(op.ttl)
        text = self._text(value, op.index)
        searched = bool(text) and len(to_json(metadata, VALUE).encode()) <= MAX_BYTES
        return NewFact(
            content=text if searched else langgraph_keys.label(external_key),
            subject="/".join(place.namespace).strip() or NAME,
            category=CATEGORY,
            metadata=metadata,
            external_key=external_key,
            expired_at=None if op.ttl is None else _expiry(op.ttl),
            unsearched=not searched,
        )

    def _text(self, value: dict[str, Any], index: Sequence[str] | bool | None) -> str:
        """Return what is searched of a value."""
        if index is False:
            return ""
        paths = self._fields if index is None else _checked_paths(index, "index")
        texts: list[str] = []
        for path in paths:
            if path == WHOLE:
                texts += _lines(value)
            else:
                texts += get_text_at_path(value, tokenize_path(path))
        text = "\n".join(texts).replace("\x00", " ").strip()
        if fits_a_fact(text):
            return text
        return text.encode(errors="surrogatepass")[:MAX_CONTENT].decode(errors="ignore")

    # -- reading -----------------------------------------------------------------------------

    def _reading(self, op: Any) -> Callable[[], Any] | None:
        """Return what an operation reads, when called; ``None`` for one that writes."""
        if isinstance(op, GetOp):
            return lambda: self._get(op)
        if isinstance(op, SearchOp):
            tests = langgraph_filters.comparisons(op.filter)
            return lambda: self._search(op, tests)
        return (lambda: self._namespaces(op)) if isinstance(op, ListNamespacesOp) else None

    def _get(self, op: Any) -> Item | None:
        key = langgraph_keys.written(op.namespace, op.key)
        fact = self._store.keys.get(key)
        if fact is None or VALUE not in fact.metadata:
            return None
        self._refresh([fact], op.refresh_ttl)
        return Item(**self._columns(fact, self._store.keys.first_stored([key])))

    def _search(self, op: Any, tests: Sequence[Comparison]) -> list[SearchItem]:
        if op.limit == 0:
            return []
        prefix, stop = langgraph_keys.under(op.namespace_prefix), op.offset + op.limit
        found: list[tuple[Fact, float | None]] = []
        if op.query and op.query.strip():
            for one in self._found(op.query, prefix, tests, stop):
                found.append(one)
                if len(found) == stop:
                    break
        else:
            for fact in self._listed(prefix, tests):
                found.append((fact, None))
                if len(found) == stop:
                    break
        page = found[op.offset :]
        self._refresh([fact for fact, _ in page], op.refresh_ttl)
        keys = [fact.external_key or "" for fact, _ in page]
        first = self._store.keys.first_stored(keys) if keys else {}
        return [SearchItem(**self._columns(fact, first), score=score) for fact, score in page]

    def _found(
        self, query: str, prefix: str, tests: Sequence[Comparison], number: int
    ) -> Iterator[tuple[Fact, float | None]]:
        """Yield the items that a search finds, then the other searched ones, then the rest."""
        hits = self._store.search(
            query[:MAX_QUERY],
            # Some hits may be left out by tests that the database does not know.
            limit=min(number if _conditions(tests) is not None else MAX_LIMIT, MAX_LIMIT),
            external_key_prefix=prefix,
            filters=_narrowing(tests),
            half_lives_seconds={},
            touch=False,
        )
        known = set()
        for hit in hits:
            known.add(hit.fact.id)
            if _passes(hit.fact, tests):
                yield hit.fact, hit.score
        later = []
        for fact in self._listed(prefix, tests):
            if fact.unsearched:
                later.append(fact)
            elif fact.id not in known:
                yield fact, 0.0
        for fact in later:
            yield fact, None

    def _listed(self, prefix: str, tests: Sequence[Comparison]) -> Iterator[Fact]:
        """Yield the items under a prefix that pass, the newest first."""
        before, size = None, 20
        for _ in count():
            facts = self._store.list(
                external_key_prefix=prefix,
                filters=_narrowing(tests),
                limit=size,
                before_id=before,
                newest_first=True,
            )
            yield from (fact for fact in facts if _passes(fact, tests))
            if len(facts) < size:
                return
            before, size = facts[-1].id, PAGE

    def _columns(self, fact: Fact, first: Mapping[str, datetime]) -> dict[str, Any]:
        external_key = fact.external_key or ""
        namespace, key = langgraph_keys.read(external_key)
        return {
            "value": fact.metadata[VALUE],
            "key": fact.metadata[KEY] if key is None else key,
            "namespace": namespace,
            "created_at": first.get(external_key, fact.created_at),
            "updated_at": fact.created_at,
        }

    def _refresh(self, facts: Sequence[Fact], wanted: bool) -> None:
        """Let items live on from now; what was changed in the meantime stays as it is."""
        for fact in facts:
            minutes = fact.metadata.get(TTL)
            if not wanted or minutes is None or fact.expired_at is None:
                continue
            until = _expiry(minutes)
            if until is not None and until - fact.expired_at < timedelta(minutes=LATE * minutes):
                continue
            try:
                self._store.set_expiry(fact.id, until)
            except (Conflict, NotFound, StorageError):
                continue  # a read does not fail because nothing can be written

    def _namespaces(self, op: Any) -> list[tuple[str, ...]]:
        matches = [(one.match_type, tuple(one.path)) for one in op.match_conditions or ()]
        beginning = max((_literal(path) for kind, path in matches if kind == "prefix"), default=())
        # Without its last dot: two of them end a folder.
        prefix = langgraph_keys.under(beginning).removesuffix(".")
        folders = self._store.keys.folders(prefix, delimiter=langgraph_keys.END)
        every = {langgraph_keys.read(folder).namespace for folder in folders}
        found = {
            namespace[: op.max_depth]
            for namespace in every
            if all(_matches(kind, path, namespace) for kind, path in matches)
        }
        return sorted(found)[op.offset : op.offset + op.limit]


# -- checks ----------------------------------------------------------------------------------


def _check(op: Any) -> None:
    """Refuse an operation that cannot be executed, before anything is."""
    if isinstance(op, GetOp | PutOp):
        _check_namespace(op.namespace)
        _checked_key(op.key)
        if isinstance(op, PutOp) and op.namespace[0] == NAME:
            raise InvalidNamespaceError(
                f'Root label for namespace cannot be "{NAME}". Got: {op.namespace}'
            )
    elif isinstance(op, SearchOp):
        _check_labels(op.namespace_prefix)
        _check_page(op)
        if op.query is not None and not isinstance(op.query, str):
            raise InvalidArgumentType(
                f"must be text, not {type(op.query).__name__}", argument="query"
            )
    elif isinstance(op, ListNamespacesOp):
        _check_page(op)
        if op.max_depth is not None:
            checked_number(op.max_depth, "max_depth", 1, MAX_NUMBER)
        for condition in op.match_conditions or ():
            _check_labels(condition.path)
            if condition.match_type not in ("prefix", "suffix"):
                raise InvalidArgument(
                    f"must be prefix or suffix, not {condition.match_type!r}",
                    argument="match_type",
                )
    else:
        raise InvalidArgumentType(f"is no operation: {type(op).__name__}", argument="ops")


def _check_page(op: Any) -> None:
    checked_number(op.limit, "limit", 0, MAX_NUMBER)
    checked_number(op.offset, "offset", 0, MAX_NUMBER)


def _check_namespace(namespace: object) -> None:
    if not namespace:
        raise InvalidNamespaceError("Namespace cannot be empty.")
    _check_labels(namespace)


def _check_labels(namespace: object) -> None:
    if not isinstance(namespace, tuple | list):
        raise InvalidNamespaceError(f"Namespace must be a tuple of texts, not {namespace!r}.")
    for label in namespace:
        problem = _problem(label)
        if problem:
            raise InvalidNamespaceError(
                f"Invalid namespace label {label!r} found in {namespace}. {problem}"
            )
    if len(".".join(namespace)) > langgraph_keys.MAX_NAMESPACE:
        raise InvalidNamespaceError(
            f"Namespaces cannot be longer than {langgraph_keys.MAX_NAMESPACE} characters, with a "
            f"dot between labels. Got {namespace}"
        )


def _problem(label: object) -> str | None:
    if not isinstance(label, str):
        return f"Namespace labels must be strings, but got {type(label).__name__}."
    if not label:
        return "Namespace labels cannot be empty strings."
    if "." in label:
        return "Namespace labels cannot contain periods ('.')."
    if "\x00" in label:
        return "Namespace labels cannot contain NUL bytes ('\\x00')."
    if any("\ud800" <= letter <= "\udfff" for letter in label):
        return "Namespace labels cannot contain half of a character (a lone surrogate)."
    return None


def _checked_key(key: object) -> str:
    if not isinstance(key, str):
        raise InvalidArgumentType(f"must be text, not {type(key).__name__}", argument=KEY)
    check_json(key, KEY)
    return key


def _checked_value(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidArgumentType(f"must be a mapping, not {type(value).__name__}", argument=VALUE)
    return dict(value)


def _checked_paths(paths: object, name: str) -> tuple[str, ...]:
    if isinstance(paths, str) or not isinstance(paths, list | tuple):
        raise InvalidArgumentType(
            f"must be a list of paths, not {type(paths).__name__}", argument=name
        )
    for path in paths:
        if not isinstance(path, str):
            raise InvalidArgumentType(f"must hold texts, not {path!r}", argument=name)
    return tuple(paths)


def _checked_minutes(minutes: object) -> float:
    if isinstance(minutes, bool) or not isinstance(minutes, int | float):
        raise InvalidArgumentType(f"must be minutes, not {minutes!r}", argument=TTL)
    if not (math.isfinite(minutes) and minutes >= 0):
        raise InvalidArgument(f"must be 0 minutes or more, not {minutes}", argument=TTL)
    return minutes


# -- items and facts -------------------------------------------------------------------------


def _expiry(minutes: float) -> datetime | None:
    """Return when something ends that lives for so many minutes; for ages, at no time."""
    try:
        return clock.utc_now() + timedelta(minutes=minutes)
    except OverflowError:
        return None


def _ended(expired_at: datetime | None) -> datetime | None:
    return None if expired_at is None or expired_at > clock.utc_now() else expired_at


def _lines(value: object, name: str = "") -> Iterator[str]:
    """Yield the texts, numbers and truths in a value, each after the path to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lines(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for inner in value:
            yield from _lines(inner, name)
    elif value is not None and value != "":
        text = value if isinstance(value, str) else to_json(value, name)
        yield f"{name}: {text}"


def _conditions(tests: Sequence[Comparison]) -> list[Any] | None:
    """Return all tests for the database; ``None`` if it does not know one."""
    every = [test.condition(VALUE) for test in tests]
    return None if None in every else every


def _narrowing(tests: Sequence[Comparison]) -> list[Any]:
    every = (test.condition(VALUE) for test in tests)
    return [one for one in every if one is not None]


def _passes(fact: Fact, tests: Sequence[Comparison]) -> bool:
    value = fact.metadata.get(VALUE)
    return isinstance(value, dict) and all(test.passes(value) for test in tests)


def _literal(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels before the first wildcard."""
    return path[: path.index("*")] if "*" in path else path


def _matches(kind: str, path: tuple[str, ...], namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins or ends with labels, of which ``*`` is any."""
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if kind == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
