"""Reading an export whole, and checking it, before anything of it is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memstore.errors import TransferError
from memstore.transfer import attachments, lines
from memstore.transfer.attachments import Attached

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memstore.domain.records import Episode, Fact, Operation


@dataclass(slots=True)
class Incoming:
    """What is to come in, checked. Ids are those of where it comes from."""

    facts: list[Fact] = field(default_factory=list)
    operations: dict[int, list[Operation]] = field(default_factory=dict)
    """On facts, by the fact's id."""
    episodes: list[Episode] = field(default_factory=list)
    episode_operations: dict[int, list[Operation]] = field(default_factory=dict)
    attached: Attached = field(default_factory=Attached)

    @property
    def namespaces(self) -> set[str]:
        """The namespaces it comes from."""
        decided = {namespace for namespace, _ in self.attached.decisions}
        logged = {episode.namespace for episode in self.episodes}
        return {fact.namespace for fact in self.facts} | logged | decided


def read(export: Iterable[str]) -> Incoming:
    """Read an export whole, and check it before anything is written.

    Raises:
        TransferError: the first thing that is wrong, with its line.
    """
    incoming = Incoming()
    header: dict[str, Any] = {}
    seen: set[object] = set()
    for number, value in lines.objects(export):
        if not header:
            lines.check_header(number, value)
            header = value
        else:
            _take(incoming, number, value, seen)
    if not header:
        raise TransferError("the export is empty; nothing was imported")
    _check_counts(header, incoming)
    check_chains(incoming.facts)
    return incoming


def _take(incoming: Incoming, number: int, value: Mapping[str, Any], seen: set[object]) -> None:
    match value:
        case {"fact": dict(values)}:
            fact = lines.fact_in(number, values)
            _check_identity(number, "fact", fact, seen)
            incoming.facts.append(fact)
        case {"episode": dict(values)}:
            episode = lines.episode_in(number, values)
            _check_identity(number, "episode", episode, seen)
            incoming.episodes.append(episode)
        case {"operation": dict(values)}:
            about, id_, operation = lines.operation_in(number, values)
            if (about, id_) not in seen:
                raise lines.bad(number, f"speaks of {about} {id_}, which no line before it holds")
            kept = incoming.operations if about == "fact" else incoming.episode_operations
            kept.setdefault(id_, []).append(operation)
        case _:
            if not attachments.take(incoming.attached, number, value, seen):
                raise lines.bad(number, "is neither a fact nor an episode nor what belongs to one")


def _check_identity(number: int, kind: str, one: Fact | Episode, seen: set[object]) -> None:
    for name, identity in (("id", (kind, one.id)), ("uuid", (kind, one.namespace, one.uuid))):
        if identity in seen:
            raise lines.bad(number, f"has the same {name} as {_a(kind)} before it")
        seen.add(identity)


def _a(kind: str) -> str:
    return f"an {kind}" if kind == "episode" else f"a {kind}"


def _check_counts(header: Mapping[str, Any], incoming: Incoming) -> None:
    """The first line says how much follows, so that a file cut short between lines is noticed."""
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
                f"the export was cut short or changed: its first line speaks of {header[name]} "
                f"{name}, and it holds {number}; nothing was imported"
            )


def check_chains(facts: Iterable[Fact]) -> None:
    """Every successor must be in the file and its namespace, and following them must end.

    Raises:
        TransferError: it is not so.
    """
    following = {fact.id: fact.superseded_by for fact in facts}
    homes = {fact.id: fact.namespace for fact in facts}
    ended: set[int] = set()
    for start in following:
        path: dict[int, None] = {}
        here: int | None = start
        while here is not None and here not in ended:
            if here in path:
                raise TransferError(
                    f"facts supersede each other in a circle at {here}; nothing was imported"
                )
            if here not in following:
                raise TransferError(
                    f"fact {next(reversed(path))} is superseded by fact {here}, which the export "
                    "does not hold; nothing was imported"
                )
            if homes[here] != homes[start]:
                raise TransferError(
                    f"fact {here} supersedes one of another namespace; nothing was imported"
                )
            path[here] = None
            here = following[here]
        ended.update(path)
