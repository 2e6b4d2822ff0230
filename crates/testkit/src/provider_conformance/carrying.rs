//! Every kind of message that a connection carries goes out under the same guarantees as a text
//! (X10 to X14).

use std::time::Duration;

use recado_core::gateway::{
    Content, Edit, MessageKind, MessageName, Outgoing, ProviderError, SendFailure, SendResult,
    Typing, TypingIn,
};
use recado_core::transport::{OutboundRequest, TransportError};
use serde_json::Value;

use super::between::{Act, Between};
use super::{Expected, ProviderCase};
use crate::contents;

type Seen = Vec<(OutboundRequest, bool)>;

fn count(requests: &[(OutboundRequest, bool)]) -> usize {
    requests.iter().filter(|(_, sends)| *sends).count()
}

/// The kinds of message that the connection of the case carries, each with a content.
fn carried(case: &ProviderCase) -> Vec<(MessageKind, Content)> {
    let kinds = case.provider.kinds(&case.connection()).into_iter();
    let content = |kind| {
        let mut content = contents::of(kind, &case.recipient)?;
        if let Content::Reaction(reaction) = &mut content {
            reaction.target = theirs(case);
        }
        Some((kind, content))
    };
    kinds.filter_map(content).collect()
}

/// A message that came from the recipient.
fn theirs(case: &ProviderCase) -> MessageName {
    contents::received(&case.inbound, &case.recipient)
}

async fn send(
    case: &ProviderCase,
    outgoing: Outgoing,
    act: impl Fn(&OutboundRequest, bool) -> Act + Send + Sync + 'static,
) -> (SendResult, Seen) {
    let between = Between::new(case, act);
    let sent = case.provider.send(&between, &case.connection(), &outgoing).await;
    (sent, between.requests())
}

fn outgoing(case: &ProviderCase, content: &Content) -> Outgoing {
    Outgoing { content: content.clone(), ..case.outgoing() }
}

/// Each kind is accepted by at most one request that sends, with a quote and without one.
pub async fn each_kind_that_is_declared_is_taken_by_one_request(case: &ProviderCase) {
    for (kind, content) in carried(case) {
        for quotes in [false, true] {
            let mut outgoing = outgoing(case, &content);
            outgoing.quoted = quotes.then(|| theirs(case));
            let (sent, requests) = send(case, outgoing, |_, _| Act::Pass).await;
            let accepted = sent.unwrap_or_else(|failure| panic!("{kind}: {failure:?}"));
            assert!(!accepted.provider_id.as_str().is_empty(), "{kind}: it has no id");
            assert!(count(&requests) <= 1, "{kind}: {} requests sent it", count(&requests));
            for (request, sends) in requests {
                assert!(!sends || !request.repeatable, "{kind}: the send may be repeated");
            }
        }
    }
}

/// A kind that the connection does not carry is refused without a request.
pub async fn a_kind_that_is_not_declared_is_refused_before_any_request(case: &ProviderCase) {
    let declared = case.provider.kinds(&case.connection());
    for kind in MessageKind::ALL.iter().filter(|kind| !declared.contains(kind)) {
        let Some(content) = contents::of(*kind, &case.recipient) else { continue };
        let (sent, requests) = send(case, outgoing(case, &content), |_, _| Act::Pass).await;
        assert!(matches!(sent, Err(SendFailure::Refused(_))), "{kind}: {sent:?}");
        assert!(requests.is_empty(), "{kind}: a request was made");
    }
}

/// If the answer to a send is lost or late, it is uncertain, and nothing is sent again.
pub async fn a_lost_answer_to_any_kind_is_uncertain(case: &ProviderCase) {
    for (kind, content) in carried(case) {
        for error in [
            TransportError::TimedOut { after_sending: true },
            TransportError::Broken { after_sending: true },
        ] {
            let lost = error.clone();
            let act = move |_: &OutboundRequest, sends| {
                let lost = lost.clone();
                if sends { Act::After(Box::new(move |_| Err(lost))) } else { Act::Pass }
            };
            let (sent, requests) = send(case, outgoing(case, &content), act).await;
            if count(&requests) == 0 {
                continue;
            }
            let failure = sent.expect_err("there was no answer");
            assert_eq!(Expected::of(&failure), Expected::Uncertain, "{kind}: {error}");
            assert_eq!(count(&requests), 1, "{kind}: {error}: it was sent again");
        }
    }
}

