//! The names that a channel has for a contact (D15, D62).

use std::fmt;

use super::{Contact, Phone, Platform, Region};
use crate::ids::{CompanyId, ContactId};
use crate::secret::masked;

/// The longest name of a contact on a channel.
const MAX_CHARS: usize = 200;

/// A name of a contact on its channel in the form in which names are compared. A phone becomes the
/// same digits in whichever form it is written (D15); a LID, a business-scoped id or a group code
/// is unchanged (R38).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelKey(String);

impl ChannelKey {
    /// The key of a name as a gateway writes it; `None` for what cannot be one.
    ///
    /// `+`, the suffix of a gateway's phone address (`@c.us`, `@s.whatsapp.net`) and the device
    /// that may stand before it (`:12`) are dropped.
    pub fn parse(written: &str) -> Option<Self> {
        let written = written.trim();
        let named = !written.is_empty()
            && written.chars().count() <= MAX_CHARS
            && !written.chars().any(char::is_control);
        if !named {
            return None;
        }
        Some(match (Phone::on_channel(written), phone_digits(written)) {
            (Some(phone), _) => Self::of_phone(&phone),
            (None, Some(digits)) => Self(digits.to_owned()),
            (None, None) => Self(written.to_owned()),
        })
    }

    /// The key of a phone: the same for all forms of one number (D15).
    pub fn of_phone(phone: &Phone) -> Self {
        Self(phone.key_digits())
    }

    /// Takes a stored key back.
    pub const fn from_stored(key: String) -> Self {
        Self(key)
    }

    /// The phone it stands for, if it is one.
    pub fn phone(&self) -> Option<Phone> {
        Phone::on_channel(&self.0)
    }

    /// Every form in which a row may have this name: a number as the channel writes it, too, which
    /// older rows have as alias (D15).
    pub fn forms(&self) -> Vec<String> {
        self.phone().map_or_else(|| vec![self.0.clone()], |phone| phone.aliases())
    }

    /// Whether a stored name is this one, in whichever form.
    pub fn is(&self, stored: &Self) -> bool {
        self == stored || Self::parse(stored.as_str()).as_ref() == Some(self)
    }

    /// The key itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a name is a business-scoped id of the official API: a country, perhaps `ENT`, and an
/// opaque part of letters and digits, as `BR.13491208655302741918` (D62, R138).
pub fn is_scoped_id(name: &str) -> bool {
    let Some((country, rest)) = name.split_once('.') else { return false };
    let rest = rest.strip_prefix("ENT.").unwrap_or(rest);
    country.len() == 2
        && country.bytes().all(|byte| byte.is_ascii_uppercase())
        && (1..=128).contains(&rest.len())
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

impl fmt::Debug for ChannelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        masked(f, "ChannelKey", "***", &self.0)
    }
}

impl Phone {
    /// The phone that a channel's name of somebody is: digits with the country code.
    pub fn on_channel(name: &str) -> Option<Self> {
        Self::parse(&format!("+{}", phone_digits(name.trim())?), &Region::br()).ok()
    }
}

/// The digits of a name that is a phone.
fn phone_digits(written: &str) -> Option<&str> {
    let address = ["@c.us", "@s.whatsapp.net"].iter().find_map(|end| written.strip_suffix(end));
    let bare = address.map_or(written, |address| address.split(':').next().unwrap_or(address));
    let bare = bare.strip_prefix('+').unwrap_or(bare);
    let digits = !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_digit());
    digits.then_some(bare)
}

/// A name by which a contact is found; belongs to one contact per (company, channel) (D62).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The company.
    pub company: CompanyId,
    /// The channel.
    pub platform: Platform,
    /// The name.
    pub key: ChannelKey,
    /// The contact it belongs to.
    pub contact: ContactId,
}

impl Contact {
    /// The numbers by which a contact is known: its phone, and its identifier where that is one.
    /// Groups have none.
    pub fn numbers(&self) -> Vec<Phone> {
        let of_identifier = Phone::on_channel(self.identifier.as_str());
        let numbers = self.phone.clone().into_iter().chain(of_identifier);
        if self.is_group { Vec::new() } else { numbers.collect() }
    }
}

