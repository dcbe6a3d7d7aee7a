//! The second stage of a search: candidates in the order in which they answer a query.
//!
//! ```text
//! m     = (1 - k) / 2 * words / max(most, 2) + (1 - k) / 2 * meaning + k * terms
//! score = (m + thread + session + subject + date + kind) * decay
//! ```
//!
//! `terms` is late interaction: how similar, on average, the pieces of the query's telling words are
//! to the piece of the text that each is most similar to. `most` is between the largest BM25 and
//! what the words could bring: where no text holds them well, meaning counts more. A word or a piece
//! that a neighbour in the thread matches better counts there, for less. Scores are divided by the
//! largest sum where that is more than 1.

use std::collections::{HashMap, TryReserveError};

use super::similar::Similarities;
use super::{Held, Query, Texts};
use crate::ids::Ids;
use crate::language::{self, Question, Wanted};
use crate::words::{Phrase, Words};

/// How much `terms` count in texts of no words, and the words at which they count half of that: the
/// longer a text, the likelier that it holds something similar to anything.
const TERMS: f64 = 0.5;
const TERMS_HALVED_AT: f64 = 80.0;

/// What words are divided by: of the largest BM25, and of the sum of their weights.
const BEST: f64 = 0.5;
const POSSIBLE: f64 = 0.6;

/// How far neighbours in a thread are looked at.
pub const REACH: usize = 2;
/// What a neighbour's match counts at each step.
const NEAR_TERMS: f64 = 0.8;
const NEAR_WORDS: f64 = 0.4;
/// Texts of more words than this are helped less by their neighbours.
const NEAR_WORDS_HELPED: f64 = 30.0;

/// What the question in front adds to an answer, and at how many words that is halved.
const ANSWER: f64 = 0.4;
const ANSWER_HALVED_AT: f64 = 20.0;
/// What the best of a thread add to each of it, and how many they are.
const SESSION: f64 = 0.2;
const SESSION_BEST: usize = 3;

/// The BM25 of one word that one text in ten has. Less than that is no good match, even if it is the
/// best: among a few facts it may be a word such as "we".
const GOOD_WORDS: f64 = 2.0;

const SUBJECT: f64 = 0.2;
const DATE: f64 = 0.3;
/// What is added where a date matches all that the query names.
const WHOLE_DATE: f64 = 0.2;
const KIND: f64 = 0.1;

/// Two rows on one subject whose scores differ by no more come newest first.
const EQUAL: f64 = 0.02;

/// Among fewer rows than this, a word that some have would look common beside one that none has; how
/// relevant a row is, is told as if there were so many.
const FEW_ROWS: usize = 100;

const MICROS: f64 = 1e6;

/// What is asked.
pub struct Asked<'a> {
    /// The query.
    pub query: &'a str,
    /// Its words, as the inverted index knows them.
    pub phrases: &'a [Phrase],
    /// The same as they are written: without those that tell nothing apart.
    pub telling: &'a str,
    /// Which rows may be seen.
    pub visible: Option<&'a Ids>,
    /// The half-lives in seconds, by [`super::hash`] of what a row ages as.
    pub lives: &'a [(u32, f64)],
    /// Microseconds since 1970.
    pub now: i64,
    /// Whether rows on one subject whose scores are nearly equal come newest first.
    pub newest_of_equals: bool,
}

/// A row that words, meaning or a neighbour suggest.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The row.
    pub id: u32,
    /// Of its vector and the query's; `None` where it has no vector.
    pub cosine: Option<f32>,
}

/// What a score is the sum of, before it decays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Words of the query that are in the row.
    pub words: f64,
    /// The cosine.
    pub meaning: f64,
    /// Late interaction.
    pub terms: f64,
    /// What neighbours match better, and the question in front.
    pub thread: f64,
    /// The thread's best rows.
    pub session: f64,
    /// The query names whom the row is about, or who said it.
    pub subject: f64,
    /// The query names the row's date.
    pub date: f64,
    /// The row has what the question asks for.
    pub kind: f64,
}

impl Parts {
    fn base(&self) -> f64 {
        self.words + self.meaning + self.terms
    }

