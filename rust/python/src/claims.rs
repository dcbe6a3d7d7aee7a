//! Claims as their words, and two of them side by side.

use std::sync::{Arc, OnceLock};

use memstore_kernel::language::claims::{self, Bearing, Kind, Shared};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::arrays::value_error;

/// One word of a claim.
#[pyclass(frozen, module = "memstore._kernel.claims")]
pub(crate) struct Word {
    reading: Arc<claims::Reading>,
    place: usize,
}

impl Word {
    fn word(&self) -> &claims::Word {
        &self.reading.words[self.place]
    }
}

#[pymethods]
impl Word {
    #[getter]
    fn text(&self) -> &str {
        &self.word().text
    }

    #[getter]
    fn stem(&self) -> &str {
        &self.word().stem
    }

    #[getter]
    fn key(&self) -> u64 {
        self.word().key
    }

    #[getter]
    fn kind(&self) -> u8 {
        self.word().kind as u8
    }

    #[getter]
    fn roles(&self) -> u64 {
        self.word().roles
    }

    #[getter]
    fn groups(&self) -> u64 {
        self.word().groups
    }

    #[getter]
    fn families(&self) -> u64 {
        self.word().families
    }

    #[getter]
    fn is_telling(&self) -> bool {
        self.word().is_telling
    }

    #[getter]
    fn is_dropped(&self) -> bool {
        self.word().is_dropped
    }

    #[getter]
    fn unit(&self) -> u64 {
        self.word().unit
    }
}

/// A text as its words. Most are compared without looking at single words, so that these become objects
/// when they are asked for.
#[pyclass(frozen, module = "memstore._kernel.claims")]
pub(crate) struct Reading {
    reading: Arc<claims::Reading>,
    words: PyOnceLock<Py<PyTuple>>,
}

impl Reading {
    fn words_of<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyTuple>> {
        let words = self.words.get_or_try_init(py, || {
            let word = |place| {
                let reading = Arc::clone(&self.reading);
                Py::new(py, Word { reading, place })
            };
            let words = (0..self.reading.words.len()).map(word);
            let words: Vec<Py<Word>> = words.collect::<PyResult<_>>()?;
            PyResult::Ok(PyTuple::new(py, words)?.unbind())
        })?;
        Ok(words.bind(py))
    }
}

#[pymethods]
impl Reading {
    #[new]
    fn new(py: Python<'_>, text: PyBackedStr, subject: PyBackedStr) -> Self {
        let reading = py.detach(|| claims::Reading::new(&text, &subject));
        Self {
            reading: Arc::new(reading),
            words: PyOnceLock::new(),
        }
    }

    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.words_of(py).cloned()
    }

    #[getter]
    fn roles(&self) -> u64 {
        self.reading.roles
    }

    #[getter]
    fn head(&self) -> usize {
        self.reading.head
    }

    fn widest(&self) -> Self {
        Self {
            reading: Arc::new(self.reading.widest()),
            words: PyOnceLock::new(),
        }
    }

    #[getter]
    fn has_verb(&self) -> bool {
        self.reading.has_verb
    }

    #[getter]
    fn groups(&self) -> u64 {
        self.reading.groups
    }

    #[getter]
    fn families(&self) -> u64 {
        self.reading.families
    }

    #[getter]
    fn size(&self) -> usize {
        self.reading.size
    }

    #[getter]
    fn is_about_subject(&self) -> bool {
        self.reading.is_about_subject
    }

    #[getter]
    fn asks(&self) -> bool {
        self.reading.asks
    }

    #[getter]
    fn is_cut(&self) -> bool {
        self.reading.is_cut
    }

    #[getter]
    fn is_unspaced(&self) -> bool {
        self.reading.is_unspaced
    }

    #[getter]
    fn is_free(&self) -> bool {
        self.reading.is_free()
    }

    #[getter]
    fn breaks(&self) -> Vec<usize> {
        self.reading.breaks.clone()
    }

    #[getter]
    fn symbols(&self) -> String {
        self.reading.symbols.iter().collect()
    }
}

/// Two claims side by side. What they share is found at once, and the rest when it is asked for.
#[pyclass(frozen, module = "memstore._kernel.claims")]
pub(crate) struct Alignment {
    old: Py<Reading>,
    new: Py<Reading>,
    shared: Shared,
    found: OnceLock<claims::Alignment>,
}

