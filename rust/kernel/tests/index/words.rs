//! The inverted index against the naive twin: rows kept in a plain map, every score computed.

use std::collections::{BTreeMap, HashMap};

use crate::folder::Folder;
use memstore_kernel::index::ids::Ids;
use memstore_kernel::index::mapped::Tag;
use memstore_kernel::index::words::{KIND, Phrase, Texts, VERSION, Words};
use proptest::prelude::*;

const TAG: Tag = Tag {
    kind: KIND,
    version: VERSION,
    database: [3; 16],
    generation: 0,
};

/// Rows as their tokens, by id.
type Model = BTreeMap<u32, Vec<String>>;

#[derive(Clone, Debug)]
enum Change {
    Put(Vec<(u32, Vec<String>)>),
    Drop(Vec<u32>),
    Save,
}

fn token() -> impl Strategy<Value = String> {
    // The empty one is between columns; the last two are also indexed by pairs.
    const TOKENS: &[&str] = &["a", "a", "a", "b", "b", "c", "d", "", "中", "文"];
    prop::sample::select(TOKENS).prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(token(), 0..12)
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => prop::collection::vec((0_u32..6_000, text()), 1..300).prop_map(Change::Put),
        2 => prop::collection::vec(0_u32..6_000, 1..300).prop_map(Change::Drop),
        1 => Just(Change::Save),
    ]
}

fn phrase() -> impl Strategy<Value = Phrase> {
    prop::collection::vec(token(), 0..4)
}

fn texts<'a>(rows: impl Iterator<Item = &'a Vec<String>>) -> Texts {
    let mut texts = Texts::new();
    for row in rows {
        row.iter().for_each(|token| texts.push(token).unwrap());
        texts.end_row().unwrap();
    }
    texts
}

fn settle(words: &mut Words) {
    while let Some(step) = words.step().unwrap() {
        words.take(step);
    }
}

fn make(words: &mut Words, model: &mut Model, change: &Change, folder: &Folder) {
    match change {
        Change::Put(rows) => {
            let ids: Vec<u32> = rows.iter().map(|(id, _)| *id).collect();
            words
                .put(&ids, &texts(rows.iter().map(|(_, text)| text)))
                .unwrap();
            model.extend(rows.iter().cloned());
        }
        Change::Drop(ids) => {
            let before = model.len();
            ids.iter().for_each(|id| drop(model.remove(id)));
            assert_eq!(words.drop_ids(ids).unwrap(), before - model.len());
        }
        Change::Save => {
            let path = folder.file();
            words.save(&path, &TAG, 5).unwrap();
            let (opened, file) = Words::open(&path, &TAG).unwrap();
            assert_eq!(file.position(), 5);
            *words = opened;
        }
    }
    settle(words);
}

fn occurrences(phrase: &Phrase, text: &[String]) -> u32 {
    if phrase.is_empty() || phrase.iter().any(String::is_empty) {
        return 0;
    }
    let here = |window: &&[String]| *window == &phrase[..];
    text.windows(phrase.len()).filter(here).count() as u32
}

/// What each phrase adds to each row, by the same expressions.
struct Naive<'a> {
    model: &'a Model,
    phrases: &'a [Phrase],
    frequencies: Vec<u64>,
    mean: f64,
}

/// How many tokens a row has.
fn length(text: &[String]) -> usize {
    text.iter().filter(|token| !token.is_empty()).count()
}

impl<'a> Naive<'a> {
    fn of(model: &'a Model, phrases: &'a [Phrase]) -> Self {
        let has = |phrase, text: &&Vec<String>| occurrences(phrase, text) > 0;
        let frequency = |phrase| model.values().filter(|text| has(phrase, text)).count() as u64;
        let tokens: usize = model.values().map(|text| length(text)).sum();
        Self {
            model,
            phrases,
            mean: tokens as f64 / model.len() as f64,
            frequencies: phrases.iter().map(frequency).collect(),
        }
    }

    fn parts(&self, id: u32) -> Vec<f64> {
        let Some(text) = self.model.get(&id) else {
            return vec![0.0; self.phrases.len()];
        };
        let (rows, own) = (self.model.len() as f64, length(text) as f64);
        let part = |(phrase, frequency): (&Phrase, &u64)| {
            let (n, count) = (*frequency as f64, f64::from(occurrences(phrase, text)));
            let idf = ((rows - n + 0.5) / (n + 0.5)).ln();
            let idf = if idf <= 0.0 { 1e-6 } else { idf };
            match count {
                0.0 => 0.0,
                _ => idf * ((count * 2.2) / (count + 1.2 * (1.0 - 0.75 + 0.75 * own / self.mean))),
            }
        };
        self.phrases
            .iter()
            .zip(&self.frequencies)
            .map(part)
            .collect()
    }

    fn all(&self) -> Vec<(u32, f64)> {
        let score = |id: &u32| (*id, self.parts(*id).iter().sum());
        let mut all: Vec<(u32, f64)> = self.model.keys().map(score).collect();
        all.retain(|(_, score)| *score > 0.0);
        all.sort_by(|left, right| right.1.total_cmp(&left.1).then(right.0.cmp(&left.0)));
        all
    }
}

