"""Projects: a question that names one asks about that one, where a namespace holds several.

The name is a condition, not a topic: "radio: which codec?" is answered by a turn about the codec,
said in a conversation about radio, and by no other turn that has the word. So the question is
searched for without the name, and what is not known to be of that project counts less.

A row is of the project that its metadata name. Else a turn is of the subject that all facts drawn
from its conversation have, and a fact of its own subject: a subject is taken for a project if whole
conversations are about it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from memstore.database.tables.thread_subjects import subjects_of_threads
from memstore.domain import project_names
from memstore.frozen import replace
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.search.requests import NEAR_ENOUGH_TO_FILL
from memstore.telling.recall import matching, project_of
from memstore.text.folding import folded, is_named_in, subject_key, whole_word
from memstore.text.words import terms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from memstore.database.engine import Engine, Transaction
    from memstore.database.filters import FactFilter
    from memstore.domain.episodes import Episode, EpisodeHit
    from memstore.domain.records import Fact, Scope, SearchHit
    from memstore.search.lookups import sequel
    from memstore.search.lookups.sequel import Sequels
    from memstore.telling.recall import Found, Names
    from memstore.text import stop_words

    H = TypeVar("H", SearchHit, EpisodeHit)
else:
    sequel = lazy_import("memstore.search.lookups.sequel")
    stop_words = lazy_import("memstore.text.stop_words")

OF_OTHERS: Final = 0.3
"""The part of its score that counts of what is known to be of other projects."""

UNKNOWN: Final = 0.7
"""The same of what is not known to be of any, and does not have the name."""

SUBJECT: Final = 0.12
"""What a fact gains whose subject is named, as in the ranking."""

MIN_THREADS: Final = 2
WHOLE: Final = 0.8
"""A subject is that of a project if so many conversations among those found have facts about it,
and this part of them has no facts about another."""

Thread: TypeAlias = "tuple[str, Scope, str]"
"""Its namespace, its owners and its name."""

Subjects: TypeAlias = "Mapping[Thread, Collection[str]]"


def sequels(question: str, known: Collection[str]) -> Sequels | None:
    """Return what a search for a question shares with one without the names of projects in it.

    ``None`` if it has none of them.

    Args:
        known: names of projects in earlier questions: those here are likely to be left out again.
    """
    asked = folded(question)
    here = frozenset(name for name in known if is_named_in(asked, name))
    topic = without(question, here) if here else question
    return None if topic == question else sequel.Sequels(topic)


class Naming(NamedTuple):
    """A question that may name projects."""

    engine: Engine
    perhaps: Names
    own: str | None
    """The caller's project, which counts as named."""
    wanted: FactFilter
    """The facts that say of which project a conversation is."""
    last_fact: int
    """No fact after this one does."""
    note: Callable[[Collection[str]], object]
    """Is told the names of projects in the question."""

    def searched(
        self, question: str, found: Found, search: Callable[[str], Found]
    ) -> tuple[str, Found]:
        """Return what was searched for, and what was found, of a named project first.

        Args:
            found: what a search for the whole question found.
            search: searches for another one, and leaves nothing out that is not relevant: that is
                judged with the name.
        """
        threads: Subjects | None = None
        if self.perhaps.subjects:
            with self.engine.read() as transaction:
                threads = self._threads(transaction, found)
        named = self._named(threads or {}) - self._common(found)
        if not named:
            return question, found
        topic = without(question, named)
        self.note(named)
        again = found if topic == question else search(topic)
        if not (again.facts or matching(again.turns)):  # the rest tells nothing
            return question, found
        meant = named if self.own is None else {*named, folded(project_names.short(self.own))}
        if threads is None or again is not found:
            with self.engine.read() as transaction:
                threads = self._threads(transaction, again)
        return topic, _named_first(again, named, meant, threads)

    def _named(self, threads: Subjects) -> frozenset[str]:
        """Return which names in the question are those of projects."""
        about = threads.values()
        subjects = (name for name in self.perhaps.subjects if _is_project(name, about))
        return self.perhaps.projects.union(subjects)

    def _common(self, found: Found) -> frozenset[str]:
        """Return the names that are words in texts of the caller's project: "api", "test"."""
        own = None if self.own is None else folded(project_names.short(self.own))
        names = self.perhaps.projects | self.perhaps.subjects
        if own is None or own in names:
            return frozenset()
        rows: list[Fact | Episode] = [hit.fact for hit in found.facts]
        rows += [hit.episode for hit in matching(found.turns)]
        texts = [folded(row.content) for row in rows if project_of(row) == own]
        return frozenset(name for name in names if any(is_named_in(one, name) for one in texts))

    def _threads(self, transaction: Transaction, found: Found) -> Subjects:
        """Return the subjects of the facts that were drawn from the conversations found."""
        turns = [hit.episode for hit in matching(found.turns)]
        one_of_each = {(turn.namespace, turn.scope, turn.thread): turn.id for turn in turns}
        drawn = {hit.fact.episode_id for hit in found.facts if hit.fact.episode_id is not None}
        ids = sorted({*one_of_each.values(), *drawn})
        if not ids:
            return {}
        return subjects_of_threads(transaction, ids, self.wanted, self.last_fact)


