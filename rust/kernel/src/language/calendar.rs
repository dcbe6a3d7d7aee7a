//! The days of a clock that is not UTC's.

const DAY: i64 = 24 * 60;

/// A day: its year, month and number.
pub type Day = (u16, u8, u8);

/// The calendar of the person who asks.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    /// From which minute since 1970, in UTC, their clock differs from it by how many minutes;
    /// ascending. Without any, it is UTC's; before the first one, that one counts.
    pub offsets: Vec<(i64, i64)>,
    /// The days that the query means, each as the first and the last one: yesterday, last week,
    /// the end of May.
    pub days: Vec<(Day, Day)>,
    /// Whether the dates in the query's words are conditions, so that only [`Self::days`] are meant.
    pub are_conditions: bool,
}

impl Calendar {
    /// Whether a day is one of those that the query means.
    pub fn means(&self, day: Day) -> bool {
        let has = |(first, last): &(Day, Day)| (*first..=*last).contains(&day);
        self.days.iter().any(has)
    }

    /// The day of a minute of a day in UTC. A day that does not exist is left as it is.
    pub fn day(&self, utc: Day, minute: u16) -> Day {
        let Some(first) = self.offsets.first() else {
            return utc;
        };
        if utc.1 == 0 {
            return utc;
        }
        let midnight = days(utc.0.into(), utc.1.into(), utc.2.into()) * DAY;
        let at = midnight + i64::from(minute);
        let later = self.offsets.partition_point(|(since, _)| *since <= at);
        let offset = later.checked_sub(1).map_or(first, |n| &self.offsets[n]).1;
        if (midnight..midnight + DAY).contains(&(at + offset)) {
            return utc;
        }
        date((at + offset).div_euclid(DAY))
    }
}

/// Days since 1970 in the Gregorian calendar; years begin in March, so that a leap day is the last.
pub(crate) fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month < 3);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of a number of days since 1970, the inverse of [`days`].
fn date(days: i64) -> Day {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let of_400 = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_400 + of_400 / 4 - of_400 / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = (from_march + 2) % 12 + 1;
    let year = era * 400 + of_400 + i64::from(month < 3);
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    (year as u16, month as u8, day as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_days_is_that_of_its_date() {
        let mut before = date(-30_000);
        for number in -29_999..60_000 {
            let (year, month, day) = date(number);
            assert_eq!(days(year.into(), month.into(), day.into()), number);
            assert!((year, month, day) > before);
            before = (year, month, day);
        }
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
    }

    #[test]
    fn a_day_is_that_of_the_offset_at_its_minute() {
        let at = |year, month, day, minute: i64| days(year, month, day) * DAY + minute;
        let berlin = Calendar {
            offsets: vec![
                (at(2025, 10, 26, 60), 60),
                (at(2026, 3, 29, 60), 120),
                (at(2026, 10, 25, 60), 60),
            ],
            ..Calendar::default()
        };
        let late = |hour: u16, minute: u16| hour * 60 + minute;
        assert_eq!(berlin.day((2026, 3, 28), late(22, 59)), (2026, 3, 28));
        assert_eq!(berlin.day((2026, 3, 28), late(23, 0)), (2026, 3, 29));
        assert_eq!(berlin.day((2026, 3, 29), late(21, 59)), (2026, 3, 29));
        assert_eq!(berlin.day((2026, 3, 29), late(22, 0)), (2026, 3, 30));
        assert_eq!(berlin.day((2026, 12, 31), late(23, 30)), (2027, 1, 1));
        assert_eq!(berlin.day((1999, 12, 31), late(23, 30)), (2000, 1, 1));
        assert_eq!(Calendar::default().day((2026, 3, 28), 1_439), (2026, 3, 28));
        let west = Calendar {
            offsets: vec![(0, -11 * 60)],
            ..Calendar::default()
        };
        assert_eq!(west.day((2024, 3, 1), 659), (2024, 2, 29));
        assert_eq!(west.day((2024, 3, 1), 660), (2024, 3, 1));
        assert_eq!(west.day((0, 0, 0), 0), (0, 0, 0));
    }
}
