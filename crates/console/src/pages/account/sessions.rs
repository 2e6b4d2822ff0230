//! The own sessions.

use maud::{Markup, html};
use recado_core::accounts::{SessionView, SignedIn};
use recado_core::ids::SessionId;

use super::{ACCOUNT, own};
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, badge};
use crate::view::secret::act;
use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

pub(super) async fn section(visit: &Visit, who: &SignedIn) -> Result<Markup, Refusal> {
    let all = visit.recado.accounts().sessions(who.company, who.member).await?;
    let columns = ["signed-in", "last-seen", "ends", "acts"]
        .map(|name| visit.t(&format!("account-column-{name}")));
    let row = |session: &SessionView| {
        let end = format!("{ACCOUNT}/sessions/{}/end", session.id);
        let is_this = session.id == who.session;
        vec![
            when(visit, session.created_at),
            when(visit, session.last_seen_at),
            when(visit, session.ends_at),
            html! {
                @if is_this {
                    (badge(Tone::Good, &visit.t("account-session-this")))
                } @else {
                    (act(visit, &end, &visit.t("account-session-end")))
                }
            },
        ]
    };
    let rows: Vec<Vec<Markup>> = all.iter().map(row).collect();
    Ok(html! {
        section {
            h2 { (visit.t("account-sessions")) }
            (table(&visit.t("account-sessions"), &columns, &rows))
            @if all.len() > 1 {
                (act(visit, "/console/account/sessions/end", &visit.t("account-sessions-end")))
            }
        }
    })
}

pub(super) async fn end(ask: Ask) -> Outcome {
    let who = own(&ask.visit).await?;
    let session = ask.path.id("id", SessionId::parse);
    let accounts = ask.visit.recado.accounts();
    accounts.revoke_session(&who.operator(), who.company, who.member, session).await?;
    Reply::goto(ACCOUNT)
}

pub(super) async fn end_others(ask: Ask) -> Outcome {
    let who = own(&ask.visit).await?;
    let accounts = ask.visit.recado.accounts();
    accounts.revoke_all(&who.operator(), who.company, who.member).await?;
    Reply::goto(ACCOUNT)
}
