//! What a template needs beside the variables of its text (D69).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The most of one sort that is kept; a gateway allows fewer.
const MAX_NEEDS: usize = 20;
/// The longest word of a gateway that is kept.
const MAX_CHARS: usize = 60;

/// A button whose content has to be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ButtonNeed {
    /// Its position among the template's buttons, from 0.
    pub index: u32,
    /// What it is, as the gateway calls it, in lower case: `url`, `copy_code`, `otp`, ….
    #[serde(rename = "type")]
    pub kind: String,
}

impl fmt::Display for ButtonNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "button {} ({})", self.index, self.kind)
    }
}

/// What a template needs beside the variables of its text, so that it cannot be filled in by these
/// alone (D69). Empty for a template that needs nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateNeeds {
    /// The content of its header, as the gateway calls it, in lower case: `text`, `image`, `video`,
    /// `document`, `location`, ….
    pub header: Option<String>,
    /// The contents of buttons.
    pub buttons: Vec<ButtonNeed>,
    /// What else, in words for people.
    pub other: Vec<String>,
}

impl TemplateNeeds {
    /// Whether the variables of its text are all that the template needs.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The same with one more thing that is needed, in words for people.
    #[must_use]
    pub fn with(mut self, other: impl Into<String>) -> Self {
        self.other.push(other.into());
        self
    }

    /// The same as it can be kept: the words of a gateway are cut, and few of them are kept.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let cut = |word: &mut String| {
            *word = word.chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect();
        };
        self.buttons.truncate(MAX_NEEDS);
        self.other.truncate(MAX_NEEDS);
        self.header.iter_mut().for_each(cut);
        self.buttons.iter_mut().map(|button| &mut button.kind).for_each(cut);
        self.other.iter_mut().for_each(cut);
        self
    }
}

/// What is needed, for people: `a header (image), button 0 (url)`.
impl fmt::Display for TemplateNeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = self.header.iter().map(|kind| format!("a header ({kind})"));
        let buttons = self.buttons.iter().map(ToString::to_string);
        let all = header.chain(buttons).chain(self.other.iter().cloned());
        f.write_str(&all.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_need_is_named_for_people() {
        let button = |index, kind: &str| ButtonNeed { index, kind: kind.to_owned() };
        let needs = TemplateNeeds {
            header: Some("image".to_owned()),
            buttons: vec![button(0, "url"), button(2, "copy_code")],
            other: vec!["carousel".to_owned()],
        };
        let text = "a header (image), button 0 (url), button 2 (copy_code), carousel";
        assert_eq!(needs.to_string(), text);
        assert!(!needs.is_empty() && TemplateNeeds::default().is_empty());
    }

    #[test]
    fn what_a_gateway_says_is_bounded() {
        let long = TemplateNeeds::default().with("ã\u{7}".repeat(100));
        assert_eq!(long.bounded().other, ["ã".repeat(MAX_CHARS)]);
        let many = (0..100).fold(TemplateNeeds::default(), |needs, n| needs.with(n.to_string()));
        assert_eq!(many.bounded().other.len(), MAX_NEEDS);
    }

    #[test]
    fn what_is_kept_is_read_back_also_where_keys_are_missing() {
        let read = |text: &str| serde_json::from_str::<TemplateNeeds>(text).expect("needs");
        assert_eq!(read("{}"), TemplateNeeds::default());
        let kept = r#"{"header":"image","buttons":[{"index":1,"type":"url"}],"other":[]}"#;
        assert_eq!(serde_json::to_string(&read(kept)).expect("JSON"), kept);
    }
}
