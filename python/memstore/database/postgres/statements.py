"""Statements of the tables' modules as PostgreSQL gets them, for one tenant.

Each table that a statement names is bound to the tenant, so that every statement is answered by
that tenant's rows alone. Parameters become ``$1``, ``$2``, … in the order in which they are named.
A write to the rows that others are derived from writes these too (:mod:`derived`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from memstore.database import acts
from memstore.database.postgres import derived
from memstore.database.postgres.derived import TENANT
from memstore.database.postgres.schema import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TOKEN: Final = re.compile(
    r"""'(?:[^']|'')*' | "[^"]*" | ::\w+ | :\w+ | \w+ | \s+ | [(),] | .""", re.VERBOSE | re.DOTALL
)
LISTED: Final = re.compile(r"\b(NOT\s+)?IN\s+\(LISTED (:\w+)\)")
LISTED_IDS: Final = re.compile(r"\(LISTED (:\w+)\)")
"""A list that is read like a table; these are lists of ids."""

INSERT: Final = re.compile(r"INSERT INTO (\w+) \(([\w, ]+)\) (.*)", re.DOTALL)
VALUES: Final = re.compile(r"VALUES \((.*)\)")

KEYED: Final = re.compile(r"\b(?:fact_|episode_|piece_)?id = (?:ANY \()?\$\d")
"""A condition that names rows, or what belongs to a few of them, by an id or a list of them."""

LIMITED: Final = re.compile(r"\b(?:LIMIT|OFFSET) \$\d")

PLACED: Final = {"owner": "bigint", "vector": "bytea", "checksum": "bigint", "code": "varbit"}
"""The types of the parameters of the statement that places a vector."""

PENDING: Final = re.compile(
    r"SELECT g\.id, o\.id FROM memstore_generations g CROSS JOIN (\w+) o"
    r" WHERE o\.id BETWEEN :first AND :last"
)
"""How the rows of owners without vectors are made: from those of the owners."""

FROM_ENDS: Final = frozenset(
    "WHERE GROUP ORDER LIMIT OFFSET UNION EXCEPT INTERSECT RETURNING HAVING SET SELECT".split()
)
NO_ALIAS: Final = (
    FROM_ENDS
    | frozenset("JOIN CROSS LEFT RIGHT INNER FULL NATURAL ON USING VALUES ( ) ,".split())
    | {""}
)

WITH_NAMESPACE: Final = frozenset({"memstore_facts", "memstore_episodes"})
"""The tables whose rows are of a namespace."""

HASHED: Final = {"memstore_readings": {"asked": "asked_hash"}}
"""Columns that are unique by a hash, since their texts may be longer than an index takes."""


class Compiled(NamedTuple):
    """A statement as PostgreSQL gets it."""

    text: str
    names: tuple[str, ...]
    """The names of its parameters, in order."""
    counts: bool
    """Whether it returns the number of rows it changed as its only row."""
    effects: frozenset[str]
    """What it changes besides: see :data:`derived.EFFECTS`."""
    table: str
    """The table that it inserts into; empty if it does not."""
    writes: str = ""
    """The table that it writes; empty if it only reads."""
    reads: frozenset[str] = frozenset()
    """The tables that it names."""
    fed: frozenset[str] = frozenset()
    """The tables that it writes, with what is derived."""
    is_binary: bool = False
    """Whether its rows come in the server's binary format: vectors are twice as long in text."""
    lists: frozenset[str] = frozenset()
    """The parameters that are lists in which a value is looked for."""
    is_keyed: bool = False
    """Whether it names its rows, or reads few in any memory, so that one plan fits all values."""
    is_remembered: bool = False
    """Whether a process remembers its answers: it only reads tables for which that pays."""
    is_rare: bool = False
    """Whether these change rarely."""


