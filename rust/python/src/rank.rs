//! The merge of words and meaning.

use memstore_kernel::rank::{self as kernel, Findings, Ranked, Weights};
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::arrays::{self, check_lengths, value_error};

/// Ids, scores, word scores, vector scores and decays, best first.
type Columns<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

/// Candidates of the word search and of the scan in one order.
#[pyfunction]
#[pyo3(signature = (
    word_ids, bm25, vector_ids, cosines, decay_ids, ages_seconds, half_lives_seconds,
    *, word_weight, vector_weight, limit
))]
#[expect(
    clippy::too_many_arguments,
    reason = "the columns come as the callers hold them"
)]
pub(crate) fn rank<'py>(
    word_ids: &Bound<'py, PyAny>,
    bm25: &Bound<'py, PyAny>,
    vector_ids: &Bound<'py, PyAny>,
    cosines: &Bound<'py, PyAny>,
    decay_ids: &Bound<'py, PyAny>,
    ages_seconds: &Bound<'py, PyAny>,
    half_lives_seconds: &Bound<'py, PyAny>,
    word_weight: f64,
    vector_weight: f64,
    limit: i64,
) -> PyResult<Columns<'py>> {
    let py = word_ids.py();
    let words = columns(
        ("word_ids", arrays::ids("word_ids", word_ids)?),
        ("bm25", arrays::doubles("bm25", bm25)?),
    )?;
    let vectors = columns(
        ("vector_ids", arrays::ids("vector_ids", vector_ids)?),
        ("cosines", arrays::vector("cosines", cosines)?),
    )?;
    let ages = columns(
        ("decay_ids", arrays::ids("decay_ids", decay_ids)?),
        (
            "ages_seconds",
            arrays::doubles("ages_seconds", ages_seconds)?,
        ),
    )?;
    let half_lives = arrays::doubles("half_lives_seconds", half_lives_seconds)?;
    check_lengths(
        ("decay_ids", ages.len()),
        ("half_lives_seconds", half_lives.len()),
    )?;
    let weights = weights(word_weight, vector_weight)?;
    let limit = arrays::limit(limit)?;
    let ranked = py.detach(|| {
        let decays: Vec<(i64, f64, f64)> = ages
            .iter()
            .zip(half_lives)
            .map(|((id, age), half_life)| (*id, *age, half_life))
            .collect();
        let findings = Findings {
            words: &words,
            vectors: &vectors,
            decays: &decays,
        };
        kernel::rank(&findings, weights, limit)
    });
    Ok((
        column(py, &ranked, |one| one.id),
        column(py, &ranked, |one| one.score),
        column(py, &ranked, |one| one.word),
        column(py, &ranked, |one| one.vector),
        column(py, &ranked, |one| one.decay),
    ))
}

/// Two columns of one length, side by side.
fn columns<T>(ids: (&str, Vec<i64>), values: (&str, Vec<T>)) -> PyResult<Vec<(i64, T)>> {
    check_lengths((ids.0, ids.1.len()), (values.0, values.1.len()))?;
    Ok(ids.1.into_iter().zip(values.1).collect())
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

fn column<'py, T: Element>(
    py: Python<'py>,
    ranked: &[Ranked],
    of: impl Fn(&Ranked) -> T,
) -> Bound<'py, PyArray1<T>> {
    ranked.iter().map(of).collect::<Vec<T>>().into_pyarray(py)
}
