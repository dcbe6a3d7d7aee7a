//! Folding of letters for comparison, and hashes of words.
//!
//! Case, accents and width do not count: `José`, `JOSE` and `ｊｏｓｅ` are one word, however their
//! accents are encoded. A hash is made letter by letter, so that no word is copied.

/// The hash of a word without letters.
pub(super) const EMPTY: u64 = 0;

/// The longest word of the lexicons in a script without spaces.
const MAX_UNSPACED: usize = 6;

const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of a word with one more letter, which is already folded.
#[inline]
pub(super) fn with_letter(hash: u64, letter: u32) -> u64 {
    (hash.rotate_left(5) ^ u64::from(letter)).wrapping_mul(SPREAD)
}

/// The hash of a word with one more character of a text.
#[inline]
pub(super) fn with_character(hash: u64, character: char) -> u64 {
    if character.is_ascii() {
        with_letter(hash, u32::from(character.to_ascii_lowercase()))
    } else {
        folded(character, hash)
    }
}

/// The hash of a phrase with one more word.
pub(super) fn with_word(phrase: u64, word: u64) -> u64 {
    if phrase == EMPTY {
        word
    } else {
        (phrase.rotate_left(23) ^ word).wrapping_mul(SPREAD)
    }
}

/// A hash of 64 bits as one of 32, never zero, which stands for no name.
pub(super) fn shortened(hash: u64) -> u32 {
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(SPREAD);
    ((mixed >> 32) as u32).max(1)
}

/// The hash of a single word.
pub(super) fn hash(word: &str) -> u64 {
    word.chars().fold(EMPTY, with_character)
}

/// The hashes of the prefixes of a run, up to the longest word that is looked up in scripts without
/// spaces.
pub(super) fn beginnings(run: &str) -> impl Iterator<Item = u64> {
    let characters = run.chars().take(MAX_UNSPACED);
    characters.scan(EMPTY, |hash, character| {
        *hash = with_character(*hash, character);
        Some(*hash)
    })
}

/// Whether a character is an accent that is written after its letter.
pub(super) fn is_accent(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

/// The ASCII character of the same form, for the wide ones of East Asian typesetting.
pub(super) fn narrow(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => char::from((character as u32 - 0xfee0) as u8),
        '\u{3000}' => ' ',
        _ => character,
    }
}

#[cold]
fn folded(character: char, mut hash: u64) -> u64 {
    for letter in narrow(character).to_lowercase() {
        hash = match letter {
            _ if is_accent(letter) => hash,
            'ß' => with_letters(hash, "ss"),
            'æ' => with_letters(hash, "ae"),
            'œ' => with_letters(hash, "oe"),
            'þ' => with_letters(hash, "th"),
            '가'..='힣' => with_jamo(hash, letter as u32 - '가' as u32),
            _ => with_letter(hash, without_accent(letter) as u32),
        };
    }
    hash
}

fn with_letters(hash: u64, letters: &str) -> u64 {
    letters
        .bytes()
        .fold(hash, |hash, letter| with_letter(hash, u32::from(letter)))
}

/// A syllable of Hangul as the letters that it is composed of.
fn with_jamo(hash: u64, syllable: u32) -> u64 {
    let (lead, vowel, tail) = (syllable / 588, syllable % 588 / 28, syllable % 28);
    let hash = with_letter(with_letter(hash, 0x1100 + lead), 0x1161 + vowel);
    if tail == 0 {
        hash
    } else {
        with_letter(hash, 0x11a7 + tail)
    }
}

/// Letters from U+00C0 and from U+1E00 on without what is above, below and through them.
const FROM_C0: &[u8] = b"aaaaaaaceeeeiiiidnooooo.ouuuuytsaaaaaaaceeeeiiiidnooooo.ouuuuyty\
    aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll\
    lllnnnnnnnnnoooooooorrrrrrssssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
const FROM_1E00: &[u8] = b"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm\
    mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv\
    wwwwwwwwwwxxxxyyzzzzzzhtwyas..s.aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee\
    eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy......";

fn without_accent(letter: char) -> char {
    let of = |table: &[u8], first: char| match table.get(letter as usize - first as usize) {
        Some(b'.') | None => letter,
        Some(plain) => char::from(*plain),
    };
    match letter {
        'À'..='ſ' => of(FROM_C0, 'À'),
        'Ḁ'..='ỿ' => of(FROM_1E00, 'Ḁ'),
        'ё' | 'ѐ' => 'е',
        'й' | 'ѝ' => 'и',
        'ї' => 'і',
        'ў' => 'у',
        'ά' => 'α',
        'έ' => 'ε',
        'ή' => 'η',
        'ί' | 'ϊ' | 'ΐ' => 'ι',
        'ό' => 'ο',
        'ύ' | 'ϋ' | 'ΰ' => 'υ',
        'ώ' => 'ω',
        'ς' => 'σ',
        _ => letter,
    }
}
