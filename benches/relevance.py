"""What the least relevance hides, and what it lets through, with and without exact words.

``python -m benches.relevance DATA_FOLDER``, with the folder that ``finding/sets.py`` describes.

Memories are 20 facts each, and whole conversations as facts and as turns. ``two words`` are
questions of a word that one of the 20 facts has, and few of all facts, and a word of none: those
that find nothing count. ``exact`` are long questions with a path, version, number or name of a
program that one of 20 generated facts has. ``other topics`` are the questions of the scientific
sets: those that find something count. ``own`` are the questions about the conversation: those that
find nothing count.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import memstore
from benches.finding import sets
from memstore import Store
from memstore.search.lookups.indexed import IndexLookup
from memstore.settings import MIN_RELEVANCE
from memstore.text.words import terms

SIZE = 20
EVERY = 60
"""One memory of 20 facts is made of each 60."""
OTHERS = "port usage version meaning again details config status plan price".split()

DID = ("moved", "renamed", "fixed", "reviewed", "reverted", "measured", "documented", "deployed")
WHAT = ("the parser", "the scheduler", "a migration", "the gateway", "the import", "the report")
ASKS = (
    "what did we decide about {} after the long meeting last week",
    "does anybody still remember why {} was ever needed by the others",
    "{} usage",
    "is it safe to change {} before the next release of the product",
)


class Counts:
    """Questions with a wrong outcome, of all that were asked, by kind."""

    def __init__(self) -> None:
        self.wrong: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()

    def ask(self, kind: str, store: Store, questions: Sequence[str], *, finds: bool) -> None:
        for hits in store.search_batch(questions, min_relevance=MIN_RELEVANCE):
            self.wrong[kind] += bool(hits) != finds
            self.asked[kind] += 1

    def __str__(self) -> str:
        each = (f"{kind}: {self.wrong[kind]} of {asked}" for kind, asked in self.asked.items())
        return ", ".join(each)


def filled(contents: Sequence[tuple[str, str]]) -> Store:
    store = memstore.open(":memory:")
    store.add_many({"content": content, "subject": subject} for content, subject in contents)
    return store


def generated(seed: int) -> Iterator[tuple[str, str]]:
    """Yield facts, each with the identifier in it."""
    rnd = random.Random(seed)
    for place in range(SIZE):
        name = "".join(rnd.choices("bcdfghklmnprstvz", k=4)) + rnd.choice("aeiou")
        exact = (
            f"{name}.sh",
            f"src/{name}/{name[::-1]}.py",
            f"{rnd.randrange(2, 90)}.{rnd.randrange(90)}.{rnd.randrange(9)}",
            f"{rnd.randrange(10_000, 60_000)}",
            f"{name}_limit",
            f"{name}{rnd.randrange(10, 99)}",
        )[place % 6]
        yield f"On a {name}day we {rnd.choice(DID)} {rnd.choice(WHAT)} for {exact}", exact


def two_words(contents: Sequence[str], of_all: Counter[str], rnd: random.Random) -> list[str]:
    held = Counter(word for content in contents for word in _words(content))
    rare = [word for word, count in held.items() if count == 1 and of_all[word] <= 2]
    none = [word for word in OTHERS if word not in held]
    rare = [word for word in rare if len(word) > 2]
    pairs = ((word, rnd.choice(none)) for word in rnd.sample(rare, min(20, len(rare))))
    return [" ".join(rnd.sample(pair, 2)) for pair in pairs]


def _words(content: str) -> set[str]:
    return {word.casefold() for word in terms(content)}


def counted(units: dict[str, sets.Labelled], elsewhere: Sequence[str]) -> Counts:
    counts, rnd = Counts(), random.Random(7)
    facts = [*units["locomofact-dev"].units.values()]
    of_all = Counter(word for each in facts for unit in each for word in _words(unit["text"]))
    for each in facts:
        for start in range(0, len(each) - SIZE, EVERY):
            some = [(unit["text"], unit["speaker"]) for unit in each[start : start + SIZE]]
            with filled(some) as store:
                questions = two_words([content for content, _ in some], of_all, rnd)
                counts.ask("two words", store, questions, finds=True)
                counts.ask("other topics, 20 facts", store, elsewhere, finds=False)
    for seed in range(10):
        made = [*generated(seed)]
        with filled([(content, "note") for content, _ in made]) as store:
            questions = [ask.format(exact) for _, exact in made for ask in ASKS]
            counts.ask("exact", store, questions, finds=True)
            counts.ask("other topics, generated facts", store, elsewhere, finds=False)
    for name in ("locomofact-dev", "locomo-dev"):
        asked = units[name].questions
        for conversation, each in units[name].units.items():
            with filled([(unit["text"], unit["speaker"]) for unit in each]) as store:
                counts.ask(f"other topics, {name}", store, elsewhere, finds=False)
                own = [one.text for one in asked if one.store == conversation]
                counts.ask(f"own, {name}", store, own, finds=True)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    folder: Path = parser.parse_args().data
    names = ("locomofact-dev", "locomo-dev", "scifact", "cranfield")
    units = {
        name: sets.Labelled(name, *sets.labelled_units(folder / name), folder) for name in names
    }
    elsewhere = [one.text for name in names[2:] for one in units[name].questions]
    print("with exact words:   ", counted(units, elsewhere))
    of_hits = IndexLookup.relevances_of_hits
    IndexLookup.relevances_of_hits = IndexLookup.relevances  # type: ignore[method-assign]
    print("without exact words:", counted(units, elsewhere))
    IndexLookup.relevances_of_hits = of_hits  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
