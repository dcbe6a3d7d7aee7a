"""Quotes, in an export, of what was erased here: an import leaves them out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.history.erasing import SAID
from memstore.history.reasons import facts_in, number_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact
    from memstore.transfer.parsing import Incoming

R = TypeVar("R", "Fact", "Episode")

SHORT: Final = 4
"""A text with fewer characters than this is no quote by itself; it would be in every other one."""


@dataclass(slots=True)
class ErasedHere:
    """What was erased here and has its text in the export, by the ids there."""

    facts: dict[int, Fact] = field(default_factory=dict)
    episodes: dict[int, Episode] = field(default_factory=dict)

    def look_up(self, transaction: Transaction, incoming: Incoming, namespace: str | None) -> None:
        """Note what was erased here, before anything that may quote it is imported."""
        _note(transaction, fact_table, incoming.facts, namespace, self.facts)
        _note(transaction, episode_table, incoming.episodes, namespace, self.episodes)

    def unquoted(self, evidence: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return evidence without its quotes of what was erased."""
        if not evidence or not (self.facts or self.episodes):
            return None if evidence is None else dict(evidence)
        if not self.facts.keys().isdisjoint(facts_in(evidence)):
            # It was compared with an erased fact, so any of its texts may be about that one.
            return {name: part for name, part in evidence.items() if not _has_text(part)}
        is_caused = number_in(evidence, "episode") in self.episodes
        return {
            name: part
            for name, part in evidence.items()
            if not ((is_caused and name == SAID) or self._is_quote(part))
        }

    def quoted_in(self, text: str) -> bool:
        """Return whether a text, or JSON in ASCII, contains the text of an erased fact."""
        return any(
            form in text
            for content in self._texts()
            for form in (content, json.dumps(content)[1:-1])
        )

    def _is_quote(self, part: Any) -> bool:
        return any(
            text in one or (len(one) >= SHORT and one in text)
            for one in _strings(part)
            for text in self._texts()
        )

    def _texts(self) -> Iterator[str]:
        facts = (fact.content for fact in self.facts.values())
        episodes = (episode.content for episode in self.episodes.values())
        return (text for text in chain(facts, episodes) if len(text) >= SHORT)


class _QuoteTable(Protocol):
    def erased_among(
        self, transaction: Transaction, namespace: str, uuids: Sequence[str]
    ) -> set[str]: ...


def _note(
    transaction: Transaction,
    table: _QuoteTable,
    records: Sequence[R],
    namespace: str | None,
    noted: dict[int, R],
) -> None:
    """Note those of the records that have a text there, and were erased here."""
    told = [one for one in records if one.content]
    for home in {namespace or one.namespace for one in told}:
        those = [one for one in told if (namespace or one.namespace) == home]
        erased = table.erased_among(transaction, home, [one.uuid for one in those])
        noted.update((one.id, one) for one in those if one.uuid in erased)


def _has_text(part: Any) -> bool:
    return any(True for _ in _strings(part))


def _strings(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for name, one in part.items():
            yield name
            yield from _strings(one)
    elif isinstance(part, list | tuple):
        for one in part:
            yield from _strings(one)
