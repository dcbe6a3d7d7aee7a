"""Plans: what would be done, in words, before anything is done."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.arguments import (
    MAX_NAME,
    MAX_NUMBER,
    checked_id,
    checked_items,
    checked_number,
    checked_text,
)
from memstore.domain.records import Record
from memstore.errors import Conflict, InvalidArgument, Remedy
from memstore.frozen import field, frozen
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

RUN_BYTES: Final = 16
LEAVE: Final = "leave"
UNDO: Final = "undo"
DECISIONS: Final = (LEAVE, UNDO)
"""What may be decided about a conflict."""


class Action(StrEnum):
    """What taking back a change does."""

    DELETE = "delete"
    """The fact was added; it is deleted."""
    RESTORE = "restore"
    """The fact was deleted; it is restored."""
    SUPERSEDE = "supersede"
    """A supersession had been taken back; it holds again."""
    REACTIVATE = "reactivate"
    """The fact was superseded; it is active again."""
    METADATA = "metadata"
    UPDATE = "update"
    """Its expiry or its external key was changed."""
    PIN = "pin"
    UNPIN = "unpin"
    CONFIRM = "confirm"
    UNCONFIRM = "unconfirm"
    UNSUPPORT = "unsupport"
    """The fact was added, and something else speaks for it: it stays, without this support."""
    SUPPORT = "support"
    """A support had been taken back; it counts again."""
    REJECT = "reject"
    """It was proposed to supersede the fact; the proposal is rejected."""
    REOPEN = "reopen"
    """A proposal had been decided; it is open again."""
    ACCEPT = "accept"
    """The decision on a proposal had been taken back; it is accepted again."""


@frozen(kw_only=True)
class Step(Record):
    """One thing that a plan does to one fact."""

    fact_id: int
    claim: str
    """The fact's subject and text."""
    action: str
    text: str
    """What happens, as a sentence without its subject: "is deleted"."""
    reason: str
    """Which change this takes back."""
    lines: tuple[int, ...]
    """The lines of the journal that it takes back."""
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The fact's new values by column, as JSON values."""
    proposal_id: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: one for name, one in Record.to_dict(self).items() if name != "values"}


@frozen(kw_only=True)
class PlanConflict(Record):
    """A fact that something outside the selection changed later, or relies on.

    It is left alone, unless the caller decides to undo it all the same.
    """

    fact_id: int
    claim: str
    reason: str
    steps: tuple[Step, ...]
    """What would happen then."""


@frozen(kw_only=True)
class Reverted(Record):
    """What applying a plan did."""

    act: int | None
    """The id of the first line that it wrote; ``None`` if there was nothing to do."""
    lines: tuple[int, ...]
    """The lines that it wrote. ``store.ledger.revert(lines=done.lines)`` takes it back."""
    steps: tuple[Step, ...]


def outdated() -> Conflict:
    """Return the error of a plan that does not hold any more."""
    return Conflict(
        "a fact of this plan was changed after the plan was drawn up; nothing was done",
        remedy=Remedy.PLAN_AGAIN,
    )


class Selection(NamedTuple):
    """Which lines of the journal; each condition that is given narrows the selection."""

    episode: int | None = None
    source: str | None = None
    run: bytes | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    lines: tuple[int, ...] | None = None
    acts: tuple[int, ...] | None = None


def selection(
    *,
    episode: int | None,
    source: str | None,
    run: str | None,
    actor: str | None,
    since: datetime | None,
    lines: Iterable[int] | None,
    until: datetime | None = None,
    acts: Iterable[int] | None = None,
) -> Selection:
    """Return a caller's selection, checked."""
    return Selection(
        episode=None if episode is None else _id(episode, "episode"),
        source=None if source is None else checked_text(source, "source", MAX_NAME),
        run=None if run is None else run_bytes(run, "run"),
        actor=None if actor is None else checked_text(actor, "actor", MAX_NAME),
        since=since,
        until=until,
        lines=_ids(lines, "lines"),
        acts=_ids(acts, "acts"),
    )


def _ids(given: Iterable[int] | None, name: str) -> tuple[int, ...] | None:
    return None if given is None else tuple(_id(one, name) for one in checked_items(given, name))


def _id(value: int, name: str) -> int:
    checked_id(value, name)
    checked_number(value, name, -MAX_NUMBER, MAX_NUMBER)
    return value


def run_bytes(text: str, name: str) -> bytes:
    """Return the id of a run, given as text."""
    digits = checked_text(text, name, MAX_NAME).replace("-", "")
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        found = b""
    if len(found) != RUN_BYTES:
        raise InvalidArgument(
            f"is not the id of a run, a UUID as the journal has it: {text!r}", argument=name
        )
    return found
