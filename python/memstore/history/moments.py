"""Finding the place in the journal that a time, a line, a run or an episode names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.database import journal, selected
from memstore.database.acts import TICK
from memstore.domain import clock, moments
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, check_length
from memstore.domain.moments import Moment
from memstore.domain.plans import run_bytes
from memstore.errors import InvalidArgument, NotFound, Remedy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.database.selected import Place

NOW: Final = "now"
NAMED: Final = re.compile(r"(op|run|episode):(.*)", re.DOTALL)
NUMBER: Final = re.compile(r"[0-9]{1,19}")


class _Call(NamedTuple):
    transaction: Transaction
    namespaces: Sequence[str] | None
    name: str
    """What the caller's argument is called."""


def resolve(
    transaction: Transaction,
    moment: datetime | str,
    namespaces: Sequence[str] | None = None,
    *,
    name: str = "moment",
) -> Moment:
    """Return the place in the journal that a moment names; only lines of this file's clock count.

    Args:
        moment: a time, with the state after the last act at or before it; a date (or ``today``,
            ``yesterday``), with the state at its end in UTC; ``now``; an age such as ``2h``;
            ``"op:1234"``, the state after the whole act of this line; ``"run:UUID"`` or
            ``"episode:12"``, the state before the act with which a run began, or which recorded an
            episode.
        namespaces: only lines about facts and episodes of these can be named, and only they say
            when the journal began; ``None`` means every line of the file.
        name: what the argument is called in errors.

    Raises:
        NotFound: no such line, run or episode.
        ValueError: before the first line, in the future, or text that cannot be read.
    """
    call = _Call(transaction, namespaces, name)
    named = None
    if isinstance(moment, str):
        check_length(moment, name, MAX_NAME)
        named = NAMED.fullmatch(moment.strip())
    line, at = _at(call, moment) if named is None else FORMS[named[1]](call, named[2].strip())
    return Moment(
        line,
        at,
        selected.last_born(transaction, line, "fact_id"),
        selected.last_born(transaction, line, "episode_id"),
    )


def _at(call: _Call, moment: datetime | str) -> tuple[int, datetime]:
    last = selected.last_line(call.transaction)
    latest = max(clock.utc_now(), clock.utc_now() if last is None else last.at)
    if isinstance(moment, str) and moment.strip().lower() == NOW:
        return (0 if last is None else last.line), latest
    at = _time(call, moment, latest)
    if at > latest:
        raise InvalidArgument(f"is in the future: {moment}", argument=call.name)
    first = selected.first_line(call.transaction, call.namespaces)
    if first is None or at < first.at:
        raise _before(call, first)
    return selected.last_until(call.transaction, at), at


def _time(call: _Call, moment: datetime | str, latest: datetime) -> datetime:
    if isinstance(moment, str):
        named = moments.day(moment)
        if named is not None:
            began = moments.start(named)
            return began if began > latest else min(moments.end(named), latest)
        past = moments.ago(moment)
        if past is not None:
            return past
        try:
            return clock.from_text(moment)
        except ValueError:
            raise _unreadable(call, moment) from None
    at = clock.moment(moment, call.name)
    if at is None:
        raise _unreadable(call, moment)
    return at


def _operation(call: _Call, text: str) -> tuple[int, datetime]:
    id_ = _number(call, "op", text)
    place = selected.line(call.transaction, id_, call.namespaces)
    if place is None:
        last = journal.last_id(call.transaction)
        ends = "" if call.namespaces is not None else f"; the last one is {last}"
        raise NotFound(f"there is no line {id_} in the journal{ends}")
    return selected.last_until(call.transaction, place.at), place.at


def _run(call: _Call, text: str) -> tuple[int, datetime]:
    run = run_bytes(text, call.name)
    place = selected.first_of_run(call.transaction, run, call.namespaces)
    if place is None:
        raise NotFound(f"no line of the journal was written in run {clock.uuid_text(run)}")
    return _preceding(call, place)


def _episode(call: _Call, text: str) -> tuple[int, datetime]:
    id_ = _number(call, "episode", text)
    place = selected.first_of_episode(call.transaction, id_, call.namespaces)
    if place is None:
        raise NotFound(f"there is no episode {id_}", remedy=Remedy.FIND_EPISODE)
    return _preceding(call, place)


def _preceding(call: _Call, place: Place) -> tuple[int, datetime]:
    """Return the state before the act of a line."""
    line = selected.last_until(call.transaction, place.at - TICK)
    first = selected.first_line(call.transaction, call.namespaces)
    if line == 0 or first is None or place.at <= first.at:
        raise _before(call, first)
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


def _before(call: _Call, first: Place | None) -> InvalidArgument:
    if first is None:
        return InvalidArgument(
            "is before the journal begins: nothing was stored yet", argument=call.name
        )
    return InvalidArgument(
        f"is before the journal begins, with a line of {clock.to_text(first.at)}",
        argument=call.name,
        remedy=Remedy.LATER_MOMENT,
    )


FORMS: Final[Mapping[str, Callable[[_Call, str], tuple[int, datetime]]]] = {
    "op": _operation,
    "run": _run,
    "episode": _episode,
}
