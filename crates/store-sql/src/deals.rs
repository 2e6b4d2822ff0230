//! Deals and the pipelines they go through.

use recado_core::deals::{Deal, DealStatus, Pipeline, Stage};

use crate::field::words;
use crate::record::record;

record! {
    Pipeline in "pipelines" key(company_id, id) {
        company("company_id"),
        id,
        name,
        created_at,
    }
}

record! {
    Stage in "stages" key(company_id, id) {
        company("company_id"),
        id,
        pipeline("pipeline_id"),
        name,
        color,
        display_order,
    }
}

record! {
    Deal in "deals" key(company_id, id) {
        company("company_id"),
        id,
        contact_id,
        title,
        stage_id,
        stage_entered_at,
        status,
        created_at,
        updated_at,
    }
}

words! { DealStatus }
