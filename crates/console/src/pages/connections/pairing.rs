//! Pairing a phone: its code, renewed until the phone is paired (R428).

use maud::{Markup, html};
use recado_core::Error;
use recado_core::connections::PairingError;
use recado_core::ids::ConnectionId;

use super::{id, page_of};
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::Tone;
use crate::view::layout::Area;
use crate::view::qr::qr;
use crate::view::toast::notice;
use crate::visit::Visit;

pub(super) async fn show(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let connection = visit.recado.connections().get(visit.company.id, id(&ask)).await?;
    let piece = code(visit, connection.id).await?;
    if ask.is_piece {
        return Reply::piece(piece);
    }
    let path = page_of(connection.id);
    let body = html! {
        p { a href=(path) { bdi { (connection.name) } } }
        p { (visit.t("connections-pairing-how")) }
        (piece)
    };
    Reply::page(Area::Connections, visit.t("connections-pair"), body)
}

/// R428. The code as it is now, with what renews it: every 2 seconds until a phone is paired or the
/// gateway says that it pairs none.
async fn code(visit: &Visit, id: ConnectionId) -> Result<Markup, Refusal> {
    let asked = visit.recado.connections().pairing_code(visit.company.id, id).await;
    let (shown, goes_on) = match asked {
        Ok(code) => (picture(visit, &code.text), true),
        Err(Error::Rejected(PairingError::Preparing)) => {
            (html! { p role="status" { (visit.t("connections-pairing-preparing")) } }, true)
        }
        Err(Error::Rejected(PairingError::AlreadyPaired)) => {
            (notice(Tone::Good, &visit.t("connections-paired")), false)
        }
        Err(Error::Rejected(PairingError::Unsupported)) => {
            (notice(Tone::Warn, &visit.t("connections-pairing-unsupported")), false)
        }
        Err(Error::Rejected(refused @ PairingError::Provider(_))) => {
            (notice(Tone::Bad, &visit.language.refused(&refused)), true)
        }
        Err(error) => return Err(error.into()),
    };
    let path = format!("{}/pairing", page_of(id));
    Ok(html! {
        div #pairing hx-get=[goes_on.then_some(path.as_str())]
            hx-trigger=[goes_on.then_some("every 2s")] hx-swap="outerHTML" {
            (shown)
            @if goes_on {
                p { a.button href=(path) { (visit.t("connections-pairing-renew")) } }
            }
        }
    })
}

fn picture(visit: &Visit, text: &str) -> Markup {
    html! {
        @match qr(text, &visit.t("connections-pairing-code")) {
            Some(picture) => (picture),
            None => pre.code tabindex="0" { code { (text) } },
        }
    }
}
