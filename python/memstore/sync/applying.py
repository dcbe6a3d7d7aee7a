"""Taking records of other devices: each becomes an ordinary line, and the state follows from all.

What a record changes here is written as a line of its kind, with its author and with its moment as
what was said. One that something later had replaced becomes a line that changes nothing. What
follows from several records, such as a link between two facts that say the same, is written as
lines of the source ``sync``, again whenever its reasons change, and is never sent.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from memstore.database import acts
from memstore.database import meta as meta_table
from memstore.database.changes import Adoption, Changes, Line
from memstore.database.journal import DECIDING, Author, Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import taken as taken_table
from memstore.database.tables.proposals import ProposalDecision, ProposalRow
from memstore.database.tables.taken import TakenLine
from memstore.domain import clock
from memstore.domain.proposals import ProposalState
from memstore.domain.records import json_value
from memstore.episodes import changes as episode_changes
from memstore.frozen import replace
from memstore.history import proposals
from memstore.history.erasing import remove_episode, remove_fact
from memstore.history.erasure import UNFINISHED
from memstore.named import NamedTuple
from memstore.sync import records, rules
from memstore.sync.rules import EPISODE, FACT, LINK, METADATA, About, Item, Record, State
from memstore.text import folding
from memstore.transfer import lines as checked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from memstore.database.changes import Dependents
    from memstore.database.engine import Transaction
    from memstore.database.tables.devices import DeviceRow
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact

SYNC: Final = Author("memstore", "sync")
"""Who draws what follows from the records of all."""

RIVAL: Final = "rival"
"""The member of a proposal's evidence that names the fact of which two were named successor."""


IMPORTED: Final[Mapping[str, str]] = {"accepted": Kind.ACCEPT, "rejected": Kind.REJECT}
"""How the line of a proposal that came decided, with an import, decides it elsewhere."""


class Taken(NamedTuple):
    """What taking some records did."""

    came: Counter[str]
    """How many records, by namespace."""
    erased: int
    """How many facts and episodes were erased."""


def missing(transaction: Transaction, wanted: Collection[About]) -> set[About]:
    """Return which of these facts and episodes are not here."""
    return {*wanted} - _ids(transaction, wanted).keys()


def erased(transaction: Transaction, wanted: Collection[About]) -> set[About]:
    """Return which of these facts and episodes were erased here."""
    ids = _ids(transaction, wanted)
    facts = fact_table.get_many(transaction, [i for a, i in ids.items() if a.kind == FACT])
    said = episode_table.get_many(transaction, [i for a, i in ids.items() if a.kind == EPISODE])
    return {
        about
        for about, id_ in ids.items()
        if not (facts[id_] if about.kind == FACT else said[id_]).content
    }


def named_by(record: Record) -> set[About]:
    """Return the facts and episodes that have to be here before a record can be taken."""
    about = record.about
    named = set() if record.kind in rules.BIRTHS else {about}
    value = record.value or {}
    if value.get(LINK):
        named.add(About(FACT, about.namespace, value[LINK]))
    if rules.PROPOSAL in value:
        uuids = (*value[rules.PROPOSAL], value.get("became"))
        named |= {About(FACT, about.namespace, uuid) for uuid in uuids if uuid is not None}
    if value.get("episode"):
        named.add(About(EPISODE, about.namespace, value["episode"]))
    return named


def take(
    transaction: Transaction,
    dependents: Dependents,
    devices: Sequence[DeviceRow],
    taken: Sequence[tuple[DeviceRow, Record]],
) -> Taken:
    """Take records, in their order, and let everything follow from them."""
    taking = _Taking(transaction, dependents, records.Chains.of(devices))
    twins = taking.erase_twins([record for _, record in taken])
    taking.read({record.about for _, record in taken} | twins)
    news = [(row, record, taking.repeats(record)) for row, record in taken]
    ends = {record.about for _, record in taken if record.kind in rules.ENDS}
    taking.free_keys({one for one in ends if rules.had_key(taking.reader.item(one))})
    taking.follow()
    taking.bear([(row, record) for row, record, repeats in news if not repeats])
    for row, record, repeats in news:
        taking.write(row, record, repeats=repeats)
    taking.settle()
    return Taken(taking.came, taking.erased)


