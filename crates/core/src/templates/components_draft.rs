//! The parts of a template in the bodies that make and change one (X15).

use serde_json::Value;

use super::components::MAX_BUTTONS;
use super::{ButtonKind, ButtonPart, Components, HeaderKind, HeaderPart, unknown_tag, variables};
use crate::body::{Optional, OrDefault, Required, body};
use crate::form::{Form, inner, is_blank_text, read_text};

/// The most characters of a header's text and of a footer.
const LINE_CHARS: usize = 60;
/// The most characters on a button.
const BUTTON_CHARS: usize = 25;
/// The most characters of a button's page.
const URL_CHARS: usize = 2_000;

/// A text of a part that has no variables.
pub(crate) struct FixedText<const MAX: usize>;

impl<const MAX: usize> Form for FixedText<MAX> {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let text = read_text(value, MAX)?;
        if text.contains("{{") { Err("may hold no variables".to_owned()) } else { Ok(text) }
    }

    fn is_blank(value: &Value) -> bool {
        is_blank_text(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::form::Text::<MAX>::schema()
    }
}

/// The text of a header.
pub(crate) struct HeaderText;

impl Form for HeaderText {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let text = read_text(value, LINE_CHARS)?;
        if unknown_tag(&text).is_some() || variables(&text).len() > 1 {
            return Err("may hold one variable, such as {{1}} or {{name}}".to_owned());
        }
        Ok(text)
    }

    fn is_blank(value: &Value) -> bool {
        is_blank_text(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::form::Text::<LINE_CHARS>::schema()
    }
}

/// The page of a button: an http or https address, which may end in one variable. This begins after
/// the host, so that whoever fills it in does not choose the host (R376).
pub(crate) struct ButtonUrl;

impl Form for ButtonUrl {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let url = read_text(value, URL_CHARS)?;
        let page = url.split_once("{{").map_or(url.as_str(), |(page, _)| page);
        let rest = page.strip_prefix("https://").or_else(|| page.strip_prefix("http://"));
        let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
        let is_plain = page.bytes().all(|byte| byte.is_ascii_graphic());
        if host.is_empty() || host.contains('@') || !is_plain {
            return Err("must be an http or https address".to_owned());
        }
        let is_past_host = rest.is_some_and(|rest| rest.len() > host.len());
        let tag = &url[page.len()..];
        let is_one = variables(tag).iter().any(|one| tag == format!("{{{{{one}}}}}"));
        let is_end = tag.is_empty() || (is_one && is_past_host);
        if !is_end {
            return Err("may hold one variable, at its end and after the host".to_owned());
        }
        Ok(url)
    }

    fn is_blank(value: &Value) -> bool {
        is_blank_text(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::form::Text::<URL_CHARS>::schema()
    }
}

/// What a button of a new template may do.
pub(crate) struct NewButtonKind;

impl Form for NewButtonKind {
    type Value = ButtonKind;

    fn read(value: &Value) -> Result<ButtonKind, String> {
        let known = ButtonKind::read(value).ok().filter(|kind| *kind != ButtonKind::Other);
        known.ok_or_else(|| {
            let words = ButtonKind::WORDS.iter().filter(|word| **word != "other");
            format!("must be one of {}", words.copied().collect::<Vec<_>>().join(", "))
        })
    }

    crate::form::component!(ButtonKind);
}

body! {
    /// The header of a template.
    #[derive(Clone, Debug)]
    pub struct HeaderDraft as "TemplateHeaderBody" {
        kind as "type": HeaderKind = Required<HeaderKind>,
        /// Only of a `text`, which needs it. It may hold one variable.
        text: Option<String> = Optional<HeaderText>,
    }
    check |input| if let (Some(kind), Some(text)) = (kind, &text) {
        match (kind, text) {
            (HeaderKind::Text, None) => input.problem("text", "is required"),
            (HeaderKind::Text, Some(_)) | (_, None) => {}
            (_, Some(_)) => input.problem("text", "is only for a header of the type text"),
        }
    };
}

body! {
    /// A button of a template.
    #[derive(Clone, Debug)]
    pub struct ButtonDraft as "TemplateButtonBody" {
        kind as "type": ButtonKind = Required<NewButtonKind>,
        /// What stands on it.
        text: String = Required<FixedText<BUTTON_CHARS>>,
        /// Only of a `url`, which needs it. It may end in a variable.
        url: Option<String> = Optional<ButtonUrl>,
    }
    check |input| if let (Some(kind), Some(url)) = (kind, &url) {
        match (kind, url) {
            (ButtonKind::Url, None) => input.problem("url", "is required"),
            (ButtonKind::Url, Some(_)) | (_, None) => {}
            (_, Some(_)) => input.problem("url", "is only for a button of the type url"),
        }
    };
}

inner! {
    HeaderDraft => HeaderPart, |draft| HeaderPart { kind: draft.kind, text: draft.text };
    ButtonDraft => ButtonPart, |draft| ButtonPart {
        kind: draft.kind,
        text: draft.text,
        url: draft.url,
    };
    ComponentsDraft => Components, |draft| Components {
        header: draft.header,
        footer: draft.footer,
        buttons: draft.buttons,
    };
}