def without(question: str, names: Iterable[str]) -> str:
    """Return a question without the names of projects; all of it if nothing else tells."""
    left = question
    for name in names:
        pattern = rf"{whole_word(name)}(?:['’]s\b)?\s*:?"
        left, number = re.subn(pattern, " ", left, flags=re.IGNORECASE)
        if not number:  # it is written otherwise: Straße, strasse
            left = re.sub(pattern, " ", folded(left))
    left = " ".join(left.split())
    words = terms(left.casefold())
    return left if {*words} - stop_words.stop_words(words) else question


def _named_first(
    found: Found, named: Collection[str], meant: Collection[str], threads: Subjects
) -> Found:
    """Return what was found, with scores by which what is of a named project comes first.

    What is far behind the best is left out.

    Args:
        meant: the projects that are not other ones.
    """
    projects = {one for some in threads.values() if len(some) == 1 for one in some}

    def share(project: str | None, text: str) -> float:
        if project is not None:
            return 1.0 if project in meant else OF_OTHERS
        asked = folded(text)
        return 1.0 if any(is_named_in(asked, name) for name in named) else UNKNOWN

    def of_fact(hit: SearchHit) -> SearchHit:
        fact = hit.fact
        if project_names.is_about_the_user(fact.category):
            return hit
        scaled = _scaled(hit, share(_of_fact(fact, projects), fact.content))
        return _about(scaled) if subject_key(fact.subject) in named else scaled

    def of_turn(hit: EpisodeHit) -> EpisodeHit:
        return _scaled(hit, share(_of_turn(hit.episode, threads), hit.episode.content))

    return found._replace(
        facts=replace(found.facts, items=_near_the_best(map(of_fact, found.facts))),
        turns=replace(
            found.turns, items=_near_the_best(map(of_turn, matching(found.turns))), newest_first=0
        ),
    )


def _is_project(name: str, threads: Iterable[Collection[str]]) -> bool:
    about = [subjects for subjects in threads if name in subjects]
    whole = sum(len(subjects) == 1 for subjects in about)
    return len(about) >= MIN_THREADS and whole >= WHOLE * len(about)


def _of_fact(fact: Fact, projects: Collection[str]) -> str | None:
    if (mark := project_of(fact)) is not None:
        return mark
    subject = subject_key(fact.subject)
    return subject if subject in projects else None


def _of_turn(turn: Episode, threads: Subjects) -> str | None:
    if (mark := project_of(turn)) is not None:
        return mark
    subjects = threads.get((turn.namespace, turn.scope, turn.thread or ""), ())
    return next(iter(subjects)) if len(subjects) == 1 else None


def _about(hit: SearchHit) -> SearchHit:
    score = min(1.0, hit.score + SUBJECT)
    parts = hit.parts._replace(subject=hit.parts.subject + score - hit.score)
    return replace(hit, score=score, parts=parts)


def _scaled(hit: H, share: float) -> H:
    if share == 1.0 and hit.parts.project == 0.0:
        return hit
    score = share * hit.score if hit.score > 0 else hit.score
    parts = hit.parts._replace(project=hit.parts.project + score - hit.score)
    return replace(hit, score=score, parts=parts)


def _near_the_best(hits: Iterable[H]) -> list[H]:
    order = sorted(hits, key=lambda hit: -hit.score)
    if not order or order[0].score <= 0:
        return order
    least = NEAR_ENOUGH_TO_FILL * order[0].score
    return [hit for hit in order if hit.score >= least]
