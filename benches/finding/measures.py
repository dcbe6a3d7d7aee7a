"""Measures of a ranking, for one question and for many."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memstore._kernel.model import BuiltInModel

OF_A_HIT = 8
"""Tokens for id and date."""


def judge(found: Sequence[str], grades: Mapping[str, float]) -> dict[str, float]:
    """Return each measure for one question."""
    places = [grades.get(unit, 0.0) for unit in found]
    first = next((place for place, grade in enumerate(places, 1) if grade), None)
    ideal = sorted(grades.values(), reverse=True)
    return {
        "R@5": recall(found[:5], grades),
        "R@10": recall(found[:10], grades),
        "MRR": 0.0 if first is None else 1 / first,
        "NDCG@10": _gain(places[:10]) / _gain(ideal[:10]),
    }


def recall(found: Sequence[str], grades: Mapping[str, float]) -> float:
    return len(grades.keys() & set(found)) / len(grades)


def within(found: Sequence[str], tokens: Mapping[str, int], budget: int) -> list[str]:
    """Return the first results that fit a budget, up to the first that does not."""
    held = []
    for unit in found:
        budget -= tokens[unit] + OF_A_HIT
        if budget < 0:
            break
        held.append(unit)
    return held


def tokens_of(texts: Sequence[str]) -> list[int]:
    return [len(ids) // 2 for ids in BuiltInModel().token_ids(texts)]


def chance(differences: Sequence[float], samples: int = 4000) -> float:
    """Return the share of paired bootstrap samples that show no gain."""
    values: NDArray[np.float64] = np.asarray(differences)
    drawn = np.random.default_rng(1).integers(0, len(values), (samples, len(values)))
    return float((values[drawn].mean(axis=1) <= 0).mean())


def _gain(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(place + 1) for place, grade in enumerate(grades, 1))
