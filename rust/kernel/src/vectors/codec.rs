//! Vectors as database BLOBs: `4 * dimension` bytes, float32, little-endian.
//!
//! The loops go through `to_le_bytes` and `from_le_bytes`, so a big-endian machine reads the same
//! file; on a little-endian one the compiler turns them into a plain copy, with no `unsafe` here.

use std::fmt;

/// Bytes one component takes in a BLOB.
pub const COMPONENT_BYTES: usize = size_of::<f32>();

/// Components checked before looking for an early exit: long enough to be vectorised.
const CHECKED_AT_ONCE: usize = 256;

/// A component that is NaN or infinite, with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotFinite {
    /// Index of the component in its vector.
    pub position: usize,
    /// Its value.
    pub value: f32,
}

impl fmt::Display for NotFinite {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} at position {}: every component must be finite",
            self.value, self.position
        )
    }
}

impl std::error::Error for NotFinite {}

/// Refuse a vector that holds NaN or an infinity, naming the first one.
pub fn check_finite(vector: &[f32]) -> Result<(), NotFinite> {
    for (index, part) in vector.chunks(CHECKED_AT_ONCE).enumerate() {
        // No early exit inside a part, so that the compiler can vectorise it.
        if part.iter().fold(true, |finite, x| finite & x.is_finite()) {
            continue;
        }
        let within = part.iter().position(|x| !x.is_finite()).unwrap_or_default();
        let position = index * CHECKED_AT_ONCE + within;
        return Err(NotFinite {
            position,
            value: vector[position],
        });
    }
    Ok(())
}

/// Write a vector as little-endian bytes.
///
/// # Panics
/// If `blob` is not exactly `4 * vector.len()` bytes.
pub fn encode_into(vector: &[f32], blob: &mut [u8]) {
    assert_eq!(
        blob.len(),
        vector.len() * COMPONENT_BYTES,
        "a BLOB has four bytes a component"
    );
    for (bytes, component) in blob.chunks_exact_mut(COMPONENT_BYTES).zip(vector) {
        bytes.copy_from_slice(&component.to_le_bytes());
    }
}

/// Read a vector from little-endian bytes.
///
/// # Panics
/// If `blob` is not exactly `4 * vector.len()` bytes.
pub fn decode_into(blob: &[u8], vector: &mut [f32]) {
    assert_eq!(
        blob.len(),
        vector.len() * COMPONENT_BYTES,
        "a BLOB has four bytes a component"
    );
    for (component, value) in vector.iter_mut().zip(components(blob)) {
        *component = value;
    }
}

/// The components of a BLOB, in order; incomplete trailing bytes are ignored.
pub fn components(blob: &[u8]) -> impl ExactSizeIterator<Item = f32> {
    let (whole, _) = blob.as_chunks::<COMPONENT_BYTES>();
    whole.iter().map(|bytes| f32::from_le_bytes(*bytes))
}
