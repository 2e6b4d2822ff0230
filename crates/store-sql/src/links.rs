//! Tracked links and the clicks on them.

use recado_core::links::{Click, Link, LinkClicks, LinkCodeHash};

use crate::field::hash_texts;
use crate::record::record;

record! {
    Link in "links" key(company_id, id) {
        company("company_id"),
        id,
        contact("contact_id"),
        code_hash,
        url,
        created_at,
        clicks: LinkClicks { total("human_clicks"), last_at("last_human_click_at") },
    }
}

record! {
    Click in "clicks" key(company_id, id) {
        company("company_id"),
        id,
        link("link_id"),
        contact("contact_id"),
        at,
        human,
    }
}

hash_texts! { LinkCodeHash }
