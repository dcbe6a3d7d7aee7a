//! Decoding restores every bit.

use memstore_kernel::vectors::codec::{
    NotFinite, check_finite, components, decode_into, encode_into,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn decode_reverses_encode(bits in prop::collection::vec(any::<u32>(), 0..600)) {
        let vector: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
        let mut blob = vec![0; vector.len() * 4];
        encode_into(&vector, &mut blob);
        let mut back = vec![0.0; vector.len()];
        decode_into(&blob, &mut back);
        prop_assert!(back.iter().zip(&bits).all(|(x, bits)| x.to_bits() == *bits));
        prop_assert!(components(&blob).zip(&bits).all(|(x, bits)| x.to_bits() == *bits));
    }

    #[test]
    fn check_finite_names_the_first_bad_position(
        length in 1..1000_usize, first in any::<prop::sample::Index>(),
        second in any::<prop::sample::Index>(),
    ) {
        let (first, second) = (first.index(length), second.index(length));
        let mut vector = vec![1.0; length];
        vector[second] = f32::INFINITY;
        vector[first] = f32::NEG_INFINITY;
        let position = first.min(second);
        let value = vector[position];
        prop_assert_eq!(check_finite(&vector), Err(NotFinite { position, value }));
    }
}

#[test]
fn encode_is_little_endian() {
    let mut blob = [0; 8];
    encode_into(&[1.0, -2.5], &mut blob);
    assert_eq!(blob, [0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0]);
}

#[test]
fn check_finite_accepts_every_finite_number() {
    let edge = [
        0.0,
        -0.0,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
    ];
    assert_eq!(check_finite(&edge), Ok(()));
    assert_eq!(check_finite(&[]), Ok(()));
}
