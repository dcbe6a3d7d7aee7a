//! Columns against a walk over every row.

use std::collections::BTreeMap;

use crate::folder::Folder;
use memstore_kernel::index::columns::{Columns, Count, Counts, Page, Period, Row, Wanted};
use memstore_kernel::index::ids::Ids;
use memstore_kernel::index::mapped::Tag;
use proptest::prelude::*;

const NAMES: [&str; 4] = ["default", "work", "", "é"];
const TIMES: [&str; 6] = [
    "2026-01-31T23:59:59.000000Z",
    "2026-01-31T23:59:59.000001Z",
    "1999-12-31T00:00:00.000000Z",
    "2026-01-31",
    "9999-99-99T00:00:00.000000Z",
    "~",
];
const TAG: Tag = Tag {
    kind: *b"columns ",
    version: 1,
    database: [1; 16],
    generation: 0,
};

fn name() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop::sample::select(&NAMES[..]))
}

fn time() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop::sample::select(&TIMES[..]))
}

fn row() -> impl Strategy<Value = Row<'static>> {
    (name(), 0..4_u8, [name(), name()], [time(), time(), time()]).prop_map(
        |(namespace, flags, texts, moments)| Row {
            namespace,
            flags,
            texts,
            moments,
        },
    )
}

fn period() -> impl Strategy<Value = Period<'static>> {
    (0..3_usize, time(), time(), any::<bool>()).prop_map(|(column, after, before, or_none)| {
        Period {
            column,
            after,
            before,
            or_none,
        }
    })
}

fn lets_through(wanted: &Wanted<'_>, row: &Row<'_>) -> bool {
    let named = |names: &[&str]| row.namespace.is_some_and(|name| names.contains(&name));
    let within = |period: &Period<'_>| match row.moments[period.column] {
        None => period.or_none,
        Some(moment) => {
            period.after.is_none_or(|bound| moment > bound)
                && period.before.is_none_or(|bound| moment < bound)
        }
    };
    wanted.namespaces.is_none_or(named)
        && row.flags & wanted.without == 0
        && (0..2).all(|column| {
            wanted.texts[column].is_none() || wanted.texts[column] == row.texts[column]
        })
        && wanted.periods.iter().all(within)
}

proptest! {
    #[test]
    fn select_equals_a_full_scan(
        steps in prop::collection::vec((0..300_u32, prop::option::weighted(0.8, row())), 0..80),
        saved_after in 0..80_usize,
        names in prop::option::of(prop::collection::vec(prop::sample::select(&NAMES[..]), 0..3)),
        without in 0..4_u8,
        texts in [name(), name()],
        periods in prop::collection::vec(period(), 0..3),
        among in prop::option::of(prop::collection::vec(0..400_u32, 0..80)),
    ) {
        let folder = Folder::new("columns");
        let (mut columns, mut held) = (Columns::new(), BTreeMap::new());
        for (step, (id, row)) in steps.iter().enumerate() {
            if step == saved_after {
                columns = saved(&columns, &folder);
            }
            match row {
                Some(row) => {
                    columns.put(*id, row).unwrap();
                    held.insert(*id, *row);
                }
                None => prop_assert_eq!(columns.remove(*id).unwrap(), held.remove(id).is_some()),
            }
        }
        prop_assert_eq!(columns.len(), held.len());
        let among = among.map(|ids| Ids::of(&ids).unwrap());
        let namespaces = names.as_deref();
        let among = among.as_ref();
        let wanted = Wanted { namespaces, without, texts, periods: &periods, among };
        let is_among = |id: u32| among.is_none_or(|ids| ids.contains(id));
        let expected = held.iter().filter(|(id, row)| is_among(**id) && lets_through(&wanted, row));
        let found = columns.select(&wanted).unwrap();
        prop_assert!(found.iter().eq(expected.map(|(id, _)| *id)));
    }
}

proptest! {
    #[test]
    fn counts_and_histograms_equal_a_walk_over_the_rows(
        rows in prop::collection::btree_map(0..300_u32, row(), 0..80),
        saved_first in any::<bool>(),
        among in prop::collection::vec(0..300_u32, 0..200),
        column in 0..2_usize,
        prefix in prop::sample::select(&["", "w", "default", "x"][..]),
        by_number in any::<bool>(),
        after in prop::option::of((prop::sample::select(&NAMES[..]), 0..5_u32)),
        limit in 0..6_usize,
        bounds in prop::sample::subsequence(&TIMES[..], 0..=TIMES.len()),
    ) {
        let folder = Folder::new("columns-counted");
        let mut columns = Columns::new();
        for (id, row) in &rows {
            columns.put(*id, row).unwrap();
        }
        let columns = if saved_first { saved(&columns, &folder) } else { columns };
        let among: Vec<u32> = among.into_iter().filter(|id| rows.contains_key(id)).collect();
        let among = Ids::of(&among).unwrap();

        let mut numbers: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        for (id, text) in among.iter().filter_map(|id| Some((id, rows[&id].texts[column]?))) {
            let (number, last) = numbers.entry(text).or_default();
            (*number, *last) = (*number + 1, id);
        }
        let place = |text, number| (if by_number { u32::MAX - number } else { 0 }, text);
        let mut expected: Vec<_> = numbers
            .iter()
            .map(|(text, (number, last))| (place(*text, *number), *number, *last))
            .filter(|((_, text), ..)| text.starts_with(prefix))
            .filter(|(at, ..)| after.is_none_or(|(text, number)| *at > place(text, number)))
            .collect();
        expected.sort_unstable();
        let first: Vec<_> = expected
            .iter()
            .take(limit)
            .map(|((_, text), number, last)| Count {
                text: (*text).to_owned(),
                number: *number,
                last: *last,
            })
            .collect();
        let page = Page { prefix, by_number, after, limit };
        let counts = columns.counts(column, &among, &page).unwrap();
        prop_assert_eq!(counts, Counts { first, texts: numbers.len() });

        let mut bounds = bounds;
        bounds.sort_unstable();
        let mut expected = vec![0; bounds.len()];
        for moment in among.iter().filter_map(|id| rows[&id].moments[1]) {
            if let Some(at) = bounds.iter().rposition(|bound| *bound <= moment) {
                expected[at] += 1;
            }
        }
        prop_assert_eq!(columns.histogram(1, &among, &bounds).unwrap(), expected);
    }
}

fn saved(columns: &Columns, folder: &Folder) -> Columns {
    let path = folder.file();
    columns.save(&path, &TAG, 5).unwrap();
    let (read, file) = Columns::open(&path, &TAG).unwrap();
    assert_eq!((file.position(), read.len()), (5, columns.len()));
    read
}

#[test]
fn saved_file_has_no_unused_texts() {
    let mut columns = Columns::new();
    let row = |text| Row {
        namespace: Some(text),
        texts: [Some(text), Some(text)],
        moments: [Some(text), None, None],
        ..Row::default()
    };
    columns.put(1, &row("erased")).unwrap();
    columns.put(2, &row("removed")).unwrap();
    columns.put(3, &row("kept")).unwrap();
    columns.put(1, &Row::default()).unwrap();
    columns.remove(2).unwrap();
    let folder = Folder::new("columns-purged");
    let path = folder.file();
    columns.save(&path, &TAG, 5).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let holds = |text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    assert!(holds("kept") && !holds("erased") && !holds("removed"));
}
