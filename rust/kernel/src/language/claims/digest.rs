//! The hash of a claim: eight bytes of BLAKE2b (RFC 7693) over what it is about and what it says.

const BLOCK: usize = 128;
const BYTES: u64 = 8;

const START: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

const ORDER: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// Return the hash of an ASCII text about a subject with this key. Letter case, the number of blanks
/// between words, and a full stop at the end (but not an ellipsis) are left out.
#[must_use]
pub fn claim_hash(key: &str, content: &str) -> i64 {
    let mut told = Vec::with_capacity(key.len() + 1 + content.len());
    told.extend_from_slice(key.as_bytes());
    told.push(b'\n');
    let begin = told.len();
    for word in content
        .as_bytes()
        .split(is_blank)
        .filter(|word| !word.is_empty())
    {
        if told.len() > begin {
            told.push(b' ');
        }
        told.extend(word.iter().map(u8::to_ascii_lowercase));
    }
    let said = &told[begin..];
    if said.ends_with(b".") && !said.ends_with(b"..") {
        told.pop();
    }
    i64::from_be_bytes(blake2b(&told))
}

/// Whether Python's `str.split` splits at an ASCII character.
fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | 0x1c..=0x1f)
}

fn blake2b(text: &[u8]) -> [u8; BYTES as usize] {
    let mut state = START;
    state[0] ^= 0x0101_0000 ^ BYTES;
    let last = text.len().saturating_sub(1) / BLOCK * BLOCK;
    for start in (0..last).step_by(BLOCK) {
        let block = text[start..start + BLOCK]
            .try_into()
            .expect("a whole block");
        compress(&mut state, block, (start + BLOCK) as u128, false);
    }
    let mut block = [0; BLOCK];
    block[..text.len() - last].copy_from_slice(&text[last..]);
    compress(&mut state, &block, text.len() as u128, true);
    state[0].to_le_bytes()
}

fn compress(state: &mut [u64; 8], block: &[u8; BLOCK], taken: u128, is_last: bool) {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    let mut v = [0; 16];
    v[..8].copy_from_slice(state);
    v[8..].copy_from_slice(&START);
    v[12] ^= taken as u64;
    v[13] ^= (taken >> 64) as u64;
    if is_last {
        v[14] = !v[14];
    }
    for round in 0..12 {
        let order = &ORDER[round % 10];
        let mut mix = |a: usize, b: usize, c: usize, d: usize, pair: usize| {
            v[a] = v[a].wrapping_add(v[b]).wrapping_add(words[order[2 * pair]]);
            v[d] = (v[d] ^ v[a]).rotate_right(32);
            v[c] = v[c].wrapping_add(v[d]);
            v[b] = (v[b] ^ v[c]).rotate_right(24);
            v[a] = v[a]
                .wrapping_add(v[b])
                .wrapping_add(words[order[2 * pair + 1]]);
            v[d] = (v[d] ^ v[a]).rotate_right(16);
            v[c] = v[c].wrapping_add(v[d]);
            v[b] = (v[b] ^ v[c]).rotate_right(63);
        };
        for column in 0..4 {
            mix(column, column + 4, column + 8, column + 12, column);
        }
        for diagonal in 0..4 {
            let (b, c, d) = ((diagonal + 1) % 4, (diagonal + 2) % 4, (diagonal + 3) % 4);
            mix(diagonal, b + 4, c + 8, d + 12, diagonal + 4);
        }
    }
    for (place, word) in state.iter_mut().enumerate() {
        *word ^= v[place] ^ v[place + 8];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_that_differ_in_case_blanks_and_the_full_stop_share_a_hash() {
        let one = claim_hash("ana", "Ana drinks tea");
        for same in [
            "ana  drinks\ttea",
            " Ana drinks TEA.",
            "Ana drinks\x1ctea\n",
        ] {
            assert_eq!(claim_hash("ana", same), one, "{same:?}");
        }
        for other in ["Ana drinks tea..", "Ana drinks tea .", "Anadrinks tea", ""] {
            assert_ne!(claim_hash("ana", other), one, "{other:?}");
        }
        assert_ne!(claim_hash("bob", "Ana drinks tea"), one);
    }
}
