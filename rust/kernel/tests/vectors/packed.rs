//! Packing loses no bit, and nothing that is not packed is taken for it.

use memstore_kernel::vectors::packed::{pack, unpack, unpack_into};
use proptest::prelude::*;

fn blob(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// What [`unpack`] does, bit by bit.
fn naive(packed: &[u8]) -> Vec<u8> {
    let kept = usize::from(packed[1]);
    let dimension = usize::from(packed[3]) + 256 * usize::from(packed[4]);
    let distances = 5 + dimension * kept;
    let mut end = distances + (3 * dimension).div_ceil(8);
    let bit = |from: usize, at: usize| packed[from + at / 8] >> (at % 8) & 1;
    let mut blob = Vec::new();
    for at in 0..dimension {
        let mut mantissa = 0;
        for byte in 0..kept {
            let place = 8 * (3 - kept + byte);
            mantissa |= u32::from(packed[5 + at * kept + byte]) << place;
        }
        let below: u8 = (0..3).map(|n| bit(distances, 3 * at + n) << n).sum();
        let exponent = if below == 7 {
            end += 1;
            packed[end - 1]
        } else {
            packed[2] - below
        };
        let number = (mantissa >> 23 << 31) | (u32::from(exponent) << 23) | (mantissa & 0x7f_ffff);
        blob.extend(number.to_le_bytes());
    }
    blob
}

fn numbers() -> impl Strategy<Value = Vec<f32>> {
    let any_bits = any::<u32>().prop_map(f32::from_bits);
    let alike = -1.0..1.0_f32;
    let short = any::<i16>().prop_map(|n| f32::from(n) / 65_536.0);
    let special = prop::sample::select(vec![
        0.0,
        -0.0,
        1.0,
        f32::NAN,
        f32::INFINITY,
        f32::MIN_POSITIVE,
        1e-45,
        f32::MAX,
    ]);
    let mixed = prop_oneof![8 => alike.clone(), 1 => any_bits.clone(), 1 => special];
    prop_oneof![
        prop::collection::vec(alike, 0..600),
        prop::collection::vec(short, 0..600),
        prop::collection::vec(mixed, 0..600),
        prop::collection::vec(any_bits, 0..600),
    ]
}

proptest! {
    #[test]
    fn every_bit_comes_back(numbers in numbers()) {
        let blob = blob(numbers);
        if let Some(packed) = pack(&blob) {
            prop_assert!(packed.len() < blob.len());
            prop_assert_eq!(packed.len() % 4, 1);
            prop_assert_eq!(&naive(&packed), &blob);
            let mut numbers = vec![0.0; blob.len() / 4];
            prop_assert_eq!(unpack_into(&packed, &mut numbers), Some(()));
            prop_assert_eq!(&self::blob(numbers.iter().copied()), &blob);
            prop_assert_eq!(unpack_into(&packed, &mut numbers[1..]), None);
            prop_assert_eq!(unpack(&packed), Some(blob));
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut packed = bytes.clone();
        for format in [bytes.first().copied().unwrap_or(1), 1] {
            if let Some(first) = packed.first_mut() {
                *first = format;
            }
            if let Some(blob) = unpack(&packed) {
                prop_assert_eq!(blob.len() % 4, 0);
            }
        }
    }

    #[test]
    fn what_is_cut_off_is_not_read(numbers in prop::collection::vec(-1.0..1.0_f32, 40..80)) {
        let packed = pack(&blob(numbers)).expect("shorter");
        for length in 0..packed.len() {
            prop_assert_eq!(unpack(&packed[..length]), None);
        }
        prop_assert_eq!(unpack(&[packed.as_slice(), &[0; 4]].concat()), None);
    }
}

#[test]
fn a_vector_of_a_blob_is_never_taken_for_a_packed_one() {
    for dimension in 0..100 {
        assert_eq!(unpack(&blob((0..dimension).map(|n| n as f32))), None);
    }
}

#[test]
fn numbers_of_like_size_take_a_seventh_less_and_short_ones_half() {
    let wave = |n: u32| ((n * 7919 % 256) as f32 / 256.0 - 0.498).mul_add(0.1, 1e-4);
    let length = |blob: &[u8]| pack(blob).expect("shorter").len();
    assert!(length(&blob((0..256).map(wave))) < 885);
    let short = |n| f32::from_bits(wave(n).to_bits() & !0xff);
    assert!(length(&blob((0..256).map(short))) < 630);
    assert_eq!(length(&blob([0.0; 256])), 5 + 256 + 96);
}

#[test]
fn what_would_not_be_shorter_is_left() {
    assert_eq!(pack(&[]), None);
    assert_eq!(pack(&blob([1.5])), None);
    assert_eq!(pack(&[1, 2, 3]), None);
    assert_eq!(pack(&blob(vec![0.1; 70_000])), None); // more numbers than it can name
}
