//! The keys of a page: their list in a dialog that `?` opens, and the switch for them (R425).

use maud::{Markup, html};

use crate::visit::Visit;

/// The keys of a page with the texts of what they do, behind a button and the key `?`.
pub(crate) fn help(visit: &Visit, keys: &[(&str, &str)]) -> Markup {
    html! {
        p { button.quiet type="button" data-opens="keys-help" { (visit.t("keys-title")) } }
        dialog #keys-help aria-labelledby="keys-help-title" {
            h2 #keys-help-title { (visit.t("keys-title")) }
            dl.facts { @for (key, does) in keys { dt { kbd { (key) } } dd { (visit.t(does)) } } }
            (switch(visit))
            form method="dialog" { button type="submit" autofocus { (visit.t("keys-close")) } }
        }
    }
}

/// R425. The switch that turns single keys off in this browser (WCAG 2.1.4). The script shows it:
/// without script there are no such keys.
pub(crate) fn switch(visit: &Visit) -> Markup {
    html! {
        div hidden {
            label.check { input type="checkbox" data-keys; " " (visit.t("keys-switch")) }
            p.hint { (visit.t("keys-switch-hint")) }
        }
    }
}
