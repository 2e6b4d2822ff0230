//! Values that are tags which were not filled in (D49).

use unicode_normalization::char::is_combining_mark;

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
        fn any_text_is_looked_at_without_panic(text in "[{}\\[\\]<>%*|$#!a-zé ]{0,20}") {
            let _ = literal_tag(&text);
        }
    }
}
