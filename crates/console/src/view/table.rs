//! Tables: a heading for each column, and rows that a phone shows one below the other.

use maud::{Markup, html};

/// A table with a caption for those who do not see it.
pub(crate) fn table(caption: &str, columns: &[String], rows: &[Vec<Markup>]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(caption) {
            table {
                caption.hidden { (caption) }
                thead { tr { @for column in columns { th scope="col" { (column) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (cell, column) in row.iter().zip(columns) {
                                td data-label=(column) { (cell) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Names and values, one below the other.
pub(crate) fn facts(pairs: &[(String, Markup)]) -> Markup {
    html! { dl.facts { @for (name, value) in pairs { dt { (name) } dd { (value) } } } }
}
