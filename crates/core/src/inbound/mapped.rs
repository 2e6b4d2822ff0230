//! Applying a mapping to a body (D46, D46a, D47).

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::mapping::{NAME_KEYS, PHONE_KEYS};
use super::{Payload, VariableMapping};
use crate::contacts::{Birthday, Cpf, Email, Phone, PostalCode, Region, Warning};
use crate::json::Value;
use crate::json_path::{JsonPath, StepBudget};
use crate::organizations::Cnpj;
use crate::text;

/// Why a mapping could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// An expression selected an object or an array.
    #[error("{0} found an object or an array")]
    NotScalar(String),
    /// The evaluation took too many steps.
    #[error("{0} takes too many steps on this body")]
    TooCostly(String),
    /// An expression that is stored cannot be read any more; register it again.
    #[error("{0} is no JSONPath")]
    Unreadable(String),
    /// No phone was found, or the value found is not a phone.
    #[error("no valid phone number was found")]
    NoPhone,
}

/// The values of a contact's fields in a body. Empty and missing values are left out (R81).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The phone.
    pub phone: Phone,
    /// The name.
    pub name: Option<String>,
    /// The e-mail.
    pub email: Option<Email>,
    /// The date of birth.
    pub birthday: Option<Birthday>,
    /// The observation.
    pub observation: Option<String>,
    /// The taxpayer number.
    pub cpf: Option<Cpf>,
    /// The identity card.
    pub rg: Option<String>,
    /// The gender.
    pub genero: Option<String>,
    /// The marital status.
    pub estado_civil: Option<String>,
    /// The profession.
    pub profissao: Option<String>,
    /// The city.
    pub city: Option<String>,
    /// The state.
    pub state: Option<String>,
    /// The postal code.
    pub postal_code: Option<PostalCode>,
    /// The number of the organization.
    pub cnpj: Option<Cnpj>,
    /// Values of custom fields by slug.
    pub custom: BTreeMap<String, String>,
    /// Warnings about values that were skipped as invalid.
    pub warnings: Vec<Warning>,
}

/// The texts that the expressions find, by key; the first result of each counts
/// (D46, R86).
pub(super) fn texts(
    mapping: &VariableMapping,
    payload: &Payload,
) -> Result<BTreeMap<String, String>, MappingError> {
    let mut budget = StepBudget::new();
    let mut texts = BTreeMap::new();
    let mut evaluate = |key: &str, texts: &mut BTreeMap<String, String>| {
        let Some(expression) = mapping.entries().get(key) else { return Ok(()) };
        let path =
            JsonPath::parse(expression).map_err(|_| MappingError::Unreadable(key.to_owned()))?;
        let found = path
            .first(payload.value(), &mut budget)
            .map_err(|_| MappingError::TooCostly(key.to_owned()))?;
        let text = match found {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.as_str().to_owned(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Object(_) | Value::Array(_)) => {
                return Err(MappingError::NotScalar(key.to_owned()));
            }
        };
        if !text.trim().is_empty() {
            texts.insert(key.to_owned(), text);
        }
        Ok(())
    };
    for [canonical, alias] in [PHONE_KEYS, NAME_KEYS] {
        evaluate(canonical, &mut texts)?;
        // D46a: the alias is used if the canonical key found nothing.
        if !texts.contains_key(canonical) {
            evaluate(alias, &mut texts)?;
            if let Some(text) = texts.remove(alias) {
                texts.insert(canonical.to_owned(), text);
            }
        }
    }
    for key in mapping.entries().keys() {
        if !PHONE_KEYS.contains(&key.as_str()) && !NAME_KEYS.contains(&key.as_str()) {
            evaluate(key, &mut texts)?;
        }
    }
    Ok(texts)
}

/// Reads the values of native fields one by one; what is not valid becomes a warning (D47).
struct Values {
    texts: BTreeMap<String, String>,
    warnings: Vec<Warning>,
}

fn invalid(field: &str, reason: &str) -> Warning {
    Warning {
        code: "INVALID_FIELD",
        field: Cow::Owned(field.to_owned()),
        message: Cow::Owned(format!("{field} {reason}; the value was skipped.")),
    }
}

impl Values {
    fn read<T, E: std::fmt::Display>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        match parse(&self.texts.remove(key)?) {
            Ok(value) => Some(value),
            Err(error) => {
                self.warnings.push(invalid(key, &error.to_string()));
                None
            }
        }
    }

    fn text(&mut self, key: &str, max_chars: usize) -> Option<String> {
        // R174: who fills a form in cannot see the characters that are left out.
        self.read(key, |value| match max_chars <= text::NAME {
            true => text::clean(&text::without_directions(value), max_chars),
            false => text::clean(value, max_chars),
        })
    }
}

