//! Reads rows in every possible way.

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::contacts::{ContactFilter, DraftQuery};
use recado_core::conversations::ChannelQuery;
use recado_core::figures::FigureQuery;
use recado_core::gateway::{KeptOrder, KeptQuery, UnknownEvent};
use recado_core::ids::{ConnectionId, ContactId};
use recado_core::leads::LeadMemory;
use recado_core::messages::{Direction, MessageFilter, MessageSearch, MessageStatus, MessageType};
use recado_core::page::PageRequest;
use recado_core::prosas::{LedgerFilter, LedgerSpan, LineKind};
use recado_core::store::{RecordsExt, Removable};
use recado_core::templates::Template;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::pools;
use super::super::world::World;
use super::make::Maker;
use super::{CompanyRows, shown};

/// A limit that no run reaches.
const ALL: u32 = 100_000;

impl Maker<'_> {
    fn when(&self, n: usize) -> Option<Timestamp> {
        let back = self.command.number(n + 1) as i64 % 40;
        self.command.once_in(n, 3).then(|| Timestamp::from_millis(self.now.millis() - back))
    }

    pub(super) fn page(&self, n: usize) -> PageRequest {
        let page = 1 + self.command.number(n) as u32 % 3;
        PageRequest { page, limit: 1 + self.command.number(n + 1) as u32 % 9 }
    }

    fn message_search(&self, n: usize) -> Option<MessageSearch> {
        let text = self.command.once_in(n, 3).then(|| self.command.pick(n + 1, pools::SEARCHES))?;
        MessageSearch::parse(text).ok()
    }

    fn message_filter(&self) -> MessageFilter {
        let given = |n: usize| self.command.once_in(n, 3);
        let pick = |n: usize| self.command.number(n);
        MessageFilter {
            contact: given(10).then(|| self.contact_id(11)),
            connection: given(12).then(|| self.connection_id(13)),
            direction: given(14).then(|| Direction::ALL[pick(15) % 2]),
            message_type: given(16).then(|| MessageType::ALL[pick(17) % 4]),
            status: given(18).then(|| MessageStatus::ALL[pick(19) % MessageStatus::ALL.len()]),
            quoting: self.command.once_in(24, 6).then(|| self.message_id(25)),
            from: self.when(20),
            to: self.when(22),
            search: self.message_search(26),
        }
    }

    fn channel_query(&self) -> ChannelQuery {
        let some = |n: usize| 0..self.command.number(n) % 3;
        ChannelQuery {
            platform: self.command.once_in(10, 2).then(|| self.platform(11)),
            ids: some(12).map(|n| self.contact_id(13 + n)).collect(),
            identifiers: some(16).map(|n| self.identifier(17 + n)).collect(),
            keys: some(20).map(|n| self.key(21 + n)).collect(),
            phones: some(24).map(|n| self.phone(25 + n)).collect(),
            chats: some(28).map(|n| self.code(29 + n)).collect(),
            per_phone: self.command.once_in(32, 2).then(|| self.command.number(33) as u32 % 3),
        }
    }
}

