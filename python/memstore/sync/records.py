"""Records: lines of a journal with UUIDs in place of ids, and what they make of facts.

A record is made from the ledger as it is now, so nothing has to be stored twice: a line of this
file says what it changed, and the lines before it say what it replaced, which gives its rank. A
line that was taken from another device has its rank, and what it said, beside it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.journal import DECIDING, Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import taken as taken_table
from memstore.named import NamedTuple
from memstore.sync import rules
from memstore.sync.rules import EPISODE, FACT, LINK, METADATA, About, Item, Record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.devices import DeviceRow
    from memstore.database.tables.proposals import ProposalRow
    from memstore.database.tables.taken import TracedLine
    from memstore.domain.episodes import Episode

FACTS: Final = "memstore_facts"
EPISODES: Final = "memstore_episodes"

LINKS: Final = frozenset({Kind.SUPERSEDE, Kind.UNSUPERSEDE})
NOT_SAID: Final = frozenset(
    {"namespace", "episode_id", "superseded_by", "content_hash", "salt_hash"}
)
"""What a line says of a new fact or episode that a record says in another way, or not at all."""


class Chains(NamedTuple):
    """Which device each line comes from."""

    own: tuple[DeviceRow, ...]
    """What this file is and was called, by their lines."""
    by_row: Mapping[int, str]
    """The devices by the ids of their rows."""

    @classmethod
    def of(cls, devices: Iterable[DeviceRow]) -> Chains:
        rows = [*devices]
        # Of two that begin at one line, the later one is what this file is called.
        own = sorted((row for row in rows if row.is_own), key=lambda row: (row.begins, row.id))
        return cls(tuple(own), {row.id: row.device for row in rows})

    def of_line(self, line: int) -> str:
        """Return under which name a line of this file is known."""
        name = ""
        for row in self.own:
            if row.begins < line:
                name = row.device
        return name


class Names(NamedTuple):
    """The facts and episodes that ids of this file stand for."""

    facts: dict[int, tuple[str, str]]
    episodes: dict[int, tuple[str, str]]

    def fact(self, id_: object) -> str | None:
        named = self.facts.get(id_) if isinstance(id_, int) else None
        return None if named is None else named[1]

    def episode(self, id_: object) -> str | None:
        named = self.episodes.get(id_) if isinstance(id_, int) else None
        return None if named is None else named[1]


class Said(NamedTuple):
    """A line with its texts read."""

    row: TracedLine
    before: Mapping[str, Any]
    after: Mapping[str, Any] | None


class Reader:
    """Reads lines in order, and knows what they have made of each fact and episode so far."""

    def __init__(self, transaction: Transaction, chains: Chains) -> None:
        self.transaction = transaction
        self.chains = chains
        self.items: dict[About, Item] = {}
        self.ids: dict[About, int] = {}
        self._names = Names({}, {})
        self._episodes: dict[int, Episode] = {}
        self._proposals: dict[int, ProposalRow] = {}
        self.confirmed: dict[int, str] = {}
        """The moments of confirmations, by their lines."""
        self.lines: defaultdict[About, list[int]] = defaultdict(list)
        """The lines about each fact or episode."""
        self.own_links: defaultdict[About, list[tuple[TracedLine, Record]]] = defaultdict(list)
        """The lines of this file that link a fact, or end its link."""

    def read(self, rows: Sequence[TracedLine]) -> Iterator[tuple[TracedLine, Record | None]]:
        """Yield each line with its record; ``None`` if it is of this file alone."""
        said = [Said(row, _read(row.before) or {}, _after(row)) for row in rows]
        self._look_up(said)
        for one in said:
            yield one.row, self._record(one)

    def item(self, about: About) -> Item:
        """Return what is known of a fact or episode."""
        found = self.items.get(about)
        if found is None:
            found = self.items[about] = Item(about)
        return found

    def _look_up(self, said: Iterable[Said]) -> None:
        facts, episodes, recorded = set[int](), set[int](), set[int]()
        decided = {
            number
            for row, _, after in said
            if row.kind in DECIDING and type(number := (after or {}).get("proposal")) is int
        }
        if unread := decided - self._proposals.keys():
            self._proposals.update(proposal_table.with_ids(self.transaction, [*unread]))
        for number in decided & self._proposals.keys():
            proposal = self._proposals[number]
            facts.update(filter(None, (proposal.old_id, proposal.new_id, *proposal.sources)))
        for row, before, after in said:
            if row.fact_id is not None:
                facts.add(row.fact_id)
            elif row.episode_id is not None:
                episodes.add(row.episode_id)
                if row.kind in rules.BIRTHS:
                    recorded.add(row.episode_id)
            for part in (before, after or {}):
                if type(named := part.get(LINK)) is int:
                    facts.add(named)
                if type(named := part.get("episode_id")) is int:
                    episodes.add(named)
        new = taken_table.names(self.transaction, FACTS, facts - self._names.facts.keys())
        self._names.facts.update(new)
        new = taken_table.names(self.transaction, EPISODES, episodes - self._names.episodes.keys())
        self._names.episodes.update(new)
        if recorded:
            self._episodes.update(episode_table.get_many(self.transaction, sorted(recorded)))

    def _about(self, row: TracedLine) -> About | None:
        if row.fact_id is not None:
            kind, id_, named = FACT, row.fact_id, self._names.facts.get(row.fact_id)
        elif row.episode_id is not None:
            kind, id_, named = EPISODE, row.episode_id, self._names.episodes.get(row.episode_id)
        else:
            return None
        if named is None:
            return None
        about = About(kind, *named)
        self.ids[about] = id_
        return about

    def _record(self, said: Said) -> Record | None:
        row = said.row
        about = self._about(row)
        if about is None:
            return None
        item = self.item(about)
        self.lines[about].append(row.id)
        if row.taken is not None and row.device is None:
            self._derived(item, said)
            return None
        if row.taken is not None:
            return self._taken(item, said)
        if row.kind not in (rules.OF_FACTS if about.kind == FACT else rules.OF_EPISODES):
            return None
        return self._own(item, said)

    def _derived(self, item: Item, said: Said) -> None:
        rank = said.row.rank or 0
        decides = said.row.kind in DECIDING
        after = (self._proposal(item.about, said) if decides else said.after) or {}
        for name, _ in rules.registers(after, item.about.kind):
            item.floors[name] = max(item.floors.get(name, 0), rank)

    def _taken(self, item: Item, said: Said) -> Record:
        row = said.row
        kind, value = row.kind, None
        told = None if row.value is None else json.loads(row.value)
        if told is not None:
            kind, value = told
        elif kind == Kind.OVERTAKEN:  # what it said was erased
            kind = Kind.UPDATE if item.about.kind == FACT else Kind.UPDATE_EPISODE
        if kind in rules.BIRTHS and row.kind == Kind.OVERTAKEN:  # it was known before
            value = None if item.is_blank else value or item.birth
        elif told is None and kind in DECIDING:
            value = self._proposal(item.about, said)
        elif kind in rules.BIRTHS:
            of_line = self._birth(item.about, said)
            value = None if of_line is None else of_line | (value or {})
        at = rules.micros(row.said_at or row.at)
        own = row.device == taken_table.HERE
        device = self.chains.of_line(row.id) if own else self.chains.by_row.get(row.device or 0, "")
        record = Record(
            device, row.position or 0, row.act or 0, at, row.rank or 0, kind, item.about, value,
            row.actor, row.source,
        )  # fmt: skip
        if kind == Kind.CONFIRM and value is not None:
            self.confirmed[row.id] = value["at"]
        item.add(record)
        return record

    def _own(self, item: Item, said: Said) -> Record | None:
        row = said.row
        at = rules.micros(row.said_at or row.at)
        if row.kind == Kind.ADOPT:
            if item.is_known:
                return None  # the lines before it have told all of it
            at = rules.micros((said.after or {}).get("created_at") or row.said_at or row.at)
        if row.kind in rules.BIRTHS:
            value = self._birth(item.about, said)
        elif row.kind in rules.ENDS:
            value = self._end(item, said, at)
        elif said.after is None and row.kind in LINKS:
            rank = max(at, item.top(LINK).rank + 1, item.floors.get(LINK, 0) + 1)
            item.floors[LINK] = rank  # its text went with that of the fact
            return None
        elif row.kind in DECIDING:
            value = self._proposal(item.about, said)
            if value is None:
                return None
        elif row.kind == Kind.CONFIRM:
            value = self._confirmation(item, said)
        elif row.kind == Kind.UNCONFIRM:
            value = self._withdrawal(item, said)
        else:
            value = self._change(item, said)
            if value is None:
                return None
        if value is None and row.kind in (Kind.CONFIRM, Kind.UNCONFIRM):
            return None
        rank = item.rank_of(row.kind, value, at)
        if value is not None and LINK in value and row.kind in LINKS:
            top = item.tops.get(LINK)
            value["replaces"] = None if top is None else [top.rank, top.value[0]]
        device = self.chains.of_line(row.id)
        record = Record(
            device, row.id, row.txn, at, rank, row.kind, item.about, value, row.actor, row.source
        )
        item.add(record)
        if row.kind in LINKS:
            self.own_links[item.about].append((row, record))
        return record

    def _birth(self, about: About, said: Said) -> dict[str, Any] | None:
        after = said.after
        if after is None:
            return None
        value = {name: one for name, one in after.items() if name not in NOT_SAID}
        if about.kind == EPISODE:
            episode = self._episodes.get(said.row.episode_id or 0)
            if episode is None or not episode.content:
                return None
            value["content"] = episode.content
            if episode.salt is not None:
                value["salt"] = episode.salt
            return value
        if not value.get("content"):
            return None
        if value.get("confirmed_count") == 0:
            del value["confirmed_count"]
        if named := self._names.episode(after.get("episode_id")):
            value["episode"] = named
        if named := self._names.fact(after.get(LINK)):
            value[LINK] = named
        return value

    def _end(self, item: Item, said: Said, at: int) -> dict[str, Any]:
        after = said.after or {}
        successor = self._names.fact(after.get(LINK))
        if successor is None:
            return {}
        rank = max(item.top(LINK).rank, item.floors.get(LINK, 0)) or at
        return {LINK: successor, "superseded_at": after.get("superseded_at"), "rank": rank}

    def _confirmation(self, item: Item, said: Said) -> dict[str, Any] | None:
        at = (said.after or {}).get("last_confirmed_at")
        if not isinstance(at, str):
            return {"at": said.row.said_at or said.row.at}
        if at in item.withdrawn:
            at = said.row.at  # a confirmation that was taken back counts again, as another one
        self.confirmed[said.row.id] = at
        return {"at": at}

    def _withdrawal(self, item: Item, said: Said) -> dict[str, Any] | None:
        evidence = _read(said.row.evidence) or {}
        lines = evidence.get("reverts")
        moments = {
            self.confirmed[line]
            for line in (lines if isinstance(lines, list) else ())
            if line in self.confirmed
        }
        if not moments and said.after is not None:
            last = said.after.get("last_confirmed_at") or ""
            moments = {at for at in item.confirmations if at > last}
        return {"at": sorted(moments)} if moments else None

    def _proposal(self, about: About, said: Said) -> dict[str, Any] | None:
        """Return what a line says of a proposal; of its lines, only the one of its first fact."""
        after = said.after or {}
        proposal = self._proposals.get(after.get("proposal", 0))
        if proposal is None:
            return None
        sources = [self._names.fact(id_) for id_ in proposal.sources]
        if sources:
            key = [None, *sorted(filter(None, sources))]
            if len(key) != len(sources) + 1 or about.uuid != key[1]:
                return None
        else:
            key = [self._names.fact(proposal.new_id)]
            if key[0] is None:
                return None
        state = after.get("state") or proposal_table.STATES[Kind(said.row.kind)]
        value: dict[str, Any] = {rules.PROPOSAL: key, "state": str(state)}
        if said.row.kind == Kind.PROPOSE:
            text = (_read(said.row.evidence) or {}).get(proposal_table.TEXT)
            value |= {"similarity": after.get("similarity"), "at": after.get("at"), "content": text}
        elif sources and said.row.kind == Kind.ACCEPT:
            value["became"] = self._names.fact(after.get(LINK))
        return {name: one for name, one in value.items() if one is not None}

    def _change(self, item: Item, said: Said) -> dict[str, Any] | None:
        """Return the registers that a line sets; ``None`` if none, or if its texts are gone."""
        after = said.after
        if after is None:
            return None
        value = {name: after[name] for name in PLAIN if name in after}
        if LINK in after:
            value[LINK] = self._names.fact(after[LINK])
            value["superseded_at"] = after.get("superseded_at")
        if METADATA in after:
            if item.about.kind == EPISODE:
                value[METADATA] = after[METADATA] or {}
            else:
                was = said.before.get(METADATA) or {}
                value[METADATA] = rules.changed(was, after[METADATA] or {})
        if item.about.kind == EPISODE and rules.TAGS in after:
            value[rules.TAGS] = after[rules.TAGS] or []
        return value or None


PLAIN: Final = (rules.DELETION, rules.PIN, rules.EXPIRY, rules.KEY)


def _after(row: TracedLine) -> dict[str, Any] | None:
    after = _read(row.after)
    if row.kind == Kind.ADD and after and row.said_at is None:
        return journal.with_implied(after, row.at)
    return after


def _read(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    found = json.loads(text)
    return found if isinstance(found, dict) else None


def own(transaction: Transaction, chains: Chains, first: int, last: int) -> Iterator[Record]:
    """Yield the records of the lines of this file from one to another, both included."""
    rows = taken_table.between(transaction, first, last)
    wanted = {row.id for row in rows if row.taken is None or row.device == taken_table.HERE}
    yield from _selected(transaction, chains, rows, wanted)


def relayed(
    transaction: Transaction, chains: Chains, device: DeviceRow, first: int, last: int
) -> list[Record]:
    """Return the records of another device's lines, as far as they were taken here."""
    rows = taken_table.of_device(transaction, device.id, first, last)
    found = _selected(transaction, chains, rows, {row.id for row in rows})
    return sorted(found, key=lambda record: record.line)


