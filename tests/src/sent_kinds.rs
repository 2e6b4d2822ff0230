//! A message of every kind, as the API is asked to send it, and as it is read back afterwards.

use recado_core::gateway::{FileKind, MessageKind, OutgoingFile};
use recado_core::transport::OutboundResponse;
use recado_testkit::contents;
use serde_json::{Value, json};

use crate::http::{Request, ScriptedAnswer, form, text};
use crate::messaging::{no_blocks, with};
use crate::world::World;

/// Where the picture is fetched.
const URL: &str = "https://files.example/a/foto.jpg";

/// A message of one kind.
#[derive(Clone, Debug)]
pub struct SentKind {
    /// The contract's word for it: `image`, `buttons`.
    pub name: &'static str,
    /// The call: what follows `/api/v1/send/`.
    pub call: &'static str,
    /// The body, without the recipient.
    pub body: Value,
    /// Its file.
    pub file: Option<Vec<u8>>,
    /// Whether the file comes with the call, in a form.
    pub is_form: bool,
    /// Members of the message, as it is read back. Other blocks are empty (X2).
    pub shows: Value,
}

impl SentKind {
    fn new(name: &'static str, call: &'static str, body: Value, shows: Value) -> Self {
        Self { name, call, body, file: None, is_form: false, shows }
    }

    /// Asks for it to be sent.
    pub async fn send(&self, world: &World, to: &str) -> ScriptedAnswer {
        let path = format!("/api/v1/send/{}", self.call);
        let addressed = match self.call {
            "reaction" => self.body.clone(),
            _ => with(self.body.clone(), json!({ "to": to })),
        };
        if !self.is_form {
            return world.post(&path, addressed).await;
        }
        let fields = addressed.as_object().expect("an object");
        let fields: Vec<(String, String)> =
            fields.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        let file = self.file.as_deref().expect("a form has a file");
        let body = form(&fields, "nota.pdf", file);
        let request = Request::new("POST", path).bearer(&world.us.key);
        let said = "multipart/form-data; boundary=xyz";
        world.send(request.header("content-type", said).body(body)).await
    }

    /// Asserts that a message is read back in this kind, with its blocks and no others (X2).
    #[track_caller]
    pub fn assert_shown(&self, message: &Value) {
        let expected = self.shows.as_object().expect("an object");
        for (member, value) in expected {
            assert!(holds(&message[member], value), "{}: {member} in {message}", self.name);
        }
        for (block, none) in no_blocks().as_object().expect("an object") {
            let is_its_own = expected.contains_key(block);
            assert!(is_its_own || message[block] == *none, "{}: {block} in {message}", self.name);
        }
    }

    /// Asserts the same of the data of an event, which has no name of the file (6).
    #[track_caller]
    pub fn assert_told(&self, data: &Value) {
        let mut told = self.clone();
        told.shows.as_object_mut().expect("an object").remove("media_filename");
        told.assert_shown(data);
    }

    /// A reaction to a message, which has this id.
    pub fn reaction(message: &str, emoji: Option<&str>) -> Self {
        Self::new(
            "reaction",
            "reaction",
            json!({"message_id": message, "emoji": emoji}),
            json!({"type": "reaction", "content": emoji,
                "reaction": {"emoji": emoji, "message_id": message}}),
        )
    }

    /// A message made from a template of the company, with a picture above and a variable.
    pub async fn template(world: &World) -> Self {
        let template = json!({"name": "nota", "category": "UTILITY", "body": "Olá {{1}}",
            "status": "APPROVED", "components": {"header": {"type": "image"}, "footer": "Loja",
                "buttons": [{"type": "quick_reply", "text": "Certo"}]}});
        world.make("C/templates", template).await;
        let file = contents::file(FileKind::Image);
        let (id, bytes) = upload(world, &file).await;
        let body = json!({"template": "nota", "variables": {"1": "Ana"}, "header": {"media_id": id},
            "buttons": [{"index": 0, "payload": "certo-77"}]});
        let shows = json!({"type": "template", "content": "Olá Ana",
            "media_mimetype": file.mimetype,
            "interactive": {"body": "Olá Ana", "footer": "Loja",
                "buttons": [{"id": "certo-77", "title": "Certo"}]}});
        Self { file: Some(bytes), ..Self::new("template", "template", body, shows) }
    }

    /// One message of each kind that is neither a template nor a reaction. Files are fetched, taken
    /// from the uploads, or come with the call.
    pub async fn all(world: &World) -> Vec<Self> {
        let text = Self::new(
            "text",
            "message",
            json!({"message": "Bom dia"}),
            json!({"type": "text", "content": "Bom dia"}),
        );
        let mut all = vec![text];
        all.extend(files(world).await);
        all.extend(offers());
        let place = json!({"latitude": -18.918_612, "longitude": -48.277_245,
            "name": "Padaria do João", "address": "Rua das Flores, 123"});
        let shows = json!({"type": "location", "location": place});
        all.push(Self::new("location", "location", place, shows));
        let card = json!({"name": "João Silva", "phones": ["+55 34 99123-4567"],
            "emails": ["joao@padaria.example"], "organization": "Padaria"});
        let block = json!([{"name": "João Silva", "phones": [{"number": "+55 34 99123-4567"}],
            "emails": [{"email": "joao@padaria.example"}], "organization": "Padaria"}]);
        let shows = json!({"type": "contacts", "shared_contacts": block});
        all.push(Self::new("contacts", "contacts", json!({"contacts": [card]}), shows));
        all
    }
}