impl CompanyRows {
    pub(super) async fn read(&self, maker: &Maker<'_>) -> Value {
        let (store, company) = (&self.store, self.company);
        match maker.command.number(1) % 12 {
            0 | 1 => self.messages(&maker.message_filter(), maker.page(30)).await,
            2 => {
                let kinds = [None, Some(LineKind::Debit), Some(LineKind::Refund)];
                let kind = kinds[maker.command.number(10) % 3];
                let filter = LedgerFilter { from: maker.when(20), to: maker.when(22), kind };
                self.ledger(filter, maker.page(30)).await
            }
            3 => self.contacts(&maker.channel_query()).await,
            4 => {
                let connection = maker.connection_id(13);
                let [one, two, three] = [10, 11, 12].map(|n| maker.wamid(n));
                let ids = [one.trace(connection), one, two.trace(connection), two, three];
                let found = store.referred(company, connection, &ids).await;
                let found = found.expect("works");
                json!(shown::unordered(found.iter().map(shown::referred).collect()))
            }
            5 => {
                let codes = [maker.code(10), maker.code(11)];
                let groups = store.groups_by_code(company, &codes).await.expect("works");
                let of_one = store.groups(company, maker.connection_id(12)).await.expect("works");
                json!([shown::all(&groups), shown::all(&of_one)])
            }
            6 => {
                let query = DraftQuery {
                    phones: (0..maker.command.number(10) % 3)
                        .map(|n| maker.phone(11 + n))
                        .collect(),
                    identifiers: vec![maker.identifier(12)],
                    keys: vec![maker.key(13), maker.key(14)],
                    alias: Some((maker.platform(15), maker.key(16))),
                    connection: Some(maker.connection_id(17)),
                    ..DraftQuery::default()
                };
                let facts = store.draft_facts(company, &query).await.expect("works");
                let connection = facts.connection.as_ref().map(shown::stored);
                json!([facts.holder, facts.alias_taken, connection])
            }
            7 => self.on_their_way(maker).await,
            8 => {
                let connection = maker.connection_id(10);
                let anywhere = store.connection_anywhere(connection).await.expect("works");
                let one = store.get::<UnknownEvent>((company, maker.unknown_id(11))).await;
                let one = one.expect("works");
                let after = one.as_ref().map(|event| (event.received_at, event.id));
                let query = KeptQuery {
                    connection: maker.maybe(12, || connection),
                    kind: maker.maybe(13, || maker.unknown_name(14)),
                    order: match maker.once_in(15, 2) {
                        true => KeptOrder::NewestFirst,
                        false => KeptOrder::OldestFirst { after },
                    },
                    limit: maker.command.number(16) as u32 % 4,
                };
                let kept = store.unknown_events(company, &query).await.expect("works");
                json!([
                    anywhere.as_ref().map(shown::stored),
                    [json!(kept.total), json!(shown::all(&kept.events))],
                    one.as_ref().map(shown::stored),
                ])
            }
            9 => {
                let (now, lease) = (maker.now, maker.soon(10));
                let limit = 1 + maker.command.number(11) as u32 % 3;
                let claimed = store.claim_jobs(now, lease, limit, &[]).await.expect("works");
                json!(shown::all(&claimed))
            }
            10 => self.uploads(maker).await,
            _ => self.contact(maker.contact_id(10), maker.connection_id(11)).await,
        }
    }

    async fn messages(&self, filter: &MessageFilter, page: PageRequest) -> Value {
        let page = self.store.message_page(self.company, filter, page).await.expect("works");
        json!([page.total, page.items.iter().map(shown::record).collect::<Vec<_>>()])
    }

    async fn ledger(&self, filter: LedgerFilter, page: PageRequest) -> Value {
        let from = filter.from.unwrap_or(Timestamp::MIN);
        let spans = [LedgerSpan { from, to: filter.to.unwrap_or(Timestamp::MAX) }];
        let listed = self.store.ledger_page(self.company, &filter, page).await;
        let summed = self.store.ledger_totals(self.company, &spans).await;
        json!(format!("{listed:?} {summed:?}"))
    }

    async fn contacts(&self, query: &ChannelQuery) -> Value {
        let found = self.store.channel_contacts(self.company, query).await.expect("works");
        json!(found.iter().map(shown::channel_contact).collect::<Vec<_>>())
    }

