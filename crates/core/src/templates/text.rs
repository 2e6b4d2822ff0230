//! The text of templates: its variables, and rendering.

use std::collections::{BTreeMap, BTreeSet};

use super::Variable;

/// A part of a template's text.
enum TextPart<'a> {
    Literal(&'a str),
    /// What stands between `{{` and `}}`.
    Tag(&'a str),
}

/// Splits a text at its `{{…}}`.
fn parts(body: &str) -> impl Iterator<Item = TextPart<'_>> {
    let mut rest = body;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let open = rest.find("{{");
        if open == Some(0)
            && let Some(close) = rest.find("}}")
        {
            let inner = &rest[2..close];
            rest = &rest[close + 2..];
            return Some(TextPart::Tag(inner));
        }
        // After a `{{` without `}}`, the rest is text.
        let end = open.filter(|open| *open > 0).unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(TextPart::Literal(text))
    })
}

/// The variables of a template's text, each once, in the order in which they first appear.
pub fn variables(body: &str) -> Vec<Variable> {
    let mut found: Vec<Variable> = Vec::new();
    for part in parts(body) {
        if let TextPart::Tag(tag) = part
            && let Some(variable) = Variable::parse(tag)
            && !found.contains(&variable)
        {
            found.push(variable);
        }
    }
    found
}

/// The positions of the variables in a template's text, `{{1}}` being 1.
pub fn positions(body: &str) -> BTreeSet<u32> {
    let position = |variable| match variable {
        Variable::Position(position) => Some(position),
        Variable::Name(_) => None,
    };
    variables(body).into_iter().filter_map(position).collect()
}

/// The first `{{…}}` of a text that names no variable, such as `{{0}}`.
pub fn unknown_tag(body: &str) -> Option<&str> {
    parts(body).find_map(|part| match part {
        TextPart::Tag(tag) if Variable::parse(tag).is_none() => Some(tag),
        TextPart::Tag(_) | TextPart::Literal(_) => None,
    })
}

/// Whether all these variables are of one sort (X15).
pub fn one_sort<'a>(variables: impl IntoIterator<Item = &'a Variable>) -> bool {
    let mut variables = variables.into_iter();
    let first = variables.next();
    first.is_none_or(|first| variables.all(|other| other.is_like(first)))
}

/// How many characters [`render`] would make at most (R85).
pub fn rendered_chars(body: &str, values: &BTreeMap<Variable, String>) -> usize {
    let value = |tag: &str| Variable::parse(tag).and_then(|variable| values.get(&variable));
    parts(body)
        .map(|part| match part {
            TextPart::Literal(literal) => literal.chars().count(),
            TextPart::Tag(tag) => match value(tag) {
                Some(value) => value.chars().count(),
                None => tag.chars().count() + "{{}}".len(),
            },
        })
        .sum()
}

/// The text with its variables filled in. Values are not rendered again: a value that holds `{{1}}`
/// stays as it is. Surplus values are ignored (D49, R45).
///
/// # Errors
///
/// The variables that have no value, or a blank one: positions ascending, words as they appear.
pub fn render(body: &str, values: &BTreeMap<Variable, String>) -> Result<String, Vec<Variable>> {
    let value = |variable: &Variable| values.get(variable).filter(|value| !value.trim().is_empty());
    let mut missing = variables(body);
    missing.retain(|variable| value(variable).is_none());
    if !missing.is_empty() {
        return Err(ordered(missing));
    }
    let mut text = String::with_capacity(body.len());
    for part in parts(body) {
        match part {
            TextPart::Literal(literal) => text.push_str(literal),
            TextPart::Tag(tag) => match Variable::parse(tag).as_ref().and_then(value) {
                Some(value) => text.push_str(value),
                None => {
                    text.push_str("{{");
                    text.push_str(tag);
                    text.push_str("}}");
                }
            },
        }
    }
    Ok(text)
}