@lru_cache(maxsize=2048)
def compiled(sql: str, returns: bool, needless: frozenset[str] = frozenset()) -> Compiled:
    """Translate a statement.

    Args:
        returns: whether its rows are wanted, and not how many rows it changed.
        needless: the effects that its rows are known not to have.
    """
    listed = LISTED.sub(lambda found: f"{'<> ALL' if found[1] else '= ANY'} ({found[2]})", sql)
    listed = LISTED_IDS.sub(r"(SELECT unnest(\1::bigint[]) AS value)", listed)
    scoping = _Scoping(TOKEN.findall(listed))
    write = scoping.write()
    text = scoping.text
    counts, effects = False, frozenset[str]()
    if write is not None:
        with_effects = derived.with_effects(write, needless, returns=returns)
        if with_effects is not None:
            text, effects = with_effects
            counts = not returns
    text, names = _numbered(text)
    into = write.table if write is not None and write.kind == "INSERT" else ""
    writes = "" if write is None else write.table
    written = frozenset(re.findall(r"(?:INSERT INTO|DELETE FROM|UPDATE) (memstore_\w+)", text))
    is_binary = returns and "embedding" in text
    lists = frozenset(found[2][1:] for found in LISTED.finditer(sql))
    reads = scoping.tables
    names_rows = reads - {into} <= tables.RARE or KEYED.search(text) is not None
    remembered = bool(reads) and write is None and reads <= tables.REMEMBERED
    return Compiled(
        text,
        names,
        counts,
        effects,
        into,
        writes,
        reads,
        written,
        is_binary,
        lists,
        is_keyed=names_rows and LIMITED.search(text) is None,
        is_remembered=remembered and "LISTED" not in sql,
        is_rare=reads <= tables.RARE,
    )


class Joined(NamedTuple):
    """Several INSERTs of one row each, and the tenant's row, as one statement.

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


@lru_cache(maxsize=256)
def joined(texts: tuple[str, ...], *, lacks_metadata: bool, is_fed: bool) -> Joined | None:
    """Return INSERTs as one statement, which writes nothing if the tenant's version has changed.

    It returns how many versions it found: 1 or 0. ``None`` if the statements cannot be joined.

    Args:
        lacks_metadata, is_fed: what is known of the rows; see :func:`derived.needless`.
    """
    parts, effects, fed = [CHECKED], frozenset[str](), frozenset[str]()
    into = frozenset(compiled(sql, False).table for sql in texts)
    for place, sql in enumerate(texts):
        given = _after_check(sql, place, into)
        if given is None:
            return None
        write = _Scoping(TOKEN.findall(given)).write()
        if write is None:
            return None
        needless = derived.needless(write.table, lacks_metadata=lacks_metadata, is_fed=is_fed)
        own, its_effects = derived.parts_of(write, needless)
        effects |= its_effects
        fed |= compiled(sql, False, needless).fed
        parts += [_numbered_parts(part, place) for part in own]
    text, names = _numbered(f"WITH {', '.join(parts)} SELECT count(*) FROM checked")
    rows = [*map(named, texts), OWN]
    order = [(place, name) for place, row in enumerate(rows) for name in row]
    bound = itemgetter(*(order.index(_whose(name, len(texts))) for name in names))
    ids, line = [], None
    for place, sql in enumerate(texts):
        table = compiled(sql, False).table
        if (place, "id") in order:
            ids.append((table, order.index((place, "id"))))
        if table == acts.TABLE:
            line = [order.index((place, name)) for name in ("id", "at", "hash")]
    return Joined(text, bound, effects, fed, ids, line)


Place: TypeAlias = tuple[int, int]
"""The place of a value among several rows: that of the row, and that of the value in it."""


class Clues(NamedTuple):
    """Where the rows of several INSERTs, one row each, tell how they can be joined.

    ``None`` if no row has such a value.
    """

    metadata: Place | None
    """Of the new fact's metadata."""
    fact: Place | None
    """Of the new fact's id."""
    owner: Place | None
    """Of the id of a vector's owner."""
    pending: Sequence[tuple[Place, Place, Place]]
    """Of the first and the last id of owners whose vectors are pending, and of a new owner's id:
    all three have to be the same."""


