//! The result of a send says what is known about the message.

use std::collections::BTreeSet;
use std::time::Duration;

use recado_core::gateway::{SendFailure, SendResult};
use recado_core::transport::{OutboundRequest, OutboundResponse, TransportError};
use serde_json::Value;

use super::between::Act;
use super::{Expected, ProviderCase, hostile};

fn failure(sent: SendResult, about: &str) -> SendFailure {
    sent.err().unwrap_or_else(|| panic!("{about}: it was taken"))
}

fn count(requests: &[(OutboundRequest, bool)]) -> usize {
    requests.iter().filter(|(_, sends)| *sends).count()
}

/// Whether a send makes a request at all. Without a request no answer can be lost.
async fn asks(case: &ProviderCase) -> bool {
    count(&case.send(|_, _| Act::Pass).await.1) > 0
}

/// A gateway accepts every message, and each gets an id of its own.
pub async fn a_message_is_taken_with_an_id_by_one_request(case: &ProviderCase) {
    let mut ids = BTreeSet::new();
    for n in 0..3 {
        let (sent, requests) = case.send(|_, _| Act::Pass).await;
        let accepted = sent.unwrap_or_else(|failure| panic!("not taken: {failure:?}"));
        assert!(!accepted.provider_id.as_str().is_empty(), "it has no id");
        assert!(count(&requests) <= 1, "{} requests sent it", count(&requests));
        ids.insert(accepted.provider_id.as_str().to_owned());
        assert!(ids.len() == n + 1 || ids.len() == 1, "some ids are repeated, and some are not");
    }
}

/// No request may last longer than the connection's `timeout_ms`.
pub async fn every_request_ends_within_the_time_limit(case: &ProviderCase) {
    let mut short = case.clone();
    short.settings.insert("timeout_ms".to_owned(), Value::from(1_500));
    for case in [case, &short] {
        let limit = case.connection().settings.timeout();
        let (_, requests) = case.send(|_, _| Act::Pass).await;
        for (request, _) in requests {
            assert!(request.timeout <= limit, "{:?} of {limit:?}", request.timeout);
        }
    }
}

/// The request that sends is not marked as one that may be repeated.
pub async fn a_request_that_sends_is_never_repeated(case: &ProviderCase) {
    let (_, requests) = case.send(|_, _| Act::Pass).await;
    for (request, _) in requests.iter().filter(|(_, sends)| *sends) {
        assert!(!request.repeatable, "the request that sends may be repeated");
    }
}

/// If the answer is lost, the result is uncertain, and nothing is sent again.
pub async fn a_lost_answer_is_uncertain(case: &ProviderCase) {
    if !asks(case).await {
        return;
    }
    for error in [
        TransportError::TimedOut { after_sending: true },
        TransportError::Broken { after_sending: true },
    ] {
        let lost = error.clone();
        let act = move |_: &OutboundRequest, sends| {
            let lost = lost.clone();
            if sends { Act::After(Box::new(move |_| Err(lost))) } else { Act::Pass }
        };
        let (sent, requests) = case.send(act).await;
        let failure = failure(sent, &error.to_string());
        assert_eq!(Expected::of(&failure), Expected::Uncertain, "{error}");
        assert!(failure.failure().is_uncertain(), "{error}: its code is another");
        assert_eq!(count(&requests), 1, "{error}: it was sent again");
    }
}

/// If a request did not leave, the message was certainly not sent, whichever of the requests it is.
pub async fn a_gateway_that_cannot_be_reached_has_surely_sent_nothing(case: &ProviderCase) {
    if !asks(case).await {
        return;
    }
    for error in [
        TransportError::Refused,
        TransportError::Dns,
        TransportError::Tls,
        TransportError::Forbidden,
        TransportError::InvalidUrl("https://example.com".to_owned()),
        TransportError::TimedOut { after_sending: false },
        TransportError::Broken { after_sending: false },
    ] {
        for only_the_send in [false, true] {
            let away = error.clone();
            let (sent, _) = case
                .send(move |_, sends| {
                    if only_the_send && !sends {
                        Act::Pass
                    } else {
                        Act::Instead(Err(away.clone()))
                    }
                })
                .await;
            let means = Expected::of(&failure(sent, &error.to_string()));
            let sure = matches!(means, Expected::Unreachable | Expected::Connection);
            assert!(sure, "{error}: {means:?}");
        }
    }
}

