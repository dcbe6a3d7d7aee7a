//! The file of the built-in model, which is part of the program and read in place.
//!
//! `rust/kernel/model/make.py` writes it. All numbers are little-endian, and each part begins at a
//! multiple of 64 bytes:
//!
//! | part       | holds                                                                         |
//! |------------|-------------------------------------------------------------------------------|
//! | header     | 16 bytes `memstore static\0`; u32: dimension, tokens, id of the byte 0, characters, merges, buckets |
//! | characters | u32 code points in rising order                                               |
//! | their ids  | u16                                                                           |
//! | buckets    | u16: where the merges of each begin, and at last how many there are           |
//! | merges     | u16: left, right, rank, merged; by bucket, then by rank                       |
//! | scales     | f32 of each token                                                             |
//! | vectors    | i8\[dimension\] of each token, to be multiplied by its scale                  |

use super::DIMENSION;

static BYTES: &[u8] = include_bytes!("../../model/l2-supercat-256-int8.bin");

const MAGIC: &[u8] = b"memstore static\0";
const HEADER_BYTES: usize = MAGIC.len() + 6 * size_of::<u32>();
const ALIGNMENT: usize = 64;

/// The parts of the file.
pub(super) struct File {
    pub first_byte: u16,
    characters: &'static [[u8; 4]],
    character_ids: &'static [[u8; 2]],
    buckets: &'static [[u8; 2]],
    merges: &'static [[u8; 8]],
    scales: &'static [[u8; 4]],
    vectors: &'static [[u8; DIMENSION]],
}

/// The result of merging a pair of adjacent tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Merge {
    /// Pairs are merged by rising rank.
    pub rank: u16,
    pub merged: u16,
}

impl File {
    /// # Panics
    /// If the file is not as described, which tests would have shown.
    pub fn embedded() -> Self {
        let mut rest = BYTES;
        let header = part(&mut rest, HEADER_BYTES);
        let (magic, numbers) = header.split_at(MAGIC.len());
        assert_eq!(magic, MAGIC);
        let numbers: Vec<usize> = rows::<4>(numbers)
            .iter()
            .map(|bytes| u32::from_le_bytes(*bytes) as usize)
            .collect();
        let &[dimension, tokens, first_byte, characters, merges, buckets] = &numbers[..] else {
            unreachable!("the header has six numbers");
        };
        assert_eq!(dimension, DIMENSION);
        assert_eq!(buckets, 1 << (u32::BITS - BUCKET_SHIFT));
        Self {
            first_byte: first_byte as u16,
            characters: rows(part(&mut rest, characters * 4)),
            character_ids: rows(part(&mut rest, characters * 2)),
            buckets: rows(part(&mut rest, (buckets + 1) * 2)),
            merges: rows(part(&mut rest, merges * 8)),
            scales: rows(part(&mut rest, tokens * 4)),
            vectors: rows(part(&mut rest, tokens * DIMENSION)),
        }
    }

    /// The token that is this character, if there is one.
    pub fn character(&self, character: char) -> Option<u16> {
        let wanted = u32::from(character);
        self.characters
            .binary_search_by_key(&wanted, |bytes| u32::from_le_bytes(*bytes))
            .ok()
            .map(|at| u16::from_le_bytes(self.character_ids[at]))
    }

    /// The merge of two adjacent tokens, if there is one.
    pub fn merge(&self, left: u16, right: u16) -> Option<Merge> {
        let bucket = bucket(left, right);
        let start = usize::from(u16::from_le_bytes(self.buckets[bucket]));
        let end = usize::from(u16::from_le_bytes(self.buckets[bucket + 1]));
        let [a, b] = left.to_le_bytes();
        let [c, d] = right.to_le_bytes();
        self.merges[start..end]
            .iter()
            .find(|merge| merge[..4] == [a, b, c, d])
            .map(|&[.., e, f, g, h]| Merge {
                rank: u16::from_le_bytes([e, f]),
                merged: u16::from_le_bytes([g, h]),
            })
    }

    /// How many tokens there are.
    pub fn token_count(&self) -> usize {
        self.scales.len()
    }

    /// The vector of a token: each byte is an i8, to be multiplied by the scale.
    pub fn vector(&self, token: u16) -> (&'static [u8; DIMENSION], f32) {
        let token = usize::from(token);
        let scale = f32::from_le_bytes(self.scales[token]);
        (&self.vectors[token], scale)
    }
}

/// The bits of a pair's hash that do not choose the bucket.
const BUCKET_SHIFT: u32 = 16;

fn bucket(left: u16, right: u16) -> usize {
    let pair = u32::from(left) << 16 | u32::from(right);
    (pair.wrapping_mul(0x9E37_79B1) >> BUCKET_SHIFT) as usize
}

/// Take the next part off the front.
fn part(rest: &mut &'static [u8], length: usize) -> &'static [u8] {
    let (part, after) = rest.split_at(length.next_multiple_of(ALIGNMENT));
    *rest = after;
    &part[..length]
}

fn rows<const N: usize>(bytes: &'static [u8]) -> &'static [[u8; N]] {
    let (rows, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "a whole number of rows");
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_merge_is_found_and_names_tokens() {
        let file = File::embedded();
        for &[a, b, c, d, e, f, g, h] in file.merges {
            let [left, right, rank, merged] =
                [[a, b], [c, d], [e, f], [g, h]].map(u16::from_le_bytes);
            assert_eq!(file.merge(left, right), Some(Merge { rank, merged }));
            assert!(usize::from(left.max(right).max(merged)) < file.token_count());
            assert!(usize::from(rank) < file.merges.len());
        }
    }

    #[test]
    fn every_character_is_found_and_every_byte_is_a_token() {
        let file = File::embedded();
        assert!(
            file.characters
                .is_sorted_by_key(|bytes| u32::from_le_bytes(*bytes))
        );
        for (codepoint, id) in file.characters.iter().zip(file.character_ids) {
            let character = char::from_u32(u32::from_le_bytes(*codepoint)).expect("a character");
            assert_eq!(file.character(character), Some(u16::from_le_bytes(*id)));
        }
        assert_eq!(file.character('\u{10ffff}'), None);
        assert!(usize::from(file.first_byte) + 256 <= file.token_count());
    }

    #[test]
    fn no_token_of_the_table_is_zero_and_every_byte_has_an_opposite() {
        let file = File::embedded();
        for token in 0..file.token_count() {
            let (vector, scale) = file.vector(token as u16);
            assert!(scale.is_finite() && scale > 0.0);
            assert!(vector.iter().any(|byte| *byte != 0));
            assert!(vector.iter().all(|byte| byte.cast_signed() != i8::MIN));
        }
    }
}
