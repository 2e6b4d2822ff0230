//! Managing tracked links (D60).

use recado_core::ids::LinkId;
use recado_core::links::{LinkCodeView, LinkDraft, LinkView};

use super::crud::{create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(COLLECTION, links.all, |op| op
        .says("listLinks", "List tracked links")
        .lists::<LinkView>()),
    create!(COLLECTION, links.create, |op| {
        op.says("createLink", "Make a tracked link for a contact")
            .more("`short_url` is what to send. It is shown this once.")
            .body::<LinkDraft>(
                r#"{"contact_id": "01939b5e-0000-7000-8000-000000000001",
                    "url": "https://example.com/oferta"}"#,
            )
            .makes::<LinkCodeView>()
    }),
    get!(ONE, links.get(LinkId), |op| op
        .says("getLink", "Read a tracked link")
        .answers::<LinkView>()),
    delete!(ONE, links.delete(LinkId), |op| op
        .says("deleteLink", "Delete a tracked link with its clicks")
        .done()),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/links";
const ONE: &str = "/operator/v1/companies/{company_id}/links/{id}";
