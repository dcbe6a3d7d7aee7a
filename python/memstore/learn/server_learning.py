"""Learning in the background of a server, from all that no model has read, in each namespace."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from memstore.learn.background import BackgroundLearning
from memstore.learn.catching_up import one_after_another
from memstore.learn.extraction import Extractor
from memstore.learn.memory import Memory
from memstore.store.store import file_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memstore.domain.protocols import Generator
    from memstore.store.store import Store

INTERVAL_SECONDS: Final = 60.0
"""How often a server looks for something to read."""


def learn_in_background(
    store: Store,
    make_generator: Callable[[], Generator | None],
    *,
    everywhere: bool = False,
    interval_seconds: float = INTERVAL_SECONDS,
) -> BackgroundLearning:
    """Read conversations and texts that no model has read, in a thread until it is stopped.

    After a failure it pauses twice as long, up to an hour; of several processes, one works.

    Args:
        make_generator: makes the model when there is something to read; ``None`` if it cannot.
        everywhere: in every namespace of the file, not only in the store's own.
    """
    readings = file_of(store).readings
    made: list[Generator] = []

    def namespaces() -> list[str]:
        return readings.namespaces() if everywhere else [store.namespace]

    def is_waiting() -> bool:
        return any(
            readings.are_waiting(name) or readings.not_extracted(name, None)
            for name in namespaces()
        )

    def read() -> None:
        if not made and (generator := make_generator()) is not None:
            made.append(generator)
        for generator in made:
            one_after_another(
                step for name in namespaces() for step in _steps(store.within(name), generator)
            )

    job = "learn everywhere" if everywhere else f"learn all {store.namespace}"
    return BackgroundLearning(
        file_of(store).engine, job, is_waiting, read, interval_seconds
    ).start()


def _steps(store: Store, generator: Generator) -> Iterator[Callable[[], list[object]]]:
    yield partial(_conversations, Memory(store, generator))
    yield partial(_texts, Extractor(store, generator))


def _conversations(memory: Memory) -> list[object]:
    return [*memory.retry(everything=True)]


def _texts(extractor: Extractor) -> list[object]:
    return [*extractor.retry()]
