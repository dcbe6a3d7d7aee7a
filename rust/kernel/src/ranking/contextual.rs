//! The contextual ranking: how well candidates answer a query.
//!
//! ```text
//! m     = (1 - k) / 2 * words / max(most, 2) + (1 - k) / 2 * meaning + k * terms
//! score = m + thread + session + subject + date + kind + age
//! ```
//!
//! `terms` is late interaction: the average similarity of the tokens of the query's content words
//! to the most similar token of the text. `most` is between the largest BM25 and the sum of the
//! words' weights: if no text matches them well, meaning counts more. A word or a token that a
//! neighbour in the thread matches better counts with the neighbour's value, reduced. `age` is at
//! most a small loss, so it orders what matches equally well. Scores are divided by the largest sum
//! if that is above 1.
//!
//! Where rows have vectors of a model of the user's, its cosine joins those of the built-in model: it
//! adds to `meaning`, and stands for all three parts where a row shares no word with the query.

use std::collections::{HashMap, TryReserveError};

use crate::index::features::{Features, Query, Similarities, Stored};
use crate::index::id_hash::RowMap;
use crate::index::ids::Ids;
use crate::index::words::{self, Phrase, Words};
use crate::language::{self, Calendar, Question, Wanted};
use crate::ranking::times::{self, Condition, First, Holding};
use crate::ranking::{FEW_ROWS, relevance};

/// The weight of `terms` for an empty text, and the number of words at which it is halved: the
/// longer a text, the likelier that something in it is similar to anything.
const TERMS: f64 = 0.5;
const TERMS_HALVED_AT: f64 = 80.0;

/// The divisor of `words`: the shares of the largest BM25 and of the sum of the words' weights.
const BEST: f64 = 0.5;
const POSSIBLE: f64 = 0.6;

/// How many neighbours in a thread count on either side.
pub const REACH: usize = 2;
/// The factor of a neighbour's match per step.
const NEAR_TERMS: f64 = 0.8;
const NEAR_WORDS: f64 = 0.4;
/// Texts of more words than this profit less from their neighbours.
const NEAR_WORDS_HELPED: f64 = 30.0;

/// What a preceding question adds to an answer, and the number of words at which that is halved.
const ANSWER: f64 = 0.4;
const ANSWER_HALVED_AT: f64 = 20.0;
/// What the best rows of a thread add to each of its rows, and how many these are.
const SESSION: f64 = 0.15;
const SESSION_BEST: usize = 3;

/// A text that candidates of so many threads have, word for word, says nothing of the turns beside it.
const SAID_ANYWHERE: usize = 3;

/// The BM25 of one word that one text in ten has. A lower one is not a good match even if it is the
/// best: among a few facts it may come from a word such as "we".
const GOOD_WORDS: f64 = 2.0;

/// What the cosine of the user's model adds, and its part of the score of a row without any of the
/// query's words, of which the built-in model can know little: the row may be in another language.
const JOINED: f64 = 0.3;
const ALONE: f64 = 0.5;
/// The cosine of two tokens that are the same, but for rounding.
const SAME: f32 = 0.999;

const SUBJECT: f64 = 0.12;
const DATE: f64 = 0.3;
/// What is added if a date matches everything that the query names.
const WHOLE_DATE: f64 = 0.2;
/// What is added instead if the query asks for what held at that time: enough for such a row to be an
/// answer by its day, as "What happened in July?" asks.
const MEANT: f64 = 0.01;
/// What is added on a day that the query names relative to today, by how much a row says: what was done
/// yesterday is "the empty list has a drawing" rather than "Done.".
const SAYS: f64 = 0.2;
/// The number of words at which that is halved.
const SAYS_HALVED_AT: f64 = 8.0;
const KIND: f64 = 0.1;

/// What a row loses when it has aged completely. More than this would put fresh rows that match
/// worse before old ones that answer.
const AGE: f64 = 0.005;

/// Among rows that say nearly the same about one subject and whose scores differ by no more than
/// this, the newest comes first.
const EQUAL: f64 = 0.02;

/// How far a row that tells of an end of the time asked for is below the best of that time.
const AFTER_THE_BEST: f64 = 0.001;

