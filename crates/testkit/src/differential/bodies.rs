//! Bodies and parameters made from a command's numbers.

use serde_json::{Value, json};

use super::command::Command;
use super::pools;
use super::world::World;
use crate::TestClock;

/// A body that creates or changes a contact.
pub(super) fn draft(command: &Command, world: &World) -> Value {
    let mut draft = json!({});
    if command.once_in(10, 2) {
        draft["name"] = json!(command.pick(11, pools::NAMES));
    }
    if command.once_in(12, 3) {
        draft["email"] = match command.number(13) % 6 {
            0 => Value::Null,
            _ => json!(command.pick(14, pools::EMAILS)),
        };
    }
    if command.once_in(15, 4) {
        draft["cnpj"] = json!(command.pick(16, pools::CNPJS));
    }
    if command.once_in(17, 3) {
        draft["list_ids"] = json!(world.ids_of("list", command, 18, 3));
    }
    if command.once_in(22, 3) {
        let fields = world.ids_of("field", command, 23, 3);
        let values = (0..).map(|n| json!(command.pick(28 + n, pools::VALUES)));
        draft["custom_fields"] = Value::Object(fields.into_iter().zip(values).collect());
    }
    if command.once_in(34, 12) {
        draft["cpf"] = json!("52998224725");
        draft["birthday"] = json!("1990-02-28");
        draft["postal_code"] = json!("38400-100");
    }
    if command.once_in(35, 30) {
        draft["unknown"] = json!(1);
    }
    draft
}

/// A body of an import.
pub(super) fn import(command: &Command, world: &World) -> Value {
    let mut new = draft(command, world);
    for key in ["list_ids", "cnpj"] {
        new.as_object_mut().and_then(|new| new.remove(key));
    }
    match command.number(1) % 3 {
        0 => new["phone"] = json!(format!("3498{:06}", command.number(2) % 300)),
        1 => new["identifier"] = json!(command.pick(3, pools::IDENTIFIERS)),
        _ => new["identifier"] = json!(format!("lid {}", command.number(4))),
    }
    if command.once_in(5, 3) {
        new["source_platform"] = json!(command.pick(6, pools::PLATFORMS));
    }
    let time = |n: usize| {
        let millis = TestClock::START.millis() - (command.number(n) % 5) as i64 * 1000;
        json!(recado_core::Timestamp::from_millis(millis).to_string())
    };
    if command.once_in(40, 2) {
        new["last_message_at"] = time(41);
    }
    if command.once_in(42, 4) {
        new["created_at"] = time(43);
    }
    if command.once_in(44, 3) {
        new["inbox_status"] = json!(command.pick(45, pools::INBOX));
    }
    if command.once_in(46, 2) {
        new["crm_status"] = json!(command.pick(47, pools::CRM));
    }
    if command.once_in(48, 3) {
        new["is_group"] = json!(command.once_in(49, 2));
        new["is_ai_enabled"] = json!(command.once_in(50, 2));
    }
    if command.once_in(51, 4) {
        new["tag_ids"] = json!(world.ids_of("tag", command, 52, 3));
    }
    for (n, key, kind) in [
        (56, "assigned_to_member_id", "member"),
        (58, "last_close_reason_id", "reason"),
        (60, "organization_id", "organization"),
    ] {
        if command.once_in(n, 6) {
            new[key] = json!(world.id(kind, command, n + 1));
        }
    }
    new
}

/// The parameters of a listing.
pub(super) fn filters(command: &Command, world: &World) -> Vec<(String, String)> {
    let mut params = Vec::new();
    let mut give = |n: usize, times: usize, name: &str, value: &str| {
        if command.once_in(n, times) {
            params.push((name.to_owned(), value.to_owned()));
        }
    };
    let switch = |n: usize| if command.once_in(n, 2) { "true" } else { "false" };
    give(10, 2, "search", command.pick(11, pools::SEARCHES));
    give(12, 5, "source_platform", command.pick(13, pools::PLATFORMS));
    give(14, 5, "inbox_status", command.pick(15, pools::INBOX));
    give(16, 5, "pipeline_stage_id", &world.id("stage", command, 17));
    give(18, 5, "crm_status", command.pick(19, pools::CRM));
    give(20, 6, "is_ai_enabled", switch(21));
    give(22, 6, "is_group", switch(23));
    give(30, 5, "list_id", &world.id("list", command, 31));
    give(32, 5, "tag_id", &world.id("tag", command, 33));
    let to =
        if command.once_in(35, 2) { "none".to_owned() } else { world.id("member", command, 36) };
    give(34, 5, "assigned_to", &to);
    give(37, 5, "unread", switch(38));
    let since = |n: usize| {
        let millis = crate::TestClock::START.millis() + 1_000 * command.number(n) as i64 % 100_000;
        recado_core::Timestamp::from_millis(millis).to_string()
    };
    give(39, 6, "updated_since", &since(40));
    give(41, 6, "active_since", &since(42));
    give(24, 3, "include", "link_clicks");
    give(26, 2, "limit", &(1 + command.number(27) % 7).to_string());
    params
}
