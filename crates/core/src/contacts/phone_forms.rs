//! The forms in which channels write numbers otherwise than the numbering plan (D15): Brazilian
//! mobiles without the ninth digit, Mexican numbers with the 1 that mobiles had until 2019,
//! Argentine numbers with and without the 9 of mobiles.

use rlibphonenumber::PhoneNumber;

const BRAZIL: &str = "55";
const MEXICO: &str = "52";
const ARGENTINA: &str = "54";
/// The digits of a national number of area code and eight digits, of Mexico and of Argentina.
const TEN_DIGITS: u64 = 10_000_000_000;

/// The number as its plan has it, before it is checked (D15). Argentine numbers are left alone: the
/// plan has mobiles with the 9 and landlines without, out of the same blocks of digits.
pub(super) fn planned(mut number: PhoneNumber) -> PhoneNumber {
    let national = match number.country_code {
        _ if number.italian_leading_zero() => None,
        55 => with_ninth_digit(number.national_number),
        52 => without_former_one(number.national_number),
        _ => None,
    };
    number.national_number = national.unwrap_or(number.national_number);
    number
}

/// D15: a Brazilian number of area code and eight digits that begin with 6 to 9 is a mobile from
/// before the ninth digit. Landlines (2 to 5) are left alone.
fn with_ninth_digit(national: u64) -> Option<u64> {
    const EIGHT_DIGITS: u64 = 100_000_000;
    let (area, local) = (national / EIGHT_DIGITS, national % EIGHT_DIGITS);
    let old_mobile = (11..=99).contains(&area) && local >= 6 * EIGHT_DIGITS / 10;
    old_mobile.then(|| (area * 10 + 9) * EIGHT_DIGITS + local)
}

/// D15: eleven Mexican digits that begin with 1 are a mobile as it was called until 2019.
fn without_former_one(national: u64) -> Option<u64> {
    (national / TEN_DIGITS == 1).then_some(national % TEN_DIGITS)
}

/// Whether digits may be a number in another form than that of its plan.
pub(super) fn may_differ(digits: &str) -> bool {
    match (digits.get(..2), digits.as_bytes()) {
        (Some(BRAZIL), [_, _, _, _, b'6'..=b'9', ..]) => digits.len() == 12,
        (Some(MEXICO), [_, _, b'1', ..]) => digits.len() == 13,
        _ => false,
    }
}

/// Every form of a number that is written as its plan has it, the plan's own first.
pub(super) fn all(planned: &str) -> Vec<String> {
    let other = match planned.get(..2) {
        Some(BRAZIL) => without_ninth_digit(&planned[2..]),
        Some(MEXICO) => with_former_one(&planned[2..]),
        Some(ARGENTINA) => with_or_without_nine(planned),
        _ => None,
    };
    std::iter::once(planned.to_owned()).chain(other).collect()
}

/// The digits by which a number that is written as its plan has it is compared: of the two forms of
/// an Argentine one, the mobile's (R160).
pub(super) fn key(planned: &str) -> String {
    let is_short = planned.starts_with(ARGENTINA) && planned.len() == 12;
    let mobile = if is_short { with_or_without_nine(planned) } else { None };
    mobile.unwrap_or_else(|| planned.to_owned())
}

/// The second form is `None` for landlines and for mobiles whose shorter form would be a landline.
fn without_ninth_digit(national: &str) -> Option<String> {
    match national.as_bytes() {
        [_, _, b'9', b'6'..=b'9', ..] if national.len() == 11 => {
            Some(format!("{BRAZIL}{}{}", &national[..2], &national[3..]))
        }
        _ => None,
    }
}

fn with_former_one(national: &str) -> Option<String> {
    (national.len() == 10).then(|| format!("{MEXICO}1{national}"))
}

