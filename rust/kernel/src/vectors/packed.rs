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
    let mut far = rest.iter();

    let mut blob = Vec::with_capacity(dimension * COMPONENT_BYTES);
    for (eight, bits) in mantissas.chunks(8 * kept).zip(distances.chunks(BITS)) {
        let mut four = [0; 4];
        four[..bits.len()].copy_from_slice(bits);
        let bits = u32::from_le_bytes(four);
        for (place, bytes) in eight.chunks(kept).enumerate() {
            let exponent = match (bits >> (BITS * place)) as u8 & FAR {
                FAR => *far.next()?,
                below => largest.checked_sub(below)?,
            };
            let mut four = [0; 4];
            four[MANTISSA_BYTES - kept..MANTISSA_BYTES].copy_from_slice(bytes);
            let mantissa = u32::from_le_bytes(four);
            let sign = mantissa >> MANTISSA_BITS << 31;
            let number = sign | u32::from(exponent) << MANTISSA_BITS | mantissa & MANTISSA;
            blob.extend(number.to_le_bytes());
        }
    }
    let left = far.as_slice();
    (left.len() < COMPONENT_BYTES && left.iter().all(|byte| *byte == 0)).then_some(blob)
}

fn exponent(number: u32) -> u8 {
    (number >> MANTISSA_BITS) as u8
}

/// The sign, followed by the mantissa: the lower 24 bits of the result.
fn mantissa(number: u32) -> u32 {
    number >> 31 << MANTISSA_BITS | number & MANTISSA
}
