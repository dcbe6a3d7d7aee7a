//! Which words name what a claim is about.
//!
//! They stand before its verb, but a name may itself be a verb, or any other word of the lists: the export
//! service, the on call rota. So that a name never decides what is replaced, a claim is read in two ways. [`head`]
//! ends where the verb most likely stands, [`reach`] where it may stand at the latest, and [`other_names`] are the
//! words up to there that only one of two claims has, apart from those whose place shows that they name nothing.

use super::reading::{Kind, Reading, Word};
use super::roles::*;
use super::vocabulary::Part;
use crate::language::lexicon::{ENGLISH, FREE, GERMAN, JAPANESE, KOREAN, Languages};

/// Words that stand beside a verb.
const ADVERBS: Roles = NOW | CORRECTS | DENIES | FUNCTION | ENDS | AT_LAST | RECENT;

/// How many words come before the first verb. After the subject itself, "retries" is a verb and so is an
/// unknown word; after "the" they are nouns.
pub(super) fn head(words: &[Word], languages: Languages) -> usize {
    if languages & FREE == languages {
        return topic(words, languages);
    }
    let follows_subject = |place: usize| place > 0 && words[place - 1].roles & USER != 0;
    // "The gym pool opens": the unknown word is a noun.
    let before_verb = |place: usize| {
        let next = words[place + 1..].iter().take(2);
        next.fold(0, |all, word| all | word.roles) & PREDICATE != 0
    };
    let is_verb = |place: usize| {
        let word = &words[place];
        let unknown =
            word.roles == 0 && word.is_telling && word.kind == Kind::Word && !word.is_capital;
        (is_known_verb(word) && (word.roles & ATTRIBUTE == 0 || follows_subject(place)))
            || (unknown && follows_subject(place) && !before_verb(place))
    };
    let likely = |place: &usize| is_verb(*place) && !is_noun(words, *place, languages);
    let verb = (0..words.len()).find(likely);
    let verb = verb.or_else(|| (0..words.len()).find(|place| is_verb(*place)));
    verb.unwrap_or_else(|| after_subject(words))
}

/// How many words say what a claim is about where its verb may stand anywhere: those up to the subject, or to a word
/// with the ending of a topic in Korean, or the first noun.
fn topic(words: &[Word], languages: Languages) -> usize {
    let marked = |word: &Word| word.text.ends_with(['은', '는', '이', '가']);
    let place = words
        .iter()
        .position(|word| word.roles & USER != 0)
        .or_else(|| (languages == KOREAN).then(|| words.iter().take(4).position(marked))?);
    let place = place.or_else(|| {
        words
            .iter()
            .position(|word| word.is_telling && !is_value(word))
    });
    place.map_or(0, |place| place + 1)
}

fn is_known_verb(word: &Word) -> bool {
    word.roles & PREDICATE != 0 && word.roles & (KIN | USER | TITLE) == 0
}

/// How many words come before the value of a claim without a verb: the subject, or the first noun, and its number.
fn after_subject(words: &[Word]) -> usize {
    let subject = words.iter().position(|word| word.roles & USER != 0);
    let first = words.iter().position(|word| word.is_telling);
    let last = subject.or(first).map_or(0, |last| last + 1);
    // Chapter 3
    let is_numbered = last > 0 && words[last - 1].roles & NUMBERED != 0;
    let is_number = |word: &Word| word.kind == Kind::Number;
    last + usize::from(is_numbered && words.get(last).is_some_and(is_number))
}

/// Whether the place of a word shows that it is no verb: after an article, or with a capital letter in German. In
/// other languages than English an article may also be a pronoun: "Ana la vende".
fn is_noun(words: &[Word], place: usize, languages: Languages) -> bool {
    if place == 0 {
        return false;
    }
    if words[place].is_quoted || (languages == GERMAN && words[place].is_capital) {
        return true;
    }
    let follows = words[place - 1].roles & ARTICLE != 0;
    follows
        && (languages & ENGLISH != 0
            || (place + 1..words.len())
                .any(|next| is_known_verb(&words[next]) && !is_plain_noun(words, next, languages)))
}

fn is_plain_noun(words: &[Word], place: usize, languages: Languages) -> bool {
    words[place - 1].roles & (ARTICLE | PREPOSITION) != 0
        || (languages == GERMAN && words[place].is_capital)
}

/// How many words may come before the verb at most.
pub(super) fn reach(words: &[Word], breaks: &[usize], head: usize, languages: Languages) -> usize {
    if languages & FREE == languages {
        let last = words.len().saturating_sub(1);
        return head.max(words.iter().position(is_value).unwrap_or(last));
    }
    let mut last = None;
    for place in 0..words.len() {
        if last.is_some() && begins_clause(words, breaks, place, languages) {
            break;
        }
        if !may_be_verb(words, place, last.is_some(), languages) {
            continue;
        }
        last = Some(place);
        if is_certain(words, place, languages) {
            break;
        }
    }
    let ends = |word: &Word| is_value(word) || (last.is_none() && word.roles & PREPOSITION != 0);
    let value = words.iter().position(ends).unwrap_or(words.len());
    if last.is_none() {
        return if value < words.len() {
            head.max(value)
        } else {
            head
        };
    }
    // "Call timeout: 5 seconds" begins with no verb.
    let noun = words[..value]
        .iter()
        .rposition(|word| word.roles & ATTRIBUTE != 0)
        .filter(|_| last == Some(0));
    head.max(last.unwrap_or(0))
        .max(noun.map_or(0, |noun| noun + 1))
}

