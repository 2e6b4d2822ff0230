//! Reading what is offered to choose from (X12).

use serde_json::Value;

use super::declare::sent_content;
use super::forms::{Several, nested};
use super::offer_checks::{check_sections, check_unique, is_page};
use super::offer_parts::{
    AROUND, ButtonDraft, HeaderDraft, MAX_BUTTONS, MAX_ROWS, PollOptions, RowDraft, SectionDraft,
    TITLE,
};
use crate::body::{Optional, Required};
use crate::form::{Form, Number, Text, component};
use crate::gateway::{Content, InteractiveContent, OutgoingFile};
use crate::messages::{Choice, ListRow, ListSection, Offer, OfferHeader, OfferKind, PollOption};
use crate::problems::Problems;
use crate::sending::draft::Said;
use crate::uploads::FileWish;
use crate::words::words;

/// The most characters of the text.
const BODY: usize = 1_024;
/// The most characters of an address.
const ADDRESS: usize = 2_000;

words! {
    /// What is offered (X12).
    SentOfferKind {
        /// Buttons.
        Buttons = "buttons",
        /// A list.
        List = "list",
        /// A button that opens a page.
        CtaUrl = "cta_url",
        /// A request for a place.
        LocationRequest = "location_request",
        /// A poll; its question is the body.
        Poll = "poll",
    }
}

words! {
    /// What is sent where the gateway cannot show the offer (X12).
    Fallback {
        /// A text that numbers what can be chosen.
        Text = "text",
    }
}

nested!(OfferDraft);

sent_content! {
    /// A text with something to choose.
    SendInteractive as "SendInteractive", OfferDraft as "Offered" {
        kind: SentOfferKind = Required<SentOfferKind>,
        /// The text; of a poll the question.
        body: String = Required<Said<BODY>>,
        /// What stands above the text.
        header: Option<HeaderDraft> = Optional<HeaderDraft>,
        /// What stands below the text.
        footer: Option<String> = Optional<Text<AROUND>>,
        /// Of `buttons`: 1 to 3.
        buttons: Option<Vec<ButtonDraft>> = Optional<Several<ButtonDraft, MAX_BUTTONS>>,
        /// Of `list`: what stands on the button that opens it.
        button: Option<String> = Optional<Text<TITLE>>,
        /// Of `list`: 1 to 10 rows in all.
        sections: Option<Vec<SectionDraft>> = Optional<Several<SectionDraft, MAX_ROWS>>,
        /// Of `cta_url`: what stands on the button.
        label: Option<String> = Optional<Text<TITLE>>,
        /// Of `cta_url`: the page, https.
        url: Option<String> = Optional<Text<ADDRESS>>,
        /// Of `poll`: 2 to 12 texts.
        options: Option<Vec<String>> = Optional<PollOptions>,
        /// Of `poll`: how many of the options one person may choose; one by default.
        selectable: Option<u32> = Optional<Number<1, 12>>,
        /// What is sent where the gateway cannot show it; else such a send is refused.
        fallback: Option<Fallback> = Optional<Fallback>,
    }
    names: kind body header footer buttons button sections label url options selectable fallback
}

impl OfferDraft {
    /// What is offered, as its message shows it.
    ///
    /// # Errors
    ///
    /// Fields that the kind needs, or does not have, and what is not unique (X12).
    pub(crate) fn offer(&self) -> Result<Offer, Problems> {
        let mut problems = Problems::new();
        self.check_fields(&mut problems);
        let offer = self.unchecked();
        check_unique(&offer, &mut problems);
        if let Some(Err(wrong)) = self.header.as_ref().map(HeaderDraft::file) {
            problems.merge(wrong);
        }
        if let (Some(sections), SentOfferKind::List) = (&self.sections, self.kind) {
            check_sections(sections, &mut problems);
        }
        if self.kind == SentOfferKind::CtaUrl
            && let Some(url) = &self.url
            && !is_page(url)
        {
            problems.add("url", "must be an https address");
        }
        if let (Some(options), Some(selectable)) = (&self.options, self.selectable)
            && selectable as usize > options.len()
        {
            problems.add("selectable", "may be at most the number of options");
        }
        problems.into_result()?;
        Ok(offer)
    }

