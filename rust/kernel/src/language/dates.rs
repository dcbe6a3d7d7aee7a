//! Recognises dates in a text.

use super::calendar::{Calendar, Day};
use super::letters::hash;
use super::lexicon::{CAPITAL_MONTHS, Class, ENGLISH, Languages, Table};
use super::words::{Gap, Kind, Word};

/// Words between a day and its month, like the ending of an ordinal.
const JOINS_DAY: [&str; 5] = ["of", "de", "di", "do", "d"];

/// The parts of dates that a question names, each once.
///
/// If the order of day and month is ambiguous (`8/5/2023` in English), both readings count: two
/// months and two days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// From 1900 to 2099.
    pub years: Vec<u16>,
    /// From 1 to 12.
    pub months: Vec<u8>,
    /// From 1 to 31, next to a month.
    pub days: Vec<u8>,
}

/// The language of a text, as far as dates go.
pub(super) struct Setting<'a> {
    pub text: &'a str,
    pub languages: Languages,
    /// Whether any word identified the language.
    pub known: bool,
}

impl Named {
    /// The share of the named parts that a date matches; 0 if nothing is named. A day counts only
    /// in one of the named months, and one of the calendar's days counts as a whole. Nothing else
    /// does where the dates are conditions.
    pub fn share(&self, calendar: &Calendar, (year, month, day): Day) -> f32 {
        if calendar.means((year, month, day)) {
            return 1.0;
        }
        if calendar.are_conditions {
            return 0.0;
        }
        let named = self.years.len() + self.months.len() + self.days.len();
        let in_month = self.months.contains(&month);
        let matched = usize::from(self.years.contains(&year))
            + usize::from(in_month)
            + usize::from(in_month && self.days.contains(&day));
        matched as f32 / named.max(1) as f32
    }

    /// The dates that are named by these words.
    pub(super) fn read(words: &[Word], setting: &Setting<'_>) -> Self {
        let mut named = Self::default();
        let mut at = 0;
        while at < words.len() {
            at += named.digits(words, at, setting).max(1);
        }
        named.names_of_months(words, setting);
        named
    }

    /// Read a date in digits, or a year; returns how many words it takes.
    fn digits(&mut self, words: &[Word], at: usize, setting: &Setting<'_>) -> usize {
        let Kind::Number { value, digits } = words[at].kind else {
            return 0;
        };
        if let Some(unit) = unit(setting.text, words.get(at + 1)) {
            self.counted(value, digits, unit);
            return 2;
        }
        let parts = parts(&words[at..]);
        match *parts.as_slice() {
            [(year, 4), (month, 1..=2), (day, 1..=2)] if is_date(year, month, day) => {
                self.add(year, month, day);
                3
            }
            [(first, 1..=2), (second, 1..=2), (year, 4)] => {
                self.day_and_month(first, second, year, words[at + 1].before, setting);
                3
            }
            [(first, 1..=2), (second, 1..=2), (year, 2)]
                if !is_version(&words[at + 1], setting) =>
            {
                self.day_and_month(first, second, 2000 + year, words[at + 1].before, setting);
                3
            }
            [(year, 4), (month, 2)] if is_date(year, month, 1) => {
                push(&mut self.years, year as u16);
                push(&mut self.months, month as u8);
                2
            }
            _ => {
                if digits == 4 && is_year(value) {
                    push(&mut self.years, value as u16);
                }
                parts.len()
            }
        }
    }

    /// A number followed by its unit, as in 2023年5月8日.
    fn counted(&mut self, value: u32, digits: u8, unit: Unit) {
        match unit {
            Unit::Year if digits == 4 && is_year(value) => push(&mut self.years, value as u16),
            Unit::Month if (1..=12).contains(&value) => push(&mut self.months, value as u8),
            Unit::Day if (1..=31).contains(&value) && !self.months.is_empty() => {
                push(&mut self.days, value as u8);
            }
            _ => {}
        }
    }

    /// A date that begins with its day or, in English alone and not with dots, with its month.
    fn day_and_month(
        &mut self,
        first: u32,
        second: u32,
        year: u32,
        gap: Gap,
        setting: &Setting<'_>,
    ) {
        let may_begin_with_month = gap != Gap::Sign(b'.') && setting.languages & ENGLISH != 0;
        if is_date(year, second, first) {
            self.add(year, second, first);
        }
        if may_begin_with_month && is_date(year, first, second) {
            self.add(year, first, second);
        }
    }

    fn add(&mut self, year: u32, month: u32, day: u32) {
        push(&mut self.years, year as u16);
        push(&mut self.months, month as u8);
        push(&mut self.days, day as u8);
    }

