"""Ten facts, a direct question about each, and notes on the same people that answer none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from memstore import NewFact, Store

ANSWERS: Final[Mapping[str, str]] = {
    "What is Alice allergic to?": "Alice is allergic to peanuts",
    "Which database does the shop use?": "The shop runs on PostgreSQL 16",
    "Where does Bruno live?": "Bruno lives in Ghent",
    "When is the rent due?": "The rent is due on the third of each month",
    "What is the name of Carla's dog?": "Carla's dog is called Biscuit",
    "Who fixes the heating?": "Mr Novak repairs the heating",
    "What port does staging listen on?": "Staging listens on port 5499",
    "What does Alice do for a living?": "Alice works as a translator",
    "How does Bruno take his coffee?": "Bruno drinks his coffee without sugar",
    "Which bank does Carla use?": "Carla has her account at Fjord Bank",
}
"""The answer by its question."""

FRESH: Final = (
    "Alice bought a new desk",
    "Alice called about the invoice",
    "Alice is reading a book on bees",
    "Bruno watched the match",
    "Bruno took the train to work",
    "Bruno asked for the slides",
    "Carla planted tomatoes",
    "Carla wrote to the landlord",
    "The shop got new chairs",
    "Staging was slow this morning",
    "Dinner was late because of the rain",
    "The heating room was painted",
)

AGES_DAYS: Final = {
    "1 day": 1, "1 month": 30, "2 months": 61, "3 months": 91, "6 months": 182, "1 year": 365,
    "3 years": 1096,
}  # fmt: skip


def fill(store: Store, age_days: float) -> None:
    """Store the answers with this age, and the other notes as of now."""
    now = datetime.now(UTC)
    then = now - timedelta(days=age_days)
    store.add_many(_note(content, then) for content in ANSWERS.values())
    store.add_many(_note(content, now) for content in FRESH)


def _note(content: str, at: datetime) -> NewFact:
    first = content.split()[0].removesuffix("'s")
    subject = first if first in ("Alice", "Bruno", "Carla") else "note"
    return NewFact(content=content, subject=subject, created_at=at)


def places(store: Store, **options: Any) -> list[int | None]:
    """Return the place of each answer among the first ten hits of its question, from 1."""
    return [_place(store, question, answer, options) for question, answer in ANSWERS.items()]


def _place(store: Store, question: str, answer: str, options: Mapping[str, Any]) -> int | None:
    hits = store.search(question, touch=False, **options)
    found = [hit.fact.content for hit in hits]
    return found.index(answer) + 1 if answer in found else None


def within(found: list[int | None], places: int) -> int:
    """Return how many answers are among the first so many hits."""
    return sum(place is not None and place <= places for place in found)
