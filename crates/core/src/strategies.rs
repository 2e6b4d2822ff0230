//! Proptest strategies for the value types and for records, for the tests of this crate and of
//! others. docs/testing-your-rules.md shows properties made of them.

mod messaging;
mod records;
mod shown;

use proptest::prelude::*;
use proptest::sample::select;

use crate::contacts::{Birthday, Cpf, Email, Phone, PostalCode, Region};
use crate::organizations::Cnpj;

pub use messaging::{failures, gateway_events, messages, provider_ids, texts};
pub use records::{
    acts, company, contacts, conversation_states, deals, ids, ledgers, templates, times,
};
pub use shown::{Shown, shown};

/// The area codes of Brazil.
pub const AREA_CODES: [u8; 67] = [
    11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 27, 28, 31, 32, 33, 34, 35, 37, 38, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 51, 53, 54, 55, 61, 62, 63, 64, 65, 66, 67, 68, 69, 71, 73, 74, 75, 77,
    79, 81, 82, 83, 84, 85, 86, 87, 88, 89, 91, 92, 93, 94, 95, 96, 97, 98, 99,
];

/// Regions with a numbering plan, Brazil most often.
pub fn regions() -> impl Strategy<Value = Region> {
    let others = select(vec!["US", "PT", "GB", "DE", "AR", "IT", "JP", "MX", "KZ", "BY"]);
    prop_oneof![
        Just(Region::br()),
        others.prop_map(|code| Region::parse(code).expect("the region has a numbering plan")),
    ]
}

/// A phone number as somebody wrote it, and what it is.
#[derive(Clone, Debug)]
pub struct WrittenPhone {
    /// The notation; without `+` it is a Brazilian one.
    pub input: String,
    /// The number in E.164.
    pub e164: String,
}

/// Brazilian landlines and mobiles, these with and without their ninth digit, in the notations
/// in use.
pub fn written_phones() -> impl Strategy<Value = WrittenPhone> {
    let local = prop_oneof![
        "[2-5][0-9]{7}".prop_map(|local| (local.clone(), local)),
        "[6-9][0-9]{7}".prop_map(|local| (format!("9{local}"), local)),
        "9[0-9]{8}".prop_map(|local| (local.clone(), local)),
    ];
    (select(&AREA_CODES[..]), local, 0..10_usize, select(vec![12, 15, 21, 31, 41, 55])).prop_map(
        |(area, (full, local), notation, carrier)| {
            let (start, end) = local.split_at(local.len() - 4);
            let input = match notation {
                0 => format!("+55{area}{local}"),
                1 => format!("+55 ({area}) {start}-{end}"),
                2 => format!("55{area}{local}"),
                3 => format!("{area}{local}"),
                4 => format!("({area}) {start}-{end}"),
                5 => format!("0{area} {start} {end}"),
                6 => format!("0 {carrier} {area} {start}-{end}"),
                7 => format!("5555{area}{local}"),
                8 => format!("+55 (0{area}) {start}.{end}"),
                _ => format!("  55 {area} {start} {end} "),
            };
            WrittenPhone { input, e164: format!("+55{area}{full}") }
        },
    )
}

/// Brazilian mobiles that the channel may have registered without their ninth digit.
pub fn brazilian_mobiles() -> impl Strategy<Value = Phone> {
    (select(&AREA_CODES[..]), "9[6-9][0-9]{7}")
        .prop_map(|(area, local)| phone(&format!("+55{area}{local}")))
}

/// Phones of several countries, most of them Brazilian.
pub fn phones() -> impl Strategy<Value = Phone> {
    let abroad = prop_oneof![
        "[+]1(202|212|305|415)[2-9][0-9]{2}[0-9]{4}",
        "[+]3519[136][0-9]{7}",
        "[+]447400[0-9]{6}",
        "[+]491511[0-9]{7}",
        "[+]54911[2-6][0-9]{7}",
        "[+]5411[2-6][0-9]{7}",
        "[+]5255[0-9]{8}",
        "[+]3361[0-9]{7}",
        "[+]39347[0-9]{7}",
        "[+]8190[1-9][0-9]{7}",
    ];
    prop_oneof![
        2 => written_phones().prop_map(|written| phone(&written.e164)),
        1 => brazilian_mobiles(),
        1 => abroad.prop_map(|number| phone(&number)),
    ]
}

fn phone(e164: &str) -> Phone {
    Phone::parse(e164, &Region::br()).expect("the strategy makes valid numbers")
}

/// E-mail addresses.
pub fn emails() -> impl Strategy<Value = Email> {
    "[a-z0-9][a-z0-9._+-]{0,20}@[a-z0-9]{1,10}([.-][a-zçã0-9]{1,8}){0,3}"
        .prop_map(|address| Email::parse(&address).expect("the strategy makes valid addresses"))
}

/// CPFs with right check digits.
pub fn cpfs() -> impl Strategy<Value = Cpf> {
    "[0-9]{9}"
        .prop_filter("one repeated digit is refused", |base| varied(base))
        .prop_map(|base| with_check_digits(&base, |number| Cpf::parse(number).ok()))
}

/// CNPJs of digits and of digits and letters, with right check digits.
pub fn cnpjs() -> impl Strategy<Value = Cnpj> {
    prop_oneof!["[0-9]{12}", "[0-9A-Z]{8}[0-9]{4}", "[0-9A-Z]{12}"]
        .prop_filter("one repeated digit is refused", |base| varied(base))
        .prop_map(|base| with_check_digits(&base, |number| Cnpj::parse(number).ok()))
}

/// The number with the one pair of check digits that is accepted.
fn with_check_digits<T>(base: &str, parse: impl Fn(&str) -> Option<T>) -> T {
    (0..100)
        .find_map(|digits| parse(&format!("{base}{digits:02}")))
        .expect("one pair of check digits fits")
}

fn varied(base: &str) -> bool {
    base.chars().any(|c| !base.starts_with(c))
}

/// Postal codes.
pub fn postal_codes() -> impl Strategy<Value = PostalCode> {
    "[0-9]{8}".prop_map(|code| PostalCode::parse(&code).expect("eight digits are a postal code"))
}

/// Names of people as they are written in Brazil and elsewhere, trimmed.
pub fn names() -> impl Strategy<Value = String> {
    "[A-ZÁÉÍÓÚÂÊÔÃÕÇÑØŁ][a-záéíóúâêôãõàçñüßøł]{0,11}( [A-ZÁÉÍÓÚÂÊÔÃÕÇ]['’-]?[a-záéíóúâêôãõç]{0,11}){0,4}"
}

/// Birthdays of people who may be alive.
pub fn birthdays() -> impl Strategy<Value = Birthday> {
    (1900..=2025_i32, 1..=366_u32).prop_filter_map("the year has fewer days", |(year, day)| {
        chrono::NaiveDate::from_yo_opt(year, day).and_then(Birthday::from_date)
    })
}
