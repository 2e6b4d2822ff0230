//! Phone numbers (D14): E.164, as the numbering plans have them. The other forms in which channels
//! write them are in `phone_forms.rs` (D15).

use std::fmt;

use rlibphonenumber::Region as LibRegion;
use rlibphonenumber::{PHONE_NUMBER_UTIL, PhoneNumber, PhoneNumberFormat};
use serde::{Serialize, Serializer};

use super::phone_forms;
use super::region::Region;
use crate::secret::masked;

/// The longest input that is read; longer ones are not phone numbers in any notation.
const MAX_INPUT_CHARS: usize = 64;
/// The fewest digits, with country code, in any country's plan.
const MIN_DIGITS: usize = 6;
/// Most digits with country code (E.164).
const MAX_DIGITS: usize = 15;
const BRAZIL: &str = "55";

/// Why an input is not a phone number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhoneError {
    /// Nothing but white space.
    #[error("must not be empty")]
    Empty,
    /// Longer than any notation of a phone number.
    #[error("must have at most 64 characters")]
    TooLong,
    /// A letter, an extension mark or another character that phone numbers are not written with.
    #[error("must be written with digits, spaces and + - . ( ) / only")]
    Character,
    /// Not a valid number, neither a national nor an international one.
    #[error("must be a valid phone number")]
    Invalid,
    /// A stored value that is not `+` and digits.
    #[error("must be + and 6 to 15 digits")]
    Malformed,
}

/// A valid phone number in E.164 with its `+` (D14), a Brazilian mobile always with the ninth
/// digit and a Mexican one without the former 1 (D15). Two notations of one number are equal, but
/// for Argentine ones: whether their 9 belongs to them cannot be told from their digits, so both
/// ways are kept as they were given. Whether two phones are one number is decided by
/// [`ChannelKey::of_phone`](super::ChannelKey::of_phone). `Debug` hides most digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Phone(String);

impl Phone {
    /// Reads a number as people and systems write it (D14).
    ///
    /// With `+` it is international. Without, it is a national number of `region` (trunk and
    /// carrier prefixes allowed); if there is no such number, one that begins with the region's
    /// country code; and for Brazil at last one whose country code was written twice. A number in
    /// a form of the channel's own gets that of its plan before it is checked (D15). `parse` of the
    /// result is the same phone, in any region.
    ///
    /// # Errors
    ///
    /// [`PhoneError`] when the input holds letters, an extension or anything else that is no part
    /// of a number, or when no reading is valid by the numbering plans.
    pub fn parse(input: &str, region: &Region) -> Result<Self, PhoneError> {
        let written = PhoneInput::read(input)?;
        let number = if written.international {
            international(&written.digits).or_else(|| doubled(&written.digits))
        } else {
            national(&written.digits, region)
        };
        number.ok_or(PhoneError::Invalid)
    }

    /// The digits of an input that is written as numbers are, without its punctuation; `None` for
    /// anything else.
    pub(super) fn written_digits(input: &str) -> Option<String> {
        PhoneInput::read(input).ok().map(|written| written.digits)
    }

    /// Takes a stored number back. Only its form is examined: numbering plans change, and what
    /// was valid when it was stored stays readable.
    ///
    /// # Errors
    ///
    /// [`PhoneError::Malformed`] when it is not `+` and 6 to 15 digits.
    pub fn from_stored(stored: String) -> Result<Self, PhoneError> {
        let digits = stored.strip_prefix('+').ok_or(PhoneError::Malformed)?;
        let right_length = (MIN_DIGITS..=MAX_DIGITS).contains(&digits.len());
        if !right_length || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(PhoneError::Malformed);
        }
        Ok(Self(stored))
    }

    /// E.164, with `+`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// E.164 without `+`: the `identifier` of a contact made by API (D15).
    pub fn digits(&self) -> &str {
        &self.0[1..]
    }

    /// The customary international notation, as `+55 34 99123-4567`.
    pub fn international(&self) -> String {
        match PhoneNumber::parse(&self.0, None) {
            Ok(number) => number.format_as(PhoneNumberFormat::International).into_owned(),
            Err(_) => self.0.clone(),
        }
    }

    /// The country, or `None` for a number that belongs to none (such as `+800`).
    pub fn country(&self) -> Option<Region> {
        let number = PhoneNumber::parse(&self.0, None).ok()?;
        let plan = number.get_region_code()?;
        Region::parse(&plan.as_region_str())
    }

    /// Every digit form under which the channel, a caller or an older row may have this number, its
    /// own digits first (D15).
    pub fn aliases(&self) -> Vec<String> {
        let mut aliases = vec![self.digits().to_owned()];
        for form in phone_forms::all(&self.in_plan()) {
            if !aliases.contains(&form) {
                aliases.push(form);
            }
        }
        aliases
    }

    /// The same as phones, for finding rows by what is stored of them.
    pub fn forms(&self) -> Vec<Self> {
        self.aliases().into_iter().map(|digits| Self(format!("+{digits}"))).collect()
    }

    /// The digits by which the number is compared: alike for all of its forms.
    pub(super) fn key_digits(&self) -> String {
        phone_forms::key(&self.in_plan())
    }

    /// The digits as the numbering plan has them: an older row may have others.
    fn in_plan(&self) -> String {
        let read = || international(self.digits()).map(|phone| phone.digits().to_owned());
        let known = phone_forms::may_differ(self.digits()).then(read).flatten();
        known.unwrap_or_else(|| self.digits().to_owned())
    }
}

