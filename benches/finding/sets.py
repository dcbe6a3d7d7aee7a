"""Labelled sets: units, questions and the units that answer them; each has its own file.

A set is a folder with ``units.jsonl`` (``store``, ``id``, ``text``, where known ``speaker``,
``session``, ``pos`` and ``date``) and ``queries.jsonl`` (``store``, ``query``, ``gold``, perhaps
``type`` and ``grades``). Units of one ``store`` are one namespace, and a query is asked of its own.
The data are no part of the project: their licences differ.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import memstore
from memstore import Store

LEFT_OUT = "5-adversarial"
"""Questions of this type have no answer in the conversation."""

THREE_YEARS_DAYS = 1096

DATES = ("%I:%M %p on %d %B, %Y", "%B-%d-%Y", "%Y-%m-%d")


@dataclass(frozen=True)
class Question:
    store: str
    text: str
    grades: dict[str, float]
    """How well each unit answers it, for those that do."""
    kind: str = ""


@dataclass(frozen=True)
class Labelled:
    """One set, in a file that holds its units as facts and, if they are turns, as episodes."""

    name: str
    units: dict[str, list[dict[str, Any]]]
    """By namespace."""
    questions: list[Question]
    file: Path
    age: str = "now"
    """When the facts were stored: ``now``, ``spread`` over three years, or the ``answers`` three
    years ago and everything else now."""

    @property
    def has_turns(self) -> bool:
        return all("session" in unit for units in self.units.values() for unit in units)

    def open(self) -> Store:
        return memstore.open(self.file, namespace=next(iter(self.units)))


def read(folder: Path, made: Path, age: str = "now") -> Labelled:
    """Return a set; its file is created if it does not exist."""
    units, questions = labelled_units(folder)
    name = folder.name if age == "now" else f"{folder.name}.{age}"
    labelled = Labelled(folder.name, units, questions, made / f"{name}.db", age)
    if not labelled.file.exists():
        _fill(labelled)
    return labelled


def labelled_units(folder: Path) -> tuple[dict[str, list[dict[str, Any]]], list[Question]]:
    """Return the units of a set by namespace, and its questions."""
    by_store: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for unit in _lines(folder / "units.jsonl"):
        if unit["text"].strip():
            by_store[unit["store"]].append(unit)
    questions = [
        Question(
            one["store"],
            one["query"],
            one.get("grades") or dict.fromkeys(one["gold"], 1.0),
            one.get("type", ""),
        )
        for one in _lines(folder / "queries.jsonl")
        if one.get("type") != LEFT_OUT and one["gold"]
    ]
    return dict(by_store), questions


def _fill(labelled: Labelled) -> None:
    unfinished = labelled.file.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    answers = {unit for question in labelled.questions for unit in question.grades}

    def days(unit: dict[str, Any]) -> float:
        old = labelled.age == "answers" and unit["id"] in answers
        if labelled.age == "spread":
            return random.Random(unit["id"]).uniform(0, THREE_YEARS_DAYS)
        return THREE_YEARS_DAYS if old else 0

    now = datetime.now(UTC)
    with memstore.open(unfinished) as file:
        for namespace, units in labelled.units.items():
            store = file.within(namespace)
            store.add_many(
                as_fact(unit, labelled.name) | {"created_at": now - timedelta(days=days(unit))}
                for unit in units
            )
            if labelled.has_turns:
                store.episodes.add_many(as_episode(unit, labelled.name) for unit in units)
            store.file.embed_pending()
        file.file.save_index()
    unfinished.rename(labelled.file)


def as_fact(unit: dict[str, Any], name: str) -> dict[str, Any]:
    return as_row(unit) | {"subject": unit.get("speaker") or name}


def as_episode(unit: dict[str, Any], name: str) -> dict[str, Any]:
    return as_row(unit) | {"source": name, "speaker": unit.get("speaker")}


def as_row(unit: dict[str, Any]) -> dict[str, Any]:
    row = {"content": unit["text"], "idempotency_key": unit["id"]}
    if "session" in unit:
        row |= {"thread": str(unit["session"]), "seq": unit["pos"], "valid_at": _moment(unit)}
    return row


def _moment(unit: dict[str, Any]) -> datetime | None:
    for form in DATES:
        try:
            return datetime.strptime(unit.get("date") or "", form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as handle:
        yield from map(json.loads, handle)
