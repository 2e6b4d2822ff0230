//! Campaigns and their recipients.

use recado_core::campaigns::{
    Campaign, CampaignStatus, FailureLimit, OutcomeTimes, PauseReason, Recipient, RecipientFault,
    RecipientNumber, RecipientStatus, SendWindow,
};

use crate::field::{json, numbers, words};
use crate::record::record;

record! {
    Campaign in "campaigns" key(company_id, id) {
        company("company_id"),
        id,
        name,
        template("template_id"),
        list("list_id"),
        connection("connection_id"),
        variables,
        header,
        buttons,
        prosas,
        cost,
        messages_per_second,
        scheduled_at,
        send_between,
        stop_after_failures,
        failures_after,
        status,
        pause_reason,
        created_at,
        updated_at,
        started_at,
        finished_at,
    }
}

record! {
    Recipient in "recipients" key(company_id, campaign_id, number) {
        company("company_id"),
        campaign("campaign_id"),
        number,
        contact("contact_id"),
        status,
        message("message_id"),
        debit("debit_id"),
        fault,
        sent_at,
        outcomes: OutcomeTimes {
            delivered("delivered_at"),
            read("read_at"),
            ended("ended_at"),
        },
    }
}

json! { FailureLimit, SendWindow }

words! { CampaignStatus, PauseReason, RecipientFault, RecipientStatus }

numbers! {
    RecipientNumber: |number| number.0.into(), |number| number.try_into().ok().map(RecipientNumber);
}