/// If the best row of the one whom a query names matches its words so much worse than the best row
/// of others, the answer is about those others.
const CLOSE: f64 = -0.05;

const MICROS: f64 = 1e6;

/// The parameters of a ranking.
pub struct Request<'a> {
    /// How many rows at most.
    pub limit: usize,
    /// The query.
    pub query: &'a str,
    /// Its words, as the inverted index knows them.
    pub phrases: &'a [Phrase],
    /// The query without stop words.
    pub telling: &'a str,
    /// Which rows may be seen.
    pub visible: Option<&'a Ids>,
    /// The half-lives in seconds, by the [`hash`](crate::index::features::hash) of a row's `ages_as`.
    pub lives: &'a [(u32, f64)],
    /// Microseconds since 1970.
    pub now: i64,
    /// Whether to compute the cosines that are not given, by the built-in model.
    pub compares: bool,
    /// Whether the cosines that are given are those of another model.
    pub joins: bool,
    /// The last row whose words count for the weights of words; see [`Words::search`].
    pub until: Option<u32>,
    /// The ages of rows that had others at `now` than the features say.
    pub ages: &'a HashMap<u32, Age>,
    /// In which days are meant.
    pub calendar: &'a Calendar,
    /// What the query says of the time of its answer, if it does.
    pub condition: Option<&'a Condition>,
}

/// What a row's age depends on.
#[derive(Clone, Copy, Debug)]
pub struct Age {
    /// When it was stored or last confirmed, in microseconds since 1970.
    pub known: i64,
    /// The same of the moment that it is about, if there is one.
    pub said: i64,
    /// The [`hash`](crate::index::features::hash) of the kind that it ages as; 0 for not at all.
    pub ages_as: u32,
}

/// A row that words, meaning or a neighbour suggest.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The row.
    pub id: u32,
    /// Of its vector and the query's; `None` if it has no vector, or if [`Request::compares`] is set.
    /// Another model's is the part above that of two texts that have nothing in common.
    pub cosine: Option<f32>,
}

/// The parts whose sum is the score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Words of the query that are in the row.
    pub words: f64,
    /// The cosine.
    pub meaning: f64,
    /// Late interaction.
    pub terms: f64,
    /// From better matches of neighbours, and from a preceding question.
    pub thread: f64,
    /// From the thread's best rows.
    pub session: f64,
    /// The query names the row's subject or speaker.
    pub subject: f64,
    /// The query names the row's date; below zero if the row is not of the time that it asks for.
    pub date: f64,
    /// The row has the kind of answer that the question asks for.
    pub kind: f64,
    /// What the row loses by its age, and what it gains or loses because the newest of competing
    /// rows comes first, or what the query asks for: the newest or the oldest of what matches.
    pub age: f64,
}

impl Parts {
    fn base(&self) -> f64 {
        self.words + self.meaning + self.terms
    }

    fn sum(&self) -> f64 {
        let added = self.thread + self.session + self.subject + self.date + self.kind;
        self.base() + added + self.age
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
            &mut self.age,
        ] {
            *part *= by;
        }
    }
}

/// A row with its score and the parts of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The row.
    pub id: u32,
    /// 0 to 1.
    pub score: f64,
    /// The parts of the score.
    pub parts: Parts,
    /// How fresh it is, 0 to 1: `0.5 ** (age / half-life)`; 1 for a row that does not age.
    pub decay: f64,
    /// Its BM25, divided by the largest; 0 to 1.
    pub word: f64,
    /// The given cosine, if positive.
    pub vector: f64,
    /// As [`relevances`](crate::ranking::relevance::relevances) tells it of the query; `None` where
    /// the query was not compared as a whole, or by other weights.
    pub relevance: Option<f64>,
}

/// That what matches a query best is not about whom the query names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elsewhere {
    /// The best row of the one who is named.
    pub named: u32,
    /// The best row of others.
    pub other: u32,
    /// How much better the first matches, by `terms`: below [`CLOSE`].
    pub difference: f64,
}

/// Rows in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// Best first.
    pub rows: Vec<Ranked>,
    /// Whether the answer is about somebody else.
    pub elsewhere: Option<Elsewhere>,
}

