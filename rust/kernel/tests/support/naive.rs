//! The same results computed naively in float64, for comparison with the fast paths.
#![allow(dead_code, reason = "each test file uses its part")]

use std::env;
use std::io::Write;

use memstore_kernel::vectors::dot::Dot;
use proptest::prelude::ProptestConfig;

/// Sixty cases, for slow properties; `PROPTEST_CASES` selects another number.
pub fn sixty_cases() -> ProptestConfig {
    match env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(60),
    }
}

/// Run a check with every instruction set; those that this CPU lacks are reported as skipped.
pub fn on_every_instruction_set(mut check: impl FnMut(&Dot)) {
    let available = Dot::available();
    for name in Dot::NAMES {
        match available.iter().find(|dot| dot.name() == name) {
            Some(dot) => check(dot),
            None => skipped(name),
        }
    }
}

/// Written directly to the terminal, because the test harness hides the output of passing tests.
pub fn skipped(name: &str) {
    writeln!(std::io::stderr(), "SKIPPED on {name}: not in this CPU").expect("stderr");
}

/// The dot product.
pub fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| f64::from(*x) * f64::from(*y))
        .sum()
}

/// The dot product of vectors of bytes.
pub fn dot_bytes(a: &[i8], b: &[i8]) -> i64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| i64::from(*x) * i64::from(*y))
        .sum()
}

/// The sum of the products' magnitudes, which rounding errors are relative to.
pub fn magnitude(a: &[f32], b: &[f32]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| (f64::from(*x) * f64::from(*y)).abs())
        .sum()
}

/// The cosine; 0.0 with a vector of zeros.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let lengths = dot(a, a).sqrt() * dot(b, b).sqrt();
    if lengths == 0.0 {
        0.0
    } else {
        dot(a, b) / lengths
    }
}

/// Seeded numbers, so that a failure can be repeated.
pub struct Random(u64);

impl Random {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end` (splitmix64).
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    /// A vector with components in -1..1.
    pub fn vector(&mut self, dimension: usize) -> Vec<f32> {
        let component = |_| self.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0;
        (0..dimension).map(component).collect()
    }

    /// A vector with bytes in -127..=127.
    pub fn bytes(&mut self, dimension: usize) -> Vec<i8> {
        let byte = |_| (self.below(255) as i16 - 127) as i8;
        (0..dimension).map(byte).collect()
    }
}
