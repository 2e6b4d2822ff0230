//! Refusals, late answers and lost answers end for every kind of message as they do for texts,
//! through all three gateways: D28, D36, D38; R110, R341.

use std::time::Duration;

use recado_testkit::gateways::{FakeEvolution, SendBehaviour, WahaEngine, graph_failure};
use recado_tests::{
    Clouded, ScriptedAnswer, SentKind, StoreKind, World, both_stores, join_all, mobile, text,
};
use serde_json::{Value, json};

use crate::gateway_evolution::Evolution;
use crate::gateway_faked::{BY_EVOLUTION, BY_THE_API, Scripted, carried_by};
use crate::gateway_waha::Waha;

const SECOND: Duration = Duration::from_secs(1);

/// How a send ended: the answer, and what its message shows.
#[derive(Debug, PartialEq)]
pub(crate) struct End {
    status: u16,
    code: Value,
    pub(crate) error_type: Value,
    delivery_error: Value,
    message: [Value; 4],
}

impl End {
    fn of(messages: &[Value], answer: &ScriptedAnswer) -> Self {
        let body = answer.json();
        let details = &body["details"];
        let is_it = |message: &&Value| message["id"] == details["message_id"];
        let message = messages.iter().find(is_it);
        let message = message.unwrap_or_else(|| panic!("no message of {}", answer.show()));
        let shown = ["status", "error_type", "failure_reason", "wamid"];
        Self {
            status: answer.status,
            code: body["code"].clone(),
            error_type: details["error_type"].clone(),
            delivery_error: details["delivery_error"].clone(),
            message: shown.map(|member| message[member].clone()),
        }
    }
}

