"""The turns around a turn in its thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.filters import EpisodeFilter
from memstore.database.tables import episodes as episode_table
from memstore.domain import clock
from memstore.domain.arguments import MAX_NUMBER
from memstore.frozen import replace
from memstore.text.utterances import asks, corrects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode, EpisodeHit

FOLLOWING: Final = 20
"""How many of the next turns of a thread are read for one that corrects it."""


def neighbours(
    transaction: Transaction, episode: Episode, reach: int
) -> tuple[list[Episode], list[Episode]]:
    """Return up to ``reach`` turns before and after a turn in its thread, in order."""
    return episode_table.neighbours(transaction, episode, _of_its_owners(episode), reach)


def _of_its_owners(episode: Episode) -> EpisodeFilter:
    return EpisodeFilter((episode.namespace,), clock.utc_now(), scope=episode.scope)


def exchanges(
    transaction: Transaction, hits: Sequence[EpisodeHit], until: int = MAX_NUMBER
) -> list[EpisodeHit]:
    """Join turns to the question that each answers, or to the answer if it asks one.

    No turn is there twice: a hit beside another one stays a hit of its own. No episode after the
    id ``until`` is used.
    """
    shown = {hit.episode.id for hit in hits}
    joined = []
    for hit in hits:
        before, after = neighbours(transaction, hit.episode, 1)
        after = [turn for turn in after if turn.id <= until]
        before = [turn for turn in before if turn.id <= until]
        question = [turn for turn in before if _answers(hit.episode, turn)]
        answer = [turn for turn in after if _answers(turn, hit.episode)]
        joined.append(
            replace(
                hit,
                before=tuple(_unseen(question, shown)),
                after=tuple(_unseen(answer, shown)),
            )
        )
    return joined


def corrections(
    transaction: Transaction, episode: Episode, found: Iterable[Episode] = ()
) -> list[Episode]:
    """Return the later turns of its thread in which the speaker takes back what a turn says.

    Args:
        found: what a search found; a correction of long afterwards is likely to be there.
    """
    if episode.thread is None:
        return []
    following = episode_table.following(transaction, episode, _of_its_owners(episode), FOLLOWING)
    own = [turn for turn in following if turn.speaker == episode.speaker]
    nearby = {turn.id for turn in own}
    own += [
        turn
        for turn in found
        if turn.thread == episode.thread and turn.id not in nearby and _is_later(turn, episode)
    ]
    return [
        turn
        for place, turn in enumerate(own)
        if corrects(turn.content, episode.content, follows=place == 0 and bool(nearby))
    ]


def _is_later(turn: Episode, episode: Episode) -> bool:
    """Whether the same speaker said it later in the same thread."""
    same = ("namespace", "scope", "thread", "speaker")
    if any(getattr(turn, name) != getattr(episode, name) for name in same):
        return False
    return (turn.seq or 0, turn.id) > (episode.seq or 0, episode.id)


def _unseen(turns: Iterable[Episode], shown: set[int]) -> Iterator[Episode]:
    for turn in turns:
        if turn.id not in shown:
            shown.add(turn.id)
            yield turn


def _answers(turn: Episode, question: Episode) -> bool:
    """Return whether a turn follows another speaker's question."""
    is_other = turn.speaker is None or turn.speaker != question.speaker
    return is_other and asks(question.content)
