//! The gateway's ids of people: canonical numbers, LIDs, and the message keys of four versions.

use serde_json::{Value, json};

use super::{EvolutionVersion, State};

/// The channel's form of a number: without the ninth digit where the gateway's rule drops it, in
/// Mexico with a 1 behind the country code.
pub(super) fn canonical(digits: &str) -> String {
    if let (12, Some(national)) = (digits.len(), digits.strip_prefix("52")) {
        return format!("521{national}");
    }
    let bytes = digits.as_bytes();
    let is_mobile = digits.len() == 13 && digits.starts_with("55") && bytes[4] == b'9';
    let ddd: u32 = digits.get(2..4).and_then(|ddd| ddd.parse().ok()).unwrap_or(0);
    if is_mobile && ddd >= 31 && bytes[5] >= b'7' {
        format!("{}{}", &digits[..4], &digits[5..])
    } else {
        digits.to_owned()
    }
}

/// The address of a number.
pub(super) fn jid(digits: &str) -> String {
    format!("{}@s.whatsapp.net", canonical(digits))
}

impl State {
    /// The key of a message with one person.
    pub(super) fn key(&self, digits: &str, id: &str, from_me: bool) -> Value {
        let phone = jid(digits);
        let mut key = json!({"remoteJid": phone, "fromMe": from_me, "id": id, "participant": "",
            "addressingMode": "pn"});
        let Some(lid) = self.lids.get(&canonical(digits)) else { return key };
        key["addressingMode"] = json!("lid");
        match self.version {
            EvolutionVersion::V2_3_3 => {
                key["remoteJid"] = json!(lid);
                if !from_me {
                    key["senderPn"] = json!(phone);
                }
            }
            EvolutionVersion::V2_3_6 => {
                key["remoteJid"] = json!(lid);
                key["remoteJidAlt"] = json!(phone);
            }
            EvolutionVersion::V2_3_7 => key["remoteJidAlt"] = json!(phone),
            EvolutionVersion::V2_4 => key["remoteJidAlt"] = json!(lid),
        }
        key
    }

    /// The key of a group's message from one person.
    pub(super) fn group_key(&self, group: &str, digits: &str, id: &str) -> Value {
        let phone = jid(digits);
        let (participant, other) = match self.lids.get(&canonical(digits)) {
            None => (phone, None),
            Some(lid) if self.version == EvolutionVersion::V2_4 => (phone, Some(lid.clone())),
            Some(lid) => (lid.clone(), Some(phone)),
        };
        let mut key = json!({"remoteJid": group, "fromMe": false, "id": id,
            "participant": participant, "addressingMode": "lid"});
        if let Some(other) = other {
            key["participantAlt"] = json!(other);
        }
        key
    }
}
