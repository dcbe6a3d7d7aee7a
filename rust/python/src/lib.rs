//! `memstore._kernel`: each verb checks its arguments, releases the GIL and calls the kernel.
//!
//! The contract, with every dtype and every error, is `python/memstore/_kernel.pyi`.

#![forbid(unsafe_code)]

mod arrays;
mod codec;
mod codes;
mod columns;
mod derived;
mod ids;
mod language;
mod locks;
#[cfg(feature = "model")]
mod model;
mod rank;
mod shared;
mod texts;
mod words;

use std::sync::OnceLock;

use memstore_kernel::dot::Dot;
use pyo3::prelude::*;

/// The fastest kernels for this CPU, detected once.
fn dot() -> &'static Dot {
    static BEST: OnceLock<Dot> = OnceLock::new();
    BEST.get_or_init(Dot::best)
}

/// The name of the instruction set that a scan uses on this machine.
#[pyfunction]
fn instruction_set() -> &'static str {
    dot().name()
}

/// The Rust kernel of memstore: vectors as bytes, the search index, and the ranking.
#[pymodule(gil_used = false)]
mod _kernel {
    use pyo3::panic::PanicException;
    use pyo3::prelude::*;

    /// Whether the embedded model is part of this build.
    #[pymodule_export]
    const HAS_MODEL: bool = cfg!(feature = "model");

    #[pymodule_export]
    use super::codec::{cosine, decode, decode_many, encode, encode_many};
    #[pymodule_export]
    use super::codes::{Codes, cosines};
    #[pymodule_export]
    use super::columns::Columns;
    #[pymodule_export]
    use super::ids::Ids;
    #[pymodule_export]
    use super::instruction_set;
    #[pymodule_export]
    use super::language::named_dates;
    #[pymodule_export]
    use super::locks::{
        OpenFiles, lock_is_seen, lock_system_calls, locks_held, pretend_process_locks,
    };
    #[cfg(feature = "model")]
    #[pymodule_export]
    use super::model::StaticModel;
    #[pymodule_export]
    use super::rank::rank;
    #[pymodule_export]
    use super::texts::Texts;
    #[pymodule_export]
    use super::words::Words;

    /// What a panic in the kernel becomes, so that callers can name it.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("PanicException", module.py().get_type::<PanicException>())
    }
}
