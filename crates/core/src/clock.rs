//! Time as a value: UTC with millisecond precision (D3).

use std::fmt;
use std::time::Duration;

use chrono::DateTime;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The current time. The core reads it once per decision and passes it on as a value.
pub trait Clock: Send + Sync {
    /// The current time, cut to milliseconds.
    fn now(&self) -> Timestamp;
}

/// A moment in UTC, in whole milliseconds since the Unix epoch.
///
/// Written as `2026-11-20T17:31:36.123Z`. Every value lies in the years 0001 to 9999, so that
/// writing and storing one cannot fail.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The first moment that can be represented.
    pub const MIN: Self = Self(-62_135_596_800_000);
    /// The last moment that can be represented.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// A moment from milliseconds since the epoch, clamped to the years 0001 to 9999.
    pub const fn from_millis(millis: i64) -> Self {
        if millis < Self::MIN.0 {
            Self::MIN
        } else if millis > Self::MAX.0 {
            Self::MAX
        } else {
            Self(millis)
        }
    }

    /// Milliseconds since the epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Reads any ISO 8601 / RFC 3339 timestamp with an offset; finer parts are cut off.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > 64 {
            return None;
        }
        let parsed = DateTime::parse_from_rfc3339(text).ok()?;
        let millis = parsed.timestamp_millis();
        (Self::MIN.0..=Self::MAX.0).contains(&millis).then_some(Self(millis))
    }

    /// As [`Timestamp::parse`], but what is finer than a millisecond is rounded up.
    pub fn parse_up(text: &str) -> Option<Self> {
        let cut = Self::parse(text)?;
        let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
        let digits = fraction.bytes().take_while(u8::is_ascii_digit);
        let is_finer = digits.skip(3).any(|digit| digit != b'0');
        Some(if is_finer { Self::from_millis(cut.0 + 1) } else { cut })
    }

    /// The moment `duration` later, at most [`Timestamp::MAX`].
    pub fn plus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// The moment `duration` earlier, at least [`Timestamp::MIN`].
    pub fn minus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.0.saturating_sub(millis))
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The text of the moment. Listings write hundreds of them, so that no calendar of all
    /// calendars is asked: the day is found by whole cycles of 400 years, of 100, of 4 and of one,
    /// which begin with March.
    fn written(self) -> [u8; 24] {
        const DAY: i64 = 86_400_000;
        /// Days from 1 March 0000 to the epoch.
        const TO_EPOCH: i64 = 719_468;
        const OF_400_YEARS: i64 = 146_097;
        let (days, of_day) = (self.0.div_euclid(DAY) + TO_EPOCH, self.0.rem_euclid(DAY));
        let (cycle, day) = (days.div_euclid(OF_400_YEARS), days.rem_euclid(OF_400_YEARS));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, year) = match month {
            ..10 => (month + 3, cycle * 400 + year),
            _ => (month - 9, cycle * 400 + year + 1),
        };
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut put = |places: std::ops::Range<usize>, mut number: i64| {
            for place in text[places].iter_mut().rev() {
                *place = b'0' + u8::try_from(number % 10).unwrap_or(0);
                number /= 10;
            }
        };
        put(0..4, year);
        put(5..7, month);
        put(8..10, day);
        put(11..13, of_day / 3_600_000);
        put(14..16, of_day / 60_000 % 60);
        put(17..19, of_day / 1_000 % 60);
        put(20..23, of_day % 1_000);
        text
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.written();
        f.write_str(std::str::from_utf8(&text).expect("digits and punctuation are ASCII"))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({self})")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not a timestamp"))
    }
}

#[cfg(feature = "openapi")]
mod openapi {
    use utoipa::openapi::RefOr;
    use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

    impl utoipa::ToSchema for super::Timestamp {}

    impl utoipa::PartialSchema for super::Timestamp {
        fn schema() -> RefOr<Schema> {
            ObjectBuilder::new()
                .schema_type(Type::String)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
                .description(Some("A moment in ISO 8601; in answers in UTC with milliseconds."))
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::SecondsFormat;

    use super::*;

    fn by_calendar(at: Timestamp) -> String {
        let at = DateTime::from_timestamp_millis(at.millis()).expect("in range");
        at.to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    #[test]
    fn every_day_of_five_hundred_years_is_written_as_the_calendar_has_it() {
        let at = |text: &str| Timestamp::parse(text).expect("valid").millis();
        let days = at("1890-01-01T23:59:59.999Z")..at("2390-01-01T00:00:00Z");
        let ends = [Timestamp::MIN, Timestamp::MAX];
        for at in days.step_by(86_400_000).map(Timestamp::from_millis).chain(ends) {
            assert_eq!(at.to_string(), by_calendar(at));
        }
    }

    proptest::proptest! {
        #[test]
        fn every_moment_is_written_as_the_calendar_has_it(
            millis in Timestamp::MIN.0..=Timestamp::MAX.0,
        ) {
            let at = Timestamp::from_millis(millis);
            proptest::prop_assert_eq!(at.to_string(), by_calendar(at));
        }
    }

    /// D3.
    #[test]
    fn a_timestamp_is_written_with_milliseconds_and_z() {
        let at = Timestamp::parse("2026-11-20T14:31:36.123456-03:00").expect("valid");
        assert_eq!(at.to_string(), "2026-11-20T17:31:36.123Z");
    }

    #[test]
    fn what_is_finer_than_a_millisecond_is_cut_off_or_rounded_up() {
        for (text, cut, up) in [
            ("2026-11-20T17:31:36.1230Z", ".123", ".123"),
            ("2026-11-20T17:31:36.1230001Z", ".123", ".124"),
            ("2026-11-20T14:31:36.1230000000000001-03:00", ".123", ".124"),
            ("2026-11-20T17:31:36.12Z", ".120", ".120"),
            ("2026-11-20T17:31:35.9999Z", "5.999", "6.000"),
            ("1969-12-31T23:59:59.9999Z", "9.999", "0.000"),
        ] {
            let read = |at: Option<Timestamp>| at.expect("valid").to_string();
            assert!(read(Timestamp::parse(text)).ends_with(&format!("{cut}Z")), "{text}");
            assert!(read(Timestamp::parse_up(text)).ends_with(&format!("{up}Z")), "{text}");
        }
        let last = Timestamp::parse_up("9999-12-31T23:59:59.9999Z");
        assert_eq!(last, Some(Timestamp::MAX));
        assert_eq!(Timestamp::parse_up("2026-11-20"), None);
    }

    #[test]
    fn the_extremes_can_be_written_and_read_back() {
        for at in [Timestamp::MIN, Timestamp::MAX] {
            assert_eq!(Timestamp::parse(&at.to_string()), Some(at));
        }
        assert_eq!(Timestamp::from_millis(i64::MAX), Timestamp::MAX);
    }
}
