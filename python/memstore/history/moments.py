"""Finding the place in the journal that a time, a line, a run or an episode names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memstore.database import journal, line_filters
from memstore.database.acts import TICK
from memstore.database.tables import episodes as episode_table
from memstore.domain import clock, moments
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, check_length
from memstore.domain.moments import Moment, TimeSpan
from memstore.domain.plans import run_bytes
from memstore.errors import InvalidArgument, NotFound, Remedy
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.database.line_filters import LineMoment
    from memstore.domain.standing import Standing

NAMED: Final = re.compile(r"(op|run|episode):(.*)", re.DOTALL)
NUMBER: Final = re.compile(r"[0-9]{1,19}")


class _Call(NamedTuple):
    transaction: Transaction
    standing: Standing | None
    name: str
    """What the caller's argument is called."""

    @property
    def namespaces(self) -> Sequence[str] | None:
        """Those whose lines may be named; ``None`` for all."""
        return None if self.standing is None else self.standing.nameable

    def reaches(self, episode_id: int) -> bool:
        """Whether an episode is of the owners of the caller."""
        if self.standing is None or self.standing.bound is None:
            return True
        episode = episode_table.get_many(self.transaction, [episode_id]).get(episode_id)
        return episode is not None and self.standing.reaches(episode)


def resolve(
    transaction: Transaction,
    moment: datetime | str,
    standing: Standing | None = None,
    *,
    name: str = "moment",
) -> Moment:
    """Return the place in the journal that a moment names; only lines of this file's clock count.

    Args:
        moment: a time, with the state after the last act at or before it; a date (or ``today``,
            ``yesterday``), with the state at the end of the user's day; a minute or a second, with
            the state at its end; ``now``; an age such as ``2h``;
            ``"op:1234"``, the state after the whole act of this line; ``"run:UUID"`` or
            ``"episode:12"``, the state before the act with which a run began, or which recorded an
            episode.
        standing: of the caller. If it is confined, only lines of its namespace can be named, and
            only they say when the journal began; episodes are those of its owners.
        name: what the argument is called in errors.

    Raises:
        NotFound: no such line, run or episode.
        ValueError: in the future, or text that cannot be read; or before the first line of a file
            that was upgraded and held facts before. Else nothing was there before the first line.
    """
    call = _Call(transaction, standing, name)
    place = _named(call, moment)
    if place is None:
        line, at = _at(call, moment)
    else:
        line, at = _after(call, place) if place.counts else _preceding(call, place)
    return Moment(
        line,
        at,
        line_filters.last_born(transaction, line, "fact_id"),
        line_filters.last_born(transaction, line, "episode_id"),
    )


def first_time(
    transaction: Transaction,
    moment: datetime | str,
    standing: Standing | None = None,
    *,
    name: str = "since",
) -> datetime:
    """Return the time from which on acts are after a moment, or at it; a day begins with its start.

    It may be before the first line, or in the future. See :func:`resolve` for the rest.
    """
    call = _Call(transaction, standing, name)
    place = _named(call, moment)
    if place is None:
        return _span(call, moment).first
    return place.at + TICK if place.counts else place.at


def last_time(
    transaction: Transaction,
    moment: datetime | str,
    standing: Standing | None = None,
    *,
    name: str = "until",
) -> datetime:
    """Return the time up to which acts count at a moment; a day ends with its end.

    It may be before the first line, or in the future. See :func:`resolve` for the rest.
    """
    call = _Call(transaction, standing, name)
    place = _named(call, moment)
    if place is not None:
        return place.at if place.counts else place.at - TICK
    return _span(call, moment).last


class _Named(NamedTuple):
    """The line that a moment names."""

    at: datetime
    counts: bool
    """Whether its act belongs to the moment: the state of a line is after it, of a run before."""


def _named(call: _Call, moment: datetime | str) -> _Named | None:
    if not isinstance(moment, str):
        return None
    check_length(moment, call.name, MAX_NAME)
    found = NAMED.fullmatch(moment.strip())
    return None if found is None else FORMS[found[1]](call, found[2].strip())


