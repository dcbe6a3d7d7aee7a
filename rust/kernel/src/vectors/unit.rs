//! Scaling vectors to length one, and the cosine of two raw vectors.
//!
//! Squares are summed in float64. The largest float32 squared is about 1e77 and the smallest
//! denormal squared about 1e-90, both far inside float64, so no vector overflows or vanishes:
//! only a vector of zeros has length zero.

/// Independent sums, so that the additions need not wait for one another.
const LANES: usize = 8;

/// Write `vector / |vector|` into the front of `unit` and zeros after it.
///
/// A vector of zeros stays zeros, and is then similar to nothing. Each component is rounded once,
/// by at most one part in 2^24. Returns `|vector|`.
///
/// # Panics
/// If `unit` is shorter than `vector`.
pub fn write_unit(vector: &[f32], unit: &mut [f32]) -> f64 {
    let (front, padding) = unit.split_at_mut(vector.len());
    let length = dot_f64(vector, vector).sqrt();
    let scale = if length > 0.0 { length.recip() } else { 0.0 };
    for (out, component) in front.iter_mut().zip(vector) {
        *out = (f64::from(*component) * scale) as f32;
    }
    padding.fill(0.0);
    length
}

/// The cosine of two raw vectors, summed in float64: 0.0 for a vector of zeros or unequal lengths.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    let lengths = dot_f64(a, a).sqrt() * dot_f64(b, b).sqrt();
    if lengths > 0.0 {
        (dot_f64(a, b) / lengths).clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

/// A product of two float32 is exact in float64; only the additions round.
fn dot_f64(a: &[f32], b: &[f32]) -> f64 {
    let (a_groups, a_rest) = a.as_chunks::<LANES>();
    let (b_groups, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a_group, b_group) in a_groups.iter().zip(b_groups) {
        for lane in 0..LANES {
            sums[lane] += f64::from(a_group[lane]) * f64::from(b_group[lane]);
        }
    }
    let rest = a_rest
        .iter()
        .zip(b_rest)
        .map(|(x, y)| f64::from(*x) * f64::from(*y));
    sums.iter().sum::<f64>() + rest.sum::<f64>()
}
