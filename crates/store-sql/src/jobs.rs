//! Durable background jobs.

use recado_core::jobs::{Job, JobKind};

use crate::field::json;
use crate::record::record;

record! {
    Job in "jobs" key(company_id, id) {
        company("company_id"),
        id,
        kind("data"),
        attempts,
        due_at,
        leased_until,
        created_at,
    }
    derived {
        // Kind and subject are also parts of the data; the unique key needs them as columns.
        kind = |job, writer| writer.word(job.kind.name()),
        subject = |job, writer| writer.id(job.kind.subject()),
    }
}

json! { JobKind }
