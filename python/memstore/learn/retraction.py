"""Judging whether a new fact speaks against a memory that a model wants to delete because of it.

A deletion loses a text without putting another in its place, so the model's word is not enough: the
fact must name what the memory is about, and deny it or give it another value.
"""

from __future__ import annotations

from memstore.learn.supersession import RETIRING
from memstore.text import lexicon
from memstore.text.difference import compare
from memstore.text.faithfulness import shared
from memstore.text.folding import folded


def not_retracted(memory: str, fact: str, subject: str) -> str | None:
    """Return why a fact does not retract a memory; ``None`` if it does.

    Args:
        memory: the text of the memory.
        fact: the text of the fact.
        subject: of both; its words do not count as common words.
    """
    if not shared(fact, memory, subject):
        return "the fact and the memory have no word in common besides the subject"
    found = compare(memory, fact)
    if found.kind in RETIRING or _endings(fact) - _endings(memory):
        return None
    # "is not allergic to milk" says nothing about "is allergic to nuts".
    other = len(found.regions) == 1 and found.regions[0].old and found.regions[0].new
    if found.negated and not other:
        return None
    return "the fact neither denies the memory nor gives another value"


def _endings(text: str) -> set[str]:
    plain = f" {folded(text)} "
    return {phrase for phrase in (*lexicon.OVER, *lexicon.ENDINGS) if f" {phrase} " in plain}
