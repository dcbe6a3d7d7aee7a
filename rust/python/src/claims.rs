//! Claims as their words, and two of them side by side.

use memstore_kernel::language::claims::{self, Kind};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyTuple;

/// One word of a claim.
#[pyclass(frozen, module = "memstore._kernel.claims")]
pub(crate) struct Word {
    word: claims::Word,
}

#[pymethods]
impl Word {
    #[getter]
    fn text(&self) -> &str {
        &self.word.text
    }

    #[getter]
    fn stem(&self) -> &str {
        &self.word.stem
    }

    #[getter]
    fn key(&self) -> u64 {
        self.word.key
    }

    #[getter]
    fn kind(&self) -> u8 {
        self.word.kind as u8
    }

    #[getter]
    fn roles(&self) -> u64 {
        self.word.roles
    }

    #[getter]
    fn groups(&self) -> u64 {
        self.word.groups
    }

    #[getter]
    fn families(&self) -> u64 {
        self.word.families
    }

    #[getter]
    fn is_telling(&self) -> bool {
        self.word.is_telling
    }

    #[getter]
    fn is_dropped(&self) -> bool {
        self.word.is_dropped
    }

    #[getter]
    fn unit(&self) -> u64 {
        self.word.unit
    }
}

/// A text as its words.
#[pyclass(frozen, module = "memstore._kernel.claims")]
pub(crate) struct Reading {
    reading: claims::Reading,
    words: Py<PyTuple>,
}

#[pymethods]
impl Reading {
    #[new]
    fn new(py: Python<'_>, text: PyBackedStr, subject: PyBackedStr) -> PyResult<Self> {
        let reading = py.detach(|| claims::Reading::new(&text, &subject));
        let words = reading.words.iter().cloned().map(|word| Word { word });
        let words: Vec<Py<Word>> = words
            .map(|word| Py::new(py, word))
            .collect::<PyResult<_>>()?;
        Ok(Self {
            words: PyTuple::new(py, words)?.unbind(),
            reading,
        })
    }

    #[getter]
    fn words(&self, py: Python<'_>) -> Py<PyTuple> {
        self.words.clone_ref(py)
    }

    #[getter]
    fn roles(&self) -> u64 {
        self.reading.roles
    }

    #[getter]
    fn head(&self) -> usize {
        self.reading.head
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
    fn breaks(&self) -> Vec<usize> {
        self.reading.breaks.clone()
    }

    #[getter]
    fn symbols(&self) -> String {
        self.reading.symbols.iter().collect()
    }
}

/// Two claims side by side.
#[pyclass(frozen, module = "memstore._kernel.claims")]
pub(crate) struct Alignment {
    old: Py<Reading>,
    new: Py<Reading>,
    found: claims::Alignment,
}

impl Alignment {
    fn of<'py>(
        py: Python<'py>,
        reading: &Py<Reading>,
        places: &[usize],
    ) -> PyResult<Bound<'py, PyTuple>> {
        let words = reading.get().words.bind(py);
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
        self.found.regions.iter().map(sides).collect()
    }

    #[getter]
    fn shared(&self) -> usize {
        self.found.shared
    }

    #[getter]
    fn common<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.old, &self.found.common)
    }

    #[getter]
    fn lost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.old, &self.found.lost)
    }

    #[getter]
    fn gained<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.new, &self.found.gained)
    }

    #[getter]
    fn lost_prepositions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.old, &self.found.lost_prepositions)
    }

    #[getter]
    fn gained_prepositions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.new, &self.found.gained_prepositions)
    }

    #[getter]
    fn keys(&self) -> Vec<u64> {
        self.found.keys.clone()
    }

    #[getter]
    fn marks(&self) -> u64 {
        self.found.marks
    }

    #[getter]
    fn new_head<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::of(py, &self.new, &self.found.new_head)
    }

    #[getter]
    fn other_kin(&self) -> bool {
        self.found.other_kin
    }

    #[getter]
    fn is_loose(&self) -> bool {
        self.found.is_loose
    }

    #[getter]
    fn same_symbols(&self) -> bool {
        self.found.same_symbols
    }

    #[getter]
    fn same_case(&self) -> bool {
        self.found.same_case
    }

    #[getter]
    fn same_owners(&self) -> bool {
        self.found.same_owners
    }
}

/// Align two claims.
#[pyfunction]
pub(crate) fn align(old: Py<Reading>, new: Py<Reading>) -> Alignment {
    let found = claims::align(&old.get().reading, &new.get().reading);
    Alignment { old, new, found }
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
