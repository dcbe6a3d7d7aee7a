"""Facts, their owners, search hits and journal lines.

The fields of :class:`Fact`, except those marked computed, are the columns of ``memstore_facts``,
in order. SELECT and INSERT lists, exports and answers derive from them, so a new column is one
field and one migration.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from memstore.domain import clock
from memstore.domain.arguments import checked_name
from memstore.domain.results import NO_PARTS, Matched, Respelt, Results, ScoreParts, WordsOnly
from memstore.errors import InvalidArgument, InvalidArgumentType, Remedy
from memstore.frozen import field, fields, frozen
from memstore.lazy import lazy_pattern
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

T = TypeVar("T")

DEFAULT_CATEGORY = "note"

CATEGORIES: Final = (
    "preference",
    "identity",
    "relationship",
    "capability",
    "project",
    "decision",
    "event",
    "world",
    "note",
)
"""The suggested categories; any other text is allowed too."""

EVERYBODY: Final = "all"
"""As owners: memories with any owners, or none."""

BYTES_PER_NUMBER = 4
"""Stored vectors are float32, little-endian."""

TODO = "todo"
"""The subject of every task."""


class Record:
    """A frozen class whose fields appear in answers and exports."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        return set_fields(self)


def set_fields(record: Any, names: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return the fields of a frozen class (all, or these) that are set, as JSON values."""
    names = names or _names(record.__class__)
    return {
        name: value if value.__class__ in PLAIN else json_value(value)
        for name, value in zip(names, _values_of(names)(record), strict=True)
        if value is not None
    }


PLAIN = frozenset({str, int, bool})
"""The types of most fields, which need no conversion to JSON."""


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


@cache
def _values_of(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    return attrgetter(*names)


def json_value(value: Any) -> Any:
    """Return the value of a field as a JSON value."""
    if isinstance(value, datetime):
        return clock.to_text(value)
    if isinstance(value, tuple):
        return [json_value(item) for item in value]
    return value.to_dict() if isinstance(value, Record) else value


def hit_dict(hit: Any, found: Record) -> dict[str, Any]:
    """Return a hit as JSON values, without neighbours, newer facts and the like if it has none.

    The score is ``None`` if nothing was compared.
    """
    values = {name: getattr(hit, name) for name in _names(hit.__class__)}
    values[next(iter(values))] = found.to_dict()
    values |= {"score": hit.score or None, "parts": hit.parts._asdict()}
    for name in ("before", "after", "newer", "matched", "project"):
        if value := values.pop(name, None):
            values[name] = value._asdict() if name == "matched" else json_value(value)
    return values


@frozen(kw_only=True)
class Scope:
    """The owners of a memory inside a namespace. A missing id means "not set", never "all".

    Raises:
        ValueError: an id is blank or too long.
        TypeError: an id is not text.
    """

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        for name in SCOPE_FIELDS:
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, checked_name(given, name))

    @property
    def ids(self) -> dict[str, Any]:
        """The three ids by name, for columns and keyword arguments."""
        return {"user_id": self.user_id, "agent_id": self.agent_id, "run_id": self.run_id}


SCOPE_FIELDS = tuple(f.name for f in fields(Scope))

NOBODY: Final = Scope()

SCOPES_REMEMBERED: Final = 256


@lru_cache(SCOPES_REMEMBERED)
def scope_of(user_id: str | None, agent_id: str | None, run_id: str | None) -> Scope:
    """Return the owners of a row: a search asks for those of each hit, and many are the same."""
    return Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)


@frozen(kw_only=True)
class AtLeast:
    """Owners that selected memories have, whatever other owners they have too.

    ``AtLeast(user_id="ana")`` selects what was stored for Ana, and for Ana in any run.

    Raises:
        ValueError: no id is given, or one is blank or too long.
        TypeError: an id is not text.
    """

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        named = Scope(user_id=self.user_id, agent_id=self.agent_id, run_id=self.run_id)
        if named == NOBODY:
            raise InvalidArgument(
                f'AtLeast needs one of {", ".join(SCOPE_FIELDS)}; for any owners, pass "all"'
            )
        for name, owner in named.ids.items():
            object.__setattr__(self, name, owner)

    @property
    def ids(self) -> dict[str, Any]:
        """The ids that are given, by name, for columns."""
        ids = {"user_id": self.user_id, "agent_id": self.agent_id, "run_id": self.run_id}
        return {name: owner for name, owner in ids.items() if owner is not None}


OwnersSelection: TypeAlias = Scope | AtLeast | Literal["all"]
"""Whose memories: those of exactly these owners, of at least these, or of any (``"all"``)."""


def is_among(owners: Scope, selected: AtLeast | Scope | None) -> bool:
    """Return whether memories of these owners are selected; ``None`` selects any."""
    if isinstance(selected, AtLeast):
        return selected.ids.items() <= owners.ids.items()
    return selected is None or selected == owners


def chosen_owners(
    owners: OwnersSelection | None, user_id: str | None, agent_id: str | None, run_id: str | None
) -> OwnersSelection:
    """Return the owners that a caller selects, or names by their ids."""
    named = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
    if owners is not None and named != NOBODY:
        raise InvalidArgument("cannot be combined with ids", argument="owners")
    return named if owners is None else owners


def is_within(owners: OwnersSelection, wider: OwnersSelection) -> bool:
    """Return whether a selection of owners has none that another one has not."""
    if wider == EVERYBODY or owners == wider:
        return True
    if owners == EVERYBODY or not isinstance(wider, AtLeast):
        return False
    return wider.ids.items() <= owners.ids.items()


def checked_scope(scope: Scope | None, name: str = "scope") -> Scope:
    """Return the scope, or an empty one for ``None``."""
    if not isinstance(scope, Scope | None):
        raise InvalidArgumentType(f"must be a Scope, not {type(scope).__name__}", argument=name)
    return scope or NOBODY


def unchecked(kind: type[T], values: dict[str, Any]) -> T:
    """Make an instance of a frozen class from its values by name, without checks.

    Fields with a default may be left out. The dictionary becomes the instance's own. The
    constructor takes several times as long.
    """
    record = object.__new__(kind)
    object.__setattr__(record, "__dict__", values)
    return record


STATES: Final = ("active", "superseded", "deleted", "expired", "distrusted")
"""What the status of a fact may be, unless it was erased."""


@frozen(kw_only=True)
class Fact(Record):
    """One claim about one subject. Its text never changes after it is stored."""

    id: int
    uuid: str
    namespace: str
    content: str
    subject: str
    category: str
    metadata: dict[str, Any]
    superseded_by: int | None = None
    superseded_at: datetime | None = None
    confirmed_count: int = 0
    last_confirmed_at: datetime | None = None
    use_count: int = 0
    last_used_at: datetime | None = None
    created_at: datetime
    valid_at: datetime | None = None
    expired_at: datetime | None = None
    deleted_at: datetime | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    source: str | None = None
    episode_id: int | None = None
    thread: str | None = None
    """The conversation it belongs to. Threads are separate for each set of owners."""
    seq: int | None = None
    """Its place in the thread; several facts may share one."""
    idempotency_key: str | None = None
    derivation: str | None = None
    """Which step of a language model produced it: ``extract``, ``memory`` or ``consolidate``."""
    pinned_at: datetime | None = None
    """Since when it is pinned: sessions begin with it. A fact that supersedes it is pinned too."""
    slots: dict[str, str] | None = None
    """What an extractor found in it: ``holder``, ``attribute``, ``value``, …; see
    :class:`memstore.text.judging.compared.Slots`."""
    external_key: str | None = None
    """What another program calls it. Of the facts with one key and one set of owners, at most one
    is current; a fact that supersedes it has the key too."""
    unsearched: bool | None = None
    """True if no search finds it: it is only read, listed and exported."""
    embed_error: str | None = field(default=None, metadata={"computed": True})
    """Why its last embedding failed, temporarily or permanently; ``None`` once it is embedded."""
    embedded: bool = field(default=False, metadata={"computed": True})
    """Whether it has a vector of the active model."""
    distrusted: bool = field(default=False, metadata={"computed": True})
    """Whether it rests on distrusted sources alone, so that no search or list shows it."""
    holds_until: datetime | None = field(default=None, metadata={"computed": True})
    """When it ceased, or ceases, to hold: its expiry, or the time since which the fact that
    supersedes it is valid, whichever is earlier; ``None`` if neither is known."""
    as_of: datetime | None = field(default=None, metadata={"computed": True})
    """The moment at which it was like this; ``None`` for now. See :meth:`memstore.Store.as_of`."""

    @property
    def status(self) -> str:
        """``active``, ``superseded``, ``deleted``, ``erased``, ``expired`` or ``distrusted``."""
        if self.deleted_at is not None:
            return "deleted" if self.content else "erased"
        if self.superseded_by is not None:
            return "superseded"
        if self.expired_at is not None and self.expired_at <= (self.as_of or clock.utc_now()):
            return "expired"
        return "distrusted" if self.distrusted else "active"

    @property
    def scope(self) -> Scope:
        """The owners it belongs to."""
        return scope_of(self.user_id, self.agent_id, self.run_id)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, and the status, as JSON values."""
        values = set_fields(self, FACT_FIELDS) | {"status": self.status}
        if not self.distrusted:
            del values["distrusted"]
        return values


FACT_FIELDS = tuple(f.name for f in fields(Fact))
MOMENT_FIELDS = frozenset(f.name for f in fields(Fact) if "datetime" in str(f.type))


@frozen(kw_only=True)
class NewFact:
    """A fact to be stored; see :meth:`memstore.Store.add` for what each field means."""

    content: str
    subject: str
    category: str | None = None
    """``None`` for that of the fact it supersedes, else :data:`DEFAULT_CATEGORY`."""
    metadata: Mapping[str, Any] | None = None
    supersedes: int | None = None
    any_subject: bool = False
    created_at: datetime | str | None = None
    valid_at: datetime | str | None = None
    expired_at: datetime | str | None = None
    source: str | None = None
    idempotency_key: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    episode_id: int | None = None
    thread: str | None = None
    seq: int | None = None
    derivation: str | None = None
    slots: Mapping[str, str] | None = None
    external_key: str | None = None
    unsearched: bool | None = None


@frozen
class SearchHit:
    """A fact that was found, with the parts of its score."""

    fact: Fact
    score: float
    word_score: float
    """BM25 divided by the best BM25 of this search, 0 to 1; 0 when no word matched."""
    vector_score: float
    """Cosine similarity, 0 to 1; 0 if it is negative or there is no vector."""
    decay: float
    """How fresh the fact is: ``0.5 ** (age / half_life)``; 1 if its category does not age. Its age
    counts from when it was stored or last confirmed; in the classic ranking, from when it was
    stored."""
    parts: ScoreParts = NO_PARTS
    before: tuple[Fact, ...] = ()
    """The facts before it in its thread, in order, as many as were requested."""
    after: tuple[Fact, ...] = ()
    newer: tuple[int, ...] = ()
    """Later facts on the same subject that replace it by what they say, or about which a person
    would be asked: the surest first, then the latest, at most three. The first is the next hit,
    if it is not among those before and the limit leaves room."""
    matched: Matched | None = None
    """Where its words match the query; ``None`` unless the search was to say so."""
    project: str | None = None
    """The project that it comes from, if it is known to be another one than the store's."""

    def to_dict(self) -> dict[str, Any]:
        """Return the hit as JSON values, with the fact as :meth:`Fact.to_dict`.

        The score is ``None`` if nothing was compared.
        """
        return hit_dict(self, self.fact)


@frozen
class AboutOthers(Record):
    """Says that what matches a query best is about others than the one whom the query names."""

    named: str
    """Whom the query names: the subject of a fact, or the speaker of a turn."""
    other: str
    """Whom the best match is about."""
    id: int
    """The best match: a fact, or an episode."""
    difference: float
    """How much worse the best match about the one named is, by ``terms``: below -0.05."""

    def __str__(self) -> str:
        return f"about {self.other}, not {self.named}"


@frozen
class SearchHits(Results[SearchHit]):
    """The hits of one search, best first."""

    words_only: WordsOnly | None = None
    """Why a search by meaning went by words alone; ``None`` if it did not."""
    ranking: str = "classic"
    """``"contextual"``, or ``"classic"`` if requested or while the index is being built."""
    is_relevant: bool | None = None
    """Whether one of the first ten is at least as relevant as ``min_relevance`` asks for; ``None``
    if nothing was found or no minimum asked for. A search by words alone returns hits even so."""
    hidden: int = 0
    """How many of the hits ``min_relevance`` left out."""
    provisional: bool = False
    """Whether the order is provisional, because the index is still being built: the database
    answered, and the same search finds the final order in some seconds."""
    about: AboutOthers | None = None
    """That the answer is about others than the one whom the query names, for all that is known;
    ``None`` if it is not, if the query names nobody or several, or if the ranking is classic."""
    respelt: tuple[Respelt, ...] = ()
    """Words of the query that no row of the memory has, and what was searched for instead of each:
    the word of the memory that it is a misspelling of, by all appearances."""
    as_of: datetime | None = None
    """The moment whose memories were searched, with the weights that words had then and the vectors
    of now; ``None`` for now."""


class JournalLine(NamedTuple):
    """One line of the journal: what was changed, when and by whom."""

    id: int
    at: datetime
    actor: str
    source: str
    kind: str
    fact_id: int | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    evidence: dict[str, Any] | None = None
    """The reasons, if no person made the change."""
    episode_id: int | None = None
    txn: int = 0
    """The id of the first line of its transaction, whose lines share one time."""
    run: str | None = None
    """The opening of the file, or the session of a server, that it was written in: a UUIDv7."""
    said_at: datetime | None = None
    """When it was journalled in the file that it was imported from."""

    @property
    def moment(self) -> datetime:
        """When the change was made, in the file where it was made."""
        return self.said_at or self.at

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        return set_fields(self, self._fields)


HEAD_FORM: Final = lazy_pattern(r"(0|[1-9][0-9]{0,18}):([0-9a-fA-F]{64})")


class Head(NamedTuple):
    """The end of the chain of hashes; kept elsewhere, it shows later that no line was rewritten."""

    line: int
    """The id of the last line: the number of lines that the journal ever had."""
    hash: str
    """The last line's hash, in hexadecimal digits."""

    def __str__(self) -> str:
        return f"{self.line}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a head as it is written: the number of lines, a colon, and 64 hexadecimal digits.

        Raises:
            InvalidArgument: it is something else.
        """
        if not isinstance(text, str):
            raise InvalidArgumentType(
                f"must be a Head or text, not {type(text).__name__}", argument="head"
            )
        found = HEAD_FORM.fullmatch(text.strip())
        if found is None:
            raise InvalidArgument(
                "must be a number of lines, a colon and 64 hexadecimal digits, such as "
                f"{'12:' + 'a1' * 32}, not {text[:100]!r}",
                argument="head",
                remedy=Remedy.FIND_HEAD,
            )
        return cls(int(found[1]), found[2].lower())

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        return set_fields(self, self._fields)
