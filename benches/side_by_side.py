"""Ways to do one thing, measured in turns in one run.

On a shared machine two runs cannot be compared, but two ways that take turns share whatever else
is going on. So what is reported are ratios within a round, of which the median counts.
"""

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Final

WINDOW_SECONDS: Final = 0.004
"""How long the other threads of the process are watched at a time."""

IDLE: Final = 0.02
"""The part of a processor that they may use and count as idle: clocks are not exact."""

QUIET_WINDOWS: Final = 2
"""How many windows in a row they have to be idle: some threads wake up again to do the rest."""

PATIENCE_SECONDS: Final = 30.0


def pause(seconds: float) -> None:
    """Wait without sleeping: after a sleep, the first milliseconds are slower."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def until_idle() -> None:
    """Wait until no other thread of this process uses a processor, as its own clocks show it.

    Threads of OpenBLAS spin after their work, and those of a runtime may still free memory or
    write: either would occupy a core for the next way.

    Raises:
        RuntimeError: they never were idle.
    """
    end = time.perf_counter() + PATIENCE_SECONDS
    quiet = 0
    while quiet < QUIET_WINDOWS:
        if time.perf_counter() > end:
            raise RuntimeError(f"another thread has been busy for {PATIENCE_SECONDS:g} s")
        all_before, own_before = time.process_time(), time.thread_time()
        pause(WINDOW_SECONDS)
        all_used, own_used = time.process_time() - all_before, time.thread_time() - own_before
        quiet = quiet + 1 if all_used - own_used < IDLE * WINDOW_SECONDS else 0


def measure(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each way in each round; a warm-up round is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            until_idle()
            start = time.perf_counter()
            way()
            if turn > 0:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(seconds: Mapping[str, list[float]], name: str, to: str) -> float:
    """Return the ratio of one way's time to another's: the median over the rounds."""
    return median(a / b for a, b in zip(seconds[name], seconds[to], strict=True))


def table(title: str, seconds: Mapping[str, list[float]], first: str) -> str:
    """Median and best time of each way, and the first one's ratio to it, as plain text."""
    lines = [f"\n{title}", f"{'':34}{'median ms':>11}{'best ms':>10}{'ratio to it':>13}"]
    for name, times in seconds.items():
        middle, best = median(times) * 1e3, min(times) * 1e3
        lines.append(f"  {name:32}{middle:11.3f}{best:10.3f}{ratio(seconds, first, name):13.2f}")
    return "\n".join(lines)
