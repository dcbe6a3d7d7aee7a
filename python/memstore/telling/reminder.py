"""Reminders: what a memory has to say about a prompt, within a token budget.

Nobody asked for it, so there is nothing unless the memory bears on the prompt, and only what is
near the best and bears on it by itself. A text that does not fit makes room for the next one. What
came after a turn, and changed it, goes with it.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, Self

from memstore.domain.project_names import is_about_the_user
from memstore.frozen import replace
from memstore.lazy import lazy_import, lazy_pattern
from memstore.named import NamedTuple
from memstore.providers.local import TokenCounter
from memstore.telling.bearing import is_told
from memstore.telling.recall import (
    Length,
    Recalled,
    Whose,
    best_once,
    matching,
    noted,
    of_fact,
    of_turn,
    shown_about,
    text_of_items,
)
from memstore.text.utterances import has_name_or_number, is_rule

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Container,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode, EpisodeHit, EpisodeHits
    from memstore.domain.records import Fact, SearchHit
    from memstore.history import trust
    from memstore.telling.recall import FoundText
else:
    trust = lazy_import("memstore.history.trust")

FOUND: Final = 40
"""How many facts, and how many turns, are searched for."""

NEAR_THE_BEST: Final = 0.35
"""A text below this part of the best score is not shown."""

MAX_CHARACTERS: Final = 500
"""More of a text is not shown; an answer of an assistant may be long."""

MISSES: Final = 5
"""After so many texts that do not fit, there is no room for others."""

MAX_PROMPT_CHARACTERS: Final = 1000
"""Characters: each further word costs time, and a file or log says little by its middle."""

NAME = lazy_pattern(r"(?<!\w)(?:#|e)\d+\b")


class Context(NamedTuple):
    """What the agent has in its context already."""

    thread: str | None
    """The conversation that goes on."""
    before: datetime | None
    """Its turns before this time are no longer there."""
    known: frozenset[str]
    """The names of what it was shown."""

    def without(self, facts: Iterable[SearchHit], named: Collection[str]) -> list[SearchHit]:
        """Return the facts that it does not have, or that a prompt names."""
        told = self.known.difference(named)
        return [hit for hit in facts if f"#{hit.fact.id}" not in told]

    def without_turns(self, turns: EpisodeHits, named: Collection[str]) -> list[EpisodeHit]:
        told = self.known.difference(named)
        return [
            hit
            for hit in matching(turns)
            if f"e{hit.episode.id}" not in told and not self._has(hit.episode)
        ]

    def _has(self, turn: Episode) -> bool:
        if self.thread is None or turn.thread != self.thread:
            return False
        return self.before is None or (turn.valid_at or turn.created_at) >= self.before


class Afterwards(NamedTuple):
    """Finds what came after a turn and changed what it says."""

    turns: Sequence[Episode] = ()
    facts: Sequence[Fact] = ()


class Foreign(NamedTuple):
    """Leaves out the text of others, such as web pages: nobody asked for it."""

    transaction: Transaction

    def without_facts(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
        newer = [id_ for hit in hits for id_ in hit.newer]
        ids = dict.fromkeys([*(hit.fact.id for hit in hits), *newer])
        others = trust.foreign_facts(self.transaction, [*ids])
        own = (hit for hit in hits if hit.fact.id not in others)
        return [_named(hit, (id_ for id_ in hit.newer if id_ not in others)) for hit in own]

    def without_turns(self, hits: Sequence[EpisodeHit]) -> list[EpisodeHit]:
        others = trust.foreign_episodes(self.transaction, [hit.episode.id for hit in hits])
        return [hit for hit in hits if hit.episode.id not in others]

    def without_later(self, later: Afterwards | None) -> Afterwards | None:
        """Leave out what changed a turn; ``None`` if that leaves a turn that no longer holds."""
        if later is None or not (later.turns or later.facts):
            return later
        turns = trust.foreign_episodes(self.transaction, [turn.id for turn in later.turns])
        if trust.foreign_facts(self.transaction, [fact.id for fact in later.facts]):
            return None
        return Afterwards([turn for turn in later.turns if turn.id not in turns], later.facts)


def shortened(prompt: str) -> str:
    """Return a prompt, or the beginning and the end of a long one: what it asks is at either."""
    prompt = prompt.strip()
    if len(prompt) <= MAX_PROMPT_CHARACTERS:
        return prompt
    half = MAX_PROMPT_CHARACTERS // 2 - 1
    return f"{prompt[:half]}\n{prompt[-half:]}"


def named(prompt: str) -> frozenset[str]:
    """Return the names of facts and turns in a prompt: ``#12``, ``e31``."""
    return frozenset(NAME.findall(prompt))