    fn sum(&self) -> f64 {
        self.base() + self.thread + self.session + self.subject + self.date + self.kind
    }

    fn scale(&mut self, by: f64) {
        for part in [
            &mut self.words,
            &mut self.meaning,
            &mut self.terms,
            &mut self.thread,
            &mut self.session,
            &mut self.subject,
            &mut self.date,
            &mut self.kind,
        ] {
            *part *= by;
        }
    }
}

/// A row with its score and what it is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The row.
    pub id: u32,
    /// 0 to 1.
    pub score: f64,
    /// What the score is made of.
    pub parts: Parts,
    /// 0 to 1; 1 for what does not age.
    pub decay: f64,
    /// Its BM25, divided by the largest; 0 to 1.
    pub word: f64,
    /// The cosine that was given, where positive.
    pub vector: f64,
}

/// What is known of a candidate beside its parts.
struct Known<'a> {
    id: u32,
    held: Held<'a>,
    cosine: Option<f32>,
    /// For each piece of the query.
    terms: Vec<f32>,
    /// For each word of the query.
    words: Vec<f64>,
    /// Places of the candidates beside it in its thread: those in front, and those behind.
    beside: [Vec<Option<usize>>; 2],
}

impl Known<'_> {
    /// How much its neighbours may help it.
    fn helped(&self) -> f64 {
        (NEAR_WORDS_HELPED / f64::from(self.held.record.words.max(1))).min(1.0)
    }
}

impl Texts {
    /// How likely rows answer a query at all: late interaction times the cosine, both by the embedded
    /// model, 0 to 1; `None` for what is not here.
    ///
    /// # Errors
    /// There is no memory.
    pub fn relevances(
        &self,
        query: &str,
        ids: &[u32],
    ) -> Result<Vec<Option<f64>>, TryReserveError> {
        let query = self.query_among(query, self.len().max(FEW_ROWS))?;
        let mut similar = Similarities::new(&query.pieces, &query.vector);
        let relevance = |id: &u32| {
            let held = self.held(*id)?;
            let best = similar.best(&held);
            let terms = mean(&query.weights, |place| f64::from(best[place]));
            Some(terms.max(0.0) * f64::from(similar.cosine(&held)).max(0.0))
        };
        Ok(ids.iter().map(relevance).collect())
    }

    /// The candidates, best first; of those that are equal the newest.
    ///
    /// # Errors
    /// There is no memory.
    pub fn rank(
        &self,
        words: &Words,
        asked: &Asked<'_>,
        candidates: &[Candidate],
    ) -> Result<Vec<Ranked>, TryReserveError> {
        let query = self.query(asked.query)?.telling(asked.telling)?;
        let mut similar = Similarities::new(&query.pieces, &query.vector);
        let known = self.known(words, asked, candidates, &mut similar);
        let question = Question::read(asked.query);
        let possible = words.weights(asked.phrases).iter().sum();
        let mut ranked = self.matched(&query, possible, &known);
        add_thread(&known, &mut ranked);
        add_named(&question, &known, &mut ranked);
        for (one, known) in ranked.iter_mut().zip(&known) {
            one.decay = decay(asked, &known.held);
        }
        let most = ranked.iter().map(|one| one.parts.sum()).fold(1.0, f64::max);
        for one in &mut ranked {
            one.parts.scale(most.recip());
            one.score = one.parts.sum().clamp(0.0, 1.0) * one.decay;
        }
        Ok(self.in_order(asked, ranked))
    }

