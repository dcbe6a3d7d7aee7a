"""Identifiers: whoever names a ticket or a path asks about that one.

"SHOP-1042: what was the cause?" shares a word with every ticket of the shop. What has the whole
identifier comes before what has not, and so do the next turns of its thread, up to the next one of
the same speaker: the answer seldom repeats the number.

Who asks in other words names no ticket, and the report of it is found by them; what came of it is
said in the turns after it, here, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

from memstore.domain.arguments import MAX_NUMBER
from memstore.domain.episodes import EpisodeHit
from memstore.episodes import passages
from memstore.frozen import replace
from memstore.lazy import lazy_pattern
from memstore.telling.recall import Found
from memstore.text.folding import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Scope, SearchHit

    H = TypeVar("H", SearchHit, EpisodeHit)

WITHOUT: Final = 0.5
"""What the score of a row without the identifier counts beside those with it."""

NEXT: Final = 0.9
"""What a turn after one with the identifier has of its score, at least."""

MAX_NEXT: Final = 4
"""How many of the turns after it are read."""

MAX_NAMING: Final = 5
"""Of how many turns with the identifier, the best ones, the next are read."""

NO_TICKETS: Final = "UTF|UCS|ISO|DIN|IEC|IEEE|RFC|SHA|MD|AES|RSA|BASE|HTTP|TLS|GPT|COVID|SARS"
"""What numbers follow that are no tickets: standards, models, diseases."""
TICKET: Final = rf"(?:(?!(?:{NO_TICKETS})-)[^\W\d_a-zß-öø-ÿ]{{1,10}}-\d{{1,7}}|\#\d{{2,7}})"
"""A key in capitals with a number, or a number of two digits or more after a sign."""
REPORTS = lazy_pattern(
    rf"^\[?{TICKET}(?![\w-])|(?<![\w-]){TICKET}(?=\]?:)", re.MULTILINE | re.VERBOSE
)
"""The number of a ticket where it is reported: at the beginning of a line, or before a colon."""

MAX_REPORTS: Final = 3
REPORTS_FROM: Final = 0.7
"""Turns with a ticket's number report it if they are among so many best ones, and have this part of
the best score."""


def identified_first(
    transaction: Transaction,
    names: Sequence[str],
    found: Found,
    *,
    until: int = MAX_NUMBER,
    adds: bool = True,
) -> Found:
    """Return what was found, with scores by which what has an identifier of the question is first.

    Nothing changes unless something has it.

    Args:
        names: the identifiers of several words; those of one word, such as a port, are left to the
            search, which never takes a part of them for the whole.
        until: no episode after this id is used.
        adds: return turns that were not found, too.
    """
    whole = "|".join(re.escape(folded(one)) for one in names)
    pattern = re.compile(rf"(?<!\w)(?:{whole})(?!\w)")
    matching = found.turns[: _matching(found)]
    naming = [hit for hit in matching if pattern.search(folded(hit.episode.content))]
    facts = {hit.fact.id for hit in found.facts if pattern.search(folded(hit.fact.content))}
    if not naming and not facts:
        return found
    after = _following(transaction, naming[:MAX_NAMING], until)
    turns = {hit.episode.id: _lowered(hit) for hit in matching} | {
        hit.episode.id: hit for hit in naming
    }
    for id_, hit in after.items():
        if id_ in turns:
            turns[id_] = _scored(turns[id_], max(turns[id_].score, hit.score))
        elif adds:
            turns[id_] = hit
    told = [hit if hit.fact.id in facts else _lowered(hit) for hit in found.facts]
    return Found(
        replace(found.facts, items=_best_first(told)),
        replace(found.turns, items=_best_first([*turns.values()]), newest_first=0),
        frozenset(after),
    )


def reports_go_on(found: Found) -> Found:
    """Return what was found, with scores by which what came of a ticket stands beside its report.

    For a question without an identifier. Nothing is added to what was found.
    """
    turns = {hit.episode.id: hit for hit in found.turns[: _matching(found)]}
    least = REPORTS_FROM * max((hit.score for hit in (*found.facts, *turns.values())), default=0.0)
    best = sorted(turns.values(), key=lambda hit: -hit.score)[:MAX_REPORTS]
    raised: dict[int, float] = {}
    for report in best:
        if report.score >= least and REPORTS.search(report.episode.content):
            for hit in _found_after(report, turns.values()):
                score = max(NEXT * report.score, raised.get(hit.episode.id, hit.score))
                raised[hit.episode.id] = score
    if not raised:
        return found
    scored = [_scored(hit, raised.get(id_, hit.score)) for id_, hit in turns.items()]
    return found._replace(
        turns=replace(found.turns, items=_best_first(scored), newest_first=0),
        following=frozenset(raised),
    )


def _found_after(report: EpisodeHit, hits: Iterable[EpisodeHit]) -> Iterator[EpisodeHit]:
    """Yield those of the hits that are the next turns, as :func:`_next` reads them."""
    turn = report.episode
    if turn.thread is None or turn.seq is None:
        return
    own = (hit for hit in hits if _thread(hit.episode) == _thread(turn))
    places = {hit.episode.seq: hit for hit in own}
    for place in range(turn.seq + 1, turn.seq + 1 + MAX_NEXT):
        if place not in places:
            return
        is_own = places[place].episode.speaker == turn.speaker
        if is_own and place > turn.seq + 1:  # who reports may go on
            return
        yield places[place]


def _thread(turn: Episode) -> tuple[str, Scope, str | None]:
    return turn.namespace, turn.scope, turn.thread


def _matching(found: Found) -> int:
    """Return how many of the turns match; the others are only the newest."""
    return len(found.turns) - found.turns.newest_first


def _following(
    transaction: Transaction, naming: Sequence[EpisodeHit], until: int
) -> dict[int, EpisodeHit]:
    """Return the turns after those that have an identifier, by id."""
    found: dict[int, EpisodeHit] = {}
    for hit in naming:
        for turn in _next(transaction, hit.episode, until):
            whole = EpisodeHit(
                turn, NEXT * hit.score, 0.0, None, 0, len(turn.content), project=hit.project
            )
            found.setdefault(turn.id, whole)
    return found


def _next(transaction: Transaction, turn: Episode, until: int) -> Iterator[Episode]:
    if turn.thread is None:
        return
    for place, one in enumerate(passages.neighbours(transaction, turn, MAX_NEXT)[1]):
        if one.id > until or (place and one.speaker == turn.speaker):
            return
        yield one


def _lowered(hit: H) -> H:
    return _scored(hit, WITHOUT * hit.score)


def _scored(hit: H, score: float) -> H:
    parts = hit.parts._replace(age=hit.parts.age + score - hit.score)
    return replace(hit, score=score, parts=parts)


def _best_first(hits: Sequence[H]) -> list[H]:
    return sorted(hits, key=lambda hit: -hit.score)
