//! The audit log.

use recado_core::Code;
use recado_core::audit::{ActorKind, AuditAddress, AuditEntry, OperationName, RecordRefs};

use crate::field::{json, texts, words};
use crate::record::record;

record! {
    AuditEntry in "audit_entries" key(at, id) {
        at,
        id,
        company("company_id"),
        actor,
        actor_id,
        client,
        operation,
        records,
        denied,
    }
}

words! { ActorKind }

texts! {
    AuditAddress: AuditAddress::as_str, AuditAddress::parse;
    OperationName: OperationName::as_str, |text| Some(OperationName::new(text));
    Code: |code| code.as_str(), |text| Code::ALL.iter().copied().find(|code| code.as_str() == text);
}

json! { RecordRefs }
