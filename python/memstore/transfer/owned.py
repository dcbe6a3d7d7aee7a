"""The part of an export that some owners have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memstore.domain.records import SCOPE_FIELDS, Scope, is_among
from memstore.transfer import lines, merging

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memstore.database.engine import Engine
    from memstore.domain.records import AtLeast

COUNTED = {
    "fact": "facts",
    "operation": "operations",
    "episode": "episodes",
    "proposal": "proposals",
    "reading": "readings",
    "reply": "replies",
    "decision": "decisions",
    "trust": "levels",
}
"""What the first line calls the number of lines of each kind."""


def of_owners(engine: Engine, export: Iterator[str], owners: Scope | AtLeast) -> Iterator[str]:
    """Yield an export without what has other owners, as lines that can be imported.

    Decisions about names belong to nobody, and are left out. What was erased has no owners any
    more. A fact that one of other owners superseded ended then; ids of theirs are left out.
    """
    header = json.loads(next(export))
    with engine.scratch() as whole, engine.scratch() as part:
        owned = _Owned(owners)
        for text in export:
            whole.write(text.encode() + b"\n")
            owned.see(json.loads(text))
        counts = dict.fromkeys(COUNTED.values(), 0)
        whole.seek(0)
        for line in whole:
            kind, values = next(iter(json.loads(line).items()))
            if (kept := owned.kept(kind, values)) is not None:
                part.write(lines.line(**{kind: kept}).encode() + b"\n")
                counts[COUNTED[kind]] += 1
        header |= {name: number for name, number in counts.items() if name in header}
        del header["hash"]
        digest = lines.Digest(header)
        part.seek(0)
        for line in part:
            digest.add(line.decode())
        yield lines.line(**header, hash=digest.text)
        part.seek(0)
        for line in part:
            yield line.decode()[:-1]


class _Owned:
    """The facts and the episodes of an export that owners have, and what refers to them."""

    def __init__(self, owners: Scope | AtLeast) -> None:
        self._owners = owners
        self._ids: dict[str, set[int]] = {"fact": set(), "episode": set(), "proposal": set()}
        self._successors: dict[int, int] = {}

    def see(self, line: Mapping[str, Any]) -> None:
        """Note a line of the whole export; a proposal comes after its facts."""
        kind, values = next(iter(line.items()))
        if kind == "fact" and "superseded_by" in values:
            self._successors[values["id"]] = values["superseded_by"]
        if kind in ("fact", "episode"):
            scope = Scope(**{name: values.get(name) for name in SCOPE_FIELDS})
            if is_among(scope, self._owners):
                self._ids[kind].add(values["id"])
        elif kind == "proposal":
            named = {values["old"], values.get("new"), *values.get("sources", ())} - {None}
            if named <= self._ids["fact"]:
                self._ids[kind].add(values["id"])

    def kept(self, kind: str, values: dict[str, Any]) -> dict[str, Any] | None:
        """Return what is left of a line; ``None`` for nothing."""
        if kind == "trust":
            return values
        if kind == "operation":
            about = "fact" if "fact" in values else "episode"
            return self._operation(values) if values[about] in self._ids[about] else None
        if kind in ("reading", "reply"):
            return values if values["episode"] in self._ids["episode"] else None
        if kind not in self._ids or values["id"] not in self._ids[kind]:
            return None
        if kind == "fact":
            return self._fact(values)
        if "evidence" in values:
            values["evidence"] = self._without_others(values["evidence"])
        return values

    def _fact(self, values: dict[str, Any]) -> dict[str, Any]:
        if values.get("episode_id") not in {None, *self._ids["episode"]}:
            del values["episode_id"]
        if "superseded_by" not in values:
            return values
        successor: int | None = values["superseded_by"]
        while successor is not None and successor not in self._ids["fact"]:
            successor = self._successors.get(successor)
        if successor is not None:
            return values | {"superseded_by": successor}
        del values["superseded_by"]
        ended = values.pop("superseded_at", None) or values["created_at"]
        return values | {"expired_at": min(values.get("expired_at") or ended, ended)}

    def _operation(self, values: dict[str, Any]) -> dict[str, Any]:
        for name in ("before", "after", "evidence"):
            if name in values:
                values[name] = self._without_others(values[name])
        return values

    def _without_others(self, part: dict[str, Any]) -> dict[str, Any] | None:
        fact, episode, proposal = (
            lambda id_, kind=kind: id_ if id_ in self._ids[kind] else None
            for kind in ("fact", "episode", "proposal")
        )
        return merging.replaced(part, fact, episode, proposal)
