//! A map from row ids, hashed by one multiplication.
//!
//! Ids are small integers from the database, not text from outside, so the standard hasher's
//! protection against chosen keys would only cost time: a filter of 50,000 ids is 50,000 look-ups.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A value of each row, by its id.
pub(crate) type IdMap<T> = HashMap<u32, T, BuildHasherDefault<IdHasher>>;

/// The place of each row, by its id.
pub(crate) type RowMap = IdMap<u32>;

/// Hashes one id.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write_i64(&mut self, id: i64) {
        // The golden ratio spreads adjacent ids; folding the high half back in mixes both the low
        // bits, which choose the bucket, and the high ones, which distinguish entries.
        let product = u128::from(id as u64) * 0x9e37_79b9_7f4a_7c15_u128;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }

    fn write_u32(&mut self, id: u32) {
        self.write_i64(i64::from(id));
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_i64((self.0.rotate_left(8) ^ u64::from(*byte)) as i64);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