    /// Months by their names, with the days beside them.
    fn names_of_months(&mut self, words: &[Word], setting: &Setting<'_>) {
        let mut taken = None;
        for (at, word) in words.iter().enumerate() {
            let Some(entry) = Table::shared().get(word.hash) else {
                continue;
            };
            if entry.month == 0 {
                continue;
            }
            let before = day_before(words, at).filter(|place| Some(*place) != taken);
            let day = before.or_else(|| day_after(words, at));
            let is_date = day.is_some() || year_beside(words, at);
            let short = entry.is(Class::Ambiguous) | entry.is(Class::Beside);
            let introduced = at > 0 && is(&words[at - 1], Class::InMonth) & setting.languages != 0;
            let in_text = entry.is(Class::Ambiguous) & setting.languages;
            let is_month = entry.is(Class::Month) != 0
                || is_date && short & setting.languages != 0
                || entry.is(Class::Beside) != 0 && introduced
                || at > 0 && word.capital && in_text & CAPITAL_MONTHS != 0
                || setting.known && in_text & !CAPITAL_MONTHS != 0;
            if !is_month {
                continue;
            }
            push(&mut self.months, entry.month);
            if let Some(place) = day {
                push(
                    &mut self.days,
                    number(&words[place]).unwrap_or_default() as u8,
                );
                taken = Some(place);
            }
        }
    }
}

/// Whether a word is a year, a time of the day or the unit of a date, if a number is before it.
#[inline]
pub(super) fn is_time(text: &str, after_number: bool, word: &Word) -> bool {
    match word.kind {
        Kind::Number { value, digits } => {
            digits == 4 && is_year(value) || after_number && word.before == Gap::Sign(b':')
        }
        _ => after_number && word.before == Gap::None && is_unit(text, word),
    }
}

fn is_unit(text: &str, word: &Word) -> bool {
    let written = &text[word.start..word.end];
    unit(text, Some(word)).is_some() || matches!(written, "am" | "pm" | "AM" | "PM" | "h")
}

/// Whether numbers with dots may also be a version: `1.2.24`. English dates have no dots.
fn is_version(second: &Word, setting: &Setting<'_>) -> bool {
    second.before == Gap::Sign(b'.') && (!setting.known || setting.languages & ENGLISH != 0)
}

#[derive(Clone, Copy)]
enum Unit {
    Year,
    Month,
    Day,
    Hour,
}

/// The unit after a number in Chinese, Japanese and Korean.
fn unit(text: &str, word: Option<&Word>) -> Option<Unit> {
    let word = word.filter(|word| matches!(word.kind, Kind::Hangul | Kind::Unspaced))?;
    match text[word.start..word.end].chars().next()? {
        '年' | '년' => Some(Unit::Year),
        '月' | '월' => Some(Unit::Month),
        '日' | '号' | '號' | '일' => Some(Unit::Day),
        '時' | '时' | '点' | '點' | '시' => Some(Unit::Hour),
        _ => None,
    }
}

/// At most three numbers divided by the same sign, with their digits.
fn parts(words: &[Word]) -> Vec<(u32, u8)> {
    let mut parts = Vec::new();
    for word in words.iter().take(4) {
        let Kind::Number { value, digits } = word.kind else {
            break;
        };
        let goes_on = match word.before {
            _ if parts.is_empty() => true,
            Gap::Sign(b':') => false,
            sign @ Gap::Sign(_) => sign == words[1].before,
            _ => false,
        };
        if !goes_on {
            break;
        }
        parts.push((value, digits));
    }
    parts
}

/// The place of the number before a month: `7 May`, `7th of May`, `7. Mai`, `1er mai`.
fn day_before(words: &[Word], at: usize) -> Option<usize> {
    let mut place = at;
    for _ in 0..3 {
        place = place.checked_sub(1)?;
        let word = &words[place];
        if is_day(word) {
            return Some(place);
        }
        let joins =
            word.before == Gap::None || JOINS_DAY.iter().any(|join| hash(join) == word.hash);
        if word.kind != Kind::Letters || !joins {
            return None;
        }
    }
    None
}

/// The place of the number after a month: `May 7`, `May the 7th`.
fn day_after(words: &[Word], at: usize) -> Option<usize> {
    let next = words.get(at + 1)?;
    let divided = next.before == Gap::Breaks;
    if is_day(next) && !divided {
        return Some(at + 1);
    }
    let article = next.kind == Kind::Letters && is(next, Class::Common) != 0;
    let suffixed = words
        .get(at + 3)
        .is_some_and(|word| word.before == Gap::None);
    (article && suffixed && words.get(at + 2).is_some_and(is_day)).then_some(at + 2)
}

fn year_beside(words: &[Word], at: usize) -> bool {
    let is = |word: Option<&Word>| word.and_then(number).is_some_and(is_year);
    is(words.get(at + 1)) || at > 0 && is(words.get(at - 1))
}

fn is_day(word: &Word) -> bool {
    matches!(
        word.kind,
        Kind::Number {
            value: 1..=31,
            digits: 1..=2
        }
    )
}

fn number(word: &Word) -> Option<u32> {
    match word.kind {
        Kind::Number { value, .. } => Some(value),
        _ => None,
    }
}

fn is(word: &Word, class: Class) -> Languages {
    Table::shared()
        .get(word.hash)
        .map_or(0, |entry| entry.is(class))
}

fn is_year(value: u32) -> bool {
    (1900..=2099).contains(&value)
}

fn is_date(year: u32, month: u32, day: u32) -> bool {
    is_year(year) && (1..=12).contains(&month) && (1..=31).contains(&day)
}

fn push<T: PartialEq>(values: &mut Vec<T>, value: T) {
    if !values.contains(&value) {
        values.push(value);
    }
}
