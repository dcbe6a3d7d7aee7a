//! The rows added last, stored unchanged: a search scans all of them.

use std::collections::{HashMap, TryReserveError};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::postings::write_positions;
use super::segment::{Segment, Writer};
use super::spelling::{Misspelt, Similar};
use super::terms::{self, Terms};
use crate::index::id_hash::IdMap;

/// Separates two columns.
const GAP: u32 = u32::MAX;

/// So many new terms, and an eighth of the sorted ones, are compared with a misspelt word one by one
/// before all are sorted again.
const MAX_UNSORTED: usize = 500;

/// Rows as token numbers.
#[derive(Default)]
pub(crate) struct Tail {
    /// By term.
    numbers: HashMap<Box<[u8]>, u32>,
    tokens: Vec<u32>,
    /// In the order of arrival, including replaced and dropped ones.
    rows: Vec<Row>,
    /// The index of the current row, by id.
    places: IdMap<usize>,
    /// The terms that were there when they were last sorted: those with the first numbers.
    sorted: Mutex<Arc<Terms>>,
}

struct Row {
    id: u32,
    tokens: Range<usize>,
}

/// How often a row has a phrase.
#[derive(Clone, Copy)]
pub(crate) struct Match {
    pub id: u32,
    pub phrase: usize,
    pub count: u32,
}

impl Tail {
    /// The number of tokens that a search scans, including rows that are gone.
    pub fn tokens(&self) -> usize {
        self.tokens.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn nbytes(&self) -> usize {
        let terms: usize = self.numbers.keys().map(|term| term.len() + 32).sum();
        let sorted = self.sorted.lock().unwrap_or_else(PoisonError::into_inner);
        terms + sorted.nbytes() + self.tokens.len() * 4 + self.rows.len() * (size_of::<Row>() + 24)
    }

    /// Reserve memory for more rows and tokens, so that adding them cannot fail.
    pub fn reserve(&mut self, rows: usize, tokens: usize) -> Result<(), TryReserveError> {
        self.rows.try_reserve(rows)?;
        self.places.try_reserve(rows)?;
        self.tokens.try_reserve(tokens)
    }

    /// Add a row, replacing one with the same id.
    pub fn put<'a>(&mut self, id: u32, text: impl Iterator<Item = &'a str>) {
        let start = self.tokens.len();
        for token in text {
            let number = if token.is_empty() {
                GAP
            } else {
                self.number(terms::of_token(token))
            };
            self.tokens.push(number);
        }
        self.places.insert(id, self.rows.len());
        self.rows.push(Row {
            id,
            tokens: start..self.tokens.len(),
        });
    }

