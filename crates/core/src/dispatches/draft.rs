//! The contents of a dispatch, in its body or in its query (4.10, D49).

use std::fmt;

use serde_json::{Map, Value};

use super::{BODY_LIMIT, DispatchError};
use crate::contacts::{Phone, Region};
use crate::form::Form;
use crate::json;
use crate::query::Params;
use crate::templates::{
    ButtonValues, HeaderValue, HeaderValueDraft, TemplateValues, Variable, VariableValues,
    literal_tag, variables,
};

/// The country code that a dispatched phone must have.
const BRAZIL: &str = "+55";
/// The parameters that may hold the phone; the first that is filled counts.
const PHONES: [&str; 2] = ["phone_number", "phone"];
/// The parameter that holds the address of the header's file (X15).
const HEADER_URL: &str = "header_url";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A parsed dispatch: each field from the body if it has it, else from the query.
#[derive(Clone, PartialEq, Eq)]
pub struct DispatchDraft {
    /// The phone as it was sent.
    pub phone: Option<String>,
    /// What is given with the template: its variables, also those that it does not have, its header
    /// and its buttons.
    pub values: TemplateValues,
}

impl fmt::Debug for DispatchDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DispatchDraft(***)")
    }
}

fn invalid(reason: impl Into<String>) -> DispatchError {
    DispatchError::InvalidPayload(reason.into())
}

/// The object in a body. A body that is not JSON counts as none (D49).
fn read_body(body: &[u8]) -> Result<Map<String, Value>, DispatchError> {
    if body.len() > BODY_LIMIT {
        return Err(DispatchError::TooLarge);
    }
    if body.starts_with(BYTE_ORDER_MARK) {
        return Err(invalid("the body begins with a byte-order mark"));
    }
    match json::read(body).map(Value::from) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(invalid("the body must be a JSON object")),
        Err(_) => Ok(Map::new()),
    }
}

/// A text field of a body; null counts as absent, anything else is refused.
fn text<'a>(value: Option<&'a Value>, name: &str) -> Result<Option<&'a str>, DispatchError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(format!("{name} must be a string"))),
    }
}

/// A blank value counts as none (R79).
fn filled(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// A variable's value as it is sent, within the limits of texts (D9, R101).
fn variable(value: &str, name: &str) -> Result<String, DispatchError> {
    crate::text::as_sent(value, crate::text::MESSAGE)
        .map_err(|error| invalid(format!("the variable {name} {error}")))
}

/// A parameter of the query.
fn parameter<'a>(query: &'a Params, name: &str) -> Result<Option<&'a str>, DispatchError> {
    query.text(name).map_err(|error| invalid(format!("the query parameter {error}")))
}

/// Whether a dispatch may read this parameter of a query: a phone, a variable, also a surplus one
/// (D49), or the address of the header's file (X15). Other parameters are ignored, in any form.
pub fn reads_parameter(name: &str) -> bool {
    PHONES.contains(&name) || name == HEADER_URL || variable_number(name).is_some()
}

/// The number of the variable in a parameter of the query: `v` and digits. It may be no position.
fn variable_number(parameter: &str) -> Option<&str> {
    let number = parameter.strip_prefix('v')?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some(number)
}

/// The values of variables as they are read, also of those that the template does not have.
struct ReadVariables {
    wanted: Vec<Variable>,
    values: VariableValues,
}

impl ReadVariables {
    /// Whether the template has the variable; a position may stand for a word (R306).
    fn is_wanted(&self, variable: &Variable) -> bool {
        let stands_for = |position: u32| {
            let at = usize::try_from(position).ok().and_then(|position| position.checked_sub(1));
            at.and_then(|at| self.wanted.get(at)).is_some_and(|word| word.name().is_some())
        };
        self.wanted.contains(variable)
            || matches!(variable, Variable::Position(position) if stands_for(*position))
    }

