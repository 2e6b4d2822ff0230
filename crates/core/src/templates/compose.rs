//! Making a message of a template and what is given with it. API sends, dispatches, campaigns and
//! agents all use it (D40, D49, X15).

use super::compose_error::HEADER_CHARS;
use super::fit::{Fitted, fit};
use super::offer::offer;
use super::{
    ComposeError, GivenPart, HeaderValue, Lacking, Parameter, Template, TemplateCategory,
    TemplateContent, TemplateValues, Variable, VariableValues, literal_tag, ordered, render,
    rendered_chars, variables,
};
use crate::gateway::Content;
use crate::ids::{ConnectionId, TemplateId};
use crate::text;
use crate::uploads::FileWish;

/// A message made from a template.
#[derive(Clone, PartialEq, Eq)]
pub struct Composed {
    /// The template.
    pub template: TemplateId,
    /// Its category.
    pub category: TemplateCategory,
    /// The only connection it may be sent through.
    pub connection: Option<ConnectionId>,
    /// The content of the message. A file in its header is
    /// [pending](crate::gateway::OutgoingFile::pending).
    pub content: Content,
    /// The file of its header, which is still to be got.
    pub file: Option<FileWish>,
}

/// What is given and holds a tag that was not filled in (D49), wherever it is a text.
fn literal_tags(values: &TemplateValues) -> Vec<GivenPart> {
    let of_variables = values.variables.iter().filter(|(_, value)| literal_tag(value));
    let of_header = values.header.iter().flat_map(HeaderValue::texts);
    let of_buttons = values.buttons.iter().filter(|button| literal_tag(button.given.text()));
    of_variables
        .map(|(variable, _)| GivenPart::Variable(variable.clone()))
        .chain(of_header.filter(|text| literal_tag(text)).map(|_| GivenPart::Header))
        .chain(of_buttons.map(|button| GivenPart::Button(button.index)))
        .collect()
}

/// The values of a template with these variables. Where they are words, a position stands for the
/// word that appears there, unless that was given itself (R306).
fn by_name(wanted: &[Variable], mut given: VariableValues) -> VariableValues {
    for (position, variable) in (1..).zip(wanted) {
        if variable.name().is_some()
            && !given.contains_key(variable)
            && let Some(value) = given.get(&Variable::Position(position)).cloned()
        {
            given.insert(variable.clone(), value);
        }
    }
    given
}