    fn known<'a>(
        &'a self,
        words: &Words,
        asked: &Asked<'_>,
        candidates: &[Candidate],
        similar: &mut Similarities,
    ) -> Vec<Known<'a>> {
        let here = candidates
            .iter()
            .filter_map(|one| Some((one, self.held(one.id)?)));
        let here: Vec<_> = here.collect();
        let ids: Vec<u32> = here.iter().map(|(one, _)| one.id).collect();
        let places: HashMap<u32, usize> = ids.iter().copied().zip(0..).collect();
        let beside = |id: u32| {
            self.around(id, REACH, asked.visible)
                .map(|side| side.iter().map(|id| places.get(id).copied()).collect())
        };
        let words = words.parts(asked.phrases, &ids);
        let all = here.into_iter().zip(words);
        all.map(|((one, held), words)| Known {
            id: one.id,
            held,
            cosine: one.cosine,
            terms: similar.best(&held),
            words,
            beside: beside(one.id),
        })
        .collect()
    }

    /// What words, meaning and terms say, in the text and beside it.
    fn matched(&self, query: &Query, possible: f64, known: &[Known<'_>]) -> Vec<Ranked> {
        let k = TERMS * TERMS_HALVED_AT / (TERMS_HALVED_AT + self.mean_words());
        let half = (1.0 - k) / 2.0;
        // Where nothing was compared, the words have the weight of the meaning, too.
        let is_compared = known.iter().any(|one| one.cosine.is_some());
        let rest = if is_compared { half } else { 1.0 - k };
        let of_words: Vec<[f64; 2]> = known
            .iter()
            .map(|one| {
                let alone = one.words.iter().sum();
                let beside = (0..one.words.len()).map(|place| {
                    best_beside(one, known, NEAR_WORDS, one.words[place], |other| {
                        other.words[place]
                    })
                });
                [alone, beside.sum()]
            })
            .collect();
        let best = of_words.iter().map(|of| of[1]).fold(0.0, f64::max);
        let most = (BEST * best + POSSIBLE * possible).max(GOOD_WORDS);
        let each = known.iter().zip(of_words);
        each.map(|(one, [alone, beside])| {
            let terms = mean(&query.weights, |place| f64::from(one.terms[place]));
            let terms_beside = mean(&query.weights, |place| {
                let own = f64::from(one.terms[place]);
                best_beside(one, known, NEAR_TERMS, own, |other| {
                    f64::from(other.terms[place])
                })
            });
            let vector = f64::from(one.cosine.unwrap_or(0.0)).clamp(0.0, 1.0);
            Ranked {
                id: one.id,
                score: 0.0,
                parts: Parts {
                    words: rest * alone / most,
                    meaning: half * vector,
                    terms: k * terms,
                    thread: rest * (beside - alone) / most + k * (terms_beside - terms),
                    ..Parts::default()
                },
                decay: 1.0,
                word: if best > 0.0 { alone / best } else { 0.0 },
                vector,
            }
        })
        .collect()
    }

    fn in_order(&self, asked: &Asked<'_>, mut ranked: Vec<Ranked>) -> Vec<Ranked> {
        let said = |one: &Ranked| self.held(one.id).map(|held| (held.record.valid, one.id));
        ranked.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| said(b).cmp(&said(a)))
        });
        if asked.newest_of_equals {
            let subject = |one: &Ranked| self.held(one.id).map_or(0, |held| held.record.speaker);
            newest_first(&mut ranked, subject, said);
        }
        ranked
    }
}

/// The weighed mean; 0 where nothing has a weight.
fn mean(weights: &[f64], value: impl Fn(usize) -> f64) -> f64 {
    let all: f64 = weights.iter().sum();
    let sum: f64 = (0..weights.len())
        .map(|place| weights[place] * value(place))
        .sum();
    if all > 0.0 { sum / all } else { 0.0 }
}

