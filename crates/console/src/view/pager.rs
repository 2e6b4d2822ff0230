//! The pages of a listing.

use maud::{Markup, html};
use recado_core::page::PageRequest;

use crate::fields::Fields;
use crate::visit::Visit;

/// Where one is in a listing, and the ways on. The other fields of the query stay.
pub(crate) fn pager(
    visit: &Visit,
    path: &str,
    query: &Fields,
    page: PageRequest,
    total: u64,
) -> Markup {
    let (from, to) = (page.offset() + 1, (page.offset() + u64::from(page.limit)).min(total));
    let to_page = |page: u32| format!("{path}{}", query.with("page", &page.to_string()));
    html! {
        @if total > 0 {
            nav.pager aria-label=(visit.t("pager-label")) {
                @if page.page > 1 {
                    a rel="prev" href=(to_page(page.page - 1)) { (visit.t("pager-previous")) }
                }
                span {
                    (visit.t_with("pager-where", &[
                        ("from", from.into()), ("to", to.into()), ("total", total.into()),
                    ]))
                }
                @if to < total {
                    a rel="next" href=(to_page(page.page + 1)) { (visit.t("pager-next")) }
                }
            }
        }
    }
}
