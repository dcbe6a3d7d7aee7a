"""Learning from every conversation that no model has read, however many there are.

The turns are read in portions, oldest first; those of a conversation are marked as read when its
facts are stored. A run that is stopped or killed repeats at most one conversation of one portion,
whose facts are then known already.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from memstore.domain import clock
from memstore.errors import GeneratorError, GeneratorUnavailable, LearningError, NotFound
from memstore.learn.conversation import go_on
from memstore.learn.distilling import conversations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memstore.database.engine import Progress
    from memstore.domain.episodes import Episode
    from memstore.learn.conversation import Learner, MemoryEvents

T = TypeVar("T")
W = TypeVar("W")

PAUSES_SECONDS: Final = (2.0, 10.0, 60.0, 300.0)
"""Before a model that is unavailable is asked again; after the last pause the run ends."""


def catch_up(
    learner: Learner,
    characters: int,
    progress: Progress | None,
    *,
    untried: bool = False,
    patient: bool = True,
) -> list[MemoryEvents]:
    """Learn from all unread turns of the learner's scope.

    Conversations that cannot be read are left out, and reported at the end.

    Args:
        untried: only from turns that no model was to read.
        patient: ask a model that is unavailable again after :data:`PAUSES_SECONDS`.

    Raises:
        LearningError: some could not be read, or the model is unavailable; calling again continues.
    """
    namespace, readings = learner.store.namespace, learner.store.readings
    next_portion = partial(readings.unread, namespace, learner.scope, characters, untried=untried)
    learn = _learn_patiently if patient else _learn
    learned: list[MemoryEvents] = []
    failed: list[LearningError] = []
    done = after = 0
    with readings.lease(namespace):
        while (portion := next_portion(after)).turns:
            after, total = portion.turns[-1].id, done + len(portion.turns) + portion.left
            for turns in conversations(portion.turns):
                try:
                    learned.append(learn(learner, turns))
                except LearningError as error:
                    failed.append(error)
                    if _is_away(error):
                        raise _failed(learned, failed) from error
                done += len(turns)
                if progress is not None:
                    progress(done, total)
    if failed:
        raise _failed(learned, failed) from failed[0]
    return learned


def _learn(learner: Learner, turns: Sequence[Episode]) -> MemoryEvents:
    return learner.learn_turns(turns)


def _learn_patiently(learner: Learner, turns: Sequence[Episode]) -> MemoryEvents:
    return patiently(partial(_learn, learner, turns))


def one_after_another(steps: Iterable[Callable[[], list[T]]]) -> list[T]:
    """Return what all of several steps learned.

    Raises:
        LearningError: of the first that failed, after the others; at once if the model is
            unavailable.
    """
    learned: list[T] = []
    failed: LearningError | None = None
    for step in steps:
        go_on()
        try:
            learned += step()
        except LearningError as error:
            if _is_away(error):
                raise
            failed = failed or error
    if failed is not None:
        raise failed
    return learned


def patiently(read: Callable[[], T]) -> T:
    """Return what a model makes of something; one that is unavailable is asked again."""
    for pause in PAUSES_SECONDS:
        try:
            return read()
        except (LearningError, GeneratorError) as error:
            if not _is_away(error):
                raise
        clock.sleep(pause)
        go_on()
    return read()


def retry_each(
    waiting: Sequence[W],
    read: Callable[[W], T],
    *,
    patient: bool = False,
    progress: Progress | None = None,
    noun: str = "conversations",
) -> list[T]:
    """Return what a model makes of each of several things that it could not read before.

    What was erased in the meantime is left out. If the model is unavailable, the rest is not tried.

    Args:
        waiting: what to read, in order.
        read: reads one; raises ``LearningError`` or ``GeneratorError`` if it fails again.
        patient: ask a model that is unavailable again after :data:`PAUSES_SECONDS`.
        progress: called with the number done and the total.
        noun: what they are, for the error.

    Raises:
        LearningError: some failed again; the others are done.
    """
    learned: list[T] = []
    failed: list[LearningError | GeneratorError] = []
    for done, one in enumerate(waiting, 1):
        try:
            learned.append(patiently(partial(read, one)) if patient else read(one))
        except NotFound:
            continue
        except (LearningError, GeneratorError) as error:
            failed.append(error)
            if _is_away(error):
                break
        if progress is not None:
            progress(done, len(waiting))
    if failed:
        first = next(filter(_is_away, failed), failed[0])
        raise LearningError(
            f"{len(waiting) - len(learned)} of {len(waiting)} {noun} could not be learned from and "
            f"can be retried: {first}",
            step=first.step if isinstance(first, LearningError) else "extract",
            episode_id=first.episode_id if isinstance(first, LearningError) else None,
            remedy=first.remedy,
        ) from first
    return learned


def _is_away(error: BaseException) -> bool:
    """Whether the model was unavailable, rather than its reply unreadable."""
    if isinstance(error, GeneratorUnavailable):
        return True
    return error.__cause__ is not None and _is_away(error.__cause__)


def _failed(learned: Sequence[object], failed: Sequence[LearningError]) -> LearningError:
    last = failed[-1]
    return LearningError(
        f"learned from {len(learned)} conversations; {len(failed)} could not be read and stay "
        f"unread: {last} (another call continues)",
        step=last.step,
        episode_id=last.episode_id,
        remedy=last.remedy,
    )
