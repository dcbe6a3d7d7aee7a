"""Devices that sync through a place which tests spoil, and what each then holds."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from memstore import Store
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.domain.clock import Clock
from memstore.domain.episodes import Episode
from memstore.domain.records import Fact, NewFact
from memstore.errors import MemstoreError, SyncError
from memstore.facts.batch import AddFact, MayReplace
from memstore.graph import dependents
from memstore.sync import run, sealing, segments
from memstore.sync.places import Entry
from memstore.sync.places.names import read
from memstore.sync.reports import Synced
from memstore.sync.screening import SCREEN


class Ticking(Clock):
    """Goes forward with every look, from a moment that a device believes."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)
        self.skew = timedelta(0)

    def utc_now(self) -> datetime:
        self.now += timedelta(milliseconds=137)
        return self.now + self.skew


class Shelf:
    """A place in memory that keeps every version of its files, and of which devices are told."""

    address = "memory"

    def __init__(self) -> None:
        self.versions: dict[str, list[bytes | None]] = {}

    def view(self, rnd: random.Random | None = None) -> ShelfView:
        """Return the place as a device sees it: of today, or each file as it was, or spoilt."""
        seen: dict[str, bytes] = {}
        for name, versions in self.versions.items():
            data = versions[-1] if rnd is None else rnd.choice(versions[-3:])
            if data is not None:
                seen[name] = data if rnd is None else spoilt(rnd, name, data)
        return ShelfView(self, seen)

    def put(self, name: str, data: bytes | None) -> None:
        self.versions.setdefault(name, []).append(data)

    @property
    def files(self) -> dict[str, bytes]:
        return {name: held[-1] for name, held in self.versions.items() if held[-1] is not None}


def spoilt(rnd: random.Random, name: str, data: bytes) -> bytes:
    """Return a file as a bad carrier shows it: now and then cut, or with other hashes."""
    chance = rnd.random()
    named = read(name)
    if chance < 0.04:
        return data[: rnd.randrange(len(data) + 1)]
    is_open = named is not None and not data.startswith(sealing.MAGIC)
    if chance < 0.07 and is_open and not named.is_state:
        segment = segments.read(data, named)
        lying = [
            act._replace(hash=act.hash and f"{rnd.getrandbits(64):016x}") for act in segment.acts
        ]
        header = segment.header._replace(before=segment.header.before and "f" * 64)
        return segments.write(header, lying)[0]
    return data


class Killed(BaseException):
    """The process that ran a sync was killed."""


class ShelfView:
    """What one device sees of a shelf during one run; its own files are always of today."""

    address = "memory"

    def __init__(self, shelf: Shelf, seen: dict[str, bytes]) -> None:
        self.ignored: Sequence[str] = ()
        self.shelf, self.seen = shelf, seen
        self.puts = 0
        self.is_anew = False
        """Whether what was there before is to be forgotten."""
        self.lives: int | None = None
        """After how many calls the process is killed."""

    def _live(self) -> None:
        if self.lives is not None:
            self.lives -= 1
            if self.lives < 0:
                raise Killed

    def own(self, device: str) -> ShelfView:
        today = self.shelf.files
        mine = {n: d for n, d in today.items() if n.startswith(f"{device}/")}
        others = {n: d for n, d in self.seen.items() if not n.startswith(f"{device}/")}
        return ShelfView(self.shelf, mine | others)

    def list(self) -> Mapping[str, Entry]:
        return {name: Entry(len(data), str(hash(data))) for name, data in self.seen.items()}

    def get(self, name: str, *, most: int) -> bytes:
        self._live()
        if name not in self.seen:
            raise SyncError(f"{name} is gone")
        if len(self.seen[name]) > most:
            raise SyncError(f"{name} is too large")
        return self.seen[name]

    def put(self, name: str, data: bytes) -> None:
        self._live()
        self.puts += 1
        self.seen[name] = data
        self.shelf.put(name, data)

    def delete(self, name: str) -> None:
        self._live()
        self.seen.pop(name, None)
        if name in self.shelf.versions:
            self.shelf.put(name, None)

    def publish(self, *, anew: bool = False) -> None:
        self.is_anew = self.is_anew or anew