    /// The message's content: the offer with its header, and the file of that, which is still to be
    /// got.
    ///
    /// # Errors
    ///
    /// As [`OfferDraft::offer`].
    pub(crate) fn content(&self) -> Result<(Content, Option<FileWish>), Problems> {
        let offer = self.offer()?;
        let wish = self.header.as_ref().map_or(Ok(None), HeaderDraft::file)?;
        let header_file = wish.as_ref().map(|wish| (wish.kind, OutgoingFile::pending()));
        let content = InteractiveContent { offer, header_file };
        Ok((Content::Interactive(Box::new(content)), wish))
    }

    fn check_fields(&self, problems: &mut Problems) {
        use SentOfferKind::{Buttons, CtaUrl, List, LocationRequest, Poll};
        let around: &[SentOfferKind] = &[Buttons, List, CtaUrl];
        // Each field: whether it is there, whether it is needed, and the kinds that have it.
        let fields: [(&str, bool, bool, &[SentOfferKind]); 9] = [
            ("header", self.header.is_some(), false, around),
            ("footer", self.footer.is_some(), false, around),
            ("buttons", self.buttons.is_some(), true, &[Buttons]),
            ("button", self.button.is_some(), true, &[List]),
            ("sections", self.sections.is_some(), true, &[List]),
            ("label", self.label.is_some(), true, &[CtaUrl]),
            ("url", self.url.is_some(), true, &[CtaUrl]),
            ("options", self.options.is_some(), true, &[Poll]),
            ("selectable", self.selectable.is_some(), false, &[Poll]),
        ];
        debug_assert!(!around.contains(&LocationRequest));
        for (name, is_there, is_needed, kinds) in fields {
            match (is_there, kinds.contains(&self.kind)) {
                (true, false) => {
                    problems.add(name, format!("does not belong to the kind {}", self.kind));
                }
                (false, true) if is_needed => problems.add(name, "is required"),
                _ => {}
            }
        }
    }

