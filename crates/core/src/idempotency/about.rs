//! The contact that a remembered answer is about (D37).

use serde_json::Value;

use crate::ids::ContactId;

/// JSON pointers to the contact in the body of an answer: of what a call made or sent, and in a
/// refusal's details or at its root. The first one found counts.
const POINTERS: [&str; 4] =
    ["/data/contact_id", "/data/contact/id", "/details/contact_id", "/contact_id"];

/// The contact that the body of an answer is about: the answer is deleted with it (D26).
pub fn contact_of_answer(body: &str) -> Option<ContactId> {
    let body: Value = serde_json::from_str(body).ok()?;
    let id = POINTERS.iter().find_map(|pointer| body.pointer(pointer)?.as_str())?;
    ContactId::parse(id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_names_its_contact_in_four_places() {
        let (one, other) = ("00000000-0000-0000-0000-000000000001", "not an id");
        let found = |body: Value| contact_of_answer(&body.to_string()).map(|id| id.to_string());
        for body in [
            json!({"data": {"contact_id": one}}),
            json!({"data": {"contact": {"id": one}}}),
            json!({"details": {"contact_id": one}}),
            json!({"contact_id": one}),
            json!({"contact_id": other, "data": {"contact_id": one}}),
        ] {
            assert_eq!(found(body.clone()).as_deref(), Some(one), "{body}");
        }
        for body in
            [json!({}), json!({"data": {"id": one}}), json!({"contact_id": other}), json!(5)]
        {
            assert_eq!(found(body.clone()), None, "{body}");
        }
        assert_eq!(contact_of_answer("no JSON"), None);
    }
}
