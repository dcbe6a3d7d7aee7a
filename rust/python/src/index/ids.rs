//! A set of row ids as a Python class.

use memstore_kernel::index::codes::Visible;
use memstore_kernel::index::ids as kernel;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::arrays::{no_memory, value_error};

/// A set of row ids, one bit each.
#[pyclass(frozen, eq, module = "memstore._kernel.ids")]
#[derive(PartialEq)]
pub(crate) struct Ids(pub kernel::Ids);

/// What queries may see: one set for all of them, or one for each.
pub(crate) enum Sets<'py> {
    One(Option<Bound<'py, Ids>>),
    Each(Vec<Bound<'py, Ids>>),
}

impl<'py> Sets<'py> {
    /// Of an argument that is a set, a sequence of one for each of `count` queries, or nothing.
    pub(crate) fn of(argument: Option<&Bound<'py, PyAny>>, count: usize) -> PyResult<Self> {
        let Some(argument) = argument else {
            return Ok(Self::One(None));
        };
        if let Ok(ids) = argument.cast::<Ids>() {
            return Ok(Self::One(Some(ids.clone())));
        }
        let sets: Vec<Bound<'py, Ids>> = argument.extract()?;
        if sets.len() != count {
            let found = sets.len();
            return Err(value_error(format!(
                "visible has {found} sets, expected {count}"
            )));
        }
        Ok(Self::Each(sets))
    }

    /// Call with what may be seen.
    pub(crate) fn with<T>(&self, call: impl FnOnce(Visible<'_>) -> T) -> T {
        match self {
            Self::One(ids) => call(ids.as_ref().map(|ids| &ids.get().0).into()),
            Self::Each(sets) => {
                let sets: Vec<_> = sets.iter().map(|ids| &ids.get().0).collect();
                call(Visible::Each(&sets))
            }
        }
    }
}

#[pymethods]
impl Ids {
    #[new]
    fn new(ids: &Bound<'_, PyAny>) -> PyResult<Self> {
        let ids = row_ids("ids", ids)?;
        kernel::Ids::of(&ids).map(Self).map_err(no_memory("ids"))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __contains__(&self, id: i64) -> bool {
        u32::try_from(id).is_ok_and(|id| self.0.contains(id))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.0
            .iter()
            .collect::<Vec<_>>()
            .into_pyobject(py)?
            .try_iter()
    }

    /// The smallest and the largest of them.
    fn ends(&self) -> Option<(u32, u32)> {
        self.0.ends()
    }

    /// Those up to an id.
    fn until(&self, last: i64) -> PyResult<Self> {
        Ok(Self(self.0.until(row_id("last", last)?)))
    }

    fn __and__(&self, other: &Self) -> Self {
        Self(self.0.and(&other.0))
    }

    fn __or__(&self, other: &Self) -> Self {
        Self(self.0.or(&other.0))
    }

    fn __sub__(&self, other: &Self) -> Self {
        Self(self.0.minus(&other.0))
    }
}

/// Row ids from any iterable of integers.
pub(crate) fn row_ids(name: &'static str, argument: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let mut found = Vec::new();
    for item in argument.try_iter()? {
        let id = row_id(name, item?.extract()?)?;
        found.try_reserve(1).map_err(no_memory(name))?;
        found.push(id);
    }
    Ok(found)
}

/// An id of an argument, if a row can have it.
pub(crate) fn row_id(name: &str, id: i64) -> PyResult<u32> {
    let refused = |_| value_error(format!("{name} holds {id}: a row id is 0 to 2**32 - 1"));
    u32::try_from(id).map_err(refused)
}
