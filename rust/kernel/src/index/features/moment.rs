//! Parses moments as they are stored.

use crate::language::days;

/// The day of a moment, and the moment itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub year: u16,
    pub month: u8,
    pub day: u8,
    /// Of the day.
    pub minute: u16,
    /// Microseconds since 1970.
    pub micros: i64,
}

/// Parse `2026-01-31T23:59:59.000000Z`, or its beginning; a space may replace the `T`. Text after
/// the part that can be parsed is ignored, and so is an offset from UTC.
pub(super) fn read(text: &str) -> Option<Moment> {
    let bytes = text.as_bytes();
    let year = number(bytes, 0, 4)?;
    let (month, day) = (part(bytes, 4, b"-")?, part(bytes, 7, b"-")?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let hour = part(bytes, 10, b"T ").unwrap_or(0);
    let minute = part(bytes, 13, b":").unwrap_or(0);
    let second = part(bytes, 16, b":").unwrap_or(0);
    let fraction = match bytes.get(19) {
        Some(b'.') => number(bytes, 20, 6).unwrap_or(0),
        _ => 0,
    };
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(Moment {
        year: year as u16,
        month: month as u8,
        day: day as u8,
        minute: (hour * 60 + minute) as u16,
        micros: seconds * 1_000_000 + fraction,
    })
}

/// Two digits after one of these separators.
fn part(bytes: &[u8], at: usize, separators: &[u8]) -> Option<i64> {
    separators.contains(bytes.get(at)?).then_some(())?;
    number(bytes, at + 1, 2)
}

fn number(bytes: &[u8], from: usize, digits: usize) -> Option<i64> {
    let part = bytes.get(from..from + digits)?;
    part.iter().try_fold(0, |sum, digit| {
        digit
            .is_ascii_digit()
            .then_some(10 * sum + i64::from(digit.wrapping_sub(b'0')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_counted_from_1970() {
        let micros = |text| read(text).map(|moment| moment.micros);
        assert_eq!(micros("1970-01-01T00:00:00.000000Z"), Some(0));
        assert_eq!(
            micros("2000-02-29T00:00:01.000002Z"),
            Some(951_782_401_000_002)
        );
        assert_eq!(micros("2026-11-22 20:50:34"), Some(1_795_380_634_000_000));
        assert_eq!(micros("1969-12-31"), Some(-86_400_000_000));
        for other in [
            "",
            "2026",
            "2026-13-01",
            "2026-01-32",
            "soon, maybe",
            "20x6-01-01",
        ] {
            assert_eq!(micros(other), None, "{other}");
        }
    }
}