@lru_cache(maxsize=256)
def clues(texts: tuple[str, ...]) -> Clues:
    """Return where the rows of INSERTs tell what :func:`joined` asks."""

    def place(table: str, name: str) -> Place | None:
        for at, sql in enumerate(texts):
            if compiled(sql, False).table == table and name in named(sql):
                return at, named(sql).index(name)
        return None

    fact, vector = "memstore_facts", "memstore_fact_vectors"
    pending = [
        ((at, 0), (at, 1), new)
        for at, sql in enumerate(texts)
        if (owners := PENDING.search(sql)) and (new := place(owners[1], "id")) is not None
    ]
    return Clues(place(fact, "metadata"), place(fact, "id"), place(vector, "owner"), pending)


CHECKED: Final = (
    "checked AS (UPDATE memstore_tenants SET version = :version, epoch = :epoch,"
    " counters = :counters::jsonb, line = :line, at = :at, hash = :hash WHERE tenant = (SELECT"
    f" tenant FROM memstore_tenants WHERE tenant = :{TENANT} AND version = :known"
    f" FOR UPDATE SKIP LOCKED) AND tenant = :{TENANT} RETURNING 1)"
)
"""Locks the tenant's row and changes it, if it is as the writer remembers it; never waits."""


def _after_check(sql: str, place: int, into: frozenset[str]) -> str | None:
    """Return an INSERT of one row that inserts it only if the version was found.

    Args:
        into: the tables that get a row. Each part of a statement sees them as they were before, so
            the id of a new row is given instead of looked up.
    """
    if (insert := INSERT.fullmatch(sql)) is None:
        return None
    table, columns, rest = insert[1], insert[2].split(", "), insert[3]
    types = tables.columns().get(table, {})
    if values := VALUES.fullmatch(rest):
        given = values[1].split(", ")
        if not all(map(_is_parameter, given)) or not {*columns} <= types.keys():
            return None
        source = "SELECT " + ", ".join(
            f":of_{place}_{value[1:]}::{types[column]}"
            for column, value in zip(columns, given, strict=True)
        )
        return f"INSERT INTO {table} ({', '.join(columns)}) {source} FROM checked"
    if pending := PENDING.fullmatch(rest):
        if pending[1] not in into:
            return None
        source = f"SELECT g.id, :of_{place}_first::bigint FROM memstore_generations g"
        return f"INSERT INTO {table} ({', '.join(columns)}) {source} CROSS JOIN checked"
    if not rest.endswith("FROM memstore_generations") or not {*named(rest)} <= PLACED.keys():
        return None
    source = re.sub(r":(\w+)", lambda name: f":of_{place}_{name[1]}::{PLACED[name[1]]}", rest)
    return f"INSERT INTO {table} ({', '.join(columns)}) {source} CROSS JOIN checked"


def _numbered_parts(text: str, place: int) -> str:
    """Give the parts of one of several statements names of their own."""
    return "".join(
        f"{token}_{place}" if token in derived.PARTS else token for token in TOKEN.findall(text)
    )


def _whose(name: str, own: int) -> tuple[int, str]:
    """Return the place of the row that a parameter belongs to, and its name there."""
    found = re.fullmatch(r"of_(\d+)_(\w+)", name)
    return (own, name) if found is None else (int(found[1]), found[2])


class Batched(NamedTuple):
    """An INSERT of one row as one of many rows."""

    text: str
    """Its parameters are arrays, except for the constant ones."""
    types: tuple[str, ...]
    """The types of the parameters of the INSERT, in order."""


