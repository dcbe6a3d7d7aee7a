//! The contextual ranking compared with the cosines of the rows, and whose answer it finds.

use std::collections::HashMap;

use memstore_kernel::index::features::{Features, Row, hash, micros, read};
use memstore_kernel::index::ids::Ids;
use memstore_kernel::index::words::Words;
use memstore_kernel::language::Calendar;
use memstore_kernel::ranking::contextual::{Age, Candidate, Ranked, Request, rank};
use memstore_kernel::ranking::times::{Condition, First, Weights};

#[test]
fn the_contextual_ranking_compares_rows_with_the_vector_of_the_query() {
    let said = ["tea", "harbour", "a long walk", "東京", "rain", ""];
    let mut features = Features::default();
    let pairs = said.iter().flat_map(|a| said.map(|b| format!("{a} {b}")));
    for (id, text) in (0..).zip(pairs) {
        let row = Row {
            text: &text,
            ..Row::default()
        };
        features.put(id, &read(&row).unwrap()).unwrap();
    }
    let ids: Vec<u32> = (0..features.len() as u32).rev().collect();
    let candidate = |id: &u32| Candidate {
        id: *id,
        cosine: None,
    };
    let candidates: Vec<Candidate> = ids.iter().map(candidate).collect();
    let long = said.repeat(9).join(" of the sea and ");
    for query in ["tea in the harbour, tea", "", "zzz", &long] {
        let request = Request {
            limit: ids.len(),
            query,
            phrases: &[],
            telling: query,
            visible: None,
            lives: &[],
            now: 0,
            compares: true,
            joins: false,
            until: None,
            ages: &HashMap::new(),
            calendar: &Calendar::default(),
            condition: None,
        };
        let ranked = rank(&features, &Words::default(), &request, &candidates)
            .unwrap()
            .rows;
        assert_eq!(ranked.len(), ids.len());
        let vector = features.query(query).unwrap().vector;
        for one in ranked {
            let cosine = features.cosines(&vector, &[one.id])[0].unwrap().max(0.0);
            let difference = one.vector - f64::from(cosine);
            assert!(difference.abs() < 1e-6, "{query}, row {}", one.id);
        }
    }
}

#[test]
fn a_row_ages_from_the_time_that_is_given() {
    let mut features = Features::default();
    for id in 0..3 {
        let row = Row {
            text: "tea in the harbour",
            created: Some("2026-01-01T00:00:00.000000Z"),
            confirmed: Some("2026-03-01T00:00:00.000000Z"),
            ages_as: Some("note"),
            ..Row::default()
        };
        features.put(id, &read(&row).unwrap()).unwrap();
    }
    let candidates = [0, 1, 2].map(|id| Candidate { id, cosine: None });
    let at = |text| micros(text).unwrap();
    let age = |known, ages_as| Age {
        known,
        said: known,
        ages_as,
    };
    let january = at("2026-01-01T00:00:00.000000Z");
    let ages = HashMap::from([(1, age(january, hash("note"))), (2, age(january, 0))]);
    let request = Request {
        limit: 3,
        query: "tea",
        phrases: &[],
        telling: "tea",
        visible: None,
        lives: &[(hash("note"), 59.0 * 86_400.0)],
        now: at("2026-03-01T00:00:00.000000Z"),
        compares: true,
        joins: false,
        until: None,
        ages: &ages,
        calendar: &Calendar::default(),
        condition: None,
    };
    let ranked = rank(&features, &Words::default(), &request, &candidates)
        .unwrap()
        .rows;
    let mut decays: Vec<_> = ranked.iter().map(|one| (one.id, one.decay)).collect();
    decays.sort_unstable_by_key(|one| one.0);
    assert_eq!(decays, [(0, 1.0), (1, 0.5), (2, 1.0)]);
}

/// Rank rows, each of a speaker, and return whose answer it is: the numbers of the best row of the
/// one who is named and of the best of others.
fn elsewhere(rows: &[(&str, &str)], query: &str, visible: Option<&Ids>) -> Option<(u32, u32)> {
    let mut features = Features::default();
    for (id, (speaker, text)) in (0..).zip(rows) {
        let text = format!("{speaker}: {text}");
        let row = Row {
            text: &text,
            speaker: Some(speaker),
            ..Row::default()
        };
        features.put(id, &read(&row).unwrap()).unwrap();
    }
    let candidate = |id: u32| Candidate { id, cosine: None };
    let seen = |id: &u32| visible.is_none_or(|visible| visible.contains(*id));
    let ids = (0..rows.len() as u32).filter(seen);
    let candidates: Vec<Candidate> = ids.map(candidate).collect();
    let request = Request {
        limit: 10,
        query,
        phrases: &[],
        telling: query,
        visible,
        lives: &[],
        now: 0,
        compares: true,
        joins: false,
        until: None,
        ages: &HashMap::new(),
        calendar: &Calendar::default(),
        condition: None,
    };
    let order = rank(&features, &Words::default(), &request, &candidates).unwrap();
    let found = order.elsewhere?;
    assert!(found.difference < -0.05);
    Some((found.named, found.other))
}

const WHERE: &str = "Where does Ana work?";

#[test]
fn an_answer_about_somebody_else_than_the_one_named_is_noticed() {
    let rows = [("Ana", "prefers tea"), ("Ben", "works at the harbour")];
    assert_eq!(elsewhere(&rows, WHERE, None), Some((0, 1)));
    let knows = [rows[0], rows[1], ("Ana", "works at a school")];
    assert_eq!(elsewhere(&knows, WHERE, None), None);
    assert_eq!(elsewhere(&rows, "Where does Ben work?", None), None);
    assert_eq!(elsewhere(&rows, "Where is the work?", None), None);
    assert_eq!(elsewhere(&rows[1..], WHERE, None), None);
}

