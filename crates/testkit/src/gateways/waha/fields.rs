//! The fields that requests may have, and their types.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// What a field has to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// A text.
    Text,
    /// A text that is not empty.
    Filled,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// The address of a chat.
    Chat,
    /// The whole id of a message.
    MessageId,
    /// A file in base64.
    File,
    /// A list of so many objects or texts, at least and at most.
    List(usize, usize),
    /// An object.
    Object,
}

/// A field: its name, its form, whether it must be there.
pub(super) type Field = (&'static str, Form, bool);

/// Checks an object: every field is known and has its form, and none is missing.
pub(super) fn check(value: &Value, fields: &[&[Field]]) -> Result<(), String> {
    let object = value.as_object().ok_or("it is no object")?;
    let known = || fields.iter().flat_map(|some| some.iter());
    if let Some(name) = object.keys().find(|name| !known().any(|(known, ..)| known == name)) {
        return Err(format!("{name} is no field of it"));
    }
    for (name, form, required) in known() {
        match object.get(*name) {
            Some(value) => of_form(value, *form).map_err(|what| format!("{name}: {what}"))?,
            None if *required => return Err(format!("{name} is missing")),
            None => {}
        }
    }
    Ok(())
}

fn of_form(value: &Value, form: Form) -> Result<(), String> {
    let fits = match form {
        Form::Text => value.is_string(),
        Form::Filled => value.as_str().is_some_and(|text| !text.is_empty()),
        Form::Number => value.is_number(),
        Form::Flag => value.is_boolean(),
        Form::Chat => value.as_str().is_some_and(is_chat),
        Form::MessageId => value.as_str().is_some_and(is_message_id),
        Form::File => return check(value, &[&FILE]).and_then(|()| bytes(value).map(|_| ())),
        Form::List(least, most) => {
            value.as_array().is_some_and(|list| (least..=most).contains(&list.len()))
        }
        Form::Object => value.is_object(),
    };
    if fits { Ok(()) } else { Err(format!("it is not {form:?}")) }
}

/// The fields of a file in base64.
const FILE: [Field; 3] = [
    ("mimetype", Form::Filled, true),
    ("filename", Form::Filled, false),
    ("data", Form::Text, true),
];

/// The bytes of a file.
pub(super) fn bytes(file: &Value) -> Result<Vec<u8>, String> {
    let data = file["data"].as_str().ok_or("data is missing")?;
    STANDARD.decode(data).map_err(|_| "data is not base64".to_owned())
}

/// Whether this is the address of a person or a group.
pub(super) fn is_chat(chat: &str) -> bool {
    let Some((user, server)) = chat.split_once('@') else { return false };
    let is_number = !user.is_empty() && user.bytes().all(|byte| byte.is_ascii_digit());
    let is_group = user.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    matches!(server, "c.us" | "lid") && is_number || server == "g.us" && is_group
}

/// Whether this is a whole id: `true_CHAT_RAW`, in a group mostly with the writer behind.
pub(super) fn is_message_id(id: &str) -> bool {
    match id.split('_').collect::<Vec<_>>().as_slice() {
        ["true" | "false", chat, raw] => is_chat(chat) && !raw.is_empty(),
        ["true" | "false", chat, raw, writer] => {
            chat.ends_with("@g.us") && is_chat(chat) && !raw.is_empty() && is_chat(writer)
        }
        _ => false,
    }
}

/// A text of an object, or none.
pub(super) fn text(object: &Map<String, Value>, name: &str) -> String {
    object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