def reminded(
    facts: Sequence[SearchHit],
    turns: Sequence[EpisodeHit],
    since: Callable[[Episode], Afterwards | None],
    tokens: int,
    whose: Whose | None = None,
    question: str = "",
    following: Container[int] = (),
) -> Recalled:
    """Return the best texts of both kinds as lines under their dates.

    Args:
        since: what came after a turn; ``None`` if the turn is not to be shown at all.
        tokens: the maximum length of the text.
        whose: that the answer is about others than the one whom the prompt names.
        following: ids of turns that say what came of a ticket; these need name nothing.
    """
    length = Length(TokenCounter())
    parts = {f"#{hit.fact.id}": hit.parts for hit in facts}
    parts |= {f"e{hit.episode.id}": hit.parts for hit in turns}
    wording = Wording.of(facts, turns, following)
    shown: dict[str, FoundText] = {}
    left_out = 0
    for place, item in enumerate(noted(_near_the_best(facts, turns, question), whose)):
        goes_with = any(_goes_with(item, one) for one in shown.values())
        if item.name in shown or not is_told(
            place,
            parts[item.name],
            goes_with=goes_with,
            is_trace=item.is_trace,
            names_nothing=partial(wording.names_nothing, item),
        ):
            continue
        passage = [item]
        if left_out < MISSES and _fits(shown, passage, tokens, length):
            if not item.is_fact:
                later = since(_hit(turns, item).episode)
                passage = (
                    [] if later is None else [item, *_of_later(later, _hit(turns, item).project)]
                )
            if _fits(shown, passage, tokens, length):
                shown |= {one.name: one for one in passage}
                continue
        left_out += 1
    return Recalled(
        text=text_of_items(shown.values()),
        facts=tuple(item.id for item in shown.values() if item.is_fact),
        episodes=tuple(item.id for item in shown.values() if not item.is_fact),
        left_out=left_out,
        about=shown_about(whose, shown.values()),
    )


class Wording(NamedTuple):
    """How the texts that were found are written: what is a name in them."""

    texts: Mapping[str, str]
    """Their beginnings, by their names."""
    following: Container[int]

    @classmethod
    def of(
        cls, facts: Sequence[SearchHit], turns: Sequence[EpisodeHit], following: Container[int]
    ) -> Self:
        texts = {f"#{hit.fact.id}": hit.fact.content[:MAX_CHARACTERS] for hit in facts}
        texts |= {f"e{hit.episode.id}": hit.excerpt[:MAX_CHARACTERS] for hit in turns}
        return cls(texts, following)

    def names_nothing(self, item: FoundText) -> bool:
        """Return whether an item is a turn with neither a name nor a number, and no rule."""
        text = self.texts[item.name]
        if item.is_fact or item.id in self.following or is_rule(text):
            return False
        return not has_name_or_number(text, self._is_common)

    def _is_common(self, word: str) -> bool:
        """Return whether one of the texts has a word in lower case, as it has no name."""
        pattern = re.compile(rf"\b{re.escape(word)}\b")
        return any(word in text and pattern.search(text) for text in self.texts.values())


def _goes_with(item: FoundText, shown: FoundText) -> bool:
    """Return whether an item goes on with one that is told, or replaces it.

    What is drawn from a turn has its place in its thread.
    """
    is_next = item.thread == shown.thread and 0 <= item.place[0] - shown.place[0] <= 1
    return is_next or shown.newer == item.name


def _named(hit: SearchHit, newer: Iterable[int]) -> SearchHit:
    return replace(hit, newer=tuple(newer)) if hit.newer else hit


def _fits(
    shown: Mapping[str, FoundText],
    more: Iterable[FoundText],
    tokens: int,
    length: Length,
) -> bool:
    items = {**shown, **{item.name: item for item in more}}
    return length(items.values()) <= tokens


def _hit(turns: Sequence[EpisodeHit], item: FoundText) -> EpisodeHit:
    return next(hit for hit in turns if hit.episode.id == item.id)


def _of_later(later: Afterwards, project: str | None) -> Iterator[FoundText]:
    """Yield what came after a turn of another project, or of this one, as texts of that project."""
    items = chain(
        (of_turn(turn, project) for turn in later.turns),
        (
            of_fact(fact, 0.0, (), None if is_about_the_user(fact.category) else project)
            for fact in later.facts
        ),
    )
    return (item.cut(MAX_CHARACTERS) for item in items)


def _near_the_best(
    facts: Sequence[SearchHit], turns: Sequence[EpisodeHit], question: str
) -> Iterator[FoundText]:
    """Yield each text once, best first."""
    items = best_once(facts, turns, question)
    least = NEAR_THE_BEST * max((item.score for item in items), default=0.0)
    near = (item for item in items if item.score >= least)
    return (item.cut(MAX_CHARACTERS) for item in near)
