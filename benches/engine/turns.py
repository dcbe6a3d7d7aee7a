"""Ways to answer the same questions, measured in turns, and the table of their times."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median, quantiles
from typing import Any, Final

from benches.side_by_side import until_idle

SLOW_SECONDS: Final = 0.1
"""A way that took longer at first gets every tenth question."""

Answer = Callable[[Any], Sequence[int] | None]
"""Returns the ids that a question finds; none where it finds nothing by its nature."""


@dataclass
class Way:
    """One way: the seconds of each answer, and its recall."""

    answer: Answer
    seconds: dict[int, float] = field(default_factory=dict)
    cpu_seconds: list[float] = field(default_factory=list)
    """Of all threads of this process; what another process does for it is not in it."""
    recalls: list[float] = field(default_factory=list)

    @property
    def p50(self) -> float:
        return median(self.seconds.values())

    @property
    def p10(self) -> float:
        """Of a busy machine this tells most: what takes a core away from a way makes it slower."""
        return quantiles(self.seconds.values(), n=10)[0] if len(self.seconds) > 1 else self.p50

    @property
    def p95(self) -> float:
        return quantiles(self.seconds.values(), n=20)[-1] if len(self.seconds) > 1 else self.p50

    def to(self, other: Way) -> float:
        """Return the ratio of this way's times to another's: the median over the turns."""
        both = self.seconds.keys() & other.seconds.keys()
        return median(self.seconds[turn] / other.seconds[turn] for turn in both)


def take_turns(
    answers: Mapping[str, Answer],
    questions: Sequence[Any],
    truth: str | None = None,
) -> dict[str, Way]:
    """Ask every way every question; the first one warms them up and is not counted.

    Args:
        truth: the way whose answers count as correct for recall.
    """
    ways = {name: Way(answer) for name, answer in answers.items()}
    step = dict.fromkeys(ways, 1)
    for turn, question in enumerate(questions):
        found = {}
        for name, way in ways.items():
            if turn % step[name]:
                continue
            until_idle()
            start, cpu_start = time.perf_counter(), time.process_time()
            found[name] = way.answer(question)
            took, cpu = time.perf_counter() - start, time.process_time() - cpu_start
            if turn:
                way.seconds[turn] = took
                way.cpu_seconds.append(cpu)
            elif took > SLOW_SECONDS:
                step[name] = 10
        if right := set(found.get(truth or "") or ()):
            for name, ids in found.items():
                if ids is not None:
                    ways[name].recalls.append(len(right & {*ids}) / len(right))
    return ways


def _times(way: Way) -> tuple[float, ...]:
    return way.p10, way.p50, way.p95, median(way.cpu_seconds)


def table(title: str, ways: Mapping[str, Way], first: str) -> str:
    """Return a table as text; the last column is the ratio of the first way's time to each."""
    lines = [f"\n{title}"]
    heads = f"{'p10 ms':>10}{'p50 ms':>10}{'p95 ms':>10}{'cpu ms':>10}{'recall':>9}"
    lines.append(f"{'':26}{heads}{first + ' to it':>18}")
    for name, way in ways.items():
        recall = f"{mean(way.recalls):.2f}" if way.recalls else ""
        times = "".join(f"{1e3 * t:10.2f}" for t in _times(way))
        lines.append(f"  {name:24}{times}{recall:>9}{ways[first].to(way):18.3f}")
    return "\n".join(lines)
