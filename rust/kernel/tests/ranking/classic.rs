//! The ranking against its formula, written out per candidate.

use memstore_kernel::ranking::classic::{Findings, Ranked, Weights, rank};
use proptest::prelude::*;

const WEIGHTS: Weights = Weights {
    word: 0.6,
    vector: 0.4,
};

fn last<T: Copy>(entries: &[(i64, T)], id: i64) -> Option<T> {
    entries
        .iter()
        .rev()
        .find(|entry| entry.0 == id)
        .map(|entry| entry.1)
}

/// One candidate's score, from the definition.
fn naive(findings: &Findings<'_>, id: i64) -> f64 {
    let word = |id| last(findings.words, id).map_or(0.0, |bm25| (-bm25).max(0.0));
    let best = findings
        .words
        .iter()
        .map(|(id, _)| word(*id))
        .fold(0.0, f64::max);
    let words = if best > 0.0 { word(id) / best } else { 0.0 };
    let vector = last(findings.vectors, id).map_or(0.0, |cosine| f64::from(cosine).clamp(0.0, 1.0));
    let decay = match findings.decays.iter().rev().find(|entry| entry.0 == id) {
        Some((_, age, half_life)) if *half_life > 0.0 => 0.5_f64.powf(age.max(0.0) / half_life),
        _ => 1.0,
    };
    (WEIGHTS.word * words + WEIGHTS.vector * vector) * decay
}

proptest! {
    #[test]
    fn rank_agrees_with_the_formula(
        words in prop::collection::vec((0..20_i64, -30.0..5.0), 0..20),
        vectors in prop::collection::vec((0..20_i64, -1.0_f32..1.1), 0..20),
        decays in prop::collection::vec((0..25_i64, -1e3..1e7, -1.0..1e6), 0..20),
        limit in 0..30_usize,
    ) {
        let findings = Findings { words: &words, vectors: &vectors, decays: &decays };
        let mut ids: Vec<i64> =
            words.iter().map(|entry| entry.0).chain(vectors.iter().map(|entry| entry.0)).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut expected: Vec<(i64, f64)> =
            ids.iter().map(|id| (*id, naive(&findings, *id))).collect();
        expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        expected.truncate(limit);
        let found: Vec<(i64, f64)> =
            rank(&findings, WEIGHTS, limit).iter().map(|ranked| (ranked.id, ranked.score)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn rank_never_returns_nan(
        bm25 in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        age in prop::num::f64::NORMAL | prop::num::f64::ZERO,
        half_life in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        cosine in prop::num::f32::NORMAL | prop::num::f32::ZERO,
    ) {
        let findings = Findings {
            words: &[(1, bm25), (2, -1.0)],
            vectors: &[(1, cosine)],
            decays: &[(1, age, half_life)],
        };
        for Ranked { score, word, vector, decay, .. } in rank(&findings, WEIGHTS, 9) {
            prop_assert!(score.is_finite() && (0.0..=1.0).contains(&word));
            prop_assert!((0.0..=1.0).contains(&vector) && (0.0..=1.0).contains(&decay));
        }
    }
}

#[test]
fn rank_scores_words_zero_unless_bm25_is_negative() {
    let findings = Findings {
        words: &[(1, 0.0), (2, 3.5)],
        vectors: &[],
        decays: &[],
    };
    let scores: Vec<_> = rank(&findings, WEIGHTS, 9)
        .iter()
        .map(|r| (r.id, r.score))
        .collect();
    assert_eq!(scores, [(1, 0.0), (2, 0.0)]);
}
