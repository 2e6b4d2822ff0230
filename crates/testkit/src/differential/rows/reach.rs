//! Inbound endpoints, dispatch windows, campaigns and their recipients: found, replaced, read.

use std::time::Duration;

use recado_core::Timestamp;
use recado_core::campaigns::{
    Campaign, Recipient, RecipientEntry, RecipientNumber, RecipientStatus, RecipientsFrom,
    TimeSteps,
};
use recado_core::contacts::DraftQuery;
use recado_core::custom_fields::CustomField;
use recado_core::dispatches::DispatchWindow;
use recado_core::ids::{CampaignId, ContactId, CustomFieldId, InboundEndpointId};
use recado_core::inbound::InboundEndpoint;
use recado_core::lists::{List, ListMember};
use recado_core::page::PageRequest;
use recado_core::remembered_opt_outs::RememberedOptOut;
use recado_core::store::{ChangeSet, RecordsExt, Row, Stored, Version};
use recado_core::templates::{Template, TemplateTokenHash};
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::world::World;
use super::find::{any, nth};
use super::make::Maker;
use super::reach_make::FIELD_SLUGS;
use super::{CompanyRows, accounts, outcome, shown};

/// A limit that no run reaches.
const ALL: u32 = 100_000;

/// `made` with the identity of `of`, which is a row of the same kind.
pub(super) fn replacing(of: &Row, made: Row) -> Row {
    match (of, made) {
        (Row::List(of), Row::List(made)) => List { id: of.id, ..made }.into(),
        (Row::CustomField(of), Row::CustomField(made)) => CustomField { id: of.id, ..made }.into(),
        (Row::InboundEndpoint(of), Row::InboundEndpoint(made)) => {
            InboundEndpoint { id: of.id, ..made }.into()
        }
        (Row::DispatchWindow(of), Row::DispatchWindow(made)) => {
            DispatchWindow { contact: of.contact, key: of.key, ..made }.into()
        }
        (Row::RememberedOptOut(of), Row::RememberedOptOut(made)) => {
            RememberedOptOut { hash: of.hash, ..made }.into()
        }
        (Row::Campaign(of), Row::Campaign(made)) => Campaign { id: of.id, ..made }.into(),
        (Row::Recipient(of), Row::Recipient(made)) => {
            // Usually the contact stays; sometimes it is replaced by another one.
            let contact = if made.number.0 == 1 { made.contact } else { of.contact };
            Recipient { campaign: of.campaign, number: of.number, contact, ..made }.into()
        }
        (of, made) => accounts::replacing(of, made).unwrap_or_else(|| of.clone()),
    }
}

fn entry(entry: &RecipientEntry) -> Value {
    let contact = entry.contact.as_ref();
    let contact = contact.map(|(phone, identifier)| {
        json!([phone.as_ref().map(|phone| phone.digits()), identifier.as_str()])
    });
    json!([format!("{:?}", entry.recipient), contact, entry.name, format!("{:?}", entry.prosa)])
}

impl Maker<'_> {
    /// The number of a recipient, or `None`.
    fn after(&self, n: usize) -> Option<RecipientNumber> {
        let after = self.command.number(n) as u32 % 9;
        after.checked_sub(1).map(RecipientNumber)
    }
}

