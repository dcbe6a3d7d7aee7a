"""Erasing what a selection names: first a plan, then short transactions, then a smaller file.

Facts go before the episodes that lead to them. So after an interruption the same selection finds
what is left; each transaction leaves the file as if only so much had been selected.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from array import array
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database import meta as meta_table
from memstore.database.changes import Changes
from memstore.database.short_transactions import in_steps
from memstore.database.tables import distrusted as distrusted_table
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import erasable
from memstore.database.tables import facts as fact_table
from memstore.database.tables import graph as graph_table
from memstore.database.tables import replies as reply_table
from memstore.database.tables import searches as search_table
from memstore.database.tables import support as support_table
from memstore.database.tables import taken as taken_table
from memstore.domain.erasures import (
    EPISODE,
    FACT,
    Erased,
    ErasureCounts,
    ErasureSelection,
    ErasureStep,
)
from memstore.domain.plans import outdated
from memstore.domain.records import EVERYBODY, is_among
from memstore.errors import NotFound, Remedy
from memstore.frozen import replace
from memstore.history import erasing, reasons, trust
from memstore.history.queries import Queries
from memstore.named import NamedTuple
from memstore.text.occurrences import Occurrences

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from memstore.database.changes import Dependents
    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.journal import Author
    from memstore.database.tables.support import SupportRow
    from memstore.domain.records import Fact
    from memstore.domain.standing import Standing

READ_AT_ONCE: Final = 2000
ERASED_AT_ONCE: Final = 10
"""Facts, or episodes, of one act: some hundred rows."""

MAX_STEPS: Final = 1000
"""How many steps a plan tells; more are counted."""

CLAIM_CHARACTERS: Final = 200
"""How much of an episode is told."""

GRAPH_DROPPED_FROM: Final = 200
"""So many facts of a namespace take its graph along: to find each in it takes longer."""

SWEPT_AT_ONCE: Final = 500
"""Rows of a dropped graph that are removed together."""

UNFINISHED: Final = "unfinished_erasure"
"""The setting of a file in which something was erased, but that was not rewritten since."""


class ErasureTarget(NamedTuple):
    """Where something is erased."""

    engine: Engine
    author: Author
    dependents: Dependents
    rewrite: Callable[[], bool]
    """Removes what was erased from the files of the searches."""
    copies: tuple[str, ...]
    """The copies of the file that are known."""


class Selected(NamedTuple):
    """What a selection amounts to."""

    facts: list[int]
    """That go, in order."""
    episodes: list[int]
    staying: list[tuple[int, str]]
    """Facts that were selected and stay, each with the reason."""
    reasons: dict[int, str]
    """Why facts go, if not because they are named themselves."""
    released: set[int]
    """Those that stay and had given way to one that goes, which says the same."""


class ErasurePlan:
    """What an erasure would remove. Nothing is changed before :meth:`apply`.

    ``steps`` say what goes, and why; ``stays`` what stays of what was selected, and the episodes
    that facts which go were drawn from. Both tell the first 1,000; ``fact_ids`` and ``episode_ids``
    are complete. ``counts`` say how much goes with them. ``copies`` are the backups that are known;
    exports, and copies elsewhere, cannot be known. ``graphs`` are the namespaces whose graph goes
    as a whole, because many of their facts go; build them again. ``digest`` stands for what the
    plan rests on.
    """

    def __init__(
        self,
        place: ErasureTarget,
        chosen: ErasureSelection,
        standing: Standing,
        transaction: Transaction,
    ) -> None:
        self._place, self._chosen, self._standing = place, chosen, standing
        self._line = journal.last_id(transaction)
        found = _Selecting(transaction, chosen, standing).selected()
        self.fact_ids: tuple[int, ...] = tuple(found.facts)
        self.episode_ids: tuple[int, ...] = tuple(found.episodes)
        self._rests_on = {*found.facts, *(fact_id for fact_id, _ in found.staying)}
        self._goes = ({*found.facts}, {*found.episodes})
        self._released = found.released
        self._is_unfinished = meta_table.get(transaction, UNFINISHED) is not None
        if not (self or found.staying or self._is_unfinished or chosen.is_by_id):
            raise NotFound("nothing that is stored is selected", remedy=Remedy.FIND_ID)
        telling = _Telling(transaction, chosen, standing, found)
        self.steps: tuple[ErasureStep, ...] = telling.steps()
        self.stays: tuple[ErasureStep, ...] = telling.stays()
        self.copies: tuple[str, ...] = place.copies
        self._closing = _to_close(transaction, standing, found)
        self._newest_reply = reply_table.newest_id(transaction)
        self.graphs: tuple[str, ...] = tuple(_large(transaction, found.facts))
        self.counts: ErasureCounts = self._counted(transaction)
        self.digest: str = self._digest(transaction)

    def __repr__(self) -> str:
        return f"ErasurePlan(facts={len(self.fact_ids)}, episodes={len(self.episode_ids)})"

    def __bool__(self) -> bool:
        """Whether anything goes."""
        return bool(self.fact_ids or self.episode_ids)

    def to_dict(self) -> dict[str, Any]:
        return {
            "steps": [step.to_dict() for step in self.steps],
            "stays": [step.to_dict() for step in self.stays],
            "counts": self.counts.to_dict(),
            "copies": [*self.copies],
            "graphs": [*self.graphs],
            "digest": self.digest,
        }

    def apply(self, *, progress: Progress | None = None) -> Erased:
        """Erase it, in short transactions, and rewrite the file at the end.

        After an interruption, the same selection again completes it.

        Args:
            progress: called with the number of facts and episodes erased and the total.

        Raises:
            Conflict: something that the plan rests on has changed since; nothing was done.
        """
        with self._place.engine.read() as transaction:
            for ids in _batches(self.fact_ids):
                trust.check_acts(transaction, self._place.author, ids)
            for ids in _batches(self.episode_ids):
                trust.check_episodes(transaction, self._place.author, ids)
        work = _Erasing(self, progress)
        is_gone = work.carry_out(work.tell)
        return Erased(counts=work.counts, left=tuple(work.left), is_gone=is_gone)

    def check(self, transaction: Transaction) -> None:
        """Raise ``Conflict`` if something that the plan rests on has changed."""
        facts = erasable.changed_facts(transaction, self._line)
        episodes = erasable.changed_episodes(transaction, self._line)
        if not (facts.isdisjoint(self._rests_on) and episodes.isdisjoint(self._goes[1])):
            raise outdated()
        if facts or episodes:
            again = _Selecting(
                transaction, self._chosen, self._standing, facts, episodes
            ).selected()
            if any(again[:3]):
                raise outdated()

    def _counted(self, transaction: Transaction) -> ErasureCounts:
        return sum(
            chain(
                (erasable.of_facts(transaction, ids) for ids in _batches(self.fact_ids)),
                (
                    erasable.of_episodes(transaction, ids, self._goes[0])
                    for ids in _batches(self.episode_ids)
                ),
            ),
            _closing_counts(transaction, self._closing)
            + ErasureCounts(entries=erasable.count_entries(transaction, self._goes[0])),
        )

    def _digest(self, transaction: Transaction) -> str:
        rests = sorted(self._rests_on)
        lasts = (erasable.newest_line(transaction, ids) for ids in _batches(rests))
        hashed = hashlib.sha256()
        for numbers in (rests, self.episode_ids, [max(lasts, default=0)]):
            hashed.update(array("q", [len(numbers), *numbers]).tobytes())
        return hashed.hexdigest()


def plan(place: ErasureTarget, chosen: ErasureSelection, standing: Standing) -> ErasurePlan:
    """Plan to erase what is selected of these namespaces and owners."""
    with place.engine.read() as transaction:
        return ErasurePlan(place, chosen, standing, transaction)


class _Selecting:
    """Finds what a selection means, of all rows or of those among these."""

    def __init__(
        self,
        transaction: Transaction,
        chosen: ErasureSelection,
        standing: Standing,
        facts: Collection[int] | None = None,
        episodes: Collection[int] | None = None,
    ) -> None:
        self._transaction, self._chosen, self._standing = transaction, chosen, standing
        self._among_facts, self._among_episodes = facts, episodes

    def selected(self) -> Selected:
        chosen, transaction = self._chosen, self._transaction
        episodes = erasable.episodes(transaction, chosen, self._standing, self._among_episodes)
        if self._among_facts is None:
            self._check_named(episodes)
        batches = _batches(episodes)
        copies = {one for ids in batches for one in episode_table.copies(transaction, ids)}
        for ids in _batches(sorted({*episodes, *copies})):
            copies |= taken_table.twins_of_episodes(transaction, ids)
        if self._among_episodes is not None:
            copies &= {*self._among_episodes}
        episodes = sorted({*episodes, *copies})
        self._named = {*episodes} if chosen.episode is not None else set()
        found = Selected([], episodes, [], {}, set())
        if chosen.is_by_origin:
            self._of_source = self._origin(chosen._replace(run=None))
            self._of_run = self._origin(chosen._replace(source=None))
            self._run_lines = (
                {*()} if chosen.run is None else erasable.lines_of_run(transaction, chosen.run)
            )
            heard = self._heard_from({*episodes, *self._of_source, *self._of_run})
            self._by_supports(heard, self._is_selected, found)
        else:
            found.facts.extend(
                erasable.facts(transaction, chosen, self._standing, self._among_facts)
            )
            own, erased = {*found.facts}, {*episodes}
            heard = [one for one in self._heard_from(erased) if one not in own] if erased else []
            self._by_supports(heard, lambda support: support.episode_id in erased, found)
        self._add_twins(found)
        return found

    def _add_twins(self, found: Selected) -> None:
        """Add what became one fact with one that goes: the same claim, heard on another device."""
        twins = set[int]()
        for ids in _batches(found.facts):
            twins |= taken_table.twins_of_facts(self._transaction, ids)
        if self._among_facts is not None:
            twins &= {*self._among_facts}
        staying = {fact_id for fact_id, _ in found.staying}
        found.released.update(twins & staying)
        found.facts.extend(twins - {*found.facts} - staying)
        found.facts.sort()

    def _check_named(self, episodes: Sequence[int]) -> None:
        """Raise ``NotFound`` if a fact or an episode that is named is not there, even erased."""
        chosen, transaction, standing = self._chosen, self._transaction, self._standing
        home = standing.namespace
        if chosen.episode is not None and not chosen.is_of_facts and not episodes:
            held = episode_table.get(transaction, chosen.episode, home)
            if held is None or held.content:
                raise NotFound(
                    f"there is no episode {chosen.episode} in namespace {home!r}",
                    remedy=Remedy.FIND_EPISODE,
                )
        for ids in _batches(chosen.facts or ()):
            there = fact_table.get_many(transaction, ids)
            for one in ids:
                fact = there.get(one)
                if fact is None or not _is_visible(fact, standing):
                    raise NotFound(
                        f"there is no fact {one} in namespace {home!r}", remedy=Remedy.FIND_ID
                    )

    def _origin(self, chosen: ErasureSelection) -> set[int]:
        """Return the episodes of this source or run, whosever they are."""
        alone = chosen._replace(episode=None, subject=None, facts=None, owner=None)
        if not alone.is_by_origin:
            return set()
        whosever = replace(self._standing, owners=EVERYBODY)
        return {*erasable.episodes(self._transaction, alone, whosever)}

    def _heard_from(self, episode_ids: set[int]) -> list[int]:
        if self._chosen.episode is not None:
            episode_ids = {self._chosen.episode, *self._named}
        return erasable.heard_from(
            self._transaction, self._chosen, self._standing, sorted(episode_ids), self._among_facts
        )

    def _is_selected(self, support: SupportRow) -> bool:
        chosen = self._chosen
        if chosen.episode is not None and support.episode_id not in {chosen.episode, *self._named}:
            return False
        if chosen.source is not None and not (
            chosen.source in (support.cited, support.through)
            or support.episode_id in self._of_source
        ):
            return False
        return (
            chosen.run is None
            or support.line in self._run_lines
            or support.episode_id in self._of_run
        )

    def _by_supports(
        self, heard: Sequence[int], is_selected: Callable[[SupportRow], bool], found: Selected
    ) -> None:
        """Add the facts that rest on nothing but selected supports; the others stay."""
        for ids in _batches(heard):
            supports: dict[int, list[SupportRow]] = {fact_id: [] for fact_id in ids}
            for support in support_table.speaking(support_table.of_facts(self._transaction, ids)):
                supports[support.fact_id].append(support)
            for fact_id, own in supports.items():
                going = [support for support in own if is_selected(support)]
                if own and not going:
                    continue
                other = next((support for support in own if support not in going), None)
                is_drawn = all(support.episode_id is not None for support in going)
                if other is not None:
                    found.staying.append((fact_id, f"it was also {reasons.of_support(other)}"))
                elif is_drawn and not self._chosen.drawn:
                    found.staying.append((fact_id, "facts drawn from an episode were left out"))
                else:
                    found.facts.append(fact_id)
                    found.reasons[fact_id] = (
                        f"it was {reasons.of_support(going[0])}" if going else NO_SUPPORT
                    )


NO_SUPPORT: Final = "nothing that it rested on is left"


class _Telling:
    """Says in words what goes and what stays."""

    def __init__(
        self,
        transaction: Transaction,
        chosen: ErasureSelection,
        standing: Standing,
        found: Selected,
    ) -> None:
        self._transaction, self._chosen, self._standing = transaction, chosen, standing
        self._found = found
        self._going = {*found.facts}

    def steps(self) -> tuple[ErasureStep, ...]:
        ids = self._found.facts[:MAX_STEPS]
        facts = fact_table.get_many(self._transaction, ids)
        ended = self._ending(facts.values())
        episodes = self._found.episodes[: MAX_STEPS - len(ids)]
        return (
            *(self._fact(facts[one], ended=one in ended) for one in ids if one in facts),
            *self._episodes(episodes, "is erased", lambda _: self._because()),
        )

    def stays(self) -> tuple[ErasureStep, ...]:
        staying = dict(self._found.staying[:MAX_STEPS])
        facts = fact_table.get_many(self._transaction, [*staying])
        drawn: dict[int, int] = {}
        for ids in _batches(self._found.facts):
            for fact_id, episode_id in erasable.drawn_from(self._transaction, ids):
                drawn.setdefault(episode_id, fact_id)
        left = sorted(drawn.keys() - {*self._found.episodes})[: MAX_STEPS - len(staying)]
        return (
            *(self._staying(facts[one], why) for one, why in staying.items()),
            *islice(self._others(), MAX_STEPS - len(staying)),
            *self._episodes(left, "stays", lambda one: f"fact {drawn[one]} was drawn from it"),
        )

    def _staying(self, fact: Fact, reason: str) -> ErasureStep:
        is_released = fact.status == "superseded" and fact.id in self._found.released
        return _fact_step(fact, "stays, and is active again" if is_released else "stays", reason)

    def _others(self) -> Iterator[ErasureStep]:
        """Yield the facts of other owners that were drawn from episodes that go, and stay."""
        known = self._going | {fact_id for fact_id, _ in self._found.staying}
        for episode_ids in _batches(self._found.episodes):
            erased = {*episode_ids}
            ids = [
                one
                for one in distrusted_table.of_episodes(self._transaction, episode_ids)
                if one not in known
            ]
            facts = fact_table.get_many(self._transaction, ids)
            for support in support_table.speaking(support_table.of_facts(self._transaction, ids)):
                if support.episode_id in erased and support.fact_id not in known:
                    known.add(support.fact_id)
                    yield self._other(facts[support.fact_id], support)

    def _other(self, fact: Fact, support: SupportRow) -> ErasureStep:
        if _is_visible(fact, self._standing):
            reason = f"it belongs to other owners; it was {reasons.of_support(support)}"
            return _fact_step(fact, "stays", reason)
        reason = (
            f"it belongs to other owners; it was {support.kind} in episode {support.episode_id}"
        )
        return ErasureStep(kind=FACT, id=None, claim="", text="stays", reason=reason)

    def _fact(self, fact: Fact, *, ended: bool) -> ErasureStep:
        text = "is erased; nothing of its chain is left active" if ended else "is erased"
        return _fact_step(fact, text, self._found.reasons.get(fact.id) or self._because())

    def _because(self) -> str:
        chosen = self._chosen
        if chosen.facts is not None or chosen.episode is not None:
            return "it was named"
        if chosen.subject is not None:
            return "it is about the subject"
        if chosen.source is not None:
            return "it is of the source"
        return "it belongs to the owner" if chosen.run is None else "it was recorded in the run"

    def _ending(self, facts: Iterable[Fact]) -> set[int]:
        """Return which of these facts are the active ends of chains of which others stay."""
        ends = [fact.id for fact in facts if fact.status in ("active", "expired")]
        older = fact_table.all_superseded_by(self._transaction, ends)
        return {
            fact.superseded_by or 0
            for fact in older
            if fact.status == "superseded"
            and fact.id not in self._going
            and fact.id not in self._found.released
        }

    def _episodes(
        self, ids: Sequence[int], text: str, reason: Callable[[int], str]
    ) -> Iterator[ErasureStep]:
        held = episode_table.get_many(self._transaction, ids)
        home, owners = self._standing.namespace, self._standing.selected
        for one in ids:
            episode = held.get(one)
            if episode is None or not episode.content or episode.namespace != home:
                continue
            if is_among(episode.scope, owners):
                more = "…" if len(episode.content) > CLAIM_CHARACTERS else ""
                yield ErasureStep(
                    kind=EPISODE,
                    id=one,
                    claim=f"{episode.content[:CLAIM_CHARACTERS]}{more}",
                    text=text,
                    reason=reason(one),
                )


class _Steps(ABC):
    """An erasure in short transactions, and what has to be done at the end of it."""

    def __init__(self, place: ErasureTarget) -> None:
        self._place = place
        self._is_sweeping = False
        self._queries = Queries()

    @abstractmethod
    def acts(self) -> Iterator[Callable[[Transaction], object]]:
        """Yield what each transaction does; the first calls :meth:`begin`."""

    def carry_out(self, after_each: Callable[[], object] = lambda: None) -> bool:
        """Do it, and rewrite the file; return whether the bytes are gone."""
        for _ in in_steps(self._place.engine, self.acts(), pauses=True):
            after_each()
        return finish(self._place.engine, self._place.rewrite)

    @staticmethod
    def begin(transaction: Transaction) -> None:
        """Note that the file has to be rewritten."""
        meta_table.put(transaction, UNFINISHED, "1")

    def sweeping(self, namespace: str) -> Iterator[Callable[[Transaction], object]]:
        """Yield the acts that remove the rows of a graph that was discarded."""
        self._is_sweeping = True
        while self._is_sweeping:
            yield partial(self._sweep, namespace)

    def _sweep(self, namespace: str, transaction: Transaction) -> None:
        self._is_sweeping = graph_table.remove_some(transaction, namespace, SWEPT_AT_ONCE)


def finish(engine: Engine, rewrite: Callable[[], bool]) -> bool:
    """Remove the bytes of what was erased; return whether they are gone.

    Args:
        engine: the file.
        rewrite: removes what was erased from the files of the searches.
    """
    for index in ("facts", "episodes"):
        forgetting = _Forgetting(index)
        for _ in in_steps(engine, forgetting.acts(), pauses=True):
            pass
    is_gone = engine.compact()
    is_gone = rewrite() and is_gone
    if is_gone:
        with engine.write() as transaction:
            meta_table.remove(transaction, UNFINISHED)
    return is_gone


class _Forgetting:
    """Removes deleted words from a full-text index, in short transactions."""

    def __init__(self, index: str) -> None:
        self._index = index
        self._is_done = False

    def acts(self) -> Iterator[Callable[[Transaction], object]]:
        yield partial(self._forget, first=True)
        while not self._is_done:
            yield partial(self._forget, first=False)

    def _forget(self, transaction: Transaction, *, first: bool) -> None:
        full_text = getattr(transaction.full_text, self._index)
        self._is_done = full_text.forget_some(transaction, first=first)


def clear(place: ErasureTarget, namespace: str) -> bool:
    """Erase every fact, task and episode of a namespace, with its graph and decisions.

    What others store meanwhile stays. After an interruption, the same again completes it.

    Returns:
        Whether the bytes are already gone from the files.
    """
    with place.engine.read() as transaction:
        trust.check_decides(transaction, place.author)
    return _Clearing(place, namespace).carry_out()


class _Clearing(_Steps):
    """Erases a namespace, whatever others change of it meanwhile."""

    def __init__(self, place: ErasureTarget, namespace: str) -> None:
        super().__init__(place)
        self._namespace = namespace
        with place.engine.read() as transaction:
            self._facts = fact_table.ids_in(transaction, namespace)
            self._episodes = episode_table.ids_in(transaction, namespace)

    def acts(self) -> Iterator[Callable[[Transaction], object]]:
        yield self.begin
        yield self._forget_derived
        yield from self.sweeping(self._namespace)
        for ids in _batches(self._facts, ERASED_AT_ONCE):
            yield partial(self._erase_facts, ids)
        for ids in _batches(self._episodes, 1):
            yield partial(self._erase_episodes, ids)

    def _forget_derived(self, transaction: Transaction) -> None:
        changes = Changes(transaction, self._place.author)
        self._place.dependents.forget_namespace(changes, self._namespace)
        search_table.remove(transaction, [self._namespace])

    def _erase_facts(self, ids: Sequence[int], transaction: Transaction) -> None:
        changes = Changes(transaction, self._place.author)
        known = fact_table.get_many(transaction, ids).values()
        facts = [fact for fact in known if fact.status != "erased"]
        for fact in facts:
            erasing.blank_fact(changes, fact, self._place.dependents)
        self._queries.forget(transaction, FACT, {one.id: erasing.text_of(one) for one in facts})

    def _erase_episodes(self, ids: Sequence[int], transaction: Transaction) -> None:
        changes = Changes(transaction, self._place.author)
        known = episode_table.get_many(transaction, ids).values()
        episodes = [episode for episode in known if episode.content]
        for episode in episodes:
            erasing.blank_episode(changes, episode)
        texts = {one.id: erasing.text_of(one) for one in episodes}
        self._queries.forget(transaction, EPISODE, texts)


class _Erasing(_Steps):
    """Applies a plan, act by act."""

    def __init__(self, plan: ErasurePlan, progress: Progress | None) -> None:
        super().__init__(plan._place)
        self._plan, self._progress = plan, progress
        self.counts = ErasureCounts(entries=plan.counts.entries)
        self.left: list[ErasureStep] = []
        self._since = 0
        self._done = 0

    def acts(self) -> Iterator[Callable[[Transaction], object]]:
        yield self._begin
        for namespace in self._plan.graphs:
            yield partial(self._drop_graph, namespace)
            yield from self.sweeping(namespace)
        for ids in _batches(sorted(self._plan._closing), ERASED_AT_ONCE):
            yield partial(self._close, ids)
        for ids in _batches(self._plan.fact_ids, ERASED_AT_ONCE):
            yield partial(self._erase_facts, ids)
        for ids in _batches(self._plan.episode_ids, 1):
            yield partial(self._erase_episodes, ids)

    def tell(self) -> None:
        if self._progress is not None:
            total = len(self._plan.fact_ids) + len(self._plan.episode_ids)
            self._progress(self._done, total)

    def _begin(self, transaction: Transaction) -> None:
        self._plan.check(transaction)
        self.begin(transaction)
        self._since = journal.last_id(transaction)
        self._remove_searches(transaction)

    def _remove_searches(self, transaction: Transaction) -> None:
        """Remove the recorded searches of a person or a run of which everything is erased."""
        chosen, standing = self._plan._chosen, self._plan._standing
        whole = chosen._replace(owner=None, run=None, drawn=True) == ErasureSelection()
        if whole and (chosen.owner, chosen.run) != (None, None):
            search_table.remove(
                transaction,
                standing.namespaces,
                owners=standing.selected,
                owner=chosen.owner,
                run=chosen.run,
            )

    def _drop_graph(self, namespace: str, transaction: Transaction) -> None:
        self._place.dependents.forget_build(Changes(transaction, self._place.author), namespace)

    def _close(self, episode_ids: Sequence[int], transaction: Transaction) -> None:
        self.counts += _closing_counts(transaction, episode_ids)
        for one in episode_ids:
            reply_table.close(transaction, one)

    def _erase_facts(self, ids: Sequence[int], transaction: Transaction) -> None:
        self._done += len(ids)
        changed = erasable.changed_facts(transaction, self._since, ids)
        held = fact_table.get_many(transaction, ids)
        there = {one: held[one] for one in ids if held[one].status != "erased"}
        self.left += [_fact_step(there[one], "stays", MEANWHILE) for one in changed & {*there}]
        going = [fact for one, fact in there.items() if one not in changed]
        self.counts += erasable.of_facts(transaction, [fact.id for fact in going])
        self._close_new(transaction, going)
        changes = Changes(transaction, self._place.author)
        self._release(changes, going)
        for fact in going:
            erasing.blank_fact(changes, fact, self._place.dependents)
        texts = {fact.id: erasing.text_of(fact) for fact in going}
        self._queries.forget(transaction, FACT, texts)

    def _release(self, changes: Changes, going: Sequence[Fact]) -> None:
        """End the links of facts that stay to those that go, so that they stay elsewhere, too."""
        transaction = changes.transaction
        twins = taken_table.twins_of_facts(transaction, [fact.id for fact in going])
        if not twins:
            return
        later = erasable.changed_facts(transaction, self._since, sorted(twins))
        for one in sorted(twins & (self._plan._released | later)):
            changes.write(*fact_table.release(one))

    def _close_new(self, transaction: Transaction, facts: Sequence[Fact]) -> None:
        """Close episodes of which replies that came in the meantime quote these facts."""
        new = reply_table.texts(
            transaction, self._plan._standing.namespaces, self._plan._newest_reply
        )
        quotes = Occurrences(reply_table.quoted_as(fact.content) for fact in facts)
        for episode_id in {one for one, reply in [*new] if quotes.found_in(reply)}:
            reply_table.close(transaction, episode_id)

    def _erase_episodes(self, ids: Sequence[int], transaction: Transaction) -> None:
        self._done += len(ids)
        changed = erasable.changed_episodes(transaction, self._since, ids)
        changes = Changes(transaction, self._place.author)
        for episode in episode_table.get_many(transaction, ids).values():
            if episode.id in changed and episode.content:
                self.left.append(
                    ErasureStep(
                        kind=EPISODE,
                        id=episode.id,
                        claim=episode.content[:CLAIM_CHARACTERS],
                        text="stays",
                        reason=MEANWHILE,
                    )
                )
            elif episode.content:
                self.counts += erasable.of_episodes(transaction, [episode.id])
                erasing.blank_episode(changes, episode)
                text = {episode.id: erasing.text_of(episode)}
                self._queries.forget(transaction, EPISODE, text)


MEANWHILE: Final = "it was changed while the others were erased"


def _to_close(transaction: Transaction, standing: Standing, found: Selected) -> set[int]:
    """Return the episodes that stay, but from which facts were drawn that go, or quote one.

    Nothing is extracted from them again, and their replies go.
    """
    drawn: set[int] = set()
    for ids in _batches(found.facts):
        drawn |= erasable.own_episodes(transaction, ids)
    if found.facts:
        quotes = Occurrences(
            reply_table.quoted_as(content)
            for ids in _batches(found.facts)
            for _, _, content, _ in fact_table.texts(transaction, ids)
        )
        gone = {*found.episodes} | drawn
        for episode_id, reply in reply_table.texts(transaction, standing.namespaces):
            if episode_id not in gone and quotes.found_in(reply):
                drawn.add(episode_id)
    return drawn - {*found.episodes}


def _large(transaction: Transaction, fact_ids: Sequence[int]) -> Iterator[str]:
    """Yield the namespaces with a graph of which so many facts go that it goes as a whole."""
    if len(fact_ids) < GRAPH_DROPPED_FROM:
        return
    for _, namespace in graph_table.every_current(transaction):
        number = sum(fact_table.count_in(transaction, namespace, ids) for ids in _batches(fact_ids))
        if number >= GRAPH_DROPPED_FROM:
            yield namespace


def _closing_counts(transaction: Transaction, episode_ids: Iterable[int]) -> ErasureCounts:
    return ErasureCounts(replies=erasable.count_replies(transaction, sorted(episode_ids)))


def _is_visible(fact: Fact, standing: Standing) -> bool:
    if fact.namespace not in standing.namespaces:
        return False
    return is_among(fact.scope, standing.selected) or fact.status == "erased"


def _fact_step(fact: Fact, text: str, reason: str) -> ErasureStep:
    claim = f"{fact.subject}: {fact.content}"
    return ErasureStep(kind=FACT, id=fact.id, claim=claim, text=text, reason=reason)


def _batches(ids: Iterable[int], size: int = READ_AT_ONCE) -> Iterator[list[int]]:
    rest = iter(ids)
    while some := [*islice(rest, size)]:
        yield some