    /// Takes a value. A surplus one is not sent, so that only a tag in it matters (D49, R80).
    fn take(&mut self, tag: &str, name: &str, value: &str) -> Result<(), DispatchError> {
        match Variable::parse(tag) {
            Some(wanted) if self.is_wanted(&wanted) => {
                self.values.insert(wanted, variable(value, name)?);
            }
            Some(surplus) => {
                self.values.insert(surplus, value.to_owned());
            }
            None if literal_tag(value) => {
                let reason = "holds a tag that was not filled in";
                return Err(invalid(format!("a variable that is no position or name {reason}")));
            }
            None => {}
        }
        Ok(())
    }
}

/// A part of a body in this form; null counts as absent.
fn part<F: Form>(value: Option<&Value>, name: &str) -> Result<Option<F::Value>, DispatchError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => F::read(value).map(Some).map_err(|error| invalid(format!("{name} {error}"))),
    }
}

/// The address of the header's file in a query (X15).
fn header_url(query: &Params) -> Result<Option<HeaderValue>, DispatchError> {
    let Some(url) = filled(parameter(query, HEADER_URL)?) else { return Ok(None) };
    let read = HeaderValueDraft::read(&serde_json::json!({ "url": url }));
    read.map(Some).map_err(|error| invalid(format!("{HEADER_URL}: {error}")))
}

impl DispatchDraft {
    /// Reads a dispatch of a template with this text. Of variables that the template does not have,
    /// only literal tags matter (D49, R80).
    ///
    /// # Errors
    ///
    /// [`DispatchError::TooLarge`], or [`DispatchError::InvalidPayload`] naming what cannot be
    /// read.
    pub fn read(template: &str, body: &[u8], query: &Params) -> Result<Self, DispatchError> {
        let body = read_body(body)?;
        let mut phone = filled(text(body.get("phone_number"), "phone_number")?);
        for name in PHONES {
            if phone.is_none() {
                phone = filled(parameter(query, name)?);
            }
        }
        let mut read =
            ReadVariables { wanted: variables(template), values: VariableValues::default() };
        match body.get("variables") {
            None | Some(Value::Null) => {
                let given = query.names().filter_map(|name| Some((name, variable_number(name)?)));
                for (name, number) in given {
                    if let Some(value) = parameter(query, name)? {
                        read.take(number, name, value)?;
                    }
                }
            }
            Some(Value::Object(given)) => {
                for (name, value) in given {
                    if let Some(value) = text(Some(value), "each of variables")? {
                        read.take(name, name, value)?;
                    }
                }
            }
            Some(_) => {
                let reason = "variables must be an object of strings by position or name";
                return Err(invalid(reason));
            }
        }
        let header = match part::<HeaderValueDraft>(body.get("header"), "header")? {
            Some(header) => Some(header),
            None => header_url(query)?,
        };
        let buttons = part::<ButtonValues>(body.get("buttons"), "buttons")?.unwrap_or_default();
        let values = TemplateValues { variables: read.values, header, buttons };
        Ok(Self { phone, values })
    }

