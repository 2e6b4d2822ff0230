//! The hours in which a campaign may send (X16, R293).

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::Timestamp;
use crate::access::{TimeZone, WallTime};
use crate::body::{OrDefault, Required, body};
use crate::form::{Form, text_form, to_json};
use crate::words::words;

words! {
    /// A day of the week.
    Weekday {
        /// Monday.
        Monday = "mon",
        /// Tuesday.
        Tuesday = "tue",
        /// Wednesday.
        Wednesday = "wed",
        /// Thursday.
        Thursday = "thu",
        /// Friday.
        Friday = "fri",
        /// Saturday.
        Saturday = "sat",
        /// Sunday.
        Sunday = "sun",
    }
}

/// Minutes in a day.
const DAY: u16 = 24 * 60;

/// A time of day in whole minutes, written as `09:00`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DayTime(u16);

impl DayTime {
    /// Reads `09:00`, from `00:00` to `23:59`.
    pub fn parse(text: &str) -> Option<Self> {
        let (hour, minute) = text.split_once(':')?;
        let number = |digits: &str| {
            let is_pair = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_pair.then(|| digits.parse::<u16>().ok()).flatten()
        };
        let (hour, minute) = (number(hour)?, number(minute)?);
        (hour < 24 && minute < 60).then_some(Self(hour * 60 + minute))
    }
}

impl fmt::Display for DayTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl fmt::Debug for DayTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DayTime({self})")
    }
}

impl Serialize for DayTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

text_form!(
    DayTime,
    |text| Self::parse(text).ok_or_else(|| "must be a time of day such as 09:00".to_owned()),
    |time: &Self| time.to_string(),
    |text| crate::openapi::example(text.pattern(Some("^([01][0-9]|2[0-3]):[0-5][0-9]$")), "09:00")
);

/// Some days of the week; all of them by default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Weekdays(BTreeSet<Weekday>);

impl Weekdays {
    fn has(&self, day: usize) -> bool {
        self.0.contains(&Weekday::ALL[day % 7])
    }
}

impl Default for Weekdays {
    fn default() -> Self {
        Self(Weekday::ALL.iter().copied().collect())
    }
}

to_json!(Weekdays, |days| days.0.iter().map(|day| day.as_str()).collect::<Value>());

impl Form for Weekdays {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let days = value.as_array().filter(|days| !days.is_empty());
        let days = days.ok_or("must be a list of at least one day")?;
        days.iter().map(Weekday::read).collect::<Result<_, _>>().map(Self)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::array(Weekday::schema(), |days| days.min_items(Some(1)))
    }

    #[cfg(feature = "openapi")]
    fn components(all: &mut crate::openapi::Components) {
        <Weekday as Form>::components(all);
    }
}

body! {
    /// The hours in which a campaign may send, in the time zone of its company.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct SendWindow as "SendBetween" {
        /// When they begin.
        from: DayTime = Required<DayTime>,
        /// When they end. If this is before `from`, they go on over midnight.
        to: DayTime = Required<DayTime>,
        /// The days on which they begin; every day by default.
        days: Weekdays = OrDefault<Weekdays>,
    }
    check |input| if from.is_some() && from == to {
        input.problem("to", "must differ from from");
    };
}

impl Form for SendWindow {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let object = value.as_object().ok_or("must be an object")?;
        Self::parse(object).map_err(|problems| problems.to_string())
    }

    crate::form::component!();
}

impl<'de> Deserialize<'de> for SendWindow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl SendWindow {
    /// Whether it is open while the clocks of the place show this (R293).
    pub fn is_open(&self, wall: WallTime) -> bool {
        let (today, minute) = (usize::from(wall.weekday), wall.minute);
        let (from, to) = (self.from.0, self.to.0);
        if from < to {
            return (from..to).contains(&minute) && self.days.has(today);
        }
        (minute >= from && self.days.has(today)) || (minute < to && self.days.has(today + 6))
    }

    /// The first moment from `now` on at which it is open: `now` itself while it is (R293).
    pub fn opens_at(&self, zone: TimeZone, now: Timestamp) -> Timestamp {
        let mut at = now;
        // A change of the clocks on the way takes one more step, and there is at most one a week.
        for _ in 0..8 {
            let wall = zone.wall_time(at);
            if self.is_open(wall) {
                break;
            }
            let shown = at.plus(self.wait_of(wall));
            at = change_of_clocks(zone, at, shown).unwrap_or(shown);
        }
        at
    }

