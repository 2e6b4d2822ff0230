//! Actions on the state of a conversation, as the operator API has them (R425).

use std::time::Duration;

use recado_core::Error;
use recado_core::conversations::ActionName;
use serde_json::{Map, Value};

use super::send::Refused;
use super::{Here, id, page_of, show};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::reply::{Outcome, Reply};

/// What the form of an action says, as the body that the core reads.
fn body(ask: &Here, action: ActionName) -> Map<String, Value> {
    let me = || ask.visit.member.as_ref().map(|member| Value::from(member.id.to_string()));
    let form = ask.form.body();
    match action {
        ActionName::TakeOver => form.put("member_id", me()),
        ActionName::Assign => form.clearable("member_id"),
        ActionName::Handoff => form.optional("member_id"),
        ActionName::Close => form.optional("close_reason_id"),
        ActionName::AiMode => form.text("mode"),
        ActionName::PauseAi => {
            let hours = ask.form.filled("hours").and_then(|hours| hours.parse::<u32>().ok());
            let length = hours.map(|hours| Duration::from_secs(u64::from(hours) * 3_600));
            let until = length.map(|length| ask.visit.recado.now().plus(length));
            form.put("until", until.map(|until| until.to_string().into()))
        }
        _ => form,
    }
    .finish()
}

/// Does an action and shows the conversation again.
pub(super) async fn act(ask: Ask, action: ActionName) -> Outcome {
    let ask = Here::of(ask);
    let (visit, contact) = (&ask.visit, id(&ask));
    let body = body(&ask, action);
    let conversations = visit.recado.conversations();
    match conversations.act(visit.company.id, contact, action, &body).await {
        Ok(()) => Reply::goto(page_of(contact)),
        Err(Error::Rejected(refused)) => {
            show::refused(&ask, &Refused::of(ask.visit.language, &refused), &Fields::default())
                .await
        }
        Err(error) => Err(error.into()),
    }
}
