//! How a vector becomes a code, and what the code may be wrong by.
//!
//! A component of a unit vector is kept in eight bits. The upper four say in which of sixteen
//! cells it lies, eight to either side of zero. Cells are of one width, but for the two
//! outermost, which reach to the largest component. The lower four say where in the cell.
//!
//! The bits lie in three planes, so that reading one after the other makes the code finer:
//!
//! | plane | bits | a component is then known as |
//! |---|---|---|
//! | coarse | the first two | -3, -1, 1 or 3, times a factor of the row |
//! | finer | the next two | -15, -13, … or 15, times another factor |
//! | finest | the last four | the middle of a sixteenth of its cell |
//!
//! How far each of the three vectors is from the true one is computed when the row is written, in
//! float64, and kept rounded up. By Cauchy and Schwarz no cosine can be further off than that.

/// Width of a cell as a multiple of a component's root mean square. For normally distributed
/// components the coarse vector is then 0.35 from the true one, the finer one 0.12 and the finest
/// one 0.007, and none of them could be much less.
const CELL: f32 = 0.28;

/// Cells to either side of zero.
const CELLS: f32 = 8.0;

/// Steps of a cell.
const STEPS: f32 = 16.0;

/// The code of zero, which lies between two codes.
const MIDDLE: f32 = 127.5;

/// How far from [`MIDDLE`] the outermost cells begin, in steps.
const INNER: f32 = 112.0;

/// Components whose bits share a word of the coarse and of the finer plane. Bits `2 p` and
/// `2 p + 1` of byte `b` of the word belong to component `4 p + b`: so a mask gives four bytes to
/// be multiplied with four neighbouring components of a query.
pub(super) const PER_WORD: usize = 16;

/// Two bits of each byte.
const EACH: u32 = 0x0303_0303;

/// A factor and a distance: see [`pack`].
pub(super) type Packed = u32;

/// What is known of a row beside its planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// Of the coarse vector.
    pub coarse: Packed,
    /// Of the finer vector.
    pub finer: Packed,
    pub finest: Finest,
}

/// The finest vector: the steps of the inner cells, those of the outermost ones, and the distance.
pub(super) type Finest = [f32; 3];

/// The bounds of a row that nothing is near to: the distance is minus infinity.
pub(super) const NOTHING: Packed = 0xff80;

/// Where a row's bits go.
pub(super) struct Planes<'a> {
    pub coarse: &'a mut [u32],
    pub finer: &'a mut [u32],
    /// Two words for each one of the other planes: the lower half of byte `b` of word `p / 2`
    /// belongs to component `4 p + b` if `p` is even, and the upper half if it is odd.
    pub finest: &'a mut [u32],
}

/// Words of one row of the coarse or the finer plane.
pub(super) fn words(dimension: usize) -> usize {
    dimension.div_ceil(PER_WORD)
}

/// Words of one row of the finest plane.
pub(super) fn finest_words(dimension: usize) -> usize {
    2 * words(dimension)
}

/// Write the code of a unit vector, or of one of zeros, into planes that are all zeros.
///
/// `codes` is scratch of as many bytes as the words have components.
pub(super) fn encode(unit: &[f32], planes: Planes<'_>, codes: &mut [u8]) -> Bounds {
    let largest = unit.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return Bounds {
            coarse: NOTHING,
            finer: NOTHING,
            finest: [0.0; 3],
        };
    }
    let cell = (largest / CELLS).min(CELL / (unit.len() as f32).sqrt());
    let inner = cell / STEPS;
    let outer = (largest - 7.0 * cell) / STEPS;
    write_codes(unit, (inner, outer), codes);
    write_planes(codes, planes);
    let codes = &codes[..unit.len()];
    let finest = |code: u8| f64::from(value(code, inner, outer));
    Bounds {
        coarse: fitted(unit, codes, |code| 2.0 * f64::from(code >> 6) - 3.0),
        finer: fitted(unit, codes, |code| 2.0 * f64::from(code >> 4) - 15.0),
        finest: [inner, outer, up(distance(unit, codes, finest))],
    }
}

