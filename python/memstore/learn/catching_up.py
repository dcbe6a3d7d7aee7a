"""Learning from every conversation that no model has read, however many there are.

The turns are read in portions, oldest first; those of a conversation are marked as read when its
facts are stored. A run that is stopped or killed repeats at most one conversation of one portion,
whose facts are then known already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.errors import GeneratorUnavailable, LearningError
from memstore.learn.conversation import go_on
from memstore.learn.distilling import conversations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Progress
    from memstore.domain.episodes import Episode
    from memstore.learn.conversation import Learner, MemoryEvents

PAUSES_SECONDS: Final = (2.0, 10.0, 60.0, 300.0)
"""Before a model that is unavailable is asked again; after the last pause the run ends."""


def catch_up(learner: Learner, characters: int, progress: Progress | None) -> list[MemoryEvents]:
    """Learn from all unread turns of the learner's scope.

    Conversations that cannot be read are left out, and reported at the end.

    Raises:
        LearningError: some could not be read, or the model is unavailable; calling again continues.
    """
    namespace, readings = learner.store.namespace, learner.store.readings
    learned: list[MemoryEvents] = []
    failed: list[LearningError] = []
    done = after = 0
    with readings.lease(namespace):
        while (portion := readings.unread(namespace, learner.scope, characters, after)).turns:
            after, total = portion.turns[-1].id, done + len(portion.turns) + portion.left
            for turns in conversations(portion.turns):
                try:
                    learned.append(_learn_patiently(learner, turns))
                except LearningError as error:
                    failed.append(error)
                    if isinstance(error.__cause__, GeneratorUnavailable):
                        raise _failed(learned, failed) from error
                done += len(turns)
                if progress is not None:
                    progress(done, total)
    if failed:
        raise _failed(learned, failed) from failed[0]
    return learned


def _learn_patiently(learner: Learner, turns: Sequence[Episode]) -> MemoryEvents:
    for pause in PAUSES_SECONDS:
        try:
            return learner.learn_turns(turns)
        except LearningError as error:
            if not isinstance(error.__cause__, GeneratorUnavailable):
                raise
        clock.sleep(pause)
        go_on()
    return learner.learn_turns(turns)


def _failed(learned: Sequence[object], failed: Sequence[LearningError]) -> LearningError:
    last = failed[-1]
    return LearningError(
        f"learned from {len(learned)} conversations; {len(failed)} could not be read and stay "
        f"unread: {last} (another call continues)",
        step=last.step,
        episode_id=last.episode_id,
        remedy=last.remedy,
    )
