"""What a write changes besides the rows it names: the feeds, the counts, members and tags.

A file does this with triggers. Here a write is one statement that changes the rows (``now``), reads
them as they were (``was``), and writes what is derived from both
(:mod:`memstore.database.derivations`).
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Final

from memstore.database import derivations
from memstore.database.derivations import COUNT_COLUMNS, MEMBERS, TAGS
from memstore.database.dialect import tables_of
from memstore.database.postgres import forms
from memstore.database.postgres.dialect import ARRAY, OBJECT
from memstore.database.postgres.schema import tables
from memstore.database.postgres.schema.tables import TENANT
from memstore.database.writes import Delete, Insert, Update
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.derivations import Copied, Counting, Feeding
    from memstore.database.writes import Form

FED: Final = "fed"
COUNTED: Final = "counted"
FILED: Final = "members"
TAGGED: Final = "tagged"

UNCOUNTED: Final = "uncounted"
"""A count may be zero now; then it is removed before the commit."""


class Part(NamedTuple):
    """A part of a statement that writes something derived."""

    name: str
    effect: str
    table: str
    text: str
    """``{now}`` and ``{was}`` stand for the names of the rows."""


def needless(table: str, *, lacks_metadata: bool, is_fed: bool) -> frozenset[str]:
    """Return the effects that new rows do not have.

    Args:
        lacks_metadata: whether none of them has metadata.
        is_fed: whether the feed gets their ids by what is written with them.
    """
    if table == MEMBERS.of and lacks_metadata:
        return frozenset({FILED})
    if table == "memstore_fact_vectors" and is_fed:
        return frozenset({FED})
    return frozenset()


class Parts(NamedTuple):
    """The parts of the WITH clause that a write becomes."""

    texts: list[str]
    """The first ones are the rows; there is one if nothing is derived."""
    effects: frozenset[str]
    tables: frozenset[str]
    """The tables that it writes."""
    reads: frozenset[str]
    """The tables that are read to derive something."""
    now: str
    """The name of the rows as they are now."""


def parts_of(form: Form, without: frozenset[str] = frozenset(), suffix: str = "") -> Parts:
    """Return what a write of a form consists of.

    Args:
        without: effects that it is known not to have.
        suffix: what the names of its parts end with.
    """
    now, was = f"now{suffix}", f"was{suffix}"
    derived = [part for part in _derived(form) if part.effect not in without]
    texts = []
    if not isinstance(form, Insert) and any("{was}" in part.text for part in derived):
        rows = f"SELECT {form.called}.* FROM {form.named}{forms.condition(form)}"
        texts.append(f"{was} AS ({rows})")
    texts.append(f"{now} AS ({forms.body(form)} RETURNING {form.called}.*)")
    for part in derived:
        text = part.text.replace("{now}", now).replace("{was}", was)
        texts.append(f"{part.name}{suffix} AS ({text})")
    effects = {part.effect for part in derived}
    if COUNTED in effects and not isinstance(form, Insert):
        effects.add(UNCOUNTED)
    written = frozenset({form.table, *(part.table for part in derived)})
    reads = frozenset[str]().union(*(tables_of(part.text) - {part.table} for part in derived))
    return Parts(texts, frozenset(effects), written, reads, now)


def _derived(form: Form) -> Iterator[Part]:
    feedings = [one for one in derivations.FED if one.table == form.table and _feeds(form, one)]
    if feedings:
        # A row that two of them feed is fed once.
        yield Part("fed", FED, feedings[0].feed, _feeding(form, feedings[0]))
    for counting in derivations.COUNTED:
        if counting.table == form.table and _touches(form, counting.changed):
            yield Part("counted", COUNTED, "memstore_counts", _counting(form, counting))
    if form.table == MEMBERS.of and _touches(form, (MEMBERS.column,)):
        yield from _copying(form, MEMBERS, FILED, _members())
    if form.table == TAGS.of and _touches(form, (TAGS.column,)):
        yield from _copying(form, TAGS, TAGGED, _tags())


def _touches(form: Form, columns: Sequence[str]) -> bool:
    """Whether rows of a form are new or gone, or one of some columns is set."""
    return not isinstance(form, Update) or not form.settings.keys().isdisjoint(columns)


def _feeds(form: Form, feeding: Feeding) -> bool:
    if isinstance(form, Update):
        return not form.settings.keys().isdisjoint(feeding.changed)
    return feeding.added if isinstance(form, Insert) else feeding.removed


def _feeding(form: Form, feeding: Feeding) -> str:
    columns, values = ["tenant", "id"], ["r.tenant", feeding.id]
    if feeding.piece:
        columns.append("piece_id")
        values.append(feeding.piece)
    tests = [feeding.test] if feeding.test else []
    if feeding.has and not isinstance(form, Update):
        tests.append(f"{{row}}.{feeding.has} IS NOT NULL")
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    rows = f"SELECT {', '.join(values)} FROM {{now}} r{where}".replace("{row}", "r")
    return f"INSERT INTO {feeding.feed} ({', '.join(columns)}) {rows}"


def _counting(form: Form, counting: Counting) -> str:
    counts = partial(tables.counting, counting)

    if isinstance(form, Insert):
        changes = counts("{now}", 1)
    elif isinstance(form, Delete):
        changes = counts("{now}", -1)  # as it was
    else:
        changes = f"{counts('{now}', 1)} UNION ALL {counts('{was}', -1)}"
    key = ", ".join(("tenant", *COUNT_COLUMNS[:-1]))
    return (
        f"INSERT INTO memstore_counts ({key}, number) SELECT {key}, sum(number)"
        f" FROM ({changes}) AS changed GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(number) <> 0"
        f" ON CONFLICT ({key}) DO UPDATE SET number = memstore_counts.number + excluded.number"
    )


def _copying(form: Form, copied: Copied, effect: str, right: str) -> Iterator[Part]:
    """Yield the parts that remove what rows had, and add what they have."""
    key = ", ".join(("tenant", *copied.columns))
    if not isinstance(form, Insert):
        rows = "{now}" if isinstance(form, Delete) else "{was}"
        kept = "" if isinstance(form, Delete) else f" AND ({_of('t', copied)}) NOT IN ({right})"
        yield Part(
            f"un{effect}",
            effect,
            copied.table,
            f"DELETE FROM {copied.table} t USING {rows} r WHERE t.tenant = :{TENANT}"
            f" AND t.{copied.id} = r.id{kept}",
        )
    if not isinstance(form, Delete):
        text = f"INSERT INTO {copied.table} ({key}) {right} ON CONFLICT DO NOTHING"
        yield Part(effect, effect, copied.table, text)


def _of(alias: str, copied: Copied) -> str:
    return ", ".join(f"{alias}.{column}" for column in ("tenant", *copied.columns))


@cache
def _members() -> str:
    """Return the query for the members of the metadata of the rows as they are now."""
    kind = "json_typeof(member.value)"
    text = "member.value #>> '{}'"
    return (
        f"SELECT DISTINCT r.tenant, member.key, CASE {kind} WHEN 'string' THEN 'text'"
        " WHEN 'number' THEN 'number' WHEN 'boolean' THEN 'truth' WHEN 'null' THEN 'null'"
        f" ELSE 'other' END, CASE {kind} WHEN 'string' THEN {text} WHEN 'number' THEN {text}"
        f" WHEN 'boolean' THEN CASE {text} WHEN 'true' THEN '1' ELSE '0' END ELSE '' END, r.id"
        f" FROM {{now}} r CROSS JOIN json_each({OBJECT.format('r.metadata')}) AS member"
    )


@cache
def _tags() -> str:
    """Return the query for the tags of the rows as they are now."""
    return (
        "SELECT DISTINCT r.tenant, tag.value, r.id FROM {now} r CROSS JOIN"
        f" json_array_elements_text({ARRAY.format('r.tags')}) AS tag (value)"
    )
