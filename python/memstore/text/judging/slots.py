"""What an extractor found in two claims, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memstore.frozen import frozen
from memstore.text.folding import folded

if TYPE_CHECKING:
    from memstore.text.judging.pair import Pair


@frozen
class Slots:
    """What an extractor found in a claim, each word of it found in the text."""

    holder: str | None = None
    attribute: str | None = None
    value: str | None = None
    cardinality: Literal["one", "many"] | None = None
    holds_from: str | None = None
    holds_until: str | None = None


class Compared:
    """The slots of an older and a newer claim.

    Attributes:
        replace: one attribute of one holder, which has one value, has another one, or has ended.
        differ: the attributes or the holders differ, or the attribute has several values.
    """

    def __init__(self, old: Slots, new: Slots) -> None:
        same = _same(old.attribute, new.attribute) and _same(old.holder, new.holder, missing=True)
        known = bool(old.attribute and new.attribute)
        one = old.cardinality == new.cardinality == "one"
        ended = bool(new.holds_until) and not old.holds_until
        other = bool(old.value and new.value) and not _same(old.value, new.value)
        self.replace = known and same and one and (other or ended)
        self.differ = known and (not same or "many" in (old.cardinality, new.cardinality))


def _same(one: str | None, other: str | None, *, missing: bool = False) -> bool:
    """Whether two slots are equal; with ``missing``, also if one of them was not found."""
    if not one or not other:
        return missing
    return folded(one) == folded(other)


def may_prove(pair: Pair) -> bool:
    """Whether the words allow what slots and signs say together.

    An extractor drops conditions, so a proof still needs the same signs and no other condition.
    """
    found = pair.side_by_side
    return found.same_symbols and found.same_case and found.same_owners and pair.same_signs