/// Write the values of a row's codes; those that make no whole word are filled up.
///
/// `codes` is scratch of as many bytes.
pub(super) fn decode(
    [coarse, finer, finest]: [&[u32]; 3],
    [inner, outer, _]: Finest,
    codes: &mut [u8],
    values: &mut [f32],
) {
    let finest = finest.as_chunks::<2>().0;
    let codes_of = codes.as_chunks_mut::<PER_WORD>().0;
    for (((coarse, finer), finest), codes) in coarse.iter().zip(finer).zip(finest).zip(codes_of) {
        for (pair, codes) in codes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let upper = (coarse >> (2 * pair) & EACH) << 2 | finer >> (2 * pair) & EACH;
            let lower = finest[pair / 2] >> (pair % 2 * 4) & 0x0f0f_0f0f;
            *codes = (upper << 4 | lower).to_le_bytes();
        }
    }
    for (out, code) in values.iter_mut().zip(codes) {
        *out = value(*code, inner, outer);
    }
}

fn write_planes(codes: &[u8], planes: Planes<'_>) {
    let finest = planes.finest.as_chunks_mut::<2>().0.iter_mut();
    let words = planes.coarse.iter_mut().zip(planes.finer).zip(finest);
    for (codes, ((coarse, finer), finest)) in codes.as_chunks::<PER_WORD>().0.iter().zip(words) {
        for (pair, codes) in codes.as_chunks::<4>().0.iter().enumerate() {
            let codes = u32::from_le_bytes(*codes);
            *coarse |= (codes >> 6 & EACH) << (2 * pair);
            *finer |= (codes >> 4 & EACH) << (2 * pair);
            finest[pair / 2] |= (codes & 0x0f0f_0f0f) << (pair % 2 * 4);
        }
    }
}

/// Which code is chosen decides how near the vectors are, and not whether the distances are right.
fn write_codes(unit: &[f32], (inner, outer): (f32, f32), codes: &mut [u8]) {
    let (by_inner, by_outer) = (inner.recip(), outer.recip());
    for (component, code) in unit.iter().zip(codes) {
        let x = component.abs();
        let within = x * by_inner;
        let beyond = INNER + (x - INNER * inner) * by_outer;
        let steps = if within < INNER { within } else { beyond };
        let steps = steps.min(127.0) as i32;
        *code = if *component < 0.0 {
            127 - steps
        } else {
            128 + steps
        } as u8;
    }
}

/// The middle of a code's step.
fn value(code: u8, inner: f32, outer: f32) -> f32 {
    let steps = f32::from(code) - MIDDLE;
    let within = steps.clamp(-INNER, INNER);
    within * inner + (steps - within) * outer
}

/// The multiple of a vector of whole numbers that is nearest to the true one, and its distance.
fn fitted(unit: &[f32], codes: &[u8], whole: impl Fn(u8) -> f64) -> Packed {
    let product = summed(unit, codes, |x, code| x * whole(code));
    let square = summed(unit, codes, |_, code| whole(code) * whole(code));
    let factor = ((product / square) as f32).to_bits() + 0x8000;
    let factor = f32::from_bits(factor & 0xffff_0000);
    let value = |code| f64::from(factor) * whole(code);
    pack(factor, up(distance(unit, codes, value)))
}

fn distance(unit: &[f32], codes: &[u8], value: impl Fn(u8) -> f64) -> f64 {
    let square = |x: f64, code| (x - value(code)) * (x - value(code));
    summed(unit, codes, square).sqrt()
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

/// What [`pack`] packed.
#[inline(always)]
pub(super) fn unpack(packed: Packed) -> (f32, f32) {
    (
        f32::from_bits(packed & 0xffff_0000),
        f32::from_bits(packed << 16),
    )
}

/// A little more, so that neither the sum in float64 nor the rounding to float32 makes it less.
fn up(distance: f64) -> f32 {
    (distance * 1.000_001) as f32
}
