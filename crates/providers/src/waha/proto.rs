//! A message in the channel's own form, which engines without a browser report in `_data`.

use serde_json::Value;

use crate::shared::at;
pub(super) use crate::shared::proto::{fields, first, unwrapped, variant, whole};

/// The message in the channel's own form, on engines that report it.
pub(super) fn proto(payload: &Value) -> Option<&Value> {
    let data = payload.get("_data")?;
    let message = ["message", "Message"]
        .into_iter()
        .find_map(|name| data.get(name).filter(|message| message.is_object()))?;
    Some(unwrapped(message))
}

/// What a message refers to: the context of the first field that has one.
pub(super) fn context(proto: &Value) -> Option<&Value> {
    let mut fields = proto.as_object()?.values();
    fields.find_map(|field| at(field, &["contextInfo"]))
}
