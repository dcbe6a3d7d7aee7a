"""Questions: the methods that ask them have a parameter for each field, with its default."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from memstore.domain.queries import (
    EpisodeNarrowing,
    EpisodeSearch,
    FactCount,
    FactRecall,
    FactSearch,
    LineNarrowing,
    Page,
    ProposalNarrowing,
)
from memstore.episodes.episodes import Episodes
from memstore.facts.proposals import Proposals
from memstore.frozen import fields
from memstore.store.ledger import LedgerView
from memstore.store.view import View

BUDGET = "query max_tokens counter episodes"
ONLY_LISTED = "expired_after expired_before include_expired namespaces"

METHODS: list[tuple[Callable[..., Any], list[type], str]] = [
    (View.search, [FactSearch], "query"),
    (View.search_batch, [FactSearch], "queries"),
    (View.why_not, [FactSearch], f"{BUDGET} fact_id"),
    (View.recall, [FactRecall], BUDGET),
    (View.turns_for, [FactRecall], "query hits limit max_tokens"),
    (View.list, [FactCount, Page], ""),
    (View.count, [FactCount], ""),
    (Episodes.search, [EpisodeSearch], "query"),
    (Episodes.list, [EpisodeNarrowing, Page], ""),
    (Episodes.count, [EpisodeNarrowing], ""),
    (Episodes.expire_all, [EpisodeNarrowing], f"limit newest_first -{ONLY_LISTED}"),
    (Episodes.pop, [EpisodeNarrowing], f"oldest -{ONLY_LISTED}"),
    (Proposals.list, [ProposalNarrowing], "state limit after_id"),
    (Proposals.count, [ProposalNarrowing], "state"),
    (Proposals.questions, [ProposalNarrowing], "state limit after_id"),
    (LedgerView.log, [LineNarrowing], ""),
    (LedgerView.changes, [LineNarrowing], "newest_first"),
]
"""Each method, what it asks, and its own parameters; after ``-``, the fields that it leaves out."""


@pytest.mark.parametrize(
    ("method", "kinds", "besides"), METHODS, ids=lambda one: getattr(one, "__qualname__", "")
)
def test_a_method_has_a_parameter_for_each_field_of_its_question(
    method: Callable[..., Any], kinds: list[type], besides: str
) -> None:
    own, _, missing = besides.partition("-")
    shown = inspect.signature(method).parameters
    asked = {
        one.name: (one.type, one.default, inspect.Parameter.KEYWORD_ONLY)
        for kind in kinds
        for one in fields(kind)
        if one.name not in missing.split()
    }
    assert {n: (p.annotation, p.default, p.kind) for n, p in shown.items() if n in asked} == asked
    assert shown.keys() - asked.keys() == {"self", *own.split()} - asked.keys()
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        method(SimpleNamespace(_zone=None), colour="red")