/// After a success that cannot be read, and after an error within the gateway, it is unknown
/// whether the message was sent. No answer makes the adapter panic.
pub async fn a_hostile_answer_is_never_a_sure_failure_of_what_may_have_been_sent(
    case: &ProviderCase,
) {
    for body in hostile::bodies() {
        for status in [200, 201, 302, 400, 401, 403, 404, 422, 429, 500, 502, 503] {
            let answer = OutboundResponse::new(status, body.clone());
            let act = move |_: &OutboundRequest, sends| {
                let answer = answer.clone();
                if sends { Act::After(Box::new(move |_| Ok(answer))) } else { Act::Pass }
            };
            let (sent, requests) = case.send(act).await;
            if count(&requests) == 0 {
                continue;
            }
            let begins = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            match (status, sent) {
                (200..=299, Ok(_)) => {}
                (200..=299 | 500..=599, Err(failure)) => {
                    let means = Expected::of(&failure);
                    assert_eq!(means, Expected::Uncertain, "{status} {begins}");
                }
                (_, Ok(_)) => panic!("{status} {begins} was taken for a success"),
                (_, Err(_)) => {}
            }
        }
    }
    // Requests before the send: no answer to them makes the adapter panic.
    for body in hostile::bodies() {
        let answer = OutboundResponse::new(200, body);
        let (sent, requests) = case
            .send(move |_, sends| if sends { Act::Pass } else { Act::Instead(Ok(answer.clone())) })
            .await;
        assert!(sent.is_err() || count(&requests) <= 1, "it was sent several times");
    }
}

/// The gateway's own answer with one wrong value: the message is accepted or the result is
/// uncertain.
pub async fn a_wrong_value_in_an_answer_is_never_a_sure_failure(case: &ProviderCase) {
    let well = std::sync::Arc::new(std::sync::Mutex::new(None));
    let keep = well.clone();
    let (_, requests) = case
        .send(move |_, sends| {
            let keep = keep.clone();
            match sends {
                true => Act::After(Box::new(move |answer| {
                    *keep.lock().expect("nobody panicked") = Some(answer.clone());
                    Ok(answer)
                })),
                false => Act::Pass,
            }
        })
        .await;
    let well: Option<OutboundResponse> = well.lock().expect("nobody panicked").clone();
    let (Some(well), true) = (well, count(&requests) > 0) else { return };
    let Ok(body) = serde_json::from_slice::<Value>(&well.body) else { return };
    for spoilt in hostile::spoilt(&body) {
        let answer = OutboundResponse { body: spoilt.to_string().into_bytes(), ..well.clone() };
        let (sent, _) = case
            .send(move |_, sends| {
                let answer = answer.clone();
                if sends { Act::After(Box::new(move |_| Ok(answer))) } else { Act::Pass }
            })
            .await;
        if let Err(failure) = sent {
            let shown: String = spoilt.to_string().chars().take(200).collect();
            assert_eq!(Expected::of(&failure), Expected::Uncertain, "{shown}");
        }
    }
}

/// Each answer of the case has the meaning that the case gives.
pub async fn each_answer_means_what_the_case_says(case: &ProviderCase) {
    for (answer, expected) in &case.answers {
        let instead = answer.clone();
        let (sent, requests) = case
            .send(move |_, sends| if sends { Act::Instead(Ok(instead.clone())) } else { Act::Pass })
            .await;
        let about = format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body));
        let failure = failure(sent, &about);
        assert_eq!(Expected::of(&failure), *expected, "{about}: {failure:?}");
        assert_eq!(count(&requests), 1, "{about}: it was sent again");
    }
}

/// The `Retry-After` of a limit is part of the result.
pub async fn a_limit_says_after_how_long_to_try_again(case: &ProviderCase) {
    let Some(limit) = &case.limit else { return };
    for (said, expected) in [
        (Some("7"), Some(Duration::from_secs(7))),
        (Some("soon"), None),
        (Some("-1"), None),
        (None, None),
    ] {
        let mut answer = limit.clone();
        answer.headers.extend(said.map(|said| ("retry-after".to_owned(), said.to_owned())));
        let (sent, _) = case
            .send(move |_, sends| if sends { Act::Instead(Ok(answer.clone())) } else { Act::Pass })
            .await;
        match failure(sent, "a limit") {
            SendFailure::TryLater { wait, .. } => assert_eq!(wait, expected, "{said:?}"),
            other => panic!("a limit is no reason to give up: {other:?}"),
        }
    }
}