body! {
    /// What a template has beside its text.
    #[derive(Clone, Debug)]
    pub struct ComponentsDraft as "TemplateComponentsBody" {
        /// What stands above the text.
        header: Option<HeaderPart> = Optional<HeaderDraft>,
        /// What stands below the text.
        footer: Option<String> = Optional<FixedText<LINE_CHARS>>,
        /// At most ten, in order.
        buttons: Vec<ButtonPart> = OrDefault<Buttons>,
    }
}

/// The buttons of a template, in order.
pub(crate) struct Buttons;

impl Form for Buttons {
    type Value = Vec<ButtonPart>;

    fn read(value: &Value) -> Result<Vec<ButtonPart>, String> {
        let entries = value.as_array().ok_or("must be an array of buttons")?;
        if entries.len() > MAX_BUTTONS {
            return Err(format!("may hold at most {MAX_BUTTONS} buttons"));
        }
        let read = |(at, entry)| {
            ButtonDraft::read(entry).map_err(|reason| format!("has at {at} an entry: {reason}"))
        };
        entries.iter().enumerate().map(read).collect()
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::array(ButtonDraft::schema(), |buttons| buttons.max_items(Some(MAX_BUTTONS)))
    }

    #[cfg(feature = "openapi")]
    fn components(all: &mut crate::openapi::Components) {
        ButtonDraft::components(all);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(components: Value) -> Result<Components, String> {
        ComponentsDraft::read(&components)
    }

    fn button(kind: &str, more: Value) -> Value {
        let mut button = json!({"type": kind, "text": "Ver"});
        let more = more.as_object().cloned().unwrap_or_default();
        button.as_object_mut().expect("an object").extend(more);
        json!({ "buttons": [button] })
    }

    /// X15.
    #[test]
    fn every_kind_of_header_and_button_is_read() {
        for kind in ["image", "video", "document", "location"] {
            let read = read(json!({"header": {"type": kind}})).expect(kind);
            assert_eq!(read.header.map(|header| header.kind.as_str()), Some(kind));
        }
        for text in ["Olá", "{{1}}", "Olá {{nome}}", &"é".repeat(60)] {
            assert!(read(json!({"header": {"type": "text", "text": text}})).is_ok(), "{text}");
        }
        for kind in ["quick_reply", "phone", "copy_code", "otp"] {
            assert!(read(button(kind, json!({}))).is_ok(), "{kind}");
        }
        let most = vec![json!({"type": "quick_reply", "text": "x".repeat(25)}); MAX_BUTTONS];
        assert!(read(json!({"footer": "f".repeat(60), "buttons": most})).is_ok());
        assert_eq!(read(json!({"header": null, "footer": null, "buttons": null})), read(json!({})));
    }

    /// X15.
    #[test]
    fn what_is_no_part_of_a_template_is_refused() {
        let quick = json!({"type": "quick_reply", "text": "Certo"});
        for wrong in [
            json!([]),
            json!("x"),
            json!({"carousel": []}),
            json!({"header": []}),
            json!({"header": {"type": "gif"}}),
            json!({"header": {"type": "IMAGE"}}),
            json!({"header": {"type": "image", "text": "x"}}),
            json!({"header": {"type": "image", "url": "https://x"}}),
            json!({"header": {"type": "text"}}),
            json!({"header": {"type": "text", "text": " "}}),
            json!({"header": {"type": "text", "text": "é".repeat(61)}}),
            json!({"header": {"type": "text", "text": "{{1}} {{2}}"}}),
            json!({"header": {"type": "text", "text": "{{a b}}"}}),
            json!({"footer": "{{1}}"}),
            json!({"footer": "x".repeat(61)}),
            json!({"footer": "a\u{0}b"}),
            json!({"footer": "a\u{202e}b"}),
            json!({"footer": 5}),
            json!({"buttons": {}}),
            json!({"buttons": vec![quick.clone(); 11]}),
            json!({"buttons": vec![quick; 1_000]}),
            json!({"buttons": [{"type": "quick_reply"}]}),
            button("other", json!({})),
            button("quick_reply", json!({"text": "x".repeat(26)})),
            button("quick_reply", json!({"text": "{{1}}"})),
            button("quick_reply", json!({"url": "https://loja.example"})),
            button("quick_reply", json!({"payload": "p"})),
            button("url", json!({})),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }

    /// X15, R376.
    #[test]
    fn a_page_may_end_in_one_variable_that_does_not_reach_the_host() {
        for url in [
            "https://loja.example",
            "http://loja.example:8080/a?b=c#d",
            "https://loja.example/{{1}}",
            "https://loja.example?pedido={{pedido}}",
            "https://loja.example/#{{1}}",
        ] {
            assert!(read(button("url", json!({ "url": url }))).is_ok(), "{url}");
        }
        for url in [
            "loja.example",
            "ftp://loja.example",
            "javascript:alert(1)",
            "https://",
            "https:///a",
            "https://loja.example/a b",
            "https://loja.exampleé/",
            "https://ana:x@loja.example/",
            "https://{{1}}",
            "https://loja.{{1}}",
            "https://loja.example{{1}}",
            "https://loja.example/{{1}}/x",
            "https://loja.example/{{1}}{{2}}",
            "https://loja.example/{{1",
            "https://loja.example/{{a b}}",
        ] {
            assert!(read(button("url", json!({ "url": url }))).is_err(), "{url}");
        }
    }
}
