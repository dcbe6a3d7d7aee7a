//! The columns that decide which rows may be seen, as a Python class.

use std::path::PathBuf;

use memstore_kernel::index::columns::{self as kernel, KIND, VERSION};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::ids::{Ids, row_id, row_ids};
use crate::arrays::{no_memory, value_error};
use crate::derived::{Origin, refusal, tag};
use crate::shared::Shared;

type Text = Option<PyBackedStr>;
type GivenRow = (i64, Text, u8, (Text, Text), (Text, Text, Text));
type Counted = (Vec<(String, u32, u32)>, usize);
type GivenPeriod = (usize, Text, Text, bool);

/// The columns that decide which rows may be seen, by row id.
#[pyclass(frozen, module = "memstore._kernel.columns")]
pub(crate) struct Columns {
    columns: Shared<kernel::Columns>,
    origin: Origin,
}

#[pymethods]
impl Columns {
    #[new]
    fn new() -> Self {
        Self {
            columns: Shared::new(kernel::Columns::new()),
            origin: Origin::default(),
        }
    }

    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, database: &[u8]) -> PyResult<Self> {
        let tag = tag(KIND, VERSION, database, 0)?;
        let (columns, file) = py
            .detach(|| kernel::Columns::open(&path, &tag))
            .map_err(refusal)?;
        Ok(Self {
            columns: Shared::new(columns),
            origin: Origin::new(file),
        })
    }

    fn save(&self, py: Python<'_>, path: PathBuf, database: &[u8], position: u64) -> PyResult<()> {
        let tag = tag(KIND, VERSION, database, 0)?;
        py.detach(|| self.columns.read().save(&path, &tag, position))
            .map_err(PyErr::from)
    }

    #[getter]
    fn position(&self) -> u64 {
        self.origin.position()
    }

    /// Whether the mapped file is what was written; `compare` reads all of it.
    #[pyo3(signature = (*, compare = false))]
    fn is_intact(&self, py: Python<'_>, compare: bool) -> bool {
        self.origin.is_intact(py, compare)
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.columns.read().nbytes())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.columns.read().len())
    }

    fn put(&self, py: Python<'_>, rows: Vec<GivenRow>) -> PyResult<()> {
        let rows: Vec<(u32, GivenRow)> = rows
            .into_iter()
            .map(|row| Ok((row_id("rows", row.0)?, row)))
            .collect::<PyResult<_>>()?;
        py.detach(|| {
            let mut columns = self.columns.write();
            for (id, (_, namespace, flags, texts, moments)) in &rows {
                let row = kernel::Row {
                    namespace: text(namespace),
                    flags: *flags,
                    texts: [text(&texts.0), text(&texts.1)],
                    moments: [text(&moments.0), text(&moments.1), text(&moments.2)],
                };
                columns.put(*id, &row)?;
            }
            Ok(())
        })
        .map_err(no_memory("columns"))
    }

    fn drop(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<usize> {
        let ids = row_ids("ids", ids)?;
        py.detach(|| {
            let mut columns = self.columns.write();
            ids.iter()
                .try_fold(0, |sum, id| Ok(sum + usize::from(columns.remove(*id)?)))
        })
        .map_err(no_memory("columns"))
    }

    /// How many of some rows have each text of a column: those of a page, and how many texts.
    #[pyo3(signature = (column, among, *, limit, prefix = "", by_number = false, after = None))]
    #[allow(clippy::too_many_arguments)]
    fn counts(
        &self,
        py: Python<'_>,
        column: usize,
        among: &Bound<'_, Ids>,
        limit: usize,
        prefix: &str,
        by_number: bool,
        after: Option<(PyBackedStr, u32)>,
    ) -> PyResult<Counted> {
        known(column, kernel::TEXTS)?;
        let among = &among.get().0;
        let counts = py
            .detach(|| {
                let page = kernel::Page {
                    prefix,
                    by_number,
                    after: after.as_ref().map(|(text, number)| (&**text, *number)),
                    limit,
                };
                self.columns.read().counts(column, among, &page)
            })
            .map_err(no_memory("columns"))?;
        let first = counts.first.into_iter();
        let first = first.map(|one| (one.text, one.number, one.last)).collect();
        Ok((first, counts.texts))
    }

    /// How many of some rows have a time from each bound on and before the next one.
    fn histogram(
        &self,
        py: Python<'_>,
        column: usize,
        among: &Bound<'_, Ids>,
        bounds: Vec<PyBackedStr>,
    ) -> PyResult<Vec<u32>> {
        known(column, kernel::MOMENTS)?;
        let among = &among.get().0;
        py.detach(|| {
            let bounds: Vec<&str> = bounds.iter().map(|bound| &**bound).collect();
            self.columns.read().histogram(column, among, &bounds)
        })
        .map_err(no_memory("columns"))
    }

    #[pyo3(
        signature = (
            namespaces, *, without = 0, texts = (None, None), periods = vec![], among = None
        ),
        text_signature = "($self, namespaces, *, without=0, texts=(None, None), periods=(), among=None)"
    )]
    fn select(
        &self,
        py: Python<'_>,
        namespaces: Option<Vec<PyBackedStr>>,
        without: u8,
        texts: (Text, Text),
        periods: Vec<GivenPeriod>,
        among: Option<&Bound<'_, Ids>>,
    ) -> PyResult<Ids> {
        if let Some((column, ..)) = periods.iter().find(|period| period.0 >= kernel::MOMENTS) {
            return Err(value_error(format!(
                "periods name column {column}, but there are only {}",
                kernel::MOMENTS
            )));
        }
        let among = among.map(|ids| &ids.get().0);
        py.detach(|| {
            let namespaces: Option<Vec<&str>> = namespaces
                .as_ref()
                .map(|names| names.iter().map(|name| &**name).collect());
            let periods: Vec<_> = periods
                .iter()
                .map(|(column, after, before, or_none)| kernel::Period {
                    column: *column,
                    after: text(after),
                    before: text(before),
                    or_none: *or_none,
                })
                .collect();
            self.columns.read().select(&kernel::Wanted {
                namespaces: namespaces.as_deref(),
                without,
                texts: [text(&texts.0), text(&texts.1)],
                periods: &periods,
                among,
            })
        })
        .map(Ids)
        .map_err(no_memory("columns"))
    }
}

/// Refuse a column that there is not.
fn known(column: usize, columns: usize) -> PyResult<()> {
    if column < columns {
        return Ok(());
    }
    Err(value_error(format!(
        "there is no column {column}, only {columns}"
    )))
}

fn text(text: &Text) -> Option<&str> {
    text.as_deref()
}
