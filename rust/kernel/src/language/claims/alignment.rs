//! Which words two claims share, and where they differ.

use super::holder::other_names;
use super::reading::{Kind, Reading, Word};
use super::roles::*;

/// What a pair of equal words counts in an alignment: more if they tell something, so that "is" does not
/// keep them apart.
const TELLING: u32 = 4;
const LIGHT: u32 = 1;

/// The fewest letters at the beginning that two forms of a word share, and the most that may follow.
const MIN_BEGINNING: usize = 4;
const MAX_ENDING: usize = 3;

/// A place where two claims differ: the telling words on each side, as indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Of the old claim.
    pub old: Vec<usize>,
    /// Of the new claim.
    pub new: Vec<usize>,
}

/// Two claims side by side.
#[derive(Clone, Debug, Default)]
pub struct Alignment {
    /// From left to right.
    pub regions: Vec<Region>,
    /// Telling words of the old claim that the new one does not have.
    pub lost: Vec<usize>,
    /// Telling words of the new claim that the old one does not have.
    pub gained: Vec<usize>,
    /// Words of both, as indices of the old claim.
    pub common: Vec<usize>,
    /// For each word of the new claim its key, or that of an old word of which it is another form.
    pub keys: Vec<u64>,
    /// Telling words before the verb of the new claim that the old one does not have.
    pub new_head: Vec<usize>,
    /// Words that may name what a claim is about, and that only the old one has there, or only the new one.
    pub other_names: [Vec<usize>; 2],
    /// Before its verb, the new claim has kin that the old one does not speak of, or the reverse.
    pub other_kin: bool,
    /// Words of a script without blanks count as one though one only contains the other.
    pub is_loose: bool,
    /// Both have the same symbols.
    pub same_symbols: bool,
    /// Every word that both have is written with a capital letter in both, or in neither.
    pub same_case: bool,
    /// They do not speak of "his" and "her", or of "this" and "that".
    pub same_owners: bool,
    /// Prepositions that only the old claim has.
    pub lost_prepositions: Vec<usize>,
    /// Prepositions that only the new claim has.
    pub gained_prepositions: Vec<usize>,
}

/// What two claims share, which is known before they are aligned.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// How many telling words of the old claim the new one has.
    pub count: usize,
    /// The roles of words that only the new claim has.
    pub marks: Roles,
    /// The places of the old claim's words that are aligned.
    before: Vec<usize>,
    /// The places of the new claim's words that are aligned.
    after: Vec<usize>,
    /// The keys of the words after.
    keys: Vec<u64>,
    is_loose: bool,
}

impl Shared {
    /// Find the words of the old claim that the new one has, too.
    #[must_use]
    pub fn new(old: &Reading, new: &Reading) -> Self {
        let before = aligned(old);
        let after = aligned(new);
        let (keys, is_loose) = keys_as_in(&before, &after, old, new);
        let words = before.iter().map(|place| &old.words[*place]);
        let common = words.filter(|word| word.is_telling && keys.contains(&word.key));
        Self {
            count: common.count(),
            marks: marks(old, new),
            before,
            after,
            keys,
            is_loose,
        }
    }
}

/// What decides whether two claims need a closer look; the rules choose it.
#[derive(Clone, Debug, Default)]
pub struct Bearing {
    /// Marks of the newer claim that are worth one by themselves.
    pub turned: Roles,
    /// Roles that are worth one if both have words of them.
    pub topics: Roles,
    /// Marks of the newer claim with which it needs none, unless the older one has these roles.
    pub denied: Vec<(Roles, Roles)>,
    /// The telling words beyond which a claim is long: of the shorter one, half has to be shared.
    pub long: usize,
}

impl Bearing {
    /// Return whether a newer claim may bear on an older one.
    #[must_use]
    pub fn holds(&self, old: &Reading, new: &Reading) -> bool {
        let shared = Shared::new(old, new);
        let is_denied =
            |(mark, excuse): &(Roles, Roles)| shared.marks & mark != 0 && old.roles & excuse == 0;
        if self.denied.iter().any(is_denied) {
            return false;
        }
        if shared.marks & self.turned != 0 || old.families & new.families != 0 {
            return true;
        }
        let is_long = old.size.max(new.size) > self.long && !old.is_cut && !new.is_cut;
        if is_long && 2 * shared.count < old.size.min(new.size) {
            return false;
        }
        shared.count > 0 || old.roles & new.roles & self.topics != 0 || old.groups & new.groups != 0
    }
}

