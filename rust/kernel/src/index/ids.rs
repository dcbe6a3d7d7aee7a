//! A set of row ids, one bit each.
//!
//! Row ids are assigned from one upwards, so nearly all bits are used, and a look-up is one load.

use std::collections::TryReserveError;
use std::ops::Range;

const BITS: usize = u64::BITS as usize;

/// A set of rows, such as the visible ones or those that a query is restricted to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// Never ends in a zero, so that equal sets are equal.
    words: Vec<u64>,
    len: usize,
}

impl Ids {
    /// The set of these ids, in any order; duplicates are allowed.
    ///
    /// # Errors
    /// There is no memory for a bit for each id up to the largest.
    pub fn of(ids: &[u32]) -> Result<Self, TryReserveError> {
        let mut words = Vec::new();
        let length = ids.iter().max().map_or(0, |id| *id as usize / BITS + 1);
        words.try_reserve_exact(length)?;
        words.resize(length, 0);
        for id in ids {
            words[*id as usize / BITS] |= 1 << (*id as usize % BITS);
        }
        Ok(Self::from_words(words))
    }

    /// The set whose bit `b` of word `w` stands for the id `64 * w + b`.
    ///
    /// # Panics
    /// If there are more words than `u32` has ids for.
    #[must_use]
    pub fn from_words(mut words: Vec<u64>) -> Self {
        assert!(
            words.len() <= (u32::MAX as usize + 1) / BITS,
            "too many ids"
        );
        while words.last() == Some(&0) {
            words.pop();
        }
        let len = words.iter().map(|word| word.count_ones() as usize).sum();
        Self { words, len }
    }

    /// The words that [`Ids::from_words`] takes; bits beyond the last are zero.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many ids.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether an id is one of them.
    #[must_use]
    #[inline]
    pub fn contains(&self, id: u32) -> bool {
        self.words
            .get(id as usize / BITS)
            .is_some_and(|word| word >> (id as usize % BITS) & 1 == 1)
    }

    /// Whether sixteen consecutive ids are in the set, the first in the lowest bit.
    pub(crate) fn sixteen(&self, first: u32) -> u16 {
        let (index, shift) = (first as usize / BITS, first % BITS as u32);
        let word = |index: usize| u128::from(self.words.get(index).copied().unwrap_or(0));
        ((word(index + 1) << BITS | word(index)) >> shift) as u16
    }

    /// A range without the words at its ends that have no ids; empty if it has none at all.
    pub(crate) fn within(&self, range: Range<usize>) -> Range<usize> {
        let first = range.start / BITS;
        let end = range.end.div_ceil(BITS).min(self.words.len());
        let words = self.words.get(first..end).unwrap_or_default();
        let some = |word: &u64| *word != 0;
        match (words.iter().position(some), words.iter().rposition(some)) {
            (Some(from), Some(to)) => {
                let start = range.start.max((first + from) * BITS);
                start..range.end.min((first + to + 1) * BITS)
            }
            _ => range.start..range.start,
        }
    }

    /// The ids, from the smallest.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                (word != 0).then(|| {
                    word &= word - 1;
                    (index * BITS) as u32 + bit
                })
            })
        })
    }

    /// The smallest and the largest of them; `None` if there are none.
    #[must_use]
    pub fn ends(&self) -> Option<(u32, u32)> {
        let first = self.words.iter().position(|word| *word != 0)?;
        let last = self.words.iter().rposition(|word| *word != 0)?;
        let low = self.words[first].trailing_zeros() as usize;
        let high = self.words[last].ilog2() as usize;
        Some(((first * BITS + low) as u32, (last * BITS + high) as u32))
    }

    /// Those up to an id.
    #[must_use]
    pub fn until(&self, id: u32) -> Self {
        let (last, bit) = (id as usize / BITS, id as usize % BITS);
        let mut words = self.words[..self.words.len().min(last + 1)].to_vec();
        if let Some(word) = words.get_mut(last) {
            *word &= u64::MAX >> (BITS - 1 - bit);
        }
        Self::from_words(words)
    }

    /// The ids of both sets.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let pairs = self.words.iter().zip(&other.words);
        Self::from_words(pairs.map(|(left, right)| left & right).collect())
    }

    /// The ids of either set.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let (short, long) = if self.words.len() < other.words.len() {
            (self, other)
        } else {
            (other, self)
        };
        let mut words = long.words.clone();
        words
            .iter_mut()
            .zip(&short.words)
            .for_each(|(word, more)| *word |= more);
        Self::from_words(words)
    }

    /// The ids of this set that are not in the other.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let mut words = self.words.clone();
        words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(word, less)| *word &= !less);
        Self::from_words(words)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn some() -> impl Strategy<Value = Vec<u32>> {
        prop::collection::vec(0..500_u32, 0..60)
    }

    proptest! {
        #[test]
        fn behaves_as_a_set(left in some(), right in some()) {
            let (a, b) = (Ids::of(&left).unwrap(), Ids::of(&right).unwrap());
            let left: BTreeSet<u32> = left.into_iter().collect();
            let right: BTreeSet<u32> = right.into_iter().collect();
            prop_assert_eq!(a.len(), left.len());
            prop_assert_eq!(a.is_empty(), left.is_empty());
            prop_assert!(a.iter().eq(left.iter().copied()));
            prop_assert!((0..600).all(|id| a.contains(id) == left.contains(&id)));
            prop_assert!(a.and(&b).iter().eq(left.intersection(&right).copied()));
            prop_assert!(a.or(&b).iter().eq(left.union(&right).copied()));
            prop_assert!(a.minus(&b).iter().eq(left.difference(&right).copied()));
        }
    }

    proptest! {
        #[test]
        fn a_range_keeps_its_ids(ids in some(), from in 0..600_usize, length in 0..300_usize) {
            let (set, range) = (Ids::of(&ids).unwrap(), from..from + length);
            let inner = set.within(range.clone());
            prop_assert!(range.start <= inner.start && inner.end <= range.end);
            let of = |range: &Range<usize>| {
                let range = range.clone();
                set.iter().filter(move |id| range.contains(&(*id as usize))).collect::<Vec<_>>()
            };
            prop_assert_eq!(of(&inner), of(&range));
        }
    }

    proptest! {
        #[test]
        fn sixteen_are_those_of_the_set(ids in some(), first in 0..600_u32) {
            let set = Ids::of(&ids).unwrap();
            let bits = (0..16).map(|bit| u16::from(set.contains(first + bit)) << bit);
            prop_assert_eq!(set.sixteen(first), bits.sum::<u16>());
        }
    }

    proptest! {
        #[test]
        fn until_an_id_are_those_up_to_it(ids in some(), last in 0..600_u32) {
            let set = Ids::of(&ids).unwrap();
            let expected: Vec<u32> = set.iter().filter(|id| *id <= last).collect();
            prop_assert_eq!(set.until(last), Ids::of(&expected).unwrap());
        }

        #[test]
        fn ends_are_the_smallest_and_the_largest(ids in some()) {
            let expected = ids.iter().min().copied().zip(ids.iter().max().copied());
            prop_assert_eq!(Ids::of(&ids).unwrap().ends(), expected);
        }
    }

    #[test]
    fn equal_sets_are_equal_however_they_were_made() {
        let one = Ids::of(&[3, 1000]).unwrap();
        assert_eq!(
            one.minus(&Ids::of(&[1000]).unwrap()),
            Ids::of(&[3]).unwrap()
        );
        assert!(!one.contains(u32::MAX));
    }
}