@lru_cache(maxsize=256)
def batched(sql: str, constant: frozenset[str] = frozenset()) -> Batched | None:
    """Return an INSERT of one row as one of many.

    One statement then writes all rows and what is derived from them. ``None`` if it cannot.

    Args:
        constant: the parameters that have the same value in all rows.
    """
    if (insert := INSERT.fullmatch(sql)) is None:
        return None
    table, columns, rest = insert[1], insert[2].split(", "), insert[3]
    names = named(sql)
    if values := VALUES.fullmatch(rest):
        if [f":{name}" for name in names] != values[1].split(", "):
            return None
        types = [tables.columns().get(table, {}).get(column) for column in columns]
        source, join = f"SELECT {values[1]}", "FROM"
    elif "queued" not in rest and rest.endswith("FROM memstore_generations"):
        types = [PLACED.get(name) for name in names]
        source, join = rest, "CROSS JOIN"
    else:
        return None
    known = [type_ for type_ in types if type_ is not None]
    if len(known) < len(types):
        return None
    typed = dict(zip(names, known, strict=True))
    source = re.sub(
        r":(\w+)",
        lambda name: (
            f":{name[1]}::{typed[name[1]]}" if name[1] in constant else f"queued.{name[1]}"
        ),
        source,
    )
    listed = [name for name in names if name not in constant]
    arrays = ", ".join(f":{name}::{typed[name]}[]" for name in listed)
    text = (
        f"INSERT INTO {table} ({', '.join(columns)}) {source} {join}"
        f" unnest({arrays}) AS queued ({', '.join(listed)})"
    )
    return Batched(text, tuple(known))


@lru_cache(maxsize=2048)
def named(sql: str) -> tuple[str, ...]:
    """Return the names of a statement's parameters in order of first appearance."""
    found = (token[1:] for token in TOKEN.findall(sql) if _is_parameter(token))
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=512)
def namespace_place(sql: str) -> int | None:
    """Return the place of the namespace in the rows that a statement inserts, if they have one."""
    names = named(sql)
    has_one = "namespace" in names and compiled(sql, False).table in WITH_NAMESPACE
    return names.index("namespace") if has_one else None


def _numbered(text: str) -> tuple[str, tuple[str, ...]]:
    places: dict[str, int] = {}
    parts = []
    for token in TOKEN.findall(text):
        if _is_parameter(token):
            parts.append(f"${places.setdefault(token[1:], len(places) + 1)}")
        else:
            parts.append(token)
    return "".join(parts), tuple(places)


def _is_parameter(token: str) -> bool:
    return token[0] == ":" and token[1:2] not in ("", ":")