impl fmt::Display for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits();
        let hidden = digits.len() - 4;
        let stars = "*".repeat(hidden);
        let mask = format!("+{}{stars}{}", &digits[..2], &digits[2 + hidden..]);
        masked(f, "Phone", mask, &self.as_str())
    }
}

impl Serialize for Phone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The digits of an input, without its punctuation.
struct PhoneInput {
    international: bool,
    digits: String,
}

impl PhoneInput {
    fn read(input: &str) -> Result<Self, PhoneError> {
        let input = input.trim();
        if input.is_empty() {
            return Err(PhoneError::Empty);
        }
        if input.chars().count() > MAX_INPUT_CHARS {
            return Err(PhoneError::TooLong);
        }
        let mut international = false;
        let mut digits = String::with_capacity(input.len());
        for c in input.chars() {
            match c {
                '0'..='9' => digits.push(c),
                '+' | '\u{ff0b}' if digits.is_empty() && !international => international = true,
                _ if is_punctuation(c) => {}
                _ => digits.push(other_digit(c).ok_or(PhoneError::Character)?),
            }
        }
        if digits.is_empty() {
            Err(PhoneError::Invalid)
        } else {
            Ok(Self { international, digits })
        }
    }
}

/// The characters that libphonenumber treats as punctuation (less the letter x), tabs, and the
/// invisible direction marks that address books put around copied numbers. Letters are not included
/// (R13).
fn is_punctuation(c: char) -> bool {
    match c {
        '\t' | '-' | '.' | '(' | ')' | '[' | ']' | '/' | '~' => true,
        '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => true,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{30fc}' | '\u{2053}' | '\u{223c}' => true,
        '\u{ff08}' | '\u{ff09}' | '\u{ff0d}'..='\u{ff0f}' | '\u{ff3b}' | '\u{ff3d}' => true,
        '\u{ff5e}' => true,
        _ => c.is_whitespace() && !c.is_control(),
    }
}

/// The ASCII digit of a full-width, Arabic, Persian or Devanagari one.
fn other_digit(c: char) -> Option<char> {
    const ZEROS: [u32; 4] = [0xff10, 0x660, 0x6f0, 0x966];
    let digit =
        ZEROS.into_iter().find_map(|zero| u32::from(c).checked_sub(zero).filter(|d| *d < 10))?;
    char::from_digit(digit, 10)
}

fn national(digits: &str, region: &Region) -> Option<Phone> {
    let code = PHONE_NUMBER_UTIL.get_country_code_for_region(region.plan)?.to_string();
    reading(digits, Some(region.plan))
        .or_else(|| if digits.starts_with(&code) { international(digits) } else { None })
        .or_else(|| if code == BRAZIL { doubled(digits) } else { None })
}

fn international(digits: &str) -> Option<Phone> {
    reading(&format!("+{digits}"), None)
}

/// The number behind a Brazilian country code that is written twice. Only where the second 55
/// cannot be an area code, because with it the national number would have twelve digits or more.
fn doubled(digits: &str) -> Option<Phone> {
    let rest = digits.strip_prefix(BRAZIL)?;
    let twice = rest.starts_with(BRAZIL) && (12..=13).contains(&rest.len());
    if twice { international(rest) } else { None }
}

