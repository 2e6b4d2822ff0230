//! Making a message of a template and its variables. API sends, dispatches, campaigns and agents
//! all use it (D40, D49).

use std::collections::BTreeMap;

use super::{
    Template, TemplateCategory, TemplateNeeds, literal_tag, positions, render, rendered_chars,
};
use crate::gateway::Content;
use crate::ids::{ConnectionId, TemplateId};
use crate::problems::Problems;
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
#[error("{}", self.summary())]
pub enum ComposeError {
    /// The values of these positions are tags that were not filled in (D49); send the values that
    /// the tags stand for.
    LiteralTag(Vec<u32>),
    /// Something that the template needs was not given.
    Lacking(Box<Lacking>),
    /// The whole text is longer than the channel allows; send shorter values.
    TooLong,
}

/// What a template needs and was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lacking {
    /// Positions that have no value, or a blank one; send them.
    pub variables: Vec<u32>,
    /// What cannot be given with variables (D69); send the template by the channel's own means.
    pub parts: TemplateNeeds,
}

impl ComposeError {
    /// The fields of a send that are at fault, with the reasons.
    fn reasons(&self) -> Vec<(&'static str, String)> {
        let of_variables = |reason| vec![("variables", reason)];
        match self {
            Self::LiteralTag(at) => of_variables(format!(
                "hold a tag that was not filled in, at the positions {}",
                listed(at)
            )),
            Self::TooLong => {
                of_variables(format!("make a text of more than {} characters", text::MESSAGE))
            }
            Self::Lacking(lacking) => {
                let Lacking { variables, parts } = &**lacking;
                let missing = format!("lack the positions {}", listed(variables));
                let needed = format!("needs what cannot be given here: {parts}");
                let missing = (!variables.is_empty()).then_some(("variables", missing));
                missing
                    .into_iter()
                    .chain((!parts.is_empty()).then_some(("template", needed)))
                    .collect()
            }
        }
    }

    fn summary(&self) -> String {
        let reasons = self.reasons();
        let texts: Vec<String> =
            reasons.iter().map(|(field, reason)| format!("{field} {reason}")).collect();
        texts.join("; ")
    }

    /// The fields of a body that are at fault, each with its reason.
    pub fn problems(&self) -> Problems {
        let mut problems = Problems::new();
        for (field, reason) in self.reasons() {
            problems.add(field, reason);
        }
        problems
    }
}

fn listed(positions: &[u32]) -> String {
    let positions: Vec<String> = positions.iter().map(u32::to_string).collect();
    positions.join(", ")
}

/// Fills a template in. Values for variables that it does not have are not sent, but are checked
/// for literal tags like the others (D49).
///
/// # Errors
///
/// [`ComposeError`]: literal tags first, then everything that is missing (D48, D49, D69, R118).
pub fn compose(
    template: &Template,
    variables: &BTreeMap<u32, String>,
) -> Result<Composed, ComposeError> {
    let wanted = positions(&template.body);
    let literal: Vec<u32> = variables
        .iter()
        .filter_map(|(position, value)| literal_tag(value).then_some(*position))
        .collect();
    if !literal.is_empty() {
        return Err(ComposeError::LiteralTag(literal));
    }
    let lacking = |variables: Vec<u32>| {
        let parts = template.needs.clone();
        ComposeError::Lacking(Box::new(Lacking { variables, parts }))
    };
    // The length is checked before rendering, as a value may be inserted many times.
    let is_long = rendered_chars(&template.body, variables) > text::MESSAGE;
    let rendered = match is_long {
        false => render(&template.body, variables).map_err(lacking)?,
        true => return Err(ComposeError::TooLong),
    };
    if !template.needs.is_empty() {
        return Err(lacking(Vec::new()));
    }
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

    use super::super::{TemplateStatus, TemplateTokenHash};
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
            needs: TemplateNeeds::default(),
            token_hash: TemplateTokenHash::from_bytes([3; 32]),
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
        let content = made("{{2}} e {{1}}", &[(1, "a"), (2, "b"), (3, "surplus")]);
        let Ok(Content::Template { variables, rendered, .. }) = content else { panic!("refused") };
        assert_eq!((variables, rendered), (vec!["a".into(), "b".into()], "b e a".to_owned()));
    }

    #[test]
    fn literal_tags_are_named_before_what_is_missing() {
        let tag = made("{{1}} {{2}}", &[(1, "{{name}}")]);
        assert_eq!(tag, Err(ComposeError::LiteralTag(vec![1])));
        assert_eq!(made("{{1}} {{2}}", &[(1, "a")]), lacks(vec![2]));
        assert_eq!(made("{{1}}", &[(1, "  ")]), lacks(vec![1]));
    }

    fn lacks(variables: Vec<u32>) -> Result<Content, ComposeError> {
        let parts = TemplateNeeds::default();
        Err(ComposeError::Lacking(Box::new(Lacking { variables, parts })))
    }

    /// D49.
    #[test]
    fn a_surplus_variable_with_a_literal_tag_is_refused_like_any_other() {
        let given = [(1, "a"), (7, "[NOME]"), (9, "%%X%%")];
        assert_eq!(made("{{1}}", &given), Err(ComposeError::LiteralTag(vec![7, 9])));
    }

    /// D69.
    #[test]
    fn everything_that_a_template_lacks_is_named_at_once() {
        let needs = TemplateNeeds { header: Some("image".into()), ..TemplateNeeds::default() };
        let template = Template { needs: needs.with("carousel"), ..template("{{1}} {{2}}") };
        let made = |given: &[(u32, &str)]| {
            let given = given.iter().map(|(at, value)| (*at, (*value).to_owned())).collect();
            compose(&template, &given).map(|composed| composed.content)
        };
        let refused = made(&[(1, "a")]).expect_err("refused");
        let text = refused.to_string();
        assert!(text.contains("variables lack the positions 2; template needs"), "{text}");
        assert!(text.contains("a header (image), carousel"), "{text}");
        let problems = refused.problems();
        assert_eq!(problems.fields().collect::<Vec<_>>(), ["variables", "template"]);
        let only_parts = made(&[(1, "a"), (2, "b")]).expect_err("refused").problems();
        assert_eq!(only_parts.fields().collect::<Vec<_>>(), ["template"]);
        let tags = made(&[(1, "{x}")]).expect_err("refused");
        assert_eq!(tags, ComposeError::LiteralTag(vec![1]));
    }

    /// R85.
    #[test]
    fn a_text_longer_than_the_channel_carries_is_refused() {
        assert!(made("{{1}}", &[(1, &"ã".repeat(4096))]).is_ok());
        assert_eq!(made("{{1}}", &[(1, &"ã".repeat(4097))]), Err(ComposeError::TooLong));
    }
}
