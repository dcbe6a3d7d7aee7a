"""Random calls of the public interface: every verb that changes what a memory holds."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from memstore import Store
from memstore.database.tables import facts as fact_table
from memstore.domain.episodes import Episode, NewEpisode
from memstore.domain.records import Fact, NewFact
from memstore.errors import InvalidArgument, MemstoreError
from memstore.facts.batch import (
    AddFact,
    AlsoReplaces,
    DeleteFact,
    KeepFact,
    MayReplace,
    MayYieldTo,
    SupersedeFact,
    YieldsTo,
)

CLAIMS: Final = tuple(f"the port is {number}" for number in range(6))
SOURCES: Final = ("web:a.org/x", "web:b.org", "mail")
SECRETS: Final = tuple(
    f"ghp_{letter}{'0123456789abcdefghijklmnopqrstuvwxyz'[:35]}" for letter in "ab"
)
ELSEWHERE: Final = "elsewhere"
"""A second namespace."""


class Nothing(MemstoreError):
    """There is nothing that a call could be about."""


def all_facts(store: Store) -> list[Fact]:
    with store.file.engine.read() as transaction:
        ids = fact_table.all_ids(transaction)
        return [*fact_table.get_many(transaction, ids).values()]


class Caller:
    """A store of some namespace and owners, and chance."""

    def __init__(self, rnd: random.Random, store: Store) -> None:
        self.rnd = rnd
        self.store = store

    def one(self, *statuses: str) -> Fact:
        """Return a fact of the namespace, in any state but erased, or in one of these."""
        found = [
            fact
            for fact in all_facts(self.store)
            if fact.namespace == self.store.namespace
            and fact.status != "erased"
            and (not statuses or fact.status in statuses)
        ]
        return self._any(found)

    @property
    def active(self) -> Fact:
        return self.one("active")

    @property
    def episode(self) -> Episode:
        return self._any([one for one in self.store.episodes.list(limit=100) if one.content])

    @property
    def line(self) -> int:
        """An act among the last ones."""
        return self._any([act.line for act in self.store.ledger.log(limit=8)])

    def new(self, what: str = "fact") -> str:
        return f"{what} {self.rnd.getrandbits(40)}"

    def moment(self) -> datetime:
        return datetime(2025 + self.rnd.randrange(8), 1, 1, tzinfo=UTC)

    def proposal(self, *states: str) -> int:
        found = [p.id for state in states for p in self.store.proposals.list(state=state)]
        return self._any(found)

    def apply(self, *changes: Any) -> None:
        self.store.ledger.apply(changes)

    def _any(self, found: list[Any]) -> Any:
        if not found:
            raise Nothing("there is none")
        return self.rnd.choice(found)


def add(by: Caller) -> None:
    by.store.add(
        by.new(),
        subject=by.rnd.choice("st"),
        source=by.rnd.choice([None, *SOURCES]),
        metadata=by.rnd.choice([None, {"a": 1}]),
        expired_at=by.rnd.choice([None, None, None, datetime(2031, 1, 1, tzinfo=UTC)]),
    )


def add_known(by: Caller) -> None:
    by.store.add(by.rnd.choice(CLAIMS), subject="s", unless_known=True)


def add_known_and_replace(by: Caller) -> None:
    old = by.active
    by.store.add(by.rnd.choice(CLAIMS), subject=old.subject, supersedes=old.id, unless_known=True)


def add_again(by: Caller) -> None:
    by.store.add(by.rnd.choice(CLAIMS), subject="s")


def add_secret(by: Caller) -> None:
    key = by.rnd.choice([None, "secret-1"])
    text = f"the token is {by.rnd.choice(SECRETS)}"
    by.store.add(text, subject="s", unless_known=True, idempotency_key=key)


def record_secret(by: Caller) -> None:
    text = f"take {by.rnd.choice(SECRETS)}"
    by.store.episodes.add(text, source="chat", idempotency_key="secret-turn")


def add_many(by: Caller) -> None:
    old = by.active
    by.store.add_many(
        [
            NewFact(content=by.rnd.choice(CLAIMS), subject="s"),
            NewFact(content=by.new(), subject=old.subject, supersedes=old.id, any_subject=True),
            NewFact(content=by.new(), subject="s", idempotency_key=by.new("key")),
        ],
        unless_known=by.rnd.random() < 0.5,
    )


def add_once(by: Caller) -> None:
    text = by.rnd.choice(["the same event", "the same event", "another event"])
    by.store.add(text, subject="s", idempotency_key=by.rnd.choice(["event-1", "event-2"]))


def add_of_owner(by: Caller) -> None:
    by.store.of(user_id="u").add(by.rnd.choice([*CLAIMS[:2], by.new()]), subject="s")


def add_from_episode(by: Caller) -> None:
    by.store.add(by.new(), subject="s", episode_id=by.episode.id)


def replace(by: Caller) -> None:
    old = by.active
    by.store.add(by.new(), subject=old.subject, supersedes=old.id, any_subject=True)


def supersede(by: Caller) -> None:
    by.store.supersede(by.active.id, by.active.id, any_subject=True)


def update_metadata(by: Caller) -> None:
    patch = {by.rnd.choice("abc"): by.rnd.choice([1, 2, 3, None, {"x": [1]}])}
    by.store.update_metadata(by.one().id, patch)


def set_expiry(by: Caller) -> None:
    by.store.set_expiry(by.active.id, by.rnd.choice([None, by.moment()]))


def delete_all(by: Caller) -> None:
    by.store.of(user_id="u").delete_all()


def restore_deleted(by: Caller) -> None:
    deleted = by.one("deleted").deleted_at
    assert deleted is not None
    by.store.ledger.restore_deleted(deleted)


def put(by: Caller) -> None:
    content = by.rnd.choice([by.new(), "the same version"])
    new = NewFact(
        content=content,
        external_key=by.rnd.choice("kl"),
        subject="s",
        expired_at=by.rnd.choice([None, None, by.moment()]),
    )
    by.store.keys.put([new])


def put_of_owner(by: Caller) -> None:
    by.store.of(user_id="u").keys.put([NewFact(content=by.new(), external_key="k", subject="s")])


def delete_key(by: Caller) -> None:
    by.store.keys.delete([by.rnd.choice("kl")])


def change_keys(by: Caller) -> None:
    def more(held: Mapping[str, Fact]) -> list[NewFact]:
        return [
            NewFact(content=f"{fact.content}, again", external_key=key, subject="s")
            for key, fact in held.items()
        ]

    by.store.keys.change(more, external_keys=["k", "l"])


def forget_versions(by: Caller) -> None:
    by.store.keys.forget_versions("", keep=1)


def create_task(by: Caller) -> None:
    by.store.tasks.create(by.rnd.choice([by.new("task"), "call Bob"]), due="tomorrow")


def update_task(by: Caller) -> None:
    task = by._any(by.store.tasks.list(status="all"))
    status = by.rnd.choice(["in_progress", "completed", "pending", "cancelled"])
    by.store.tasks.update(task.id, status, note=by.rnd.choice([None, by.new("note")]))


def propose(by: Caller) -> None:
    old = by.active
    new = NewFact(content=by.new(), subject=old.subject)
    kind = by.rnd.choice([MayReplace, MayReplace, MayYieldTo, YieldsTo])
    by.apply(AddFact(fact=new, precedence=kind(old.id)))


def propose_one_text(by: Caller) -> None:
    ids = {by.active.id for _ in range(3)}
    by.store.proposals.put_forward([*ids], by.new("both"), {"why": "they say the same"})


def decide(by: Caller) -> None:
    found = by.proposal("open")
    verdict = by.rnd.choice(["accept", "reject", "remove", "several"])
    match verdict:
        case "accept":
            by.store.proposals.accept(found)
        case "reject" | "remove":
            by.store.proposals.reject(found, remove=verdict == "remove")
        case _:
            ids = [one.id for one in by.store.proposals.list()]
            by.store.proposals.decide(by.rnd.choice(["accept", "reject"]), ids)


def reopen(by: Caller) -> None:
    by.store.proposals.reopen(by.proposal("rejected", "accepted"))


def apply_several(by: Caller) -> None:
    one, other, third = by.active, by.active, by.active
    new = AddFact(
        fact=NewFact(content=by.new(), subject=one.subject, supersedes=one.id, any_subject=True),
        also=() if other.id == one.id else (AlsoReplaces(other.id, {"why": "newer"}),),
        evidence={"quote": "it moved"},
    )
    rest = by.rnd.choice(
        [
            KeepFact(fact_id=third.id),
            DeleteFact(fact_id=third.id),
            SupersedeFact(old_id=third.id, new_id=one.id, any_subject=True),
        ]
    )
    by.apply(new, *(() if third.id in (one.id, other.id) else (rest,)))


def revert(by: Caller) -> None:
    plan = by.store.ledger.revert(acts=[by.line])
    plan.apply(decide={one.fact_id: by.rnd.choice(["undo", "leave"]) for one in plan.conflicts})


def revert_source(by: Caller) -> None:
    by.store.ledger.revert(source=by.rnd.choice(SOURCES)).apply()


def distrust(by: Caller) -> None:
    by.store.sources.distrust(by.rnd.choice(SOURCES))


def trust(by: Caller) -> None:
    level = by.rnd.choice([None, "external", "default"])
    by.store.sources.trust(by.rnd.choice(SOURCES), level)


def record_episode(by: Caller) -> None:
    by.store.episodes.add(
        by.new("said"),
        **by.rnd.choice([{"thread": "t"}, {"thread": "t", "seq": 3}, {}]),
        source=by.rnd.choice(["chat", *SOURCES]),
        tags=by.rnd.choice([(), ("x",)]),
        metadata=by.rnd.choice([None, {"a": 1}]),
    )


def record_many(by: Caller) -> None:
    by.store.episodes.add_many(
        [
            NewEpisode(content=by.new("turn"), source="chat", thread="t"),
            NewEpisode(content="a known turn", source="chat", idempotency_key="turn-1"),
        ],
        keep_known=True,
    )


def record_once(by: Caller) -> None:
    text = by.rnd.choice(["a turn", "a turn", "another turn"])
    by.store.episodes.add(text, source="chat", idempotency_key=by.rnd.choice(["e-1", "e-2"]))


def record_text(by: Caller) -> None:
    by.store.episodes.record(by.rnd.choice(["a letter", by.new("letter")]), source="mail")


def replace_episode(by: Caller) -> None:
    text = by.rnd.choice(["a summary", by.new("summary")])
    new = NewEpisode(content=text, source="chat", thread="t", tags=["sum"])
    by.store.episodes.replace(new, "sum")


def update_episode(by: Caller) -> None:
    given: dict[str, Any] = by.rnd.choice(
        [
            {"tags": [by.rnd.choice("xyz")]},
            {"tags": []},
            {"metadata": {by.rnd.choice("ab"): by.rnd.choice([1, None])}},
            {"expired_at": by.rnd.choice([None, by.moment()])},
        ]
    )
    by.store.episodes.update(by.episode.id, **given)


def expire_some(by: Caller) -> None:
    match by.rnd.randrange(4):
        case 0:
            by.store.episodes.expire_all(thread="t", limit=2)
        case 1:
            by.store.episodes.pop(source="chat")
        case _:
            by.store.episodes.expire([by.episode.id])


def fold_turns(by: Caller) -> None:
    by.store.episodes.fold_turns()


def mark_read(by: Caller) -> None:
    by.store.readings.mark_turns([by.episode.id])


def erase(by: Caller) -> None:
    by.store.erase(by.one().id)


def erase_episode(by: Caller) -> None:
    by.store.episodes.erase(by.episode.id)


def erase_by_plan(by: Caller) -> None:
    chosen: dict[str, Any] = by.rnd.choice(
        [{"subject": "t"}, {"source": by.rnd.choice(SOURCES)}, {"owner": "u"}]
    )
    by.store.ledger.erasure(**chosen).apply()


def erase_what_was_drawn(by: Caller) -> None:
    by.store.ledger.erasure(episode=by.episode.id, drawn=by.rnd.random() < 0.5).apply()


def clear(by: Caller) -> None:
    by.store.within(ELSEWHERE).clear()


CALLS: Final[Mapping[Callable[[Caller], object], float]] = {
    add: 4,
    add_known: 3,
    add_known_and_replace: 1,
    add_again: 1,
    add_secret: 1,
    record_secret: 0.5,
    add_many: 2,
    add_once: 2,
    add_of_owner: 1,
    add_from_episode: 1,
    replace: 5,
    supersede: 2,
    lambda by: by.store.confirm(by.active.id): 4,
    lambda by: by.store.pin(by.active.id): 2,
    lambda by: by.store.unpin(by.active.id): 2,
    update_metadata: 4,
    set_expiry: 2,
    lambda by: by.store.delete(by.one().id): 3,
    delete_all: 0.3,
    restore_deleted: 0.5,
    lambda by: by.store.restore(by.one("deleted").id): 3,
    lambda by: by.store.restore(by.one("superseded").id): 1,
    lambda by: by.store.reinstate(by.one("superseded").id): 1,
    put: 4,
    put_of_owner: 0.5,
    delete_key: 1,
    change_keys: 1,
    forget_versions: 0.3,
    create_task: 1.5,
    update_task: 2,
    propose: 2,
    propose_one_text: 1,
    decide: 2.5,
    reopen: 1,
    apply_several: 2,
    revert: 3,
    revert_source: 0.3,
    distrust: 0.5,
    trust: 0.5,
    record_episode: 3,
    record_many: 1,
    record_once: 1,
    record_text: 1,
    replace_episode: 1,
    update_episode: 3,
    expire_some: 1,
    fold_turns: 0.3,
    mark_read: 0.5,
    erase: 0.6,
    erase_episode: 0.4,
    erase_by_plan: 0.2,
    erase_what_was_drawn: 0.2,
    clear: 0.1,
}
"""The calls, each as often as it says."""


def call(rnd: random.Random, store: Store) -> None:
    """Make one random call, sometimes in another namespace; it may be refused."""
    [made] = rnd.choices([*CALLS], [*CALLS.values()])
    at = store.within(ELSEWHERE) if rnd.random() < 0.1 else store
    with suppress(MemstoreError, InvalidArgument):
        made(Caller(rnd, at))