/// The data of a candidate besides its parts.
struct Known<'a> {
    id: u32,
    stored: Stored<'a>,
    age: Age,
    /// By the built-in model, unless no other one joins it.
    cosine: Option<f32>,
    /// By the model that joins it.
    joined: Option<f32>,
    /// The indexes of the candidates beside it in its thread: those before, and those after.
    neighbours: [[Option<usize>; REACH]; 2],
}

impl Known<'_> {
    /// Have nothing of neighbours that tell of the event by which the time is told: what is said of it
    /// says nothing of the time.
    fn leave(&mut self, at_event: impl Fn(usize) -> bool) {
        for other in self.neighbours.as_flattened_mut() {
            *other = other.filter(|at| !at_event(*at));
        }
    }

    /// How much it can profit from its neighbours.
    fn helped(&self) -> f64 {
        (NEAR_WORDS_HELPED / f64::from(self.stored.record.words.max(1))).min(1.0)
    }

    /// Write the best of its own matches and its neighbours', reduced per step. `of` gives the
    /// matches of a candidate.
    fn best_beside<'a, T: Copy + Into<f64> + 'a>(
        &self,
        own: usize,
        step: f64,
        of: impl Fn(usize) -> &'a [T],
        best: &mut Vec<f64>,
    ) {
        best.clear();
        best.extend(of(own).iter().map(|value| (*value).into()));
        let factor = step * self.helped();
        for side in &self.neighbours {
            let mut counts = 1.0;
            for other in side {
                counts *= factor;
                let values = other.map_or(&[][..], &of);
                for (best, value) in best.iter_mut().zip(values) {
                    *best = best.max(counts * (*value).into());
                }
            }
        }
    }
}

/// What rows are compared with.
struct Compared<'a> {
    query: &'a str,
    phrases: &'a [Phrase],
    telling: &'a str,
}

impl<'a> Compared<'a> {
    /// The query, without its condition if it has one.
    fn of(request: &Request<'a>, has_condition: bool) -> Self {
        let topic = request.condition.filter(|_| has_condition);
        match topic.and_then(|condition| condition.topic.as_ref()) {
            Some(topic) => Self {
                query: &topic.query,
                phrases: &topic.phrases,
                telling: &topic.telling,
            },
            None => Self {
                query: request.query,
                phrases: request.phrases,
                telling: request.telling,
            },
        }
    }
}

/// How well candidates match each word and each token of a query.
struct Matches {
    words: words::Parts,
    /// Candidate by candidate.
    terms: Vec<f32>,
    /// The values of a candidate in `terms`.
    width: usize,
}

impl Matches {
    fn terms(&self, candidate: usize) -> &[f32] {
        &self.terms[candidate * self.width..][..self.width]
    }
}

/// The candidates, best first; among equal ones the newest first.
///
/// Nearly equal ones that say nearly the same of one subject are gathered around the best of
/// them, and exchange their places and scores so that the newest comes first.
///
/// # Errors
/// There is no memory.
pub fn rank(
    features: &Features,
    words: &Words,
    request: &Request<'_>,
    candidates: &[Candidate],
) -> Result<Order, TryReserveError> {
    let mut known = known(features, request, candidates);
    let holding = holding(request, words, &known);
    let at_event = |at: usize| holding.as_ref().is_some_and(|one| one.at_event[at]);
    for one in &mut known {
        one.leave(at_event);
    }
    let compared = Compared::of(request, holding.is_some());
    let query = features.query(compared.query)?.telling(compared.telling)?;
    let similar = Similarities::new(&query, known.iter().map(|one| one.stored));
    for one in &mut known {
        if request.joins {
            one.joined = one.cosine.take();
        }
        if request.compares || request.joins {
            one.cosine = one.cosine.or_else(|| Some(similar.cosine(&one.stored)));
        }
    }
    let matches = matches(&similar, words, compared.phrases, request.until, &known);
    let is_whole = request.condition.is_none() && features.len() >= FEW_ROWS;
    let question = Question::read(request.query);
    let mut ranked = matched(features, &query, &matches, &known, request.joins);
    let elsewhere = elsewhere(features, &question, request.visible, &known, &ranked);
    add_thread(&known, &mut ranked, at_event);
    add_named(&question, request, &known, &mut ranked);
    leave_to_itself(&known, &mut ranked);
    for (at, (one, known)) in ranked.iter_mut().zip(&known).enumerate() {
        one.decay = decay(request, known.age);
        one.parts.age = AGE * (one.decay - 1.0);
        one.relevance = is_whole.then(|| {
            let terms = query.mean(matches.terms(at));
            relevance::of(terms, similar.cosine(&known.stored))
        });
    }
    if let Some(holding) = &holding {
        lower(holding, &mut ranked);
    }
    let most = ranked.iter().map(|one| one.parts.sum()).fold(1.0, f64::max);
    for one in &mut ranked {
        one.parts.scale(most.recip());
        one.score = one.parts.sum().clamp(0.0, 1.0);
    }
    let order = in_order(&known, &mut ranked, request.limit, holding.as_ref());
    Ok(Order {
        rows: order.into_iter().map(|place| ranked[place]).collect(),
        elsewhere,
    })
}

