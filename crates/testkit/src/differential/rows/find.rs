//! Finds a row to write, with the reads of the store.

use recado_core::connections::{Connection, StatusHistory};
use recado_core::contacts::{Alias, Contact};
use recado_core::conversations::{ChannelContact, ChannelQuery};
use recado_core::gateway::UnknownEvent;
use recado_core::idempotency::RememberedCall;
use recado_core::leads::LeadMemory;
use recado_core::prosas::LedgerLine;
use recado_core::store::{RecordsExt, Row, Stored, Version};
use recado_core::templates::Template;
use recado_core::workers::Worker;

use super::CompanyRows;
use super::make::Maker;

pub(super) fn any<T: Into<Row> + Clone>(stored: &Stored<T>) -> Stored<Row> {
    Stored::new(stored.value().clone().into(), stored.version())
}

pub(super) fn nth<T: Into<Row> + Clone>(rows: &[Stored<T>], n: usize) -> Option<Stored<Row>> {
    (!rows.is_empty()).then(|| any(&rows[n % rows.len()]))
}

impl CompanyRows {
    /// A row of a kind, if the command finds one.
    pub(super) async fn find(&self, kind: &str, maker: &Maker<'_>) -> Option<Stored<Row>> {
        for at in 50..54 {
            let found = self.find_at(at, kind, maker).await;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    async fn find_at(&self, at: usize, kind: &str, maker: &Maker<'_>) -> Option<Stored<Row>> {
        let (store, company) = (&self.store, self.company);
        let nth_of = maker.command.number(59);
        match kind {
            "row contact" => {
                let contact =
                    store.get::<Contact>((company, maker.contact_id(at))).await.expect("works");
                contact.as_ref().map(any)
            }
            "row connection" => {
                let id = maker.connection_id(at);
                store.get::<Connection>((company, id)).await.expect("works").as_ref().map(any)
            }
            "row group" => {
                let groups = store.groups(company, maker.connection_id(at)).await;
                nth(&groups.expect("works"), nth_of)
            }
            "row statuses" => {
                let key = (company, maker.connection_id(at));
                store.get::<StatusHistory>(key).await.expect("works").as_ref().map(any)
            }
            "row alias" => {
                let contact = self.channel_contact(at, maker).await?;
                let key = contact.aliases.get(nth_of % contact.aliases.len().max(1))?.clone();
                let (platform, contact) = (maker.platform(58), contact.contact.id);
                let alias = Alias { company, platform, key, contact };
                Some(Stored::new(alias.into(), Version::FIRST))
            }
            "row conversation" => {
                nth(&self.channel_contact(at, maker).await?.conversations, nth_of)
            }
            "row message" => {
                let messages = store.messages(company, &[maker.message_id(at)]).await;
                nth(&messages.expect("works"), 0)
            }
            "row reference" => {
                let connection = maker.connection_id(at);
                let ids = Maker::wamids_and_traces(connection);
                let found = store.referred(company, connection, &ids).await.expect("works");
                let mut found: Vec<_> = found.into_iter().map(|found| found.reference).collect();
                found.sort_by(|a, b| a.provider_id.cmp(&b.provider_id));
                nth(&found, nth_of)
            }
            "row lead" => {
                let lead = store.get::<LeadMemory>((company, maker.contact_id(at))).await;
                lead.expect("works").as_ref().map(any)
            }
            "row line" => {
                let line = store.get::<LedgerLine>((company, maker.line_id(at))).await;
                line.expect("works").as_ref().map(any)
            }
            "row call" => {
                let call = store.get::<RememberedCall>((company, maker.call_key(at))).await;
                call.expect("works").as_ref().map(any)
            }
            "row worker" => {
                store.get::<Worker>(maker.worker_id(at)).await.expect("works").as_ref().map(any)
            }
            "row unknown" => {
                let event = store.get::<UnknownEvent>((company, maker.unknown_id(at))).await;
                event.expect("works").as_ref().map(any)
            }
            "row job" => {
                // The lease expires at once.
                let claimed = store.claim_jobs(maker.now, maker.now, 3, &[]).await.expect("works");
                nth(&claimed, nth_of)
            }
            "row template" => {
                let template = store.get::<Template>((company, maker.template_id(at))).await;
                template.expect("works").as_ref().map(any)
            }
            "row upload" => self.find_upload(maker.upload_id(at)).await,
            _ => self.find_reach(at, kind, maker).await,
        }
    }

    async fn channel_contact(&self, at: usize, maker: &Maker<'_>) -> Option<ChannelContact> {
        let query = ChannelQuery { ids: vec![maker.contact_id(at)], ..ChannelQuery::default() };
        let found = self.store.channel_contacts(self.company, &query).await;
        found.expect("works").into_iter().next()
    }
}
