"""Why a fact is believed, in sentences by whom: what the library explains, as a page words it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain.explanations import EntryKind
from memstore.domain.support import SupportKind
from memstore.faces.web import agents
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from memstore.domain.explanations import ExplanationEntry
    from memstore.store.store import Store

VERBS: Final = {
    SupportKind.SAID: "wrote it down",
    SupportKind.EXTRACTED: "had a model read it in what was said",
    SupportKind.RESTATED: "said it again",
    SupportKind.CONFIRMED: "confirmed it",
    SupportKind.DENIED: "wrote what may replace it,",
    EntryKind.REPLACED: "replaced",
    EntryKind.SUPERSEDED: "replaced it by",
    EntryKind.PROPOSED: "asked whether it replaces",
    EntryKind.DELETED: "deleted it",
    EntryKind.RESTORED: "restored it",
    EntryKind.PINNED: "pinned it",
    EntryKind.UNPINNED: "unpinned it",
    EntryKind.METADATA: "changed its metadata",
}
"""What somebody did, by kind; for other kinds there is the sentence of the library."""


SUPPORTS: Final = frozenset(map(str, SupportKind))


class Reason(NamedTuple):
    """One thing that bears on whether a fact is believed.

    Attributes:
        verb: what was done; empty if ``text`` is the whole sentence.
        text: the sentence of the library, or the words of the other fact.
        episode_id: the turn that has it.
        speaker: who said it there, if that was no agent.
        fact_id: the other fact, if there is one.
    """

    agent: agents.Agent
    verb: str
    text: str
    at: datetime | None
    episode_id: int | None
    speaker: str
    fact_id: int | None


def of(store: Store, entries: Iterable[ExplanationEntry]) -> list[Reason]:
    """Return the reasons in the order in which they were recorded."""
    return [_reason(store, entry) for entry in entries]


def _reason(store: Store, entry: ExplanationEntry) -> Reason:
    verb = VERBS.get(entry.kind, "")  # type: ignore[call-overload]
    is_foreign = (entry.source or "").startswith(agents.WEB)
    agent = agents.acting(entry.actor, entry.through, entry.device)
    if is_foreign and entry.kind == SupportKind.SAID:
        agent, verb = agents.of(entry.source), "says so"
    text = (entry.words or "") if verb else entry.text
    episode_id = entry.episode_id if entry.kind in SUPPORTS else None
    speaker = "" if episode_id is None else _speaker(store, episode_id)
    return Reason(agent, verb, text, entry.at, episode_id, speaker, entry.fact_id)


def _speaker(store: Store, episode_id: int) -> str:
    speaker = store.episodes.get(episode_id).speaker
    return {None: "", "assistant": "", "user": "You"}.get(speaker, speaker or "")
