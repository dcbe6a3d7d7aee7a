//! `memstore._kernel`: each verb checks its arguments, releases the GIL and calls the kernel.
//!
//! The contract, with every dtype and every error, is in `python/memstore/_kernel/`, one stub for
//! each module below.

#![forbid(unsafe_code)]

mod arrays;
mod chain;
mod claims;
mod derived;
mod index;
mod json;
mod language;
mod locks;
#[cfg(feature = "model")]
mod model;
mod ranking;
mod shared;
mod vectors;

use pyo3::prelude::*;

/// The Rust kernel of memstore.
#[pymodule(gil_used = false)]
mod _kernel {
    use pyo3::panic::PanicException;
    use pyo3::prelude::*;

    /// The hash chain of the journal.
    #[pymodule]
    mod chain {
        #[pymodule_export]
        use crate::chain::{breaks, linked, seal};
    }

    /// Claims, read for comparison.
    #[pymodule]
    mod claims {
        use pyo3::prelude::*;

        #[pymodule_export]
        use crate::claims::{Alignment, Reading, Word, align, bearing, claim_hash};

        /// The characters of a text that are read.
        #[pymodule_export]
        const MAX_CHARACTERS: usize = memstore_kernel::language::claims::MAX_CHARACTERS;

        /// Adds a constant for each role and kind of word.
        #[pymodule_init]
        fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
            for (name, role) in memstore_kernel::language::claims::roles::NAMES {
                module.add(*name, *role)?;
            }
            module.add(
                "FAMILIES",
                memstore_kernel::language::claims::FAMILIES.to_vec(),
            )?;
            for (name, kind) in crate::claims::KINDS {
                module.add(name, kind as u8)?;
            }
            Ok(())
        }
    }

    /// Quantised vectors.
    #[pymodule]
    mod codes {
        #[pymodule_export]
        use crate::index::codes::Codes;
    }

    /// The columns that decide which rows may be seen.
    #[pymodule]
    mod columns {
        #[pymodule_export]
        use crate::index::columns::Columns;
    }

    /// What the contextual ranking compares with a query.
    #[pymodule]
    mod features {
        #[pymodule_export]
        use crate::index::features::Features;
    }

    /// Sets of row ids.
    #[pymodule]
    mod ids {
        #[pymodule_export]
        use crate::index::ids::Ids;
    }

    /// Texts of JSON objects.
    #[pymodule]
    mod json {
        #[pymodule_export]
        use crate::json::{Members, flat};
    }

    /// What words say without a model.
    #[pymodule]
    mod language {
        #[pymodule_export]
        use crate::language::{characters, conditions, months, named_dates, segments, stop_words};
    }

    /// File locks.
    #[pymodule]
    mod locks {
        #[pymodule_export]
        use crate::locks::{
            OpenFiles, file_created, lock_is_seen, lock_system_calls, locks_held,
            pretend_process_locks,
        };
    }

    /// Which facts mention the names of a graph.
    #[pymodule]
    mod mentions {
        #[pymodule_export]
        use crate::index::mentions::{MentionCounts, pack, without};
    }

    /// The built-in model.
    #[pymodule]
    mod model {
        #[cfg(feature = "model")]
        #[pymodule_export]
        use crate::model::BuiltInModel;

        /// Whether the built-in model is part of this build.
        #[pymodule_export]
        const HAS_MODEL: bool = cfg!(feature = "model");
    }

    /// The order of results.
    #[pymodule]
    mod ranking {
        #[pymodule_export]
        use crate::ranking::bearing::{Bearing, bearings, named, relevances, relevances_of_hits};
        #[pymodule_export]
        use crate::ranking::classic::classic;
        #[pymodule_export]
        use crate::ranking::contextual::contextual;

        /// How many neighbours on either side count.
        #[pymodule_export]
        const REACH: usize = memstore_kernel::ranking::contextual::REACH;
    }

    /// Vectors as bytes, and their cosines.
    #[pymodule]
    mod vectors {
        #[pymodule_export]
        use crate::vectors::{
            cosine, cosines, cosines_of_stored, decode, decode_many, encode, encode_many,
            instruction_set, pack, unpack,
        };
    }

    /// The inverted index.
    #[pymodule]
    mod words {
        #[pymodule_export]
        use crate::index::words::{Words, edits, near_words};
    }

    /// Also registers the modules, because an extension is no package that is searched for them.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        module.add("PanicException", py.get_type::<PanicException>())?;
        let modules = py.import("sys")?.getattr("modules")?;
        for (name, value) in module.dict() {
            if value.is_instance_of::<PyModule>() {
                modules.set_item(format!("memstore._kernel.{name}"), value)?;
            }
        }
        Ok(())
    }
}
