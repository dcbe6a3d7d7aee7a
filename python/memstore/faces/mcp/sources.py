"""Marks in answers: where the text of others is from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.store import store as stores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.faces.mcp.answers import Answer
    from memstore.store.store import Store

RECORDS: Final = ("facts", "said", "episodes", "before", "after", "older")
"""The members of answers, and of the records in them, that have facts or episodes."""


def with_sources(store: Store, answer: Answer) -> Answer:
    """Return an answer whose facts and episodes say where they are from, if they are of others."""
    records = [*_records(answer)]
    facts = [one["id"] for one in records if "subject" in one]
    names = {one["source"] for one in records if "subject" not in one and "source" in one}
    if facts or names:
        sources, external = stores.with_sources(store, facts, names)
        for one in records:
            if "subject" in one:
                if one["id"] in sources:
                    one["from"] = sources[one["id"]]
            elif one.get("source") in external:
                one["from"] = one["source"]
    return answer


def _records(answer: Answer) -> Iterator[dict[str, Any]]:
    for name in RECORDS:
        found = answer.get(name)
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, dict) and "content" in one:
                yield one
                yield from _records(one)