impl Mapped {
    /// Applies a mapping to a body; national numbers are those of `region`.
    ///
    /// # Errors
    ///
    /// [`MappingError`]: problems of the mapping come before those of the phone.
    pub fn new(
        mapping: &VariableMapping,
        payload: &Payload,
        region: &Region,
    ) -> Result<Self, MappingError> {
        let mut values = Values { texts: texts(mapping, payload)?, warnings: Vec::new() };
        let phone = values.texts.remove(PHONE_KEYS[0]).ok_or(MappingError::NoPhone)?;
        let phone = Phone::parse(&phone, region).map_err(|_| MappingError::NoPhone)?;
        let mut mapped = Self {
            phone,
            name: values.text(NAME_KEYS[0], text::NAME),
            email: values.read("email", Email::parse),
            birthday: values.read("birthday", Birthday::parse),
            observation: values.text("observation", text::OBSERVATION),
            cpf: values.read("cpf", Cpf::parse),
            rg: values.text("rg", text::SHORT),
            genero: values.text("genero", text::SHORT),
            estado_civil: values.text("estado_civil", text::SHORT),
            profissao: values.text("profissao", text::SHORT),
            city: values.text("city", text::SHORT),
            state: values.text("state", text::SHORT),
            postal_code: values.read("postal_code", PostalCode::parse),
            cnpj: values.read("cnpj", Cnpj::parse),
            custom: BTreeMap::new(),
            warnings: Vec::new(),
        };
        for (slug, value) in std::mem::take(&mut values.texts) {
            match text::clean(&value, text::CUSTOM_VALUE) {
                Ok(value) => {
                    mapped.custom.insert(slug, value);
                }
                Err(error) => values.warnings.push(invalid(&slug, &error.to_string())),
            }
        }
        mapped.warnings = values.warnings;
        Ok(mapped)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::mapping::NATIVE_KEYS;
    use super::*;
    use crate::contacts::NewContact;

    fn mapping(entries: Value) -> VariableMapping {
        VariableMapping::read(&entries).expect("a mapping")
    }

    fn mapped(entries: Value, body: Value) -> Result<Mapped, MappingError> {
        Mapped::new(&mapping(entries), &Payload::from(&body), &Region::br())
    }

    #[test]
    fn numbers_and_booleans_become_their_text_as_written() {
        let body = br#"{"phone": 11987654321, "n": 1.50, "e": 123456789012345678901234567890,
            "b": true, "s": " x "}"#;
        let body = Payload::read(body).expect("JSON");
        let entries = json!({"phone": "$.phone", "n": "$.n", "e": "$.e", "b": "$.b", "s": "$.s"});
        let mapped = Mapped::new(&mapping(entries), &body, &Region::br()).expect("mapped");
        assert_eq!(mapped.phone.as_str(), "+5511987654321");
        let custom: Vec<(&str, &str)> =
            mapped.custom.iter().map(|(slug, value)| (slug.as_str(), value.as_str())).collect();
        assert_eq!(
            custom,
            [("b", "true"), ("e", "123456789012345678901234567890"), ("n", "1.50"), ("s", "x")]
        );
    }

    /// R86, 4.9.1.
    #[test]
    fn of_several_results_the_first_counts_and_null_is_missing() {
        let entries = json!({"phone": "$.p[*]", "first_name": "$.n[*]"});
        let mapped =
            mapped(entries, json!({"p": ["+5511987654321", "+5511912345678"], "n": [null, "Ana"]}));
        let mapped = mapped.expect("mapped");
        assert_eq!((mapped.phone.as_str(), mapped.name), ("+5511987654321", None));
    }

    #[test]
    fn a_canonical_key_wins_and_its_alias_serves_when_it_finds_nothing() {
        let entries =
            || json!({"phone_number": "$.a", "phone": "$.b", "first_name": "$.c", "name": "$.d"});
        let both =
            mapped(entries(), json!({"a": "+5511987654321", "b": {}, "c": "Ana", "d": "Rex"}));
        let both = both.expect("mapped");
        assert_eq!((both.phone.as_str(), both.name.as_deref()), ("+5511987654321", Some("Ana")));
        let alias = mapped(entries(), json!({"a": "", "b": "+5511912345678", "d": "Rex"}));
        let alias = alias.expect("mapped");
        assert_eq!((alias.phone.as_str(), alias.name.as_deref()), ("+5511912345678", Some("Rex")));
    }

