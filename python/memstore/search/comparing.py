"""Compares facts with those on their subject, so that a search reads what may replace its hits.

What is said of two texts never changes, so each pair is judged once, soon after the later one was
stored: by a thread that a search starts when it finds facts that wait, by the doctor's rebuild, and
before a program ends that leaves many. Until then, searches judge these facts themselves.

A step takes facts that were stored or changed since the last one, and compares each with all others
of its group, or with its nearest ones in a large group, which the index finds. Its rows are written
before it is recorded, so a kill costs only the work of a step. Several processes may do the same
step: a row is right whoever writes it.
"""

from __future__ import annotations

from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from memstore.database.derivations import FACT_FEED
from memstore.database.engine import NO_LIMIT
from memstore.database.filters import FactFilter
from memstore.database.tables import facts as fact_table
from memstore.database.tables import feeds
from memstore.database.tables import newer as newer_table
from memstore.database.tables.newer import Compared, Pair
from memstore.domain import clock
from memstore.domain.records import TODO, Scope
from memstore.embedding.leases import Lease
from memstore.named import NamedTuple
from memstore.search import newer
from memstore.search.corpus import FactCorpus
from memstore.search.newer import MAX_GROUP, NEAREST, claim_of
from memstore.search.past import EARLIEST
from memstore.text.judging import RULES
from memstore.text.judging import judge as judging
from memstore.text.judging.judge import Verdict

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.facts import Claimed
    from memstore.database.tables.newer import Group
    from memstore.search.index.contents import FeedContents
    from memstore.search.index.index import Index
    from memstore.text.judging.judge import Claim

PAGE: Final = 100_000
"""The new facts of a step, or as many again as were compared: each step reads its whole groups, so
that they are read two or three times, however many facts there are."""

WRITTEN_AT_ONCE: Final = 1000
"""Rows that wait before they are written."""

BREATH_SECONDS: Final = 0.001
"""How long the thread waits before each fact, which takes about as long: searches go first."""

JOB: Final = "compare"
"""The name of the lease for long work."""


AT_ONCE: Final = 8
"""Facts of a large group that are compared in one read of the index: what is written in between is
indexed when it ends."""

MAX_READ: Final = 4096
"""Of how many facts of a large group it is kept what they say: some 10 MB."""


def work(engine: Engine, index: Index, ended: threading.Event) -> None:
    """Compare what waits; if that takes long, in one process at a time."""
    pause = partial(clock.wait, ended, BREATH_SECONDS)
    if not newer.waits_long(engine):
        run(engine, index, lambda: not ended.is_set(), pause)
        return
    with Lease(engine, JOB) as lease:
        if lease.is_held:
            run(engine, index, lambda: lease.is_held and not ended.is_set(), pause)


def _at_once() -> None:
    """No pause."""


def run(
    engine: Engine,
    index: Index,
    go_on: Callable[[], bool],
    pause: Callable[[], object] = _at_once,
) -> None:
    """Compare all that waits, or as long as it may go on, with a pause before each fact.

    Args:
        index: that of facts. Without it, those of large groups go on waiting.
    """
    while go_on():
        step = _next_step(engine)
        if step is None or not step.take(index, go_on, pause):
            return


def forget(engine: Engine) -> None:
    """Forget what was said of all facts, so that they are compared again."""
    with engine.write() as transaction:
        _begin_again(transaction)


