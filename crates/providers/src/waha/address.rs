//! Addresses of people and groups on the channel, as WAHA's engines write them.

use recado_core::groups::GroupCode;

use crate::shared::digits;

/// The suffix of groups on the channel; installations may use another one.
pub(super) const GROUPS: &str = "g.us";
/// The longest number of a person.
const MAX_DIGITS: usize = 30;

/// The meaning of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChatAddress {
    /// A person: the digits of a phone, or a LID with its suffix.
    Person(String),
    /// A group: its id without a suffix.
    Group(String),
    /// No person or group: broadcasts, newsletters, bots, the channel itself.
    Nobody,
}

impl ChatAddress {
    /// Reads an address; `None` if it is not one. A device in it is dropped.
    pub(super) fn parse(written: &str) -> Option<Self> {
        let (user, server) = written.split_once('@').unwrap_or((written, "c.us"));
        let number = || {
            let bare = user.split([':', '.']).next().unwrap_or(user);
            digits(bare).filter(|bare| bare.len() <= MAX_DIGITS)
        };
        match server {
            "c.us" | "s.whatsapp.net" | "hosted" => Some(match number()? {
                // The channel's own announcements.
                "0" => Self::Nobody,
                phone => Self::Person(phone.to_owned()),
            }),
            "lid" | "hosted.lid" => Some(Self::Person(format!("{}@lid", number()?))),
            GROUPS => GroupCode::parse(written, GROUPS).map(|_| Self::Group(user.to_owned())),
            "broadcast" | "newsletter" | "bot" | "call" => Some(Self::Nobody),
            // It may be a new sort of person.
            _ => None,
        }
    }

    /// The person's name, if it is a person.
    pub(super) fn person(written: &str) -> Option<String> {
        match Self::parse(written)? {
            Self::Person(name) => Some(name),
            Self::Group(_) | Self::Nobody => None,
        }
    }
}

/// The chat of a person, in WAHA's form.
pub(super) fn chat_of(person: &str) -> String {
    if person.contains('@') { person.to_owned() } else { format!("{person}@c.us") }
}

/// The chat of a group, whatever suffix its code has.
pub(super) fn chat_of_group(code: &GroupCode) -> String {
    let id = code.as_str().rsplit_once('@').map_or(code.as_str(), |(id, _)| id);
    format!("{id}@{GROUPS}")
}

/// The code of a group, with the installation's suffix (D2).
pub(super) fn code_of(id: &str, suffix: &str) -> GroupCode {
    GroupCode::from_stored(format!("{id}@{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str) -> Option<ChatAddress> {
        Some(ChatAddress::Person(name.to_owned()))
    }

    #[test]
    fn people_are_digits_or_lids_without_their_device() {
        for written in [
            "553491234567",
            "553491234567@c.us",
            "553491234567@s.whatsapp.net",
            "553491234567:12@s.whatsapp.net",
            "553491234567.0:12@s.whatsapp.net",
        ] {
            assert_eq!(ChatAddress::parse(written), person("553491234567"), "{written}");
        }
        assert_eq!(ChatAddress::parse("123:4@lid"), person("123@lid"));
    }

    #[test]
    fn nobody_can_write_to_broadcasts_newsletters_and_the_channel() {
        for written in
            ["status@broadcast", "1@broadcast", "12@newsletter", "0@c.us", "1@bot", "1@call"]
        {
            assert_eq!(ChatAddress::parse(written), Some(ChatAddress::Nobody), "{written}");
        }
        for written in ["", "@c.us", "maria", "maria@c.us", "@g.us", "a b@g.us", "x@lid", "1@other"]
        {
            assert_eq!(ChatAddress::parse(written), None, "{written}");
        }
    }

    #[test]
    fn groups_have_the_suffix_of_the_installation_here_and_that_of_the_channel_there() {
        let written = "12036-3000@g.us";
        let Some(ChatAddress::Group(id)) = ChatAddress::parse(written) else { panic!("a group") };
        let code = code_of(&id, "groups.example");
        assert_eq!(code.as_str(), "12036-3000@groups.example");
        assert_eq!(chat_of_group(&code), written);
    }
}