def _span(call: _Call, moment: datetime | str) -> TimeSpan:
    at = None
    try:
        at = moments.span(moment, call.name)
    except InvalidArgument as error:
        if not isinstance(moment, str):
            raise
        raise _unreadable(call, moment) from error.__cause__
    if at is None:
        raise _unreadable(call, moment)
    return at


def _at(call: _Call, moment: datetime | str) -> tuple[int, datetime]:
    last = line_filters.last_line(call.transaction)
    latest = max(clock.utc_now(), clock.utc_now() if last is None else last.at)
    if isinstance(moment, str) and moment.strip().lower() == moments.NOW:
        return (0 if last is None else last.line), latest
    at = _time(call, moment, latest)
    if at > latest:
        raise InvalidArgument(f"is in the future: {moment}", argument=call.name)
    first = line_filters.first_line(call.transaction, call.namespaces)
    if first is None or at < first.at:
        _check_nothing_was_there(call, first)
    return line_filters.last_until(call.transaction, at), at


def _time(call: _Call, moment: datetime | str, latest: datetime) -> datetime:
    named = _span(call, moment)
    return named.first if named.first > latest else min(named.last, latest)


def _operation(call: _Call, text: str) -> _Named:
    id_ = _number(call, "op", text)
    place = line_filters.line(call.transaction, id_, call.namespaces)
    if place is None:
        last = journal.last_id(call.transaction)
        ends = "" if call.namespaces is not None else f"; the last one is {last}"
        raise NotFound(f"there is no line {id_} in the journal{ends}")
    return _Named(place.at, counts=True)


def _run(call: _Call, text: str) -> _Named:
    run = run_bytes(text, call.name)
    place = line_filters.first_of_run(call.transaction, run, call.namespaces)
    if place is None:
        raise NotFound(f"no line of the journal was written in run {clock.uuid_text(run)}")
    return _Named(place.at, counts=False)


def _episode(call: _Call, text: str) -> _Named:
    id_ = _number(call, "episode", text)
    place = line_filters.first_of_episode(call.transaction, id_, call.namespaces)
    if place is None or not call.reaches(id_):
        raise NotFound(f"there is no episode {id_}", remedy=Remedy.FIND_EPISODE)
    return _Named(place.at, counts=False)


def _after(call: _Call, place: _Named) -> tuple[int, datetime]:
    """Return the state after the act of a line."""
    return line_filters.last_until(call.transaction, place.at), place.at


def _preceding(call: _Call, place: _Named) -> tuple[int, datetime]:
    """Return the state before the act of a line."""
    line = line_filters.last_until(call.transaction, place.at - TICK)
    first = line_filters.first_line(call.transaction, call.namespaces)
    if first is None or place.at <= first.at:
        _check_nothing_was_there(call, first)
    return line, place.at - TICK


def _number(call: _Call, form: str, text: str) -> int:
    number = int(text) if NUMBER.fullmatch(text) else 0
    if not 0 < number <= MAX_NUMBER:
        raise _unreadable(call, f"{form}:{text}")
    return number


def _unreadable(call: _Call, moment: object) -> InvalidArgument:
    return InvalidArgument(
        f"is not a moment: {moment!r}; give {moments.ACCEPTED_FORMS}", argument=call.name
    )


def _check_nothing_was_there(call: _Call, first: LineMoment | None) -> None:
    """Refuse a moment before the journal of a file that held facts before it had one."""
    if first is not None and line_filters.is_upgraded(call.transaction, first.line):
        raise InvalidArgument(
            f"is before the journal begins, with a line of {clock.to_text(first.at)}",
            argument=call.name,
            remedy=Remedy.LATER_MOMENT,
        )


FORMS: Final[Mapping[str, Callable[[_Call, str], _Named]]] = {
    "op": _operation,
    "run": _run,
    "episode": _episode,
}