/// Align two claims so that the words they share, in order, count most.
pub fn align(old: &Reading, new: &Reading, shared: &Shared) -> Alignment {
    let Shared {
        before,
        after,
        keys: new_keys,
        ..
    } = shared;
    let old_keys: Vec<u64> = before.iter().map(|place| old.words[*place].key).collect();
    let mut keys: Vec<u64> = new.words.iter().map(|word| word.key).collect();
    for (place, key) in after.iter().zip(new_keys) {
        keys[*place] = *key;
    }
    let weight = |place: usize| {
        if old.words[before[place]].is_telling {
            TELLING
        } else {
            LIGHT
        }
    };
    let pairs = heaviest(&old_keys, new_keys, weight);
    let of_old: Vec<usize> = (0..before.len())
        .filter(|i| old.words[before[*i]].is_telling)
        .collect();
    let of_new: Vec<usize> = (0..after.len())
        .filter(|i| new.words[after[*i]].is_telling)
        .collect();
    let (common, lost): (Vec<usize>, Vec<usize>) = of_old
        .iter()
        .partition(|i| new_keys.contains(&old_keys[**i]));
    let gained = of_new.iter().filter(|i| !old_keys.contains(&new_keys[**i]));
    let (lost_prepositions, gained_prepositions) =
        unmatched(&prepositions(old), &prepositions(new), old, new);
    let regions = regions(before, after, &pairs, old, new);
    let other_names = names_that_differ(before, after, &pairs, old, new, &regions);
    Alignment {
        regions,
        other_names,
        lost: lost.into_iter().map(|i| before[i]).collect(),
        gained: gained.map(|i| after[*i]).collect(),
        common: common.into_iter().map(|i| before[i]).collect(),
        new_head: new_head(old, new, &keys),
        other_kin: has_other_kin(old, new) || has_other_kin(new, old),
        keys,
        is_loose: shared.is_loose,
        same_symbols: old.symbols == new.symbols,
        same_case: same_case(&old.words, &new.words),
        same_owners: same_owners(&old.words, &new.words),
        lost_prepositions,
        gained_prepositions,
    }
}

fn aligned(reading: &Reading) -> Vec<usize> {
    let places = reading.words.iter().enumerate();
    places
        .filter(|(_, word)| !word.is_dropped)
        .map(|(place, _)| place)
        .collect()
}

/// The keys of the new words; another form of an old word has that word's key: study, studied.
fn keys_as_in(before: &[usize], after: &[usize], old: &Reading, new: &Reading) -> (Vec<u64>, bool) {
    let own: Vec<u64> = after.iter().map(|place| new.words[*place].key).collect();
    let words = || before.iter().map(|place| &old.words[*place]);
    let free: Vec<&Word> = words()
        .filter(|old| old.is_telling && !own.contains(&old.key))
        .collect();
    let mut is_loose = false;
    let keys = after
        .iter()
        .zip(&own)
        .map(|(place, key)| {
            if words().any(|old| old.key == *key) {
                return *key;
            }
            let word = &new.words[*place];
            let found = free.iter().find(|old| is_form(old, word));
            is_loose |= found.is_some_and(|old| old.kind == Kind::Unspaced);
            found.map_or(*key, |old| old.key)
        })
        .collect();
    (keys, is_loose)
}

fn is_form(old: &Word, new: &Word) -> bool {
    match (old.kind, new.kind) {
        (Kind::Word, Kind::Word) => new.is_telling && are_forms(&old.stem, &new.stem),
        // Names have endings in other scripts.
        (Kind::Name, Kind::Name) => !old.stem.is_ascii() && are_forms(&old.stem, &new.stem),
        (Kind::Unspaced, Kind::Unspaced) => {
            let shortest = old.stem.chars().count().min(new.stem.chars().count());
            shortest > 1 && (old.stem.contains(&new.stem) || new.stem.contains(&old.stem))
        }
        _ => false,
    }
}

/// Whether two words may be forms of one: their beginnings are equal.
pub(super) fn are_forms(one: &str, other: &str) -> bool {
    // Most words differ in their first byte.
    if one.as_bytes().first() != other.as_bytes().first() {
        return false;
    }
    let same = one
        .chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let longest = one.chars().count().max(other.chars().count());
    same >= MIN_BEGINNING && same + MAX_ENDING >= longest
}

