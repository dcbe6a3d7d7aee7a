"""Checks of new facts; invalid ones raise before anything is written."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from memstore.database.tables import facts as fact_table
from memstore.database.tables.readings import EXTRACT, MEMORY
from memstore.domain import metadata, moments
from memstore.domain.arguments import (
    MAX_CONTENT,
    MAX_NAME,
    MAX_UNSEARCHED,
    check_size,
    checked_key,
    checked_name,
    checked_place,
    checked_text,
)
from memstore.domain.records import (
    CATEGORIES,
    DEFAULT_CATEGORY,
    SCOPE_FIELDS,
    NewFact,
    Scope,
    unchecked,
)
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.facts import rules
from memstore.frozen import fields, frozen
from memstore.lazy import lazy_import
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from typing import TypeAlias

    from memstore.database.tables.facts import Encoded
    from memstore.text.judging import slots
    from memstore.text.secrets import Screen

    Names: TypeAlias = dict[str, tuple[str, str]]
    """Subjects and categories as they were given: as they are stored, and their keys."""
else:
    slots = lazy_import("memstore.text.judging.slots")

CONSOLIDATE: Final = "consolidate"

SUGGESTED: Final[Names] = {name: (name, name) for name in CATEGORIES}
"""The categories that need no check."""

OPTIONAL: Final[tuple[tuple[str, Callable[[object, str], str]], ...]] = (
    ("source", partial(checked_text, limit=MAX_NAME)),
    ("idempotency_key", partial(checked_text, limit=MAX_NAME)),
    ("external_key", checked_key),
    *((name, checked_name) for name in SCOPE_FIELDS),
)
"""Texts that may be missing, and how each is checked."""

USUAL: Final = frozenset(
    {"content", "subject", "category", "metadata", "supersedes", "any_subject", "unsearched"}
)
"""The fields that are checked for every fact, or when it is stored."""

RARE: Final = tuple(one.name for one in fields(NewFact) if one.name not in USUAL)
rare_values: Final = attrgetter(*RARE)
NONE_GIVEN: Final = (None,) * len(RARE)

DERIVATIONS: Final = (EXTRACT, MEMORY, CONSOLIDATE)
"""The ways in which a model can produce a fact; facts stored directly have none."""


@frozen(kw_only=True)
class Prepared(NewFact):
    """A new fact that was checked and embedded, ready to be stored."""

    category: str
    """Empty until it is known of what kind the fact is that this one supersedes."""
    metadata: dict[str, Any]
    created_at: datetime | None = None
    valid_at: datetime | None = None
    expired_at: datetime | None = None
    encoded: Encoded
    blob: bytes | None = None
    """Its embedding; ``None`` if it will be pending."""
    model: str | None = None
    """The model of the embedding."""

    @property
    def scope(self) -> Scope:
        """The owners it will belong to."""
        return Scope(user_id=self.user_id, agent_id=self.agent_id, run_id=self.run_id)


def all_prepared(new_facts: Sequence[NewFact], screen: Screen) -> list[Prepared]:
    """Check new facts; an error says which one is invalid."""
    found = []
    names = SUGGESTED.copy()
    for place, new in enumerate(new_facts, 1):
        try:
            found.append(_prepared(screen.record(new), names))
        except (InvalidArgument, InvalidArgumentType) as error:
            if len(new_facts) > 1:
                error.place = f"fact {place} of {len(new_facts)}"
                error.text += "; none was stored"
            raise
    return found


def prepared(new: NewFact, screen: Screen) -> Prepared:
    """Check one new fact, and make what needs no transaction."""
    return _prepared(screen.record(new), SUGGESTED.copy())


def _prepared(new: NewFact, names: Names) -> Prepared:
    """Check a new fact that was screened.

    Args:
        names: the subjects and categories that were checked before, and their keys.
    """
    largest = MAX_UNSEARCHED if new.unsearched else metadata.MAX_BYTES
    members, metadata_text = metadata.checked_new(new.metadata, largest)
    values = new.__dict__.copy()
    values["unsearched"] = True if new.unsearched else None
    if rare_values(new) != NONE_GIVEN:
        values.update(_rest(new))
    content = checked_text(new.content, "content", largest if new.unsearched else MAX_CONTENT)
    if not new.unsearched and not content.isascii():
        check_size(content, "content")
    subject, key = _named(new.subject, "subject", names)
    category, category_key = "", ""
    if new.category is not None or new.supersedes is None:
        given_category = DEFAULT_CATEGORY if new.category is None else new.category
        category, category_key = _named(given_category, "category", names)
    values["content"], values["subject"], values["category"] = content, subject, category
    values["metadata"] = members
    found_by = fact_table.keyed(content, subject, key, category_key)
    values["encoded"] = fact_table.Encoded(metadata_text, found_by)
    return unchecked(Prepared, values)


def _rest(new: NewFact) -> dict[str, Any]:
    """Check the fields of a new fact that few have; return them."""
    created_at = moments.instant(new.created_at, "created_at")
    valid_at = moments.instant(new.valid_at, "valid_at")
    expired_at = moments.until(new.expired_at, "expired_at")
    rules.check_holds(valid_at, expired_at)
    _check_origin(new)
    return {
        "created_at": created_at,
        "valid_at": valid_at,
        "expired_at": expired_at,
        "slots": None if new.slots is None else slots.checked(new.slots),
        **{
            name: check(value, name)
            for name, check in OPTIONAL
            if (value := getattr(new, name)) is not None
        },
        **_place(new),
    }


def _named(text: str, name: str, names: Names) -> tuple[str, str]:
    """Return a subject or a category as it is stored, and its key."""
    if type(text) is str and (known := names.get(text)) is not None:
        return known
    stored = checked_text(text, name, MAX_NAME).strip()
    named = names[text] = stored, subject_key(stored)
    return named


def _check_origin(new: NewFact) -> None:
    if new.episode_id is not None and type(new.episode_id) is not int:
        raise InvalidArgumentType(
            f"must be a whole number, not {new.episode_id!r}", argument="episode_id"
        )
    if new.external_key is not None and new.supersedes is not None:
        raise InvalidArgument(
            "cannot be given with supersedes: a fact put under a key supersedes the current one",
            argument="external_key",
        )
    if new.derivation is not None and new.derivation not in DERIVATIONS:
        raise InvalidArgument(
            f"must be {', '.join(DERIVATIONS)} or None, not {new.derivation!r}",
            argument="derivation",
        )


def _place(new: NewFact) -> dict[str, Any]:
    if new.thread is None and new.seq is None:
        return {}
    thread, seq = checked_place(new.thread, new.seq)
    if thread is None and new.episode_id is None:
        raise InvalidArgument("is a place in a thread, but no thread is given", argument="seq")
    return {"thread": thread, "seq": seq}
