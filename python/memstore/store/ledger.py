"""What was done, and by whom: the journal as acts, differences and reasons, and how to undo it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from memstore.database import journal
from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, erasures, plans, zones
from memstore.domain import log as logs
from memstore.domain import moments as given_moments
from memstore.domain.arguments import (
    MAX_NUMBER,
    MAX_QUERY,
    checked_id,
    checked_items,
    checked_page,
    checked_text,
)
from memstore.domain.queries import LineNarrowing
from memstore.domain.records import EVERYBODY, Head, Scope
from memstore.errors import InvalidArgument
from memstore.facts import reading, rules
from memstore.frozen import from_arguments, replace
from memstore.history import log as acts
from memstore.history import moments
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date, datetime, tzinfo

    from memstore.database.engine import Progress, Transaction
    from memstore.database.tables import compared_facts, outlines
    from memstore.domain.explanations import Explanation
    from memstore.domain.log import Act, DayActivity, LogFilter, LogLine
    from memstore.domain.moments import Moment
    from memstore.domain.records import Fact, JournalLine
    from memstore.domain.standing import Standing
    from memstore.domain.support import Support
    from memstore.facts import batch, explaining, support
    from memstore.facts.batch import Applied, Change
    from memstore.facts.transactions import FactTransactions
    from memstore.file import verification
    from memstore.file.file import File
    from memstore.file.findings import Finding
    from memstore.graph import dependents
    from memstore.history import differences as comparing
    from memstore.history import erasure, reverting
    from memstore.history.differences import Differences
    from memstore.history.erasure import ErasurePlan, ErasureTarget
    from memstore.history.reverting import Plan
else:
    batch = lazy_import("memstore.facts.batch")
    compared_facts = lazy_import("memstore.database.tables.compared_facts")
    comparing = lazy_import("memstore.history.differences")
    dependents = lazy_import("memstore.graph.dependents")
    erasure = lazy_import("memstore.history.erasure")
    explaining = lazy_import("memstore.facts.explaining")
    outlines = lazy_import("memstore.database.tables.outlines")
    reverting = lazy_import("memstore.history.reverting")
    support = lazy_import("memstore.facts.support")
    verification = lazy_import("memstore.file.verification")


def first_time(file: File, standing: Standing, since: datetime | str | None) -> datetime | None:
    """Return the earliest time of the changes that a caller asks for."""
    if since is None:
        return None
    with file.engine.read() as transaction:
        return moments.first_time(transaction, since, standing)


def last_time(file: File, standing: Standing, until: datetime | str | None) -> datetime | None:
    """Return the latest time of the changes that a caller asks for."""
    if until is None:
        return None
    with file.engine.read() as transaction:
        return moments.last_time(transaction, until, standing)


class LedgerView(zones.Zoned):
    """What was done up to a moment, and why: ``ledger`` of a :class:`memstore.View`."""

    def __init__(self, file: File, standing: Standing, moment: Moment | None = None) -> None:
        self._file = file
        self._zone = file.zone
        self._standing = standing
        self._moment = moment

    def log(
        self,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        run: str | None = None,
        source: str | None = None,
        actor: str | None = None,
        fact: int | None = None,
        kinds: Iterable[str] | None = None,
        limit: int | None = 50,
        before: int | None = None,
        after: int | None = None,
    ) -> list[Act]:
        """Return what was done to this namespace, an act at a time, newest first.

        An act is what one transaction changed. Only those of its changes are shown that match and
        that are about facts and episodes of these owners; and, unless this store is confined, those
        of the whole file, such as levels of trust.

        Args:
            since: acts from this moment on: a time, a date, ``"yesterday"``, an age such as
                ``"2h"``, ``"op:1234"`` (after the act of this line), ``"run:UUID"`` or
                ``"episode:12"`` (from when it began, or was recorded).
            until: acts up to this moment, as :meth:`memstore.Store.as_of` reads it; a date means
                the end of its day.
            run: acts of one opening of the file or session of a server.
            source: acts through this program, and what was drawn from this source; as in
                :meth:`revert`.
            actor: acts by this person or program.
            fact: what was done to this fact, and what it replaced.
            kinds: kinds of lines of the journal, such as ``delete``; by default all but ``embed``
                and ``quarantine``.
            limit: the maximum number of acts; ``None`` for all.
            before: acts before that of this line; with the ``line`` of the last act, the next page.
            after: acts after that of this line.

        Raises:
            NotFound: no such line, run or episode.
            ValueError: no such kind, or something that cannot be read.
        """
        asked = from_arguments(LineNarrowing, locals())
        return acts.acts(self._file.engine, self._filter(asked), self._standing)

    def changes(
        self,
        *,
        before: int | None = None,
        after: int | None = None,
        actor: str | None = None,
        source: str | None = None,
        run: str | None = None,
        kinds: Iterable[str] | None = None,
        fact: int | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        limit: int | None = 50,
        newest_first: bool = True,
    ) -> list[LogLine]:
        """Return the lines of the journal one by one, in words, newest first.

        Where :meth:`log` tells an act as a whole, however many lines it has, this is a page of
        lines. The conditions narrow each other and are those of :meth:`log`.

        Args:
            before: only lines before this one; with the last ``line`` of a page, the next page.
            after: only lines after this one.
            actor: lines by this person or program.
            source: lines through this program, or of what was drawn from this source.
            run: lines of one opening of the file or session of a server.
            kinds: kinds of lines, such as ``delete``; by default all but ``embed`` and
                ``quarantine``.
            fact: what was done to this fact, and what it replaced.
            since: lines at or after this time.
            until: lines at or before this time; a date, up to its end.
            limit: the maximum number; ``None`` for all.
            newest_first: ``False`` returns the oldest first: with ``after``, the lines that follow.

        Raises:
            ValueError: no such kind, or something that cannot be read.
        """
        wanted = self._filter(from_arguments(LineNarrowing, locals()))
        return acts.changes(
            self._file.engine,
            wanted,
            self._standing,
            newest_first=newest_first,
        )

    def diff(
        self,
        a: datetime | str,
        b: datetime | str = "now",
        *,
        subject: str | None = None,
        category: str | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> Differences:
        """Return what changed between two moments, in the order in which it did.

        Only the net effect counts: a fact that was stored and deleted in between is no difference,
        but is counted (``passed``). Applied to the list of active facts at ``a``, the differences
        give that at ``b``. ``str()`` of them reads like a changelog. What was erased since is told
        without a word of it; it has no owner or subject any more.

        Args:
            a: the earlier moment: a time, ``"yesterday"``, ``"2h"``, ``"op:1234"`` (the state after
                the act of this line), ``"run:UUID"`` or ``"episode:12"`` (the state before them). A
                date means the end of its day.
            b: the later moment; of a view, at most its own, which is its "now".
            subject: only facts about this subject.
            category: only facts in this category.
            limit: the maximum number; ``None`` for all.
            offset: how many to skip.

        Raises:
            NotFound: no such line, run or episode.
            ValueError: a moment before the first line, in the future, or that cannot be read; or
                ``b`` is before ``a``.
        """
        checked_page(limit, offset)
        for name, text in (("subject", subject), ("category", category)):
            if text is not None:
                checked_text(text, name, MAX_QUERY)
        wanted = compared_facts.DifferenceFilter(
            self._standing.namespaces,
            self._standing.selected,
            subject=subject,
            category=category,
        )
        return comparing.differences(
            self._file.engine, a, self._until(b), wanted, self._standing, limit=limit, offset=offset
        )

    def journal(self, fact_id: int) -> list[JournalLine]:
        """Return the journal of a fact's chain: every change, when it was made and by whom."""
        with self._file.engine.read() as transaction:
            chain = self._chain(transaction, fact_id)
            lines = journal.of_facts(transaction, chain)
        last = None if self._moment is None else self._moment.line
        return [line for line in lines if last is None or line.id <= last]

    def histories(self, fact_ids: Iterable[int]) -> dict[int, list[Fact]]:
        """Return the chain of each of these facts, oldest first, by the id that was given.

        Those that are not in this namespace, or were erased, are left out.

        Args:
            fact_ids: any facts of the chains.
        """
        ids = checked_items(fact_ids, "fact_ids")
        with self._file.engine.read() as transaction:
            return reading.chains(transaction, self._standing, ids, self._moment)

    def support(self, fact_id: int) -> list[Support]:
        """Return why a fact is believed, oldest first: who said or confirmed it, and where.

        A support of the kind ``denied`` speaks against it. An episode that was erased is no support
        any more, so a fact may have none left.

        Raises:
            NotFound: no such fact, or it was erased.
        """
        line = MAX_NUMBER if self._moment is None else self._moment.line
        with self._file.engine.read() as transaction:
            reading.get(transaction, self._standing, fact_id, self._moment)
            return support.of_facts(transaction, [fact_id], line)[fact_id]

    def explain(self, fact_id: int) -> Explanation:
        """Explain why a fact is believed, or no longer; ``str()`` of the answer is a text.

        Its verdict, then in order what spoke for it, what it replaced or was replaced by, and the
        proposals against it, with the reasons that the journal keeps. Facts and episodes of other
        owners or another namespace are mentioned but not named, and nothing erased is shown.

        Args:
            fact_id: a fact in any state, even if it was erased.

        Raises:
            NotFound: no such fact; or it was erased, so that its owners are not known any more, and
                the store is of owners.
        """
        standing, moment = self._standing, self._moment
        with self._file.engine.read() as transaction:
            fact = rules.reached(transaction, standing, fact_id)
            fact = reading.then(transaction, fact, moment)
            return explaining.explained(transaction, fact, standing, moment)

    def _chain(self, transaction: Transaction, fact_id: int) -> list[int]:
        """Return the facts of a chain that may be seen, without reading each as a whole."""
        standing = self._standing
        if self._moment is not None:
            chain = reading.chain(transaction, standing, fact_id, self._moment)
            return [fact.id for fact in chain]
        checked_id(fact_id, "fact_id")
        ids = fact_table.ids_of_chain(transaction, fact_id)
        facts = outlines.of_facts(transaction, ids)
        if fact_id not in facts:
            raise rules.not_found(fact_id, standing.namespace)
        first = rules.checked(facts[fact_id], standing)
        return [one.id for one in reading.those_seen(facts.values(), first, standing)]

    def _filter(self, asked: LineNarrowing) -> LogFilter:
        """Return the filter for the lines that are asked for."""
        return logs.log_filter(
            replace(asked, before=self._end(asked.before)),
            first_time(self._file, self._standing, asked.since),
            last_time(self._file, self._standing, asked.until),
            known=[*Kind],
        )

    def _end(self, before: int | None) -> int | None:
        """Return the line before which lines count, at most the one after those of the moment."""
        if self._moment is None:
            return before
        end = self._moment.line + 1
        return end if before is None else min(before, end)

    def _until(self, b: datetime | str) -> datetime | str:
        """Return the later of two moments that are compared; of a view, its own or an earlier one.

        Raises:
            InvalidArgument: it is later than that.
        """
        if self._moment is None:
            return b
        if isinstance(b, str) and b.strip().lower() == given_moments.NOW:
            return self._moment.at
        with self._file.engine.read() as transaction:
            later = moments.resolve(transaction, b, self._standing)
        if later.line > self._moment.line:
            raise InvalidArgument("is after the moment of the view", argument="b")
        return b