class _Step(NamedTuple):
    """The facts that are compared together, and how far they all are afterwards."""

    engine: Engine
    before: Compared
    after: Compared
    changed: frozenset[int]
    """Those that were changed; others are new."""
    groups: dict[Group, bool]
    """Their groups, and whether all of a group are compared: it was larger before."""

    def take(self, index: Index, go_on: Callable[[], bool], pause: Callable[[], object]) -> bool:
        """Write what is found and record it; return whether that was done, with nothing between."""
        found: list[Pair] = []
        for group, whole in self.groups.items():
            if not go_on():
                return False
            with self.engine.read() as transaction:
                said = newer_table.members(transaction, group, MAX_GROUP + 1)
            if len(said) <= MAX_GROUP:
                found += pairs(said, _every if whole else self._is_asked, pause)
            else:
                waiting, read = self._to_compare(group), _Read()
                while some := [*islice(waiting, AT_ONCE)]:
                    near = index.read(partial(self._nearest, group, some))
                    if near is None or not go_on():
                        return False
                    found += near.pairs(read, pause)
            if len(found) >= WRITTEN_AT_ONCE:
                self._write(found)
                found = []
        return self._write(found, self.after)

    def _to_compare(self, group: Group) -> Iterator[int]:
        """Return the facts of a group that are compared."""
        with self.engine.read() as transaction:
            found = newer_table.between(transaction, group, self.before, self.after)
            found += newer_table.current(transaction, group, sorted(self.changed))
        return iter(sorted({*found}))

    def _nearest(
        self,
        group: Group,
        fact_ids: Sequence[int],
        transaction: Transaction,
        contents: FeedContents | None,
    ) -> _Nearest | None:
        """Return facts of a large group with the nearest of those that they are compared with.

        These are of the group, whether they have expired, or are hidden: all that are earlier, and
        those later ones that were compared before. ``None`` without an index.
        """
        if contents is None:
            return None
        lookup = FactCorpus(transaction, contents).lookup
        owners = Scope(user_id=group.user_id, agent_id=group.agent_id, run_id=group.run_id)
        wanted = FactFilter(
            (group.namespace,), EARLIEST, scope=owners, include_distrusted=True, tasks=False
        )
        facts = [*fact_table.get_many(transaction, fact_ids).values()]
        near: dict[int, set[int]] = {fact.id: set() for fact in facts}
        for id_, others in lookup.on_subject(facts, wanted, NEAREST, later=False).items():
            near[id_].update(others)
        if self.before.last_id:
            for id_, others in lookup.on_subject(facts, wanted, NEAREST, later=True).items():
                near[id_].update(other for other in others if not self._is_asked(other))
        ids = {*near, *chain.from_iterable(near.values())}
        return _Nearest(near, fact_table.claims(transaction, sorted(ids)))

    def _is_asked(self, fact_id: int) -> bool:
        return self.before.last_id < fact_id <= self.after.last_id or fact_id in self.changed

    def _write(self, found: Sequence[Pair], after: Compared | None = None) -> bool:
        with self.engine.write() as transaction:
            if newer_table.state(transaction) != self.before:
                return False  # another process was faster
            newer_table.add(transaction, found)
            if after is not None:
                newer_table.set_state(transaction, after)
        return True


def _next_step(engine: Engine) -> _Step | None:
    """Return what is to be compared next; ``None`` if nothing waits."""
    with engine.read() as transaction:
        before = newer_table.state(transaction)
        span = feeds.span(transaction, FACT_FEED)
        if before is not None and before.rules > RULES:
            return None  # a newer version looks after them
        if before is not None and before.rules == RULES and span.reaches(before.position):
            return _step(engine, transaction, before, span.newest)
    with engine.write() as transaction:
        if newer_table.state(transaction) == before:
            _begin_again(transaction)
    with engine.read() as transaction:
        before = newer_table.state(transaction)
        newest = feeds.span(transaction, FACT_FEED).newest
        return None if before is None else _step(engine, transaction, before, newest)


def _begin_again(transaction: Transaction) -> None:
    newest = feeds.span(transaction, FACT_FEED).newest
    newer_table.begin_again(transaction, Compared(0, newest, RULES, is_begun=1))


def _step(engine: Engine, transaction: Transaction, before: Compared, newest: int) -> _Step | None:
    changed = newer_table.changed_ids(transaction, before, newest - before.position)
    last_id = newer_table.last_of_page(transaction, before, max(PAGE, before.last_id))
    if last_id == before.last_id and before.position == newest and not before.is_begun:
        return None
    is_last = newer_table.last_of_page(transaction, before._replace(last_id=last_id), 1) == last_id
    after = Compared(last_id, newest, RULES, is_begun=int(not is_last))
    groups = dict.fromkeys(newer_table.groups(transaction, changed).values(), False)
    groups |= dict.fromkeys(newer_table.groups_between(transaction, before, after), False)
    # A group that had more facts than are compared may have fewer now.
    shrunk = newer_table.of_size(transaction, MAX_GROUP - len(changed), MAX_GROUP)
    groups |= dict.fromkeys(shrunk if changed else (), True)
    kept = {group: whole for group, whole in groups.items() if group.subject_key != TODO}
    return _Step(engine, before, after, frozenset(changed), kept)


def _every(_: int) -> bool:
    return True