    /// How long until the clocks show its beginning on one of its days, if nobody sets them
    /// meanwhile.
    fn wait_of(&self, wall: WallTime) -> Duration {
        let today = usize::from(wall.weekday);
        let minutes = (0_u16..=7).filter(|days| self.days.has(today + usize::from(*days)));
        let minutes = minutes.map(|days| days * DAY + self.from.0);
        let next = minutes
            .filter_map(|beginning| beginning.checked_sub(wall.minute))
            .find(|wait| *wait > 0);
        let wait = Duration::from_secs(60 * u64::from(next.unwrap_or(DAY)));
        wait.saturating_sub(wall.within)
    }
}

/// The first moment after `from` and not after `to` at which the clocks of a zone are set.
fn change_of_clocks(zone: TimeZone, from: Timestamp, to: Timestamp) -> Option<Timestamp> {
    let mut before = from;
    // Clocks that are set forth and back within a day are set once a day or less often.
    loop {
        let mut after = before.plus(Duration::from_secs(60 * u64::from(DAY))).min(to);
        let offset = zone.offset(before);
        if zone.offset(after) != offset {
            while after.since(before) > Duration::from_millis(1) {
                let middle = before.plus(after.since(before) / 2);
                if zone.offset(middle) == offset { before = middle } else { after = middle }
            }
            return Some(after);
        }
        if after >= to {
            return None;
        }
        before = after;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};
    use serde_json::json;

    use super::*;

    fn window(value: Value) -> SendWindow {
        SendWindow::read(&value).expect("hours")
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a timestamp")
    }

    fn zone(name: &str) -> TimeZone {
        TimeZone::parse(name).expect("a zone")
    }

    /// X16.
    #[test]
    fn hours_are_two_times_of_day_and_days_of_the_week() {
        let all = window(json!({"from": "09:00", "to": "20:00"}));
        let every = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let written = json!({"from": "09:00", "to": "20:00", "days": every});
        assert_eq!(serde_json::to_value(&all).expect("json"), written);
        assert_eq!(serde_json::from_value::<SendWindow>(written).expect("hours"), all);
        for wrong in [
            json!("09:00"),
            json!({"from": "09:00"}),
            json!({"from": "9:00", "to": "20:00"}),
            json!({"from": "24:00", "to": "20:00"}),
            json!({"from": "09:60", "to": "20:00"}),
            json!({"from": "+9:00", "to": "20:00"}),
            json!({"from": "09:00", "to": "09:00"}),
            json!({"from": "09:00", "to": "20:00", "days": []}),
            json!({"from": "09:00", "to": "20:00", "days": ["monday"]}),
            json!({"from": "09:00", "to": "20:00", "day": ["mon"]}),
        ] {
            assert!(SendWindow::read(&wrong).is_err(), "{wrong}");
        }
    }

    /// X16: 2026-11-20 is a Friday.
    #[test]
    fn hours_hold_from_their_beginning_to_their_end_on_their_days() {
        let hours = window(json!({"from": "09:00", "to": "20:00", "days": ["mon", "fri"]}));
        let opens = |now: &str| hours.opens_at(TimeZone::default(), at(now)).to_string();
        assert_eq!(opens("2026-11-20T11:59:59.999Z"), "2026-11-20T12:00:00.000Z");
        assert_eq!(opens("2026-11-20T12:00:00.001Z"), "2026-11-20T12:00:00.001Z");
        assert_eq!(opens("2026-11-20T22:59:59.999Z"), "2026-11-20T22:59:59.999Z");
        assert_eq!(opens("2026-11-20T23:00:00.000Z"), "2026-11-23T12:00:00.000Z");
        let once = window(json!({"from": "09:00", "to": "20:00", "days": ["fri"]}));
        let next = once.opens_at(TimeZone::default(), at("2026-11-20T23:00:00Z"));
        assert_eq!(next, at("2026-11-27T12:00:00Z"), "a week later");
    }

    /// X16: the day of hours over midnight is the one on which they begin.
    #[test]
    fn hours_over_midnight_belong_to_the_day_on_which_they_begin() {
        let hours = window(json!({"from": "22:00", "to": "06:00", "days": ["fri"]}));
        let opens = |now: &str| hours.opens_at(zone("UTC"), at(now)).to_string();
        assert_eq!(opens("2026-11-20T03:00:00Z"), "2026-11-20T22:00:00.000Z");
        assert_eq!(opens("2026-11-21T05:59:59Z"), "2026-11-21T05:59:59.000Z");
        assert_eq!(opens("2026-11-21T06:00:00Z"), "2026-11-27T22:00:00.000Z");
        assert_eq!(opens("2026-11-21T23:00:00Z"), "2026-11-27T22:00:00.000Z");
    }

    /// R293: Lisbon's clocks go from 01:00 to 02:00 on 29 March 2026, and from 02:00 to 01:00 on 25
    /// October.
    #[test]
    fn hours_follow_the_clocks_of_the_place_when_they_are_set() {
        let lisbon = zone("Europe/Lisbon");
        let opens = |from: &str, to: &str, now: &str| {
            window(json!({"from": from, "to": to})).opens_at(lisbon, at(now)).to_string()
        };
        assert_eq!(opens("01:30", "08:00", "2026-03-29T00:00:00Z"), "2026-03-29T01:00:00.000Z");
        assert_eq!(opens("01:15", "01:45", "2026-03-29T00:50:00Z"), "2026-03-30T00:15:00.000Z");
        assert_eq!(opens("09:00", "20:00", "2026-03-28T20:00:00Z"), "2026-03-29T08:00:00.000Z");
        assert_eq!(opens("09:00", "20:00", "2026-10-24T19:00:00Z"), "2026-10-25T09:00:00.000Z");
        assert_eq!(opens("00:30", "01:30", "2026-10-25T00:30:00Z"), "2026-10-25T01:00:00.000Z");
        assert_eq!(opens("01:30", "02:00", "2026-10-25T00:15:00Z"), "2026-10-25T00:30:00.000Z");
        assert_eq!(opens("01:30", "02:00", "2026-10-25T01:00:00Z"), "2026-10-25T01:30:00.000Z");
        // The clocks of São Paulo went from 00:00 to 01:00 on 4 November 2018.
        let night = window(json!({"from": "00:15", "to": "05:00"}));
        let opened = night.opens_at(TimeZone::default(), at("2018-11-04T02:00:00Z"));
        assert_eq!(opened, at("2018-11-04T03:00:00Z"));
    }

    prop_compose! {
        fn windows()(
            from in 0..DAY,
            apart in 1..DAY,
            days in subsequence(Weekday::ALL, 1..=7),
        ) -> SendWindow {
            let to = (from + apart) % DAY;
            SendWindow::new(DayTime(from), DayTime(to)).days(Weekdays(days.into_iter().collect()))
        }
    }

    /// Zones whose clocks are set in other ways: by half an hour, twice a year in both halves of
    /// the world, at midnight, around Ramadan, and not at all.
    const ZONES: &[&str] = &[
        "America/Sao_Paulo",
        "America/New_York",
        "America/St_Johns",
        "Europe/Lisbon",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
        "America/Santiago",
        "Asia/Beirut",
        "Asia/Kathmandu",
        "UTC",
    ];

    const MINUTE: Duration = Duration::from_secs(60);

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// X16, R293: nothing opens before it, and it is open then, over midnight and over every
        /// change of the clocks, as a clock that is looked at each minute shows.
        #[test]
        fn the_next_opening_is_the_first_minute_whose_clock_is_inside(
            hours in windows(),
            name in select(ZONES),
            // From 2015, when São Paulo still had summer time, to 2030.
            minute in 23_668_000_i64..31_558_000,
        ) {
            let (zone, now) = (zone(name), Timestamp::from_millis(minute * 60_000));
            let mut looked = now;
            while !hours.is_open(zone.wall_time(looked)) {
                looked = looked.plus(MINUTE);
                prop_assert!(looked.since(now) < MINUTE * 60 * 24 * 9, "it never opens");
            }
            prop_assert_eq!(hours.opens_at(zone, now), looked);
        }

        /// The same close to changes of the clocks, which random moments seldom meet.
        #[test]
        fn an_opening_close_to_a_change_of_the_clocks_is_found(
            hours in windows(),
            place in select(ZONES),
            day in 16_500_i64..21_900,
            before in 0_u32..4_320,
        ) {
            let zone = zone(place);
            let from = Timestamp::from_millis(day * 86_400_000);
            let year = from.plus(Duration::from_secs(400 * 86_400));
            let Some(change) = change_of_clocks(zone, from, year) else { return Ok(()) };
            let now = change.minus(MINUTE * before);
            let now = Timestamp::from_millis(now.millis() / 60_000 * 60_000);
            let mut looked = now;
            while !hours.is_open(zone.wall_time(looked)) {
                looked = looked.plus(MINUTE);
            }
            prop_assert_eq!(hours.opens_at(zone, now), looked);
        }

        /// Any moment inside a minute opens with it.
        #[test]
        fn a_moment_within_a_minute_waits_no_longer_than_the_minute(
            hours in windows(), minute in 29_000_000_i64..30_000_000, within in 0_i64..60_000,
        ) {
            let zone = TimeZone::default();
            let whole = Timestamp::from_millis(minute * 60_000);
            let now = Timestamp::from_millis(minute * 60_000 + within);
            prop_assert_eq!(hours.opens_at(zone, now), hours.opens_at(zone, whole).max(now));
        }

        #[test]
        fn a_time_of_day_is_read_as_it_is_written(minute in 0..DAY) {
            let time = DayTime(minute);
            prop_assert_eq!(DayTime::parse(&time.to_string()), Some(time));
        }
    }
}
