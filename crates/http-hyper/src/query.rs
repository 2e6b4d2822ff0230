//! Query strings: percent and `+` decoding; a value that is not UTF-8 is refused by name (D7).

use percent_encoding::percent_decode_str;
use recado_core::query::{InvalidParameter, Params};

/// How many pairs are examined; further parameters count as unknown.
const MAX_PAIRS: usize = 1000;

/// A query string, decoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryString {
    params: Params,
    /// Names whose values are not UTF-8.
    broken: Vec<String>,
}

impl QueryString {
    /// Decodes a raw query string. Never fails: values that cannot be decoded are remembered by
    /// name and refused only if the path has a parameter of this name.
    pub(crate) fn parse(raw: Option<&str>) -> Self {
        let (mut pairs, mut broken) = (Vec::new(), Vec::new());
        for pair in raw.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            if pairs.len() + broken.len() == MAX_PAIRS {
                break;
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            // A name that is not UTF-8 is an unknown name.
            let Some(name) = decode(name) else { continue };
            match decode(value) {
                Some(value) => pairs.push((name, value)),
                None => broken.push(name),
            }
        }
        Self { params: Params::new(pairs), broken }
    }

    /// The parameters, for the names that the path has (R15).
    ///
    /// # Errors
    ///
    /// When the value of a known parameter is not UTF-8, or one was sent more than once.
    pub(crate) fn checked<'a>(
        self,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Result<Params, InvalidParameter> {
        for name in known {
            if self.broken.iter().any(|broken| broken == name) {
                return Err(InvalidParameter::new(name, "must be percent-encoded UTF-8"));
            }
            self.params.text(name)?;
        }
        Ok(self.params)
    }

    /// The name of a known parameter whose value is not UTF-8.
    pub(crate) fn broken(&self, is_known: impl Fn(&str) -> bool) -> Option<&str> {
        self.broken.iter().map(String::as_str).find(|name| is_known(name))
    }

    /// Every parameter in order, for handlers with names of their own; bytes that are not UTF-8 are
    /// replaced.
    pub(crate) fn lossy(raw: Option<&str>) -> Vec<(String, String)> {
        let pairs = raw.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let decoded = pairs.take(MAX_PAIRS).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let [name, value] = [name, value].map(|text| {
                let spaced = text.replace('+', " ");
                percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
            });
            (name, value)
        });
        decoded.collect()
    }

    /// The parameters, unchecked.
    pub(crate) const fn params(&self) -> &Params {
        &self.params
    }
}

fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(raw: &str) -> Result<Params, InvalidParameter> {
        QueryString::parse(Some(raw)).checked(["search", "page"])
    }

    #[test]
    fn percent_and_plus_are_decoded_in_names_and_values() {
        let params = checked("se%61rch=Jo%C3%A3o+da%2BSilva").expect("acceptable");
        assert_eq!(params.text("search"), Ok(Some("João da+Silva")));
    }

    #[test]
    fn a_known_value_that_is_no_utf_8_is_refused_by_name_and_an_unknown_one_ignored() {
        assert_eq!(checked("search=%ff").expect_err("refused").parameter, "search");
        assert!(checked("other=%ff&%fe=1").is_ok());
    }

    /// R15.
    #[test]
    fn a_repeated_known_parameter_is_refused_and_an_unknown_one_ignored() {
        assert_eq!(checked("page=1&page=1").expect_err("refused").parameter, "page");
        assert!(checked("utm=1&utm=2").is_ok());
    }

    #[test]
    fn every_parameter_is_reported_in_order_whatever_it_holds() {
        let reported = QueryString::lossy(Some("hub.mode=a%20b&&x=1&x=%ff+&y"));
        let reported: Vec<(&str, &str)> =
            reported.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(reported, [("hub.mode", "a b"), ("x", "1"), ("x", "\u{fffd} "), ("y", "")]);
        assert!(QueryString::lossy(None).is_empty());
    }

    #[test]
    fn a_name_alone_has_the_empty_value_and_a_stray_percent_stands_for_itself() {
        let params = checked("&&search=100%25%&page").expect("acceptable");
        assert_eq!(params.text("search"), Ok(Some("100%%")));
        assert_eq!(params.text("page"), Ok(Some("")));
    }
}
