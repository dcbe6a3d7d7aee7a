//! The rankings as Python functions of the index.

pub(crate) mod bearing;
pub(crate) mod classic;
pub(crate) mod contextual;