/// The valid number by libphonenumber and D15 for digits with or without `+`.
fn reading(written: &str, region: Option<LibRegion>) -> Option<Phone> {
    let number = phone_forms::planned(PhoneNumber::parse(written, region).ok()?);
    if !number.is_valid() {
        return None;
    }
    let e164 = number.format_as(PhoneNumberFormat::E164).into_owned();
    let phone = Phone::from_stored(e164).ok()?;
    // In a few plans (Belarus) parsing a number again strips one more prefix. A number must be read
    // as itself, so such numbers are refused.
    let stable = written == phone.as_str()
        || PhoneNumber::parse(phone.as_str(), None).is_ok_and(|again| again == number);
    stable.then_some(phone)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::strategies;

    fn parse(input: &str) -> Result<String, PhoneError> {
        Phone::parse(input, &Region::br()).map(|phone| phone.as_str().to_owned())
    }

    fn parse_in(code: &str, input: &str) -> Result<String, PhoneError> {
        let region = Region::parse(code).unwrap();
        Phone::parse(input, &region).map(|phone| phone.as_str().to_owned())
    }

    #[test]
    fn the_notations_of_a_brazilian_mobile_are_one_phone() {
        for input in [
            "+5534991234567",
            "+55 (34) 99123-4567",
            "+55 34 9123-4567",
            "+55 (034) 99123-4567",
            "(+55) 34 99123.4567",
            "5534991234567",
            "553491234567",
            "55 (34) 9123-4567",
            "34 99123 4567",
            "3491234567",
            "034 99123 4567",
            "(034) 9123-4567",
            "0 15 34 99123-4567",
            "0 21 (34) 9123-4567",
            "0 55 34 99123-4567",
            "555534991234567",
            "55553491234567",
            "+55 55 34 99123-4567",
            "\u{202a}+55\u{a0}34\u{a0}99123\u{2011}4567\u{202c}",
            "\u{ff0b}\u{ff15}\u{ff15} 34 99123 4567",
        ] {
            assert_eq!(parse(input).as_deref(), Ok("+5534991234567"), "{input:?}");
        }
    }

    /// R13.
    #[test]
    fn punctuation_of_any_writing_is_dropped() {
        let ascii = "-.()[]/~\t ".chars();
        let dashes =
            ('\u{2010}'..='\u{2015}').chain("\u{2212}\u{30fc}\u{2053}\u{223c}\u{ff5e}".chars());
        let full_width =
            ('\u{ff0d}'..='\u{ff0f}').chain("\u{ff08}\u{ff09}\u{ff3b}\u{ff3d}\u{3000}".chars());
        let marks = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        let marks = marks.chain("\u{ad}\u{200b}\u{200e}\u{200f}\u{2060}\u{feff}".chars());
        for mark in ascii.chain(dashes).chain(full_width).chain(marks) {
            let input = format!("+55{mark}34{mark}99123{mark}4567");
            assert_eq!(parse(&input).as_deref(), Ok("+5534991234567"), "{mark:?}");
        }
    }

    #[test]
    fn a_landline_never_gets_a_ninth_digit() {
        for first in 2..=5 {
            let national = format!("34{first}2123456");
            let expected = Ok(format!("+55{national}"));
            assert_eq!(parse(&national), expected);
            assert_eq!(parse(&format!("+55{national}")), expected);
            assert_eq!(parse(&format!("55{national}")), expected);
        }
    }

    #[test]
    fn an_eight_digit_mobile_of_any_first_digit_gets_its_ninth() {
        for first in 6..=9 {
            let expected = Ok(format!("+55119{first}7654321"));
            assert_eq!(parse(&format!("+55 11 {first}765-4321")), expected);
            assert_eq!(parse(&format!("11{first}7654321")), expected);
        }
    }

    #[test]
    fn the_area_code_55_is_not_taken_for_the_country_code() {
        assert_eq!(parse("55 99123-4567").as_deref(), Ok("+5555991234567"));
        assert_eq!(parse("55 9123-4567").as_deref(), Ok("+5555991234567"));
        assert_eq!(parse("55 3212-3456").as_deref(), Ok("+555532123456"));
        assert_eq!(parse("5555991234567").as_deref(), Ok("+5555991234567"));
        assert_eq!(parse("5555 55 99123-4567").as_deref(), Ok("+5555991234567"));
    }

    #[test]
    fn numbers_that_are_no_area_code_and_subscriber_keep_their_digits() {
        assert_eq!(parse("0800 123 4567").as_deref(), Ok("+558001234567"));
        assert_eq!(parse("55 800 123456").as_deref(), Ok("+55800123456"));
        assert_eq!(parse("4004-1234").as_deref(), Ok("+5540041234"));
    }

    /// R13.
    #[test]
    fn letters_extensions_and_stray_signs_are_refused() {
        for input in [
            "34 99123-4567 ramal 2",
            "+5534991234567x12",
            "+5534991234567;ext=12",
            "tel:+5534991234567",
            "0800 FLORES",
            "0XX 34 99123-4567",
            "34 99123#4567",
            "55+34991234567",
            "++5534991234567",
            "34 99123-4567\0",
            "34\n991234567",
        ] {
            assert_eq!(parse(input), Err(PhoneError::Character), "{input:?}");
        }
    }

    #[test]
    fn what_no_plan_knows_is_refused() {
        for input in [
            "1",
            "99123-4567",
            "+55 20 99123-4567",
            "20 9123-4567",
            "+55 34 1212-3456",
            "+55 34 991234567890",
            "+999 1234567",
            "+",
            "()",
            "00000000000",
        ] {
            assert_eq!(parse(input), Err(PhoneError::Invalid), "{input:?}");
        }
        assert_eq!(parse(" \n"), Err(PhoneError::Empty));
        assert_eq!(parse(&"1".repeat(65)), Err(PhoneError::TooLong));
    }

    #[test]
    fn without_plus_a_number_belongs_to_the_region() {
        assert_eq!(parse_in("PT", "912 345 678").as_deref(), Ok("+351912345678"));
        assert_eq!(parse_in("PT", "351912345678").as_deref(), Ok("+351912345678"));
        assert_eq!(parse_in("PT", "5534991234567"), Err(PhoneError::Invalid));
        assert_eq!(parse_in("US", "(202) 456-1111").as_deref(), Ok("+12024561111"));
        assert_eq!(parse_in("IT", "06 6982").as_deref(), Ok("+39066982"));
        assert_eq!(parse_in("US", "+55 34 9123-4567").as_deref(), Ok("+5534991234567"));
    }

    #[test]
    fn a_number_longer_than_e164_is_refused() {
        // Valid by the German plan, which reaches seventeen digits with the country code.
        assert_eq!(parse("+49 30 1234567890123"), Err(PhoneError::Invalid));
    }

    #[test]
    fn a_number_that_is_not_read_back_as_itself_is_refused() {
        // Valid in Belarus, but parsing its canonical form would strip another prefix: +375
        // 100323602.
        assert_eq!(parse("+375 08100323602"), Err(PhoneError::Invalid));
    }

    #[test]
    fn a_region_is_a_country_with_a_plan() {
        assert_eq!(Region::parse("pt").unwrap().as_str(), "PT");
        assert_eq!(Region::default().as_str(), "BR");
        for code in ["", "B", "BRA", "ZZ", "001", "B1", "é"] {
            assert_eq!(Region::parse(code), None, "{code}");
        }
    }

    #[test]
    fn a_phone_has_a_country_and_a_customary_notation() {
        let phone = Phone::parse("34 9123-4567", &Region::br()).unwrap();
        assert_eq!(phone.international(), "+55 34 99123-4567");
        assert_eq!(phone.country(), Some(Region::br()));
        assert_eq!(phone.digits(), "5534991234567");
        let freephone = Phone::parse("+800 1234 5678", &Region::br()).unwrap();
        assert_eq!(freephone.country(), None);
    }

    #[test]
    fn debug_hides_the_middle() {
        let phone = Phone::parse("34 99123-4567", &Region::br()).unwrap();
        assert_eq!(format!("{phone:?}"), "Phone(+55*********67)");
        assert_eq!(phone.to_string(), "+5534991234567");
    }

    #[test]
    fn stored_numbers_are_taken_by_their_form() {
        assert!(Phone::from_stored("+553491234567".to_owned()).is_ok());
        for stored in ["", "+", "5534991234567", "+12345", "+1234567890123456", "+55349x1234567"] {
            assert_eq!(Phone::from_stored(stored.to_owned()), Err(PhoneError::Malformed));
        }
    }

    proptest! {
        #[test]
        fn no_input_panics(input in any::<String>(), region in strategies::regions()) {
            let _ = Phone::parse(&input, &region);
        }

        #[test]
        fn no_digits_panic_and_what_parses_parses_to_itself(
            input in "[+]?[0-9]{1,20}",
            region in strategies::regions(),
        ) {
            if let Ok(phone) = Phone::parse(&input, &region) {
                prop_assert_eq!(Phone::parse(phone.as_str(), &Region::br()), Ok(phone.clone()));
                prop_assert_eq!(Phone::parse(&phone.international(), &region), Ok(phone.clone()));
                prop_assert_eq!(Phone::from_stored(phone.to_string()), Ok(phone));
            }
        }

        #[test]
        fn every_notation_gives_the_expected_number(written in strategies::written_phones()) {
            let phone = Phone::parse(&written.input, &Region::br()).unwrap();
            prop_assert_eq!(phone.as_str(), written.e164);
        }

    }
}