    /// The phone: a national number is Brazilian, and so must be every other (4.10, D49).
    ///
    /// # Errors
    ///
    /// [`DispatchError::MissingPhone`], [`DispatchError::InvalidPhone`].
    pub fn brazilian_phone(&self) -> Result<Phone, DispatchError> {
        let phone = self.phone.as_deref().ok_or(DispatchError::MissingPhone)?;
        let phone = Phone::parse(phone, &Region::br()).map_err(|_| DispatchError::InvalidPhone)?;
        let is_brazilian = phone.as_str().starts_with(BRAZIL);
        if is_brazilian { Ok(phone) } else { Err(DispatchError::InvalidPhone) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEMPLATE: &str = "{{1}} {{2}}";

    fn query(pairs: &[(&str, &str)]) -> Params {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Params::new(pairs.iter().map(pair).collect())
    }

    fn read(body: &str, pairs: &[(&str, &str)]) -> Result<DispatchDraft, DispatchError> {
        DispatchDraft::read(TEMPLATE, body.as_bytes(), &query(pairs))
    }

    fn values(draft: &DispatchDraft) -> Vec<(String, &str)> {
        let variables = draft.values.variables.iter();
        variables.map(|(name, value)| (name.to_string(), value.as_str())).collect()
    }

    fn named<'a>(pairs: &[(&str, &'a str)]) -> Vec<(String, &'a str)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    /// R79.
    #[test]
    fn the_phone_is_taken_from_the_body_then_from_phone_number_then_from_phone() {
        let pairs = &[("phone", "3"), ("phone_number", "2")][..];
        let phone = |body, pairs| read(body, pairs).expect("read").phone;
        assert_eq!(phone(r#"{"phone_number": "1"}"#, pairs).as_deref(), Some("1"));
        for absent in ["", "{}", r#"{"phone_number": null}"#, r#"{"phone_number": " "}"#] {
            assert_eq!(phone(absent, pairs).as_deref(), Some("2"), "{absent}");
        }
        assert_eq!(phone("{}", &pairs[..1]).as_deref(), Some("3"));
        assert_eq!(phone("{}", &[]), None);
    }

    /// R79.
    #[test]
    fn the_bodys_variables_stand_alone_where_there_are_any() {
        let pairs = &[("v1", "a"), ("v2", "b"), ("v3", "surplus")][..];
        let of_query = read("phone=1&v1=x", pairs).expect("read");
        assert_eq!(values(&of_query), named(&[("1", "a"), ("2", "b"), ("3", "surplus")]));
        let of_body = read(r#"{"variables": {"1": "x", "9": "surplus", "n": "?"}}"#, pairs);
        assert_eq!(
            values(&of_body.expect("read")),
            named(&[("1", "x"), ("9", "surplus"), ("n", "?")])
        );
        let empty = read(r#"{"variables": {}}"#, pairs).expect("read");
        assert_eq!(values(&empty), named(&[]));
        let absent = read(r#"{"variables": null}"#, pairs).expect("read");
        assert_eq!(values(&absent), named(&[("1", "a"), ("2", "b"), ("3", "surplus")]));
        let missing = read(r#"{"variables": {"1": null, "2": "x"}}"#, pairs).expect("read");
        assert_eq!(values(&missing), named(&[("2", "x")]));
    }

    /// D49.
    #[test]
    fn a_surplus_variable_is_taken_as_it_is_and_refused_only_for_a_tag() {
        let surplus = read(r#"{"variables": {"9": "\u0000", "n": "\u0000", "01": "x"}}"#, &[]);
        assert_eq!(values(&surplus.expect("read")), named(&[("9", "\u{0}"), ("n", "\u{0}")]));
        for name in ["a b", "0", "01", "1000"] {
            let body = format!(r#"{{"variables": {{"{name}": "{{{{nome}}}}"}}}}"#);
            assert!(matches!(read(&body, &[]), Err(DispatchError::InvalidPayload(_))), "{name}");
        }
        for name in ["v0", "v01", "v1000", "v99999999999999999999"] {
            let refused = read("", &[(name, "{{nome}}")]);
            assert!(matches!(refused, Err(DispatchError::InvalidPayload(_))), "{name}");
            assert_eq!(values(&read("", &[(name, "Ana")]).expect("read")), named(&[]), "{name}");
        }
        for name in ["v", "vn", "v1x", "v+1", "V1", "1", "utm"] {
            let read = read("", &[(name, "{{nome}}")]).expect("read");
            assert_eq!(values(&read), named(&[]), "{name} is no variable");
        }
    }

    /// D49.
    #[test]
    fn phones_and_variables_are_read_of_a_query() {
        for name in
            ["phone", "phone_number", "header_url", "v1", "v10", "v999", "v0", "v01", "v1000"]
        {
            assert!(reads_parameter(name), "{name}");
        }
        for name in ["", "v", "v1x", "v+1", "V1", "Phone", "utm"] {
            assert!(!reads_parameter(name), "{name}");
        }
    }

    /// X15, R306.
    #[test]
    fn a_variable_by_name_is_read_of_the_body_or_by_its_number_of_the_query() {
        let read = |body: &str, pairs| {
            DispatchDraft::read("{{nome}} {{pedido}}", body.as_bytes(), &query(pairs))
                .expect("read")
        };
        let of_body = read(r#"{"variables": {"nome": "Ana", "pedido": "7\r\n"}}"#, &[]);
        assert_eq!(values(&of_body), named(&[("nome", "Ana"), ("pedido", "7\n")]));
        let of_query = read("", &[("v1", "Ana\r\n"), ("v3", "x\r\n")]);
        assert_eq!(values(&of_query), named(&[("1", "Ana\n"), ("3", "x\r\n")]));
    }

    /// X15.
    #[test]
    fn header_and_buttons_are_read_of_the_body_and_the_headers_file_of_the_query_too() {
        let url = "https://loja.example/a.png";
        let body = format!(
            r#"{{"header": {{"url": "{url}", "filename": "a.png"}},
                "buttons": [{{"index": 1, "url_suffix": "p/1"}}]}}"#
        );
        let draft = read(&body, &[("header_url", "https://other.example")]).expect("read");
        let filename = Some("a.png".to_owned());
        let of_body = HeaderValue::Url { url: url.to_owned(), filename };
        assert_eq!(draft.values.header, Some(of_body));
        assert_eq!(draft.values.buttons.len(), 1);
        for body in ["", "{}", r#"{"header": null}"#] {
            let draft = read(body, &[("header_url", url)]).expect("read");
            let of_query = HeaderValue::Url { url: url.to_owned(), filename: None };
            assert_eq!(draft.values.header, Some(of_query), "{body}");
        }
        assert_eq!(read("", &[("header_url", " ")]).expect("read").values.header, None);
        let wrong = read("", &[("header_url", "loja.example/a.png")]);
        assert!(matches!(wrong, Err(DispatchError::InvalidPayload(_))));
    }

    #[test]
    fn what_has_the_wrong_form_is_refused() {
        for body in [
            "[]",
            "5",
            "\"text\"",
            r#"{"phone_number": 5}"#,
            r#"{"variables": []}"#,
            r#"{"variables": {"1": 5}}"#,
            r#"{"variables": {"9": {}}}"#,
            r#"{"header": "x"}"#,
            r#"{"header": {"text": "a", "url": "https://x"}}"#,
            r#"{"buttons": {}}"#,
            r#"{"buttons": [{"index": 0}]}"#,
            "\u{feff}{}",
        ] {
            assert!(matches!(read(body, &[]), Err(DispatchError::InvalidPayload(_))), "{body}");
        }
        let twice = read("{}", &[("v1", "a"), ("v1", "b")]);
        assert!(matches!(twice, Err(DispatchError::InvalidPayload(_))));
    }

    #[test]
    fn exactly_50_kb_are_read() {
        let body = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
        assert!(read(&body(51_200), &[]).is_ok());
        assert_eq!(read(&body(51_201), &[]), Err(DispatchError::TooLarge));
    }

    #[test]
    fn only_brazilian_numbers_pass() {
        let phone = |phone: &str| {
            let phone = Some(phone.to_owned());
            DispatchDraft { phone, values: TemplateValues::default() }.brazilian_phone()
        };
        for good in ["+5511987654321", "11987654321", "5511987654321", "(11) 8765-4321"] {
            assert_eq!(phone(good).map(|p| p.as_str().to_owned()), Ok("+5511987654321".into()));
        }
        for bad in ["+351912345678", "+12025550123", "123", "{{phone}}"] {
            assert_eq!(phone(bad), Err(DispatchError::InvalidPhone), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = DispatchDraft::read(TEMPLATE, &body, &query(&[]));
        }
    }
}
