"""What a later session is told of half a year, beside BM25 and plain cosine in as many tokens.

    python -m benches.finding.halfyear [--half development|held-out] [--seed 0] [--noted 0.5]
        [--asked otherwise] [--together] [--told] [--missed KIND] [--embedder NAME]

Some 150 sessions in six projects, three of which share a namespace, of decisions that change, work
on files, tickets, rules, and the orders that are given every day. A share of the topics was stored
as facts, too. The memory is built through the public interface, at the times when all that was
said; then questions are asked on one day in summer. ``hook`` is what a prompt gets in 250 tokens,
``search`` the text of the tool ``memory_search``, ``recall`` what ``Store.recall`` gives within
500; BM25 and cosine show their best rows. A question is answered if lines that bear on it have the
words that answer it, and the day, where that is asked for. ``--missed`` prints the questions of a
kind that the hook does not answer, and what it gives. Constants are chosen on the development half;
what is reported is the held-out one. ``--asked otherwise`` asks in other words, and gives other
orders, all written later than the rules. ``--together`` keeps all six projects in one namespace, as
hosts do that have one setting for all folders; ``--told`` lets hosts say in which project they
work. ``--embedder`` measures another model than the built-in one, such as ``fastembed`` or
``MODULE:FACTORY``.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Final, NamedTuple

import memstore
from benches.finding.halfyear import life as lives
from benches.finding.halfyear import questions, stock, ways
from benches.finding.halfyear.questions import TEMPORAL, Question
from benches.finding.halfyear.ways import Line, Unit
from memstore.domain import clock
from memstore.providers.local import TokenCounter

MARKED: Final = re.compile(r"newer|superseded|replaced|corrected|no longer")


class Outcome(NamedTuple):
    """What one way gave for one question."""

    question: Question
    text: str
    lines: list[Line]

    @property
    def is_answered(self) -> bool:
        """Whether lines that bear on the question have the words, and the days, that answer it."""
        lines = [one for one in self.lines if one.unit and one.unit.about in self.question.about]
        return all(
            any(need.is_met(line.words, line.day) for need in group for line in lines)
            for group in self.question.needs
        )

    @property
    def is_stale_first(self) -> bool:
        """Whether an old value is shown, unmarked, before the one that holds."""
        return any(self._is_stale(*one) for one in self.question.stale)

    def _is_stale(self, label: str, key: str, place: int) -> bool:
        for line in self.lines:
            if questions.has(line.words, key):
                return False
            unit = line.unit
            is_old = unit and unit.about == label and unit.place is not None and unit.place < place
            if is_old and not MARKED.search(line.marks):
                return True
        return False

    @property
    def bearing(self) -> int:
        """How many lines bear on the question."""
        about = self.question.about | self.question.event
        return sum(unit.about in about for unit in self._units)

    @property
    def of_others(self) -> int:
        """How many lines are of other projects."""
        return sum(unit.project != self.question.project for unit in self._units)

    @property
    def _units(self) -> list[Unit]:
        return [line.unit for line in self.lines if line.unit is not None]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=stock.HALVES, action="append")
    parser.add_argument("--seed", type=int, default=0, help="draws another life and its questions")
    parser.add_argument("--noted", type=float, default=0.5, help="share of topics stored as facts")
    parser.add_argument("--asked", choices=("otherwise",), help="in other words")
    parser.add_argument("--together", action="store_true", help="one namespace for all projects")
    parser.add_argument("--told", action="store_true", help="hosts say in which project they work")
    parser.add_argument("--missed", metavar="KIND")
    parser.add_argument("--embedder", metavar="NAME", default="auto")
    given = parser.parse_args()
    for half in given.half or stock.HALVES:
        setting = ways.Setting(given.together, given.told)
        outcomes = measured(
            half, given.seed, given.noted, given.embedder, setting, bool(given.asked)
        )
        print(*table(half, outcomes, setting), sep="\n", flush=True)
        if given.missed:
            print(*missed(outcomes["hook"], given.missed), sep="\n", flush=True)


def measured(
    half: str, seed: int, noted: float, embedder: str, setting: ways.Setting, otherwise: bool
) -> dict[str, list[Outcome]]:
    """Return what each way gave for each question."""
    life = lives.lived(half, seed, noted)
    asked = questions.asked(life, seed, otherwise)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "halfyear.db")
        units = ways.build(life, path, embedder, setting)
        with (
            clock.use(ways.Calendar(lives.NOW)),
            memstore.open(
                path, timezone=lives.ZONE.key, read_only=True, embedder=embedder
            ) as whole,
        ):
            whole.file.warm()
            return {
                name: [_outcome(one, give(one.project, one.text), units) for one in asked]
                for name, give in ways.ways(whole, setting).items()
            }


def _outcome(question: Question, text: str, units: dict[str, Unit]) -> Outcome:
    return Outcome(question, text, ways.lines_of(text, units))


def table(half: str, outcomes: dict[str, list[Outcome]], setting: ways.Setting) -> list[str]:
    """Return the lines of the table: answered by kind, then what else is told."""
    rows = [*outcomes.values()]
    asked = [one.question for one in rows[0]]
    kinds: dict[str, list[int]] = defaultdict(list)
    for place, question in enumerate(asked):
        if question.is_answerable:
            kinds[question.kind].append(place)
    whole = [place for places in kinds.values() for place in places]
    dated = [place for place in whole if asked[place].kind in TEMPORAL]
    lines = [_row(f"{half}, answered", len(whole), outcomes)]
    lines += [
        _row(kind, len(places), (_share(row[i].is_answered for i in places) for row in rows))
        for kind, places in ({"all": whole, "temporal, in all": dated} | kinds).items()
    ]
    changed = [place for place in whole if asked[place].stale]
    orders = [place for place, one in enumerate(asked) if one.kind == "order"]
    unknown = [place for place, one in enumerate(asked) if one.kind == "unknown"]
    shared = [
        place for place in whole if setting.namespace_of(asked[place].project) == lives.SHARED
    ]
    measures: tuple[tuple[str, list[int], Callable[[Outcome], bool]], ...] = (
        ("old value first, unmarked", changed, lambda one: one.is_stale_first),
        ("answerable, and no line", whole, lambda one: not one.lines),
        ("no answer, and lines", unknown, lambda one: bool(one.lines)),
        ("orders, and lines", orders, lambda one: bool(one.lines)),
    )
    lines.append("")
    for name, places, measure in measures:
        shares = (_share(measure(row[place]) for place in places) for row in rows)
        lines.append(_row(name, len(places), shares))
    parts: tuple[tuple[str, list[int], Callable[[Outcome], int]], ...] = (
        ("lines that bear on it", whole, lambda one: one.bearing),
        ("lines of other projects", shared, lambda one: one.of_others),
    )
    for name, places, part in parts:
        own = [[row[place] for place in places] for row in rows]
        ratios = (_ratio(map(part, some), (len(one.lines) for one in some)) for some in own)
        lines.append(_row(name, len(places), ratios))
    count = TokenCounter()
    sizes = (mean(count(row[place].text) for place in whole) for row in rows)
    lines.append(_row("tokens, mean", len(whole), (f"{size:.0f}" for size in sizes)))
    return lines


def missed(outcomes: Sequence[Outcome], kind: str) -> list[str]:
    return [
        f"? {one.question.text}  [{one.question.project}; {one.question.needs}]\n{one.text}"
        for one in outcomes
        if one.question.kind == kind and one.question.is_answerable and not one.is_answered
    ]


def _share(values: Iterable[bool]) -> str:
    return f"{mean(values):.2f}"


def _ratio(parts: Iterable[int], wholes: Iterable[int]) -> str:
    whole = sum(wholes)
    return f"{sum(parts) / whole:.2f}" if whole else "–"


def _row(name: str, count: int, cells: Iterable[str]) -> str:
    return f"{name:32}{count:>5}" + "".join(f"{cell:>12}" for cell in cells)


if __name__ == "__main__":
    main()
