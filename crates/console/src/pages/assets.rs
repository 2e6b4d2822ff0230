//! The files that pages load.

use crate::ask::OpenAsk;
use crate::assets;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::route::{Route, Verb};

pub(crate) const ROUTES: &[Route] =
    &[Route::open(Verb::Get, "/console/assets/{name}", |ask| Box::pin(show(ask)))];

async fn show(ask: OpenAsk) -> Outcome {
    assets::answer(ask.path.text("name")).map(Reply::Raw).ok_or(Refusal::NotFound)
}
