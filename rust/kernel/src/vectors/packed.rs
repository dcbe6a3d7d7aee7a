//! Vectors in fewer bytes, without loss: a page of 4 KB holds four of 256 numbers instead of three.
//!
//! The numbers of an embedding are of like size, so their exponents are few. Each number is its sign
//! and mantissa, in as many bytes as any number of the vector needs, and three bits: how far its
//! exponent is below the largest one of the vector. Seven means that the exponent stands at the end.
//!
//! | bytes | content |
//! |---|---|
//! | 1 | [`FORMAT`] |
//! | 1 | bytes of each mantissa with its sign, 1 to 3; the lower ones are zero in all numbers |
//! | 1 | the largest exponent, as float32 has it |
//! | 2 | dimension, little-endian |
//! | dimension × bytes | signs and mantissas, little-endian |
//! | dimension × 3 / 8, rounded up | distances of exponents, the first one in the lowest bits |
//! | one each | the exponents that are further away, in order |
//! | 0 to 3 | zeros, until the length is a multiple of four and one |
//!
//! A BLOB that is not packed has a multiple of four bytes, so each tells what it is.

use super::codec::COMPONENT_BYTES;

const FORMAT: u8 = 1;
const HEADER: usize = 5;

/// Bits of the distance of an exponent.
const BITS: usize = 3;
/// The distance of an exponent that is at the end.
const FAR: u8 = (1 << BITS) - 1;
/// Numbers whose distances fill whole bytes.
const EIGHT: usize = 8;
/// The lowest bit of each of their distances.
const LOWEST: u32 = 0o11_111_111;

/// Bits of a mantissa, of which the sign is added as the next one.
const MANTISSA_BITS: u32 = 23;
const MANTISSA: u32 = (1 << MANTISSA_BITS) - 1;
const MANTISSA_BYTES: usize = 3;

/// The remainder of a packed length, which no other BLOB has.
const REMAINDER: usize = 1;

/// Pack the BLOB of a vector; `None` if that would not be shorter.
pub fn pack(blob: &[u8]) -> Option<Vec<u8>> {
    let (components, rest) = blob.as_chunks::<COMPONENT_BYTES>();
    let dimension = u16::try_from(components.len()).ok()?;
    if dimension == 0 || !rest.is_empty() {
        return None;
    }
    let numbers = || components.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let largest = numbers().map(exponent).max()?;
    let used = numbers().fold(0, |bits, number| bits | mantissa(number));
    let zeros = (used.trailing_zeros() as usize / 8).min(MANTISSA_BYTES - 1);
    let kept = MANTISSA_BYTES - zeros;

    let mut packed = Vec::with_capacity(blob.len());
    packed.extend([FORMAT, kept as u8, largest]);
    packed.extend(dimension.to_le_bytes());
    for number in numbers() {
        packed.extend(&mantissa(number).to_le_bytes()[zeros..MANTISSA_BYTES]);
    }
    for eight in components.chunks(8) {
        let mut bits = 0_u32;
        for (place, bytes) in eight.iter().enumerate() {
            let below = (largest - exponent(u32::from_le_bytes(*bytes))).min(FAR);
            bits |= u32::from(below) << (BITS * place);
        }
        packed.extend(&bits.to_le_bytes()[..(eight.len() * BITS).div_ceil(8)]);
    }
    packed.extend(numbers().map(exponent).filter(|one| largest - one >= FAR));
    while packed.len() % COMPONENT_BYTES != REMAINDER {
        packed.push(0);
    }
    (packed.len() < blob.len()).then_some(packed)
}

/// The BLOB that was packed; `None` if it was not packed, or is damaged.
pub fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let parts = Parts::of(packed)?;
    let mut numbers = vec![0.0; parts.dimension];
    let is_whole = parts.write(&mut numbers);
    is_whole.then(|| numbers.iter().flat_map(|one| one.to_le_bytes()).collect())
}

/// Write the numbers that were packed; `None` if the BLOB was not packed, or is damaged or of
/// another dimension.
pub fn unpack_into(packed: &[u8], numbers: &mut [f32]) -> Option<()> {
    let parts = Parts::of(packed).filter(|parts| parts.dimension == numbers.len())?;
    parts.write(numbers).then_some(())
}

