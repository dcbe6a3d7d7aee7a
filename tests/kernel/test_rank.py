"""The ranking against the same formula in Python."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore._kernel import ranking

numbers = st.integers(0, 15)
words = st.dictionaries(numbers, st.floats(-40, 5))
cosines = st.dictionaries(numbers, st.floats(-1, 1, width=32))
decays = st.dictionaries(numbers, st.tuples(st.floats(-1e3, 1e7), st.floats(-1, 1e6)))
weights = st.floats(0, 3)


def rank(
    words: dict[int, float],
    cosines: dict[int, float],
    decays: dict[int, tuple[float, float]],
    limit: int = 99,
    word_weight: float = 0.6,
    vector_weight: float = 0.4,
) -> list[tuple[int, float, float, float, float]]:
    return ranking.classic(
        [*words.items()],
        [*cosines.items()],
        [(id_, *aged) for id_, aged in decays.items()],
        word_weight=word_weight,
        vector_weight=vector_weight,
        limit=limit,
    )


def naive_rank(
    words: dict[int, float],
    cosines: dict[int, float],
    decays: dict[int, tuple[float, float]],
    word_weight: float,
    vector_weight: float,
) -> list[tuple[int, float, float, float, float]]:
    best = max((-bm25 for bm25 in words.values()), default=0.0)
    ranked = []
    for candidate in words.keys() | cosines.keys():
        word = max(-words.get(candidate, 0.0), 0.0) / best if best > 0 else 0.0
        vector = max(cosines.get(candidate, 0.0), 0.0)
        age, half_life = decays.get(candidate, (0.0, 0.0))
        decay = 0.5 ** (max(age, 0.0) / half_life) if half_life > 0 else 1.0
        score = (word_weight * word + vector_weight * vector) * decay
        ranked.append((candidate, score, word, vector, decay))
    return sorted(ranked, key=lambda one: (-one[1], one[0]))


@given(words, cosines, decays, st.integers(0, 40), weights, weights)
def test_rank_agrees_with_the_formula(
    words: dict[int, float],
    cosines: dict[int, float],
    decays: dict[int, tuple[float, float]],
    limit: int,
    word_weight: float,
    vector_weight: float,
) -> None:
    found = rank(words, cosines, decays, limit, word_weight, vector_weight)
    every = naive_rank(words, cosines, decays, word_weight, vector_weight)
    assert len(found) == min(limit, len(every))
    expected = {one[0]: one for one in every}
    for one in found:
        assert one == pytest.approx(expected[one[0]], rel=1e-12, abs=1e-300)
    # Two powers may differ in the last bit, so compare the scores of each place, not the ids.
    assert [one[1] for one in found] == pytest.approx([one[1] for one in every[:limit]], rel=1e-12)
    order = [(-score, candidate) for candidate, score, *_ in found]
    assert order == sorted(order)


def test_rank_of_nothing_is_empty() -> None:
    assert rank({}, {}, {}) == []
    assert rank({1: -1.0}, {}, {}, limit=0) == []


def test_rank_scores_words_zero_unless_bm25_is_negative() -> None:
    assert rank({2: 0.0, 1: 3.0}, {}, {}) == [(1, 0, 0, 0, 1), (2, 0, 0, 0, 1)]


def test_rank_halves_a_score_at_the_half_life() -> None:
    [(_, score, *_, decay)] = rank({1: -4.0}, {}, {1: (30.0, 30.0)})
    assert (score, decay) == (0.3, 0.5)


def test_rank_does_not_decay_without_a_half_life_or_at_a_negative_age() -> None:
    found = rank({1: -1.0, 2: -1.0, 3: -1.0}, {}, {1: (1e9, 0.0), 2: (-50.0, 1.0)})
    assert [one[4] for one in found] == [1.0, 1.0, 1.0]


def test_rank_uses_the_last_of_repeated_ids() -> None:
    words = [(1, -9.0), (1, -1.0), (2, -2.0)]
    found = ranking.classic(words, [], [], word_weight=1.0, vector_weight=0.0, limit=9)
    assert [one[:2] for one in found] == [(2, 1.0), (1, 0.5)]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_rank_names_the_non_finite_argument(bad: float) -> None:
    with pytest.raises(ValueError, match="words holds"):
        rank({1: bad}, {}, {})
    with pytest.raises(ValueError, match="vectors holds"):
        rank({}, {1: bad}, {})
    with pytest.raises(ValueError, match="decays holds"):
        rank({}, {}, {1: (bad, 1.0)})
    with pytest.raises(ValueError, match="decays holds"):
        rank({}, {}, {1: (1.0, bad)})
    with pytest.raises(ValueError, match="word_weight must be finite"):
        rank({}, {}, {}, word_weight=bad)


def test_rank_refuses_negative_weights_and_limits() -> None:
    with pytest.raises(
        ValueError, match=r"vector_weight must be finite and not negative, got -0\.1"
    ):
        rank({}, {}, {}, vector_weight=-0.1)
    with pytest.raises(ValueError, match="limit must not be negative, got -1"):
        rank({}, {}, {}, limit=-1)


def test_rank_refuses_anything_but_a_sequence_of_tuples() -> None:
    for wrong in ([1], [("1", 1.0)], 1):
        with pytest.raises(TypeError):
            ranking.classic(wrong, [], [], word_weight=1.0, vector_weight=1.0, limit=9)  # type: ignore[arg-type]
