//! The structures of the index as Python classes.

pub(crate) mod codes;
pub(crate) mod columns;
pub(crate) mod features;
pub(crate) mod ids;
pub(crate) mod mentions;
pub(crate) mod words;