/// The pairs of equal keys, in order on both sides, that weigh most together.
fn heaviest(old: &[u64], new: &[u64], weight: impl Fn(usize) -> u32) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut best = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let skipped = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            best[i * width + j] = if old[i] == new[j] {
                skipped.max(best[(i + 1) * width + j + 1] + weight(i))
            } else {
                skipped
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        let here = best[i * width + j];
        if old[i] == new[j] && here == best[(i + 1) * width + j + 1] + weight(i) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

fn regions(
    before: &[usize],
    after: &[usize],
    pairs: &[(usize, usize)],
    old: &Reading,
    new: &Reading,
) -> Vec<Region> {
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (next_i, next_j) in pairs.iter().copied().chain([(before.len(), after.len())]) {
        let region = Region {
            old: telling(&before[i..next_i], old),
            new: telling(&after[j..next_j], new),
        };
        if !region.old.is_empty() || !region.new.is_empty() {
            found.push(region);
        }
        (i, j) = (next_i + 1, next_j + 1);
    }
    found
}

fn names_that_differ(
    before: &[usize],
    after: &[usize],
    pairs: &[(usize, usize)],
    old: &Reading,
    new: &Reading,
    regions: &[Region],
) -> [Vec<usize>; 2] {
    // "Surgery" and "surgeon" may be forms of one word, but not names of one team.
    let is_same = |(i, j): &(usize, usize)| {
        let (one, other) = (&old.words[*i], &new.words[*j]);
        one.stem == other.stem || (one.key == other.key && !one.is_telling && one.roles & USER == 0)
    };
    let places = pairs.iter().map(|(i, j)| (before[*i], after[*j]));
    let (in_old, in_new): (Vec<usize>, Vec<usize>) = places.filter(is_same).unzip();
    let value = match regions {
        [one] => one.clone(),
        _ => Region::default(),
    };
    [
        other_names(old, new, &in_old, &value.old),
        other_names(new, old, &in_new, &value.new),
    ]
}

fn telling(places: &[usize], of: &Reading) -> Vec<usize> {
    places
        .iter()
        .copied()
        .filter(|place| of.words[*place].is_telling)
        .collect()
}

fn prepositions(reading: &Reading) -> Vec<usize> {
    let places = reading.words.iter().enumerate();
    places
        .filter(|(_, word)| word.roles & PREPOSITION != 0 && !word.is_telling)
        .map(|(place, _)| place)
        .collect()
}

/// What each list has more of than the other.
fn unmatched(
    before: &[usize],
    after: &[usize],
    old: &Reading,
    new: &Reading,
) -> (Vec<usize>, Vec<usize>) {
    let mut gained = after.to_vec();
    let mut lost = Vec::new();
    for place in before {
        let stem = &old.words[*place].stem;
        match gained
            .iter()
            .position(|other| &new.words[*other].stem == stem)
        {
            Some(found) => {
                gained.remove(found);
            }
            None => lost.push(*place),
        }
    }
    (lost, gained)
}

fn new_head(old: &Reading, new: &Reading, keys: &[u64]) -> Vec<usize> {
    let known = |place: usize| old.words.iter().any(|word| word.key == keys[place]);
    let telling = (0..new.head).filter(|place| new.words[*place].is_telling);
    telling.filter(|place| !known(*place)).collect()
}

/// Whether the other claim names kin before its verb that this one does not speak of.
fn has_other_kin(this: &Reading, other: &Reading) -> bool {
    let kin = other.words[..other.head]
        .iter()
        .filter(|word| word.roles & KIN != 0);
    kin.clone()
        .any(|word| this.words.iter().all(|known| known.key != word.key))
}

fn marks(old: &Reading, new: &Reading) -> Roles {
    let is_new = |word: &&Word| !old.words.iter().any(|other| other.stem == word.stem);
    new.words
        .iter()
        .filter(is_new)
        .fold(0, |all, word| all | word.roles)
}

/// Words at the beginning have a capital letter whatever they are.
fn same_case(old: &[Word], new: &[Word]) -> bool {
    let inside = |words: &[Word]| -> Vec<(u64, bool)> {
        let kinds = |word: &&Word| matches!(word.kind, Kind::Word | Kind::Name) && word.is_telling;
        words
            .iter()
            .skip(1)
            .filter(kinds)
            .map(|word| (word.key, word.is_capital))
            .collect()
    };
    let after = inside(new);
    inside(old).iter().all(|(key, capital)| {
        !after
            .iter()
            .any(|(other, is)| other == key && is != capital)
    })
}

fn same_owners(old: &[Word], new: &[Word]) -> bool {
    let owners = |words: &[Word]| -> Vec<String> {
        let of = words.iter().filter(|word| word.roles & OWNER != 0);
        let mut found: Vec<String> = of.map(|word| word.stem.chars().take(3).collect()).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let (before, after) = (owners(old), owners(new));
    before.is_empty() || after.is_empty() || before == after
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The truth: try everything.
    fn naive(old: &[u64], new: &[u64]) -> u32 {
        match (old.split_first(), new.split_first()) {
            (Some((first, rest)), Some((other, others))) => {
                let skipped = naive(rest, new).max(naive(old, others));
                let matched = (first == other).then(|| naive(rest, others) + weight_of(*first));
                skipped.max(matched.unwrap_or(0))
            }
            _ => 0,
        }
    }

    fn weight_of(key: u64) -> u32 {
        if key.is_multiple_of(2) {
            TELLING
        } else {
            LIGHT
        }
    }

    proptest! {
        #[test]
        fn the_pairs_weigh_as_much_as_any(
            old in prop::collection::vec(0_u64..5, 0..8),
            new in prop::collection::vec(0_u64..5, 0..8),
        ) {
            let pairs = heaviest(&old, &new, |i| weight_of(old[i]));
            let weight: u32 = pairs.iter().map(|(i, _)| weight_of(old[*i])).sum();
            prop_assert_eq!(weight, naive(&old, &new));
            prop_assert!(pairs.iter().all(|(i, j)| old[*i] == new[*j]));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }

        #[test]
        fn two_texts_can_be_aligned_whatever_they_are(old in ".{0,60}", new in ".{0,60}") {
            let (old, new) = (Reading::new(&old, "user"), Reading::new(&new, "user"));
            let shared = Shared::new(&old, &new);
            let found = align(&old, &new, &shared);
            prop_assert_eq!(found.common.len(), shared.count);
            prop_assert!(shared.count <= old.words.len());
            let same = Shared::new(&old, &old);
            prop_assert!(align(&old, &old, &same).regions.is_empty());
        }
    }
}
