//! Starting, pausing, taking back and deleting a campaign.

use serde_json::{Map, Value};

use super::{LIST, id, page_of};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};

pub(super) async fn start(ask: Ask) -> Outcome {
    ask.visit.recado.campaigns().start(ask.visit.company.id, id(&ask)).await?;
    Reply::goto(page_of(id(&ask)))
}

pub(super) async fn pause(ask: Ask) -> Outcome {
    ask.visit.recado.campaigns().pause(ask.visit.company.id, id(&ask)).await?;
    Reply::goto(page_of(id(&ask)))
}

/// Without its time a scheduled campaign is a draft again.
pub(super) async fn take_back(ask: Ask) -> Outcome {
    let body = Map::from_iter([("scheduled_at".to_owned(), Value::Null)]);
    ask.visit.recado.campaigns().change(ask.visit.company.id, id(&ask), &body).await?;
    Reply::goto(page_of(id(&ask)))
}

pub(super) async fn delete(ask: Ask) -> Outcome {
    ask.visit.recado.campaigns().delete(ask.visit.company.id, id(&ask)).await?;
    Reply::goto(LIST)
}