    fn unchecked(&self) -> Offer {
        let row = |row: &RowDraft| ListRow {
            id: Some(row.id.clone()),
            title: Some(row.title.clone()),
            description: row.description.clone(),
        };
        let section = |section: &SectionDraft| ListSection {
            title: section.title.clone(),
            rows: section.rows.iter().map(row).collect(),
        };
        let button = |button: &ButtonDraft| Choice {
            id: Some(button.id.clone()),
            title: Some(button.title.clone()),
        };
        let option = |option: &String| PollOption { option: option.clone(), votes: 0 };
        let kind = match self.kind {
            SentOfferKind::Buttons => OfferKind::Buttons,
            SentOfferKind::List => OfferKind::List,
            SentOfferKind::CtaUrl => OfferKind::CtaUrl,
            SentOfferKind::LocationRequest => OfferKind::LocationRequest,
            SentOfferKind::Poll => OfferKind::Poll,
        };
        let is_poll = self.kind == SentOfferKind::Poll;
        Offer {
            header: self
                .header
                .as_ref()
                .and_then(|header| header.text.clone())
                .map(|text| OfferHeader { text: Some(text) }),
            body: Some(self.body.clone()),
            footer: self.footer.clone(),
            buttons: self.buttons.as_ref().map(|all| all.iter().map(button).collect()),
            button: self.button.clone(),
            sections: self.sections.as_ref().map(|all| all.iter().map(section).collect()),
            label: self.label.clone(),
            url: self.url.clone(),
            options: self.options.as_ref().map(|all| all.iter().map(option).collect()),
            selectable: is_poll.then(|| self.selectable.unwrap_or(1)),
            ..Offer::new(kind)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::gateway::{FileKind, MessageKind};

    fn parse(body: Value) -> Result<Offer, Vec<String>> {
        let named = |problems: Problems| problems.fields().map(str::to_owned).collect::<Vec<_>>();
        let body = body.as_object().expect("an object").clone();
        OfferDraft::parse(&body).and_then(|draft| draft.offer()).map_err(named)
    }

    fn with(base: Value, more: Value) -> Value {
        let mut all = base.as_object().expect("an object").clone();
        all.extend(more.as_object().expect("an object").clone());
        Value::Object(all)
    }

    fn button(id: &str, title: &str) -> Value {
        json!({"id": id, "title": title})
    }

    fn buttons(all: Vec<Value>) -> Value {
        json!({"kind": "buttons", "body": "Vamos?", "buttons": all})
    }

    fn list(sections: Value) -> Value {
        json!({"kind": "list", "body": "Qual?", "button": "Ver", "sections": sections})
    }

    /// X12.
    #[test]
    fn each_kind_is_read_with_what_belongs_to_it() {
        let polls = json!({"kind": "poll", "body": "Qual?", "options": ["a", "b"]});
        for (body, kind) in [
            (buttons(vec![button("1", "Sim")]), OfferKind::Buttons),
            (list(json!([{"rows": [{"id": "1", "title": "Um"}]}])), OfferKind::List),
            (
                json!({"kind": "cta_url", "body": "Veja", "label": "Abrir", "url": "https://a.b/c"}),
                OfferKind::CtaUrl,
            ),
            (json!({"kind": "location_request", "body": "Onde?"}), OfferKind::LocationRequest),
            (polls, OfferKind::Poll),
        ] {
            let offer = parse(body).expect("read");
            assert_eq!(offer.kind, kind);
            assert_eq!(offer.selectable, (kind == OfferKind::Poll).then_some(1));
            let content = InteractiveContent { offer, header_file: None };
            let content = Content::Interactive(Box::new(content));
            assert_eq!(content.kind(), MessageKind::of_offer(kind));
        }
    }

    /// X12.
    #[test]
    fn what_a_kind_needs_or_does_not_have_is_named() {
        let missing = |kind: &str| parse(json!({"kind": kind, "body": "x"})).expect_err("refused");
        assert_eq!(missing("buttons"), ["buttons"]);
        assert_eq!(missing("list"), ["button", "sections"]);
        assert_eq!(missing("cta_url"), ["label", "url"]);
        assert_eq!(missing("poll"), ["options"]);
        let foreign = json!({"kind": "location_request", "body": "x", "header": {"text": "h"},
            "footer": "f", "buttons": [button("1", "a")], "button": "b",
            "sections": [{"rows": [{"id": "1", "title": "a"}]}], "label": "l",
            "url": "https://a.b", "options": ["a", "b"], "selectable": 1});
        let named = parse(foreign).expect_err("refused");
        let all = ["header", "footer", "buttons", "button", "sections", "label", "url", "options"];
        assert_eq!(named[..8], all);
        assert_eq!(named[8..], ["selectable"]);
        assert!(parse(json!({"kind": "flow", "body": "x"})).is_err());
    }

    /// X12.
    #[test]
    fn lengths_and_numbers_have_limits() {
        let ok = |body: Value| parse(body).is_ok();
        let of = |n: usize| "á".repeat(n);
        assert!(ok(with(buttons(vec![button("1", "a")]), json!({"body": of(1024)}))));
        assert!(!ok(with(buttons(vec![button("1", "a")]), json!({"body": of(1025)}))));
        for (field, most) in [("footer", 60), ("header", 60)] {
            for (n, fits) in [(most, true), (most + 1, false)] {
                let text = of(n);
                let value = if field == "header" { json!({"text": text}) } else { json!(text) };
                let body = with(buttons(vec![button("1", "a")]), json!({field: value}));
                assert_eq!(ok(body), fits, "{field} {n}");
            }
        }
        for (n, fits) in [(0, false), (1, true), (3, true), (4, false)] {
            let all = (0..n).map(|n| button(&n.to_string(), &format!("b{n}"))).collect();
            assert_eq!(ok(buttons(all)), fits, "{n} buttons");
        }
        assert!(ok(buttons(vec![button(&of(200), &of(20))])));
        assert!(!ok(buttons(vec![button(&of(201), "a")])));
        assert!(!ok(buttons(vec![button("1", &of(21))])));
        let rows = |n: usize| -> Vec<Value> {
            (0..n).map(|n| json!({"id": n.to_string(), "title": "t"})).collect()
        };
        assert!(ok(list(json!([{"rows": rows(10)}]))));
        assert!(!ok(list(json!([{"rows": rows(11)}]))));
        let row = |title: String, description: String| {
            list(json!([{"rows": [{"id": "1", "title": title, "description": description}]}]))
        };
        assert!(ok(row(of(24), of(72))));
        assert!(!ok(row(of(25), of(72))) && !ok(row(of(24), of(73))));
        for (n, fits) in [(1, false), (2, true), (12, true), (13, false)] {
            let options: Vec<String> = (0..n).map(|n| format!("o{n}")).collect();
            let poll = json!({"kind": "poll", "body": "?", "options": options});
            assert_eq!(ok(poll), fits, "{n} options");
        }
        let poll = |selectable: u32, option: String| {
            json!({"kind": "poll", "body": "?", "options": ["a", option],
                "selectable": selectable})
        };
        assert!(ok(poll(2, of(100))));
        assert!(!ok(poll(3, of(100))) && !ok(poll(0, of(1))) && !ok(poll(1, of(101))));
    }

    /// X12.
    #[test]
    fn above_an_offer_stands_a_text_or_a_file() {
        let with_header =
            |header: Value| with(buttons(vec![button("1", "a")]), json!({"header": header}));
        let id = "01939b5e-0000-7000-8000-000000000001";
        let body = with_header(json!({"type": "image", "media_id": id}));
        let draft = OfferDraft::parse(body.as_object().expect("an object")).expect("read");
        let (content, wish) = draft.content().expect("an offer");
        assert_eq!(wish.map(|wish| wish.kind), Some(FileKind::Image));
        assert!(content.file().is_some(), "its place is kept");
        for wrong in [
            json!({}),
            json!({"text": "a", "type": "image", "media_id": id}),
            json!({"text": "a", "media_id": id}),
            json!({"type": "image"}),
            json!({"media_id": id}),
            json!({"type": "sticker", "media_id": id}),
            json!({"type": "image", "media_id": id, "url": "https://a.example/b.png"}),
        ] {
            assert_eq!(
                parse(with_header(wrong.clone())),
                Err(vec!["header".to_owned()]),
                "{wrong}"
            );
        }
    }

    /// X12.
    #[test]
    fn ids_titles_and_options_are_unique() {
        assert!(parse(buttons(vec![button("1", "a"), button("1", "b")])).is_err());
        assert!(parse(buttons(vec![button("1", "a"), button("2", "a")])).is_err());
        let row = json!({"id": "1", "title": "t"});
        let two = json!([{"title": "A", "rows": [row]}, {"title": "B", "rows": [row]}]);
        assert_eq!(parse(list(two)), Err(vec!["sections".to_owned()]));
        let poll = json!({"kind": "poll", "body": "?", "options": ["a", " a "]});
        assert_eq!(parse(poll), Err(vec!["options".to_owned()]));
    }

    /// X12.
    #[test]
    fn several_sections_need_titles_and_have_ten_rows_in_all() {
        let section = |title: Option<&str>, ids: std::ops::Range<u32>| {
            let rows: Vec<Value> =
                ids.map(|n| json!({"id": n.to_string(), "title": "t"})).collect();
            json!({"title": title, "rows": rows})
        };
        assert!(parse(list(json!([section(None, 0..2)]))).is_ok());
        assert!(parse(list(json!([section(Some("A"), 0..5), section(Some("B"), 5..10)]))).is_ok());
        let untitled = json!([section(Some("A"), 0..1), section(None, 1..2)]);
        assert_eq!(parse(list(untitled)), Err(vec!["sections".to_owned()]));
        let many = json!([section(Some("A"), 0..6), section(Some("B"), 6..11)]);
        assert_eq!(parse(list(many)), Err(vec!["sections".to_owned()]));
    }

    /// X12.
    #[test]
    fn a_page_is_an_https_address() {
        for (url, fits) in [
            ("https://a.example/b?c=d", true),
            ("http://a.example", false),
            ("https://", false),
            ("https:///a", false),
            ("https://?a.example", false),
            ("https://#a.example", false),
            ("https://:443/a", false),
            ("https://ana@/a", false),
            ("https://a.example:8443?b", true),
            ("javascript:alert(1)", false),
            ("https://a.example/ b", false),
        ] {
            let body = json!({"kind": "cta_url", "body": "x", "label": "l", "url": url});
            assert_eq!(parse(body).is_ok(), fits, "{url}");
        }
    }

    /// X12.
    #[test]
    fn as_a_text_everything_that_can_be_chosen_has_a_number() {
        let body = with(
            buttons(vec![button("1", "Sim"), button("2", "Não")]),
            json!({"header": {"text": "Visita"}, "footer": "Clínica"}),
        );
        let text = parse(body).expect("read").as_numbered_text();
        assert_eq!(text, "Visita\n\nVamos?\n\n1. Sim\n2. Não\n\nClínica");
        let rows = json!([{"rows": [{"id": "1", "title": "Um", "description": "só"}]}]);
        assert_eq!(parse(list(rows)).expect("read").as_numbered_text(), "Qual?\n\n1. Um: só");
        let page = json!({"kind": "cta_url", "body": "Veja", "label": "Abrir",
            "url": "https://a.b/c"});
        assert_eq!(parse(page).expect("read").as_numbered_text(), "Veja\n\nAbrir: https://a.b/c");
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(kind in "[a-z_]{0,20}", body in any::<String>(), n in any::<f64>()) {
            let _ = parse(json!({"kind": kind, "body": body, "selectable": n, "options": [body]}));
        }
    }
}
