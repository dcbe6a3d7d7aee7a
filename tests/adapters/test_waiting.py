"""A cancelled caller knows how its write ended."""

import asyncio
import inspect
import threading

import pytest

from memstore.adapters.waiting import finished, in_thread


def test_it_returns_what_the_call_returns() -> None:
    assert asyncio.run(in_thread(divmod, 7, 2)) == (3, 1)


def test_it_raises_what_the_call_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_thread(divmod, 7, 0))


def test_a_method_is_awaited_with_its_signature() -> None:
    class Blocking:
        def half(self, number: int, *, rounds: bool = False) -> float:
            """Return half of a number."""
            return number // 2 if rounds else number / 2

    class Async:
        _blocking = Blocking()
        half = finished(Blocking.half)

    assert asyncio.run(Async().half(7, rounds=True)) == 3
    assert inspect.signature(Async.half) == inspect.signature(Blocking.half)
    assert Async.half.__doc__ == Blocking.half.__doc__


@pytest.mark.parametrize("fails", [False, True])
def test_a_cancelled_call_has_ended(fails: bool) -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def write() -> None:
        begun.set()
        may_end.wait()
        ended.set()
        if fails:
            raise ValueError

    async def cancelled_twice() -> None:
        task = asyncio.create_task(in_thread(write))
        await asyncio.to_thread(begun.wait)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(cancelled_twice())
