"""The facts that a session begins with: about the user, and about the project."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.database.tables import facts as fact_table
from memstore.embedding.vectors import numbers, similarities
from memstore.frozen import replace
from memstore.providers.local import HAS_MODEL, LocalEmbedder
from memstore.text.folding import folded, subject_key
from memstore.text.lexicon import NEGATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter
    from memstore.domain.records import Fact

ABOUT_THE_USER: Final = ("identity", "preference")
"""Their order counts among facts that were used equally often."""

MAX_CONSIDERED: Final = 25
"""Facts of one kind that are considered; more than fit."""

MAX_USED: Final = 100
"""Used facts of a project that are considered; the age of the last use orders them."""

HALF_LIFE_DAYS: Final = 60.0
"""After so long without use, a fact of a project counts as used half as often. Facts about the user
keep their place, because a person changes less than a project."""

MAX_COMPARED_CHARACTERS: Final = 400
"""Characters of a fact that are compared with others."""

NUMBER: Final = re.compile(r"\d+(?:[.:,]\d+)*")

SECONDS_PER_DAY: Final = 86_400

SAME: Final = 0.91
"""From this cosine of the built-in model on, two claims about one subject say the same, unless they
differ in a number or only one is a denial. Restated claims have 0.92 and more; claims that differ
in one value, such as a name, less than 0.91."""


class Chosen(NamedTuple):
    """Facts in order, the most important one first."""

    user: list[Fact]
    project: list[Fact]
    newest: list[Fact]
    """Facts of the project that are neither pinned nor used."""


def chosen(transaction: Transaction, wanted: FactFilter, own: str) -> Chosen:
    """Return the facts for a session, none of them twice and no two that say the same.

    Those about the user, and pinned ones, come from every namespace; the others from the ``own``.
    """
    homes = [replace(wanted, namespaces=(name,)) for name in wanted.namespaces or ()]
    project = replace(wanted, namespaces=(own,))
    pinned = [fact for home in homes for fact in _newest(transaction, replace(home, pinned=True))]
    of_user = [fact for fact in pinned if subject_key(fact.category) in ABOUT_THE_USER]
    others = [fact for fact in pinned if subject_key(fact.category) not in ABOUT_THE_USER]
    told = Shown()
    return Chosen(
        [*told.new((*of_user, *_about_the_user(transaction, homes)))],
        [*told.new((*others, *_used(transaction, project)))],
        [
            *told.new(
                fact_table.newest_without(transaction, project, ABOUT_THE_USER, MAX_CONSIDERED)
            )
        ],
    )


def _about_the_user(transaction: Transaction, homes: Iterable[FactFilter]) -> Iterator[Fact]:
    """Yield the facts used most; among equals who the user is, then the newest."""
    found = [
        fact
        for home in homes
        for some in (
            fact_table.most_used(transaction, home, ABOUT_THE_USER, MAX_CONSIDERED),
            *(_newest(transaction, replace(home, category=one)) for one in ABOUT_THE_USER),
        )
        for fact in some
    ]
    yield from sorted(
        found,
        key=lambda fact: (
            -_uses(fact),
            ABOUT_THE_USER.index(subject_key(fact.category)),
            -fact.created_at.timestamp(),
        ),
    )


def _newest(transaction: Transaction, wanted: FactFilter) -> Iterator[Fact]:
    return fact_table.select(transaction, wanted, limit=MAX_CONSIDERED, newest_first=True)


def _used(transaction: Transaction, wanted: FactFilter) -> list[Fact]:
    """Return the project's facts that are used, ordered by how often and how lately."""
    used = fact_table.most_used(transaction, wanted, ABOUT_THE_USER, MAX_USED, of=False)
    return sorted(used, key=lambda fact: -_weight(fact, wanted.now))[:MAX_CONSIDERED]


def _uses(fact: Fact) -> int:
    return fact.confirmed_count + fact.use_count


def _weight(fact: Fact, now: datetime) -> float:
    last = max(at for at in (fact.last_used_at, fact.last_confirmed_at, fact.created_at) if at)
    days = max(0.0, (now - last).total_seconds() / SECONDS_PER_DAY)
    return float(_uses(fact) * 0.5 ** (days / HALF_LIFE_DAYS))


class Claim(NamedTuple):
    """What a fact claims, in the form in which claims are compared."""

    subject: str
    numbers: tuple[str, ...]
    denied: bool
    text: str
    vector: bytes
    """Empty in a build without a model, where only equal texts say the same."""


class Shown:
    """The facts told so far, to leave out those that say the same again."""

    def __init__(self) -> None:
        self._ids: set[int] = set()
        self._claims: dict[tuple[str, tuple[str, ...], bool], list[Claim]] = {}

    def new(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Yield the facts that no earlier one repeats."""
        fresh = {fact.id: fact for fact in facts if fact.id not in self._ids}
        for fact, claim in zip(fresh.values(), _claims([*fresh.values()]), strict=True):
            self._ids.add(fact.id)
            known = self._claims.setdefault(claim[:3], [])
            if not _is_known(claim, known):
                known.append(claim)
                yield fact


def _is_known(claim: Claim, known: Sequence[Claim]) -> bool:
    if any(claim.text == one.text for one in known):
        return True
    vectors = [one.vector for one in known] if claim.vector else []
    return bool(vectors) and any(
        near >= SAME for near in similarities(numbers(claim.vector), vectors)
    )


def _claims(facts: Sequence[Fact]) -> Iterator[Claim]:
    texts = [folded(fact.content[:MAX_COMPARED_CHARACTERS]) for fact in facts]
    vectors = LocalEmbedder().embed_bytes(texts) if HAS_MODEL else [b""] * len(texts)
    for fact, text, vector in zip(facts, texts, vectors, strict=True):
        told = tuple(sorted(set(NUMBER.findall(text))))
        yield Claim(subject_key(fact.subject), told, _denies(text), text, vector)


def _denies(text: str) -> bool:
    words = text.replace("’", "'").replace("n't", " not").split()
    return not NEGATIONS.isdisjoint(words)
