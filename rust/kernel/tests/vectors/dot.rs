//! Every instruction set compared with the naive twin, for ordinary and extreme numbers.

use crate::naive::{Random, on_every_instruction_set};
use memstore_kernel::vectors::dot::{BLOCK, Dot, SIXTEEN, Sixteen, error_bound};
use memstore_kernel::vectors::unit::{cosine, write_unit};

const LENGTHS: [usize; 5] = [BLOCK, 2 * BLOCK, 384, 768, 4096];

/// The error the module's documentation promises.
fn assert_within_bound(dot: &Dot, a: &[f32], b: &[f32]) {
    let (found, exact) = (f64::from(dot.whole(a, b)), crate::naive::dot(a, b));
    let denormal = a.len() as f64 * 2_f64.powi(-149);
    let bound = f64::from(error_bound(a.len())) * crate::naive::magnitude(a, b) + denormal;
    let name = dot.name();
    assert!(
        (found - exact).abs() <= bound,
        "{name}: {found} for {exact}, bound {bound}"
    );
}

#[test]
fn whole_is_within_the_bound_for_random_vectors() {
    let mut random = Random::new(1);
    on_every_instruction_set(|dot| {
        for length in LENGTHS {
            for _ in 0..20 {
                assert_within_bound(dot, &random.vector(length), &random.vector(length));
            }
        }
    });
}

#[test]
fn whole_is_within_the_bound_when_large_terms_cancel() {
    let mut random = Random::new(2);
    on_every_instruction_set(|dot| {
        for length in LENGTHS {
            let mut a = random.vector(length);
            let b = vec![1.0; length];
            for pair in a.as_chunks_mut::<2>().0 {
                *pair = [pair[0] * 1e12, -pair[0] * 1e12 + pair[1]];
            }
            assert_within_bound(dot, &a, &b);
            a.sort_by(f32::total_cmp);
            assert_within_bound(dot, &a, &b);
        }
    });
}

#[test]
fn whole_is_within_the_bound_for_huge_tiny_and_denormal_numbers() {
    let mut random = Random::new(3);
    on_every_instruction_set(|dot| {
        for (left, right) in [(1e18, 1e15), (1e-20, 1e-15), (1e-25, 1e-20), (1e-44, 1.0)] {
            let a: Vec<f32> = random.vector(768).iter().map(|x| x * left).collect();
            let b: Vec<f32> = random.vector(768).iter().map(|x| x * right).collect();
            assert_within_bound(dot, &a, &b);
        }
    });
}

/// The exact products, which every instruction set must give.
fn assert_exact(dot: &Dot, vectors: &[Vec<i8>], one: &[i8]) {
    let slices: Vec<&[i8]> = vectors.iter().map(|vector| &vector[..]).collect();
    let found = dot.bytes(&Sixteen::new(&slices, one.len()), one);
    for (place, found) in found.iter().enumerate() {
        let exact = vectors
            .get(place)
            .map_or(0, |vector| crate::naive::dot_bytes(vector, one));
        assert_eq!(i64::from(*found), exact, "{}", dot.name());
    }
    let square = i64::from(dot.square(one));
    assert_eq!(square, crate::naive::dot_bytes(one, one), "{}", dot.name());
}

#[test]
fn products_of_bytes_are_exact() {
    let mut random = Random::new(8);
    on_every_instruction_set(|dot| {
        for length in [0, 4, 12, 32, 100, 256, 768] {
            for count in [0, 1, 7, SIXTEEN] {
                let mut vector = || random.bytes(length);
                let vectors: Vec<_> = (0..count).map(|_| vector()).collect();
                assert_exact(dot, &vectors, &vector());
            }
        }
    });
}

#[test]
fn products_of_the_largest_bytes_are_exact() {
    on_every_instruction_set(|dot| {
        for length in [256, 1 << 16] {
            let all = [-127, 0, 127].map(|byte| vec![byte; length]);
            for one in &all {
                assert_exact(dot, &all, one);
            }
        }
    });
}

#[test]
fn products_of_floats_with_bytes_are_within_the_bound_and_everywhere_the_same() {
    let mut random = Random::new(9);
    for length in LENGTHS {
        let (floats, bytes) = (random.vector(length), random.bytes(length));
        let whole: Vec<f32> = bytes.iter().map(|x| f32::from(*x)).collect();
        let exact = crate::naive::dot(&floats, &whole);
        let bound = f64::from(error_bound(length)) * crate::naive::magnitude(&floats, &whole);
        let first = Dot::best().mixed(&floats, &bytes);
        on_every_instruction_set(|dot| {
            let found = dot.mixed(&floats, &bytes);
            assert!((f64::from(found) - exact).abs() <= bound, "{}", dot.name());
            assert_eq!(found.to_bits(), first.to_bits(), "{}", dot.name());
        });
    }
}

#[test]
fn best_is_the_first_available() {
    let available = Dot::available();
    assert_eq!(Dot::best().name(), available[0].name());
    assert_eq!(available.last().map(Dot::name), Some("scalar"));
}

#[test]
fn unit_vectors_have_length_one_at_every_magnitude() {
    let mut random = Random::new(6);
    for scale in [f32::MAX, 1e30, 1.0, 1e-30, 1e-38, 1e-43] {
        let vector: Vec<f32> = random.vector(300).iter().map(|x| x * scale).collect();
        let mut unit = vec![9.0; 320];
        write_unit(&vector, &mut unit);
        assert!(
            (crate::naive::dot(&unit, &unit).sqrt() - 1.0).abs() < 1e-6,
            "{scale}"
        );
        assert!(unit[300..].iter().all(|x| *x == 0.0));
        assert!(
            (cosine(&vector, &unit[..300]) - 1.0).abs() < 1e-6,
            "{scale}"
        );
    }
}

#[test]
fn cosine_agrees_with_the_naive_version_at_every_magnitude() {
    let mut random = Random::new(7);
    for scale in [f32::MAX, 1e20, 1.0, 1e-20, 1e-38] {
        for dimension in [1, 7, 8, 9, 100] {
            let a: Vec<f32> = random.vector(dimension).iter().map(|x| x * scale).collect();
            let b = random.vector(dimension);
            assert!((cosine(&a, &b) - crate::naive::cosine(&a, &b)).abs() < 1e-12);
        }
    }
}

#[test]
fn cosine_is_zero_with_zeros_or_unequal_lengths() {
    assert_eq!(cosine(&[0.0, 0.0], &[1.0, 2.0]), 0.0);
    assert_eq!(cosine(&[1.0], &[1.0, 0.0]), 0.0);
    assert_eq!(cosine(&[], &[]), 0.0);
}
