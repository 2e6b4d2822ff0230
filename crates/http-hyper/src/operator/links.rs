//! Managing tracked links (D60).

use recado_core::ids::LinkId;
use recado_core::links::{LinkCodeView, LinkDraft, LinkView};

use super::crud::{create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(ListLinks, COLLECTION, links.all, |op| op.does("List tracked links").lists::<LinkView>()),
    create!(CreateLink, COLLECTION, links.create, |op| {
        op.does("Make a tracked link for a contact")
            .more("`short_url` is what to send. It is shown this once.")
            .body::<LinkDraft>(
                r#"{"contact_id": "01939b5e-0000-7000-8000-000000000001",
                    "url": "https://example.com/oferta"}"#,
            )
            .makes::<LinkCodeView>()
    }),
    get!(GetLink, ONE, links.get(LinkId), |op| op
        .does("Read a tracked link")
        .answers::<LinkView>()),
    delete!(DeleteLink, ONE, links.delete(LinkId), |op| op
        .does("Delete a tracked link with its clicks")
        .done()),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/links";
const ONE: &str = "/operator/v1/companies/{company_id}/links/{id}";