def _selected(
    transaction: Transaction, chains: Chains, rows: Sequence[TracedLine], wanted: Collection[int]
) -> Iterator[Record]:
    """Yield the records of some lines; what they replaced is in earlier lines of the same facts."""
    if not wanted:
        return
    last = max(wanted)
    changed = [row for row in rows if row.id in wanted and row.kind not in rules.BIRTHS]
    facts = {row.fact_id for row in changed if row.fact_id is not None}
    episodes = {
        row.episode_id
        for row in changed
        if row.fact_id is None and row.episode_id is not None
        if row.kind in rules.OF_EPISODES or row.kind == Kind.OVERTAKEN
    }
    lines = {row.id: row for row in rows if row.id in wanted}
    lines.update((row.id, row) for row in taken_table.about(transaction, facts, episodes))
    reader = Reader(transaction, chains)
    ordered = [row for _, row in sorted(lines.items()) if row.id <= last]
    for row, record in reader.read(ordered):
        if record is not None and row.id in wanted:
            yield record


def known(
    transaction: Transaction, chains: Chains, facts: Collection[int], episodes: Collection[int]
) -> Reader:
    """Return a reader of every line about these facts and episodes."""
    reader = Reader(transaction, chains)
    add(reader, facts, episodes)
    return reader


def add(reader: Reader, facts: Collection[int], episodes: Collection[int]) -> None:
    """Let a reader know more facts and episodes."""
    for _ in reader.read(taken_table.about(reader.transaction, facts, episodes)):
        pass
