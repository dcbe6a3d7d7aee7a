//! Splits text into the vocabulary's tokens, exactly as the `tokenizers` package does for Llama 2.
//!
//! A space is put before the text, every space becomes `▁`, and each character becomes its token,
//! or one token per byte if it has none. Then the adjacent pair with the lowest rank, the first
//! among equals, is merged until none is left. No token has a `▁` after another character, so the
//! text is split before every `▁` and each stretch is merged separately.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, TryReserveError};

use super::file::{File, Merge};

/// Stands for a space in every token.
const SPACE: char = '▁';

const ASCII: usize = 128;

/// Up to this many tokens, the best pair is searched for after each merge, which takes quadratic
/// time; a longer stretch keeps its pairs in a heap.
const SHORT: usize = 32;

/// The vocabulary, with the most frequent look-ups cached.
pub(super) struct Tokenizer {
    ascii: [Option<u16>; ASCII],
    space: u16,
}

/// Memory that is reused for the next text.
#[derive(Default)]
pub(super) struct Scratch {
    stretch: Vec<u16>,
    pairs: Vec<Option<Merge>>,
    links: Vec<Link>,
    queue: BinaryHeap<Reverse<(u16, usize)>>,
}

/// A token of a long stretch among its neighbours.
#[derive(Clone, Copy)]
struct Link {
    token: u16,
    /// The indexes of the neighbours; out of range at the ends.
    before: usize,
    after: usize,
    /// The merge of this token and the next.
    pair: Option<Merge>,
}

impl Tokenizer {
    pub fn new(file: &File) -> Self {
        let ascii = std::array::from_fn(|code| file.character(char::from(code as u8)));
        let space = file.character(SPACE).expect("a vocabulary has spaces");
        Self { ascii, space }
    }

    /// Append the ids of a text's tokens.
    pub fn encode(
        &self,
        file: &File,
        text: &str,
        scratch: &mut Scratch,
        ids: &mut Vec<u16>,
    ) -> Result<(), TryReserveError> {
        if text.is_empty() {
            return Ok(());
        }
        scratch.stretch.clear();
        scratch.stretch.push(self.space);
        let mut after_space = true;
        for character in text.chars() {
            let space = matches!(character, ' ' | SPACE);
            if space && !after_space {
                merge(file, scratch, ids)?;
            }
            after_space = space;
            // The longest character takes four bytes.
            scratch.stretch.try_reserve(4)?;
            self.push(file, character, &mut scratch.stretch);
        }
        merge(file, scratch, ids)
    }

    fn push(&self, file: &File, character: char, stretch: &mut Vec<u16>) {
        let token = match self.ascii.get(character as usize) {
            _ if character == ' ' => Some(self.space),
            Some(token) => *token,
            None => file.character(character),
        };
        match token {
            Some(token) => stretch.push(token),
            None => {
                let mut buffer = [0; 4];
                let bytes = character.encode_utf8(&mut buffer).bytes();
                stretch.extend(bytes.map(|byte| file.first_byte + u16::from(byte)));
            }
        }
    }
}

/// Merge the stretch, and move the result to `ids`.
fn merge(file: &File, scratch: &mut Scratch, ids: &mut Vec<u16>) -> Result<(), TryReserveError> {
    ids.try_reserve(scratch.stretch.len())?;
    if scratch.stretch.len() <= SHORT {
        merge_short(file, scratch);
        ids.append(&mut scratch.stretch);
    } else {
        merge_long(file, scratch, ids)?;
        scratch.stretch.clear();
    }
    Ok(())
}

fn merge_short(file: &File, scratch: &mut Scratch) {
    let Scratch { stretch, pairs, .. } = scratch;
    pairs.clear();
    pairs.extend(stretch.windows(2).map(|pair| file.merge(pair[0], pair[1])));
    while let Some((at, merged)) = best(pairs) {
        stretch[at] = merged;
        stretch.remove(at + 1);
        pairs.remove(at);
        if at > 0 {
            pairs[at - 1] = file.merge(stretch[at - 1], merged);
        }
        if at < pairs.len() {
            pairs[at] = file.merge(merged, stretch[at + 1]);
        }
    }
}

/// The first pair of the lowest rank, and its merge.
fn best(pairs: &[Option<Merge>]) -> Option<(usize, u16)> {
    let mut best = None;
    let mut lowest = u16::MAX;
    for (at, pair) in pairs.iter().enumerate() {
        if let Some(pair) = pair
            && pair.rank < lowest
        {
            lowest = pair.rank;
            best = Some((at, pair.merged));
        }
    }
    best
}