def sync(store: Store, place: Any, **options: Any) -> Synced:
    return run.sync(
        store.file.engine, dependents, place, rewrite=store.file.searches.rewrite, **options
    )


def device_of(store: Store) -> str:
    """Return the id of a store's device; nothing before its first run."""
    with store.file.engine.read() as transaction:
        rows = transaction.rows("SELECT device FROM memstore_devices WHERE state = 'here'")
        return next((str(device) for (device,) in rows), "")


CLAIMS = tuple(f"the port is {number}" for number in range(6))

KINDS = (
    "add add same replace replace supersede confirm confirm pin unpin metadata metadata expiry"
    " delete restore erase put idem task status propose decide episode retag erase_episode drawn"
).split()


def all_facts(store: Store) -> list[Fact]:
    with store.file.engine.read() as transaction:
        ids = fact_table.all_ids(transaction)
        return [*fact_table.get_many(transaction, ids).values()]


def act(rnd: random.Random, store: Store, kinds: list[str] = KINDS) -> None:
    """Make one random call of the public interface; it may be refused."""
    with suppress(MemstoreError):
        _act(rnd, store, rnd.choice(kinds))


def _act(rnd: random.Random, store: Store, kind: str) -> None:
    facts = [fact for fact in all_facts(store) if fact.status != "erased"]
    active = [fact for fact in facts if fact.status == "active"]
    one = rnd.choice(active) if active else None
    other = rnd.choice(active) if active else None
    any_ = rnd.choice(facts) if facts else None
    new = f"fact {rnd.getrandbits(40)}"
    match kind:
        case "add":
            store.add(new, subject="s")
        case "same":
            store.add(rnd.choice(CLAIMS), subject="s", unless_known=True)
        case "put":
            key = rnd.choice("kl")
            store.keys.put([NewFact(content=new, external_key=key, subject="s")])
        case "idem":
            store.add("the same event", subject="s", idempotency_key="event-1")
        case "task":
            store.tasks.create(new)
        case "status":
            tasks = store.tasks.list()
            if tasks:
                status = rnd.choice(["in_progress", "completed", "pending"])
                store.tasks.update(rnd.choice(tasks).id, status)
        case "decide":
            if found := store.proposals.list():
                decide = rnd.choice([store.proposals.accept, store.proposals.reject])
                decide(rnd.choice(found).id)
        case "episode":
            store.episodes.add(f"said {new}", thread=rnd.choice(["t", None]), source="chat")
        case _ if kind in ("retag", "erase_episode", "drawn"):
            if episodes := [e for e in store.episodes.list() if e.content]:
                _act_on_episode(rnd, store, kind, rnd.choice(episodes), new)
        case _ if one is not None and other is not None and any_ is not None:
            _act_on_facts(rnd, store, kind, one, other, any_)


def _act_on_episode(rnd: random.Random, store: Store, kind: str, episode: Any, new: str) -> None:
    if kind == "retag":
        store.episodes.update(episode.id, tags=[rnd.choice("xyz")])
    elif kind == "drawn":
        store.add(new, subject="s", episode_id=episode.id)
    elif rnd.random() < 0.3:
        store.episodes.erase(episode.id)


