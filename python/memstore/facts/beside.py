"""Facts of a project, read and corrected together with those of the shared namespace."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from memstore.database.tables import episodes as episode_table
from memstore.errors import NotFound
from memstore.facts import provenance
from memstore.facts.facts import Facts
from memstore.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memstore.domain.records import Fact, JournalLine, NewFact, Scope
    from memstore.domain.repairs import Repair

ABOUT_THE_USER: Final = frozenset({"preference", "identity"})
"""Categories of facts that apply to every project."""


class FactsBeside(Facts):
    """The facts of a project's own namespace together with those of a shared one.

    Facts about the user are stored in the shared namespace, all others in the own one; a correction
    is stored where the corrected fact is. Methods that take a transaction use only the own one.
    """

    def __init__(self, own: Facts, shared: Facts) -> None:
        self.__dict__.update(vars(own))
        self._own, self._shared = own, shared
        self.namespaces = (own.namespace, shared.namespace)

    def add_many(self, new_facts: Iterable[NewFact], *, unless_known: bool = False) -> list[Fact]:
        homes: dict[Facts, list[NewFact]] = {}
        places = []
        for new in new_facts:
            home = self._home(new)
            group = homes.setdefault(home, [])
            places.append((group, len(group)))
            group.append(self._unlinked(new) if home is self._shared else new)
        if len(homes) == 1:
            [(home, group)] = homes.items()
            return home.add_many(group, unless_known=unless_known)
        prepared = {home: home.prepare(group) for home, group in homes.items()}
        with self.writing() as transaction:
            stored = {
                id(homes[home]): home.store(transaction, many, unless_known=unless_known)
                for home, many in prepared.items()
            }
        return [stored[id(group)][place] for group, place in places]

    def _home(self, new: NewFact) -> Facts:
        if new.supersedes is not None:
            return self._of(new.supersedes)
        # Episodes belong to the project, and so do the facts extracted from them.
        about_the_user = new.category in ABOUT_THE_USER and new.episode_id is None
        return self._shared if about_the_user else self._own

    def _unlinked(self, new: NewFact) -> NewFact:
        """Return a correction for the shared namespace.

        No fact there can refer to an episode of the project; it keeps the thread and the time.
        """
        if new.episode_id is None:
            return new
        with self.reading() as transaction:
            episode = episode_table.origin(transaction, new.episode_id, self.namespace)
        if episode is None:
            return new
        thread, seq = (new.thread, new.seq) if new.thread else provenance.thread_of(episode)
        at = new.valid_at or episode.valid_at
        return replace(new, episode_id=None, thread=thread, seq=seq, valid_at=at)

    def _of(self, fact_id: int) -> Facts:
        """Return the facts of the namespace that has this one, or the own ones if neither has."""
        with suppress(NotFound):
            self._shared.get(fact_id)
            return self._shared
        return self._own

    def check_owners(self, scope: Scope | None, *fact_ids: int) -> None:
        for fact_id in fact_ids:
            self._of(fact_id).check_owners(scope, fact_id)

    def history_of_subject(self, subject: str, scope: Scope | None) -> list[Fact]:
        found = [
            *self._own.history_of_subject(subject, scope),
            *self._shared.history_of_subject(subject, scope),
        ]
        return sorted(found, key=lambda fact: fact.id)

    def exists(self, content: str, subject: str, scope: Scope | None) -> bool:
        return any(facts.exists(content, subject, scope) for facts in (self._own, self._shared))

    def get(self, fact_id: int) -> Fact:
        return self._of(fact_id).get(fact_id)

    def history(self, fact_id: int, scope: Scope | None) -> list[Fact]:
        return self._of(fact_id).history(fact_id, scope)

    def journal(self, fact_id: int) -> list[JournalLine]:
        return self._of(fact_id).journal(fact_id)

    def older(self, fact_id: int) -> Fact | None:
        return self._of(fact_id).older(fact_id)

    def supersede(self, old_id: int, new_id: int, *, across: bool = False) -> Fact:
        return self._of(old_id).supersede(old_id, new_id, across=across)

    def confirm(self, fact_id: int) -> Fact:
        return self._of(fact_id).confirm(fact_id)

    def pin(self, fact_id: int) -> Fact:
        return self._of(fact_id).pin(fact_id)

    def unpin(self, fact_id: int) -> Fact:
        return self._of(fact_id).unpin(fact_id)

    def update_metadata(
        self,
        fact_id: int,
        patch: Mapping[str, Any],
        check: Callable[[Fact, Mapping[str, Any]], Mapping[str, Any]] | None = None,
    ) -> Fact:
        return self._of(fact_id).update_metadata(fact_id, patch, check)

    def delete(self, fact_id: int) -> Fact:
        return self._of(fact_id).delete(fact_id)

    def restore(self, fact_id: int) -> Repair:
        return self._of(fact_id).restore(fact_id)

    def reinstate(self, fact_id: int) -> Repair:
        return self._of(fact_id).reinstate(fact_id)

    def erase(self, fact_id: int) -> bool:
        return self._of(fact_id).erase(fact_id)
