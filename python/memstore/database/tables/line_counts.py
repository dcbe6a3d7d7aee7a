"""How many lines of each kind the journal has, and by whom, by stretches of its lines.

A row is about 256 lines and is written with the last of them, so that a change costs nothing
besides; what counts a day or an act reads the rows, and the lines at either end. Only lines of
everybody and lines about what has no owner are counted: those of certain owners are fewer. Who
wrote the lines is not counted, only named: a stretch mostly has one author.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.acts import STRETCH
from memstore.database.engine import Write
from memstore.database.journal import Kind
from memstore.database.writes import Delete, Insert, Update
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from memstore.database.engine import Row, Transaction

USUALLY_LEFT_OUT: Final = (Kind.EMBED, Kind.QUARANTINE)
"""Kinds that change nothing that anybody said; shown if they are asked for."""

IMPORT: Final = "import"
"""The kind of lines that came from another file, whatever they are about."""

FOUND: Final = (("memstore", "adoption"), ("memstore", "migration"))
"""Who takes in the facts of other programs, and of older files."""

KIND: Final = (
    f"CASE WHEN said_at IS NOT NULL OR (kind = '{Kind.ADOPT}'"
    + "".join(f" AND NOT (actor = '{a}' AND memstore_journal.source = '{s}')" for a, s in FOUND)
    + f") THEN '{IMPORT}' ELSE kind END"
)
"""The kind by which a line is told."""

TABLE: Final = "memstore_line_counts"
MAX_NUMBERS: Final = 32
"""A stretch with more numbers has none, and its lines are read."""
MAX_AUTHORS: Final = 8
"""Of a stretch with more authors, none is named; with more runs, no run is."""
MAX_AT_ONCE: Final = 400
"""Stretches that one write counts at most, besides its own."""

SAVING: Final = Insert(
    TABLE, ("stretch", "counts"), unique=("stretch",), instead="counts = excluded.counts"
)
_to_text: Final = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))

REMOVING: Final = Delete(TABLE, "stretch >= :first AND stretch <= :last")


class LineCount(NamedTuple):
    """How many lines of a stretch have one kind and are about one namespace."""

    namespace: str | None
    """``None`` for lines about the whole file."""
    kind: str
    """As :data:`KIND` tells it."""
    number: int
    unowned: int
    """How many of them are about what has no owner."""


class Counted(NamedTuple):
    """What is known of the lines of a stretch."""

    numbers: Sequence[LineCount]
    authors: Sequence[tuple[str, str]] | None
    """The actor and the program of each line, and the source that a confirmation says again, each
    once; ``None`` if that is not known."""
    runs: Sequence[str | None] | None = None
    """The run of each line, in hexadecimal digits, each once."""


def keep(transaction: Transaction, first: int, last: int) -> None:
    """Count the stretches that end among the lines of an act.

    Those before that were never counted are made up for, some at a time.
    """
    counted = transaction.scalar(f"SELECT coalesce(max(stretch), -1) FROM {TABLE}")
    begin = min(counted + 1, first // STRETCH)
    ended = (last + 1) // STRETCH - 1
    save(transaction, begin, min(ended, begin + MAX_AT_ONCE + (last - first) // STRETCH))


def save(transaction: Transaction, first: int, last: int) -> None:
    """Count these stretches, whose lines are all written, and keep the numbers."""
    for stretch, counted in _counted(transaction, first, last):
        transaction.run(SAVING, {"stretch": stretch, "counts": _text(counted)})


BY: Final = '{"by":'
"""How the authors begin, after the numbers."""


def _text(counted: Counted) -> str:
    if len(counted.numbers) > MAX_NUMBERS:
        return ""
    if counted.authors is None:
        return _to_text(counted.numbers)
    by = {"by": counted.authors, "in": counted.runs}
    return _to_text([*counted.numbers, by])


def _counted(transaction: Transaction, first: int, last: int) -> Iterator[tuple[int, Counted]]:
    restated = transaction.dialect.member("evidence", "'restated'")
    owner = "coalesce(f.user_id, f.agent_id, f.run_id, e.user_id, e.agent_id, e.run_id)"
    rows = transaction.rows(
        f"SELECT memstore_journal.id / {STRETCH}, coalesce(f.namespace, e.namespace), {KIND},"
        f" count(*), sum(CASE WHEN {owner} IS NULL THEN 1 ELSE 0 END), actor,"
        f" memstore_journal.source, run, CASE WHEN kind = '{Kind.CONFIRM}' THEN {restated} END"
        " FROM memstore_journal"
        " LEFT JOIN memstore_facts f ON f.id = memstore_journal.fact_id"
        " LEFT JOIN memstore_episodes e"
        "  ON memstore_journal.fact_id IS NULL AND e.id = memstore_journal.episode_id"
        " WHERE memstore_journal.id >= :first AND memstore_journal.id < :end"
        f" AND kind NOT IN {tuple(map(str, USUALLY_LEFT_OUT))}"
        " AND (f.id IS NOT NULL OR e.id IS NOT NULL"
        "  OR (memstore_journal.fact_id IS NULL AND memstore_journal.episode_id IS NULL))"
        " GROUP BY 1, 2, 3, 6, 7, 8, 9 ORDER BY 1, 2, 3",
        {"first": first * STRETCH, "end": (last + 1) * STRETCH},
    )
    by_stretch: dict[int, list[Row]] = {}
    for stretch, *counted in rows:
        by_stretch.setdefault(int(str(stretch)), []).append(tuple(counted))
    for stretch in range(first, last + 1):
        yield stretch, _summed(by_stretch.get(stretch, ()))


def _summed(rows: Iterable[Row]) -> Counted:
    """Return the numbers of a stretch, of which each row has a part that is of one author."""
    numbers: dict[tuple[str | None, str], LineCount] = {}
    authors: set[tuple[str, str]] = set()
    runs: set[str | None] = set()
    for namespace, kind, number, unowned, actor, source, run, restated in rows:
        known = numbers.get((namespace, kind), LineCount(namespace, kind, 0, 0))
        numbers[namespace, kind] = known._replace(
            number=known.number + number, unowned=known.unowned + unowned
        )
        authors |= {(actor, source), (actor, source if restated is None else restated)}
        runs.add(None if run is None else bytes(run).hex())
    return Counted(
        [*numbers.values()],
        sorted(authors) if len(authors) <= MAX_AUTHORS else None,
        sorted(runs, key=str) if len(runs) <= MAX_AUTHORS else None,
    )


def spoiling(column: str, id_: int) -> Write:
    """Return the write after which the lines about a row are read again: it loses its owner.

    Args:
        column: ``fact_id`` or ``episode_id``.
    """
    among = f"SELECT id / {STRETCH} FROM memstore_journal WHERE {column} = :id"
    form = Update(TABLE, {"counts": "''"}, f"stretch IN ({among}) AND counts <> ''")
    return Write(form, {"id": id_})


def spoiling_line(line_id: int) -> Write:
    """Return the write after which the lines beside one are read again: it loses its evidence."""
    form = Update(TABLE, {"counts": "''"}, "stretch = :stretch AND counts <> ''")
    return Write(form, {"stretch": line_id // STRETCH})


def between(transaction: Transaction, first: int, last: int) -> dict[int, Counted]:
    """Return what is known of the stretches that are among these lines and have been counted."""
    rows = transaction.rows(
        f"SELECT stretch, counts FROM {TABLE} WHERE stretch >= :first AND stretch < :end"
        " AND counts <> '' ORDER BY stretch",
        {"first": -(-first // STRETCH), "end": (last + 1) // STRETCH},
    )
    known: dict[str, Counted] = {}  # many stretches have the same numbers
    found = {}
    for stretch, counts in rows:
        if (one := known.get(str(counts))) is None:
            one = known[str(counts)] = _read(str(counts))
        found[int(stretch)] = one
    return found


def _read(counts: str) -> Counted:
    numbers: list[Any] = json.loads(counts)
    if not numbers or not isinstance(numbers[-1], dict):
        return Counted([LineCount(*one) for one in numbers], None)
    *numbers, by = numbers
    authors = [(actor, source) for actor, source in by["by"]]
    return Counted([LineCount(*one) for one in numbers], authors, by["in"])


def word(part: str | None) -> str:
    """Return a namespace, a kind, or ``None`` for the whole file, as the numbers have it."""
    return "[null," if part is None else _to_text(part)


class Wanted(NamedTuple):
    """What stretches have that may have wanted lines; those that are not counted may have any."""

    words: Sequence[Sequence[str]] = ()
    """The numbers of the others lack every word of one of these lists."""
    actor: str | None = None
    """Among the authors of the lines, if they are named."""
    source: str | None = None
    stretches: Callable[[], Sequence[int] | None] | None = None
    """Returns those that may have wanted lines though the source is none of their authors, in
    order, and ``None`` if any may; it is asked once there is one of other authors."""
    run: bytes | None = None
    """Among the runs of the lines, if they are named."""
    owned: Sequence[str] = ()
    """Kinds of which only lines are wanted that are about what has an owner; with ``words``."""

    @property
    def narrows(self) -> bool:
        return bool(self.words) or any(self._replace(words=(), owned=()))


def newest(transaction: Transaction) -> int:
    """Return the last of the stretches of which each was counted; -1 for none."""
    counted = transaction.one(f"SELECT count(*), coalesce(max(stretch), -1) FROM {TABLE}")
    number, last = counted or (0, -1)
    return -1 if number <= last else int(last)  # there are gaps


def spans(
    transaction: Transaction,
    first: int,
    last: int,
    wanted: Wanted,
    *,
    newest_first: bool,
    known: int | None = None,
) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of stretches that may have certain lines.

    Args:
        first: of the lines, as ``last``.
        known: what :func:`newest` returns; ``None`` if that is not known.
    """
    low, high = first // STRETCH, last // STRETCH
    end = newest(transaction) if known is None else known
    rest = range(max(low, end + 1), high + 1)
    if rest and newest_first:
        yield rest[0] * STRETCH, high * STRETCH + STRETCH - 1
    high = min(high, end)
    parts = range(low, high + 1, MAX_AT_ONCE)
    for begin in reversed(parts) if newest_first else parts:
        found = _matching(transaction, begin, min(high, begin + MAX_AT_ONCE - 1), wanted)
        runs = [*joined(found)]
        for one in reversed(runs) if newest_first else runs:
            yield one[0] * STRETCH, one[1] * STRETCH + STRETCH - 1
    if rest and not newest_first:
        yield rest[0] * STRETCH, rest[-1] * STRETCH + STRETCH - 1


