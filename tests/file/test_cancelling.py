"""Checking a file tells how far it is, and ends when it is cancelled."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from memstore import AsyncStore, Cancelled, NewFact, Store


def filled(store: Store) -> Store:
    store.add_many(NewFact(content=f"fact {n} " * 20, subject=f"s{n % 9}") for n in range(600))
    return store


def test_progress_is_told_from_the_first_check_to_the_last(store: Store) -> None:
    told: list[tuple[int, int]] = []
    assert store.file.doctor(progress=lambda done, total: told.append((done, total))) == []
    total = told[0][1]
    assert told == [(done, total) for done in range(total + 1)]


def test_a_check_ends_when_it_is_cancelled(store: Store) -> None:
    file = filled(store).file
    checks: list[int] = []
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked >= limit

    limit = 10**9
    assert file.doctor(cancelled=cancelled) == []
    every = asked
    assert every > 30  # also amid a check
    for limit in (1, 2, every // 2, every):
        asked = 0
        checks.clear()
        with pytest.raises(Cancelled):
            file.doctor(cancelled=cancelled, progress=lambda done, _: checks.append(done))
        assert asked <= limit + 3
    assert file.doctor() == []
    store.add("still writable", subject="s")


def test_cancelling_the_coroutine_ends_the_check(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[type[Exception]] = []
    doctor = type(store.file).doctor

    async def main() -> None:
        began = asyncio.Event()
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def progress(done_: int, _: int) -> None:
            loop.call_soon_threadsafe(began.set)
            if done_ == 1:  # the caller cancels now
                asyncio.run_coroutine_threadsafe(cancelled.wait(), loop).result()

        cancelled = asyncio.Event()
        file = AsyncStore(filled(store)).file
        task = asyncio.create_task(file.doctor(progress=progress))
        task.add_done_callback(lambda _: done.set())
        await began.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        cancelled.set()
        await asyncio.to_thread(store.file.head)

    def watched(self: object, **options: object) -> object:
        try:
            return doctor(self, **options)  # type: ignore[arg-type]
        except Cancelled as error:
            ended.append(type(error))
            raise

    from memstore.coroutines import awaited
    from memstore.store.async_store import AsyncFile

    monkeypatch.setattr(AsyncFile, "doctor", awaited(watched))
    asyncio.run(main())
    assert ended == [Cancelled]