/// The other form, where both are numbers: of numbers without an area there is one only.
fn with_or_without_nine(digits: &str) -> Option<String> {
    let other = match (digits.len(), digits.strip_prefix("549")) {
        (13, Some(national)) => format!("{ARGENTINA}{national}"),
        (12, _) => format!("549{}", &digits[2..]),
        _ => return None,
    };
    let read = PhoneNumber::parse(format!("+{other}"), None).ok()?;
    let as_written = read.national_number.to_string() == other[2..];
    (as_written && read.is_valid()).then_some(other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::contacts::{Phone, PhoneError, Region};
    use crate::strategies;

    fn parse(code: &str, input: &str) -> Result<String, PhoneError> {
        let region = Region::parse(code).unwrap();
        Phone::parse(input, &region).map(|phone| phone.as_str().to_owned())
    }

    fn planned_number(digits: &str) -> String {
        let number = planned(PhoneNumber::parse(format!("+{digits}"), None).unwrap());
        format!("{}{}", number.country_code, number.national_number)
    }

    #[test]
    fn each_country_has_its_form() {
        for (written, plan) in [
            ("553491234567", "5534991234567"),
            ("553432345678", "553432345678"),
            ("5215512345678", "525512345678"),
            ("525512345678", "525512345678"),
            ("5491123456789", "5491123456789"),
            ("541123456789", "541123456789"),
            ("351912345678", "351912345678"),
        ] {
            assert_eq!(planned_number(written), plan, "{written}");
        }
    }

    #[test]
    fn of_two_forms_one_is_compared() {
        for (form, key_digits, forms) in [
            ("5534991234567", "5534991234567", 2),
            ("525512345678", "525512345678", 2),
            ("5491123456789", "5491123456789", 2),
            ("541123456789", "5491123456789", 2),
            ("54", "54", 1),
            ("5", "5", 1),
            ("", "", 1),
            ("549", "549", 1),
            ("541123456", "541123456", 1),
            ("541123456", "541123456", 1),
            ("5534991", "5534991", 1),
            ("55349912345678", "55349912345678", 1),
            ("5255123456789", "5255123456789", 1),
            ("546701234567", "546701234567", 1),
        ] {
            assert_eq!(key(form), key_digits, "{form}");
            assert_eq!(all(form).len(), forms, "{form}: {:?}", all(form));
        }
    }

    #[test]
    fn only_numbers_that_the_channel_writes_otherwise_have_a_second_form() {
        let aliases = |input| Phone::parse(input, &Region::br()).unwrap().aliases();
        assert_eq!(aliases("34 99123-4567"), ["5534991234567", "553491234567"]);
        assert_eq!(aliases("11 93123-4567"), ["5511931234567"]);
        assert_eq!(aliases("34 3212-3456"), ["553432123456"]);
        assert_eq!(aliases("+1 202 456 1111"), ["12024561111"]);
        assert_eq!(aliases("+52 55 1234 5678"), ["525512345678", "5215512345678"]);
        assert_eq!(aliases("+54 9 11 2345-6789"), ["5491123456789", "541123456789"]);
        assert_eq!(aliases("+54 11 2345-6789"), ["541123456789", "5491123456789"]);
        assert_eq!(aliases("+54 800 345 6789"), ["548003456789"]);
    }

    #[test]
    fn a_stored_number_in_a_form_of_the_channel_has_the_forms_of_its_plan() {
        let stored = |text: &str| Phone::from_stored(text.to_owned()).unwrap();
        for (old, plan) in [("+5215512345678", "525512345678"), ("+553491234567", "5534991234567")]
        {
            assert_eq!(stored(old).aliases(), [&old[1..], plan]);
            assert_eq!(stored(old).key_digits(), plan);
        }
        assert_eq!(stored("+541123456789").key_digits(), "5491123456789");
        assert_eq!(stored("+123456").aliases(), ["123456"]);
    }

    #[test]
    fn a_mexican_number_is_kept_without_the_former_one() {
        for input in ["+5215512345678", "+52 1 55 1234 5678", "+52 55 1234-5678"] {
            assert_eq!(parse("BR", input).as_deref(), Ok("+525512345678"), "{input}");
        }
        for input in ["55 1234 5678", "1 55 1234 5678", "5215512345678", "525512345678"] {
            assert_eq!(parse("MX", input).as_deref(), Ok("+525512345678"), "{input}");
        }
        // Without + it is a national number, of which there is none in Brazil (D14).
        assert_eq!(parse("BR", "5215512345678"), Err(PhoneError::Invalid));
        for input in ["+5211512345678", "+52155123456789", "+521551234567", "+52 2 55 1234 5678"] {
            assert_eq!(parse("BR", input), Err(PhoneError::Invalid), "{input}");
        }
    }

    /// R160.
    #[test]
    fn an_argentine_number_is_kept_with_or_without_its_nine_as_it_was_given() {
        for (input, e164) in [
            ("+54 9 11 2345-6789", "+5491123456789"),
            ("+54 11 15 2345-6789", "+5491123456789"),
            ("+54 11 2345-6789", "+541123456789"),
        ] {
            assert_eq!(parse("BR", input).as_deref(), Ok(e164), "{input}");
        }
        assert_eq!(parse("AR", "011 15 2345-6789").as_deref(), Ok("+5491123456789"));
        assert_eq!(parse("AR", "11 2345-6789").as_deref(), Ok("+541123456789"));
    }

    proptest! {
        #[test]
        fn every_alias_of_a_phone_is_that_number(phone in strategies::phones()) {
            for form in phone.forms() {
                let read = Phone::parse(form.as_str(), &Region::br()).unwrap();
                prop_assert_eq!(read.key_digits(), phone.key_digits());
                let (mut own, mut others) = (phone.aliases(), read.aliases());
                own.sort();
                others.sort();
                prop_assert_eq!(own, others);
            }
        }
    }

    /// D15.
    #[test]
    fn only_old_mobiles_of_brazil_and_mexico_may_be_in_another_form_than_their_plans() {
        for (digits, other) in [
            ("553491234567", true),
            ("553461234567", true),
            ("553451234567", false),
            ("5534991234567", false),
            ("55349123456", false),
            ("5215512345678", true),
            ("525512345678", false),
            ("521551234567", false),
            ("541123456789", false),
            ("351912345678", false),
            ("55", false),
            ("5", false),
        ] {
            assert_eq!(may_differ(digits), other, "{digits}");
        }
    }
}
