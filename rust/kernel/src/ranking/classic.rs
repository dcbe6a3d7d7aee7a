//! Merges the results of the word search and the scan into one ranking.
//!
//! SQLite's `bm25()` is negative, and the more negative the better; it is negated and divided by
//! the best one, so that words and meaning are both in 0..=1 and can be weighted. Age halves a
//! score every half-life: `0.5 ** (age / half_life)`.

use std::collections::BTreeMap;

/// The weights of words and meaning. Both are finite and not negative, and so is their sum.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// Weight of the word score.
    pub word: f64,
    /// Weight of the vector score.
    pub vector: f64,
}

/// The results for the candidates. If a list has an id twice, the last entry counts.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'a> {
    /// Ids with their `bm25()`.
    pub words: &'a [(i64, f64)],
    /// Ids with their cosine.
    pub vectors: &'a [(i64, f32)],
    /// Ids with age and half-life, both in seconds; one that is missing, or whose half-life is
    /// not positive, does not decay.
    pub decays: &'a [(i64, f64, f64)],
}

/// One candidate with its score and the parts of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The candidate.
    pub id: i64,
    /// `(weights.word * word + weights.vector * vector) * decay`.
    pub score: f64,
    /// In 0..=1; 1 is the best of this search, 0 if the words did not find it.
    pub word: f64,
    /// In 0..=1; 0 if the scan did not find it.
    pub vector: f64,
    /// In 0..=1; 1 for a row that does not age.
    pub decay: f64,
}

/// Candidates found by words or by meaning, best first, ties by the smaller id.
///
/// Finite findings give finite scores.
pub fn rank(findings: &Findings<'_>, weights: Weights, limit: usize) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = merged(findings).into_values().collect();
    for candidate in &mut ranked {
        let found = weights.word * candidate.word + weights.vector * candidate.vector;
        candidate.score = found * candidate.decay;
    }
    ranked.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    ranked.truncate(limit);
    ranked
}

fn merged(findings: &Findings<'_>) -> BTreeMap<i64, Ranked> {
    let mut by_id = BTreeMap::new();
    for (id, bm25) in findings.words {
        candidate(&mut by_id, *id).word = positive(-bm25);
    }
    let best = by_id.values().map(|ranked| ranked.word).fold(0.0, f64::max);
    if best > 0.0 {
        by_id.values_mut().for_each(|ranked| ranked.word /= best);
    }
    for (id, cosine) in findings.vectors {
        // Rounding may lift a cosine a little above one.
        candidate(&mut by_id, *id).vector = positive(f64::from(*cosine)).min(1.0);
    }
    for (id, age, half_life) in findings.decays {
        if let Some(ranked) = by_id.get_mut(id) {
            ranked.decay = decay(*age, *half_life);
        }
    }
    by_id
}

fn candidate(by_id: &mut BTreeMap<i64, Ranked>, id: i64) -> &mut Ranked {
    by_id.entry(id).or_insert(Ranked {
        id,
        score: 0.0,
        word: 0.0,
        vector: 0.0,
        decay: 1.0,
    })
}

/// The decay at an age; 1 for a time in the future.
fn decay(age: f64, half_life: f64) -> f64 {
    if half_life > 0.0 {
        0.5_f64.powf(positive(age) / half_life)
    } else {
        1.0
    }
}

/// The number, or a zero without a sign.
fn positive(x: f64) -> f64 {
    if x > 0.0 { x } else { 0.0 }
}
