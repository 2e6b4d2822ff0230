//! Time as a value: UTC with millisecond precision (D3).

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeZone, Utc};
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

    fn datetime(self) -> DateTime<Utc> {
        Utc.timestamp_millis_opt(self.0).single().unwrap_or(DateTime::UNIX_EPOCH)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.datetime().to_rfc3339_opts(SecondsFormat::Millis, true))
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
    use super::*;

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
