"""The filters of a list or search: fields of a form, read one by one; what is wrong is said there.

What was chosen is kept in the session under a number, because addresses hold no stored text.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.domain import zones
from memstore.domain.arguments import MAX_NAME
from memstore.domain.records import EVERYBODY, Scope
from memstore.errors import Explained
from memstore.faces import wording
from memstore.frozen import from_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

    from memstore.domain.records import OwnersSelection
    from memstore.faces.web.visit import Visit
    from memstore.store.store import Store
    from memstore.store.view import View

Q = TypeVar("Q")

LABELS: Final = {
    "subject": ("Subject", ""),
    "category": ("Category", ""),
    "source": ("Source", "as the fact names it"),
    "state": ("State", ""),
    "user": ("User", "the owner"),
    "agent": ("Agent", "the owner"),
    "run": ("Run", "the owner"),
    "from": ("{} from", ""),
    "until": ("{} until", "that day included"),
    "as_of": ("As of", "a date, yesterday, 2h, or op:1234"),
}
"""The fields by name: their labels and hints; braces stand for what the days are of."""

REMOVED: Final = ("superseded", "deleted", "expired", "distrusted")
"""The states of what is not believed."""

STATES: Final = (
    ("", "believed now"),
    ("superseded", "replaced"),
    ("deleted", "deleted"),
    ("expired", "expired"),
    ("distrusted", "source not trusted"),
    ("every", "in any state"),
)

REMOVED_STATES: Final = (
    ("", "any of these"),
    *((state, text) for state, text in STATES if state in REMOVED),
)

EVERY_STATE: Final = ("active", "superseded", "deleted", "expired", "distrusted")

DAYS: Final = ("from", "until")

MAX_FIELD: Final = 4000
"""Characters of a field that are kept."""


class Filters:
    """What a person chose to see.

    Args:
        fields: the posted fields by name; others than ours are left out.
        zone: in which days begin and end.
        dated: what is said of the days.
        states: those to choose from, and what each is called.
    """

    def __init__(
        self,
        fields: Mapping[str, str],
        zone: tzinfo | None = None,
        dated: str = "Stored",
        states: Sequence[tuple[str, str]] = STATES,
    ) -> None:
        known = {name: fields.get(name, "").strip()[:MAX_FIELD] for name in LABELS}
        self.fields = {name: value for name, value in known.items() if value}
        self.problems: dict[str, str] = {}
        """What is wrong with a field, by its name; it then filters nothing."""
        self.states = states
        self.days = DAYS
        self._zone = zone
        self._dated = dated
        if self.fields.get("state", "") not in dict(states):
            del self.fields["state"]
        self._days = {name: self._day(name) for name in DAYS}
        self.used = {name: value for name, value in self.fields.items() if self._is_right(name)}
        """The fields that filter: those that nothing is wrong with."""

    def __bool__(self) -> bool:
        return bool(self.fields)

    def _is_right(self, name: str) -> bool:
        if len(self.fields[name]) > MAX_NAME:
            self.problems[name] = f"At most {MAX_NAME} characters."
        return name not in self.problems

    @property
    def count(self) -> int:
        return len(self.fields)

    def shown(self, only: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        """Yield the name, label and hint of these fields."""
        for name in only:
            label, hint = LABELS[name]
            yield name, label.format(self._dated), hint

    @property
    def owners(self) -> OwnersSelection:
        """The chosen owners; everybody if none is."""
        chosen = {f"{name}_id": self.used.get(name) for name in ("user", "agent", "run")}
        return Scope(**chosen) if any(chosen.values()) else EVERYBODY

    def question(self, kind: type[Q]) -> Q:
        """Return a question of this kind, narrowed by the chosen fields that it has."""
        wanted: dict[str, Any] = {**self.used}
        first, last = self._days["from"], self._days["until"]
        if first is not None:  # the library leaves out the moment itself
            wanted["created_after"] = self._midnight(first) - timedelta(microseconds=1)
        if last is not None:
            wanted["created_before"] = self._midnight(last + timedelta(days=1))
        state = self.used.get("state")
        if state is not None:
            wanted["states"] = EVERY_STATE if state == "every" else (state,)
        return from_arguments(kind, wanted)

    def seen(self, store: Store) -> View:
        """Return the store of the chosen owners, or what it was as of the chosen moment."""
        store = store.of(self.owners)
        moment = self.used.get("as_of")
        if moment is None:
            return store
        try:
            return store.as_of(moment)
        except (Explained, ValueError) as error:
            self.problems["as_of"] = wording.in_pages(error)
            del self.used["as_of"]
            return store

    def _day(self, name: str) -> date | None:
        text = self.fields.get(name)
        if text is None:
            return None
        try:
            day = date.fromisoformat(text)
            self._midnight(day + timedelta(days=1))
        except (ValueError, OverflowError):
            self.problems[name] = "This is no date: give one such as 2026-08-18."
            return None
        return day

    def _midnight(self, day: date) -> datetime:
        with zones.use(self._zone):
            return zones.start(day)


def of(visit: Visit) -> Filters:
    """Return what was chosen earlier, under the number ``q`` of the address."""
    return Filters(visit.kept(), visit.zone)


def keep(visit: Visit, path: str) -> str:
    """Keep what was posted, and return the address that shows it."""
    chosen = Filters({} if visit.field("reset") else visit.fields)
    return f"{path}?q={visit.session.keep(chosen.fields)}" if chosen else path
