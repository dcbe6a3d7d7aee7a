//! The classic ranking.

use memstore_kernel::ranking::classic::{self as kernel, Findings, Weights};
use pyo3::prelude::*;

use crate::arrays::{self, value_error};

/// Id, score, word score, vector score and decay.
type Row = (i64, f64, f64, f64, f64);

/// Candidates ranked by words and meaning.
#[pyfunction]
#[pyo3(signature = (words, vectors, decays, *, word_weight, vector_weight, limit))]
pub(crate) fn classic(
    py: Python<'_>,
    words: Vec<(i64, f64)>,
    vectors: Vec<(i64, f32)>,
    decays: Vec<(i64, f64, f64)>,
    word_weight: f64,
    vector_weight: f64,
    limit: i64,
) -> PyResult<Vec<Row>> {
    check_finite("words", words.iter().map(|one| one.1))?;
    check_finite("vectors", vectors.iter().map(|one| f64::from(one.1)))?;
    check_finite("decays", decays.iter().flat_map(|one| [one.1, one.2]))?;
    let weights = weights(word_weight, vector_weight)?;
    let limit = arrays::limit(limit)?;
    let findings = Findings {
        words: &words,
        vectors: &vectors,
        decays: &decays,
    };
    let ranked = py.detach(|| kernel::rank(&findings, weights, limit));
    let rows = ranked
        .into_iter()
        .map(|one| (one.id, one.score, one.word, one.vector, one.decay));
    Ok(rows.collect())
}

fn check_finite(name: &str, mut values: impl Iterator<Item = f64>) -> PyResult<()> {
    match values.find(|value| !value.is_finite()) {
        Some(value) => Err(value_error(format!(
            "{name} holds {value}: every number must be finite"
        ))),
        None => Ok(()),
    }
}

fn weights(word: f64, vector: f64) -> PyResult<Weights> {
    for (name, weight) in [("word_weight", word), ("vector_weight", vector)] {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(value_error(format!(
                "{name} must be finite and not negative, got {weight}"
            )));
        }
    }
    if (word + vector).is_infinite() {
        return Err(value_error(
            "word_weight + vector_weight must be finite".to_owned(),
        ));
    }
    Ok(Weights { word, vector })
}