/// Variables as they are listed: positions ascending, words as they appear.
pub fn ordered(mut variables: Vec<Variable>) -> Vec<Variable> {
    if variables.iter().all(|variable| variable.name().is_none()) {
        variables.sort();
    }
    variables
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(values: &[(u32, &str)]) -> BTreeMap<Variable, String> {
        values.iter().map(|(position, value)| ((*position).into(), (*value).to_owned())).collect()
    }

    fn named(values: &[(&str, &str)]) -> BTreeMap<Variable, String> {
        let name = |name: &str| Variable::parse(name).expect("a name");
        values.iter().map(|(called, value)| (name(called), (*value).to_owned())).collect()
    }

    #[test]
    fn variables_go_where_their_positions_are() {
        let body = "Olá {{1}}, seu pedido {{2}} saiu. Até logo, {{1}}!";
        let filled = render(body, &values(&[(1, "Ana"), (2, "77"), (3, "surplus")]));
        assert_eq!(filled.unwrap(), "Olá Ana, seu pedido 77 saiu. Até logo, Ana!");
        assert_eq!(render("Sem variáveis", &BTreeMap::new()).unwrap(), "Sem variáveis");
    }

    #[test]
    fn a_variable_that_is_missing_or_blank_is_named() {
        let filled = render("{{3}} {{1}} {{2}} {{10}}", &values(&[(1, "a"), (2, " \n"), (3, "")]));
        assert_eq!(filled, Err(vec![2.into(), 3.into(), 10.into()]));
    }

    /// R45.
    #[test]
    fn a_value_is_never_expanded_again() {
        let filled = render("{{1}}{{2}}", &values(&[(1, "{{2}}"), (2, "b")]));
        assert_eq!(filled.unwrap(), "{{2}}b");
    }

    /// R45.
    #[test]
    fn only_whole_numbers_from_one_on_are_positions() {
        let body = "{{1}} {{0}} {{01}} {{ 2 }} {{-1}} {{nome}} {{}} {{1000}} {{12} {3}} {{4";
        assert_eq!(positions(body), BTreeSet::from([1]));
        assert_eq!(unknown_tag(body), Some("0"));
        assert_eq!(unknown_tag("Olá {{1}} {x} {{"), None);
        assert_eq!(unknown_tag("Olá {{nome}}"), None);
        assert_eq!(unknown_tag("Olá {{nome completo}}"), Some("nome completo"));
    }

    /// X15.
    #[test]
    fn variables_by_name_are_filled_in_and_what_lacks_is_named_as_it_appears() {
        let body = "Olá {{nome}}, o pedido {{pedido}} saiu. Até, {{nome}}!";
        let filled = render(body, &named(&[("nome", "Ana"), ("pedido", "{{nome}}"), ("x", "y")]));
        assert_eq!(filled.as_deref(), Ok("Olá Ana, o pedido {{nome}} saiu. Até, Ana!"));
        assert_eq!(render("{{z}} {{a}}", &named(&[])).map_err(listed), Err("z a".to_owned()));
        assert_eq!(listed(variables("{{z}} {{a}} {{z}}")), "z a");
    }

    fn listed(variables: Vec<Variable>) -> String {
        variables.iter().map(Variable::to_string).collect::<Vec<_>>().join(" ")
    }

    /// X15.
    #[test]
    fn a_text_has_positions_or_words() {
        for (body, is_one) in [
            ("Oi", true),
            ("{{1}} {{2}}", true),
            ("{{a}} {{b}}", true),
            ("{{a}} {{1}}", false),
            ("{{1}} {{a}}", false),
        ] {
            assert_eq!(one_sort(&variables(body)), is_one, "{body}");
        }
    }

    proptest! {
        #[test]
        fn rendering_fills_every_position_or_names_it(
            body in "([a-zé {}]{0,6}(\\{\\{[0-9]{1,2}\\}\\})?){0,5}",
            given in prop::collection::btree_map(1_u32..12, "[a-z{}]{0,3}", 0..12),
        ) {
            let values: BTreeMap<_, _> =
                given.into_iter().map(|(at, value)| (Variable::Position(at), value)).collect();
            let wanted = positions(&body);
            match render(&body, &values) {
                Ok(_) => prop_assert!(wanted.iter().all(|at| !values[&(*at).into()].is_empty())),
                Err(missing) => {
                    let empty = |at: &Variable| values.get(at).is_none_or(String::is_empty);
                    let wanted = wanted.into_iter().map(Variable::Position);
                    let expected: Vec<Variable> = wanted.filter(empty).collect();
                    prop_assert_eq!(missing, expected);
                }
            }
        }

        #[test]
        fn a_text_without_variables_is_sent_as_it_is(body in "[^{]{0,40}") {
            prop_assert_eq!(render(&body, &BTreeMap::new()), Ok(body));
        }

        #[test]
        fn each_variable_stands_between_the_texts_around_it(
            literals in prop::collection::vec("[a-zé ]{0,5}", 1..6),
            value in "[^{}\\s]{1,5}",
        ) {
            let body: Vec<String> = literals
                .iter()
                .enumerate()
                .map(|(at, literal)| if at == 0 { literal.clone() } else { format!("{{{{{at}}}}}{literal}") })
                .collect();
            let values = (1..10).map(|at| (Variable::Position(at), value.clone())).collect();
            prop_assert_eq!(render(&body.concat(), &values), Ok(literals.join(&value)));
        }

        #[test]
        fn any_text_is_looked_at_without_panic(text in "[{}\\[\\]<>%*|$#!a-zé ]{0,20}") {
            let _ = (positions(&text), unknown_tag(&text));
        }
    }
}
