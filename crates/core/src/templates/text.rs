//! The text of templates: the positions of variables, rendering, and refused values.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::char::is_combining_mark;

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

/// The position that a tag names: 1 to 999, without a sign or leading zeros.
pub fn position(tag: &str) -> Option<u32> {
    let is_number = (1..=3).contains(&tag.len())
        && tag.bytes().all(|byte| byte.is_ascii_digit())
        && !tag.starts_with('0');
    is_number.then(|| tag.parse().ok()).flatten()
}

/// The positions of the variables in a template's text, `{{1}}` being 1.
pub fn positions(body: &str) -> BTreeSet<u32> {
    parts(body)
        .filter_map(|part| match part {
            TextPart::Tag(tag) => position(tag),
            TextPart::Literal(_) => None,
        })
        .collect()
}

/// The first `{{…}}` of a text that is no position, such as `{{name}}`.
pub fn unknown_tag(body: &str) -> Option<&str> {
    parts(body).find_map(|part| match part {
        TextPart::Tag(tag) if position(tag).is_none() => Some(tag),
        TextPart::Tag(_) | TextPart::Literal(_) => None,
    })
}

/// How many characters [`render`] would make at most (R85).
pub fn rendered_chars(body: &str, variables: &BTreeMap<u32, String>) -> usize {
    let value = |tag: &str| position(tag).and_then(|position| variables.get(&position));
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
/// stays as it is. Surplus variables are ignored (D49, R45).
///
/// # Errors
///
/// The positions that have no value, or a blank one.
pub fn render(body: &str, variables: &BTreeMap<u32, String>) -> Result<String, Vec<u32>> {
    let value = |position: u32| variables.get(&position).filter(|value| !value.trim().is_empty());
    let missing: Vec<u32> =
        positions(body).into_iter().filter(|position| value(*position).is_none()).collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let mut text = String::with_capacity(body.len());
    for part in parts(body) {
        match part {
            TextPart::Literal(literal) => text.push_str(literal),
            TextPart::Tag(tag) => match position(tag).and_then(value) {
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

/// The forms of tags that count wherever they stand in a value: what opens and what closes them.
const TAGS: [(&str, &str); 11] = [
    ("{{", "}}"),
    ("${", "}"),
    ("[[", "]]"),
    ("<%", "%>"),
    ("*|", "|*"),
    ("%%", "%%"),
    ("{%", "%}"),
    ("{!", "}"),
    ("#{", "}"),
    ("<<", ">>"),
    // Read in the variables of campaigns only (X16).
    ("{contact.", "}"),
];

/// Whether a variable's value is a tag that was not filled in (D49): it holds `{{…}}`, `${…}`,
/// `[[…]]`, `<%…%>`, `*|…|*`, `%%…%%`, `{%…%}`, `{!…}`, `#{…}`, `<<…>>` or `{contact.…}`, or is as
/// a whole `{words}`, `[WORDS]` or `%word%`.
pub fn literal_tag(value: &str) -> bool {
    let holds = |(open, close): (&str, &str)| {
        value.find(open).is_some_and(|at| value[at + open.len()..].contains(close))
    };
    let value = value.trim();
    TAGS.into_iter().any(holds)
        || inside(value, '{', '}').is_some_and(is_words)
        || inside(value, '[', ']').is_some_and(is_words)
        || inside(value, '%', '%').is_some_and(is_word)
}

/// What stands between the first character of a text and its last, where these are `open` and
/// `close`.
fn inside(value: &str, open: char, close: char) -> Option<&str> {
    value.strip_prefix(open)?.strip_suffix(close)
}

/// Letters, digits, `_`, `.` and `-`. An accent that is a character of its own belongs to its
/// letter.
fn is_word(text: &str) -> bool {
    let fits =
        |c: char| c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '_' | '.' | '-');
    !text.is_empty() && text.chars().all(fits)
}

/// Words with single spaces between and around them.
fn is_words(text: &str) -> bool {
    let text = text.strip_prefix(' ').unwrap_or(text);
    let text = text.strip_suffix(' ').unwrap_or(text);
    text.split(' ').all(is_word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn variables(values: &[(u32, &str)]) -> BTreeMap<u32, String> {
        values.iter().map(|(position, value)| (*position, (*value).to_owned())).collect()
    }

    #[test]
    fn variables_go_where_their_positions_are() {
        let body = "Olá {{1}}, seu pedido {{2}} saiu. Até logo, {{1}}!";
        let filled = render(body, &variables(&[(1, "Ana"), (2, "77"), (3, "surplus")]));
        assert_eq!(filled.unwrap(), "Olá Ana, seu pedido 77 saiu. Até logo, Ana!");
        assert_eq!(render("Sem variáveis", &BTreeMap::new()).unwrap(), "Sem variáveis");
    }

    #[test]
    fn a_variable_that_is_missing_or_blank_is_named() {
        let filled =
            render("{{3}} {{1}} {{2}} {{10}}", &variables(&[(1, "a"), (2, " \n"), (3, "")]));
        assert_eq!(filled, Err(vec![2, 3, 10]));
    }

    /// R45.
    #[test]
    fn a_value_is_never_expanded_again() {
        let filled = render("{{1}}{{2}}", &variables(&[(1, "{{2}}"), (2, "b")]));
        assert_eq!(filled.unwrap(), "{{2}}b");
    }

    /// R45.
    #[test]
    fn only_whole_numbers_from_one_on_are_positions() {
        let body = "{{1}} {{0}} {{01}} {{ 2 }} {{-1}} {{nome}} {{}} {{1000}} {{12} {3}} {{4";
        assert_eq!(positions(body), BTreeSet::from([1]));
        assert_eq!(unknown_tag(body), Some("0"));
        assert_eq!(unknown_tag("Olá {{1}} {x} {{"), None);
        assert_eq!(unknown_tag("Olá {{nome}}"), Some("nome"));
    }

    /// D49.
    #[test]
    fn tags_that_were_not_filled_in_are_found() {
        for tag in [
            "{{nome}}",
            "Olá {{ nome }}!",
            "{{}}",
            "${first_name}",
            "R$ ${valor}",
            "[[name]]",
            "<%= name %>",
            "<%name%>",
            "*|FNAME|*",
            "a *|B C|* d",
            "{nome}",
            "{first.name}",
            "{a-b_c}",
            "%nome%",
            "%first.name%",
            " {nome} ",
            "{ação}",
            "x\n{{a\nb}}",
            "%50%",
            "%%NOME%%",
            "Olá %%first name%%!",
            "100%% certo, 50%% fora",
            "{% if nome %}",
            "{%x%}",
            "{!nome}",
            "{!$User.Name}",
            "#{nome}",
            "Olá #{cliente.nome}",
            "<<nome>>",
            "a << b >> c",
            "{nome completo}",
            "{ nome }",
            "{Primeiro Nome do Cliente}",
            "{ac\u{327}a\u{303}o}",
            "[NOME]",
            "[Nome Completo]",
            "[Sim]",
            "[1]",
            "[ x ]",
            "\u{a0}[NOME]\n",
            "{имя}",
            "[[1],[2]]",
        ] {
            assert!(literal_tag(tag), "{tag:?}");
        }
    }

    #[test]
    fn ordinary_values_pass() {
        for value in [
            "",
            "Ana",
            "100%",
            "50% off 20%",
            "{",
            "{}",
            "{ }",
            "[]",
            "[ ]",
            "%%",
            "%",
            "{a  b}",
            "{  a}",
            "{a\nb}",
            "Oi {nome}",
            "Oi [NOME]",
            "a < b << c",
            "5 % 3 %",
            "% 3 %",
            "%3 %",
            "R$ 5,00 #1 {",
            "{\"a\": {\"b\": [1, 2]}}",
            "{\"a\":1}",
            "[1, 2]",
            "[😀]",
            "{😀}",
            "%😀%",
            "😀 {!",
            "#{",
            "x >> y << z",
            "%} {%",
            "{a;b}",
            "%a b%",
            "}}{{",
            "]][[",
            "${",
            "a [b] c",
            "<b>",
            "%>",
            "|* x *|",
            "R$ 10,00",
            "{{x}",
            "$ {x",
        ] {
            assert!(!literal_tag(value), "{value:?}");
        }
    }

    proptest! {
        /// D49.
        #[test]
        fn a_tag_counts_wherever_it_stands(
            tag in prop::sample::select(TAGS.to_vec()),
            before in "[^\\s]{0,5}", inner in ".{0,8}", after in ".{0,5}",
        ) {
            let (open, close) = tag;
            let value = format!("{before}{open}{inner}{close}{after}");
            prop_assert!(literal_tag(&value), "{value:?}");
        }

        /// D49.
        #[test]
        fn words_in_brackets_count_only_as_the_whole_value(
            words in "[A-Za-zÀ-ÿ0-9_.-]{1,8}( [A-Za-zÀ-ÿ0-9_.-]{1,8}){0,3}",
            text in "[a-z ,]{1,8}",
        ) {
            prop_assume!(!words.contains(['×', '÷']));
            for (open, close) in [('{', '}'), ('[', ']')] {
                let whole = format!(" {open}{words}{close}\n");
                prop_assert!(literal_tag(&whole), "{whole:?}");
                let said = format!("{text}{open}{words}{close}");
                prop_assert!(said.trim().starts_with(open) || !literal_tag(&said), "{said:?}");
            }
            let of_percent = format!("%{words}%");
            prop_assert_eq!(literal_tag(&of_percent), !words.contains(' '));
        }

        /// D49.
        #[test]
        fn a_text_without_what_opens_a_tag_is_none(value in "[^{\\[<%*$#]{0,40}") {
            prop_assert!(!literal_tag(&value), "{value:?}");
        }

        #[test]
        fn rendering_fills_every_position_or_names_it(
            body in "([a-zé {}]{0,6}(\\{\\{[0-9]{1,2}\\}\\})?){0,5}",
            values in prop::collection::btree_map(1_u32..12, "[a-z{}]{0,3}", 0..12),
        ) {
            let wanted = positions(&body);
            match render(&body, &values) {
                Ok(_) => prop_assert!(wanted.iter().all(|at| !values[at].is_empty())),
                Err(missing) => {
                    let empty = |at: &u32| values.get(at).is_none_or(String::is_empty);
                    let expected: Vec<u32> = wanted.into_iter().filter(empty).collect();
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
            let values = (1..10).map(|at| (at, value.clone())).collect();
            prop_assert_eq!(render(&body.concat(), &values), Ok(literals.join(&value)));
        }

        #[test]
        fn any_text_is_looked_at_without_panic(text in "[{}\\[\\]<>%*|$#!a-zé ]{0,20}") {
            let _ = (literal_tag(&text), positions(&text), unknown_tag(&text));
        }
    }
}
