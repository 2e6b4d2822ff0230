//! What a template has beside its text, and what of it cannot be given (D69, X15).

use recado_core::templates::{
    ButtonKind, ButtonNeed, ButtonPart, Components, HeaderKind, HeaderPart, TemplateNeeds,
    Variable, positions, unknown_tag, variables,
};
use serde_json::Value;

use crate::shared::{array, text};

/// The page of a button for one-time codes begins so: the API lists the button as a link.
const OTP_PAGE: &str = "https://www.whatsapp.com/otp/";

/// Variables whose names cannot be given.
const CALLED_OTHERWISE: &str = "variables that are called otherwise";

/// A template's parts and needs.
pub(super) struct Shape {
    pub(super) components: Components,
    pub(super) needs: TemplateNeeds,
}

/// What a template with these components has, and what it needs: what has to be filled in beside
/// the variables of its text, and parts that are not known. `format` is how its variables are said
/// to be called.
pub(super) fn shape(listed: &[Value], format: Option<&str>) -> Shape {
    let mut shape = Shape { components: Components::default(), needs: TemplateNeeds::default() };
    let (mut other, mut unknown) = (Vec::new(), TemplateNeeds::default());
    let bodies: Vec<&Value> = listed.iter().filter(|component| kind(component) == "body").collect();
    if bodies.len() != 1 {
        other.push("one text".to_owned());
    }
    let written = bodies.first().and_then(|body| text(body, "text")).unwrap_or_default();
    for component in listed {
        add(&mut shape.components, &mut unknown, &mut other, component);
    }
    let is_one = shape.components.are_of_one_sort(written);
    other.extend((!is_one).then(|| "one sort of variables".to_owned()));
    let found = variables(written);
    let is_as_said = match format {
        None => true,
        Some("POSITIONAL") => found.iter().all(|variable| variable.name().is_none()),
        Some("NAMED") => found.iter().all(|variable| variable.name().is_some()),
        Some(_) => false,
    };
    other.extend((!is_as_said).then(|| CALLED_OTHERWISE.to_owned()));
    shape.needs = shape.components.needs();
    shape.needs.header = shape.needs.header.or(unknown.header);
    shape.needs.buttons.extend(unknown.buttons);
    shape.needs.buttons.sort_by_key(|need| need.index);
    shape.needs.other = other;
    shape
}

/// What a part of a template is, in lower case.
fn kind(value: &Value) -> String {
    text(value, "type").unwrap_or_default().to_ascii_lowercase()
}

/// Adds one component, or what is needed of it.
fn add(
    known: &mut Components,
    unknown: &mut TemplateNeeds,
    other: &mut Vec<String>,
    component: &Value,
) {
    let written = text(component, "text").unwrap_or_default();
    match kind(component).as_str() {
        "body" => other.extend(needed_by_text(written).map(str::to_owned)),
        "header" => {
            let format = text(component, "format").unwrap_or("TEXT").to_ascii_lowercase();
            match HeaderKind::parse(&format) {
                Some(HeaderKind::Text) => {
                    other.extend(needed_by_header(written).map(str::to_owned));
                    let text = Some(written.to_owned());
                    known.header = Some(HeaderPart { kind: HeaderKind::Text, text });
                }
                Some(kind) => known.header = Some(HeaderPart { kind, text: None }),
                None => unknown.header = Some(format),
            }
        }
        "footer" => {
            other.extend(written.contains("{{").then(|| "variables of the footer".to_owned()));
            known.footer = Some(written.to_owned());
        }
        "buttons" => {
            for (index, listed) in (0..).zip(array(component, "buttons")) {
                let part = button(listed);
                if part.kind == ButtonKind::Other && !is_fixed(listed) {
                    unknown.buttons.push(ButtonNeed { index, kind: kind(listed) });
                }
                let page = part.url.as_deref().unwrap_or_default();
                let is_odd = part.kind == ButtonKind::Url && !takes_its_end(page);
                other.extend(is_odd.then(|| format!("another variable of button {index}")));
                known.buttons.push(part);
            }
        }
        "" => other.push("a part without a type".to_owned()),
        part => other.push(part.to_owned()),
    }
}

/// What a text needs whose variables cannot be filled in: positions go from 1 without a gap.
fn needed_by_text(written: &str) -> Option<&'static str> {
    if written.trim().is_empty() {
        return Some("a text that is not empty");
    }
    if unknown_tag(written).is_some() {
        return Some(CALLED_OTHERWISE);
    }
    let gapless = (1..).zip(&positions(written)).all(|(expected, number)| expected == *number);
    (!gapless).then_some("variables numbered from 1 without a gap")
}

/// What the text of a header needs that cannot be given: it takes one variable.
fn needed_by_header(written: &str) -> Option<&'static str> {
    let found = variables(written);
    let is_first = |variable: &Variable| !matches!(variable, Variable::Position(2..));
    let fits = found.len() <= 1 && found.iter().all(is_first) && unknown_tag(written).is_none();
    (!fits).then_some("other variables of the header")
}

fn button(listed: &Value) -> ButtonPart {
    let url = text(listed, "url");
    let is_otp = url.is_some_and(|url| url.starts_with(OTP_PAGE));
    let kind = match kind(listed).as_str() {
        "quick_reply" => ButtonKind::QuickReply,
        "url" if is_otp => ButtonKind::Otp,
        "url" if url.is_some() => ButtonKind::Url,
        "phone_number" => ButtonKind::Phone,
        "copy_code" => ButtonKind::CopyCode,
        "otp" => ButtonKind::Otp,
        _ => ButtonKind::Other,
    };
    ButtonPart {
        kind,
        text: text(listed, "text").unwrap_or_default().to_owned(),
        url: url.filter(|_| kind == ButtonKind::Url).map(str::to_owned),
    }
}

/// Whether a button of another kind needs no value: flows, catalogues and unknown ones do.
fn is_fixed(listed: &Value) -> bool {
    kind(listed) == "voice_call"
}

/// Whether a page is fixed, or has one variable, at its end.
fn takes_its_end(page: &str) -> bool {
    page.split_once("{{").is_none_or(|(_, end)| end.find("}}") == Some(end.len().wrapping_sub(2)))
}
