"""Facts and questions with the word frequencies of a language, from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random
from typing import Any, Final

from memstore.text.stop_words import ENGLISH

VOCABULARY: Final = 50_000
SYLLABLES: Final = "ka ro mi ten sol ver du lan pe xi gor ba qu shi net ar el um".split()
TOPICS: Final = """
    deploy script home server billing service reading list train ticket data pipeline
    sourdough starter vacation plan design review backup job search index garden tax return staging
    cluster onboarding guide kitchen music project database python rust travel coffee tea meeting
    invoice contract doctor appointment school flight hotel photo camera bicycle engine battery
    solar panel window dinner recipe birthday gift budget salary team office laptop printer
    password account email calendar task deadline release bug feature customer support order payment
""".split()
CATEGORIES: Final = ("note", "preference", "identity", "project", "world")
FACTS_OF_A_SUBJECT: Final = 50
START: Final = datetime(2024, 1, 1, tzinfo=UTC)


class Language:
    """Texts whose content words have Zipf's frequencies; every second word is a stop word.

    The frequent ones are English, so that an embedding model knows them, and the others invented.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._stop_words = sorted(ENGLISH)
        self._words = TOPICS + [_spelled(rank) for rank in range(VOCABULARY - len(TOPICS))]
        self._weights = [*accumulate(1 / (rank + 5) for rank in range(VOCABULARY))]

    def text(self, shortest: int, longest: int) -> str:
        """Return a text of so many words."""
        size = self.random.randint(shortest, longest)
        words = self.random.choices(self._words, cum_weights=self._weights, k=(size + 1) // 2)
        words += self.random.choices(self._stop_words, k=size // 2)
        self.random.shuffle(words)
        return " ".join(words)

    def question(self) -> str:
        """Return a question of 5 to 12 words."""
        return self.text(5, 12) + "?"


def facts(count: int) -> Iterator[dict[str, Any]]:
    """Yield arguments of ``Store.add``: 5 to 25 words, a narrow subject, metadata, a past."""
    language = Language(seed=7)
    subjects = max(1, count // FACTS_OF_A_SUBJECT)
    for number in range(count):
        chance = language.random
        yield {
            "content": language.text(5, 25),
            "subject": f"subject {chance.randrange(subjects)}",
            "category": chance.choice(CATEGORIES),
            "metadata": {"n": number, "project": chance.choice(TOPICS)},
            "created_at": START + timedelta(days=900 * number / count),
        }


def questions(count: int) -> list[str]:
    """Return natural questions."""
    language = Language(seed=11)
    return [language.question() for _ in range(count)]


def _spelled(rank: int) -> str:
    spelling = Random(rank)
    syllables = spelling.choices(SYLLABLES, k=spelling.randint(1, 4))
    return "".join(syllables) + (str(rank) if rank % 2 else "")