/// Compare the best match of the one whom the query names with the best of others.
///
/// Rows that ask something are no answers, and rows of others that name the same one are about
/// both. `None` where two are named, even if one of them has no row among the candidates.
fn elsewhere(
    features: &Features,
    question: &Question,
    visible: Option<&Ids>,
    known: &[Known<'_>],
    ranked: &[Ranked],
) -> Option<Elsewhere> {
    let speakers = || known.iter().map(|one| one.stored.record.speaker);
    let named = speakers().find(|speaker| question.names(*speaker))?;
    let best = |is_of: &dyn Fn(&Stored<'_>) -> bool| {
        let rows = known.iter().zip(ranked);
        rows.filter(|(one, _)| one.stored.record.flags & language::ASKS == 0 && is_of(&one.stored))
            .map(|(_, ranked)| (ranked.parts.terms, ranked.id))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
    };
    let own = best(&|row| row.record.speaker == named)?;
    let other = best(&|row| {
        let speaker = row.record.speaker;
        speaker != named && !language::is_role(speaker) && row.names().all(|name| name != named)
    })?;
    let difference = own.0 - other.0;
    let is_alone = || {
        features
            .speakers(visible)
            .all(|speaker| speaker == named || !question.names(speaker))
    };
    (difference < CLOSE && is_alone()).then_some(Elsewhere {
        named: own.1,
        other: other.1,
        difference,
    })
}

fn known<'a>(
    features: &'a Features,
    request: &Request<'_>,
    candidates: &[Candidate],
) -> Vec<Known<'a>> {
    let stored = |one: &Candidate| Some((*one, features.get(one.id)?));
    let mut here: Vec<_> = candidates.iter().filter_map(stored).collect();
    // In this order no block of a word's postings is read twice.
    here.sort_unstable_by_key(|(one, _)| one.id);
    let places: RowMap = here.iter().map(|(one, _)| one.id).zip(0..).collect();
    let place = |id: u32| places.get(&id).map(|place| *place as usize);
    let known = |(one, stored): (Candidate, Stored<'a>)| {
        let mut neighbours = [[None; REACH]; 2];
        if stored.record.thread != 0 {
            let at = stored.record.place(one.id);
            let (before, behind) = features.around(at, REACH, request.visible);
            fill(&mut neighbours[0], before.map(place));
            fill(&mut neighbours[1], behind.map(place));
        }
        let record = stored.record;
        let age = Age {
            known: record.known,
            said: record.said,
            ages_as: record.ages_as,
        };
        Known {
            id: one.id,
            stored,
            age: request.ages.get(&one.id).copied().unwrap_or(age),
            cosine: one.cosine,
            joined: None,
            neighbours,
        }
    };
    here.into_iter().map(known).collect()
}

