"""What the prompt hook gives: answers that stand in the context, and lines that nobody needs.

    python -m benches.finding.prompts DATA_FOLDER [--turns 100000] [--folder FOLDER]

The conversations of ``locomo-dev`` are kept as the hooks keep them: turns of a user and an
assistant, a session a thread, no facts. Its questions are the prompts of a later session; an answer
counts if a turn that answers is shown whole. ``without names`` has a pronoun in place of each
speaker's name. Settings were chosen on every other conversation, the first ``half``. Of the ten
languages, ``questions`` are those of ``tests/search/questions`` over their facts, said by a user,
and ``said`` those of ``said.toml``, which no threshold was chosen on. The others,
:mod:`benches.finding.ordinary` and the questions of the scientific sets, should get nothing; each
is asked of every conversation, those of the sets of one. Times are of a prompt over this many
turns, with the index loaded from its files.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, cycle
from operator import not_
from pathlib import Path
from typing import Any

import memstore
from benches.finding import ordinary, sets
from memstore import Store
from memstore.faces.hosts import recalling
from memstore.telling.recall import Recalled

TOKENS = recalling.BUDGET_TOKENS - recalling.AROUND_TOKENS
LANGUAGES = Path(__file__).parents[2] / "tests" / "search" / "questions"
SAID = Path(__file__).parent / "said.toml"
NOT_HERE = ("scifact", "cranfield")
AT_ONCE = 5000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=Path("benches/.made/finding"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    units, questions = sets.labelled_units(asked.data / "locomo-dev")
    with kept(asked.folder / "prompts.db", units) as store:
        stores = {name: store.within(name) for name in units}
        for number, half in enumerate(halves(units, questions), start=1):
            tell_answers(f"LoCoMo, half {number}", stores, half)
            nameless = [unnamed(one, units[one.store]) for one in half]
            tell_answers("the same, without names", stores, nameless)
        tell_questions()
        tell_said()
        others = ordinary.prompts()
        for kind, prompts in others.items():
            tell_others(kind, [(own, one) for own in stores.values() for one in prompts])
        for name in NOT_HERE:
            texts = [one.text for one in sets.labelled_units(asked.data / name)[1]]
            tell_others(name, [*zip(cycle(stores.values()), texts, strict=False)])
    path = asked.folder / f"prompts-{asked.turns}.db"
    with grown(path, units, asked.turns) as store:
        tell_times("questions", store, [one.text for one in questions[::4]])
        for kind, prompts in others.items():
            tell_times(kind, store, prompts)


def halves(
    units: Iterable[str], questions: Sequence[sets.Question]
) -> tuple[list[sets.Question], list[sets.Question]]:
    """Return the questions of every other conversation, and those of the rest."""
    first = {*[*units][::2]}
    of_first = [one.store in first for one in questions]
    return (
        [*compress(questions, of_first)],
        [*compress(questions, map(not_, of_first))],
    )


def said(units: Sequence[dict[str, Any]], session: str) -> Iterator[dict[str, Any]]:
    """Yield turns as the hooks keep them: the one who speaks first is the user."""
    for unit in units:
        role = "user" if unit["speaker"] == units[0]["speaker"] else "assistant"
        row = sets.as_row(unit) | {"source": "claude-code", "speaker": role, "tags": ["session"]}
        yield row | {"thread": f"{session}/{row['thread']}"}


def kept(path: Path, units: dict[str, list[dict[str, Any]]]) -> Store:
    if not path.exists():
        with memstore.open(path) as file:
            for name, own in units.items():
                file.within(name).episodes.add_many(said(own, name))
            file.file.embed_pending()
            file.file.save_index()
    return opened(path)


def grown(path: Path, units: dict[str, list[dict[str, Any]]], turns: int) -> Store:
    """Return a store whose one namespace has the turns of all conversations again and again."""
    if not path.exists():
        with memstore.open(path) as store:
            rounds = (round_of(units, number) for number in range(turns))
            left = turns
            for rows in rounds:
                store.episodes.add_many(rows[:left])
                left -= len(rows[:left])
                if not left:
                    break
            store.file.embed_pending()
            store.file.save_index()
    return opened(path)


def round_of(units: dict[str, list[dict[str, Any]]], number: int) -> list[dict[str, Any]]:
    rows = [row for name, own in units.items() for row in said(own, f"{name}/{number}")]
    return [row | {"idempotency_key": f"{number}/{row['idempotency_key']}"} for row in rows]


def opened(path: Path) -> Store:
    store = memstore.open(path, read_only=True)
    store.file.warm()
    return store


def tell_answers(name: str, stores: dict[str, Store], questions: Iterable[sets.Question]) -> None:
    answered, told = [], []
    for question in questions:
        store = stores[question.store]
        found = store.remind(question.text, max_tokens=TOKENS)
        units = {store.episodes.get(each).idempotency_key for each in shown_whole(found)}
        answered.append(bool(units & question.grades.keys()))
        told.append(bool(found.text))
    tell(name, len(told), f"answered {statistics.mean(answered):.3f}", told)


def shown_whole(found: Recalled) -> list[int]:
    lines = {line.split(" ", 1)[0]: line for line in found.text.split("\n")}
    return [each for each in found.episodes if not lines[f"e{each}"].endswith("…")]


def unnamed(question: sets.Question, units: Sequence[dict[str, Any]]) -> sets.Question:
    text = question.text
    for speaker in {unit["speaker"] for unit in units}:
        text = re.sub(rf"\b{speaker}['’]s\b", "their", text)
        text = re.sub(rf"\b{speaker}\b", "they", text)
    return sets.Question(question.store, text, question.grades)


def tell_questions() -> None:
    for path in sorted(LANGUAGES.glob("*.toml")):
        held = tomllib.loads(path.read_text(encoding="utf-8"))
        facts = {name: dict(fact) for name, fact in held["facts"].items()}
        right = {
            question: one if isinstance(one, list) else [one]
            for question, one in (held["first"] | held.get("asked", {})).items()
        }
        for fact in facts.values():
            del fact["subject"]
        tell_few(f"questions, {path.stem}", facts, right, held["nothing"]["queries"])


def tell_said() -> None:
    for language, held in tomllib.loads(SAID.read_text(encoding="utf-8")).items():
        facts = {str(place): {"content": text} for place, text in enumerate(held["said"])}
        right = {question: [str(place)] for question, place in held["asked"]}
        tell_few(f"said, {language}", facts, right, held["others"])


def tell_few(
    name: str,
    facts: dict[str, dict[str, Any]],
    right: dict[str, list[str]],
    elsewhere: Sequence[str],
) -> None:
    """Tell what a memory of a few turns gives, and how many of the others get something."""
    answered, told = [], []
    with memstore.open(":memory:") as store:
        ids = {}
        for fact, row in facts.items():
            [turn] = store.episodes.add_many([row | {"source": "host", "speaker": "user"}])
            ids[fact] = turn.id
        for question, facts_asked in right.items():
            found = store.remind(question, max_tokens=TOKENS)
            answered.append(any(ids[one] in found.episodes for one in facts_asked))
            told.append(bool(found.text))
        orders = f"{ordinary.ELSEWHERE}\n{ordinary.ORDERS}".split("\n")
        useless = [bool(store.remind(one).text) for one in (*elsewhere, *orders)]
    others = f"others {sum(useless[: len(elsewhere)])} of {len(elsewhere)}, orders "
    others += f"{statistics.mean(useless[len(elsewhere) :]):.3f}"
    tell(name, len(told), f"answered {statistics.mean(answered):.3f}, {others}", told)


def tell_others(kind: str, asked: Sequence[tuple[Store, str]]) -> None:
    told = [bool(store.remind(one, max_tokens=TOKENS).text) for store, one in asked]
    tell(kind, len(told), "", told)


def tell(name: str, count: int, what: str, told: Sequence[bool]) -> None:
    print(f"{name:28} {count:6} prompts, some {statistics.mean(told):.3f} {what}", flush=True)


def tell_times(kind: str, store: Store, prompts: Sequence[str]) -> None:
    took = defaultdict(list)
    for prompt in prompts:
        clock, processor = time.perf_counter(), time.process_time()
        store.remind(prompt, max_tokens=TOKENS)
        took["clock"].append((time.perf_counter() - clock) * 1000)
        took["processor"].append((time.process_time() - processor) * 1000)
    median, most = statistics.median(took["clock"]), statistics.median(took["processor"])
    late = statistics.quantiles(took["processor"], n=20)[-1]
    print(f"{kind:28} {median:.1f} ms; processor {most:.1f} ms, 95th of 100 {late:.1f} ms")


if __name__ == "__main__":
    main()
