//! A float32 kept as two 16-bit halves: a coarse one that is a number by itself, and the rest.
//!
//! A scan is as fast as memory can deliver rows. The coarse half (bfloat16: sign, exponent, seven
//! bits of fraction) is enough to see that a row cannot be among the best, so a scan reads half
//! the bytes and looks at the fine half of the few rows that might be. Together the halves give
//! back every bit, so nothing is lost and nothing is stored twice.

/// How far the coarse half of `x` may be from `x`, relative to `x`: half a step of seven bits.
pub const COARSE_ERROR: f32 = 1.0 / 256.0;

/// Split a number; the coarse half is rounded to nearest, the fine half says what was added.
///
/// Rounding would carry a number next to the largest float32 into infinity; callers split
/// components of unit vectors, which are at most one.
#[inline]
pub fn split(x: f32) -> (u16, u16) {
    let bits = x.to_bits();
    ((bits.wrapping_add(0x8000) >> 16) as u16, bits as u16)
}

/// The number whose halves these are, bit for bit.
#[inline]
pub fn join(coarse: u16, fine: u16) -> f32 {
    // A fine half of 0x8000 or more is one that was rounded up: as a signed number it takes the
    // carry back.
    let carried = i32::from(fine as i16) as u32;
    f32::from_bits((u32::from(coarse) << 16).wrapping_add(carried))
}

/// Split a row into its two planes.
pub fn split_row(row: &[f32], coarse: &mut [u16], fine: &mut [u16]) {
    for ((x, coarse), fine) in row.iter().zip(coarse).zip(fine) {
        (*coarse, *fine) = split(*x);
    }
}

/// Put the two planes of a row together again.
pub fn join_row(coarse: &[u16], fine: &[u16], row: &mut [f32]) {
    for ((x, coarse), fine) in row.iter_mut().zip(coarse).zip(fine) {
        *x = join(*coarse, *fine);
    }
}