def settle(
    transaction: Transaction,
    dependents: Dependents,
    devices: Sequence[DeviceRow],
    abouts: Collection[About],
) -> None:
    """Let follow what changes of this file make of facts and episodes."""
    taking = _Taking(transaction, dependents, records.Chains.of(devices))
    taking.read(abouts)
    taking.free_keys({about for about in abouts if taking.reader.item(about).is_erased})
    taking.follow()
    taking.settle()


def _ids(transaction: Transaction, wanted: Collection[About]) -> dict[About, int]:
    """Return the ids of those facts and episodes that are here."""
    groups: dict[tuple[str, str], list[str]] = {}
    for kind, namespace, uuid in wanted:
        groups.setdefault((kind, namespace), []).append(uuid)
    found = {}
    for (kind, namespace), uuids in groups.items():
        table = records.FACTS if kind == FACT else records.EPISODES
        for uuid, id_ in taken_table.ids(transaction, table, namespace, uuids).items():
            found[About(kind, namespace, uuid)] = id_
    return found


class _Taking:
    """The taking of some records in one transaction."""

    def __init__(
        self, transaction: Transaction, dependents: Dependents, chains: records.Chains
    ) -> None:
        self.transaction = transaction
        self.dependents = dependents
        self.changes = Changes(transaction, SYNC)
        self.reader = records.Reader(transaction, chains)
        self.ids: dict[About, int] = {}
        self.facts: dict[About, Fact] = {}
        self.episodes: dict[About, Episode] = {}
        self.states: Mapping[About, State] = {}
        self.proposals: Mapping[tuple[About, About], str] = {}
        self.came: Counter[str] = Counter()
        self.erased = 0

    # -- what is known -------------------------------------------------------------------------

    def read(self, abouts: Collection[About]) -> None:
        """Read every line about those that are here."""
        self._read(_ids(self.transaction, abouts))

    def _read(self, ids: Mapping[About, int]) -> None:
        new = {about: id_ for about, id_ in ids.items() if about not in self.ids}
        self.ids.update(new)
        facts = {id_: about for about, id_ in new.items() if about.kind == FACT}
        episodes = {id_: about for about, id_ in new.items() if about.kind == EPISODE}
        if facts or episodes:
            records.add(self.reader, facts, episodes)
        if facts:
            rows = fact_table.get_many(self.transaction, [*facts])
            self.facts.update((facts[id_], fact) for id_, fact in rows.items())
        if episodes:
            found = episode_table.get_many(self.transaction, [*episodes])
            self.episodes.update((episodes[id_], one) for id_, one in found.items())

    def repeats(self, record: Record) -> bool:
        """Take a record into account; return whether it was stored here before."""
        item = self.reader.item(record.about)
        repeats = record.kind in rules.BIRTHS and item.is_known
        item.add(record)
        return repeats

    def erase_twins(self, taken: Iterable[Record]) -> set[About]:
        """Erase what became one fact with one that was erased, before anything is derived.

        Other devices may know none of it, so these are changes of this file. What the device that
        erased made active again first was meant to stay.
        """
        ends: dict[About, Record] = {}
        kept: set[About] = set()
        for record in taken:
            if record.kind == Kind.ERASE:
                ends[record.about] = record
            elif record.kind == Kind.UNSUPERSEDE:
                kept.add(record.about)
        found: set[About] = set()
        ids = _ids(self.transaction, ends)
        if not taken_table.twins_of_facts(self.transaction, [*ids.values()]):
            return found
        for about, id_ in ids.items():
            changes = Changes(self.transaction, Author(ends[about].actor, ends[about].source))
            twins = taken_table.twins_of_facts(self.transaction, [id_])
            for twin in fact_table.get_many(self.transaction, sorted(twins)).values():
                if (one := About(FACT, twin.namespace, twin.uuid)) not in kept:
                    remove_fact(changes, twin, self.dependents)
                    found.add(one)
        if found:
            meta_table.put(self.transaction, UNFINISHED, "1")
            self.erased += len(found)
        return found

    def free_keys(self, erased: Collection[About]) -> None:
        """Read those that may have the idempotency keys of what is erased, from now on."""
        for kind, namespace in {(about.kind, about.namespace) for about in erased}:
            table = records.FACTS if kind == FACT else records.EPISODES
            ids = taken_table.keyless(self.transaction, table, namespace)
            named = taken_table.names(self.transaction, table, ids)
            self._read({About(kind, *one): id_ for id_, one in named.items()})

    def follow(self) -> None:
        """Read all that bears on what was read, and derive the state of all."""
        seen: set[About] = set()
        while new := self.reader.items.keys() - seen:
            seen |= new
            self._read(self._bearing_on([self.reader.items[about] for about in new]))
        derived = rules.derive(self.reader.items)
        self.states, self.proposals = derived.states, derived.proposals

    def _bearing_on(self, items: Sequence[Item]) -> dict[About, int]:
        """Return the facts whose state depends on some, or on which theirs depends.

        These are all that they were ever superseded by, those whose pins they have, those that gave
        way to them by a rule, and those that share a claim or a key with one. What else they
        superseded keeps its state. Of episodes, they are those that share a key.
        """
        named: set[About] = set()
        linked: set[int] = set()
        groups: dict[str, tuple[set[int], set[str], set[str]]] = {}
        spoken: dict[str, set[str]] = {}
        for item in items:
            about = item.about
            if about.kind != FACT:
                if (key_ := rules.once_key_of(item)) is not None:
                    spoken.setdefault(about.namespace, set()).add(key_)
                continue
            named |= {
                About(FACT, about.namespace, link.uuid)
                for link in item.links
                if link.uuid is not None
            }
            if (id_ := self.ids.get(about)) is not None:
                linked.add(id_)
            claims, external, keys = groups.setdefault(about.namespace, (set(), set(), set()))
            birth = item.birth
            if birth is None or item.is_erased:
                continue
            if rules.claim_of(item) is not None:
                key = folding.subject_key(birth["subject"])
                claims.add(folding.claim_hash(key, birth["content"]))
            if (external_key := rules.key_of(item)) is not None:
                external.add(external_key)
            if (key_ := rules.once_key_of(item)) is not None:
                keys.add(key_)
        found = _ids(self.transaction, named - self.ids.keys())
        ids = taken_table.bound_to(self.transaction, linked) if linked else set()
        for namespace, group in groups.items():
            ids |= taken_table.alike(self.transaction, namespace, *group)
        known = {id_ for about, id_ in self.ids.items() if about.kind == FACT}
        new = ids - known if ids else set()
        for id_, (namespace, uuid) in taken_table.names(
            self.transaction, records.FACTS, new
        ).items():
            found[About(FACT, namespace, uuid)] = id_
        return found | self._spoken_once(spoken)

    def _spoken_once(self, keys: Mapping[str, Collection[str]]) -> dict[About, int]:
        """Return the episodes that have some idempotency keys, and were not read yet."""
        ids: set[int] = set()
        for namespace, some in keys.items():
            ids |= taken_table.with_keys(self.transaction, namespace, some)
        ids -= {id_ for about, id_ in self.ids.items() if about.kind == EPISODE}
        named = taken_table.names(self.transaction, records.EPISODES, ids)
        return {About(EPISODE, *one): id_ for id_, one in named.items()}

    # -- what is new ---------------------------------------------------------------------------

    def bear(self, taken: Iterable[tuple[DeviceRow, Record]]) -> None:
        """Store the facts and episodes that are new."""
        births = [(row, one) for row, one in taken if one.kind in rules.BIRTHS]
        for row, record in births:
            if record.about.kind == EPISODE:
                self._record_episode(row, record)
        with Adoption(self.transaction, SYNC) as adoption:
            facts = [(row, one) for row, one in births if one.about.kind == FACT]
            stored = [(row, one, self._store(adoption, one)) for row, one in facts]
        place = acts.of(self.transaction).last - sum(lines for _, _, (_, lines) in stored)
        for row, record, (fact, lines) in stored:
            self._note(row, record, place + 1, self._left_out(record, fact))
            if lines > 1:
                self._note_derived(place + 2, record.rank)
            place += lines

    def _store(self, adoption: Adoption, record: Record) -> tuple[Fact, int]:
        """Store a fact; return it, and how many lines it gets."""
        fact = self._new_fact(record)
        self.ids[record.about], self.facts[record.about] = fact.id, fact
        self.came[record.about.namespace] += 1
        blank = not fact.content
        said = Line(
            record.kind,
            fact.id,
            fact.episode_id,
            after=None if blank else fact_table.journalled(fact),
            said_at=_moment(record.at),
            author=Author(record.actor, record.source),
        )
        lines = [said]
        if blank:
            lines.append(fact_table.erasure(fact, fact.deleted_at or self.changes.moment))
        fact_table.adopt(adoption, fact, lambda _: lines)
        return fact, len(lines)

    def _new_fact(self, record: Record) -> Fact:
        about, state = record.about, self.states[record.about]
        id_ = fact_table.new_id(self.transaction)
        value = record.value
        if value is None or state.is_erased:
            created = (
                text if (text := (value or {}).get("created_at")) else rules.text_of(record.rank)
            )
            blank = {"content": "", "subject": "", "category": "", "metadata": {}}
            given = {"uuid": about.uuid, "created_at": created} | blank
            fact = checked.fact_in(given | {"id": id_, "namespace": about.namespace})
            return replace(fact, deleted_at=self.changes.moment)
        given = {k: v for k, v in value.items() if k not in ("episode", LINK, "superseded_at")}
        if state.idempotency_key is None or self._key_is_used(about, state.idempotency_key):
            given.pop("idempotency_key", None)
        fact = checked.fact_in(given | {"id": id_, "namespace": about.namespace})
        named = value.get("episode")
        episode = self._episode_id(about, named) if named else None
        return replace(fact, episode_id=episode)

    def _key_is_used(self, about: About, key: str) -> bool:
        return any(
            fact.idempotency_key == key
            for one, fact in self.facts.items()
            if one.namespace == about.namespace
        )

    def _episode_id(self, about: About, uuid: str) -> int | None:
        wanted = About(EPISODE, about.namespace, uuid)
        if wanted not in self.ids:
            self.ids.update(_ids(self.transaction, [wanted]))
        return self.ids.get(wanted)

    def _left_out(self, record: Record, fact: Fact) -> str | None:
        """Return what a birth said that its line does not, as JSON."""
        if record.value is None or not fact.content:
            return None
        told = fact_table.journalled(fact)
        names = record.value.keys() - {"episode"}
        left = {name: record.value[name] for name in names if name not in told}
        return json.dumps([record.kind, left], ensure_ascii=False) if left else None

    def _record_episode(self, row: DeviceRow, record: Record) -> None:
        about, value = record.about, record.value
        id_ = episode_table.new_id(self.transaction)
        erased = value is None or self.states[about].is_erased
        given: dict[str, Any] = {"content": "", "created_at": rules.text_of(record.rank)}
        if value is not None and not erased:
            given = {**value}
            key = self.states[about].idempotency_key
            if key is None or episode_table.used_keys(self.transaction, about.namespace, [key]):
                given.pop("idempotency_key", None)
        given |= {"id": id_, "uuid": about.uuid, "namespace": about.namespace}
        episode = checked.episode_in(given)
        if episode.content and not episode.salt:
            episode = replace(episode, salt=episode_changes.new_salt())
        said = Line(
            record.kind,
            episode_id=id_,
            after=None if erased else episode_table.journalled(episode),
            said_at=_moment(record.at),
            author=Author(record.actor, record.source),
        )
        lines = [said, episode_table.erasure(episode)] if erased else [said]
        found = episode_table.derived(episode.content, episode.name, episode.source_description)
        episode_table.insert(self.changes, episode, lines, found)
        last = acts.of(self.transaction).last
        left = {"idempotency_key": value["idempotency_key"]} if (
            value and not erased and "idempotency_key" in value and not episode.idempotency_key
        ) else None  # fmt: skip
        told = json.dumps([record.kind, left], ensure_ascii=False) if left else None
        self._note(row, record, last - len(lines) + 1, told)
        if erased:
            self._note_derived(last, record.rank)
        self.ids[about], self.episodes[about] = id_, episode
        self.came[about.namespace] += 1

    # -- what changed --------------------------------------------------------------------------

    def write(self, row: DeviceRow, record: Record, *, repeats: bool) -> None:
        """Write the line of a record, with what it changes here."""
        if record.kind in rules.BIRTHS:
            if repeats:
                self._overtake(row, record, None if self._is_same(record) else record.value)
            return
        self.came[record.about.namespace] += 1
        if record.kind in rules.ENDS:
            self._end(row, record)
        elif record.about.kind == EPISODE:
            self._change_episode(row, record)
        elif record.kind in DECIDING:
            self._decide(row, record)
        elif record.kind in (Kind.CONFIRM, Kind.UNCONFIRM):
            self._count(row, record)
        else:
            self._change(row, record)

    def _is_same(self, record: Record) -> bool:
        birth = self.reader.item(record.about).birth
        return rules.in_order(birth) == rules.in_order(record.value)

    def _overtake(self, row: DeviceRow, record: Record, value: Any) -> None:
        """Write the line of a record that changes nothing."""
        about = record.about
        fact_id = self.ids[about] if about.kind == FACT else None
        episode_id = None if about.kind == FACT else self.ids[about]
        line = Line(
            Kind.OVERTAKEN,
            fact_id,
            episode_id,
            said_at=_moment(record.at),
            author=Author(record.actor, record.source),
        )
        self.changes.write(line)
        told = json.dumps([record.kind, value], ensure_ascii=False)
        self._note(row, record, acts.of(self.transaction).last, told)

    def _change(self, row: DeviceRow, record: Record) -> None:
        fact, item = self.facts[record.about], self.reader.item(record.about)
        state = self.states[record.about]
        columns: dict[str, Any] = {}
        for name, value in rules.registers(record.value or {}):
            top = item.top(name)
            if top.says(record.rank, value):
                columns |= self._wanted(record.about, state, name)
        if state.is_erased:
            columns = {name: one for name, one in columns.items() if name.startswith("superseded")}
        if all(getattr(fact, name) == one for name, one in columns.items()):
            self._overtake(row, record, record.value)
            return
        self._part(record.about, columns)
        self._set(record.about, record.kind, columns, record)
        self._note(row, record, acts.of(self.transaction).last, _text_of(record))

    def _wanted(self, about: About, state: State, name: str) -> dict[str, Any]:
        """Return the columns of a register with their values in a state."""
        if name == LINK:
            if state.superseded_by is None:
                return {"superseded_by": None, "superseded_at": None}
            newer = self.ids[About(FACT, about.namespace, state.superseded_by)]
            at = state.superseded_at or rules.text_of(state.superseded)
            return {"superseded_by": newer, "superseded_at": clock.from_text(at)}
        if name.startswith(rules.MEMBER):
            return {METADATA: {**state.metadata}}
        if name == rules.KEY:
            return {name: state.external_key}
        text = getattr(state, name)
        return {name: None if text is None else clock.from_text(text)}

    def _part(self, about: About, columns: Mapping[str, Any]) -> None:
        """End a link or a deletion that another one follows: kinds alone say what held when."""
        fact = self.facts[about]
        if columns.get("superseded_by") is not None and fact.superseded_by is not None:
            ended: dict[str, Any] = {"superseded_by": None, "superseded_at": None}
            self._set(about, Kind.UNSUPERSEDE, ended)
        if columns.get("deleted_at") is not None and fact.deleted_at is not None:
            self._set(about, Kind.RESTORE, {"deleted_at": None})

    def _set(
        self,
        about: About,
        kind: str,
        columns: Mapping[str, Any],
        record: Record | None = None,
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        """Change columns of a fact, with the line of a record, or of what follows."""
        fact = self.facts[about]
        line = Line(
            kind,
            fact.id,
            before={name: json_value(getattr(fact, name)) for name in columns},
            after={name: json_value(value) for name, value in columns.items()},
            evidence=evidence,
            said_at=None if record is None else _moment(record.at),
            author=None if record is None else Author(record.actor, record.source),
        )
        self.changes.write(line, fact_table.updating(fact.id, **columns))
        self.facts[about] = replace(fact, **columns)
        if record is None:
            rank = max(self._rank_of(about, columns), 0)
            self._note_derived(acts.of(self.transaction).last, rank)

    def _rank_of(self, about: About, columns: Mapping[str, Any]) -> int:
        """Return the rank of what follows, which later changes of it here have to exceed."""
        item, state = self.reader.item(about), self.states[about]
        if "superseded_by" in columns:
            return state.superseded
        return max((item.top(name).rank for name in columns), default=0)

    def _count(self, row: DeviceRow, record: Record) -> None:
        fact, state = self.facts[record.about], self.states[record.about]
        value = record.value or {}
        line = 0
        if state.is_erased or not value:
            pass
        elif record.kind == Kind.CONFIRM and fact.confirmed_count < state.confirmed_count:
            last = max(filter(None, (fact.last_confirmed_at, clock.from_text(value["at"]))))
            columns = {"confirmed_count": fact.confirmed_count + 1, "last_confirmed_at": last}
            self._set(record.about, Kind.CONFIRM, columns, record)
            line = acts.of(self.transaction).last
            self.reader.confirmed[line] = value["at"]
        elif record.kind == Kind.UNCONFIRM and fact.confirmed_count > state.confirmed_count:
            evidence = {"reverts": self._lines_of(record.about, value["at"])}
            self._set(record.about, Kind.UNCONFIRM, _counted(state), record, evidence)
            line = acts.of(self.transaction).last
        if line:
            self._note(row, record, line, _text_of(record))
        else:
            self._overtake(row, record, record.value)

    def _decide(self, row: DeviceRow, record: Record) -> None:
        """Put a proposal forward, or decide it as there."""
        value = record.value or {}
        wanted = self._proposal_of(record)
        held = None if wanted is None else proposal_table.same(self.transaction, wanted)
        line = 0
        if wanted is not None and held is None and record.kind == Kind.PROPOSE:
            line = self._put_forward(record, wanted)
            held = proposal_table.same(self.transaction, wanted)
        kind = IMPORTED.get(value.get("state", "")) if record.kind == Kind.PROPOSE else record.kind
        if held is not None and kind is not None:
            top = self.reader.item(record.about).top(rules.proposal_register(value["proposal"]))
            stored = proposal_table.with_ids(self.transaction, [held])[held]
            if top.rank == record.rank and top.value == value["state"] != stored.state:
                last = self._decide_as_there(record, Kind(kind), stored)
                if line:
                    self._note_derived(last, record.rank)
                line = line or last
        if line:
            self._note(row, record, line, _text_of(record))
        else:
            self._overtake(row, record, value)

    def _proposal_of(self, record: Record) -> ProposalRow | None:
        """Return the proposal that a record is about; ``None`` if one of its facts was erased."""
        value = record.value or {}
        if rules.PROPOSAL not in value:
            return None
        new, *sources = value[rules.PROPOSAL]
        named = [self._fact(record.about, uuid) for uuid in (record.about.uuid, new, *sources)]
        if any(fact is not None and fact.status == "erased" for fact in named):
            return None
        old, newer, *several = (None if fact is None else fact.id for fact in named)
        at = value.get("at") or rules.text_of(record.at)
        ids = tuple(sorted(id_ for id_ in several if id_ is not None))
        return ProposalRow(
            0, at, old or 0, newer, value.get("similarity"), None, ProposalState.OPEN, None, ids,
            value.get("content") if ids else None,
        )  # fmt: skip

    def _fact(self, among: About, uuid: str | None) -> Fact | None:
        """Return a fact of the same namespace."""
        if uuid is None:
            return None
        about = About(FACT, among.namespace, uuid)
        if about not in self.facts:
            self._read(_ids(self.transaction, [about]))
        return self.facts.get(about)

    def _put_forward(self, record: Record, proposal: ProposalRow) -> int:
        """Store a proposal; return its line, which is that of its first fact there."""
        id_ = self.transaction.next_id("memstore_proposals")
        changes = Changes(self.transaction, Author(record.actor, record.source))
        if proposal_table.place(changes, proposal._replace(id=id_)) is None:
            return 0
        last = acts.of(self.transaction).last
        if not proposal.sources:
            return last
        return last - len(proposal.sources) + 1 + proposal.sources.index(self.ids[record.about])

    def _decide_as_there(self, record: Record, kind: Kind, stored: ProposalRow) -> int:
        value = record.value or {}
        became = self._fact(record.about, value.get("became"))
        first = self.ids[record.about]
        facts = [*(one for one in stored.sources if one != first), first]
        new_id, content = stored.new_id if became is None else became.id, None
        if kind == Kind.REOPEN and stored.sources:  # its text is no fact, if it was one
            lines, left = proposals.lines_about(self.transaction, stored.sources)
            text, _ = proposal_table.split(proposals.evidence_of(lines[stored.id][0], left))
            new_id, content = None, text or ""
        decision = ProposalDecision(stored.id, kind, facts, new_id=new_id, content=content)
        author = Author(record.actor, record.source)
        proposal_table.decide(Changes(self.transaction, author), decision)
        return acts.of(self.transaction).last

    def _lines_of(self, about: About, moments: Sequence[str]) -> list[int]:
        """Return the lines of the confirmations of a fact at some moments."""
        own = self.reader.lines[about]
        return [line for line in own if self.reader.confirmed.get(line) in moments]

    def _end(self, row: DeviceRow, record: Record) -> None:
        """Erase a fact or an episode."""
        about = record.about
        author = Author(record.actor, record.source)
        value = record.value or {}
        if about.kind == EPISODE:
            episode = self.episodes[about]
            if not episode.content:
                self._overtake(row, record, value)
                return
            remove_episode(Changes(self.transaction, author), episode)
            known = {self.ids[one]: one for one in self.episodes}  # copies of it went, too
            found = episode_table.get_many(self.transaction, [*known])
            self.episodes.update((known[id_], one) for id_, one in found.items())
            line = taken_table.last_of(
                self.transaction, "episode_id", episode.id, Kind.ERASE_EPISODE
            )
        else:
            fact = self.facts[about]
            if fact.status == "erased":
                self._overtake(row, record, value)
                return
            self._link_finally(about)
            self._keep_links(about)
            remove_fact(Changes(self.transaction, author), self.facts[about], self.dependents)
            self.facts[about] = fact_table.get_many(self.transaction, [fact.id])[fact.id]
            line = taken_table.last_of(self.transaction, "fact_id", fact.id, Kind.ERASE)
        self._note(row, record, line, _text_of(record))
        meta_table.put(self.transaction, UNFINISHED, "1")
        self.erased += 1

    def _link_finally(self, about: About) -> None:
        """Link a fact before it is erased, so that what is left of it says so."""
        columns = self._wanted(about, self.states[about], LINK)
        fact = self.facts[about]
        if any(getattr(fact, name) != one for name, one in columns.items()):
            self._part(about, columns)
            linked = columns["superseded_by"] is not None
            self._set(about, Kind.SUPERSEDE if linked else Kind.UNSUPERSEDE, columns)

    def _keep_links(self, about: About) -> None:
        """Keep what lines of this file say of a fact's links, whose texts are about to go."""
        for row, record in self.reader.own_links.get(about, ()):
            told = TakenLine(
                row.id, taken_table.HERE, record.line, record.act, record.rank, _text_of(record)
            )
            self.transaction.queue(taken_table.TRACE, told)

    def _change_episode(self, row: DeviceRow, record: Record) -> None:
        about = record.about
        item, state, episode = self.reader.item(about), self.states[about], self.episodes[about]
        columns: dict[str, Any] = {}
        for name, value in rules.registers(record.value or {}, EPISODE):
            top = item.top(name)
            if top.says(record.rank, value):
                columns[name] = _of_episode(state, name)
        same = all(
            _unlisted(getattr(episode, name)) == _unlisted(one) for name, one in columns.items()
        )
        if state.is_erased or not episode.content or same:
            self._overtake(row, record, record.value)
            return
        self._set_episode(about, columns, record)
        self._note(row, record, acts.of(self.transaction).last, _text_of(record))

    def _set_episode(
        self, about: About, columns: Mapping[str, Any], record: Record | None = None
    ) -> None:
        episode = self.episodes[about]
        line = Line(
            Kind.UPDATE_EPISODE,
            episode_id=episode.id,
            before={name: json_value(getattr(episode, name)) for name in columns},
            after={name: json_value(value) for name, value in columns.items()},
            said_at=None if record is None else _moment(record.at),
            author=None if record is None else Author(record.actor, record.source),
        )
        self.changes.write(line, episode_table.updating(episode.id, **columns))
        self.episodes[about] = replace(episode, **columns)
        if record is None:
            item = self.reader.item(about)
            rank = max((item.top(name).rank for name in columns), default=0)
            self._note_derived(acts.of(self.transaction).last, rank)

    # -- what follows --------------------------------------------------------------------------

    def settle(self) -> None:
        """Write what follows from all records, where the rows differ from it."""
        states = [(about, self.states[about]) for about in self.ids if about in self.states]
        for about, state in states:
            held = (self.facts if about.kind == FACT else self.episodes)[about].idempotency_key
            if held is None or held == state.idempotency_key or state.is_erased:
                continue
            if about.kind == FACT:
                self._set(about, Kind.UPDATE, {"idempotency_key": None})
            else:
                self._set_episode(about, {"idempotency_key": None})
        for about, state in states:
            if about.kind == EPISODE:
                self._settle_episode(about, state)
            else:
                self._settle_fact(about, state)
        self._propose()

    def _settle_fact(self, about: About, state: State) -> None:
        fact = self.facts[about]
        self._link_finally(about)
        if state.is_erased or fact.status == "erased":
            return
        for name, off, on in (
            (rules.DELETION, Kind.RESTORE, Kind.DELETE),
            (rules.PIN, Kind.UNPIN, Kind.PIN),
            (rules.EXPIRY, Kind.UPDATE, Kind.UPDATE),
            (rules.KEY, Kind.UPDATE, Kind.UPDATE),
            (rules.MEMBER, Kind.METADATA, Kind.METADATA),
        ):
            columns = self._wanted(about, state, name)
            [(column, value)] = columns.items()
            if _differs(getattr(self.facts[about], column), value):
                self._part(about, columns)
                self._set(about, off if value is None else on, columns)
        fact = self.facts[about]
        counted = _counted(state)
        if any(getattr(fact, name) != one for name, one in counted.items()):
            more = state.confirmed_count >= fact.confirmed_count
            self._set(about, Kind.CONFIRM if more else Kind.UNCONFIRM, counted)
        if fact.idempotency_key != state.idempotency_key:
            self._set(about, Kind.UPDATE, {"idempotency_key": state.idempotency_key})

    def _settle_episode(self, about: About, state: State) -> None:
        episode = self.episodes[about]
        if state.is_erased or not episode.content:
            return
        names = (rules.TAGS, rules.EXPIRY, METADATA, "idempotency_key")
        columns = {name: _of_episode(state, name) for name in names}
        differing = {
            name: value
            for name, value in columns.items()
            if _differs(_unlisted(getattr(episode, name)), _unlisted(value))
        }
        if differing:
            self._set_episode(about, differing)

    def _propose(self) -> None:
        """Ask a person about successors that lost, and still stand."""
        for (old, new), rival in sorted(self.proposals.items()):
            facts = self._fact(old, old.uuid), self._fact(new, new.uuid)
            if any(fact is None or fact.status == "erased" for fact in facts):
                continue
            old_id, new_id = (fact.id for fact in facts if fact is not None)
            if not proposal_table.pairs(self.transaction, old_id, new_id):
                proposal_table.insert(self.changes, old_id, new_id, 0.0, {RIVAL: rival})

    def _note(self, row: DeviceRow, record: Record, line: int, value: str | None) -> None:
        """Store of which device and line a line is; one of no device is a line of this file."""
        position, act = record.line, record.act
        if row.id == taken_table.HERE:
            position, act = line, acts.of(self.transaction).txn
        told = TakenLine(line, row.id, position, act, record.rank, value)
        self.transaction.queue(taken_table.TRACE, told)

    def _note_derived(self, line: int, rank: int) -> None:
        self.transaction.queue(taken_table.TRACE, TakenLine(line, None, 0, 0, rank, None))


def _text_of(record: Record) -> str:
    return json.dumps([record.kind, record.value], ensure_ascii=False)


def _moment(at: int) -> datetime:
    return clock.EPOCH + at * rules.MICROSECOND


def _counted(state: State) -> dict[str, Any]:
    last = state.last_confirmed_at
    return {
        "confirmed_count": state.confirmed_count,
        "last_confirmed_at": None if last is None else clock.from_text(last),
    }


def _of_episode(state: State, name: str) -> Any:
    if name == rules.TAGS:
        return [*state.tags]
    if name == METADATA:
        return {**state.metadata}
    if name == "idempotency_key":
        return state.idempotency_key
    return None if state.expired_at is None else clock.from_text(state.expired_at)


def _unlisted(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else value


def _differs(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return rules.in_order(one) != rules.in_order(other)
    return bool(one != other)