    async fn on_their_way(&self, maker: &Maker<'_>) -> Value {
        let abandoned = self.store.abandoned_messages(maker.now, ALL).await.expect("works");
        let some = self.store.abandoned_messages(maker.now, 2).await.expect("works").len();
        let flying = self.store.messages_in_flight(maker.worker_id(10), ALL).await.expect("works");
        let (from, to) = (maker.when(20), maker.when(22));
        let (from, to) = (from.unwrap_or(Timestamp::MIN), to.unwrap_or(Timestamp::MAX));
        let query = FigureQuery { left_sent: (from, to), ..FigureQuery::at(maker.now) };
        let figures = self.store.figures(&query).await.expect("works");
        json!([
            shown::figures(figures),
            shown::unordered(shown::all(&abandoned)),
            some,
            shown::unordered(shown::all(&flying)),
        ])
    }

    /// The answers of reads about one contact and about one connection.
    async fn contact(&self, contact: ContactId, connection: ConnectionId) -> Value {
        let (store, company) = (&self.store, self.company);
        let record = store.contact_record(company, contact).await.expect("works");
        let related = record.map(|(record, _)| {
            let conversations: Vec<Value> = record
                .related
                .conversations
                .iter()
                .map(|(of, with)| json!([shown::connection(of), format!("{with:?}")]))
                .collect();
            json!([conversations, format!("{:?}", record.related.lead_memory)])
        });
        let inbound = store.newest_inbound_at(company, contact).await.expect("works");
        let outbound = store.newest_outbound_sender(company, contact).await.expect("works");
        let used =
            store.is_in_use(company, Removable::Connection(connection)).await.expect("works");
        let lead = store.get::<LeadMemory>((company, contact)).await.expect("works");
        json!([
            related,
            format!("{inbound:?} {outbound:?} {used}"),
            lead.as_ref().map(shown::stored),
        ])
    }

    /// The answers of all reads.
    pub(in super::super) async fn everything(&self, world: &World) -> Vec<Value> {
        let ids = |kind: &str| -> Vec<Uuid> {
            let known = world.ids.get(kind).into_iter().flatten();
            known.filter_map(|id| Uuid::parse_str(id).ok()).collect()
        };
        let (store, company) = (&self.store, self.company);
        let mut everything = Vec::new();
        for page in 1..4 {
            let page = PageRequest { page, limit: 100 };
            everything.push(self.messages(&MessageFilter::default(), page).await);
            everything.push(self.ledger(LedgerFilter::default(), page).await);
        }
        let contacts: Vec<ContactId> = ids("row contact").into_iter().map(ContactId::new).collect();
        let query = ChannelQuery { ids: contacts.clone(), ..ChannelQuery::default() };
        everything.push(self.contacts(&query).await);
        let connections = store.all_stored::<Connection>(company).await.expect("works");
        everything.push(json!(shown::all(&connections)));
        let templates = store.all_stored::<Template>(company).await.expect("works");
        everything.push(json!(shown::all(&templates)));
        for connection in ids("row connection").into_iter().map(ConnectionId::new) {
            let groups = store.groups(company, connection).await.expect("works");
            everything.push(json!(shown::all(&groups)));
            let query = KeptQuery::newest(connection, ALL);
            let kept = store.unknown_events(company, &query).await.expect("works");
            everything.push(json!([json!(kept.total), json!(shown::all(&kept.events))]));
            let anywhere = store.connection_anywhere(connection).await.expect("works");
            everything.push(json!(anywhere.as_ref().map(shown::stored)));
            everything.push(self.contact(ContactId::new(Uuid::nil()), connection).await);
        }
        for contact in contacts {
            everything.push(self.contact(contact, ConnectionId::new(Uuid::nil())).await);
        }
        let (filter, page) = (ContactFilter::default(), PageRequest { page: 1, limit: 1 });
        let slice = store.contact_page(company, &filter, page, false).await.expect("works");
        everything.push(json!(slice.total));
        let always = (Timestamp::MIN, Timestamp::MAX);
        let query = FigureQuery { left_sent: always, ..FigureQuery::at(Timestamp::MAX) };
        everything.push(shown::figures(store.figures(&query).await.expect("works")));
        everything.extend(self.all_uploads(world).await);
        everything.extend(self.all_reach(world).await);
        everything
    }
}
