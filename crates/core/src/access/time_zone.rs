//! The time zone in which a company lives (X16).

use std::fmt;
use std::time::Duration;

use chrono::{
    DateTime, Datelike, Days, NaiveDate, NaiveTime, Offset, TimeDelta, TimeZone as _, Timelike, Utc,
};
use chrono_tz::Tz;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::Timestamp;
use crate::form::{Form, to_json};

/// A time zone by its IANA name, from the database that is compiled in. `America/Sao_Paulo` by
/// default.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeZone(Tz);

/// What a clock on the wall shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallTime {
    /// Days since Monday: 0 to 6.
    pub weekday: u8,
    /// Whole minutes since midnight: 0 to 1,439.
    pub minute: u16,
    /// How far the minute has gone.
    pub within: Duration,
}

/// A day of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalDay {
    /// Its date, such as `2026-11-20`.
    pub date: String,
    /// Its first millisecond.
    pub from: Timestamp,
    /// Its last millisecond; before `from` for a day that the place skipped.
    pub to: Timestamp,
}

/// The quarters of an hour of a day.
const QUARTERS: i64 = 96;

impl TimeZone {
    /// The time zone of a name, as the database writes it.
    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok().map(Self)
    }

    /// Its name.
    pub fn as_str(&self) -> &'static str {
        self.0.name()
    }

    /// What the clocks of the zone show at a moment.
    pub fn wall_time(self, at: Timestamp) -> WallTime {
        let local = utc(at).with_timezone(&self.0);
        let second = Duration::from_secs(local.second().into());
        let millis = u64::try_from(at.millis().rem_euclid(1_000)).unwrap_or_default();
        WallTime {
            weekday: u8::try_from(local.weekday().num_days_from_monday()).unwrap_or_default(),
            minute: u16::try_from(local.hour() * 60 + local.minute()).unwrap_or_default(),
            within: second + Duration::from_millis(millis),
        }
    }

    /// The last days up to the one of `now`, oldest first, as many as `count` says.
    pub fn last_days(self, now: Timestamp, count: u32) -> Vec<LocalDay> {
        let today = utc(now).with_timezone(&self.0).date_naive();
        let day = |back: u32| {
            let date = today.checked_sub_days(Days::new(back.into()))?;
            let (from, next) = (self.beginning(date)?, self.beginning(date.succ_opt()?)?);
            let to = next.minus(Duration::from_millis(1));
            Some(LocalDay { date: date.to_string(), from, to })
        };
        (0..count).rev().filter_map(day).collect()
    }

    /// When a date begins: at midnight or, where clocks are set forward then, as soon after it as
    /// there is a time.
    fn beginning(self, date: NaiveDate) -> Option<Timestamp> {
        let midnight = date.and_time(NaiveTime::MIN);
        (0..=QUARTERS).find_map(|quarter| {
            let local = midnight.checked_add_signed(TimeDelta::minutes(15 * quarter))?;
            let at = self.0.from_local_datetime(&local).earliest()?;
            Some(Timestamp::from_millis(at.timestamp_millis()))
        })
    }

    /// How many seconds its clocks are ahead of UTC at a moment.
    pub fn offset(self, at: Timestamp) -> i32 {
        self.0.offset_from_utc_datetime(&utc(at).naive_utc()).fix().local_minus_utc()
    }
}

fn utc(at: Timestamp) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at.millis()).unwrap_or(DateTime::UNIX_EPOCH)
}

to_json!(TimeZone, |zone| zone.as_str());

impl Form for TimeZone {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let zone = value.as_str().and_then(Self::parse);
        zone.ok_or_else(|| "must be an IANA time zone such as America/Sao_Paulo".to_owned())
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|text| crate::openapi::example(text, "America/Sao_Paulo"))
    }
}

impl Default for TimeZone {
    fn default() -> Self {
        Self(Tz::America__Sao_Paulo)
    }
}

impl fmt::Debug for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimeZone({})", self.as_str())
    }
}

impl Serialize for TimeZone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X16.
    #[test]
    fn a_time_zone_is_a_name_of_the_database_as_it_is_written_there() {
        for name in ["America/Sao_Paulo", "Europe/Lisbon", "Asia/Kathmandu", "UTC", "Etc/GMT+3"] {
            assert_eq!(TimeZone::parse(name).map(|zone| zone.as_str()), Some(name));
        }
        for other in ["", "sao_paulo", "america/sao_paulo", "America/Sao Paulo", "-03:00", "BRT"] {
            assert_eq!(TimeZone::parse(other), None, "{other}");
        }
        assert_eq!(TimeZone::default().as_str(), "America/Sao_Paulo");
    }

    #[test]
    fn the_wall_shows_the_hour_of_the_place_and_season() {
        let at = |text| Timestamp::parse(text).expect("a timestamp");
        let shows = |zone: &str, text| {
            let wall = TimeZone::parse(zone).expect("a zone").wall_time(at(text));
            (wall.weekday, wall.minute / 60, wall.minute % 60)
        };
        assert_eq!(shows("America/Sao_Paulo", "2026-11-20T02:30:00Z"), (3, 23, 30));
        assert_eq!(shows("Europe/Lisbon", "2026-07-01T12:00:00Z"), (2, 13, 0));
        assert_eq!(shows("Europe/Lisbon", "2026-01-01T12:00:00Z"), (3, 12, 0));
        assert_eq!(shows("Asia/Kathmandu", "2026-01-01T00:00:00Z"), (3, 5, 45));
        let wall = TimeZone::default().wall_time(at("2026-11-20T02:30:07.250Z"));
        assert_eq!(wall.within, Duration::from_millis(7_250));
        for moment in [Timestamp::MIN, Timestamp::MAX] {
            assert!(TimeZone::default().wall_time(moment).minute < 1_440);
        }
    }

    /// R430.
    #[test]
    fn days_follow_each_other_without_a_gap_also_where_midnight_is_skipped() {
        // Until 2019 the clocks of São Paulo were set forward at midnight.
        for (zone, now, hours) in [
            ("America/Sao_Paulo", "2018-11-05T12:00:00Z", 30 * 24 - 1),
            ("Europe/Lisbon", "2026-10-30T12:00:00Z", 30 * 24 + 1),
            ("Asia/Kathmandu", "2026-10-30T23:59:59Z", 30 * 24),
        ] {
            let at = Timestamp::parse(now).expect("a timestamp");
            let days = TimeZone::parse(zone).expect("a zone").last_days(at, 30);
            assert_eq!(days.len(), 30, "{zone}");
            for pair in days.windows(2) {
                assert_eq!(pair[0].to.plus(Duration::from_millis(1)), pair[1].from, "{zone}");
            }
            assert!(days[29].from <= at && at <= days[29].to, "{zone}: {:?}", days[29]);
            let all = days[29].to.since(days[0].from) + Duration::from_millis(1);
            assert_eq!(all, Duration::from_secs(hours * 60 * 60), "{zone}");
        }
        let days = TimeZone::default().last_days(Timestamp::from_millis(0), 2);
        assert_eq!([&days[0].date, &days[1].date], ["1969-12-30", "1969-12-31"]);
        assert_eq!(days[1].from, Timestamp::parse("1969-12-31T03:00:00Z").expect("valid"));
    }
}
