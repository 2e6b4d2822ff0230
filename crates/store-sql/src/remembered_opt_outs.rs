//! Numbers that asked to stop, as keyed hashes.

use recado_core::remembered_opt_outs::{OptOutHash, RememberedOptOut};

use crate::field::bytes;
use crate::record::record;

record! {
    RememberedOptOut in "remembered_opt_outs" key(company_id, hash) {
        company("company_id"),
        hash,
        since,
    }
}

bytes! {
    OptOutHash: |hash| hash.as_bytes(), |bytes| bytes.try_into().ok().map(OptOutHash::from_bytes);
}
