"""Distilling: turns that no language model has read, in portions for the agent that is there.

A portion holds the first unread turns, and the facts that may be about the same. Reading it changes
nothing: its turns count as read when the reader says so, so an interrupted reader loses none.
"""

from __future__ import annotations

import json
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Final

from memstore.domain import zones
from memstore.domain.arguments import MAX_QUERY, checked_number
from memstore.domain.unread import Portion
from memstore.settings import MIN_RELEVANCE
from memstore.text.dated import DatedLine, remark, speaking, under_dates
from memstore.text.folding import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact, Scope, SearchHits
    from memstore.store.store import Store

PORTION_CHARACTERS: Final = 12_000
"""Of the turns of one portion by default: about 3,000 tokens, which every host passes on whole."""

MIN_CHARACTERS: Final = 200
MAX_CHARACTERS: Final = 1_000_000

MAX_KNOWN: Final = 20
"""Facts in a portion; a model cannot compare more carefully."""

KNOWN_OF_EACH: Final = 5
"""Facts that are searched for with each turn."""

SHARE_KNOWN: Final = 3
"""The facts of a portion have at most this fraction of its characters."""


def portion(store: Store, scope: Scope, characters: int) -> Portion:
    """Return the first unread turns of these owners as a text, with the facts about the same."""
    checked_number(characters, "characters", MIN_CHARACTERS, MAX_CHARACTERS)
    found = store.readings.unread(store.namespace, scope, characters)
    if not found.turns:
        return Portion(text="")
    fit = fitting(_known(store, scope, found.turns), characters // SHARE_KNOWN)
    known = [*islice(fit, MAX_KNOWN)]
    return Portion(
        text="\n".join((*_known_lines(known), *_lines(found.turns, characters))),
        turns=tuple(turn.id for turn in found.turns),
        facts=tuple(fact.id for fact in known),
        left=found.left,
    )


def conversations(turns: Iterable[Episode]) -> list[list[Episode]]:
    """Return the turns of each conversation in their order, by the first of each."""
    grouped: dict[object, list[Episode]] = {}
    for turn in turns:
        grouped.setdefault(turn.id if turn.thread is None else turn.thread, []).append(turn)
    return [sorted(each, key=lambda turn: (turn.seq or 0, turn.id)) for each in grouped.values()]


def in_turn(found: Iterable[SearchHits]) -> dict[int, Fact]:
    """Return the facts of several searches by id: the best of each, then the next of each.

    So one that finds many does not crowd out the others.
    """
    return {hit.fact.id: hit.fact for rank in zip_longest(*found) for hit in rank if hit}


def fitting(facts: Iterable[Fact], characters: int) -> Iterator[Fact]:
    """Yield the facts that fit into a text; whole documents are left out."""
    for fact in facts:
        if len(fact.content) <= characters:
            characters -= len(fact.content)
            yield fact


def _known(store: Store, scope: Scope, turns: Sequence[Episode]) -> Iterable[Fact]:
    """Return the active facts about the same, each once."""
    found = store.of(scope).search_batch(
        [turn.content.strip()[:MAX_QUERY] for turn in turns],
        limit=KNOWN_OF_EACH,
        half_lives_seconds={"note": 0},  # an old fact may be the very one that changed
        min_relevance=MIN_RELEVANCE,
        tasks=False,
        touch=False,
    )
    return in_turn(found).values()


def _known_lines(facts: Sequence[Fact]) -> Iterator[str]:
    if facts:
        yield remark("already known")
        by_day = sorted(facts, key=lambda fact: (_day(fact), fact.id))
        yield from under_dates(
            DatedLine(_day(fact), f"#{fact.id}", text_of(fact.subject, fact.content))
            for fact in by_day
        )


def _lines(turns: Iterable[Episode], characters: int) -> Iterator[str]:
    for conversation in conversations(turns):
        first = conversation[0]
        name = "" if first.thread is None else f" {json.dumps(first.thread, ensure_ascii=False)}"
        source = f", from {json.dumps(first.source, ensure_ascii=False)}" if first.source else ""
        yield remark(f"conversation{name}{source}")
        yield from under_dates(_line(turn, characters) for turn in conversation)


def _line(turn: Episode, characters: int) -> DatedLine:
    name, words = f"e{turn.id}", turn.content.strip()
    notes: tuple[str, ...] = ()
    if len(words) > characters:
        notes = (f"{name} cut: the first {characters:,} of {len(words):,} characters",)
        words = f"{words[:characters]}…"
    return DatedLine(_day(turn), name, speaking(turn.speaker, words), notes=notes)


def _day(record: Fact | Episode) -> str:
    return zones.day(record.valid_at or record.created_at)
