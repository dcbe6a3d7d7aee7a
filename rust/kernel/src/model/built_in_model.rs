//! The built-in model: a text's vector is the mean of its tokens' vectors, scaled to length one.
//!
//! The table is part of the program: nothing has to be loaded or checked on first use, and all
//! processes share its pages. `docs/decisions/0043-embedded-model.md` says where it comes from.

use std::collections::TryReserveError;
use std::num::NonZero;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use super::file::File;
use super::tokenizer::{Scratch, Tokenizer};
use crate::vectors::unit::write_unit;

/// Components of a vector.
pub const DIMENSION: usize = 256;

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Bytes of text that justify one more thread: about a millisecond of work.
const BYTES_PER_THREAD: usize = 1 << 15;

/// So that one batch does not use all of a large machine.
const MAX_THREADS: usize = 8;

/// Features that a thread takes at a time.
const GROUP: usize = 16;

/// The model; there is one in a process.
pub struct BuiltInModel {
    file: File,
    tokenizer: Tokenizer,
}

impl BuiltInModel {
    /// The model, ready.
    pub fn embedded() -> &'static Self {
        static MODEL: OnceLock<BuiltInModel> = OnceLock::new();
        MODEL.get_or_init(|| {
            let file = File::embedded();
            let tokenizer = Tokenizer::new(&file);
            Self { file, tokenizer }
        })
    }

    /// The vector of each text, one after the other: of length one, or zeros for the empty text.
    ///
    /// Uses as many threads as the work is worth; the result does not depend on how many.
    ///
    /// # Errors
    /// There is no memory.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<f32>, TryReserveError> {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        self.embed_on(texts, threads_worth(bytes))
    }

    /// [`Self::embed`] with a given number of threads.
    fn embed_on(&self, texts: &[&str], threads: usize) -> Result<Vec<f32>, TryReserveError> {
        let mut vectors = Vec::new();
        vectors.try_reserve_exact(texts.len().saturating_mul(DIMENSION))?;
        vectors.resize(texts.len() * DIMENSION, 0.0);
        let groups = texts
            .chunks(GROUP)
            .zip(vectors.chunks_mut(GROUP * DIMENSION));
        let groups = Mutex::new(groups);
        let next = || groups.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || -> Result<(), TryReserveError> {
            let mut scratch = Scratch::default();
            while let Some((texts, vectors)) = next() {
                self.embed_group(texts, vectors, &mut scratch)?;
            }
            Ok(())
        };
        thread::scope(|scope| {
            // If a thread cannot be started, the others do its work.
            let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let started: Vec<_> = (1..threads).filter_map(start).collect();
            let own = work();
            started.into_iter().fold(own, |result, thread| {
                let other = thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                result.and(other)
            })
        })?;
        Ok(vectors)
    }

    fn embed_group(
        &self,
        texts: &[&str],
        vectors: &mut [f32],
        scratch: &mut Scratch,
    ) -> Result<(), TryReserveError> {
        let mut ids = Vec::new();
        for (text, vector) in texts.iter().zip(vectors.chunks_exact_mut(DIMENSION)) {
            ids.clear();
            self.tokenizer.encode(&self.file, text, scratch, &mut ids)?;
            write_unit(&self.sum(&ids), vector);
            vector
                .iter_mut()
                .for_each(|number| *number = short(*number));
        }
        Ok(())
    }

    /// The ids of each text's tokens.
    ///
    /// # Errors
    /// There is no memory.
    pub fn token_ids(&self, texts: &[&str]) -> Result<Vec<Vec<u16>>, TryReserveError> {
        let mut all = Vec::new();
        all.try_reserve_exact(texts.len())?;
        let mut scratch = Scratch::default();
        for text in texts {
            let mut ids = Vec::new();
            self.tokenizer
                .encode(&self.file, text, &mut scratch, &mut ids)?;
            all.push(ids);
        }
        Ok(all)
    }

    /// How many tokens the vocabulary has: every id is smaller.
    pub fn token_count(&self) -> usize {
        self.file.token_count()
    }

    /// The sum has the direction of the mean.
    pub(crate) fn sum(&self, ids: &[u16]) -> [f32; DIMENSION] {
        let mut sum = [0.0; DIMENSION];
        for id in ids {
            self.add(*id, 1.0, &mut sum);
        }
        sum
    }

    /// Add a token's vector, multiplied by `times`.
    pub(crate) fn add(&self, token: u16, times: f32, sum: &mut [f32; DIMENSION]) {
        let (vector, scale) = self.file.vector(token);
        let scale = scale * times;
        for (sum, byte) in sum.iter_mut().zip(vector) {
            *sum += f32::from(byte.cast_signed()) * scale;
        }
    }

    /// A token's vector as bytes, each -127 to 127, without the factor that they share.
    pub(crate) fn bytes(&self, token: u16) -> &'static [i8; DIMENSION] {
        bytemuck::cast_ref(self.file.vector(token).0)
    }

    /// Load the vectors of these tokens into the CPU's cache.
    pub(crate) fn fetch(&self, tokens: &[u16]) {
        let lines = |token: &u16| self.bytes(*token).iter().step_by(CACHE_LINE);
        let read = tokens
            .iter()
            .flat_map(lines)
            .fold(0, |all, byte| all ^ byte);
        std::hint::black_box(read);
    }

    /// The factor that the bytes of a token's vector share.
    pub(crate) fn scale(&self, token: u16) -> f32 {
        self.file.vector(token).1
    }
}