def of_source(transaction: Transaction, source: str) -> list[int]:
    """Return the counted stretches that may have lines of a source, or that say it again."""
    last = transaction.scalar(f"SELECT coalesce(max(stretch), -1) FROM {TABLE}")
    return _matching(transaction, 0, last, Wanted(source=source))


def last_erasure(transaction: Transaction) -> int:
    """Return the last line by which something was erased; 0 if nothing was."""
    kinds = Kind.ERASE, Kind.ERASE_EPISODE
    wanted = Wanted([[*map(word, kinds)]])
    last = journal.last_id(transaction)
    found = (
        transaction.scalar(
            "SELECT max(id) FROM memstore_journal WHERE id >= :begin AND id <= :end"
            f" AND kind IN {tuple(map(str, kinds))}",
            {"begin": begin, "end": end},
        )
        for begin, end in spans(transaction, 1, last, wanted, newest_first=True)
    )
    return next(filter(None, found), 0)


def _matching(transaction: Transaction, first: int, last: int, wanted: Wanted) -> list[int]:
    """Return the stretches among these that may have wanted lines."""
    position = transaction.dialect.position
    values: dict[str, Any] = {}
    tests = []
    for place, some in enumerate(wanted.words):
        names = [f"word_{place}_{number}" for number in range(len(some))]
        values |= dict(zip(names, some, strict=True))
        has = (f"{position('counts', f':{name}')} > 0" for name in names)
        tests.append(f"({' OR '.join(has) or 'FALSE'})")
    unnamed = f"{position('counts', ':by')} = 0"
    if wanted.actor is not None:
        tests.append(f"({unnamed} OR {position('counts', ':actor')} > 0)")
        values["actor"] = f"[{_to_text(wanted.actor)},"
    if wanted.run is not None:
        runs = f"{position('counts', ':no_run')} > 0 OR {position('counts', ':run')} > 0"
        tests.append(f"({unnamed} OR {runs})")
        values |= {"run": f'"{wanted.run.hex()}"', "no_run": '],"in":null'}
    if any(wanted._replace(words=(), owned=())):
        values["by"] = BY
    values |= {"first": first, "last": last}
    among = f"FROM {TABLE} WHERE stretch >= :first AND stretch <= :last"
    if wanted.source is not None:
        values["source"] = f",{_to_text(wanted.source)}]"
        named = f"{unnamed} OR {position('counts', ':source')} > 0"
        others = " AND ".join([*tests, f"NOT ({named})"])
        also: Sequence[int] | None = ()
        if wanted.stretches is not None and transaction.one(
            f"SELECT 1 {among} AND counts <> '' AND {others} LIMIT 1", values
        ):
            also = wanted.stretches()
        if also is not None:
            tests.append(f"({named} OR stretch IN {transaction.dialect.listed('also')})")
            values["also"] = also[bisect_left(also, first) : bisect_right(also, last)]
    matching = f"{among} AND (counts = '' OR ({' AND '.join(tests) or 'TRUE'})) ORDER BY stretch"
    if not wanted.owned:
        return transaction.ints(f"SELECT stretch {matching}", values)
    known: dict[str, bool] = {}
    found = []
    for stretch, counts in transaction.rows(f"SELECT stretch, counts {matching}", values):
        if counts not in known:
            known[counts] = not counts or has_owned(_read(counts), wanted.owned)
        if known[counts]:
            found.append(int(stretch))
    return found