impl Alias {
    /// The alias that a contact is created with: its phone, or its identifier if that can be an
    /// alias. It keeps two contacts from being created at once for one person, in whichever form
    /// each call has the number (D15).
    pub fn at_first(contact: &Contact) -> Option<Self> {
        let of_phone = contact.phone.as_ref().map(ChannelKey::of_phone);
        let of_identifier = || {
            let key = ChannelKey::parse(contact.identifier.as_str())?;
            key.phone().map(|_| key)
        };
        Some(Self {
            company: contact.company,
            platform: contact.source_platform.clone(),
            key: of_phone.or_else(of_identifier)?,
            contact: contact.id,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::contacts::Identifier;
    use crate::{Timestamp, strategies};

    #[test]
    fn a_key_is_printed_without_the_number_it_stands_for() {
        let key = ChannelKey::parse("5511987654321").expect("a key");
        let printed = format!("{key:?}");
        assert!(printed.starts_with("ChannelKey") && !printed.contains("98765"), "{printed}");
    }

    fn at_first(identifier: &str, phone: Option<&str>) -> Option<String> {
        let phone = phone.map(|phone| Phone::parse(phone, &Region::br()).expect("a phone"));
        let contact = Contact::new(
            ContactId::new(Uuid::from_u128(1)),
            CompanyId::new(Uuid::from_u128(2)),
            Platform::whatsapp(),
            Identifier::parse(identifier).expect("an identifier"),
            phone,
            Timestamp::from_millis(0),
        );
        Alias::at_first(&contact).map(|alias| alias.key.as_str().to_owned())
    }

    #[test]
    fn a_contact_is_first_known_by_its_phone() {
        let alias = at_first("5521999990000", Some("+55 11 8765-4321"));
        assert_eq!(alias.as_deref(), Some("5511987654321"));
    }

    #[test]
    fn without_a_phone_an_identifier_that_is_one_counts_in_its_canonical_form() {
        assert_eq!(at_first("551187654321", None).as_deref(), Some("5511987654321"));
    }

    #[test]
    fn other_identifiers_are_found_as_they_are() {
        for identifier in ["1203630@g.us", "1234567890@lid", "BR.77", "12"] {
            assert_eq!(at_first(identifier, None), None, "{identifier}");
        }
    }

    fn key(written: &str) -> String {
        ChannelKey::parse(written).expect("a name").as_str().to_owned()
    }

    /// D15, R38.
    #[test]
    fn the_forms_of_a_mexican_and_of_an_argentine_number_are_one_key() {
        for (key_digits, written) in [
            ("525512345678", ["525512345678", "5215512345678@c.us", "+5215512345678"]),
            ("5491123456789", ["541123456789", "5491123456789@s.whatsapp.net", "+541123456789"]),
        ] {
            for written in written {
                assert_eq!(key(written), key_digits, "{written}");
                let stored = ChannelKey::from_stored(written.to_owned());
                assert!(ChannelKey::parse(written).expect("a name").is(&stored), "{written}");
            }
        }
        let lid = ChannelKey::from_stored("525512345678@lid".to_owned());
        assert!(lid.is(&lid) && !ChannelKey::parse("525512345678").expect("a name").is(&lid));
        assert_eq!(lid.forms(), ["525512345678@lid"]);
        let mexican = ChannelKey::parse("5215512345678").expect("a name");
        assert_eq!(mexican.forms(), ["525512345678", "5215512345678"]);
    }

    /// R38.
    #[test]
    fn every_way_a_gateway_writes_a_phone_is_one_key() {
        for written in [
            "5534991230001",
            "553491230001",
            "+5534991230001",
            " 553491230001@c.us",
            "553491230001@s.whatsapp.net",
            "553491230001:12@s.whatsapp.net",
        ] {
            assert_eq!(key(written), "5534991230001", "{written}");
        }
    }

    #[test]
    fn what_is_no_phone_stands_as_it_is() {
        for written in ["123456@lid", "BR.13491208655302741918", "120363041@g.us", "12:3@lid"] {
            assert_eq!(key(written), written);
            assert_eq!(ChannelKey::parse(written).and_then(|key| key.phone()), None);
        }
    }

    /// D62.
    #[test]
    fn scoped_ids_are_told_from_phones_lids_and_names_of_other_systems() {
        for (name, is_one) in [
            ("BR.13491208655302741918", true),
            ("BR.ENT.13491208655302741918", true),
            ("5534991234567", false),
            ("123@lid", false),
            ("br.1", false),
            ("BR.", false),
            ("BR.ENT.", false),
            ("BR.a b", false),
            ("SP.loja-1", false),
        ] {
            assert_eq!(is_scoped_id(name), is_one, "{name}");
        }
    }

    #[test]
    fn what_is_no_name_has_no_key() {
        for written in ["", "  ", "a\u{0}b"] {
            assert_eq!(ChannelKey::parse(written), None);
        }
    }

    proptest! {
        #[test]
        fn both_forms_of_a_mobile_have_the_key_of_the_phone(phone in strategies::brazilian_mobiles()) {
            for alias in phone.aliases() {
                prop_assert_eq!(ChannelKey::parse(&alias), Some(ChannelKey::of_phone(&phone)));
            }
        }

        #[test]
        fn a_key_is_read_as_itself(written in ".{0,40}") {
            if let Some(key) = ChannelKey::parse(&written) {
                prop_assert_eq!(ChannelKey::parse(key.as_str()), Some(key.clone()));
            }
        }
    }
}
