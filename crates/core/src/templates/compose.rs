//! Making a message of a template and its variables. API sends, dispatches, campaigns and agents
//! all use it (D40, D49).

use std::collections::BTreeMap;

use super::{Template, TemplateCategory, literal_tag, positions, render, rendered_chars};
use crate::gateway::Content;
use crate::ids::{ConnectionId, TemplateId};
use crate::text;

/// A message made from a template.
#[derive(Clone, PartialEq, Eq)]
pub struct Composed {
    /// The template.
    pub template: TemplateId,
    /// Its category.
    pub category: TemplateCategory,
    /// The only connection it may be sent through.
    pub connection: Option<ConnectionId>,
    /// The content of the message.
    pub content: Content,
}

/// Why a template and variables make no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// The template has parts beside its text that have to be filled in (D69); send it by the
    /// channel's own means.
    #[error("cannot fill in this template: it needs more than its text")]
    Complex,
    /// The values of these positions are tags that were not filled in (D49); send the values that
    /// the tags stand for.
    #[error("hold a tag that was not filled in, at the positions {}", listed(.0))]
    LiteralTag(Vec<u32>),
    /// These positions have no value, or a blank one; send them.
    #[error("lack the positions {}", listed(.0))]
    Missing(Vec<u32>),
    /// The whole text is longer than the channel allows; send shorter values.
    #[error("make a text of more than {} characters", text::MESSAGE)]
    TooLong,
}

fn listed(positions: &[u32]) -> String {
    let positions: Vec<String> = positions.iter().map(u32::to_string).collect();
    positions.join(", ")
}

/// Fills a template in. Values for variables that it does not have are ignored (R80).
///
/// # Errors
///
/// [`ComposeError`]: a template that cannot be filled in first, then literal tags, then missing
/// values (D49, R118).
pub fn compose(
    template: &Template,
    variables: &BTreeMap<u32, String>,
) -> Result<Composed, ComposeError> {
    if template.is_complex {
        return Err(ComposeError::Complex);
    }
    let wanted = positions(&template.body);
    let is_literal =
        |position: &u32| variables.get(position).is_some_and(|value| literal_tag(value));
    let literal: Vec<u32> = wanted.iter().copied().filter(is_literal).collect();
    if !literal.is_empty() {
        return Err(ComposeError::LiteralTag(literal));
    }
    // The length is checked before rendering, as a value may be inserted many times.
    let is_long = rendered_chars(&template.body, variables) > text::MESSAGE;
    let rendered = match is_long {
        false => render(&template.body, variables).map_err(ComposeError::Missing)?,
        true => return Err(ComposeError::TooLong),
    };
    let values = wanted.iter().filter_map(|position| variables.get(position).cloned());
    Ok(Composed {
        template: template.id,
        category: template.category,
        connection: template.connection,
        content: Content::Template {
            name: template.name.clone(),
            language: template.language.clone(),
            variables: values.collect(),
            rendered,
        },
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::super::TemplateStatus;
    use super::*;
    use crate::Timestamp;
    use crate::ids::CompanyId;

    fn template(body: &str) -> Template {
        let at = Timestamp::from_millis(0);
        Template {
            id: TemplateId::new(Uuid::from_u128(1)),
            company: CompanyId::new(Uuid::from_u128(2)),
            name: "welcome".into(),
            category: TemplateCategory::Utility,
            language: "pt_BR".into(),
            body: body.into(),
            status: TemplateStatus::Approved,
            connection: None,
            provider_id: None,
            is_complex: false,
            token: Uuid::from_u128(3),
            created_at: at,
            updated_at: at,
        }
    }

    fn made(body: &str, variables: &[(u32, &str)]) -> Result<Content, ComposeError> {
        let variables = variables.iter().map(|(at, value)| (*at, (*value).to_owned())).collect();
        compose(&template(body), &variables).map(|composed| composed.content)
    }

    #[test]
    fn only_the_templates_own_positions_go_to_the_gateway_in_order() {
        let content = made("{{2}} e {{1}}", &[(1, "a"), (2, "b"), (3, "{{name}}")]);
        let Ok(Content::Template { variables, rendered, .. }) = content else { panic!("refused") };
        assert_eq!((variables, rendered), (vec!["a".into(), "b".into()], "b e a".to_owned()));
    }

    #[test]
    fn literal_tags_are_named_before_what_is_missing() {
        let tag = made("{{1}} {{2}}", &[(1, "{{name}}")]);
        assert_eq!(tag, Err(ComposeError::LiteralTag(vec![1])));
        assert_eq!(made("{{1}} {{2}}", &[(1, "a")]), Err(ComposeError::Missing(vec![2])));
        assert_eq!(made("{{1}}", &[(1, "  ")]), Err(ComposeError::Missing(vec![1])));
    }

    /// R85.
    #[test]
    fn a_text_longer_than_the_channel_carries_is_refused() {
        assert!(made("{{1}}", &[(1, &"ã".repeat(4096))]).is_ok());
        assert_eq!(made("{{1}}", &[(1, &"ã".repeat(4097))]), Err(ComposeError::TooLong));
    }
}
