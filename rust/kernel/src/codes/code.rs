//! How a vector becomes a code, and what the code may be wrong by.
//!
//! A component of a unit vector is kept as a sign and seven bits. The vector's largest component
//! sets the unit: it is 384 of them. A component below 128 units is kept in steps of two, a larger
//! one in steps of four: most are small, and what counts is the sum of the errors.
//!
//! The bits lie in three planes, so that reading one after the other makes the code finer:
//!
//! | plane | bits | a component is then known as |
//! |---|---|---|
//! | coarse | sign, below or above 128 | one of -3, -1, 1, 3, times a factor of the row |
//! | finer | the next two | one of sixteen [`LEVELS`], times 16 units |
//! | finest | the last four | the middle of its step |
//!
//! How far each of the three vectors is from the true one is computed when the row is written, in
//! float64, and kept rounded up. By Cauchy and Schwarz no cosine can be further off than that.

/// Units of the largest component.
const UNITS: f64 = 384.0;

/// Components below this are kept in steps of two units, the others in steps of four.
const KNEE: f64 = 128.0;

/// What the coarse and the finer plane say together, in sixteen units: `coarse * 4 + finer`.
pub(super) const LEVELS: [i8; 16] = [
    -10, -14, -18, -22, -1, -3, -5, -7, 1, 3, 5, 7, 10, 14, 18, 22,
];

/// Units that one step of [`LEVELS`] is.
pub(super) const UNITS_PER_LEVEL: f32 = 16.0;

/// Components whose bits share a word of the coarse and of the finer plane. Bits `2 p` and
/// `2 p + 1` of byte `b` of the word belong to component `4 p + b`: so a shift and a mask give
/// four bytes to be multiplied with four neighbouring components of a query.
pub(super) const PER_WORD: usize = 16;

/// What is known of a row beside its planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// The coarse vector's factor and distance: see [`pack`].
    pub coarse: u32,
    /// The unit, and the distances of the finer and of the finest vector.
    pub rest: [f32; 3],
}

/// The bounds of a row that nothing is near to.
pub(super) const NOTHING: Bounds = Bounds {
    coarse: 0xff80,
    rest: [0.0; 3],
};

/// Where a row's bits go: the two upper planes in words, the finest one with two components a byte.
pub(super) struct Planes<'a> {
    pub coarse: &'a mut [u32],
    pub finer: &'a mut [u32],
    pub finest: &'a mut [u8],
}

/// Words of one row of the coarse or the finer plane.
pub(super) fn words(dimension: usize) -> usize {
    dimension.div_ceil(PER_WORD)
}

/// Bytes of one row of the finest plane.
pub(super) fn finest_bytes(dimension: usize) -> usize {
    dimension.div_ceil(2)
}

/// Write the code of a unit vector, or of one of zeros, into planes that are all zeros.
pub(super) fn encode(unit: &[f32], planes: Planes<'_>) -> Bounds {
    let largest = unit.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return NOTHING;
    }
    let step = (f64::from(largest) / UNITS) as f32;
    let (mut finer_square, mut finest_square) = (0.0, 0.0);
    let (mut product, mut square) = (0.0, 0.0);
    for (at, component) in unit.iter().enumerate() {
        let code = code_of(*component, f64::from(step));
        let (word, shift) = (at / PER_WORD, shift(at % PER_WORD));
        planes.coarse[word] |= u32::from(code >> 6) << shift;
        planes.finer[word] |= u32::from(code >> 4 & 3) << shift;
        planes.finest[at / 2] |= (code & 15) << (at % 2 * 4);
        let (x, u) = (f64::from(*component), f64::from(step));
        let level = f64::from(LEVELS[usize::from(code >> 4)]);
        finer_square += (x - level * f64::from(UNITS_PER_LEVEL) * u).powi(2);
        finest_square += (x - f64::from(value(code)) * u).powi(2);
        let coarse = coarse_value(code);
        product += x * coarse;
        square += coarse * coarse;
    }
    let factor = f32::from_bits((((product / square) as f32).to_bits() + 0x8000) & 0xffff_0000);
    let coarse_square: f64 = unit
        .iter()
        .enumerate()
        .map(|(at, x)| {
            let crumb = planes.coarse[at / PER_WORD] >> shift(at % PER_WORD) & 3;
            (f64::from(*x) - f64::from(factor) * (2.0 * f64::from(crumb) - 3.0)).powi(2)
        })
        .sum();
    Bounds {
        coarse: pack(factor, up(coarse_square.sqrt())),
        rest: [step, up(finer_square.sqrt()), up(finest_square.sqrt())],
    }
}

/// The two upper bits say the level of the coarse plane (0 is -3 and 3 is 3), the next two that
/// of the finer one, away from zero, and the last four the step within it, away from zero.
fn code_of(component: f32, unit: f64) -> u8 {
    let units = f64::from(component.abs()) / unit;
    let magnitude = if units < KNEE {
        units / 2.0
    } else {
        (64.0 + (units - KNEE) / 4.0).min(127.0)
    } as u8;
    let outer = magnitude >> 6;
    let coarse = if component < 0.0 {
        1 - outer
    } else {
        2 + outer
    };
    coarse << 6 | magnitude & 63
}

/// The middle of a code's step, in units.
pub(super) fn value(code: u8) -> f32 {
    let within = i16::from(code & 63);
    f32::from(match code >> 6 {
        0 => -(4 * within + 130),
        1 => -(2 * within + 1),
        2 => 2 * within + 1,
        _ => 4 * within + 130,
    })
}

fn coarse_value(code: u8) -> f64 {
    2.0 * f64::from(code >> 6) - 3.0
}

/// Where the two bits of a word's component lie.
pub(super) fn shift(within: usize) -> usize {
    within % 4 * 8 + within / 4 * 2
}

/// The factor in the upper half and the distance in the lower one, each as the upper half of a
/// float32; the distance is rounded up.
fn pack(factor: f32, distance: f32) -> u32 {
    factor.to_bits() & 0xffff_0000 | distance.to_bits().div_ceil(1 << 16)
}

/// What [`pack`] packed.
#[inline(always)]
pub(super) fn unpack(packed: u32) -> (f32, f32) {
    (
        f32::from_bits(packed & 0xffff_0000),
        f32::from_bits(packed << 16),
    )
}

/// A little more, so that neither the sum in float64 nor the rounding to float32 makes it less.
fn up(distance: f64) -> f32 {
    (distance * 1.000_001) as f32
}

/// Write the values of a row's codes, in units.
pub(super) fn decode(coarse: &[u32], finer: &[u32], finest: &[u8], values: &mut [f32]) {
    for (at, out) in values.iter_mut().enumerate() {
        let (word, shift) = (at / PER_WORD, shift(at % PER_WORD));
        let of = |plane: &[u32]| (plane[word] >> shift & 3) as u8;
        let low = finest[at / 2] >> (at % 2 * 4) & 15;
        *out = value(of(coarse) << 6 | of(finer) << 4 | low);
    }
}