impl CompanyRows {
    /// A row of these kinds, if the command finds one.
    pub(super) async fn find_reach(
        &self,
        at: usize,
        kind: &str,
        maker: &Maker<'_>,
    ) -> Option<Stored<Row>> {
        let (store, company) = (&self.store, self.company);
        let nth_of = maker.command.number(59);
        match kind {
            "row list" => {
                let list = store.list(company, maker.list_id(at)).await.expect("works");
                list.as_ref().map(|(list, _)| any(list))
            }
            "row member" => {
                let (list, contact) = (maker.list_id(at), maker.contact_id(at + 4));
                let found = store.list_candidates(company, list, &[contact], 0).await;
                let member = ListMember { company, list, contact };
                let is_there = found.expect("works").members == [contact];
                is_there.then(|| Stored::new(member.into(), Version::FIRST))
            }
            "row field" => {
                let field = store.get::<CustomField>((company, maker.field_id(at))).await;
                field.expect("works").as_ref().map(any)
            }
            "row endpoint" => {
                let endpoint = store.get::<InboundEndpoint>((company, maker.endpoint_id(at))).await;
                endpoint.expect("works").as_ref().map(any)
            }
            "row window" => {
                let (contact, key) = (maker.contact_id(at), maker.window_key(at + 4));
                let window = store.get::<DispatchWindow>((company, contact, key)).await;
                window.expect("works").as_ref().map(any)
            }
            "row remembered opt-out" => {
                let key = (company, maker.opt_out_hash(at));
                let remembered = store.get::<RememberedOptOut>(key).await;
                remembered.expect("works").as_ref().map(any)
            }
            "row company member" | "row login" | "row login link" | "row session" => {
                self.find_account(at, kind, maker).await
            }
            "row campaign" => {
                let campaign = store.get::<Campaign>((company, maker.campaign_id(at))).await;
                campaign.expect("works").as_ref().map(any)
            }
            _ => {
                let (campaign, mut found) = (maker.campaign_id(at), Vec::new());
                for status in RecipientStatus::ALL {
                    let some = store
                        .recipients(company, campaign, *status, RecipientsFrom::After(None), ALL)
                        .await;
                    found.extend(some.expect("works"));
                }
                nth(&found, nth_of)
            }
        }
    }

    /// Claims the next waiting recipient as a sender does: together with the window of its contact,
    /// on the condition that its campaign has not changed.
    pub(super) async fn claim(&self, maker: &Maker<'_>) -> Value {
        let (store, command) = (&self.store, maker.command);
        let shards = store.shards().await.expect("works").all().collect();
        let running = store.active_campaigns(&shards, Timestamp::MAX).await.expect("works");
        let shown = shown::all(&running);
        let mut next = None;
        for campaign in &running {
            let (company, waiting) = (campaign.company, RecipientStatus::Waiting);
            let found = store
                .recipients(company, campaign.id, waiting, RecipientsFrom::After(maker.after(1)), 1)
                .await;
            let found = found.expect("works").into_iter().next();
            next = next.or(found.map(|recipient| (campaign, recipient)));
        }
        let Some((campaign, recipient)) = next else {
            return json!({ "running": shown, "found": null });
        };
        let claimed = Recipient {
            status: RecipientStatus::Sending,
            message: Some(maker.named_message(2)),
            ..recipient.value().clone()
        };
        let read = match command.once_in(3, 8) {
            true => Stored::new(campaign.value().clone(), campaign.version().next()),
            false => campaign.clone(),
        };
        let mut changes =
            ChangeSet::new().with(recipient.update(claimed)).require(read.unchanged());
        if let Some(contact) = recipient.contact.filter(|_| command.once_in(4, 2)) {
            changes = changes.insert(maker.window(5, contact));
        }
        let outcome = outcome(store.commit(changes).await);
        let after = store.get::<Recipient>((self.company, campaign.id, recipient.number)).await;
        let after = after.expect("works");
        json!({
            "running": shown,
            "found": shown::stored(&recipient),
            "outcome": outcome,
            "after": after.as_ref().map(shown::stored),
        })
    }

