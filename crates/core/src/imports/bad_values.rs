//! Values of a row that are left out because they are refused (R289).

use serde_json::{Map, Value};

use crate::contacts::ImportedContact;
use crate::error::Rejection;
use crate::ids::CustomFieldId;

/// Fields whose bad values refuse their row: without them another person would be meant, or one who
/// must not be written to would be written to (R289).
const NEVER_SKIPPED: [&str; 7] = [
    "phone",
    "identifier",
    "source_platform",
    "is_group",
    "external_chat_id",
    "is_blocked",
    "opted_out_at",
];

/// A value that was left out, and why.
pub type Skipped = (String, String);

/// Takes the values that were refused out of the body and remembers them; false if one of them may
/// not be left out, and then nothing is taken out (R289).
pub fn without_bad_values(
    body: &mut Map<String, Value>,
    rejection: &impl Rejection,
    skipped: &mut Vec<Skipped>,
) -> bool {
    let details = rejection.details().unwrap_or_default();
    let Some(reasons) = details.get("reasons").and_then(Value::as_object) else { return false };
    let text = |reason: &Value| reason.as_str().unwrap_or_default().to_owned();
    let custom: Vec<String> = details
        .get("custom_fields")
        .and_then(Value::as_array)
        .map(|keys| keys.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let may_go = |field: &str| match field {
        // A key that is no id names a field that does not exist: nothing says where its values go.
        "custom_fields" => {
            !custom.is_empty() && custom.iter().all(|key| CustomFieldId::parse(key).is_some())
        }
        field => ImportedContact::FIELDS.contains(&field) && !NEVER_SKIPPED.contains(&field),
    };
    let has = |field: &str| body.contains_key(field);
    if reasons.is_empty() || details.contains_key("more") {
        return false;
    }
    if !reasons.keys().all(|field| may_go(field) && has(field)) {
        return false;
    }
    for (field, reason) in reasons {
        match (field.as_str(), body.get_mut(field)) {
            ("custom_fields", Some(Value::Object(values))) => {
                for key in &custom {
                    values.remove(key);
                    skipped.push((format!("custom_fields.{key}"), text(reason)));
                }
            }
            (field, _) => {
                body.remove(field);
                skipped.push((field.to_owned(), text(reason)));
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Problems;

    fn left(body: Value, bad: &[&str]) -> Option<(Value, usize)> {
        let mut body = body.as_object().cloned().expect("an object");
        let mut problems = Problems::new();
        bad.iter().for_each(|field| problems.add(*field, "is wrong"));
        let mut skipped = Vec::new();
        without_bad_values(&mut body, &problems, &mut skipped)
            .then_some((Value::Object(body), skipped.len()))
    }

    /// R289.
    #[test]
    fn a_bad_value_is_left_out_unless_it_says_who_is_meant_or_may_be_written_to() {
        let body = || json!({"phone": "1", "email": "x", "cpf": "y", "opted_out_at": "z"});
        let rest = json!({"phone": "1", "opted_out_at": "z"});
        assert_eq!(left(body(), &["email", "cpf"]), Some((rest, 2)));
        for never in ["phone", "opted_out_at"] {
            assert_eq!(left(body(), &["email", never]), None, "{never}");
        }
        assert_eq!(left(body(), &["e-mail"]), None, "a key that is no field");
        assert_eq!(left(body(), &[]), None);
    }
}
