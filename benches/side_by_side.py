"""Ways to do one thing, measured in turns in one run.

On a shared machine two runs cannot be compared, but two ways that take turns share whatever else
is going on. So what is reported are ratios within a round, of which the median counts.
"""

import time
from collections.abc import Callable, Mapping
from statistics import median

# A BLAS thread keeps spinning after its work and would occupy the core for the next way.
PAUSE_SECONDS = 0.06


def pause(seconds: float) -> None:
    """Wait without sleeping: after a sleep, the first milliseconds are slower."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def measure(
    ways: Mapping[str, Callable[[], object]], rounds: int, pause_seconds: float = PAUSE_SECONDS
) -> dict[str, list[float]]:
    """Return the seconds of each way in each round; a warm-up round is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            pause(pause_seconds)
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
