"""Queries and writes as PostgreSQL gets them, for one tenant.

A query is a text, whose tables are bound to the tenant by names of a WITH clause; nothing else in
it is changed but its marks (see :mod:`memstore.database.dialect`). A write is a form
(:mod:`memstore.database.writes`), printed with its tenant and with what is derived from its rows
(:mod:`derived`). Parameters become ``$1``, ``$2``, … in the order in which they are named.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeAlias

from memstore.database import acts
from memstore.database.dialect import parameters_of, tables_of, with_parameters
from memstore.database.postgres import derived, forms
from memstore.database.postgres.schema import tables
from memstore.database.postgres.schema.tables import TENANT
from memstore.database.writes import Insert
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memstore.database.writes import Form

LISTED: Final = re.compile(r"\b(NOT\s+)?IN\s+\(LISTED (:\w+)\)")
LISTED_IDS: Final = re.compile(r"\(LISTED (:\w+)\)")
"""A list that is read like a table; these are lists of ids."""

KEYED: Final = re.compile(r"\b(?:fact_|episode_|piece_)?id = (?:ANY \()?\$\d")
"""A condition that names rows, or what belongs to a few of them, by an id or a list of them."""

LIMITED: Final = re.compile(r"\b(?:LIMIT|OFFSET) \$\d")

WITH_NAMESPACE: Final = frozenset({"memstore_facts", "memstore_episodes"})
"""The tables whose rows are of a namespace."""


class Compiled(NamedTuple):
    """A query or a write as PostgreSQL gets it."""

    text: str
    names: tuple[str, ...]
    """The names of its parameters, in order."""
    reads: frozenset[str]
    """The tables that it names."""
    lists: frozenset[str]
    """The parameters that are lists in which a value is looked for."""
    is_keyed: bool
    """Whether it names its rows, or reads few in any memory, so that one plan fits all values."""
    is_binary: bool = False
    """Whether its rows come in the server's binary format: vectors are twice as long in text."""
    is_remembered: bool = False
    """Whether a process remembers its answers: it only reads tables for which that pays."""
    is_rare: bool = False
    """Whether these change rarely."""
    counts: bool = False
    """Whether it returns the number of rows it changed as its only row."""
    effects: frozenset[str] = frozenset()
    """What it changes besides: see :mod:`derived`."""
    fed: frozenset[str] = frozenset()
    """The tables that it writes, with what is derived."""


@lru_cache(maxsize=2048)
def query(sql: str) -> Compiled:
    """Return a query, bound to the tenant."""
    reads = _named(sql)
    bound = _bound(sql, reads)
    # A query can have one WITH clause, unless it is in the FROM of another.
    asked = f"SELECT * FROM ({sql}) AS asked" if sql.lstrip().startswith("WITH") else sql
    made = _compiled(f"WITH {', '.join(bound)} {asked}" if bound else sql, reads)
    return made._replace(
        is_binary="embedding" in sql,
        is_remembered=bool(reads) and reads <= tables.REMEMBERED and "LISTED" not in sql,
        is_rare=reads <= tables.RARE,
    )


@lru_cache(maxsize=1024)
def write(form: Form, returns: bool, needless: frozenset[str] = frozenset()) -> Compiled:
    """Return a write, with what is derived from it.

    Args:
        returns: whether what the form returns is wanted, and not how many rows it changed.
        needless: the effects that its rows are known not to have.
    """
    parts = derived.parts_of(form, needless)
    reads = _named(form.expressions)
    bound = _bound(form.expressions, reads | parts.reads)
    is_alone = len(parts.texts) == 1
    if is_alone:
        text = forms.body(form)
        if returns:
            text = f"{text} RETURNING {form.returning}"
        text = f"WITH {', '.join(bound)} {text}" if bound else text
    else:
        wanted = form.returning if returns else "count(*)"
        text = (
            f"WITH {', '.join([*bound, *parts.texts])}"
            f" SELECT {wanted} FROM {parts.now} AS {form.called}"
        )
    looked_up = reads if isinstance(form, Insert) else reads | {form.table}
    return _compiled(text, looked_up)._replace(
        counts=not (is_alone or returns), effects=parts.effects, fed=parts.tables
    )


def _named(text: str) -> frozenset[str]:
    """Return the tables and views that a text names."""
    return tables_of(text) & (tables.scoped() | tables.SHARED)


def _bound(text: str, read: Iterable[str]) -> list[str]:
    """Return the definitions of tables for a WITH clause: the rows of the tenant.

    A text that names the tenant is bound already.
    """
    if TENANT in parameters_of(text):
        return []
    return [
        f"{name} AS NOT MATERIALIZED ("
        + (
            tables.support()
            if name == tables.SUPPORT
            else f"SELECT * FROM {name} WHERE tenant = :{TENANT}"
        )
        + ")"
        for name in sorted(tables.scoped().intersection(read))
    ]


def _compiled(text: str, looked_up: frozenset[str]) -> Compiled:
    """Return a bound text with the numbers of its parameters.

    Args:
        looked_up: the tables in which it looks for rows.
    """
    lists = frozenset(found[2][1:] for found in LISTED.finditer(text))
    text = LISTED.sub(lambda found: f"{'<> ALL' if found[1] else '= ANY'} ({found[2]})", text)
    text = LISTED_IDS.sub(r"(SELECT unnest(\1::bigint[]) AS value)", text)
    text, names = numbered(text)
    names_rows = looked_up <= tables.RARE or KEYED.search(text) is not None
    return Compiled(
        text, names, looked_up, lists, is_keyed=names_rows and LIMITED.search(text) is None
    )