/// Whether a word may be the verb of a claim, wherever else one may be.
fn may_be_verb(words: &[Word], place: usize, is_later: bool, languages: Languages) -> bool {
    let word = &words[place];
    let before = place.checked_sub(1).map(|before| &words[before]);
    let roles = before.map_or(0, |before| before.roles);
    if word.is_quoted || (languages == GERMAN && place > 0 && word.is_capital) {
        return false;
    }
    if roles & ARTICLE != 0 && (languages & ENGLISH != 0 || word.roles & (BE | HAVE) == 0) {
        return false;
    }
    let follows_verb = is_later && languages & ENGLISH != 0 && word.stem.ends_with("ing");
    let is_last = is_later && languages == GERMAN && place + 1 == words.len();
    if word.in_phrase == Some(Part::Later) || follows_verb || is_last {
        return false; // stopped smoking, wurde erhöht
    }
    if is_certain(words, place, languages) {
        return true;
    }
    let binds = |word: &Word| {
        word.roles & (PREPOSITION | OWNER | UNIT) != 0 || is_value(word) || word.text == "'s"
    };
    let bound = before.is_some_and(binds);
    if is_known_verb(word) {
        // "for support"; but "the office we moved to is".
        return !(bound && is_later) || word.roles & BE != 0;
    }
    if word.roles != 0 || word.kind == Kind::Name || word.kind == Kind::Code || bound {
        return false;
    }
    let Some(after) = words.get(place + 1) else {
        return false;
    };
    let turned = place > 1 && roles & NOW != 0 && !is_known_verb(&words[place - 2]);
    let inflected = languages & ENGLISH != 0
        && place > 0
        && word.text.len() > 3
        && word.text.ends_with(['s', 'd'])
        && !word.text.ends_with("ss")
        && (after.roles & (PREPOSITION | FUNCTION | OWNER) != 0 || after.kind != Kind::Word);
    (turned && !word.is_capital) || inflected
}

/// Whether a word is a verb whatever stands around it: one that is nothing else, or one before an article.
fn is_certain(words: &[Word], place: usize, languages: Languages) -> bool {
    if languages & JAPANESE != 0 {
        return words[place].roles & FINITE != 0;
    }
    let word = &words[place];
    let after = words.get(place + 1);
    let before_noun = after.is_some_and(|after| after.roles & (ARTICLE | INDEFINITE | OWNER) != 0);
    let is_first = place == 0;
    if !is_first && words[place - 1].roles & ARTICLE != 0 {
        return false;
    }
    (word.roles & FINITE != 0 && (!is_first || after.is_some_and(is_known_verb)))
        || (is_known_verb(word) && before_noun)
}

/// Whether another clause begins at a word: "and works …", but not "and export service uses …".
fn begins_clause(words: &[Word], breaks: &[usize], place: usize, languages: Languages) -> bool {
    let joins = |place: usize| words[place].roles & JOINS != 0 || breaks.contains(&place);
    if !joins(place) {
        return false;
    }
    let start = (place..words.len())
        .find(|at| words[*at].roles & (JOINS | ADVERBS) == 0 && words[*at].roles & USER == 0)
        .unwrap_or(words.len());
    let end = (start + 1..words.len())
        .find(|at| joins(*at))
        .unwrap_or(words.len());
    let turns = breaks.contains(&place) && words[place].roles & (NOW | ENDS) != 0;
    start < words.len() && turns
        || start < words.len()
            && may_be_verb(words, start, false, languages)
            && (is_certain(words, start, languages)
                || !(start + 1..end).any(|at| may_be_verb(words, at, true, languages)))
}

/// Words of a claim that may name what it is about, and that the other claim does not have there, given those that it
/// shares with it in the same order, and the value that differs, if that is all.
pub(super) fn other_names(
    this: &Reading,
    other: &Reading,
    shared: &[usize],
    value: &[usize],
) -> Vec<usize> {
    let mut free: Vec<&str> = other.words[..other.reach]
        .iter()
        .map(|word| word.stem.as_str())
        .collect();
    let has = |word: &Word| other.words.iter().any(|known| known.stem == word.stem);
    let stands_elsewhere = |place: usize, word: &Word| {
        is_bound(this, place) && (word.roles & PREPOSITION != 0 || has(word))
    };
    let mut is_other = |place: &usize| {
        let word = &this.words[*place];
        if let Some(known) = free.iter().position(|known| *known == word.stem) {
            free.swap_remove(known);
            return false;
        }
        !shared.contains(place) && names(this, *place) && !stands_elsewhere(*place, word)
    };
    let mut found: Vec<usize> = (0..this.reach).filter(&mut is_other).collect();
    found.extend((this.reach..this.words.len()).filter(|place| {
        let word = &this.words[*place];
        may_stand_for_change(this, *place)
            && !value.contains(place)
            && !has(word)
            && is_within_phrase(this, *place)
    }));
    found
}