/// If the file of a message does not get there, the message was surely not sent, and no request
/// sends it.
pub async fn a_file_that_does_not_get_there_is_surely_not_sent(case: &ProviderCase) {
    for (kind, content) in carried(case) {
        for error in [
            TransportError::Refused,
            TransportError::TimedOut { after_sending: true },
            TransportError::Broken { after_sending: true },
        ] {
            let lost = error.clone();
            let act = move |request: &OutboundRequest, sends: bool| {
                if request.attached.is_some() && !sends {
                    Act::Instead(Err(lost.clone()))
                } else {
                    Act::Pass
                }
            };
            let (sent, requests) = send(case, outgoing(case, &content), act).await;
            if !requests.iter().any(|(request, sends)| request.attached.is_some() && !sends) {
                continue;
            }
            let failure = sent.expect_err("its file is not there");
            assert_ne!(Expected::of(&failure), Expected::Uncertain, "{kind}: {error}");
            assert_eq!(count(&requests), 0, "{kind}: {error}: it was sent without its file");
        }
    }
}

/// No request of any kind may last longer than the connection's `timeout_ms`.
pub async fn every_kind_ends_within_the_time_limit(case: &ProviderCase) {
    let mut short = case.clone();
    short.settings.insert("timeout_ms".to_owned(), Value::from(1_500));
    for case in [case, &short] {
        let limit = case.connection().settings.timeout();
        for (kind, content) in carried(case) {
            let (_, requests) = send(case, outgoing(case, &content), |_, _| Act::Pass).await;
            for (request, _) in requests {
                let time = request.timeout;
                assert!(time <= limit, "{kind}: {time:?} of {limit:?}");
                assert!(time > Duration::ZERO, "{kind}: a request has no time at all");
            }
        }
    }
}

/// What is declared of changing, taking back, marking as read and typing can be done, and an answer
/// that is lost is no success. What is not declared is not tried.
pub async fn what_is_declared_beside_sends_can_be_done(case: &ProviderCase) {
    let declared = case.provider.kinds(&case.connection());
    for kind in [MessageKind::Edit, MessageKind::Revoke, MessageKind::Read, MessageKind::Typing] {
        let (done, requests) = ask(case, kind, |_, _| Act::Pass).await;
        if !declared.contains(&kind) {
            assert_eq!(done, Done::Never, "{kind} is not declared");
            assert_eq!(requests, 0, "{kind} is not declared: a request was made");
            continue;
        }
        assert_eq!(done, Done::Yes, "{kind} is declared");
        if requests > 0 {
            let lost = TransportError::Broken { after_sending: true };
            let (done, _) = ask(case, kind, move |_, _| Act::Instead(Err(lost.clone()))).await;
            assert_eq!(done, Done::No, "{kind}: its answer was lost");
        }
    }
}

/// What became of a request beside sends.
#[derive(Debug, PartialEq, Eq)]
enum Done {
    /// It was done.
    Yes,
    /// It was not, or nobody knows.
    No,
    /// The gateway has no such operation.
    Never,
}

impl Done {
    fn of_change(done: &Result<(), SendFailure>) -> Self {
        match done {
            Ok(()) => Self::Yes,
            Err(SendFailure::Refused(_)) => Self::Never,
            Err(_) => Self::No,
        }
    }

    fn of_sign(done: &Result<(), ProviderError>) -> Self {
        match done {
            Ok(()) => Self::Yes,
            Err(ProviderError::Unsupported) => Self::Never,
            Err(ProviderError::Failed(_)) => Self::No,
        }
    }
}

/// Asks for what is no send; the number of requests.
async fn ask(
    case: &ProviderCase,
    kind: MessageKind,
    act: impl Fn(&OutboundRequest, bool) -> Act + Send + Sync + 'static,
) -> (Done, usize) {
    let (sent, _) = send(case, case.outgoing(), |_, _| Act::Pass).await;
    let sent = sent.expect("texts are taken");
    let (between, connection) = (Between::new(case, act), case.connection());
    let ours = contents::sent(sent.provider_id.as_str(), &case.recipient);
    let provider = &case.provider;
    let done = match kind {
        MessageKind::Edit => {
            let edit = Edit { text: "Olá, Ana".to_owned(), is_caption: false };
            Done::of_change(&provider.edit(&between, &connection, &ours, &edit).await)
        }
        MessageKind::Revoke => {
            Done::of_change(&provider.revoke(&between, &connection, &ours).await)
        }
        MessageKind::Read => {
            let theirs = theirs(case);
            Done::of_sign(&provider.mark_read(&between, &connection, &theirs).await)
        }
        _ => {
            let whose = TypingIn {
                recipient: case.recipient.clone(),
                group: None,
                last_inbound: Some(theirs(case)),
            };
            Done::of_sign(&provider.typing(&between, &connection, &whose, Typing::Text).await)
        }
    };
    (done, between.requests().len())
}
