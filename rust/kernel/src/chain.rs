//! The hash chain of the journal. Each line's hash covers the hash of the line before it, so that
//! no line can be changed, removed or inserted unnoticed while a later hash is known.
//!
//! A line has columns, and three texts that may be erased one day. The hash covers the columns as
//! they are, and of each text a commitment, `SHA-256(salt, text)`. Whoever erases a text removes
//! its salt, too, and keeps the commitment: the chain still holds, and since the salt was random,
//! no guess of the text can be confirmed.
//!
//! Each text has a salt of its own, made from the salt of the line, so that erasing one text leaves
//! the others verifiable.

use sha2::{Digest, Sha256};

/// The number of texts of a line that may be erased.
pub const TEXTS: usize = 3;

/// The bytes of a hash, and of a commitment.
pub const HASH_BYTES: usize = 32;

/// The bytes of a salt.
pub const SALT_BYTES: usize = 16;

/// A SHA-256 hash.
pub type Hash = [u8; HASH_BYTES];

/// The salt of a line, or of one of its texts.
pub type Salt = [u8; SALT_BYTES];

/// What comes before the first line.
pub const BEGINNING: Hash = [0; HASH_BYTES];

const LINE: &[u8] = b"memstore journal line";
const TEXT: &[u8] = b"memstore journal text";
const SALT: &[u8] = b"memstore journal salt";

/// The value of a column.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// A text, as UTF-8.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// Return the salt of one text of a line.
#[must_use]
pub fn text_salt(line: &Salt, text: usize) -> Salt {
    let mut hash = Sha256::new();
    hash.update(SALT);
    hash.update([place(text)]);
    hash.update(line);
    let made: Hash = hash.finalize().into();
    *made.first_chunk().expect("a hash is longer than a salt")
}

/// Return the commitment to one text of a line, whose salt is that of [`text_salt`].
#[must_use]
pub fn commitment(salt: &Salt, text: &str) -> Hash {
    let mut hash = Sha256::new();
    hash.update(TEXT);
    hash.update(salt);
    hash.update(text);
    hash.finalize().into()
}

/// Return the hash of a line: of the hash before it, its columns, and the commitments to its texts
/// (`None` where it never had one).
pub fn link<'a>(
    previous: &Hash,
    columns: impl IntoIterator<Item = Value<'a>>,
    commitments: &[Option<Hash>; TEXTS],
) -> Hash {
    let mut hash = Sha256::new();
    hash.update(LINE);
    hash.update(previous);
    // Each value with its type and its length: two lines with equal bytes are equal.
    for column in columns {
        match column {
            Value::Null => hash.update([0]),
            Value::Int(number) => {
                hash.update([1]);
                hash.update(number.to_le_bytes());
            }
            Value::Text(text) => update(&mut hash, 2, text.as_bytes()),
            Value::Bytes(bytes) => update(&mut hash, 3, bytes),
        }
    }
    for one in commitments {
        match one {
            None => hash.update([0]),
            Some(commitment) => update(&mut hash, 4, commitment),
        }
    }
    hash.finalize().into()
}

fn update(hash: &mut Sha256, kind: u8, bytes: &[u8]) {
    hash.update([kind]);
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn place(text: usize) -> u8 {
    assert!(text < TEXTS, "a line has {TEXTS} texts");
    text as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Value<'_>; 3] = [Value::Int(7), Value::Text("add"), Value::Null];

    fn committed(text: &str) -> [Option<Hash>; TEXTS] {
        [
            None,
            Some(commitment(&text_salt(&[1; SALT_BYTES], 1), text)),
            None,
        ]
    }

    #[test]
    fn a_hash_covers_the_line_before_the_columns_and_the_texts() {
        let one = link(&BEGINNING, COLUMNS, &committed("a"));
        assert_eq!(one, link(&BEGINNING, COLUMNS, &committed("a")));
        assert_ne!(one, link(&[1; HASH_BYTES], COLUMNS, &committed("a")));
        assert_ne!(one, link(&BEGINNING, COLUMNS, &committed("b")));
        assert_ne!(
            one,
            link(&BEGINNING, COLUMNS[..2].iter().copied(), &committed("a"))
        );
    }

    #[test]
    fn values_cannot_run_into_one_another() {
        let hash =
            |columns: &[Value<'_>]| link(&BEGINNING, columns.iter().copied(), &[None; TEXTS]);
        let texts = [Value::Text("ab"), Value::Text("c")];
        assert_ne!(hash(&texts), hash(&[Value::Text("a"), Value::Text("bc")]));
        assert_ne!(hash(&texts), hash(&[Value::Bytes(b"ab"), Value::Text("c")]));
        assert_ne!(hash(&[Value::Null]), hash(&[]));
        assert_ne!(hash(&[Value::Int(0)]), hash(&[Value::Null]));
    }

    #[test]
    fn each_text_of_a_line_has_a_salt_of_its_own() {
        let line = [9; SALT_BYTES];
        assert_ne!(text_salt(&line, 0), text_salt(&line, 1));
        assert_ne!(text_salt(&line, 0), text_salt(&[8; SALT_BYTES], 0));
        assert_ne!(text_salt(&line, 0), line);
    }
}
