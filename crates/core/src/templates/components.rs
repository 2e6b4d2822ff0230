//! What a template has beside its text: a header, a footer and buttons (X15).

use serde::{Deserialize, Serialize};

use super::{ButtonNeed, TemplateNeeds, Variable, one_sort, variables};
use crate::form::{json_of, to_json};
use crate::text::kept;
use crate::words::words;

/// The most buttons: what the official channel allows.
pub(super) const MAX_BUTTONS: usize = 10;
/// The most characters of a part that a gateway lists; it allows fewer.
const KEPT_CHARS: usize = 2_048;

words! {
    /// What the header of a template is.
    HeaderKind {
        /// A text.
        Text = "text",
        /// A picture.
        Image = "image",
        /// A video.
        Video = "video",
        /// A document.
        Document = "document",
        /// A place.
        Location = "location",
    }
}

words! {
    /// What a button of a template does.
    ButtonKind {
        /// It answers with its payload.
        QuickReply = "quick_reply",
        /// It opens a page.
        Url = "url",
        /// It calls a phone.
        Phone = "phone",
        /// It copies a code, such as that of a discount.
        CopyCode = "copy_code",
        /// It copies or fills in a one-time code.
        Otp = "otp",
        /// Something else that the gateway lists. Templates that are made here have none.
        Other = "other",
    }
}

/// The header of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = TemplateHeader))]
pub struct HeaderPart {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: HeaderKind,
    /// Its text, with at most one variable; only of a text.
    #[serde(default)]
    pub text: Option<String>,
}

/// A button of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = TemplateButton))]
pub struct ButtonPart {
    /// What it does.
    #[serde(rename = "type")]
    pub kind: ButtonKind,
    /// What stands on it.
    #[serde(default)]
    pub text: String,
    /// The page that it opens, which may end in a variable; only of a `url`.
    #[serde(default)]
    pub url: Option<String>,
}

/// What a template has beside its text (X15).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = TemplateComponents))]
#[serde(default)]
pub struct Components {
    /// What stands above the text.
    pub header: Option<HeaderPart>,
    /// What stands below the text.
    pub footer: Option<String>,
    /// The buttons, in order.
    pub buttons: Vec<ButtonPart>,
}

to_json!(HeaderPart, |header| json_of(header));
to_json!(ButtonPart, |button| json_of(button));
to_json!(Components, |components| json_of(components));

impl HeaderPart {
    /// The variable of its text.
    pub fn variable(&self) -> Option<Variable> {
        variables(self.text.as_deref().unwrap_or_default()).into_iter().next()
    }

    /// What has to be given for it: nothing for a fixed text (X15).
    fn need(&self) -> Option<HeaderKind> {
        let is_fixed = self.kind == HeaderKind::Text && self.variable().is_none();
        (!is_fixed).then_some(self.kind)
    }
}

impl ButtonPart {
    /// Its page without the variable at its end; `None` if it opens no page or has no variable.
    pub fn open_url(&self) -> Option<&str> {
        let url = self.url.as_deref().filter(|_| self.kind == ButtonKind::Url)?;
        let (page, _) = url.split_once("{{")?;
        Some(page)
    }

    /// Whether something has to be given for it (X15).
    fn is_needy(&self) -> bool {
        match self.kind {
            ButtonKind::Url => self.open_url().is_some(),
            ButtonKind::CopyCode | ButtonKind::Otp => true,
            ButtonKind::QuickReply | ButtonKind::Phone | ButtonKind::Other => false,
        }
    }
}

impl Components {
    /// What has to be given with a template that has these parts, beside the variables of its text
    /// (X15).
    pub fn needs(&self) -> TemplateNeeds {
        let header = self.header.as_ref().and_then(HeaderPart::need);
        let buttons = (0..).zip(&self.buttons).filter(|(_, button)| button.is_needy());
        let need = |(index, button): (u32, &ButtonPart)| ButtonNeed {
            index,
            kind: button.kind.as_str().to_owned(),
        };
        TemplateNeeds {
            header: header.map(|kind| kind.as_str().to_owned()),
            buttons: buttons.map(need).collect(),
            other: Vec::new(),
        }
    }

    /// Whether the variables of a template's text and of its header are of one sort (X15). The
    /// variable of a page does not count: the channel calls it `{{1}}` in every template.
    pub fn are_of_one_sort(&self, body: &str) -> bool {
        let of_header = self.header.as_ref().and_then(HeaderPart::variable);
        one_sort(variables(body).iter().chain(&of_header))
    }

