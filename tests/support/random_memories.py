"""Random memories for properties: a namespace to which what numbers say was done."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hypothesis import strategies as st

from memstore import Fact, MemstoreError, Scope, Store
from memstore.domain.standing import Standing
from memstore.store.store import file_of

ANA: Final = Scope(user_id="ana")
BOB: Final = Scope(user_id="bob", run_id="1")
OWNERS: Final[dict[str, Any]] = {"nobody": None, "ana": ANA, "all": "all"}
SUBJECTS: Final = ("ana", "Bob", "todo", "Zoë", "bobbin")
WORDS: Final = ("tea", "milk", "Rome", "Oslo", "harbour", "door", "rain")
LONG_AGO: Final = datetime(2020, 1, 1, tzinfo=UTC)
DISTRUSTED: Final = "web:x"

ACTS = st.lists(st.tuples(*[st.integers(0, 99)] * 3), min_size=1, max_size=30)


def unconfined(store: Store) -> Store:
    """Return a store of the same file that is not confined."""
    return Store(file_of(store), Standing(store.namespace))


class Memory:
    """A store and the ids of all facts that it ever got."""

    def __init__(self, store: Store, acts: list[tuple[int, ...]]) -> None:
        self.store = store
        self.ids: list[int] = []
        for kind, which, what in acts:
            with suppress(MemstoreError, ValueError):
                DONE[kind % len(DONE)](self, which, what)
        whole = unconfined(store)
        (whole.sources.distrust if acts[0][0] % 2 else whole.sources.trust)(DISTRUSTED)

    @property
    def last(self) -> int:
        return self.ids[-1] if self.ids else 0

    def facts(self, owner: str = "all") -> list[Fact]:
        """Return the facts in any state but erased, in the order of their ids."""
        found = []
        for fact_id in self.ids:
            with suppress(MemstoreError):
                found.append(self.store.get(fact_id))
        owners = OWNERS[owner] or Scope()
        return [fact for fact in found if owner == "all" or fact.scope == owners]

    def _id(self, which: int) -> int:
        return self.ids[which % len(self.ids)] if self.ids else 0

    def _note(self, fact: Fact) -> None:
        self.ids.append(fact.id)

    def add(self, which: int, what: int) -> None:
        said = None
        if which % 7 == 3:
            said = self.store.episodes.add(f"{WORDS[which % 7]} was said {what}", source="chat").id
        owner = None if said else (None, None, "ana")[what % 3]
        self._note(
            self.store.add(
                f"{WORDS[what % 7]} {WORDS[which % 7]} {which % 3}",
                subject=SUBJECTS[what % 5],
                category=("note", "event")[which % 2],
                metadata=({}, {"k": 1}, {"kind": "task", "status": "pending"})[which % 3],
                user_id=owner,
                source=(None, "chat", DISTRUSTED)[which % 3],
                expired_at=LONG_AGO + timedelta(days=what) if which % 6 == 5 else None,
                episode_id=said,
                thread="a thread" if which % 5 == 1 else None,
            )
        )

    def replace(self, which: int, what: int) -> None:
        old = self.store.get(self._id(which))
        self._note(
            self.store.add(
                f"{WORDS[what % 7]} instead {which}",
                subject=old.subject,
                supersedes=old.id,
                **old.scope.ids,
            )
        )

    def supersede(self, which: int, what: int) -> None:
        self.store.supersede(self._id(which), self._id(what), any_subject=True)

    def delete(self, which: int, what: int) -> None:
        self.store.delete(self._id(which))

    def change(self, which: int, what: int) -> None:
        self.store.update_metadata(self._id(which), {"k": what % 3})

    def confirm(self, which: int, what: int) -> None:
        self.store.confirm(self._id(which))

    def pin(self, which: int, what: int) -> None:
        self.store.pin(self._id(which))

    def erase(self, which: int, what: int) -> None:
        if what % 4 == 0:
            self.store.erase(self._id(which))


DONE: Final = (
    Memory.add,
    Memory.add,
    Memory.add,
    Memory.add,
    Memory.replace,
    Memory.replace,
    Memory.supersede,
    Memory.delete,
    Memory.change,
    Memory.confirm,
    Memory.pin,
    Memory.erase,
)


def paged(page: Any) -> list[Any]:
    """Return all pages, each after the last one of the page before."""
    found: list[Any] = []
    while some := page(found[-1] if found else None):
        found += some
    return found