/// The same in `n log n`: outdated pairs stay in the queue until their turn.
fn merge_long(
    file: &File,
    scratch: &mut Scratch,
    ids: &mut Vec<u16>,
) -> Result<(), TryReserveError> {
    let Scratch {
        stretch,
        links,
        queue,
        ..
    } = scratch;
    link(file, stretch, links, queue)?;
    while let Some(Reverse((rank, at))) = queue.pop() {
        let Link { pair, after, .. } = links[at];
        let Some(Merge { merged, .. }) = pair.filter(|pair| pair.rank == rank) else {
            continue;
        };
        let beyond = links[after].after;
        links[after].pair = None;
        links[at].token = merged;
        links[at].after = beyond;
        if let Some(beyond) = links.get_mut(beyond) {
            beyond.before = at;
        }
        for left in [links[at].before, at] {
            renew(file, links, left, queue)?;
        }
    }
    let mut at = 0;
    while let Some(link) = links.get(at) {
        ids.push(link.token);
        at = link.after;
    }
    Ok(())
}

fn link(
    file: &File,
    stretch: &[u16],
    links: &mut Vec<Link>,
    queue: &mut BinaryHeap<Reverse<(u16, usize)>>,
) -> Result<(), TryReserveError> {
    links.clear();
    queue.clear();
    links.try_reserve(stretch.len())?;
    links.extend(stretch.iter().enumerate().map(|(at, &token)| Link {
        token,
        before: at.wrapping_sub(1),
        after: at + 1,
        pair: None,
    }));
    (0..links.len()).try_for_each(|left| renew(file, links, left, queue))
}

/// Look up the merge of a token and the next one, if both exist.
fn renew(
    file: &File,
    links: &mut [Link],
    left: usize,
    queue: &mut BinaryHeap<Reverse<(u16, usize)>>,
) -> Result<(), TryReserveError> {
    let Some(&Link { token, after, .. }) = links.get(left) else {
        return Ok(());
    };
    let next = links.get(after);
    let pair = next.and_then(|next| file.merge(token, next.token));
    links[left].pair = pair;
    if let Some(Merge { rank, .. }) = pair {
        queue.try_reserve(1)?;
        queue.push(Reverse((rank, left)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encode(text: &str) -> Vec<u16> {
        let file = File::embedded();
        let mut ids = Vec::new();
        Tokenizer::new(&file)
            .encode(&file, text, &mut Scratch::default(), &mut ids)
            .expect("memory");
        ids
    }

    /// The whole text at once, one merge after the other.
    fn naive(text: &str) -> Vec<u16> {
        let file = File::embedded();
        let mut ids = Vec::new();
        for character in text.chars().take(1).map(|_| ' ').chain(text.chars()) {
            let character = if character == ' ' { SPACE } else { character };
            match file.character(character) {
                Some(id) => ids.push(id),
                None => ids.extend(
                    String::from(character)
                        .bytes()
                        .map(|byte| file.first_byte + u16::from(byte)),
                ),
            }
        }
        loop {
            let merges = ids.windows(2).enumerate().filter_map(|(at, pair)| {
                let Merge { rank, merged } = file.merge(pair[0], pair[1])?;
                Some((rank, at, merged))
            });
            let Some((_, at, merged)) = merges.min() else {
                return ids;
            };
            ids.splice(at..at + 2, [merged]);
        }
    }

    #[test]
    fn a_long_stretch_is_merged_like_a_short_one() {
        for length in SHORT - 3..SHORT + 40 {
            for part in ["a", "ab", "=", "東京", "banana", "\u{1f389}"] {
                let text: String = part.chars().cycle().take(length).collect();
                assert_eq!(encode(&text), naive(&text), "{text}");
            }
        }
    }

    #[test]
    fn many_equal_letters_are_merged_in_time() {
        for part in ["a", "ab", "\u{0}", " ", "=-"] {
            let text = part.repeat(300_000 / part.len());
            let ids = encode(&text);
            assert!(!ids.is_empty() && ids.len() <= text.len() + 1);
        }
    }

    #[test]
    fn reused_memory_does_not_affect_the_next_text() {
        let file = File::embedded();
        let tokens = Tokenizer::new(&file);
        let mut scratch = Scratch::default();
        for text in [
            "long ".repeat(5) + &"x".repeat(99),
            "tea".into(),
            "".into(),
            " ".into(),
        ] {
            let mut ids = Vec::new();
            tokens
                .encode(&file, &text, &mut scratch, &mut ids)
                .expect("memory");
            assert_eq!(ids, naive(&text));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_split_like_the_naive_twin(text in "(?s).{0,120}") {
            prop_assert_eq!(encode(&text), naive(&text));
        }

        #[test]
        fn words_and_spaces_are_split_like_the_naive_twin(
            text in "([a-z]{1,12}| {1,9}|▁|[A-Za-z0-9._/=-]{1,60}|[ぁ-ん一-龥]{1,40}){0,12}"
        ) {
            prop_assert_eq!(encode(&text), naive(&text));
        }
    }
}