    /// The same as they can be kept: what a gateway lists is cut.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let texts = self.header.iter_mut().flat_map(|header| &mut header.text);
        for text in texts.chain(&mut self.footer) {
            *text = kept(text, KEPT_CHARS);
        }
        self.buttons.truncate(2 * MAX_BUTTONS);
        for button in &mut self.buttons {
            button.text = kept(&button.text, KEPT_CHARS);
            button.url = button.url.take().map(|url| kept(&url, KEPT_CHARS));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn button(kind: ButtonKind, url: Option<&str>) -> ButtonPart {
        ButtonPart { kind, text: "Ver".to_owned(), url: url.map(str::to_owned) }
    }

    fn header(kind: HeaderKind, text: Option<&str>) -> Option<HeaderPart> {
        Some(HeaderPart { kind, text: text.map(str::to_owned) })
    }

    /// X15.
    #[test]
    fn only_what_is_not_fixed_has_to_be_given() {
        let buttons = vec![
            button(ButtonKind::QuickReply, None),
            button(ButtonKind::Url, Some("https://loja.example/")),
            button(ButtonKind::Url, Some("https://loja.example/{{1}}")),
            button(ButtonKind::Phone, None),
            button(ButtonKind::CopyCode, None),
            button(ButtonKind::Otp, None),
            button(ButtonKind::Other, None),
        ];
        let whole = Components { buttons, ..Components::default() };
        let needed = whole.needs();
        let named: Vec<_> =
            needed.buttons.iter().map(|need| (need.index, need.kind.as_str())).collect();
        assert_eq!(named, [(2, "url"), (4, "copy_code"), (5, "otp")]);
        for (header, needed) in [
            (None, None),
            (header(HeaderKind::Text, Some("Olá")), None),
            (header(HeaderKind::Text, Some("Olá {{1}}")), Some("text")),
            (header(HeaderKind::Text, Some("Olá {{nome}}")), Some("text")),
            (header(HeaderKind::Image, None), Some("image")),
            (header(HeaderKind::Location, None), Some("location")),
        ] {
            let needs = Components { header, ..Components::default() }.needs();
            assert_eq!((needs.header.as_deref(), needs.buttons.len()), (needed, 0));
        }
    }

    /// X15.
    #[test]
    fn text_and_header_have_one_sort_of_variables() {
        let of = |text: &str| Components {
            header: header(HeaderKind::Text, Some(text)),
            buttons: vec![button(ButtonKind::Url, Some("https://loja.example/{{1}}"))],
            ..Components::default()
        };
        assert!(of("{{1}}").are_of_one_sort("Oi {{1}}"));
        assert!(of("{{loja}}").are_of_one_sort("Oi {{nome}}"));
        assert!(of("{{loja}}").are_of_one_sort("Oi"));
        assert!(!of("{{1}}").are_of_one_sort("Oi {{nome}}"));
        assert!(!Components::default().are_of_one_sort("{{1}} {{nome}}"));
    }

    #[test]
    fn what_a_gateway_lists_is_bounded() {
        let long = Components {
            header: header(HeaderKind::Text, Some(&"é".repeat(5_000))),
            footer: Some("a\u{7}".repeat(5_000)),
            buttons: vec![button(ButtonKind::Url, Some(&"x".repeat(5_000))); 100],
        };
        let kept = long.bounded();
        let text = kept.header.and_then(|header| header.text).expect("a text");
        assert_eq!(text.chars().count(), KEPT_CHARS);
        assert_eq!(kept.footer, Some("a".repeat(KEPT_CHARS)));
        assert_eq!(kept.buttons.len(), 2 * MAX_BUTTONS);
        assert!(
            kept.buttons
                .iter()
                .all(|button| button.url.as_ref().is_some_and(|url| url.len() == KEPT_CHARS))
        );
    }

    #[test]
    fn what_is_kept_is_read_back_also_where_keys_are_missing() {
        let read = |text: &str| serde_json::from_str::<Components>(text).expect("components");
        assert_eq!(read("{}"), Components::default());
        let kept = r#"{"header":{"type":"image","text":null},"footer":"x","buttons":[{"type":"url","text":"Ver","url":"https://x"}]}"#;
        assert_eq!(serde_json::to_string(&read(kept)).expect("JSON"), kept);
        assert_eq!(
            read(
                r#"{"header":{"type":"image"},"footer":"x","buttons":[{"type":"url","text":"Ver","url":"https://x"}]}"#
            ),
            read(kept)
        );
    }
}