/// The index as it was when it had no row after an id, of which it has an eighth, half and all.
fn check_until(words: &Words, model: &Model, phrases: &[Phrase], limit: usize, every: usize) {
    let ids: Vec<u32> = model.keys().copied().collect();
    for share in [8, 2, 1] {
        let Some(until) = ids.get((ids.len() / share).saturating_sub(1)).copied() else {
            continue;
        };
        let rows = model.range(..=until);
        let of_then: Model = rows.map(|(id, text)| (*id, text.clone())).collect();
        let naive = Naive::of(&of_then, phrases);
        let seen: Vec<u32> = of_then.keys().copied().step_by(every).collect();
        let visible = Ids::of(&seen).unwrap();
        let found = words.search(phrases, limit, Some(&visible), Some(until));
        let found: Vec<_> = found.into_iter().map(|row| (row.id, row.score)).collect();
        let mut best = naive.all();
        best.retain(|(id, _)| visible.contains(*id));
        best.truncate(limit);
        assert_eq!(found, best);
        assert_eq!(words.frequencies(phrases, Some(until)), naive.frequencies);
        assert_eq!(words.totals(Some(until)).0, of_then.len() as u64);
        let parts = words.parts(phrases, &ids[..1], Some(until));
        assert_eq!(parts.of(0), naive.parts(ids[0]));
    }
}

fn check(words: &Words, model: &Model, phrases: &[Phrase], limit: usize, every: usize) {
    check_until(words, model, phrases, limit, every);
    let naive = Naive::of(model, phrases);
    let all = naive.all();
    let pairs = |visible: Option<&Ids>| -> Vec<(u32, f64)> {
        let found = words.search(phrases, limit, visible, None);
        found.into_iter().map(|row| (row.id, row.score)).collect()
    };
    let best: Vec<_> = all.iter().take(limit).copied().collect();
    assert_eq!(pairs(None), best);
    let ids: Vec<u32> = (0..6_000).step_by(every).collect();
    // Stretches leave windows of ids without a visible row, and parts of windows.
    let stretches = [50, 700, 2_500].map(|rows| (0..12_000).filter(move |id| id / rows % 3 == 1));
    let sets = stretches.map(Iterator::collect).into_iter();
    for ids in sets.chain([ids.clone()]) {
        let visible = Ids::of(&ids).unwrap();
        let seen = all.iter().filter(|(id, _)| visible.contains(*id));
        let best: Vec<_> = seen.take(limit).copied().collect();
        assert_eq!(pairs(Some(&visible)), best);
    }
    assert_eq!(words.frequencies(phrases, None), naive.frequencies);
    assert_eq!(words.len(), model.len());
    let expected: Vec<Vec<f64>> = ids.iter().map(|id| naive.parts(*id)).collect();
    let parts = words.parts(phrases, &ids, None);
    let found: Vec<&[f64]> = (0..ids.len()).map(|row| parts.of(row)).collect();
    assert_eq!(found, expected);
}

proptest! {
    #![proptest_config(crate::naive::sixty_cases())]

    #[test]
    fn search_equals_the_naive_version(
        changes in prop::collection::vec(change(), 1..40),
        phrases in prop::collection::vec(phrase(), 0..6),
        limit in prop::sample::select(&[0, 1, 3, 50, usize::MAX][..]),
        every in prop::sample::select(&[1, 7, 1_000][..]),
        tail in prop::sample::select(&[1, 300, 100_000][..]),
    ) {
        let folder = Folder::new("words");
        let (mut words, mut model) = (Words::with_tail(tail), Model::new());
        for change in &changes {
            make(&mut words, &mut model, change, &folder);
        }
        check(&words, &model, &phrases, limit, every);
    }
}

/// Rows of a language's shape in many windows: the walk leaves most of them unread.
#[test]
fn search_equals_the_naive_version_when_the_walk_skips() {
    let mut model = Model::new();
    let mut state = 7_u64;
    let mut random = |end: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % end
    };
    for id in 0..12_000 {
        let length = 1 + random(14);
        let word = |_| {
            let rank = 1 << random(9);
            format!("w{}", rank + random(rank))
        };
        model.insert(id, (0..length).map(word).collect());
    }
    let ids: Vec<u32> = model.keys().copied().collect();
    let mut words = Words::default();
    words.put(&ids, &texts(model.values())).unwrap();
    settle(&mut words);
    let word = |word: &str| vec![word.to_owned()];
    for query in [
        vec![word("w1")],
        vec![word("w1"), word("w300")],
        vec![
            word("w2"),
            word("w5"),
            word("w2"),
            word("w400"),
            word("w77"),
        ],
        vec![vec!["w1".to_owned(), "w2".to_owned()], word("w33")],
    ] {
        for limit in [1, 10, 50] {
            check(&words, &model, &query, limit, 2);
        }
    }
}

#[test]
fn oversized_rows_are_refused_and_change_nothing() {
    let mut words = Words::default();
    let one = vec!["a".to_owned()];
    words.put(&[4], &texts([&one].into_iter())).unwrap();
    let refused = words.put(&[1, u32::MAX], &texts([&one, &one].into_iter()));
    assert!(refused.unwrap_err().to_string().contains("4294967295"));
    assert_eq!(words.len(), 1);
    let found: HashMap<u32, f64> = words
        .search(&[one], usize::MAX, None, None)
        .into_iter()
        .map(|row| (row.id, row.score))
        .collect();
    assert!(found.contains_key(&4) && found.len() == 1);
}