    fn number(&mut self, term: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(term) {
            return *number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(term.into(), number);
        number
    }

    /// Its terms that are near a misspelt word, in no order.
    pub fn similar(&self, misspelt: &mut Misspelt) -> Vec<Similar> {
        let sorted = self.sorted();
        let mut found = misspelt.among(&sorted);
        let is_new = |number: u32| number as usize >= sorted.len();
        let new = self.numbers.iter().filter(|(_, number)| is_new(**number));
        found.extend(new.filter_map(|(term, _)| misspelt.compare(term)));
        found
    }

    /// The sorted terms; the lock is not held while they are compared.
    fn sorted(&self) -> Arc<Terms> {
        let mut held = self.sorted.lock().unwrap_or_else(PoisonError::into_inner);
        if self.numbers.len() - held.len() > MAX_UNSORTED + held.len() / 8 {
            let mut terms: Vec<&[u8]> = self.numbers.keys().map(|term| &**term).collect();
            terms.sort_unstable();
            *held = Arc::new(terms.into_iter().collect());
        }
        Arc::clone(&held)
    }

    /// Remove a row; returns whether it existed.
    pub fn drop(&mut self, id: u32) -> bool {
        self.places.remove(&id).is_some()
    }

    /// Every row with any of the phrases, once per phrase.
    pub fn matches(&self, phrases: &[Vec<&[u8]>]) -> Vec<Match> {
        let mut begins = vec![false; self.numbers.len()];
        let mut wanted = Vec::new();
        for (index, phrase) in phrases.iter().enumerate() {
            let numbers = phrase.iter().map(|term| self.numbers.get(*term).copied());
            if let Some(numbers) = numbers.collect::<Option<Vec<u32>>>()
                && let Some(first) = numbers.first()
            {
                begins[*first as usize] = true;
                wanted.push((index, numbers));
            }
        }
        let mut found = Vec::new();
        if wanted.is_empty() {
            return found;
        }
        for (index, row) in self.rows.iter().enumerate() {
            let tokens = &self.tokens[row.tokens.clone()];
            let begins = |token: &u32| begins.get(*token as usize) == Some(&true);
            if tokens.iter().any(begins) && self.places.get(&row.id) == Some(&index) {
                for (phrase, numbers) in &wanted {
                    let count = occurrences(numbers, tokens);
                    if count > 0 {
                        let (id, phrase) = (row.id, *phrase);
                        found.push(Match { id, phrase, count });
                    }
                }
            }
        }
        found
    }

    /// The rows as a segment.
    pub fn segment(&self, lengths: &[u32]) -> Result<Segment, TryReserveError> {
        let mut rows: Vec<&Row> = self.places.values().map(|at| &self.rows[*at]).collect();
        rows.sort_unstable_by_key(|row| row.id);
        let mut inverted = Inverted::of(self, &rows)?;
        let mut order: Vec<u32> = (0..inverted.terms.len() as u32).collect();
        order.sort_unstable_by_key(|number| &inverted.terms[*number as usize]);
        inverted.write(&rows, &order, lengths)
    }
}

fn occurrences(phrase: &[u32], tokens: &[u32]) -> u32 {
    let count = match phrase {
        [only] => tokens.iter().filter(|token| *token == only).count(),
        _ => {
            let windows = tokens.windows(phrase.len());
            windows.filter(|window| *window == phrase).count()
        }
    };
    count as u32
}

/// The places of each term, as rows and positions, term after term.
struct Inverted {
    terms: Vec<Box<[u8]>>,
    /// The start of each term's places, and at the end their number.
    starts: Vec<usize>,
    places: Vec<Place>,
}

#[derive(Clone, Copy, Default)]
struct Place {
    row: u32,
    position: u32,
}

impl Inverted {
    fn of(tail: &Tail, rows: &[&Row]) -> Result<Self, TryReserveError> {
        let mut terms: Vec<Box<[u8]>> = vec![Box::default(); tail.numbers.len()];
        for (term, number) in &tail.numbers {
            terms[*number as usize] = term.clone();
        }
        let unspaced: Vec<bool> = terms.iter().map(|term| terms::is_unspaced(term)).collect();
        let mut pairs = HashMap::new();
        let mut found = Vec::new();
        let tokens: usize = rows.iter().map(|row| row.tokens.len()).sum();
        found.try_reserve(tokens)?;
        for (index, row) in rows.iter().enumerate() {
            let row_number = index as u32;
            let (mut position, mut before) = (0, GAP);
            for number in &tail.tokens[row.tokens.clone()] {
                let is_unspaced = *number != GAP && unspaced[*number as usize];
                if is_unspaced && before != GAP {
                    let pair = *pairs.entry((before, *number)).or_insert_with(|| {
                        let (left, right) = (&terms[before as usize], &terms[*number as usize]);
                        terms.push(terms::pair(left, right).unwrap_or_default().into());
                        terms.len() as u32 - 1
                    });
                    found.push((
                        pair,
                        Place {
                            row: row_number,
                            position,
                        },
                    ));
                }
                if *number != GAP {
                    found.push((
                        *number,
                        Place {
                            row: row_number,
                            position,
                        },
                    ));
                }
                // One more at a gap, so that no phrase crosses it.
                position += 1;
                before = if is_unspaced { *number } else { GAP };
            }
        }
        Self::sorted(terms, found)
    }

    /// Sort by term; the places of one stay in their order.
    fn sorted(terms: Vec<Box<[u8]>>, found: Vec<(u32, Place)>) -> Result<Self, TryReserveError> {
        let mut starts = vec![0; terms.len() + 1];
        for (term, _) in &found {
            starts[*term as usize + 1] += 1;
        }
        for term in 0..terms.len() {
            starts[term + 1] += starts[term];
        }
        let mut places = Vec::new();
        places.try_reserve_exact(found.len())?;
        places.resize(found.len(), Place::default());
        let mut next = starts.clone();
        for (term, place) in found {
            places[next[term as usize]] = place;
            next[term as usize] += 1;
        }
        Ok(Self {
            terms,
            starts,
            places,
        })
    }

    fn write(
        &mut self,
        rows: &[&Row],
        order: &[u32],
        lengths: &[u32],
    ) -> Result<Segment, TryReserveError> {
        let text = self.terms.iter().map(|term| term.len()).sum();
        let places = self.places.len();
        let blocks = self.terms.len() + places / super::bits::BLOCK;
        let mut writer = Writer::with_room((self.terms.len(), text), (blocks, places * 3, places))?;
        let (mut positions, mut bytes) = (Vec::new(), Vec::new());
        for number in order.iter().map(|number| *number as usize) {
            let term = &self.terms[number];
            let places = &self.places[self.starts[number]..self.starts[number + 1]];
            for of_row in places.chunk_by(|left, right| left.row == right.row) {
                bytes.clear();
                if !terms::is_pair(term) {
                    positions.clear();
                    positions.extend(of_row.iter().map(|place| place.position));
                    write_positions(&positions, &mut bytes);
                }
                let id = rows[of_row[0].row as usize].id;
                writer.push(id, of_row.len() as u32, lengths[id as usize], &bytes);
            }
            writer.end_term(term);
        }
        Ok(writer.finish())
    }
}