/// A number rounded to 16 significant bits, to even: its lowest byte is zero, and need not be stored
/// ([`crate::vectors::packed`]). The length of a vector changes by less than 8e-6,
/// the cosine of two by less than 1.6e-5, and mostly by less than a millionth.
fn short(number: f32) -> f32 {
    let bits = number.to_bits();
    f32::from_bits((bits + 0x7f + (bits >> 8 & 1)) & !0xff)
}

fn threads_worth(bytes: usize) -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get));
    (bytes / BYTES_PER_THREAD).clamp(1, cores.min(MAX_THREADS))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 5] = ["tea", "", "Alice drinks tea", "\u{1f389}", "東京"];

    #[test]
    fn a_vector_is_the_normalized_mean_of_its_tokens() {
        let model = BuiltInModel::embedded();
        let vectors = model.embed(&TEXTS).expect("memory");
        let ids = model.token_ids(&TEXTS).expect("memory");
        for (vector, ids) in vectors.chunks(DIMENSION).zip(&ids) {
            let component = |at: usize| {
                let weights = ids.iter().map(|id| {
                    let (row, scale) = model.file.vector(*id);
                    f64::from(row[at] as i8) * f64::from(scale)
                });
                weights.sum::<f64>()
            };
            let sum: Vec<f64> = (0..DIMENSION).map(component).collect();
            let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-30);
            for (found, wanted) in vector.iter().zip(sum) {
                let wanted = wanted / length;
                assert!((f64::from(*found) - wanted).abs() <= 1e-7 + wanted.abs() / 65_536.0);
                assert_eq!(found.to_bits() & 0xff, 0);
            }
        }
    }

    #[test]
    fn the_empty_text_has_no_tokens_and_a_vector_of_zeros() {
        let model = BuiltInModel::embedded();
        assert_eq!(model.token_ids(&[""]).expect("memory"), [vec![]]);
        assert_eq!(model.embed(&[""]).expect("memory"), [0.0; DIMENSION]);
        assert!(model.embed(&[]).expect("memory").is_empty());
    }

    #[test]
    fn the_number_of_threads_does_not_change_results() {
        let model = BuiltInModel::embedded();
        let texts: Vec<String> = (0..500).map(|n| format!("fact {n} of many")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let alone = model.embed_on(&texts, 1).expect("memory");
        for threads in [2, 3, 8, 100] {
            assert_eq!(model.embed_on(&texts, threads).expect("memory"), alone);
        }
        let last = model.embed(&texts[499..]).expect("memory");
        assert_eq!(last, alone[499 * DIMENSION..]);
    }

    #[test]
    fn threads_are_started_only_if_there_is_work() {
        assert_eq!(threads_worth(0), 1);
        assert_eq!(threads_worth(BYTES_PER_THREAD - 1), 1);
        assert!((1..=MAX_THREADS).contains(&threads_worth(usize::MAX)));
    }
}