def _act_on_facts(
    rnd: random.Random, store: Store, kind: str, one: Fact, other: Fact, any_: Fact
) -> None:
    new = f"fact {rnd.getrandbits(40)}"
    match kind:
        case "replace":
            store.add(new, subject=one.subject, supersedes=one.id, any_subject=True)
        case "supersede":
            store.supersede(one.id, other.id, any_subject=True)
        case "confirm":
            store.confirm(one.id)
        case "pin":
            store.pin(one.id)
        case "unpin":
            store.unpin(one.id)
        case "metadata":
            store.update_metadata(any_.id, {rnd.choice("abc"): rnd.choice([1, 2, 3, None])})
        case "expiry":
            end = datetime(2027 + rnd.randrange(5), 1, 1, tzinfo=UTC)
            store.set_expiry(one.id, rnd.choice([None, end]))
        case "delete":
            store.delete(any_.id)
        case "restore" if any_.status == "deleted":
            store.restore(any_.id)
        case "erase" if rnd.random() < 0.3:
            store.erase(any_.id)
        case "propose" if one.id != other.id:
            fact = NewFact(content=new, subject=one.subject)
            store.ledger.apply([AddFact(fact=fact, precedence=MayReplace(one.id, 0.5))])


def state(store: Store) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return what a person sees of a memory, by UUID, field by field."""
    with store.file.engine.read() as transaction:
        facts = fact_table.get_many(transaction, fact_table.all_ids(transaction))
        episodes = episode_table.get_many(transaction, episode_table.all_ids(transaction))
        proposals = [*proposal_table.everything(transaction, None)]
    names = {id_: fact.uuid for id_, fact in facts.items()}
    spoken = {id_: episode.uuid for id_, episode in episodes.items()}
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for fact in facts.values():
        found["fact", fact.uuid] = _fact(fact, names, spoken)
    for episode in episodes.values():
        found["episode", episode.uuid] = _episode(episode)
    erased = {fact.id for fact in facts.values() if fact.status == "erased"}
    for row in proposals:
        about = {row.old_id, row.new_id, *row.sources}
        if not about & erased:
            key = ("proposal", *sorted(names[one] for one in about if one is not None))
            found[key] = {"state": str(row.state)}
    return found


def _episode(episode: Episode) -> dict[str, Any]:
    shown = {
        "namespace": episode.namespace,
        "content": SCREEN.value(episode.content, "content"),
        "expired_at": str(episode.expired_at),
        "seq": episode.seq,
        "thread": episode.thread,
    }
    if not episode.content:
        return shown
    return shown | {
        "tags": [*episode.tags],
        "metadata": json.dumps(episode.metadata, sort_keys=True),
        "owners": episode.scope,
        "source": episode.source,
        "created_at": str(episode.created_at),
        "valid_at": str(episode.valid_at),
        "idempotency_key": episode.idempotency_key,
    }


def _fact(fact: Fact, names: Mapping[int, str], spoken: Mapping[int, str]) -> dict[str, Any]:
    successor = None if fact.superseded_by is None else names[fact.superseded_by]
    shown = {
        "namespace": fact.namespace,
        "status": "erased" if fact.status == "erased" else "",
        "content": SCREEN.value(fact.content, "content"),
        "superseded_by": successor,
    }
    if fact.status == "erased":
        return shown
    episode = None if fact.episode_id is None else spoken[fact.episode_id]
    return shown | {
        "subject": fact.subject,
        "category": fact.category,
        "owners": fact.scope,
        "source": fact.source,
        "created_at": str(fact.created_at),
        "valid_at": str(fact.valid_at),
        "thread": fact.thread,
        "seq": fact.seq,
        "metadata": json.dumps(fact.metadata, sort_keys=True),
        "confirmed": fact.confirmed_count,
        "last_confirmed_at": str(fact.last_confirmed_at),
        "pinned_at": str(fact.pinned_at),
        "expired_at": str(fact.expired_at),
        "deleted_at": str(fact.deleted_at),
        "superseded_at": str(fact.superseded_at),
        "external_key": fact.external_key,
        "idempotency_key": fact.idempotency_key,
        "episode": episode,
    }


def differences(stores: list[Store]) -> Iterator[str]:
    """Yield in what the memories of devices differ."""
    states = [state(store) for store in stores]
    for key in sorted(set().union(*states)):
        held = [one.get(key) for one in states]
        if None in held:
            yield f"{key} is not on every device"
            continue
        for name in held[0] or {}:
            values = [(one or {}).get(name) for one in held]
            if any(value != values[0] for value in values):
                yield f"{key} {name}: {values}"