    /// Makes one of the possible reads.
    pub(super) async fn read_reach(&self, maker: &Maker<'_>) -> Value {
        let (store, company) = (&self.store, self.company);
        let campaign = maker.campaign_id(10);
        match maker.command.number(1) % 9 {
            0 => {
                let found = store.endpoint_by_slug(&maker.slug(11)).await.expect("works");
                json!(found.map(|(endpoint, of)| json!([shown::row(&endpoint.into()), of.id])))
            }
            1 => {
                let (contact, key) = (maker.contact_id(11), maker.window_key(12));
                let window =
                    store.get::<DispatchWindow>((company, contact, key)).await.expect("works");
                json!(window.as_ref().map(shown::stored))
            }
            2 => self.campaigns().await,
            3 => {
                let (status, limit) = (maker.status(11), maker.command.number(12) as u32 % 6);
                let after = maker.after(13);
                let from = match maker.command.once_in(14, 3) {
                    true => RecipientsFrom::Last,
                    false => RecipientsFrom::After(after),
                };
                let found = store.recipients(company, campaign, status, from, limit).await;
                json!(shown::all(&found.expect("works")))
            }
            4 | 5 => {
                let status = maker.command.once_in(11, 2).then(|| maker.status(12));
                self.recipients(campaign, status, maker.page(13)).await
            }
            6 => {
                let messages: Vec<_> = (11..15).map(|n| maker.named_message(n)).collect();
                let found = store.recipients_of(company, &messages).await.expect("works");
                json!(shown::all(&found))
            }
            7 => {
                // The tokens of all templates of this company, and one that belongs to no template.
                let templates = store.all_stored::<Template>(company).await.expect("works");
                let pick = templates.get(maker.command.number(11) % (templates.len() + 1));
                let none = TemplateTokenHash::from_bytes([0xff; 32]);
                let token = pick.map_or(none, |template| template.token_hash);
                let found = store.template_by_token(&token).await.expect("works");
                json!(found.map(|(template, of)| json!([shown::row(&template.into()), of.id])))
            }
            _ => {
                let some = |n: usize| n..n + maker.command.number(n) % 4;
                let slug = |n: usize| maker.command.pick(n, FIELD_SLUGS).to_owned();
                let query = DraftQuery {
                    fields: some(20).map(|n| maker.field_id(n)).collect(),
                    slugs: some(30).map(slug).collect(),
                    ..DraftQuery::default()
                };
                let facts = store.draft_facts(company, &query).await.expect("works");
                json!(shown::unordered(shown::all(&facts.fields)))
            }
        }
    }

    async fn campaigns(&self) -> Value {
        let campaigns = self.store.campaigns(self.company).await.expect("works");
        let until = Timestamp::from_millis(500);
        let shards = self.store.shards().await.expect("works").all().collect();
        let running = self.store.active_campaigns(&shards, until).await.expect("works");
        json!([format!("{campaigns:?}"), shown::all(&running)])
    }

    async fn recipients(
        &self,
        campaign: CampaignId,
        status: Option<RecipientStatus>,
        page: PageRequest,
    ) -> Value {
        let (store, company) = (&self.store, self.company);
        let (from, step) = (Timestamp::from_millis(0), Duration::from_millis(200));
        let steps = Some(TimeSteps { from, step, count: 4 });
        let totals = store.campaign_totals(company, campaign, steps).await.expect("works");
        let page = store.recipient_page(company, campaign, status, page).await.expect("works");
        let items: Vec<Value> = page.items.iter().map(entry).collect();
        json!([format!("{totals:?}"), page.total, items])
    }

    /// The answers of all reads.
    pub(super) async fn all_reach(&self, world: &World) -> Vec<Value> {
        let ids = |kind: &str| -> Vec<Uuid> {
            let known = world.ids.get(kind).into_iter().flatten();
            known.filter_map(|id| Uuid::parse_str(id).ok()).collect()
        };
        let (store, company) = (&self.store, self.company);
        let endpoints = store.all::<InboundEndpoint>(company).await.expect("works");
        let endpoints = endpoints.into_iter().map(|endpoint| shown::row(&endpoint.into()));
        let mut everything = vec![json!(endpoints.collect::<Vec<_>>()), self.campaigns().await];
        for id in ids("row endpoint").into_iter().map(InboundEndpointId::new) {
            let endpoint = store.get::<InboundEndpoint>((company, id)).await.expect("works");
            everything.push(json!(endpoint.as_ref().map(shown::stored)));
        }
        for id in ids("row field").into_iter().map(CustomFieldId::new) {
            let field = store.get::<CustomField>((company, id)).await.expect("works");
            everything.push(json!(field.as_ref().map(shown::stored)));
        }
        for campaign in ids("row campaign").into_iter().map(CampaignId::new) {
            for page in 1..3 {
                let page = PageRequest { page, limit: 100 };
                everything.push(self.recipients(campaign, None, page).await);
            }
            for status in RecipientStatus::ALL {
                let found = store
                    .recipients(company, campaign, *status, RecipientsFrom::After(None), ALL)
                    .await;
                everything.push(json!(shown::all(&found.expect("works"))));
            }
        }
        for contact in ids("row contact").into_iter().map(ContactId::new) {
            for key in Maker::window_keys() {
                let window =
                    store.get::<DispatchWindow>((company, contact, key)).await.expect("works");
                everything.push(json!(window.as_ref().map(shown::stored)));
            }
        }
        everything
    }
}
