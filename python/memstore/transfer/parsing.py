"""Reading and checking a whole export before anything is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import TextIOBase
from typing import TYPE_CHECKING, Any

from memstore.domain.arguments import why_no_json
from memstore.domain.chains import circles
from memstore.errors import InvalidArgumentType, Remedy, TransferError
from memstore.transfer import attachments, lines, long_lines
from memstore.transfer.attachments import Attached

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact, JournalLine


@dataclass(slots=True)
class Incoming:
    """The checked records of an import, with the ids of the source."""

    facts: list[Fact] = field(default_factory=list)
    operations: dict[int, list[JournalLine]] = field(default_factory=dict)
    """The journal lines of each fact, by its id."""
    episodes: list[Episode] = field(default_factory=list)
    episode_operations: dict[int, list[JournalLine]] = field(default_factory=dict)
    attached: Attached = field(default_factory=Attached)
    digest: str = ""
    """A hash of the lines, to recognise the same import."""

    def mark(self, namespace: str | None) -> str:
        """Return a name for the import of these records into a namespace."""
        return hashlib.sha256(f"{self.digest}\n{namespace or ''}".encode()).hexdigest()[:32]

    @property
    def namespaces(self) -> set[str]:
        decided = {namespace for namespace, _ in self.attached.decisions}
        logged = {episode.namespace for episode in self.episodes}
        return {fact.namespace for fact in self.facts} | logged | decided


def read(export: Iterable[str], *, unverified: bool = False) -> Incoming:
    """Read and check a whole export; an error names the first invalid line.

    Args:
        export: its lines.
        unverified: take one that was changed since it was written.
    """
    if isinstance(export, str | bytes) or not isinstance(export, Iterable):
        raise InvalidArgumentType(
            f"must be the lines of an export, not {type(export).__name__}", argument="lines"
        )
    incoming = Incoming()
    header: dict[str, Any] = {}
    seen: set[object] = set()
    digest = hashlib.sha256()
    written: lines.Digest | None = None
    if isinstance(export, TextIOBase):
        export = long_lines.of_export(export)
    for number, text in enumerate(export, 1):
        try:
            if not lines.of_type(str, text, "a line").strip():
                continue
            digest.update(text.strip().encode("utf-8", "replace"))
            value = _object(text)
            if written is not None:
                written.add(text)
                _take(incoming, value, seen)
            else:
                _check_header(value)
                header = value
                written = lines.Digest({k: v for k, v in value.items() if k != "hash"})
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise TransferError(f"{what}; nothing was imported", place=f"line {number}") from None
    if written is None:
        raise TransferError("the export is empty; nothing was imported")
    incoming.digest = digest.hexdigest()
    _check_counts(header, incoming)
    _check_episodes(incoming)
    _check_chains(incoming.facts)
    if not unverified:
        _check_unchanged(header, written)
    return incoming


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({why_no_json(error)})") from None
    return lines.of_type(dict, value, "this")


def _check_header(value: Mapping[str, Any]) -> None:
    if value.get("memstore") != "export":
        raise ValueError('not the first line of an export ({"memstore": "export", …})')
    if value.get("format") != lines.FORMAT:
        raise ValueError(
            f"format {value.get('format')!r} is unknown; this version reads {lines.FORMAT}"
        )


def _take(incoming: Incoming, value: Mapping[str, Any], seen: set[object]) -> None:
    attached = incoming.attached
    match value:
        case {"fact": dict(values)}:
            incoming.facts.append(fact := lines.fact_in(values))
            _check_identity("a fact", ("fact", fact.id), fact, seen)
            if fact.episode_id is not None:
                attachments.known_id("episode", fact.episode_id, seen)
        case {"episode": dict(values)}:
            incoming.episodes.append(episode := lines.episode_in(values))
            _check_identity("an episode", ("episode", episode.id), episode, seen)
        case {"operation": dict(values)}:
            about = "episode" if "episode" in values else "fact"
            id_ = attachments.known_id(about, values.get(about), seen)
            kept = incoming.operations if about == "fact" else incoming.episode_operations
            kept.setdefault(id_, []).append(lines.operation_in(values))
        case {"proposal": dict(values)}:
            attached.proposals.append(proposal := attachments.proposal_in(values, seen))
            _check_new("id", "a proposal", ("proposal", proposal.id), seen)
        case {"reading": dict(values)}:
            attached.readings.append(attachments.reading_in(values, seen))
        case {"reply": dict(values)}:
            attached.replies.append(attachments.reply_in(values, seen))
        case {"trust": dict(values)}:
            attached.levels.append(attachments.level_in(values))
        case {"decision": dict(values)}:
            attached.decisions.append(attachments.decision_in(values))
        case _:
            raise ValueError("an unknown kind of line")


def _check_identity(
    kind: str, id_: tuple[str, int], one: Fact | Episode, seen: set[object]
) -> None:
    _check_new("id", kind, id_, seen)
    _check_new("uuid", kind, (kind, one.namespace, one.uuid), seen)


def _check_new(name: str, kind: str, identity: object, seen: set[object]) -> None:
    if identity in seen:
        raise ValueError(f"has the same {name} as {kind} before it")
    seen.add(identity)


def _check_counts(header: Mapping[str, Any], incoming: Incoming) -> None:
    """Compare the counts with the first line, to detect a truncated file."""
    operations = (*incoming.operations.values(), *incoming.episode_operations.values())
    found = {
        "facts": len(incoming.facts),
        "operations": sum(map(len, operations)),
        "episodes": len(incoming.episodes),
        **incoming.attached.counts(),
    }
    for name, number in found.items():
        if header.get(name, number) != number:
            raise TransferError(
                f"the export is truncated or was changed: its first line announces {header[name]} "
                f"{name}, but it contains {number}; nothing was imported"
            )


def _check_unchanged(header: Mapping[str, Any], written: lines.Digest) -> None:
    """Compare the lines with the hash in the first one; exports of older versions have none."""
    if not any(key in header for key in lines.HEAD_KEYS):
        return
    if header.get("hash") != written.text or "head" not in header:
        raise TransferError(
            "the export was changed after it was written: its lines do not have the hash that the "
            "first one names; nothing was imported",
            remedy=Remedy.IMPORT_UNVERIFIED,
        )


def _check_episodes(incoming: Incoming) -> None:
    homes = {episode.id: episode.namespace for episode in incoming.episodes}
    for fact in incoming.facts:
        if fact.episode_id is not None and homes[fact.episode_id] != fact.namespace:
            raise _broken(
                f"fact {fact.id} refers to episode {fact.episode_id} of another namespace"
            )


def _check_chains(facts: Iterable[Fact]) -> None:
    """Refuse a successor that is missing or in another namespace, and chains that never end."""
    known = {fact.id: fact for fact in facts}
    for fact in known.values():
        if fact.superseded_by is None:
            continue
        successor = known.get(fact.superseded_by)
        if successor is None:
            raise _broken(
                f"fact {fact.id} is superseded by fact {fact.superseded_by}, which is not in the "
                "export"
            )
        if successor.namespace != fact.namespace:
            raise _broken(f"fact {successor.id} supersedes a fact of another namespace")
    for first, *_ in circles({fact.id: fact.superseded_by for fact in known.values()}):
        raise _broken(f"facts supersede each other in a circle at fact {first}")


def _broken(what: str) -> TransferError:
    return TransferError(f"{what}; nothing was imported")