/// Whether a word before the verb may name something, given its place.
fn names(reading: &Reading, place: usize) -> bool {
    let words = &reading.words;
    let word = &words[place];
    let before = place.checked_sub(1).map_or(0, |before| words[before].roles);
    let after = words.get(place + 1);
    if reading.languages & FREE == reading.languages {
        return word.is_inflected || (names_plainly(word) && word.roles & (USER | MARKS) == 0);
    }
    let has_owned = after.is_some_and(|after| after.text == "'s");
    if word.text == "'s" {
        return false;
    }
    let beside_verb = (place + 1..=reading.reach)
        .find(|next| {
            words
                .get(*next)
                .is_none_or(|next| next.roles & ADVERBS == 0)
        })
        .is_none_or(|next| next >= reading.reach || words[next].roles & (BE | HAVE) != 0);
    if word.is_inflected {
        return true; // it may be another name
    }
    if word.roles & USER != 0 {
        let binds = |after: &Word| after.roles & (PREPOSITION | ADVERBS) != 0;
        return !beside_verb && !has_owned && !after.is_some_and(binds);
    }
    if word.is_quoted || before & ARTICLE != 0 || (before & OWNER != 0 && !beside_verb) {
        return true;
    }
    let is_german_name = reading.languages == GERMAN && word.is_capital && place > 0;
    if has_owned || is_german_name {
        return true;
    }
    if word.roles & ARTICLE != 0 {
        return false; // also a pronoun
    }
    if word.roles & (OWNER | INDEFINITE) != 0 {
        return place + 1 == reading.reach;
    }
    let is_adverb = word.is_dropped || word.in_phrase.is_some() || reading.is_unspaced;
    if word.roles & ADVERBS != 0 && beside_verb && is_adverb {
        return false; // Ana now lives
    }
    if word.in_phrase.is_some() && word.roles & (ENDS | CORRECTS) != 0 {
        return false; // Ana no longer lives
    }
    if names_plainly(word) {
        return true;
    }
    // "Since May 2024 Ana lives …"
    let begins = (0..place).all(|before| !names_plainly(&words[before]));
    let corrects = after.is_some_and(|after| after.roles & CORRECTS != 0);
    let pauses = corrects || reading.breaks.contains(&(place + 1));
    !begins || (word.roles & !FUNCTION == 0 && !is_value(word) && !pauses)
}

/// Whether a word is neither an adverb nor a date, nor binds others.
fn names_plainly(word: &Word) -> bool {
    let quiet = word.is_dropped
        || word.roles & (NOW | CORRECTS | PREPOSITION | FUNCTION | AT_LAST | RECENT | TEMPORARY)
            != 0
        || is_value(word);
    !quiet
}

fn is_value(word: &Word) -> bool {
    matches!(word.kind, Kind::Number | Kind::Date | Kind::Version)
}

/// Whether a word follows "'s", as in the importer's batch size; where prepositions stand before verbs, also one of
/// them.
fn is_bound(reading: &Reading, place: usize) -> bool {
    let words = &reading.words;
    if reading.is_unspaced {
        return words[place].roles & PREPOSITION != 0
            || (place > 0 && words[place - 1].roles & PREPOSITION != 0);
    }
    words[..place]
        .iter()
        .rev()
        .take_while(|word| word.roles & (PREPOSITION | JOINS) == 0)
        .any(|word| word.text == "'s")
}

/// Whether a word may count as a verb, or as the unit of a value, though it names something.
fn may_stand_for_change(reading: &Reading, place: usize) -> bool {
    let word = &reading.words[place];
    let counted = place > 0 && reading.words[place - 1].kind == Kind::Number;
    if word.in_phrase == Some(Part::Later) && word.roles & ENDS != 0 {
        return false; // not … any more
    }
    word.roles & (PREDICATE | USER) != 0 || (word.roles & UNIT != 0 && !counted)
}

/// Whether a word after the verb belongs to what a preposition binds: "for the transfer service".
fn is_within_phrase(reading: &Reading, place: usize) -> bool {
    if reading.is_unspaced {
        return false; // its verbs follow what prepositions bind
    }
    let joins = |word: &Word| word.roles & JOINS != 0;
    let last = reading.words.get(place + 1).is_none_or(joins);
    let bound = place > 0 && reading.words[place - 1].roles & (PREPOSITION | ARTICLE) != 0;
    if last && !bound && reading.languages & !ENGLISH != 0 {
        return false; // a participle
    }
    // "changed to run"
    if place > 0 && reading.words[place - 1].roles & TO != 0 {
        return reading.languages & ENGLISH == 0;
    }
    let words = &reading.words[reading.reach..place];
    let verb = words.iter().rposition(joins);
    words[verb.map_or(0, |verb| verb + 1)..]
        .iter()
        .any(|word| word.roles & PREPOSITION != 0 && word.roles & (FROM | TO) == 0)
}