    /// R81.
    #[test]
    fn objects_and_arrays_fail_the_mapping_before_the_phone_is_missed() {
        for found in [json!({}), json!([1])] {
            let failed = mapped(json!({"phone": "$.p", "x": "$.x"}), json!({"x": found}));
            assert_eq!(failed, Err(MappingError::NotScalar("x".into())));
        }
    }

    #[test]
    fn a_phone_that_is_missing_or_none_is_missed() {
        for phone in [json!(null), json!(""), json!("  "), json!("abc"), json!(12), json!(true)] {
            let failed = mapped(json!({"phone": "$.p"}), json!({"p": phone}));
            assert_eq!(failed, Err(MappingError::NoPhone));
        }
        assert_eq!(mapped(json!({"phone": "$.p"}), json!([])), Err(MappingError::NoPhone));
    }

    /// The fields that a caller of the API may write, besides the name, the phone and what has no
    /// text. It does not compile with a field that is missing here.
    fn caller_fields() -> BTreeSet<&'static str> {
        macro_rules! names {
            ($($field:ident),* ; $($other:ident),*) => {{
                let NewContact { $($field: _,)* $($other: _),* } = NewContact::default();
                BTreeSet::from([$(stringify!($field)),*])
            }};
        }
        names! {
            email, birthday, observation, cpf, rg, genero, estado_civil, profissao, city, state,
            postal_code, cnpj; name, phone, custom_fields, lists
        }
    }

    /// D46: the fields that a caller of the API may write (4.3) are native here too.
    #[test]
    fn every_native_field_of_a_new_contact_is_native_in_a_mapping() {
        assert_eq!(caller_fields(), BTreeSet::from(NATIVE_KEYS));
        let entries: serde_json::Map<String, Value> =
            NATIVE_KEYS.iter().map(|key| ((*key).to_owned(), json!(format!("$.{key}")))).collect();
        let mut entries = Value::Object(entries);
        entries["phone"] = json!("$.phone");
        let body = json!({
            "phone": "+5511987654321", "email": "a@b.co", "birthday": "1990-02-28",
            "observation": "um\r\ndois", "cpf": "529.982.247-25", "rg": "1", "genero": "f",
            "estado_civil": "s", "profissao": "p", "city": "c", "state": "SP",
            "postal_code": "01310-100", "cnpj": "19.131.243/0001-97",
        });
        let mapped = mapped(entries, body).expect("mapped");
        assert_eq!((&mapped.custom, &mapped.warnings), (&BTreeMap::new(), &vec![]));
        let texts = [
            &mapped.observation,
            &mapped.rg,
            &mapped.genero,
            &mapped.estado_civil,
            &mapped.profissao,
            &mapped.city,
            &mapped.state,
        ];
        let texts: Vec<&str> =
            texts.into_iter().map(|text| text.as_deref().expect("said")).collect();
        assert_eq!(texts, ["um\ndois", "1", "f", "s", "p", "c", "SP"]);
        assert!(mapped.email.is_some() && mapped.birthday.is_some() && mapped.cpf.is_some());
        assert!(mapped.postal_code.is_some() && mapped.cnpj.is_some());
    }

    /// D47, 4.9.4.
    #[test]
    fn what_is_not_valid_is_skipped_and_named() {
        let entries = json!({
            "phone": "$.p", "email": "$.e", "cpf": "$.c", "birthday": "$.b", "city": "$.l",
            "plan": "$.l", "rg": "$.l", "profissao": "$.x"
        });
        let body = json!({
            "p": "+5511987654321", "e": "not an address", "c": "111", "b": "soon",
            "l": "x".repeat(501), "x": "a\u{0}b"
        });
        let mapped = mapped(entries, body).expect("mapped");
        let fields: Vec<&str> =
            mapped.warnings.iter().map(|warning| warning.field.as_ref()).collect();
        assert_eq!(fields, ["email", "birthday", "cpf", "rg", "profissao", "city", "plan"]);
        assert!(mapped.warnings.iter().all(|warning| warning.code == "INVALID_FIELD"));
        assert_eq!((mapped.email, mapped.cpf, mapped.city), (None, None, None));
        assert!(mapped.custom.is_empty());
    }

    proptest! {
        #[test]
        fn no_text_in_a_body_makes_it_panic(text in any::<String>()) {
            let entries = json!({
                "phone": "$.p", "name": "$.t", "email": "$.t", "birthday": "$.t", "cpf": "$.t",
                "city": "$.t", "postal_code": "$.t", "observation": "$.t", "cnpj": "$.t",
                "rg": "$.t", "x": "$.t"
            });
            let _ = mapped(entries, json!({"p": "+5511987654321", "t": text}));
        }
    }
}
