//! How a vector becomes a code, and the bounds of the code's error.
//!
//! A component of a unit vector is stored in eight bits: which of 256 equal steps it falls in, from
//! minus the largest component to plus the largest. The bits are stored in two planes, so that
//! reading one after the other makes the code finer:
//!
//! | plane | bits | a component is then known as |
//! |---|---|---|
//! | coarse | the first four | -15, -13, … or 15, times a factor of the row |
//! | finer | the last four | -255, -253, … or 255, times another factor |
//!
//! The coarse plane is stored in blocks of rows, the finer one row by row. The distance of each of
//! the two vectors from the true one is computed in float64 when the row is written, and stored
//! rounded up. By Cauchy-Schwarz no cosine can be off by more than that.

/// Components whose bits share a word of the coarse plane. The lower half of byte `b` of a word
/// belongs to its component `b`, and the upper half to component `4 + b`: so a mask gives four bytes
/// to be multiplied with four neighbouring components of a query.
pub(super) const PER_WORD: usize = 8;

/// The lower half of each byte.
pub(super) const LOWER: u32 = 0x0f0f_0f0f;

/// A factor and a distance: see [`pack`].
pub(super) type Packed = u32;

/// The bound of a row that can never be near: the distance is minus infinity.
pub(super) const NOTHING: Packed = 0xff80;

/// Words of one row of the coarse plane.
pub(super) fn words(dimension: usize) -> usize {
    dimension.div_ceil(PER_WORD)
}

/// Bytes of one row of the finer plane: their lower halves belong to the first half of the
/// components, their upper halves to the second half.
pub(super) fn finer_bytes(dimension: usize) -> usize {
    words(dimension) * PER_WORD / 2
}

/// Write the code of a unit vector, or of one of zeros, and return the bounds of both planes.
///
/// `codes` is scratch of as many bytes as the words have components.
pub(super) fn encode(
    unit: &[f32],
    (coarse, finer): (&mut [u32], &mut [u8]),
    codes: &mut [u8],
) -> [Packed; 2] {
    let largest = unit.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return [NOTHING; 2];
    }
    // The choice of codes affects how close the vectors are, not whether the distances are right.
    let steps = 128.0 / largest;
    for (component, code) in unit.iter().zip(&mut *codes) {
        *code = (component * steps + 128.0) as u8;
    }
    for (word, codes) in coarse
        .iter_mut()
        .zip(codes.as_chunks::<4>().0.as_chunks::<2>().0)
    {
        let [lower, upper] = codes.map(u32::from_le_bytes);
        *word = lower >> 4 & LOWER | upper & !LOWER;
    }
    let (front, back) = codes.split_at(finer.len());
    for (byte, (front, back)) in finer.iter_mut().zip(front.iter().zip(back)) {
        *byte = front & 15 | back << 4;
    }
    let codes = &codes[..unit.len()];
    [
        fitted(unit, codes, |code| 2.0 * f64::from(code >> 4) - 15.0),
        fitted(unit, codes, |code| 2.0 * f64::from(code) - 255.0),
    ]
}

/// The multiple of a vector of whole numbers that is nearest to the true one, and its distance.
fn fitted(unit: &[f32], codes: &[u8], whole: impl Fn(u8) -> f64) -> Packed {
    let product = summed(unit, codes, |x, code| x * whole(code));
    let square = summed(unit, codes, |_, code| whole(code) * whole(code));
    let factor = ((product / square) as f32).to_bits() + 0x8000;
    let factor = f32::from_bits(factor & 0xffff_0000);
    let off = |x: f64, code| x - f64::from(factor) * whole(code);
    let distance = summed(unit, codes, |x, code| off(x, code) * off(x, code)).sqrt();
    // Slightly more, to cover the rounding of the float64 sum and of float32.
    pack(factor, (distance * 1.000_001) as f32)
}

/// In several sums, so that the additions need not wait for one another.
#[inline(always)]
fn summed(unit: &[f32], codes: &[u8], term: impl Fn(f64, u8) -> f64) -> f64 {
    const LANES: usize = 8;
    let (groups, rest) = unit.as_chunks::<LANES>();
    let (code_groups, code_rest) = codes.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (unit, codes) in groups.iter().zip(code_groups) {
        for lane in 0..LANES {
            sums[lane] += term(f64::from(unit[lane]), codes[lane]);
        }
    }
    let rest = rest.iter().zip(code_rest);
    let rest: f64 = rest.map(|(x, code)| term(f64::from(*x), *code)).sum();
    sums.iter().sum::<f64>() + rest
}

/// The factor in the upper half and the distance in the lower one, each as the upper half of a
/// float32; the distance is rounded up.
fn pack(factor: f32, distance: f32) -> Packed {
    factor.to_bits() & 0xffff_0000 | distance.to_bits().div_ceil(1 << 16)
}

/// Undoes [`pack`].
#[inline(always)]
pub(super) fn unpack(packed: Packed) -> (f32, f32) {
    (
        f32::from_bits(packed & 0xffff_0000),
        f32::from_bits(packed << 16),
    )
}
