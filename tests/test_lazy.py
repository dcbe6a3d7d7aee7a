"""What is made on first use."""

from __future__ import annotations

import inspect
import threading
from concurrent.futures import ThreadPoolExecutor

from memstore.lazy import cached_property

SECONDS = 20


class Slow:
    """Has a value that takes until somebody lets it be made."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()
        self.made = 0

    @cached_property
    def value(self) -> object:
        """What takes so long."""
        self.begun.release()
        assert self.may_end.wait(SECONDS)
        self.made += 1
        return object()


def test_a_value_is_made_once() -> None:
    one, other = Slow(), Slow()
    one.may_end.set()
    other.may_end.set()
    assert one.value is one.value
    assert one.made == 1
    assert one.value is not other.value


def test_it_is_a_property_of_the_class() -> None:
    assert inspect.getdoc(Slow.value) == "What takes so long."


def test_one_instance_keeps_no_other_waiting() -> None:
    slow, quick = Slow(), Slow()
    quick.may_end.set()
    with ThreadPoolExecutor(2) as threads:
        waiting = threads.submit(lambda: slow.value)
        assert slow.begun.acquire(timeout=SECONDS)
        try:
            assert threads.submit(lambda: quick.value).result(SECONDS) is quick.value
        finally:
            slow.may_end.set()
        assert waiting.result(SECONDS) is slow.value


def test_threads_that_make_it_at_once_get_the_same() -> None:
    slow = Slow()
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(lambda: slow.value) for _ in range(2)]
        assert all(slow.begun.acquire(timeout=SECONDS) for _ in asked)
        slow.may_end.set()
        first, second = (one.result(SECONDS) for one in asked)
    assert first is second is slow.value
    assert slow.made == 2