/// Fills a template in. Values for variables that it does not have are not sent, but are checked
/// for literal tags like the others (D49).
///
/// # Errors
///
/// [`ComposeError`]: literal tags first, then everything that is missing, then what the template
/// has no place for (D48, D49, D69, R118, X15).
pub fn compose(template: &Template, values: &TemplateValues) -> Result<Composed, ComposeError> {
    let literal = literal_tags(values);
    if !literal.is_empty() {
        return Err(ComposeError::LiteralTag(literal));
    }
    let wanted = variables(&template.body);
    let filled = by_name(&wanted, values.variables.clone());
    // The length is checked before rendering, as a value may be inserted many times.
    if rendered_chars(&template.body, &filled) > text::MESSAGE {
        return Err(ComposeError::TooLong);
    }
    let rendered = render(&template.body, &filled);
    let Fitted { header, buttons, lacking, surplus, file } = fit(template, values);
    let missing = rendered.as_ref().err().cloned().unwrap_or_default();
    let rendered = match rendered {
        Ok(rendered) if lacking.is_empty() => rendered,
        _ => {
            let lacking = Lacking { variables: missing, parts: lacking };
            return Err(ComposeError::Lacking(Box::new(lacking)));
        }
    };
    if !surplus.is_empty() {
        return Err(ComposeError::Surplus(surplus));
    }
    let offer = offer(&template.components, header.as_ref(), values, &rendered);
    let above = offer.as_ref().and_then(|offer| offer.header.as_ref()?.text.as_deref());
    if above.is_some_and(|text| text.chars().count() > HEADER_CHARS) && header.is_some() {
        return Err(ComposeError::HeaderTooLong);
    }
    let parameter = |variable: &Variable| Parameter {
        name: variable.name().map(str::to_owned),
        text: filled.get(variable).cloned().unwrap_or_default(),
    };
    Ok(Composed {
        template: template.id,
        category: template.category,
        connection: template.connection,
        content: Content::Template(TemplateContent {
            name: template.name.clone(),
            language: template.language.clone(),
            variables: ordered(wanted).iter().map(parameter).collect(),
            rendered,
            header,
            buttons,
            offer: offer.map(Box::new),
        }),
        file,
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::super::{
        ButtonKind, ButtonNeed, ButtonPart, ButtonValue, Components, GivenButton, HeaderKind,
        HeaderPart, SentButton, SentHeader, TemplateNeeds, TemplateStatus, TemplateTokenHash,
    };
    use super::*;
    use crate::Timestamp;
    use crate::gateway::FileKind;
    use crate::ids::{CompanyId, UploadId};
    use crate::messages::{Offer, OfferKind};
    use crate::uploads::FileSource;

    fn template(body: &str) -> Template {
        let at = Timestamp::from_millis(0);
        Template {
            id: TemplateId::new(Uuid::from_u128(1)),
            company: CompanyId::new(Uuid::from_u128(2)),
            name: "welcome".into(),
            category: TemplateCategory::Utility,
            language: "pt_BR".into(),
            body: body.into(),
            components: Components::default(),
            status: TemplateStatus::Approved,
            connection: None,
            provider_id: None,
            needs: TemplateNeeds::default(),
            token_hash: TemplateTokenHash::from_bytes([3; 32]),
            created_at: at,
            updated_at: at,
        }
    }

    fn with_parts(body: &str, components: Components) -> Template {
        Template { needs: components.needs(), components, ..template(body) }
    }

    fn values(variables: &[(&str, &str)]) -> TemplateValues {
        let read = |name: &str| Variable::parse(name).expect("a variable");
        let pair = |(name, value): &(&str, &str)| (read(name), (*value).to_owned());
        variables.iter().map(pair).collect::<VariableValues>().into()
    }

    fn content(
        template: &Template,
        given: &TemplateValues,
    ) -> Result<TemplateContent, ComposeError> {
        match compose(template, given)?.content {
            Content::Template(content) => Ok(content),
            other => panic!("{other:?}"),
        }
    }

    fn made(body: &str, variables: &[(&str, &str)]) -> Result<TemplateContent, ComposeError> {
        content(&template(body), &values(variables))
    }

    fn texts(content: &TemplateContent) -> Vec<(Option<&str>, &str)> {
        content.variables.iter().map(|it| (it.name.as_deref(), it.text.as_str())).collect()
    }

    #[test]
    fn only_the_templates_own_positions_go_to_the_gateway_in_order() {
        let content = made("{{2}} e {{1}}", &[("1", "a"), ("2", "b"), ("3", "surplus")]);
        let content = content.expect("composed");
        assert_eq!(texts(&content), [(None, "a"), (None, "b")]);
        assert_eq!((content.rendered.as_str(), content.offer), ("b e a", None));
    }

    /// X15, R306.
    #[test]
    fn variables_by_name_are_given_by_name_or_by_the_position_in_which_they_appear() {
        for given in [
            &[("pedido", "77"), ("nome", "Ana")][..],
            &[("2", "77"), ("1", "Ana"), ("3", "surplus")],
            &[("nome", "Ana"), ("1", "not this"), ("2", "77")],
        ] {
            let content = made("Olá {{nome}}, {{pedido}}. {{nome}}!", given).expect("composed");
            assert_eq!(texts(&content), [(Some("nome"), "Ana"), (Some("pedido"), "77")]);
            assert_eq!(content.rendered, "Olá Ana, 77. Ana!");
        }
        let lacks = made("{{nome}} {{pedido}}", &[("2", "77")]).expect_err("refused");
        assert_eq!(lacks.to_string(), "variables lack the names nome");
        assert_eq!(made("{{1}}", &[("nome", "Ana")]), lacks_positions(&["1"]));
    }

    #[test]
    fn literal_tags_are_named_before_what_is_missing() {
        let tag = made("{{1}} {{2}}", &[("1", "{{name}}")]);
        assert_eq!(tag, Err(ComposeError::LiteralTag(vec![GivenPart::Variable(1.into())])));
        assert_eq!(made("{{1}} {{2}}", &[("1", "a")]), lacks_positions(&["2"]));
        assert_eq!(made("{{1}}", &[("1", "  ")]), lacks_positions(&["1"]));
    }

    fn lacks_positions(names: &[&str]) -> Result<TemplateContent, ComposeError> {
        let variables = names.iter().filter_map(|name| Variable::parse(name)).collect();
        let parts = TemplateNeeds::default();
        Err(ComposeError::Lacking(Box::new(Lacking { variables, parts })))
    }

    /// D49.
    #[test]
    fn a_surplus_variable_with_a_literal_tag_is_refused_like_any_other() {
        let given = [("1", "a"), ("7", "[NOME]"), ("9", "%%X%%"), ("nome", "{x}")];
        let parts = ["7", "9", "nome"].map(|name| Variable::parse(name).map(GivenPart::Variable));
        let parts = parts.into_iter().flatten().collect();
        assert_eq!(made("{{1}}", &given), Err(ComposeError::LiteralTag(parts)));
    }

    fn whole() -> Template {
        let button = |kind, text: &str, url: Option<&str>| ButtonPart {
            kind,
            text: text.to_owned(),
            url: url.map(str::to_owned),
        };
        let header =
            HeaderPart { kind: HeaderKind::Text, text: Some("Pedido {{pedido}}".to_owned()) };
        let components = Components {
            header: Some(header),
            footer: Some("Responda SAIR".to_owned()),
            buttons: vec![
                button(ButtonKind::QuickReply, "Certo", None),
                button(ButtonKind::Url, "Ver", Some("https://loja.example/{{1}}")),
                button(ButtonKind::CopyCode, "Copiar", None),
            ],
        };
        with_parts("Olá {{nome}}", components)
    }

    fn button(index: u32, given: GivenButton) -> ButtonValue {
        ButtonValue { index, given }
    }

    fn all() -> TemplateValues {
        TemplateValues {
            header: Some(HeaderValue::Text { text: "77".to_owned() }),
            buttons: vec![
                button(2, GivenButton::Code("PROMO".to_owned())),
                button(1, GivenButton::UrlSuffix("p/77".to_owned())),
                button(0, GivenButton::Payload("certo-77".to_owned())),
            ],
            ..values(&[("nome", "Ana")])
        }
    }

    /// X15.
    #[test]
    fn header_and_buttons_are_sent_with_what_was_given_for_them() {
        let content = content(&whole(), &all()).expect("composed");
        let name = Some("pedido".to_owned());
        assert_eq!(
            content.header,
            Some(SentHeader::Text(Parameter { name, text: "77".to_owned() }))
        );
        assert_eq!(
            content.buttons,
            [
                (0, SentButton::Payload("certo-77".to_owned())),
                (1, SentButton::UrlSuffix("p/77".to_owned())),
                (2, SentButton::CopyCode("PROMO".to_owned())),
            ]
        );
        let Some(offer) = content.offer else { panic!("nothing is shown") };
        let Offer { kind, header, body, footer, buttons, .. } = *offer;
        let above = header.and_then(|header| header.text);
        assert_eq!((kind, above.as_deref()), (OfferKind::Other, Some("Pedido 77")));
        assert_eq!((body.as_deref(), footer.as_deref()), (Some("Olá Ana"), Some("Responda SAIR")));
        let shown: Vec<_> = buttons.into_iter().flatten().map(|it| (it.id, it.title)).collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            shown,
            [(text("certo-77"), text("Certo")), (None, text("Ver")), (None, text("Copiar"))]
        );
    }

    /// X15, D69.
    #[test]
    fn everything_that_a_template_lacks_is_named_at_once() {
        let refused = compose(&whole(), &TemplateValues::default()).err().expect("refused");
        assert_eq!(
            refused.to_string(),
            "variables lack the names nome; header is needed: text; \
             buttons lack button 1 (url), button 2 (copy_code)"
        );
        let problems = refused.problems();
        assert_eq!(problems.fields().collect::<Vec<_>>(), ["variables", "header", "buttons"]);
        // What is given is not what is needed.
        let wrong = TemplateValues {
            header: Some(HeaderValue::Url { url: "https://x".to_owned(), filename: None }),
            buttons: vec![button(1, GivenButton::Code("x".to_owned()))],
            ..values(&[("nome", "Ana")])
        };
        let refused = compose(&whole(), &wrong).err().expect("refused").problems();
        assert_eq!(refused.fields().collect::<Vec<_>>(), ["header", "buttons"]);
    }

    /// D69.
    #[test]
    fn what_cannot_be_given_is_named_with_what_lacks() {
        let flow = ButtonNeed { index: 1, kind: "flow".to_owned() };
        let needs = TemplateNeeds {
            header: Some("gif".to_owned()),
            buttons: vec![flow],
            other: vec!["carousel".to_owned()],
        };
        let template = Template { needs, ..template("{{1}} {{2}}") };
        let given = TemplateValues {
            header: Some(HeaderValue::Text { text: "Ana".to_owned() }),
            buttons: vec![button(1, GivenButton::Payload("x".to_owned()))],
            ..values(&[("1", "a")])
        };
        let refused = compose(&template, &given).err().expect("refused").to_string();
        assert_eq!(
            refused,
            "variables lack the positions 2; header is needed: gif; buttons lack button 1 (flow); \
             template needs what cannot be given here: carousel"
        );
    }

    /// X15.
    #[test]
    fn a_file_in_the_header_is_wished_for_as_the_template_needs_it() {
        let header = |kind| Some(HeaderPart { kind, text: None });
        let url = HeaderValue::Url {
            url: "https://loja.example/4711.pdf".to_owned(),
            filename: Some("nota.pdf".to_owned()),
        };
        let media_id = UploadId::new(Uuid::from_u128(9));
        let upload = HeaderValue::Upload { media_id, filename: None };
        for (kind, given, expected) in [
            (HeaderKind::Document, &url, FileKind::Document),
            (HeaderKind::Image, &url, FileKind::Image),
            (HeaderKind::Video, &upload, FileKind::Video),
        ] {
            let components = Components { header: header(kind), ..Components::default() };
            let given = TemplateValues { header: Some(given.clone()), ..TemplateValues::default() };
            let composed = compose(&with_parts("Oi", components), &given).expect("composed");
            let wish = composed.file.expect("a file is wished for");
            assert_eq!(wish.kind, expected);
            assert!(composed.content.file().expect("a file").is_pending());
            let is_upload = wish.source == FileSource::Upload(media_id);
            assert_eq!(
                (is_upload, wish.filename.is_some()),
                (kind == HeaderKind::Video, kind != HeaderKind::Video)
            );
        }
        let text = HeaderValue::Text { text: "Ana".to_owned() };
        for (kind, given) in [(HeaderKind::Image, text), (HeaderKind::Location, url)] {
            let components = Components { header: header(kind), ..Components::default() };
            let given = TemplateValues { header: Some(given), ..TemplateValues::default() };
            let refused = compose(&with_parts("Oi", components), &given).err().expect("refused");
            assert_eq!(refused.problems().fields().collect::<Vec<_>>(), ["header"]);
        }
    }

    /// R308.
    #[test]
    fn what_the_template_has_no_place_for_is_refused() {
        let given = TemplateValues { variables: values(&[("1", "a")]).variables, ..all() };
        let refused = compose(&template("{{1}}"), &given).err();
        let buttons = [2, 1, 0].map(GivenPart::Button);
        let parts: Vec<_> = [GivenPart::Header].into_iter().chain(buttons).collect();
        assert_eq!(refused, Some(ComposeError::Surplus(parts)));
        let payload = button(1, GivenButton::Payload("x".to_owned()));
        let fixed = ButtonPart {
            kind: ButtonKind::Url,
            text: "Ver".to_owned(),
            url: Some("https://loja.example".to_owned()),
        };
        let answer = ButtonPart { kind: ButtonKind::QuickReply, text: "Sim".to_owned(), url: None };
        let components = Components { buttons: vec![answer, fixed], ..Components::default() };
        let given = TemplateValues { buttons: vec![payload], ..TemplateValues::default() };
        let refused = compose(&with_parts("Oi", components), &given).err();
        assert_eq!(refused, Some(ComposeError::Surplus(vec![GivenPart::Button(1)])));
    }

    /// D49, X15.
    #[test]
    fn a_tag_that_was_not_filled_in_is_refused_in_header_and_buttons_too() {
        let given = TemplateValues {
            header: Some(HeaderValue::Text { text: "{{pedido}}".to_owned() }),
            buttons: vec![
                button(0, GivenButton::Payload("ok".to_owned())),
                button(1, GivenButton::UrlSuffix("${id}".to_owned())),
            ],
            ..values(&[("nome", "[NOME]")])
        };
        let refused = compose(&whole(), &given).err().expect("refused");
        let fields = refused.problems();
        assert_eq!(fields.fields().collect::<Vec<_>>(), ["variables", "header", "buttons"]);
        assert!(matches!(&refused, ComposeError::LiteralTag(parts) if parts.len() == 3));
    }

    /// R307.
    #[test]
    fn one_link_is_shown_with_its_page_and_answers_alone_as_buttons() {
        let part = |kind, url: Option<&str>| ButtonPart {
            kind,
            text: "Ver".to_owned(),
            url: url.map(str::to_owned),
        };
        let shown = |buttons: Vec<ButtonPart>, given: Vec<ButtonValue>| {
            let components = Components { buttons, ..Components::default() };
            let given = TemplateValues { buttons: given, ..TemplateValues::default() };
            let content = content(&with_parts("Oi", components), &given).expect("composed");
            *content.offer.expect("shown")
        };
        let open = part(ButtonKind::Url, Some("https://loja.example/{{1}}"));
        let given = button(0, GivenButton::UrlSuffix("p/1".to_owned()));
        let link = shown(vec![open], vec![given]);
        let page = Some("https://loja.example/p/1".to_owned());
        assert_eq!((link.kind, link.url, link.buttons), (OfferKind::CtaUrl, page, None));
        let fixed = part(ButtonKind::Url, Some("https://loja.example"));
        assert_eq!(shown(vec![fixed.clone()], Vec::new()).url, fixed.url);
        let answer = part(ButtonKind::QuickReply, None);
        let answers = shown(vec![answer.clone(), answer.clone()], Vec::new());
        assert_eq!(answers.kind, OfferKind::Buttons);
        assert_eq!(shown(vec![answer, fixed], Vec::new()).kind, OfferKind::Other);
    }

    /// R85.
    #[test]
    fn a_text_longer_than_the_channel_carries_is_refused() {
        assert!(made("{{1}}", &[("1", &"ã".repeat(4096))]).is_ok());
        assert_eq!(made("{{1}}", &[("1", &"ã".repeat(4097))]), Err(ComposeError::TooLong));
        let long = HeaderValue::Text { text: "ã".repeat(54) };
        let given = TemplateValues { header: Some(long), ..all() };
        assert_eq!(compose(&whole(), &given).err(), Some(ComposeError::HeaderTooLong));
        let fits = HeaderValue::Text { text: "ã".repeat(53) };
        assert!(compose(&whole(), &TemplateValues { header: Some(fits), ..all() }).is_ok());
    }
}
