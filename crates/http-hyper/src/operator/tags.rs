//! Managing tags.

use recado_core::ids::TagId;
use recado_core::tags::{Tag, TagDraft, TagPatch};

use super::crud::{change, create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(COLLECTION, tags.all, |op| op.says("listTags", "List tags").lists::<Tag>()),
    create!(COLLECTION, tags.create, |op| {
        op.says("createTag", "Make a tag")
            .body::<TagDraft>(r##"{"name": "VIP", "color": "#daa520"}"##)
            .makes::<Tag>()
    }),
    get!(ONE, tags.get(TagId), |op| op.says("getTag", "Read a tag").answers::<Tag>()),
    change!(ONE, tags.change(TagId), |op| {
        op.says("updateTag", "Change a tag")
            .body::<TagPatch>(r#"{"name": "Cliente VIP"}"#)
            .answers::<Tag>()
    }),
    delete!(ONE, tags.delete(TagId), |op| op
        .says("deleteTag", "Delete a tag; contacts lose it")
        .done()),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/tags";
const ONE: &str = "/operator/v1/companies/{company_id}/tags/{id}";
