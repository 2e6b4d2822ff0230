//! The body of a campaign, out of the form and as text for it.

use chrono::NaiveDateTime;
use recado_core::Timestamp;
use recado_core::access::TimeZone;
use recado_core::campaigns::CampaignRecord;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::fields::Fields;

/// How a browser writes a date with an hour.
const LOCAL: &str = "%Y-%m-%dT%H:%M";

/// The JSON of a part; empty for none.
pub(super) fn json_text(part: &impl Serialize) -> String {
    match serde_json::to_value(part) {
        Ok(Value::Null) | Err(_) => String::new(),
        Ok(Value::Array(all)) if all.is_empty() => String::new(),
        Ok(value) => serde_json::to_string_pretty(&value).unwrap_or_default(),
    }
}

/// The variables as lines of `name = text`; as JSON where a text has lines of its own.
pub(super) fn variables_text(record: &CampaignRecord) -> String {
    let Ok(Value::Object(all)) = serde_json::to_value(&record.variables) else {
        return String::new();
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if all.values().any(|value| text(value).contains('\n')) {
        return json_text(&all);
    }
    all.iter().map(|(name, value)| format!("{name} = {}\n", text(value))).collect()
}

/// Lines of `name = text` or JSON as an object.
fn variables(text: &str) -> Value {
    if text.trim_start().starts_with('{') && !text.trim_start().starts_with("{contact") {
        return json(text);
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let entry = |line: &str| {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        (name.trim().to_owned(), Value::from(value.trim()))
    };
    Value::Object(lines.map(entry).collect())
}

/// A text as JSON; what is none stays a text, which the core refuses.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// A moment as the clocks of the zone show it, for the form.
pub(super) fn local_text(zone: TimeZone, at: Timestamp) -> String {
    let shown = at.millis() + i64::from(zone.offset(at)) * 1_000;
    chrono::DateTime::from_timestamp_millis(shown)
        .map_or_else(String::new, |at| at.format(LOCAL).to_string())
}

/// A date with an hour, as the clocks of the zone show it, as a moment; what is none stays a text.
fn moment(zone: TimeZone, text: &str) -> Value {
    let Ok(local) = NaiveDateTime::parse_from_str(text, LOCAL) else { return Value::from(text) };
    let local = local.and_utc().timestamp_millis();
    let less = |at: i64| i64::from(zone.offset(Timestamp::from_millis(at))) * 1_000;
    let guess = local - less(local);
    Value::from(Timestamp::from_millis(local - less(guess)).to_string())
}

/// The body that the core reads. Of a change, what is left blank is cleared.
pub(super) fn body(form: &Fields, zone: TimeZone, is_change: bool) -> Map<String, Value> {
    let blank = is_change.then_some(Value::Null);
    let part = |name: &str, read: &dyn Fn(&str) -> Value| {
        form.get(name).and_then(|_| form.filled(name).map(read).or_else(|| blank.clone()))
    };
    let as_text = |text: &str| Value::from(text);
    let body = form.body().text("name").text("template_id").optional("list_id");
    let body = body.number("messages_per_second");
    body.put("connection_id", part("connection_id", &as_text))
        .put("variables", part("variables", &variables))
        .put("header", part("header", &json))
        .put("buttons", part("buttons", &json))
        .put("prosas_per_message", part("prosas_per_message", &json))
        .put("cost_brl_per_message", part("cost_brl_per_message", &json))
        .put("scheduled_at", part("scheduled_at", &|text| moment(zone, text)))
        .put("send_between", part("send_between", &json))
        .put("stop_after_failures", part("stop_after_failures", &json))
        .finish()
}