/// The parts of a packed BLOB.
struct Parts<'a> {
    dimension: usize,
    kept: usize,
    largest: u8,
    mantissas: &'a [u8],
    distances: &'a [u8],
    /// The exponents that are further away, and the zeros after them.
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(packed: &'a [u8]) -> Option<Self> {
        if packed.len() % COMPONENT_BYTES != REMAINDER || packed.len() < HEADER {
            return None;
        }
        let ([format, kept, largest, low, high], rest) = packed.split_first_chunk()?;
        let kept = usize::from(*kept);
        if *format != FORMAT || !(1..=MANTISSA_BYTES).contains(&kept) {
            return None;
        }
        let dimension = usize::from(u16::from_le_bytes([*low, *high]));
        let (mantissas, rest) = rest.split_at_checked(dimension * kept)?;
        let (distances, rest) = rest.split_at_checked((dimension * BITS).div_ceil(8))?;
        Some(Self {
            dimension,
            kept,
            largest: *largest,
            mantissas,
            distances,
            rest,
        })
    }

    /// Write the numbers, as many as there are; returns whether the BLOB is whole.
    fn write(&self, numbers: &mut [f32]) -> bool {
        match self.kept {
            1 => self.write_of::<1>(numbers),
            2 => self.write_of::<2>(numbers),
            _ => self.write_of::<MANTISSA_BYTES>(numbers),
        }
    }

    fn write_of<const KEPT: usize>(&self, numbers: &mut [f32]) -> bool {
        let mut far = self.rest.iter();
        let (mantissas, _) = self.mantissas.as_chunks::<KEPT>();
        let (mantissas, last) = mantissas.as_chunks::<EIGHT>();
        let (eights, numbers) = numbers.as_chunks_mut::<EIGHT>();
        let mut distances = self.distances.chunks(BITS).map(bits_of);
        for (mantissas, numbers) in mantissas.iter().zip(eights) {
            let bits = distances.next().unwrap_or_default();
            // Where no exponent stands at the end, the compiler has no branches to take.
            if has_far(bits) || self.largest < FAR {
                if self
                    .write_some(mantissas, bits, numbers, &mut far)
                    .is_none()
                {
                    return false;
                }
                continue;
            }
            for (place, (mantissa, number)) in mantissas.iter().zip(numbers).enumerate() {
                let below = (bits >> (BITS * place)) as u8 & FAR;
                *number = number_of(self.largest - below, mantissa);
            }
        }
        let bits = distances.next().unwrap_or_default();
        let is_whole = self.write_some(last, bits, numbers, &mut far).is_some();
        let left = far.as_slice();
        is_whole && left.len() < COMPONENT_BYTES && left.iter().all(|byte| *byte == 0)
    }

    /// Write up to eight numbers; `None` if the BLOB is damaged.
    fn write_some<const KEPT: usize>(
        &self,
        mantissas: &[[u8; KEPT]],
        bits: u32,
        numbers: &mut [f32],
        far: &mut std::slice::Iter<'_, u8>,
    ) -> Option<()> {
        for (place, (mantissa, number)) in mantissas.iter().zip(numbers).enumerate() {
            let exponent = match (bits >> (BITS * place)) as u8 & FAR {
                FAR => *far.next()?,
                below => self.largest.checked_sub(below)?,
            };
            *number = number_of(exponent, mantissa);
        }
        Some(())
    }
}

/// The distances of up to eight exponents.
fn bits_of(bytes: &[u8]) -> u32 {
    let mut four = [0; 4];
    four[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(four)
}

/// Whether one of eight exponents stands at the end: all bits of its distance are set.
fn has_far(bits: u32) -> bool {
    bits & bits >> 1 & bits >> 2 & LOWEST != 0
}

fn number_of<const KEPT: usize>(exponent: u8, mantissa: &[u8; KEPT]) -> f32 {
    let mut four = [0; 4];
    four[MANTISSA_BYTES - KEPT..MANTISSA_BYTES].copy_from_slice(mantissa);
    let mantissa = u32::from_le_bytes(four);
    let sign = mantissa >> MANTISSA_BITS << 31;
    f32::from_bits(sign | u32::from(exponent) << MANTISSA_BITS | mantissa & MANTISSA)
}

fn exponent(number: u32) -> u8 {
    (number >> MANTISSA_BITS) as u8
}

/// The sign, followed by the mantissa: the lower 24 bits of the result.
fn mantissa(number: u32) -> u32 {
    number >> 31 << MANTISSA_BITS | number & MANTISSA
}
