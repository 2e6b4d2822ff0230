//! Ids for messages without one, made from their contents: the same line gets the same id in every
//! import, so that a repeated import recognizes it.

use std::collections::HashMap;

use recado_core::ids::CompanyId;
use recado_core::{Cell, Timestamp};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Gives ids to messages.
#[derive(Debug)]
pub(super) struct Identities {
    company: CompanyId,
    /// How many equal lines without an id came so far, by a part of their digest.
    repeated: HashMap<u64, u32>,
}

impl Identities {
    pub(super) fn new(company: CompanyId) -> Self {
        Self { company, repeated: HashMap::new() }
    }

    /// Adds an id to a message that has neither one nor a `wamid`: by its connection and
    /// `external_id`, else by all its fields and the number of equal lines before it (R44).
    pub(super) fn identify(&mut self, body: &mut Map<String, Value>) {
        let is_there = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
        if is_there("id") || is_there("wamid") {
            return;
        }
        let mut digest = Sha256::new();
        digest.update(self.company.uuid().as_bytes());
        let mut at = None;
        if is_there("external_id") {
            let parts = ["connection_id", "external_id"].map(|name| body.get(name));
            digest.update(serde_json::to_vec(&parts).unwrap_or_default());
        } else {
            digest.update(serde_json::to_vec(body).unwrap_or_default());
            let so_far: [u8; 32] = digest.clone().finalize().into();
            let [a, b, c, d, e, f, g, h, ..] = so_far;
            let repeated = self.repeated.entry(u64::from_be_bytes([a, b, c, d, e, f, g, h]));
            let repeated = repeated.and_modify(|count| *count += 1).or_insert(0);
            digest.update(repeated.to_be_bytes());
            let time = |name: &str| Timestamp::parse(body.get(name)?.as_str()?.trim());
            at = time("created_at").or_else(|| time("timestamp"));
        }
        let cell = Cell::of_uuid(self.company.uuid()).unwrap_or_default();
        let id = uuid(cell, at, digest.finalize().into());
        body.insert("id".to_owned(), id.to_string().into());
    }
}

/// An id of a cell with this time, if there is one, so that ids sort like messages.
fn uuid(cell: Cell, at: Option<Timestamp>, digest: [u8; 32]) -> Uuid {
    let millis = at.and_then(|at| u64::try_from(at.millis()).ok()).unwrap_or(0);
    let [a, b, c, d, e, f, g, h, i, j, ..] = digest;
    // Without the bits of version and variant: ids of cell 0 are those that they always were.
    let digest = u128::from_be_bytes([0, 0, 0, 0, 0, 0, a & 0xf, b, c, d, e, f, g, h, i, j]);
    let tail = digest >> 64 << 62 | digest & ((1 << 62) - 1);
    cell.uuid(millis, tail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(bodies: &[Value]) -> Vec<String> {
        let company = CompanyId::parse("0193a5c0-0000-7000-8000-000000000001").expect("an id");
        let mut identities = Identities::new(company);
        let id = |body: &Value| {
            let mut body = body.as_object().cloned().expect("an object");
            identities.identify(&mut body);
            body.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        bodies.iter().map(id).collect()
    }

    /// R44.
    #[test]
    fn the_same_file_gets_the_same_ids_and_every_line_its_own() {
        let bodies = [
            json!({"contact_id": "a", "content": "ok", "timestamp": "2026-01-02T03:04:05Z"}),
            json!({"contact_id": "a", "content": "ok", "timestamp": "2026-01-02T03:04:05Z"}),
            json!({"contact_id": "a", "external_id": "7", "connection_id": "c"}),
            json!({"contact_id": "a", "external_id": "7", "connection_id": "d"}),
        ];
        let first = ids(&bodies);
        assert_eq!(first, ids(&bodies));
        let distinct: std::collections::HashSet<&String> = first.iter().collect();
        assert_eq!(distinct.len(), 4, "{first:?}");
        assert!(
            first.iter().all(|id| Uuid::parse_str(id).is_ok_and(|id| id.get_version_num() == 7))
        );
    }

    /// R44.
    #[test]
    fn an_external_id_stands_for_its_message_whatever_else_is_reported() {
        let bodies = [
            json!({"external_id": "7", "connection_id": "c", "created_at": "2026-01-02T03:04:05Z"}),
            json!({"external_id": "7", "connection_id": "c", "created_at": "2026-01-02T00:00:00Z",
                   "status": "read"}),
        ];
        let ids = ids(&bodies);
        assert_eq!(ids[0], ids[1]);
    }

    /// R44.
    #[test]
    fn messages_with_an_id_of_their_own_keep_it() {
        let ids = ids(&[json!({"id": "x"}), json!({"wamid": "y"})]);
        assert_eq!(ids, ["x", ""]);
    }
}
