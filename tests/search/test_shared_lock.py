"""The lock that many threads hold together, or one alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.clock import wait_until

from memstore.search.index.index import SharedLock, Taken


def test_many_are_inside_together_and_one_alone() -> None:
    lock = SharedLock()
    lock.enter()
    lock.enter(at_once=True)
    with pytest.raises(Taken), lock.alone(at_once=True):
        pass
    lock.leave()
    lock.leave()
    with lock.alone(at_once=True):
        with pytest.raises(Taken):
            lock.enter(at_once=True)
        with pytest.raises(Taken), lock.alone(at_once=True):
            pass
    lock.enter(at_once=True)


def test_who_stays_is_inside_afterwards() -> None:
    lock = SharedLock()
    with lock.alone(stay=True):
        pass
    lock.enter(at_once=True)
    with pytest.raises(Taken), lock.alone(at_once=True):
        pass
    lock.leave()
    lock.leave()
    with pytest.raises(ZeroDivisionError), lock.alone(stay=True):
        raise ZeroDivisionError
    with lock.alone(at_once=True):
        pass


def test_who_waits_to_be_alone_goes_first() -> None:
    lock = SharedLock()
    lock.enter()

    def be_alone() -> None:
        with lock.alone():
            pass

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(be_alone)
        try:
            assert wait_until(lambda: lock._waiting)
            with pytest.raises(Taken):
                lock.enter(at_once=True)
        finally:
            lock.leave()
        waiting.result(20)
    lock.enter(at_once=True)