impl Alignment {
    fn found(&self) -> &claims::Alignment {
        let (old, new) = (&self.old.get().reading, &self.new.get().reading);
        self.found
            .get_or_init(|| claims::align(old, new, &self.shared))
    }

    fn of<'py>(
        py: Python<'py>,
        reading: &Py<Reading>,
        places: &[usize],
    ) -> PyResult<Bound<'py, PyTuple>> {
        let words = reading.get().words_of(py)?;
        let chosen: Vec<_> = places
            .iter()
            .map(|place| words.get_item(*place))
            .collect::<PyResult<_>>()?;
        PyTuple::new(py, chosen)
    }
}

#[pymethods]
impl Alignment {
    #[getter]
    fn regions<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        let sides = |region: &claims::Region| {
            Ok((
                Self::of(py, &self.old, &region.old)?,
                Self::of(py, &self.new, &region.new)?,
            ))
        };
        self.found().regions.iter().map(sides).collect()
    }

    #[getter]
    fn shared(&self) -> usize {
        self.shared.count
    }

    #[getter]
    fn common<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.old, &self.found().common)
    }

    #[getter]
    fn lost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.old, &self.found().lost)
    }

    #[getter]
    fn gained<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.new, &self.found().gained)
    }

    #[getter]
    fn lost_prepositions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.old, &self.found().lost_prepositions)
    }

    #[getter]
    fn gained_prepositions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.new, &self.found().gained_prepositions)
    }

    #[getter]
    fn keys(&self) -> Vec<u64> {
        self.found().keys.clone()
    }

    #[getter]
    fn marks(&self) -> u64 {
        self.shared.marks
    }

    #[getter]
    fn new_head<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.new, &self.found().new_head)
    }

    #[getter]
    fn other_names<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)> {
        let [old, new] = &self.found().other_names;
        Ok((Self::of(py, &self.old, old)?, Self::of(py, &self.new, new)?))
    }

    #[getter]
    fn other_kin(&self) -> bool {
        self.found().other_kin
    }

    #[getter]
    fn is_loose(&self) -> bool {
        self.found().is_loose
    }

    #[getter]
    fn same_symbols(&self) -> bool {
        self.found().same_symbols
    }

    #[getter]
    fn same_case(&self) -> bool {
        self.found().same_case
    }

    #[getter]
    fn same_owners(&self) -> bool {
        self.found().same_owners
    }
}

/// Align two claims.
#[pyfunction]
pub(crate) fn align(old: Py<Reading>, new: Py<Reading>) -> Alignment {
    let shared = Shared::new(&old.get().reading, &new.get().reading);
    Alignment {
        old,
        new,
        shared,
        found: OnceLock::new(),
    }
}

/// Return the places of the claims that bear on one, or on which it bears.
#[pyfunction]
#[pyo3(signature = (claim, others, *, is_newer, turned, topics, denied, long))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn bearing(
    py: Python<'_>,
    claim: PyRef<'_, Reading>,
    others: Vec<PyRef<'_, Reading>>,
    is_newer: bool,
    turned: u64,
    topics: u64,
    denied: Vec<(u64, u64)>,
    long: usize,
) -> Vec<usize> {
    let claim = Arc::clone(&claim.reading);
    let others: Vec<_> = others.iter().map(|one| Arc::clone(&one.reading)).collect();
    let sought = Bearing {
        turned,
        topics,
        denied,
        long,
    };
    py.detach(|| {
        let holds = |other: &claims::Reading| {
            if is_newer {
                sought.holds(other, &claim)
            } else {
                sought.holds(&claim, other)
            }
        };
        let places = others.iter().enumerate();
        places
            .filter(|(_, other)| holds(other))
            .map(|(place, _)| place)
            .collect()
    })
}

/// The kinds of words, by the names of their constants.
pub(crate) const KINDS: [(&str, Kind); 7] = [
    ("WORD", Kind::Word),
    ("NAME", Kind::Name),
    ("NUMERIC", Kind::Number),
    ("DATE", Kind::Date),
    ("VERSION", Kind::Version),
    ("CODE", Kind::Code),
    ("UNSPACED", Kind::Unspaced),
];

/// The hash of an ASCII text about a subject with this key.
#[pyfunction]
pub(crate) fn claim_hash(key: &str, content: &str) -> PyResult<i64> {
    if content.is_ascii() {
        return Ok(claims::claim_hash(key, content));
    }
    Err(value_error("content is not ASCII".to_owned()))
}
