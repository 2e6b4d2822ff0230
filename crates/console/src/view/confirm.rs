//! A button whose act asks first, without script: what it does stands behind a disclosure.

use maud::{Markup, html};

use crate::view::layout::csrf_field;
use crate::visit::Visit;

/// A button that opens a question, and the button that does it.
pub(crate) fn confirm(visit: &Visit, action: &str, label: &str, question: &str) -> Markup {
    html! {
        details.confirm {
            summary.button { (label) }
            form method="post" action=(action) {
                (csrf_field(visit))
                p { (question) }
                button.danger type="submit" { (label) }
            }
        }
    }
}