/// Whether a value holds what another one does: an object may have more members.
pub fn holds(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Object(value), Value::Object(expected)) => expected
            .iter()
            .all(|(name, expected)| value.get(name).is_some_and(|value| holds(value, expected))),
        (Value::Array(value), Value::Array(expected)) => {
            value.len() == expected.len()
                && value.iter().zip(expected).all(|(value, expected)| holds(value, expected))
        }
        _ => value == expected,
    }
}

async fn bytes(file: &OutgoingFile) -> Vec<u8> {
    let reader = file.stored.open().await.expect("it is there");
    reader.read_to_end().await.expect("it can be read")
}

/// Uploads a file; its id and its bytes.
async fn upload(world: &World, file: &OutgoingFile) -> (String, Vec<u8>) {
    let bytes = bytes(file).await;
    let name = file.filename.as_deref().unwrap_or("arquivo");
    let request = Request::new("POST", format!("/api/v1/media?filename={name}"));
    let kept = world.send(request.bearer(&world.us.key).body(bytes.clone())).await;
    (text(&kept.expect(201)["id"]), bytes)
}

async fn files(world: &World) -> Vec<SentKind> {
    let kinds = [
        (MessageKind::Image, "image", Some("A foto")),
        (MessageKind::Video, "video", Some("O filme")),
        (MessageKind::Audio, "audio", None),
        (MessageKind::Voice, "voice", None),
        (MessageKind::Document, "document", Some("A nota")),
        (MessageKind::Sticker, "sticker", None),
    ];
    let mut all = Vec::new();
    for (kind, name, caption) in kinds {
        let content = contents::of(kind, "").expect("a kind of message");
        let file = content.file().expect("a kind with a file");
        let is_voice = kind == MessageKind::Voice;
        let sent_as = if is_voice { "audio" } else { name };
        let mut body = json!({"type": sent_as, "is_voice": is_voice});
        if let Some(caption) = caption {
            body["caption"] = caption.into();
        }
        let mut shows = json!({"type": sent_as, "media_caption": caption,
            "media_mimetype": file.mimetype, "media_filename": file.filename});
        if is_voice {
            shows["is_voice"] = true.into();
        }
        let mut sent = SentKind::new(name, "media", body, shows);
        match kind {
            MessageKind::Image => {
                let bytes = bytes(file).await;
                let answer = Ok(OutboundResponse::new(200, bytes.clone()));
                world.server.transport.at(URL).otherwise(answer);
                sent.body["url"] = URL.into();
                sent.file = Some(bytes);
            }
            MessageKind::Document => {
                sent.body.as_object_mut().expect("an object").remove("is_voice");
                sent.file = Some(bytes(file).await);
                sent.is_form = true;
            }
            _ => {
                let (id, bytes) = upload(world, file).await;
                sent.body["media_id"] = id.into();
                sent.file = Some(bytes);
            }
        }
        all.push(sent);
    }
    all
}

fn offers() -> Vec<SentKind> {
    let buttons = json!([{"id": "sim", "title": "Sim"}, {"id": "nao", "title": "Não"}]);
    let sections = json!([
        {"title": "Pães", "rows": [{"id": "p1", "title": "Francês", "description": "Quente"}]},
        {"title": "Bolos", "rows": [{"id": "b1", "title": "Cenoura", "description": "Novo"}]}]);
    let offer = |name: &'static str, body: Value, changed: Value| {
        let body = with(json!({ "kind": name }), body);
        let message_type = if name == "poll" { "poll" } else { "interactive" };
        let shows = json!({"type": message_type, "interactive": with(body.clone(), changed)});
        SentKind::new(name, "interactive", body, shows)
    };
    let none = || json!({});
    vec![
        offer(
            "buttons",
            json!({"body": "Confirma?", "header": {"text": "Pedido"}, "footer": "Padaria",
                "buttons": buttons}),
            none(),
        ),
        offer("list", json!({"body": "Qual?", "button": "Ver", "sections": sections}), none()),
        offer(
            "cta_url",
            json!({"body": "Veja", "label": "Datas", "url": "https://padaria.example/datas"}),
            none(),
        ),
        offer("location_request", json!({"body": "Onde?"}), none()),
        offer(
            "poll",
            json!({"body": "Quando?", "options": ["Sábado", "Domingo"]}),
            json!({"selectable": 1, "options": [{"option": "Sábado", "votes": 0},
                {"option": "Domingo", "votes": 0}]}),
        ),
    ]
}