/// The best of a row's own match and those beside it, each step counting less.
fn best_beside(
    one: &Known<'_>,
    known: &[Known<'_>],
    step: f64,
    own: f64,
    value: impl Fn(&Known<'_>) -> f64,
) -> f64 {
    let factor = step * one.helped();
    let mut best = own;
    for side in &one.beside {
        let mut counts = 1.0;
        for other in side {
            counts *= factor;
            if let Some(place) = other {
                best = best.max(counts * value(&known[*place]));
            }
        }
    }
    best
}

/// Add what an answer gets from the question in front, and all from the best of their thread.
fn add_thread(known: &[Known<'_>], ranked: &mut [Ranked]) {
    let base: Vec<f64> = ranked
        .iter()
        .map(|one| one.parts.base() + one.parts.thread)
        .collect();
    let mut threads: HashMap<u64, Vec<f64>> = HashMap::new();
    for (one, base) in known.iter().zip(&base) {
        if one.held.record.thread != 0 {
            threads
                .entry(one.held.record.thread)
                .or_default()
                .push(*base);
        }
    }
    for (one, ranked) in known.iter().zip(ranked) {
        if let Some(Some(before)) = one.beside[0].first()
            && known[*before].held.record.flags & language::ASKS != 0
        {
            let short = ANSWER_HALVED_AT / (ANSWER_HALVED_AT + f64::from(one.held.record.words));
            ranked.parts.thread += ANSWER * short * base[*before];
        }
        if let Some(all) = threads.get_mut(&one.held.record.thread)
            && all.len() > 1
        {
            all.sort_unstable_by(|a, b| b.total_cmp(a));
            let best: f64 = all.iter().take(SESSION_BEST).sum();
            ranked.parts.session = SESSION * best / SESSION_BEST as f64;
        }
    }
}

/// Add what is due to rows that have what the query names or asks for.
fn add_named(question: &Question, known: &[Known<'_>], ranked: &mut [Ranked]) {
    let speaks = |one: &&Known<'_>| one.held.record.thread != 0;
    let speakers: Vec<u32> = {
        let mut all: Vec<u32> = known
            .iter()
            .filter(speaks)
            .map(|one| one.held.record.speaker)
            .collect();
        all.sort_unstable();
        all
    };
    for (one, ranked) in known.iter().zip(ranked) {
        let record = one.held.record;
        if question.names(record.speaker) {
            ranked.parts.subject = SUBJECT;
        }
        let share = question.date.share(record.year, record.month, record.day);
        let whole = if share == 1.0 { WHOLE_DATE } else { 0.0 };
        ranked.parts.date = DATE * f64::from(share) + whole;
        if has_wanted(question.wants, &one.held, &speakers) {
            ranked.parts.kind = KIND;
        }
    }
}

fn has_wanted(wants: Option<Wanted>, held: &Held<'_>, speakers: &[u32]) -> bool {
    let has = |flag: u8| held.record.flags & flag != 0;
    let speaker = held.record.speaker;
    let mut names = held.names();
    let mut names_something = || {
        has(language::QUOTE)
            || names.any(|name| name != speaker && speakers.binary_search(&name).is_err())
    };
    match wants {
        None => false,
        Some(Wanted::Time) => has(language::TIME),
        Some(Wanted::Name) => names_something(),
        Some(Wanted::Person) => has(language::KIN) || names_something(),
    }
}

/// How much is left of a row's score; something from the future has not begun to fade.
fn decay(asked: &Asked<'_>, held: &Held<'_>) -> f64 {
    let ages_as = held.record.ages_as;
    let life = asked
        .lives
        .iter()
        .find(|life| ages_as != 0 && life.0 == ages_as);
    let age = asked.now.saturating_sub(held.record.created).max(0) as f64 / MICROS;
    life.map_or(1.0, |life| 0.5_f64.powf(age / life.1))
}

/// Let rows on one subject whose scores are nearly that of the first of them change places, so that
/// the newest comes first.
fn newest_first<O: Ord>(
    ranked: &mut [Ranked],
    subject: impl Fn(&Ranked) -> u32,
    said: impl Fn(&Ranked) -> O,
) {
    let mut done = vec![false; ranked.len()];
    for first in 0..ranked.len() {
        if done[first] {
            continue;
        }
        let (about, least) = (subject(&ranked[first]), ranked[first].score - EQUAL);
        let near = (first..ranked.len()).take_while(|place| ranked[*place].score >= least);
        let places: Vec<usize> = near
            .filter(|place| !done[*place] && subject(&ranked[*place]) == about)
            .collect();
        let mut equals: Vec<Ranked> = places.iter().map(|place| ranked[*place]).collect();
        equals.sort_by_key(|one| std::cmp::Reverse(said(one)));
        for (place, one) in places.into_iter().zip(equals) {
            done[place] = true;
            ranked[place] = one;
        }
    }
}