class _Scoping:
    """One reading of a statement's tokens, which binds each table to the tenant."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._places = [place for place, token in enumerate(tokens) if not token.isspace()]
        self._words = [tokens[place] for place in self._places]
        self._upper = [word.upper() for word in self._words]
        self._depths = self._measured()
        self._target: tuple[str, str, int] | None = None
        """The kind of write, its table, and the place of the table among the words."""
        self._scope()

    @property
    def text(self) -> str:
        return "".join(self._tokens)

    @property
    def tables(self) -> frozenset[str]:
        """The tables and views that the statement names."""
        return frozenset(self._words) & (tables.scoped() | tables.SHARED)

    def _measured(self) -> list[int]:
        depth, depths = 0, []
        for word in self._words:
            if word == ")":
                depth -= 1
            depths.append(depth)
            if word == "(":
                depth += 1
        return depths

    def _put(self, at: int, text: str) -> None:
        self._tokens[self._places[at]] = text

    def _word(self, at: int) -> str:
        return self._upper[at] if 0 <= at < len(self._upper) else ""

    def _scope(self) -> None:
        in_from: dict[int, bool] = {}
        for at, word in enumerate(self._words):
            upper, depth = self._upper[at], self._depths[at]
            if upper == "FROM":
                in_from[depth] = self._word(at - 1) != "DISTINCT"
            elif upper in FROM_ENDS:
                in_from[depth] = False
            elif upper == "(":
                in_from[depth + 1] = False
            elif word in tables.scoped():
                self._scope_table(at, word, in_from=in_from.get(depth, False))
        if self._target is not None:
            self._scope_target(*self._target)

    def _scope_table(self, at: int, table: str, *, in_from: bool) -> None:
        before, earlier = self._word(at - 1), self._word(at - 2)
        if before == "FROM" and earlier == "DELETE":
            self._target = ("DELETE", table, at)
        elif before == "INTO":
            self._target = ("INSERT", table, at)
        elif before == "UPDATE" and earlier not in ("DO", "FOR"):
            self._target = ("UPDATE", table, at)
        elif before in ("FROM", "JOIN") or (before == "," and in_from):
            alias = "" if self._has_alias(at) else f" AS {table}"
            bound = f"SELECT * FROM {table} WHERE tenant = :{TENANT}"
            self._put(at, f"({tables.support() if table == tables.SUPPORT else bound}){alias}")
        elif self._word(at + 1) != ".":
            raise ValueError(f"{table} cannot be bound to a tenant in {''.join(self._tokens)!r}")

    def _has_alias(self, at: int) -> bool:
        return self._word(at + 1) not in NO_ALIAS

    def _scope_target(self, kind: str, table: str, at: int) -> None:
        if kind == "INSERT":
            self._scope_insert(table, at)
        else:
            self._scope_where(at)

    def _scope_where(self, at: int) -> None:
        bound = f"{self._alias(at)}.tenant = :{TENANT}"
        where = self._found("WHERE", at)
        last = (self._found("RETURNING", at) or len(self._words)) - 1
        if where is None:
            self._append(last, f" WHERE {bound}")
        else:
            self._append(where, f" {bound} AND (")
            self._append(last, ")")

    def _append(self, at: int, text: str) -> None:
        self._tokens[self._places[at]] += text

    def _alias(self, at: int) -> str:
        """Return the name by which the statement calls its table."""
        if self._word(at + 1) == "AS":
            return self._words[at + 2]
        if self._word(at + 1) not in NO_ALIAS:
            return self._words[at + 1]
        return self._words[at]

    def _found(self, keyword: str, start: int) -> int | None:
        """Return the place of a keyword of the statement itself, outside of its parentheses."""
        places = range(start, len(self._words))
        return next((p for p in places if self._upper[p] == keyword and not self._depths[p]), None)

    def _scope_insert(self, table: str, at: int) -> None:
        opening = at + 3 if self._word(at + 1) == "AS" else at + 1
        if self._word(opening) != "(":
            return  # all columns of a row of the same shape, its tenant among them
        self._put(opening, "(tenant, ")
        values = self._found("VALUES", at)
        stop = self._found("ON", at) or len(self._words)
        for place in range(at, stop):
            if self._depths[place]:
                continue
            if values is not None and place > values and self._words[place] == "(":
                self._put(place, f"(:{TENANT}, ")
            elif values is None and self._upper[place] == "SELECT":
                distinct = self._word(place + 1) == "DISTINCT"
                self._put(place + distinct, f"{self._words[place + distinct]} :{TENANT}::text,")
        if self._word(stop + 1) == "CONFLICT" and self._word(stop + 2) == "(":
            self._put(stop + 2, "(tenant, ")
            for place in range(stop + 3, len(self._words)):
                if self._words[place] == ")":
                    break
                hashed = HASHED.get(table, {}).get(self._words[place])
                if hashed:
                    self._put(place, hashed)

    def write(self) -> derived.Write | None:
        """Return the write that the statement is, if it is one."""
        if self._target is None:
            return None
        kind, table, at = self._target
        returning = self._found("RETURNING", at)
        where = self._found("WHERE", at)
        end = len(self._words) if returning is None else returning
        columns: list[str] = []
        if kind == "UPDATE":
            columns = [
                self._words[p]
                for p in range((self._found("SET", at) or at) + 1, where or end)
                if self._word(p + 1) == "="
                and not self._depths[p]
                and self._word(p - 1) in ("SET", ",")
            ]
        alias = self._alias(at)
        condition = f"WHERE {alias}.tenant = :{TENANT}" if where is None else self._text(where, end)
        return derived.Write(
            kind,
            table,
            alias,
            frozenset(columns),
            self._text(0, end),
            condition,
            "" if returning is None else self._text(returning + 1, len(self._words)),
        )

    def _text(self, start: int, stop: int) -> str:
        """Return the text from one word to before another."""
        places = [*self._places, len(self._tokens)]
        return "".join(self._tokens[places[start] : places[stop]]).strip()