/// Score words, meaning and terms, in the text and its neighbours.
fn matched(
    features: &Features,
    query: &Query,
    matches: &Matches,
    known: &[Known<'_>],
    joins: bool,
) -> Vec<Ranked> {
    let k = TERMS * TERMS_HALVED_AT / (TERMS_HALVED_AT + features.mean_words());
    let half = (1.0 - k) / 2.0;
    // Without any cosine, the words also get the weight of meaning.
    let is_compared = known.iter().any(|one| one.cosine.is_some());
    let rest = if is_compared { half } else { 1.0 - k };
    let mut nearby = Vec::new();
    let mut of_words = |(at, one): (usize, &Known<'_>)| {
        one.best_beside(at, NEAR_WORDS, |at| matches.words.of(at), &mut nearby);
        let alone = matches.words.of(at).iter().sum();
        [alone, nearby.iter().sum()]
    };
    let of_words: Vec<[f64; 2]> = known.iter().enumerate().map(&mut of_words).collect();
    let best = of_words.iter().map(|of| of[1]).fold(0.0, f64::max);
    let possible: f64 = matches.words.weights.iter().sum();
    let most = (BEST * best + POSSIBLE * possible).max(GOOD_WORDS);
    let matched = |(at, one): (usize, &Known<'_>)| {
        let [alone, beside_words] = of_words[at];
        let terms = query.mean(matches.terms(at));
        one.best_beside(at, NEAR_TERMS, |at| matches.terms(at), &mut nearby);
        let terms_beside = query.mean(&nearby);
        let positive = |cosine: Option<f32>| f64::from(cosine.unwrap_or(0.0)).clamp(0.0, 1.0);
        let (words, own) = (rest * alone / most, half * positive(one.cosine));
        let mut meaning = own;
        if joins {
            // A row that waits for its vector is not worse for that.
            meaning += JOINED * positive(one.joined.or(one.cosine));
            let shares = alone > 0.0 || matches.terms(at).iter().any(|same| *same >= SAME);
            if !shares {
                let all = words + own + k * terms;
                meaning += (ALONE * positive(one.joined) - all).max(0.0);
            }
        }
        let vector = positive(if joins { one.joined } else { one.cosine });
        Ranked {
            id: one.id,
            score: 0.0,
            parts: Parts {
                words,
                meaning,
                terms: k * terms,
                thread: rest * (beside_words - alone) / most + k * (terms_beside - terms),
                ..Parts::default()
            },
            decay: 1.0,
            word: if best > 0.0 { alone / best } else { 0.0 },
            vector,
            relevance: None,
        }
    };
    known.iter().enumerate().map(matched).collect()
}

fn matches(
    similar: &Similarities,
    words: &Words,
    phrases: &[Phrase],
    until: Option<u32>,
    known: &[Known<'_>],
) -> Matches {
    let ids: Vec<u32> = known.iter().map(|one| one.id).collect();
    let mut terms = Vec::with_capacity(known.len() * similar.width());
    for one in known {
        similar.best(&one.stored, &mut terms);
    }
    Matches {
        words: words.parts(phrases, &ids, until),
        terms,
        width: similar.width(),
    }
}

fn fill<T>(places: &mut [T], values: impl Iterator<Item = T>) {
    for (place, value) in places.iter_mut().zip(values) {
        *place = value;
    }
}

fn holding(request: &Request<'_>, words: &Words, known: &[Known<'_>]) -> Option<Holding> {
    let rows: Vec<(u32, i64)> = known.iter().map(|one| (one.id, one.age.said)).collect();
    times::holding(request.condition?, words, request.until, &rows)
}

/// Lower the rows outside of the time that the query asks for, and those that tell of its beginning
/// or its end below the best of that time.
fn lower(holding: &Holding, ranked: &mut [Ranked]) {
    let inside = (0..ranked.len()).filter(|at| holding.inside[*at] && !holding.at_event[*at]);
    let best = inside.map(|at| ranked[at].parts.sum()).fold(0.0, f64::max);
    for (at, one) in ranked.iter_mut().enumerate() {
        if holding.at_event[at] {
            let over = one.parts.sum() - (best - AFTER_THE_BEST);
            one.parts.date -= if best > 0.0 { over.max(0.0) } else { 0.0 };
        } else if !holding.inside[at] {
            one.parts.date -= holding.weights.outside;
        }
    }
}

/// The indexes of the best candidates, by descending scores.
fn in_order(
    known: &[Known<'_>],
    ranked: &mut [Ranked],
    limit: usize,
    holding: Option<&Holding>,
) -> Vec<usize> {
    let said = |at: usize| (known[at].age.said, known[at].id);
    let score = |at: usize| ranked[at].score;
    let mut order: Vec<usize> = (0..known.len()).collect();
    order.sort_unstable_by(|a, b| {
        let scores = score(*b).total_cmp(&score(*a));
        scores.then_with(|| said(*b).cmp(&said(*a)))
    });
    let compete = |a: usize, b: usize| known[a].stored.is_alike(&known[b].stored);
    let scores: Vec<f64> = order.iter().map(|at| score(*at)).collect();
    newest_first(&mut order, limit, score, compete, said);
    // Each row gets the score of its place.
    for (at, score) in order.iter().zip(&scores) {
        let one = &mut ranked[*at];
        one.parts.age += score - one.score;
        one.score = *score;
    }
    if let Some((holding, first)) = holding.and_then(|one| Some((one, one.first?))) {
        by_time(&mut order, holding, first, |at| ranked[at].score, said);
        for (at, score) in order.iter().zip(scores) {
            let one = &mut ranked[*at];
            one.parts.age += score - one.score;
            one.score = score;
        }
    }
    order.truncate(limit);
    order
}

/// Let the rows of the time asked for that score nearly as much as the best of them share their
/// places, the newest or the oldest first.
fn by_time<O: Ord>(
    order: &mut [usize],
    holding: &Holding,
    first: First,
    score: impl Fn(usize) -> f64,
    said: impl Fn(usize) -> O,
) {
    let held = order
        .iter()
        .enumerate()
        .filter(|(_, row)| holding.inside[**row]);
    let mut places: Vec<usize> = held.map(|(place, _)| place).collect();
    let Some(best) = places.first().map(|place| score(order[*place])) else {
        return;
    };
    places.retain(|place| score(order[*place]) >= holding.weights.matching * best);
    let mut rows: Vec<usize> = places.iter().map(|place| order[*place]).collect();
    rows.sort_by_key(|row| said(*row));
    if first == First::Newest {
        rows.reverse();
    }
    for (place, row) in places.into_iter().zip(rows) {
        order[place] = row;
    }
}

/// Add the bonus of answers for the preceding question, and of all rows for the best of their
/// thread.
///
/// A row that tells of the event of a condition adds nothing to others.
fn add_thread(known: &[Known<'_>], ranked: &mut [Ranked], at_event: impl Fn(usize) -> bool) {
    let own = |(at, one): (usize, &Ranked)| {
        let base = one.parts.base() + one.parts.thread;
        if at_event(at) { 0.0 } else { base }
    };
    let base: Vec<f64> = ranked.iter().enumerate().map(own).collect();
    for (one, ranked) in known.iter().zip(&mut *ranked) {
        if let Some(before) = one.neighbours[0][0]
            && asks(&known[before].stored, one.stored.record.speaker)
        {
            let short = ANSWER_HALVED_AT / (ANSWER_HALVED_AT + f64::from(one.stored.record.words));
            ranked.parts.thread += ANSWER * short * base[before];
        }
    }
    let thread = |at: usize| known[at].stored.record.thread;
    let mut order: Vec<usize> = (0..known.len()).filter(|at| thread(*at) != 0).collect();
    order.sort_unstable_by(|a, b| {
        let threads = thread(*a).cmp(&thread(*b));
        threads.then_with(|| base[*b].total_cmp(&base[*a]))
    });
    let threads = order.chunk_by(|a, b| thread(*a) == thread(*b));
    for rows in threads.filter(|rows| rows.len() > 1) {
        let best: f64 = rows.iter().take(SESSION_BEST).map(|at| base[*at]).sum();
        for at in rows {
            ranked[*at].parts.session = SESSION * best / SESSION_BEST as f64;
        }
    }
}

/// Take from rows whose text stands in several conversations what they have of the turns beside them:
/// "Done." says as little after the one as after the other. A row of the date asked for keeps it.
fn leave_to_itself(known: &[Known<'_>], ranked: &mut [Ranked]) {
    let mut threads: HashMap<&[u16], Vec<u64>> = HashMap::with_capacity(known.len());
    for one in known.iter().filter(|one| one.stored.record.thread != 0) {
        let threads = threads.entry(one.stored.tokens()).or_default();
        let thread = one.stored.record.thread;
        if threads.len() < SAID_ANYWHERE && !threads.contains(&thread) {
            threads.push(thread);
        }
    }
    for (one, ranked) in known.iter().zip(ranked) {
        let said = threads.get(one.stored.tokens()).map_or(0, Vec::len);
        if said >= SAID_ANYWHERE && ranked.parts.date <= 0.0 {
            (ranked.parts.thread, ranked.parts.session) = (0.0, 0.0);
        }
    }
}

/// Whether a row asks a question that this speaker may answer: nobody answers their own.
fn asks(row: &Stored<'_>, speaker: u32) -> bool {
    let asker = row.record.speaker;
    row.record.flags & language::ASKS != 0 && (asker == language::NO_NAME || asker != speaker)
}

/// Add the bonus of rows that have what the query names or asks for.
fn add_named(
    question: &Question,
    request: &Request<'_>,
    known: &[Known<'_>],
    ranked: &mut [Ranked],
) {
    let calendar = request.calendar;
    let of_date = date_weights(request);
    let is_of_days = request.condition.is_none() && !calendar.days.is_empty();
    let speaks = |one: &&Known<'_>| one.stored.record.thread != 0;
    let speakers: Vec<u32> = {
        let mut all: Vec<u32> = known
            .iter()
            .filter(speaks)
            .map(|one| one.stored.record.speaker)
            .collect();
        all.sort_unstable();
        all
    };
    for (one, ranked) in known.iter().zip(ranked) {
        let record = one.stored.record;
        if question.names(record.speaker) {
            ranked.parts.subject = SUBJECT;
        }
        let share = question.date.share(calendar, record.day_in(calendar));
        let whole = if share == 1.0 { of_date[1] } else { 0.0 };
        ranked.parts.date = of_date[0] * f64::from(share) + whole;
        if is_of_days && share == 1.0 && record.flags & language::ASKS == 0 {
            let words = f64::from(record.words);
            ranked.parts.date += SAYS * words / (words + SAYS_HALVED_AT);
        }
        if has_wanted(question.wants, &one.stored, &speakers) {
            ranked.parts.kind = KIND;
        }
    }
}

/// The weights of the share of a date, and of a whole one. What held at a time may have been said
/// long before.
fn date_weights(request: &Request<'_>) -> [f64; 2] {
    let is_ordered = |condition: &Condition| condition.first.is_some();
    if request.condition.is_some_and(is_ordered) && !request.calendar.days.is_empty() {
        return [0.0, MEANT];
    }
    [DATE, WHOLE_DATE]
}

fn has_wanted(wants: Option<Wanted>, stored: &Stored<'_>, speakers: &[u32]) -> bool {
    let has = |flag: u8| stored.record.flags & flag != 0;
    let speaker = stored.record.speaker;
    let mut names = stored.names();
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

/// How fresh a row is since it was stored or last confirmed; 1 for a time in the future.
fn decay(request: &Request<'_>, row: Age) -> f64 {
    let life = request
        .lives
        .iter()
        .find(|life| row.ages_as != 0 && life.0 == row.ages_as);
    let age = request.now.saturating_sub(row.known).max(0) as f64 / MICROS;
    life.map_or(1.0, |life| 0.5_f64.powf(age / life.1))
}

/// Let each row and those behind it that compete with it, and score nearly as much, share their
/// places from the newest to the oldest. A row takes part in this once.
fn newest_first<O: Ord>(
    order: &mut [usize],
    limit: usize,
    score: impl Fn(usize) -> f64,
    compete: impl Fn(usize, usize) -> bool,
    said: impl Fn(usize) -> O,
) {
    let mut done = vec![false; order.len()];
    for first in 0..order.len().min(limit) {
        if done[first] {
            continue;
        }
        let best = order[first];
        let near = (first..order.len()).take_while(|at| score(order[*at]) >= score(best) - EQUAL);
        let places: Vec<usize> = near
            .filter(|at| !done[*at] && (*at == first || compete(best, order[*at])))
            .collect();
        let mut equals: Vec<usize> = places.iter().map(|at| order[*at]).collect();
        equals.sort_by_key(|one| std::cmp::Reverse(said(*one)));
        for (at, one) in places.into_iter().zip(equals) {
            done[at] = true;
            order[at] = one;
        }
    }
}