def numbered(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text with numbers for its parameters, and their names in this order."""
    names = parameters_of(text)
    places = {name: f"${place}" for place, name in enumerate(names, 1)}
    return with_parameters(text, places.__getitem__), names


class Joined(NamedTuple):
    """Several new rows of one form each, and the tenant's row, as one statement.

    The places are those among the values of all rows, one row after the other.
    """

    text: str
    bound: Callable[[Sequence[object]], tuple[object, ...]]
    """Returns the values of its parameters from those of the rows. The last row is :data:`OWN`."""
    effects: frozenset[str]
    fed: frozenset[str]
    """The tables that it writes, with what is derived."""
    ids: Sequence[tuple[str, int]]
    """The tables whose rows have ids, and the places of these."""
    line: Sequence[int] | None
    """The places of the id, the time and the hash of the journal's new line."""


OWN: Final = ("version", "epoch", "counters", "line", "at", "hash", "known", TENANT)
"""The parameters that belong to no row: the tenant's new row, and the version that it has."""

CHECKED: Final = (
    "checked AS (UPDATE memstore_tenants SET version = :version, epoch = :epoch,"
    " counters = :counters::jsonb, line = :line, at = :at, hash = :hash WHERE tenant = (SELECT"
    f" tenant FROM memstore_tenants WHERE tenant = :{TENANT} AND version = :known"
    f" FOR UPDATE SKIP LOCKED) AND tenant = :{TENANT} RETURNING 1)"
)
"""Locks the tenant's row and changes it, if it is as the writer remembers it; never waits."""


@lru_cache(maxsize=256)
def joined(rows: tuple[Form, ...], *, lacks_metadata: bool, is_fed: bool) -> Joined | None:
    """Return new rows as one statement, which writes nothing if the tenant's version has changed.

    It returns how many versions it found: 1 or 0. ``None`` if they cannot be joined.

    Args:
        rows: the form of each row.
        lacks_metadata, is_fed: what is known of the rows; see :func:`derived.needless`.
    """
    texts, reads = list[str](), set[str]()
    effects, fed = set[str](), set[str]()
    into = frozenset(form.table for form in rows)
    for place, form in enumerate(rows):
        checked = forms.after_check(form, place, into)
        if checked is None:
            return None
        needless = derived.needless(form.table, lacks_metadata=lacks_metadata, is_fed=is_fed)
        parts = derived.parts_of(checked, needless, f"_{place}")
        texts += parts.texts
        effects |= parts.effects
        fed |= parts.tables
        reads |= parts.reads | _named(checked.expressions)
    text, names = numbered(
        f"WITH {', '.join([CHECKED, *_bound('', reads), *texts])} SELECT count(*) FROM checked"
    )
    order = [
        *(forms.name_of(place, name) for place, form in enumerate(rows) for name in form.names),
        *OWN,
    ]
    places = {name: place for place, name in enumerate(order)}
    ids, line = [], None
    for place, form in enumerate(rows):
        if "id" in form.names:
            ids.append((form.table, places[forms.name_of(place, "id")]))
        if form.table == acts.TABLE:
            line = [places[forms.name_of(place, name)] for name in ("id", "at", "hash")]
    bound = itemgetter(*(places[name] for name in names))
    return Joined(text, bound, frozenset(effects), frozenset(fed), ids, line)


Place: TypeAlias = tuple[int, int]
"""The place of a value among several rows: that of the row, and that of the value in it."""


class Clues(NamedTuple):
    """Where several new rows tell how they can be joined; ``None`` if none of them does."""

    metadata: Place | None
    """The place of the new fact's metadata."""
    fact: Place | None
    """The place of the new fact's id."""
    owner: Place | None
    """The place of the id of a vector's owner."""
    pending: Sequence[tuple[Place, Place, Place]]
    """The places of the first and the last id of owners whose vectors are pending, and of a new
    owner's id. Rows can be joined if these three are equal."""


@lru_cache(maxsize=256)
def clues(rows: tuple[Form, ...]) -> Clues:
    """Return where new rows of these forms tell what :func:`joined` asks."""

    def place(table: str, name: str) -> Place | None:
        for at, form in enumerate(rows):
            if isinstance(form, Insert) and form.table == table and name in form.names:
                return at, form.names.index(name)
        return None

    fact, vector = "memstore_facts", "memstore_fact_vectors"
    pending = [
        ((at, 0), (at, 1), new)
        for at, form in enumerate(rows)
        if isinstance(form, Insert) and form.of_owners
        if (new := place(form.of_owners, "id")) is not None
    ]
    return Clues(place(fact, "metadata"), place(fact, "id"), place(vector, "owner"), pending)


def namespace_place(form: Form) -> int | None:
    """Return the place of the namespace in the rows that a form inserts, if they have one."""
    if form.table in WITH_NAMESPACE and isinstance(form, Insert) and "namespace" in form.names:
        return form.names.index("namespace")
    return None