def has_owned(counted: Counted, kinds: Collection[str]) -> bool:
    """Whether any line of these kinds is about what has an owner."""
    return any(one.number > one.unowned for one in counted.numbers if one.kind in kinds)


def joined(stretches: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of those that follow each other."""
    begin = end = -1
    for stretch in stretches:
        if stretch != end + 1 or begin < 0:
            if begin >= 0:
                yield begin, end
            begin = stretch
        end = stretch
    if begin >= 0:
        yield begin, end


def misfits(transaction: Transaction) -> list[int]:
    """Return the stretches whose numbers are not those of their lines; none is no number."""
    rows = transaction.rows(
        f"SELECT stretch, counts FROM {TABLE} WHERE counts <> '' ORDER BY stretch"
    )
    held = {int(stretch): str(counts) for stretch, counts in rows}
    right = dict(_counted(transaction, 0, _ended(transaction)))
    return [
        stretch for stretch, counts in held.items() if not _is_right(counts, right.get(stretch))
    ]


def _is_right(counts: str, counted: Counted | None) -> bool:
    """Whether a row is as it would be written now, or was by a build that named no authors."""
    if counted is None:
        return False
    return counts in (_text(counted), _text(counted._replace(authors=None)))


def counting_again(transaction: Transaction) -> Iterator[Callable[[Transaction], object]]:
    """Yield the writes that count all stretches, some at a time."""
    for first in range(0, _ended(transaction) + 1, MAX_AT_ONCE):
        yield partial(_replace, first, first + MAX_AT_ONCE - 1)


def _replace(first: int, last: int, transaction: Transaction) -> None:
    transaction.run(REMOVING, {"first": first, "last": last})
    save(transaction, first, min(last, _ended(transaction)))


def _ended(transaction: Transaction) -> int:
    """Return the last stretch whose lines are all written; -1 for none."""
    return (journal.last_id(transaction) + 1) // STRETCH - 1
