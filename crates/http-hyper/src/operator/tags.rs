//! Managing tags.

use recado_core::ids::TagId;
use recado_core::tags::{Tag, TagDraft, TagPatch};

use super::crud::{change, create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(ListTags, COLLECTION, tags.all, |op| op.does("List tags").lists::<Tag>()),
    create!(CreateTag, COLLECTION, tags.create, |op| {
        op.does("Make a tag")
            .body::<TagDraft>(r##"{"name": "VIP", "color": "#daa520"}"##)
            .makes::<Tag>()
    }),
    get!(GetTag, ONE, tags.get(TagId), |op| op.does("Read a tag").answers::<Tag>()),
    change!(UpdateTag, ONE, tags.change(TagId), |op| {
        op.does("Change a tag").body::<TagPatch>(r#"{"name": "Cliente VIP"}"#).answers::<Tag>()
    }),
    delete!(DeleteTag, ONE, tags.delete(TagId), |op| op
        .does("Delete a tag; contacts lose it")
        .done()),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/tags";
const ONE: &str = "/operator/v1/companies/{company_id}/tags/{id}";
