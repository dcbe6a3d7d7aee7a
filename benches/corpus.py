"""Facts like those of agents: seeded, with realistic lengths and word frequencies."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

PEOPLE = ["alice", "bob", "chen", "dana", "emeka", "farah", "goran", "hana", "ivan", "jun"]
THINGS = [
    "deploy script", "home server", "billing service", "reading list", "train ticket",
    "data pipeline", "sourdough starter", "vacation plan", "design review", "backup job",
    "search index", "garden", "tax return", "staging cluster", "onboarding guide",
]  # fmt: skip
PLACES = ["Berlin", "Osaka", "Lisbon", "Toronto", "Nairobi", "Oslo", "Lima", "Zagreb", "Pune"]
PATTERNS = [
    "{person} prefers the {thing} to be finished before {day} each week",
    "The {thing} for {person} runs on machine {word}-{number} in {place}",
    "{person} moved to {place} in {year} and works on the {thing}",
    "{person} said that the {thing} failed {number} times because of {word}",
    "We decided to rewrite the {thing} in {word}, since {person} knows it best",
    "{person}'s favourite {word} is the one from {place}, bought in {year}",
    "The {thing} costs {number} euros a month; {person} pays it from the {word} account",
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
CATEGORIES = ["note", "preference", "identity", "project", "world"]
SYLLABLES = ["ka", "ro", "mi", "ten", "sol", "ver", "du", "lan", "pe", "xi", "gor", "ba", "qu"]


def _word(chance: random.Random) -> str:
    """Return one of about 2,000 invented words, rare ones less often."""
    rank = min(1999, int(chance.paretovariate(0.6)))
    spelling = random.Random(rank)
    return "".join(spelling.choices(SYLLABLES, k=spelling.randint(2, 4)))


def facts(count: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Yield arguments of ``Store.add``."""
    chance = random.Random(seed)
    for number in range(count):
        person = chance.choice(PEOPLE)
        content = chance.choice(PATTERNS).format(
            person=person.title(),
            thing=chance.choice(THINGS),
            day=chance.choice(DAYS),
            place=chance.choice(PLACES),
            year=chance.randint(1990, 2026),
            number=chance.randint(2, 999),
            word=_word(chance),
        )
        yield {
            "content": content,
            "subject": person,
            "category": chance.choice(CATEGORIES),
            "metadata": {"n": number, "project": chance.choice(THINGS)},
        }


def questions(count: int, seed: int = 11) -> list[str]:
    """Return natural questions whose words stand in some of the facts."""
    chance = random.Random(seed)
    forms = [
        "where does the {thing} of {person} run?",
        "when did {person} move to {place}?",
        "what does {person} think about the {thing}",
        "{word} {thing}",
        "who pays for the {thing}?",
    ]
    return [
        chance.choice(forms).format(
            person=chance.choice(PEOPLE).title(),
            thing=chance.choice(THINGS),
            place=chance.choice(PLACES),
            word=_word(chance),
        )
        for _ in range(count)
    ]
