//! Bit packing: the numbers of a block, each in as many bits as the largest needs.

/// Numbers in a full block.
pub(crate) const BLOCK: usize = 128;

/// Numbers that together fill whole bytes, whatever their width.
const GROUP: usize = 8;

/// The bits that the largest number needs.
pub(crate) fn width(numbers: &[u32]) -> u8 {
    let all = numbers.iter().fold(0, |all, number| all | number);
    (u32::BITS - all.leading_zeros()) as u8
}

/// Bytes that a block takes.
pub(crate) fn packed_bytes(width: u8) -> usize {
    BLOCK / GROUP * usize::from(width)
}

/// Append a block whose numbers all fit the width.
pub(crate) fn pack(numbers: &[u32], width: u8, packed: &mut Vec<u8>) {
    for group in numbers.chunks_exact(GROUP) {
        let (mut bits, mut filled) = (0_u64, 0);
        for number in group {
            bits |= u64::from(*number) << filled;
            filled += width;
            while filled >= 8 {
                packed.push(bits as u8);
                bits >>= 8;
                filled -= 8;
            }
        }
    }
}

/// Read a block that [`pack`] wrote; all zeros if the width is invalid.
pub(crate) fn unpack(packed: &[u8], width: u8, numbers: &mut [u32]) {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                $($width => unpack_wide::<$width>(packed, numbers),)*
                _ => numbers.fill(0),
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

/// With the width known to the compiler every shift is a constant.
fn unpack_wide<const WIDTH: usize>(packed: &[u8], numbers: &mut [u32]) {
    let mask = u32::MAX >> (32 - WIDTH);
    let groups = packed.chunks_exact(WIDTH);
    for (group, numbers) in groups.zip(numbers.chunks_exact_mut(GROUP)) {
        // So that eight bytes can be read from any number's first byte.
        let mut bytes = [0; 40];
        bytes[..WIDTH].copy_from_slice(group);
        for (index, number) in numbers.iter_mut().enumerate() {
            let (byte, bit) = (index * WIDTH / 8, index * WIDTH % 8);
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[byte..byte + 8]);
            *number = (u64::from_le_bytes(word) >> bit) as u32 & mask;
        }
    }
}

/// Append a number of any size, seven bits per byte.
pub(crate) fn write_varint(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Read a number and step over it; zero at the end of the bytes.
pub(crate) fn read_varint(bytes: &mut &[u8]) -> u32 {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if *byte < 0x80 || shift >= 28 {
            break;
        }
        shift += 7;
    }
    number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_round_trip(
            numbers in prop::collection::vec(any::<u32>(), BLOCK),
            shift in 0_u32..32,
        ) {
            let numbers: Vec<u32> = numbers.iter().map(|number| number >> shift).collect();
            let (mut packed, mut read) = (Vec::new(), vec![7; BLOCK]);
            let width = width(&numbers);
            pack(&numbers, width, &mut packed);
            unpack(&packed, width, &mut read);
            prop_assert_eq!(packed.len(), packed_bytes(width));
            prop_assert_eq!(read, numbers);
        }

        #[test]
        fn numbers_round_trip(numbers in prop::collection::vec(any::<u32>(), 9)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| write_varint(*number, &mut bytes));
            let mut rest = &bytes[..];
            let read: Vec<u32> = numbers.iter().map(|_| read_varint(&mut rest)).collect();
            prop_assert_eq!(read, numbers);
            prop_assert!(rest.is_empty());
        }
    }

    #[test]
    fn numbers_that_are_all_zero_take_no_bytes() {
        let (mut packed, mut read) = (Vec::new(), vec![7; BLOCK]);
        pack(&[0; BLOCK], 0, &mut packed);
        unpack(&packed, 0, &mut read);
        assert!(packed.is_empty());
        assert_eq!(read, [0; BLOCK]);
    }
}