/// Asserts that these sends ended alike, given by kind and answer, and returns how. They are among
/// the newest hundred messages.
pub(crate) async fn ended_alike(
    world: &World,
    answers: &[(&'static str, ScriptedAnswer)],
    how: &str,
) -> End {
    let messages = world.all_messages().await;
    let mut ends = answers.iter().map(|(name, answer)| (name, End::of(&messages, answer)));
    let (_, first) = ends.next().expect("a send");
    for (name, end) in ends {
        assert_eq!(end, first, "{name} {how}");
    }
    first
}

/// One message of each kind that the gateway carries.
async fn kinds_of(world: &World, carried: &[(&str, &str)]) -> Vec<SentKind> {
    let mut kinds = SentKind::all(world).await;
    if carried.iter().any(|(name, _)| *name == "template") {
        kinds.push(SentKind::template(world).await);
    }
    kinds.retain(|kind| carried.iter().any(|(name, _)| *name == kind.name));
    kinds
}

/// The same, and a reaction to a message that has just come.
async fn with_reaction(faked: &impl Scripted, kinds: &[SentKind]) -> Vec<SentKind> {
    let heard = faked.hear(50).await;
    let mut kinds = kinds.to_vec();
    kinds.push(SentKind::reaction(&text(&heard["id"]), Some("👍")));
    kinds
}

/// Each kind ends in each of these ways as a text does, and nothing is sent again.
async fn each_ends_as_a_text(
    faked: &impl Scripted,
    carried: &[(&str, &str)],
    behaviours: Vec<SendBehaviour>,
) {
    let kinds = kinds_of(faked.world(), carried).await;
    for behaviour in behaviours {
        faked.world().advance(SECOND);
        let how = format!("{behaviour:?}");
        let before = faked.taken().len();
        let mut answers = Vec::new();
        // The first one is a text.
        for (n, kind) in (1..).zip(with_reaction(faked, &kinds).await) {
            faked.script(behaviour.clone());
            answers.push((kind.name, kind.send(faked.world(), &mobile(n)).await));
            let taken = (faked.taken().len() - before, answers.len());
            assert!(taken.0 == 0 || taken.0 == taken.1, "{} {how}: it is sent once", kind.name);
        }
        let end = ended_alike(faked.world(), &answers, &how).await;
        assert_eq!(end.message[0], "failed", "{how}");
    }
    let taken = faked.taken().len();
    faked.world().server.run_due_jobs().await;
    faked.world().server.recover_sends().await;
    assert_eq!(faked.taken().len(), taken, "nothing is sent again");
    faked.is_clean();
}

/// An answer that comes after the time limit is as uncertain for each kind as for a text. All are
/// sent at once, so that they wait together. Returns the kinds that the gateway's reports prove
/// afterwards.
async fn proved_after_a_late_answer(
    faked: &impl Scripted,
    carried: &[(&str, &str)],
) -> Vec<&'static str> {
    let kinds = kinds_of(faked.world(), carried).await;
    let kinds = with_reaction(faked, &kinds).await;
    for _ in &kinds {
        faked.script(SendBehaviour::AcceptLate(SECOND * 5));
    }
    let sends = (1..).zip(&kinds);
    let sends = sends.map(|(n, kind)| async move { kind.send(faked.world(), &mobile(n)).await });
    let answers = join_all(sends.collect()).await;
    let answers: Vec<_> = kinds.iter().map(|kind| kind.name).zip(answers).collect();
    let end = ended_alike(faked.world(), &answers, "late").await;
    assert_eq!(end.error_type, "delivery_uncertain");
    let taken = faked.taken();
    assert_eq!(taken.len(), kinds.len(), "each is sent once");
    for sent in &taken {
        faked.tells_of(&sent.id).await;
        faked.delivers(&sent.id).await;
    }
    let messages = faked.world().all_messages().await;
    let mut proved = Vec::new();
    for (name, answer) in &answers {
        let id = &answer.json()["details"]["message_id"];
        let message = messages.iter().find(|message| message["id"] == *id).expect("it is stored");
        if message["status"] == "read" {
            assert!(taken.iter().any(|sent| message["wamid"] == sent.id), "{name}: its own id");
            proved.push(*name);
        } else {
            assert_eq!(message["error_type"], "delivery_uncertain", "{name}");
        }
    }
    assert_eq!(faked.taken().len(), kinds.len(), "nothing is sent again");
    faked.is_clean();
    proved
}

/// Lost answers to each kind: the message whose proof the gateway can give is proved by the search,
/// the others stay uncertain, and nothing is sent again. Returns the kinds that were found.
async fn found_after_a_lost_answer(
    faked: &impl Scripted,
    carried: &[(&str, &str)],
    later: impl AsyncFn(Duration),
) -> Vec<&'static str> {
    let kinds = kinds_of(faked.world(), carried).await;
    let kinds = with_reaction(faked, &kinds).await;
    let mut lost = Vec::new();
    for (n, kind) in (1..).zip(&kinds) {
        faked.script(SendBehaviour::AcceptThenDrop);
        let answer = kind.send(faked.world(), &mobile(n)).await;
        let details = answer.json()["details"].clone();
        assert_eq!(details["error_type"], "delivery_uncertain", "{}", answer.show());
        lost.push((kind.name, text(&details["message_id"])));
    }
    for wait in [5, 30, 120, 600] {
        later(SECOND * wait).await;
    }
    let taken = faked.taken();
    assert_eq!(taken.len(), kinds.len(), "nothing is sent again");
    let mut found = Vec::new();
    let messages = faked.world().all_messages().await;
    for ((name, id), taken) in lost.iter().zip(taken) {
        let message = messages.iter().find(|message| message["id"] == **id).expect("it is stored");
        if message["status"] == "sent" {
            assert_eq!(message["wamid"], taken.id.as_str(), "{name}: its own id");
            assert_eq!(message["delivery_error"], Value::Null, "{name}");
            found.push(*name);
        } else {
            assert_eq!(message["error_type"], "delivery_uncertain", "{name}");
        }
    }
    faked.is_clean();
    found
}

fn nest(status: u16) -> Value {
    json!({"statusCode": status, "message": "no", "error": "Bad"})
}

#[both_stores]
async fn refusals_and_lost_answers_of_waha_end_as_they_do_for_texts(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        waha.asks("check").await.expect(200);
        let mut behaviours = vec![
            SendBehaviour::AcceptThenDrop,
            SendBehaviour::AcceptThenError(500, nest(500)),
            SendBehaviour::Broken(502),
            SendBehaviour::Error(422, nest(422)),
            SendBehaviour::Error(429, nest(429)),
            SendBehaviour::Error(401, nest(401)),
        ];
        // Without ids of ours a reaction is answered with nothing at all (R336).
        if engine.takes_ids() {
            behaviours.push(SendBehaviour::AcceptWithoutId);
        }
        each_ends_as_a_text(&waha, &carried_by(engine), behaviours).await;
    }
}