#[test]
fn what_asks_names_the_same_one_or_is_said_by_a_role_is_no_answer_about_others() {
    let ana = ("Ana", "prefers tea");
    for other in [
        ("Ben", "where does he work?"),
        ("Ben", "says that Ana works there"),
        ("user", "works at the harbour"),
        ("note", "works at the harbour"),
        ("", "works at the harbour"),
    ] {
        assert_eq!(elsewhere(&[ana, other], WHERE, None), None, "{other:?}");
    }
}

#[test]
fn nothing_is_said_where_two_known_names_are_asked_about() {
    let rows = [
        ("Ana", "prefers tea"),
        ("Ben", "works at the harbour"),
        ("Carl", "sleeps"),
    ];
    let both = "Does Ana work at the harbour with Carl?";
    assert_eq!(elsewhere(&rows, both, None), None);
    // Carl is known in another namespace alone.
    let seen = Ids::of(&[0, 1]).unwrap();
    assert_eq!(elsewhere(&rows, both, Some(&seen)), Some((0, 1)));
}

/// None says nearly the same as another, so that these do not compete.
const TEAS: [&str; 12] = [
    "green tea from Uji",
    "Ana drinks her tea cold",
    "a tea of seven herbs and honey",
    "the sea at night",
    "tea was late",
    "Ben sold tea, coffee and cocoa in the harbour",
    "the kettle is broken",
    "which cup belongs to whom",
    "black tea with milk for the guests",
    "rain on the roof",
    "white tea costs more than gold",
    "who made that tea",
];

/// Rows with their moments, in another order than their numbers.
fn teas() -> (Features, Vec<Candidate>, HashMap<u32, Age>) {
    let mut features = Features::default();
    let mut ages = HashMap::new();
    for id in 0..12 {
        let text = TEAS[id as usize];
        let row = Row {
            text,
            ..Row::default()
        };
        features.put(id, &read(&row).unwrap()).unwrap();
        let said = i64::from(id * 7 % 12);
        ages.insert(
            id,
            Age {
                known: said,
                said,
                ages_as: 0,
            },
        );
    }
    let candidates = (0..12).map(|id| Candidate { id, cosine: None });
    (features, candidates.collect(), ages)
}

fn ranked(limit: usize, condition: Option<&Condition>) -> Vec<Ranked> {
    let (features, candidates, ages) = teas();
    let request = Request {
        limit,
        query: "which tea",
        phrases: &[],
        telling: "tea",
        visible: None,
        lives: &[],
        now: 0,
        compares: true,
        joins: false,
        until: None,
        ages: &ages,
        calendar: &Calendar::default(),
        condition,
    };
    rank(&features, &Words::default(), &request, &candidates)
        .unwrap()
        .rows
}

#[test]
fn a_condition_lowers_what_is_outside_and_orders_what_matches_by_time() {
    let said = |row: &Ranked| row.id * 7 % 12;
    let plain = ranked(12, None);
    for (from, until) in [
        (None, None),
        (Some(3), None),
        (None, Some(8)),
        (Some(2), Some(9)),
    ] {
        for first in [None, Some(First::Newest), Some(First::Oldest)] {
            let condition = Condition {
                from,
                until,
                first,
                weights: Weights {
                    outside: 0.1,
                    matching: 0.8,
                },
                ..Condition::default()
            };
            let inside = |row: &Ranked| {
                let at = i64::from(said(row));
                from.is_none_or(|from| at >= from) && until.is_none_or(|until| at < until)
            };
            let score = |row: &Ranked| {
                let lost = if inside(row) { 0.0 } else { 0.1 };
                let parts = row.parts;
                (parts.words + parts.meaning + parts.terms + parts.kind - lost).clamp(0.0, 1.0)
            };
            let mut naive: Vec<&Ranked> = plain.iter().collect();
            naive.sort_by(|a, b| score(b).total_cmp(&score(a)).then(said(b).cmp(&said(a))));
            if let Some(first) = first {
                let best = naive
                    .iter()
                    .find(|row| inside(row))
                    .map(|row| score(row))
                    .unwrap();
                let places: Vec<usize> = (0..12)
                    .filter(|at| inside(naive[*at]) && score(naive[*at]) >= 0.8 * best)
                    .collect();
                let mut rows: Vec<&Ranked> = places.iter().map(|at| naive[*at]).collect();
                rows.sort_by_key(|row| said(row));
                if first == First::Newest {
                    rows.reverse();
                }
                for (at, row) in places.into_iter().zip(rows) {
                    naive[at] = row;
                }
            }
            let expected: Vec<u32> = naive.iter().map(|row| row.id).collect();
            let found = ranked(12, Some(&condition));
            let ids: Vec<u32> = found.iter().map(|row| row.id).collect();
            assert_eq!(ids, expected, "{condition:?}");
            assert!(found.is_sorted_by(|a, b| a.score >= b.score));
            for row in &found {
                assert_eq!(row.parts.date < 0.0, !inside(row), "{}", row.id);
            }
            let few: Vec<u32> = ranked(3, Some(&condition))
                .iter()
                .map(|row| row.id)
                .collect();
            assert_eq!(few, expected[..3], "{condition:?}");
        }
    }
}
