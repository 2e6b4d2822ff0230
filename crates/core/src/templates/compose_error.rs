//! Why a template and what is given with it make no message (D48, D49, D69, X15).

use super::{TemplateNeeds, Variable};
use crate::problems::Problems;
use crate::text;

/// Something that is given with a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenPart {
    /// The value of a variable.
    Variable(Variable),
    /// What is given for the header.
    Header,
    /// What is given for the button at this position.
    Button(u32),
}

/// Why a template and what is given with it make no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.summary())]
pub enum ComposeError {
    /// These hold tags that were not filled in (D49); send the values that the tags stand for.
    LiteralTag(Vec<GivenPart>),
    /// Something that the template needs was not given.
    Lacking(Box<Lacking>),
    /// The template has no place for these (R308); leave them out.
    Surplus(Vec<GivenPart>),
    /// The whole text is longer than the channel allows; send shorter values.
    TooLong,
    /// The text of the header is longer than the channel allows; send a shorter value.
    HeaderTooLong,
}

/// What a template needs and was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lacking {
    /// Variables that have no value, or a blank one; send them.
    pub variables: Vec<Variable>,
    /// A header and buttons that were not given, or not as the template needs them; send them.
    /// What else it needs cannot be given here (D69); send it by the channel's own means.
    pub parts: TemplateNeeds,
}

/// The most characters of a header's text.
pub(super) const HEADER_CHARS: usize = 60;

impl ComposeError {
    /// The fields of a send that are at fault, with the reasons.
    fn reasons(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::LiteralTag(given) => at_fault(given, |at| match at {
                Some(at) => format!("hold a tag that was not filled in, at {at}"),
                None => "holds a tag that was not filled in".to_owned(),
            }),
            Self::Surplus(given) => at_fault(given, |at| match at {
                Some(at) => format!("hold what the template has no place for, at {at}"),
                None => "is not what the template has a place for".to_owned(),
            }),
            Self::TooLong => {
                let reason = format!("make a text of more than {} characters", text::MESSAGE);
                vec![("variables", reason)]
            }
            Self::HeaderTooLong => {
                vec![("header", format!("makes a text of more than {HEADER_CHARS} characters"))]
            }
            Self::Lacking(lacking) => lacking.reasons(),
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

impl Lacking {
    fn reasons(&self) -> Vec<(&'static str, String)> {
        let Self { variables, parts: TemplateNeeds { header, buttons, other } } = self;
        let said = |field, reason: String, is_lacking: bool| is_lacking.then_some((field, reason));
        let needed: Vec<String> = buttons.iter().map(ToString::to_string).collect();
        let kind = header.as_deref().unwrap_or_default();
        [
            said("variables", format!("lack {}", called(variables)), !variables.is_empty()),
            said("header", format!("is needed: {kind}"), header.is_some()),
            said("buttons", format!("lack {}", needed.join(", ")), !buttons.is_empty()),
            said(
                "template",
                format!("needs what cannot be given here: {}", other.join(", ")),
                !other.is_empty(),
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Each field at fault once; `reason` gets where in the field, unless that is one thing.
fn at_fault(
    given: &[GivenPart],
    reason: impl Fn(Option<String>) -> String,
) -> Vec<(&'static str, String)> {
    let (mut variables, mut buttons, mut header) = (Vec::new(), Vec::new(), false);
    for part in given {
        match part {
            GivenPart::Variable(variable) => variables.push(variable.clone()),
            GivenPart::Header => header = true,
            GivenPart::Button(index) => buttons.push(index.to_string()),
        }
    }
    let of_variables = (!variables.is_empty()).then(|| called(&variables));
    let of_buttons = (!buttons.is_empty()).then(|| format!("button {}", buttons.join(", ")));
    let fields = [
        of_variables.map(|at| ("variables", reason(Some(at)))),
        header.then(|| ("header", reason(None))),
        of_buttons.map(|at| ("buttons", reason(Some(at)))),
    ];
    fields.into_iter().flatten().collect()
}

/// `the positions 1, 2` or `the names nome, pedido`.
fn called(variables: &[Variable]) -> String {
    let listed: Vec<String> = variables.iter().map(ToString::to_string).collect();
    let sort = match variables.iter().any(|variable| variable.name().is_some()) {
        true => "names",
        false => "positions",
    };
    format!("the {sort} {}", listed.join(", "))
}