#[both_stores]
async fn refusals_and_lost_answers_of_evolution_end_as_they_do_for_texts(world: Evolution) {
    let error = |status: u16, message: Value| FakeEvolution::error(status, &message);
    let behaviours = vec![
        SendBehaviour::AcceptThenDrop,
        SendBehaviour::AcceptWithoutId,
        SendBehaviour::AcceptThenError(400, error(400, json!(["Error: Connection Closed"]))),
        SendBehaviour::Broken(502),
        SendBehaviour::Error(400, error(400, json!([["instance requires property"]]))),
        SendBehaviour::Error(413, error(413, json!("Payload Too Large"))),
        SendBehaviour::Error(429, error(429, json!("Too Many Requests"))),
        SendBehaviour::Error(401, error(401, json!("Unauthorized"))),
    ];
    each_ends_as_a_text(&world, &BY_EVOLUTION, behaviours).await;
}

#[both_stores]
async fn refusals_and_lost_answers_of_the_official_api_end_as_they_do_for_texts(world: Clouded) {
    let behaviours = vec![
        SendBehaviour::AcceptThenDrop,
        SendBehaviour::AcceptWithoutId,
        SendBehaviour::Broken(502),
        graph_failure(131_000, "Something went wrong"),
        graph_failure(131_026, "Undeliverable"),
        graph_failure(131_009, "Parameter value is not valid"),
        graph_failure(131_056, "Pair rate limit hit"),
        graph_failure(130_429, "Rate limit hit"),
    ];
    each_ends_as_a_text(&world, &BY_THE_API, behaviours).await;
}

/// R111, R113, R341.
#[both_stores]
async fn late_answers_of_waha_are_uncertain_for_every_kind_until_a_report(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        waha.set(json!({"timeout_ms": 1_500})).await;
        waha.asks("check").await.expect(200);
        let carried = carried_by(engine);
        let proved = proved_after_a_late_answer(&waha, &carried).await;
        let mut expected: Vec<&str> = carried.iter().map(|(name, _)| *name).collect();
        expected.push("reaction");
        // By our id where the engine takes one, else by what it says; these say nothing.
        let proves_nothing: &[&str] = match engine {
            WahaEngine::Webjs => &["voice", "sticker", "reaction"],
            _ => &["reaction"],
        };
        expected.retain(|name| !proves_nothing.contains(name));
        expected.sort_unstable();
        let mut proved = proved;
        proved.sort_unstable();
        assert_eq!(proved, expected, "{engine:?}");
    }
}

/// R111, R341.
#[both_stores]
async fn late_answers_of_evolution_are_uncertain_for_every_kind_until_a_report(world: Evolution) {
    world.set(json!({"timeout_ms": 1_500})).await;
    let proved = proved_after_a_late_answer(&world, &BY_EVOLUTION).await;
    // Of buttons and cards Evolution's record says something else than was ordered.
    assert_eq!(proved, ["text", "image", "video", "document", "list", "poll", "location"]);
}

/// Every report of the official API names our own id.
#[both_stores]
async fn late_answers_of_the_official_api_are_uncertain_for_every_kind_until_a_report(
    world: Clouded,
) {
    let path = format!("C/connections/{}", world.connection);
    let settings = json!({"settings": {"timeout_ms": 2_000}});
    world.operator("PATCH", &path, settings).await.expect(200);
    let proved = proved_after_a_late_answer(&world, &BY_THE_API).await;
    assert_eq!(proved.len(), BY_THE_API.len() + 1, "all, and the reaction: {proved:?}");
}

/// R110, R341: by the id that we gave a message, else by its type with its text or caption.
/// Buttons, lists and reactions take no id.
#[both_stores]
async fn lost_answers_of_waha_are_looked_for_in_every_kind(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        waha.asks("check").await.expect(200);
        let carried = carried_by(engine);
        let found =
            found_after_a_lost_answer(&waha, &carried, async |wait| waha.later(wait).await).await;
        let by_text = ["text", "image", "video", "document"];
        let takes_no_id = ["buttons", "cta_url", "list", "reaction"];
        let can_be_found = |name: &str| match engine.takes_ids() {
            true => !takes_no_id.contains(&name),
            false => by_text.contains(&name),
        };
        let all = SentKind::all(&waha).await.into_iter().map(|kind| kind.name);
        let carries = |name: &&str| carried.iter().any(|(carried, _)| carried == name);
        let expected: Vec<&str> = all.filter(carries).filter(|name| can_be_found(name)).collect();
        assert_eq!(found, expected, "{engine:?}");
    }
}

/// R110, R341.
#[both_stores]
async fn lost_answers_of_evolution_are_looked_for_by_their_text_or_caption(world: Evolution) {
    let later = async |wait| world.later(wait).await;
    let found = found_after_a_lost_answer(&world, &BY_EVOLUTION, later).await;
    assert_eq!(found, ["text", "image", "video", "document"]);
}
