//! Sending buttons, lists, polls, places and address cards.

use recado_core::gateway::{Content, FileKind, InteractiveContent, SendFailure};
use recado_core::messages::{
    Choice, ListRow, ListSection, Location, Offer, OfferHeader, OfferKind, PollOption,
    SharedContact, SharedPhone,
};
use recado_testkit::gateways::WahaEngine;
use serde_json::{Number, Value, json};

use super::support::{LISBON, SUFFIX, Scene, failure_of, file, raw_id};

fn offered(offer: Offer) -> Content {
    Content::Interactive(Box::new(InteractiveContent { offer, header_file: None }))
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn buttons() -> Offer {
    let choice = |id: &str, title: &str| Choice { id: text(id), title: text(title) };
    Offer {
        header: Some(OfferHeader { text: text("Pedido 7") }),
        body: text("Confirma?"),
        footer: text("Loja"),
        buttons: Some(vec![choice("sim", "Sim"), choice("nao", "Não")]),
        ..Offer::new(OfferKind::Buttons)
    }
}

fn list() -> Offer {
    let row = |id: &str, title: &str, description: Option<&str>| ListRow {
        id: text(id),
        title: text(title),
        description: description.map(str::to_owned),
    };
    let rows = vec![row("a", "Boleto", Some("2ª via")), row("b", "Pix", None)];
    Offer {
        body: text("Como quer pagar?"),
        button: text("Ver opções"),
        sections: Some(vec![ListSection { title: None, rows }]),
        ..Offer::new(OfferKind::List)
    }
}

fn poll(selectable: u32) -> Offer {
    let options = ["A", "B", "C"].map(str::to_owned);
    Offer { selectable: Some(selectable), ..Offer::poll("Qual?", options) }
}

/// The fields of the only send beside those of every request.
async fn fields(scene: &Scene, content: Content) -> (String, Value) {
    scene.send_content(1, LISBON, content).await.expect("accepted");
    let sent = scene.waha.accepted().remove(0);
    scene.assert_clean();
    let Value::Object(mut body) = sent.body else { panic!("an object") };
    assert_eq!(body.remove("session"), Some(json!("loja1")));
    assert_eq!(body.remove("chatId"), Some(json!("351912345678@c.us")));
    (sent.route, Value::Object(body))
}

async fn refused(scene: &Scene, content: Content) -> bool {
    let failure = failure_of(scene.send_content(1, LISBON, content).await);
    matches!(failure, SendFailure::Refused(_)) && scene.waha.accepted().is_empty()
}

#[tokio::test]
async fn buttons_go_out_on_the_engine_that_has_them() {
    let scene = Scene::new(WahaEngine::Noweb);
    let expected = json!({"header": "Pedido 7", "body": "Confirma?", "footer": "Loja",
        "buttons": [{"type": "reply", "text": "Sim", "id": "sim"},
            {"type": "reply", "text": "Não", "id": "nao"}]});
    assert_eq!(fields(&scene, offered(buttons())).await, ("sendButtons".to_owned(), expected));
    for engine in [WahaEngine::Gows, WahaEngine::Webjs] {
        assert!(refused(&Scene::new(engine), offered(buttons())).await, "{engine:?}");
    }
}

#[tokio::test]
async fn a_page_is_a_button_of_its_own_sort() {
    let scene = Scene::new(WahaEngine::Noweb);
    let offer = Offer {
        body: text("Acompanhe"),
        label: text("Abrir"),
        url: text("https://x.example/a"),
        ..Offer::new(OfferKind::CtaUrl)
    };
    let expected = json!({"body": "Acompanhe",
        "buttons": [{"type": "url", "text": "Abrir", "url": "https://x.example/a"}]});
    assert_eq!(fields(&scene, offered(offer)).await, ("sendButtons".to_owned(), expected));
}

#[tokio::test]
async fn a_picture_stands_above_buttons_and_no_other_file_does() {
    let picture = file("foto", "image/png", None).await;
    let with = |kind: FileKind, offer: Offer| {
        let header_file = Some((kind, picture.clone()));
        Content::Interactive(Box::new(InteractiveContent { offer, header_file }))
    };
    let scene = Scene::new(WahaEngine::Noweb);
    let (_, body) = fields(&scene, with(FileKind::Image, buttons())).await;
    assert_eq!(body["headerImage"], json!({"mimetype": "image/png", "data": null}));
    assert_eq!(scene.waha.accepted()[0].file.as_deref(), Some(&b"foto"[..]));
    for content in [
        with(FileKind::Video, buttons()),
        with(FileKind::Document, buttons()),
        with(FileKind::Image, list()),
    ] {
        assert!(refused(&Scene::new(WahaEngine::Noweb), content).await);
    }
}

/// R339.
#[tokio::test]
async fn a_list_has_the_titles_that_waha_asks_for() {
    for engine in [WahaEngine::Noweb, WahaEngine::Gows] {
        let rows = json!([{"title": "Boleto", "rowId": "a", "description": "2ª via"},
            {"title": "Pix", "rowId": "b"}]);
        let message = json!({"title": " ", "description": "Como quer pagar?",
            "button": "Ver opções", "sections": [{"title": " ", "rows": rows}]});
        let expected = json!({ "message": message });
        let sent = fields(&Scene::new(engine), offered(list())).await;
        assert_eq!(sent, ("sendList".to_owned(), expected), "{engine:?}");
        let titled = Offer {
            header: Some(OfferHeader { text: text("Pagamento") }),
            footer: text("Loja"),
            ..list()
        };
        let (_, body) = fields(&Scene::new(engine), offered(titled)).await;
        assert_eq!(
            (&body["message"]["title"], &body["message"]["footer"]),
            (&json!("Pagamento"), &json!("Loja"))
        );
    }
    assert!(refused(&Scene::new(WahaEngine::Webjs), offered(list())).await);
}

#[tokio::test]
async fn a_list_to_a_group_is_refused_by_the_engine() {
    let scene = Scene::new(WahaEngine::Gows);
    let code = format!("12036300@{SUFFIX}");
    let failure = failure_of(scene.send_content_to_group(1, &code, offered(list())).await);
    assert!(matches!(failure, SendFailure::Refused(_)), "{failure:?}");
    scene.assert_clean();
}

#[tokio::test]
async fn a_poll_lets_one_be_chosen_or_all() {
    for engine in WahaEngine::ALL {
        for (selectable, many) in [(1, false), (3, true)] {
            let (route, mut body) = fields(&Scene::new(engine), offered(poll(selectable))).await;
            let id = body.as_object_mut().expect("an object").remove("id");
            assert_eq!(id.is_some(), engine.takes_ids(), "{engine:?}");
            let expected = json!({"poll": {"name": "Qual?", "options": ["A", "B", "C"],
                "multipleAnswers": many}});
            assert_eq!((&*route, body), ("sendPoll", expected), "{engine:?}");
        }
    }
    assert!(refused(&Scene::new(WahaEngine::Gows), offered(poll(2))).await, "two of three");
    let crowned = Offer { footer: text("x"), ..poll(1) };
    assert!(refused(&Scene::new(WahaEngine::Gows), offered(crowned)).await, "a footer");
    let options = Some(vec![PollOption { option: "A".to_owned(), votes: 0 }]);
    let none = Offer { options, ..Offer::new(OfferKind::LocationRequest) };
    assert!(refused(&Scene::new(WahaEngine::Gows), offered(none)).await, "a request for a place");
}

/// R338.
#[tokio::test]
async fn a_place_has_its_name_and_its_address_in_one_text() {
    let place = |name: Option<&str>, address: Option<&str>| {
        let degrees = |text: &str| text.parse::<Number>().expect("a number");
        Content::Location(Location {
            latitude: degrees("-18.9186"),
            longitude: degrees("-48.2772"),
            name: name.map(str::to_owned),
            address: address.map(str::to_owned),
            url: None,
            is_live: false,
        })
    };
    for engine in WahaEngine::ALL {
        for (content, title) in [
            (place(Some("Loja"), Some("Av. 1")), Some("Loja\nAv. 1")),
            (place(Some("Loja"), None), Some("Loja")),
            (place(None, Some("Av. 1")), Some("Av. 1")),
            (place(None, None), None),
        ] {
            let (route, body) = fields(&Scene::new(engine), content).await;
            assert_eq!(route, "sendLocation");
            assert_eq!(
                (body["latitude"].as_f64(), body["longitude"].as_f64()),
                (Some(-18.9186), Some(-48.2772))
            );
            assert_eq!(body.get("title").and_then(Value::as_str), title, "{engine:?}");
        }
    }
}

#[tokio::test]
async fn address_cards_go_out_together() {
    let card = |name: &str, number: &str| SharedContact {
        name: text(name),
        phones: vec![SharedPhone { number: number.to_owned(), kind: None }],
        ..SharedContact::default()
    };
    for engine in WahaEngine::ALL {
        let cards = vec![card("Ana", "+5534991234567"), card("Portaria", "190")];
        let (route, mut body) = fields(&Scene::new(engine), Content::Contacts(cards)).await;
        assert_eq!(route, "sendContactVcard");
        if engine.takes_ids() {
            assert_eq!(
                body.as_object_mut().expect("an object").remove("id"),
                Some(raw_id(1).into())
            );
        }
        let first = &body["contacts"][0];
        assert_eq!(
            (&first["fullName"], &first["whatsappId"]),
            (&json!("Ana"), &json!("5534991234567"))
        );
        assert_eq!(body["contacts"][1]["phoneNumber"], "190");
        assert_eq!(body["contacts"][1].get("whatsappId"), None);
    }
}
