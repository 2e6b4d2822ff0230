//! Changing the own password.

use maud::{Markup, html};
use recado_core::Error;

use super::{News, errors, own, page};
use crate::ask::Ask;
use crate::reply::Outcome;
use crate::view::empty::Tone;
use crate::view::field::{Field, FieldErrors};
use crate::view::layout::csrf_field;
use crate::view::toast::notice;
use crate::visit::Visit;

pub(super) fn form(visit: &Visit, errors: &FieldErrors) -> Markup {
    let (old, new) = (visit.t("account-password-now"), visit.t("account-password-new"));
    let field = |name, label| Field { name, label, value: "", kind: "password", is_required: true };
    html! {
        section {
            h2 { (visit.t("account-password")) }
            form method="post" action="/console/account/password" {
                (csrf_field(visit))
                (errors.summary(&["password", "new_password"]))
                (field("password", &old).show(errors))
                (field("new_password", &new).show(errors))
                button type="submit" { (visit.t("account-password-change")) }
            }
        }
    }
}

pub(super) async fn change(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let who = own(visit).await?;
    let text = |name: &str| ask.form.get(name).unwrap_or_default();
    let accounts = visit.recado.accounts();
    match accounts.change_password(&who, text("password"), text("new_password")).await {
        Ok(()) => {
            let above = Some(notice(Tone::Good, &visit.t("account-password-changed")));
            page(visit, News { above, ..News::default() }).await
        }
        Err(Error::Rejected(refused)) => {
            let password = errors(visit, refused);
            page(visit, News { password, is_refused: true, ..News::default() }).await
        }
        Err(error) => Err(super::failed(error)),
    }
}
