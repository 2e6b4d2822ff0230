//! A secret that is shown this once.

use maud::{Markup, html};

use crate::visit::Visit;

/// A secret with what it is for, to be copied now.
pub(crate) fn secret(visit: &Visit, label: &str, text: &str) -> Markup {
    html! {
        div.notice.good role="status" {
            p { strong { (label) } }
            p { (visit.t("secret-once")) }
            pre.secret tabindex="0" { code { (text) } }
        }
    }
}

/// A button of its own that does something at once.
pub(crate) fn act(visit: &Visit, action: &str, label: &str) -> Markup {
    html! {
        form.inline method="post" action=(action) {
            (super::layout::csrf_field(visit))
            button type="submit" { (label) }
        }
    }
}
