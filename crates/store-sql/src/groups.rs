//! Groups as each connection knows them.

use recado_core::groups::{ConnectionGroup, Group, GroupCode};

use crate::field::texts;
use crate::record::record;

record! {
    ConnectionGroup in "connection_groups" key(company_id, connection_id, code) {
        company("company_id"),
        connection("connection_id"),
        group: Group {
            code,
            subject,
            is_community,
            community_code,
            is_announcement,
            announce_only,
            participates,
            is_admin,
        },
    }
}

texts! {
    GroupCode: GroupCode::as_str, |text| Some(GroupCode::from_stored(text.to_owned()));
}