class Ledger(LedgerView):
    """The ledger of a namespace: ``ledger`` of a :class:`memstore.Store`.

    What was done and why, several changes as one act, and plans to take them back or to erase.
    """

    def __init__(self, file: File, facts: FactTransactions) -> None:
        super().__init__(file, facts.standing)
        self._facts = facts

    def activity(
        self,
        days: int = 28,
        zone: tzinfo | str | None = None,
        *,
        until: date | None = None,
    ) -> list[DayActivity]:
        """Return how much was done on each of the last days, by kind of change, oldest first.

        Args:
            days: how many days, with the last one, 1 to 3660.
            zone: the time zone in which a day begins and ends, such as ``"Europe/Berlin"``; by
                default the user's (docs/days.md).
            until: the last day; by default today.

        Raises:
            ValueError: a number of days out of range, or a time zone that is not known.
        """
        return self._file.activity.days(
            days,
            zones.user() if zone is None else zones.checked(zone, "zone"),
            until,
            self._standing,
        )

    def apply(self, changes: Iterable[Change], *, since: int | None = None) -> list[Applied]:
        """Apply several changes of facts as one act: all of them, or none.

        Changes that were decided earlier are checked again: every fact they name must still be
        active.

        Args:
            changes: :class:`memstore.facts.batch.AddFact`, ``SupersedeFact``, ``DeleteFact`` and
                ``KeepFact``, applied in order.
            since: :meth:`memstore.File.newest_id` from before the caller read the facts it decided
                on. If a subject has got a new fact since then, adding to it is refused.

        Returns:
            The result of each change, in order.

        Raises:
            NotFound: a fact is not in this namespace, or has other owners.
            Conflict: a fact is no longer active; re-read and decide again.
            ValueError: a text, a time or metadata that cannot be stored.
        """
        return batch.apply(self._facts, checked_items(changes, "changes"), since)

    def revert(
        self,
        *,
        episode: int | None = None,
        source: str | None = None,
        run: str | None = None,
        actor: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        lines: Iterable[int] | None = None,
        acts: Iterable[int] | None = None,
    ) -> Plan:
        """Plan to take back changes of facts, and change nothing; ``apply()`` of the plan does it.

        Added facts are deleted; superseded ones are active again, deleted ones restored; metadata,
        the status of tasks, pins and confirmations go back to what they were; open proposals are
        rejected. What was changed again by something else is a conflict and is left alone, unless
        ``apply(decide={12: "undo"})`` says otherwise. Episodes stay; :meth:`Episodes.erase` removes
        one. Each condition narrows the selection.

        Args:
            episode: the changes that an episode caused, and the facts drawn from it.
            source: the changes made through this program or interface, and the facts that have it
                as their source or were drawn from an episode of it, such as ``"web:example.org"``.
            run: the changes of one opening of the file or session of a server, as in the journal.
            actor: the changes by this person or program.
            since: the changes from this moment on; as in :meth:`log`.
            until: the changes up to this moment; as in :meth:`log`.
            lines: the changes in these lines of the journal, such as ``lines`` of what ``apply()``
                returned.
            acts: all changes of these acts, each by the number that :meth:`log` gives it.

        Raises:
            ValueError: nothing was selected, or something that cannot be read.
        """
        chosen = plans.selection(
            episode=episode,
            source=source,
            run=run,
            actor=actor,
            since=first_time(self._file, self._standing, since),
            until=last_time(self._file, self._standing, until),
            lines=lines,
            acts=acts,
        )
        return reverting.plan(self._file.engine, self._facts.author, chosen, self._standing)

    def restore_deleted(self, deleted_at: datetime | str) -> int:
        """Restore every fact that was deleted at exactly this moment; return how many.

        :meth:`memstore.Memory.delete_all` deletes all its memories at one moment. They are restored
        a few hundred per transaction; after an interruption, the same call restores the rest.

        Args:
            deleted_at: the ``deleted_at`` of any of them.
        """
        at = clock.moment(deleted_at, "deleted_at")
        if at is None:
            raise InvalidArgument("is required", argument="deleted_at")
        return self._facts.restore_deleted(at)

    def erasure(
        self,
        *,
        episode: int | None = None,
        subject: str | None = None,
        source: str | None = None,
        owner: Scope | str | None = None,
        run: str | None = None,
        facts: Iterable[int] | None = None,
        drawn: bool = True,
    ) -> ErasurePlan:
        """Plan to erase facts and episodes, and change nothing; ``apply()`` of the plan does it.

        Facts drawn from an episode that goes go with it, unless they have other support
        (:meth:`support`): those stay and lose only this one. Each condition narrows the selection;
        with a subject or facts, no episode goes.

        Args:
            episode: this episode, and the facts drawn from it.
            subject: the facts about this subject, in any state.
            source: the facts and episodes that have it as their source, such as
                ``"web:example.org"``, or that were recorded through this program or interface.
            owner: all that belongs to a user, given by id, whatever the agent and the run; or to
                the owners of a scope, as far as its ids are set.
            run: what was recorded in one opening of the file or session of a server, as in the
                journal.
            facts: these facts, by their ids.
            drawn: whether facts that were only drawn from episodes go with them.

        Raises:
            NotFound: there is no such episode or fact, or nothing is stored that is selected.
            ValueError: nothing was selected, or something that cannot be read.
        """
        chosen = erasures.selection(
            episode=episode,
            subject=subject,
            source=source,
            owner=owner,
            run=run,
            facts=facts,
            drawn=drawn,
        )
        return erasure_plan(self._file, self._facts, chosen)

    def verify(
        self, head: Head | str | None = None, *, progress: Progress | None = None
    ) -> list[Finding]:
        """Check that nobody rewrote the file past the journal; return what differs, if anything.

        Every line is compared with the chain of hashes, every fact, episode and proposal with the
        journal replayed, and what searches read with the rows. It works in a copy and holds up
        nobody.

        Args:
            head: the end of the journal at an earlier time, kept elsewhere; as it is written:
                ``COUNT:HASH``. Without one, lines removed from the end together with what they did,
                and a journal written anew as a whole, are not noticed.
            progress: called with the number of checks done and the total.

        Raises:
            AccessDenied: this store is confined to its namespace.
            InvalidArgument: the head is not one.
        """
        if head is not None and not isinstance(head, Head):
            head = Head.parse(head)
        self._standing.check_all()
        return verification.verify(self._file.engine, head, progress)


def erasure_plan(
    file: File, facts: FactTransactions, chosen: erasures.ErasureSelection
) -> ErasurePlan:
    """Return the plan to erase what is selected, for the owners that it is of."""
    standing = facts.standing
    if standing.owners is None and chosen.owner is not None:
        standing = replace(standing, owners=EVERYBODY)
    with nullcontext() if file.read_only else facts.writing():
        pass  # adopts what other programs have inserted
    return erasure.plan(erasure_target(file, facts), chosen, standing)


def erasure_target(file: File, facts: FactTransactions) -> ErasureTarget:
    """Return what an erasure is done to."""
    return erasure.ErasureTarget(
        file.engine,
        facts.author,
        dependents,
        file.searches.rewrite,
        () if facts.standing.confined else file.copies(),
    )