def pairs(
    said: Sequence[Claimed],
    is_asked_of: Callable[[int], bool] = _every,
    pause: Callable[[], object] = _at_once,
) -> Iterator[Pair]:
    """Yield which facts of a group replace an earlier one, or may.

    Args:
        said: what they say.
        is_asked_of: says which facts are compared, by id: each pair has one of them.
        pause: called before each of these, so that other threads work.
    """
    ordered = sorted(said, key=lambda one: one.since)
    claims = [claim_of(one) for one in ordered]
    is_asked = [is_asked_of(one.id) for one in ordered]
    for place, one in enumerate(ordered):
        if not is_asked[place]:
            continue
        pause()
        for later in (False, True):
            others = [
                other
                for other in (range(place + 1, len(claims)) if later else range(place))
                # With two of them, the older one is compared.
                if (later or not is_asked[other]) and ordered[other].since != one.since
            ]
            near = judging.worth_judging(
                claims[place], [claims[other] for other in others], is_newer=not later
            )
            for other in (others[found] for found in near):
                old, new = (place, other) if later else (other, place)
                verdict = judging.verdict(claims[old], claims[new])
                if verdict is not Verdict.KEEP:
                    yield Pair(ordered[old].id, ordered[new].id, verdict is Verdict.RETIRE)


class _Read:
    """What facts of a group say, read once for many comparisons."""

    def __init__(self) -> None:
        self._claims: dict[int, Claim] = {}

    def claim(self, one: Claimed) -> Claim:
        found = self._claims.get(one.id)
        if found is None:
            if len(self._claims) >= MAX_READ:
                self._claims.clear()
            found = self._claims[one.id] = claim_of(one)
        return found


class _Nearest(NamedTuple):
    """Facts of a large group, with their nearest ones."""

    near: Mapping[int, Collection[int]]
    said: Mapping[int, Claimed]
    """What all of them say."""

    def pairs(self, read: _Read, pause: Callable[[], object]) -> Iterator[Pair]:
        """Yield which of them replace each other, or may, with a pause before each fact."""
        for id_, others in self.near.items():
            pause()
            one, rest = self.said[id_], [self.said[other] for other in sorted(others)]
            earlier = [other for other in rest if other.since < one.since]
            later = [other for other in rest if other.since > one.since]
            for is_newer, among in ((True, earlier), (False, later)):
                claims = [read.claim(other) for other in among]
                for place in judging.worth_judging(read.claim(one), claims, is_newer=is_newer):
                    old, new = (among[place], one) if is_newer else (one, among[place])
                    verdict = judging.verdict(read.claim(old), read.claim(new))
                    if verdict is not Verdict.KEEP:
                        yield Pair(old.id, new.id, verdict is Verdict.RETIRE)


def misfits(transaction: Transaction, *, deep: bool) -> list[int]:
    """Return the facts of which something else is stored than their texts say.

    Args:
        deep: compare all facts once more, so that a row that is missing is noticed, too.
    """
    state = newer_table.state(transaction)
    if state is None or state.rules != RULES:
        return []  # they will be made anew
    wrong = {pair.older for pair in _unfounded(transaction)}
    for group in _settled(transaction, state) if deep else ():
        said = newer_table.members(transaction, group, MAX_GROUP)
        held = newer_table.known(transaction, [one.id for one in said])
        wrong |= {one.older for one in pairs(said) if one.newer not in held[one.older].newer}
    return sorted(wrong)


def _unfounded(transaction: Transaction) -> Iterator[Pair]:
    """Yield the rows that the texts of their facts do not say."""
    every = newer_table.every(transaction)
    while some := [*islice(every, WRITTEN_AT_ONCE)]:
        said = fact_table.claims(transaction, sorted({id_ for pair in some for id_ in pair[:2]}))
        claims = {id_: claim_of(one) for id_, one in said.items() if one.content}
        for pair in some:
            old, new = claims.get(pair.older), claims.get(pair.newer)
            verdict = None if old is None or new is None else judging.verdict(old, new)
            if verdict is not (Verdict.RETIRE if pair.proves else Verdict.ASK):
                yield pair


def _settled(transaction: Transaction, state: Compared) -> Iterator[Group]:
    """Yield the groups of which all facts were compared, and that were not changed since."""
    if not feeds.span(transaction, FACT_FEED).reaches(state.position):
        return
    waiting = newer_table.changed_ids(transaction, state, NO_LIMIT)
    waiting += newer_table.new_ids(transaction, state, NO_LIMIT)
    changed = {*newer_table.groups(transaction, waiting).values()}
    for group in newer_table.of_size(transaction, 1, MAX_GROUP - len(waiting)):
        if group.subject_key != TODO and group not in changed:
            yield group
