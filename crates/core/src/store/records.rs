//! Reads that are alike for all kinds of record: one row by its key, and all rows of a listing.
//!
//! # Contract
//!
//! A row is returned in any state: deleted webhooks, expired calls and workers without a lease too.
//! For the key of another company's row nothing is returned. A listing is complete, and in its
//! order.

use async_trait::async_trait;

use super::{Record, Row, RowKey, StoreError, Stored};
use crate::ids::{CloseReasonId, CompanyId, ConnectionId, MemberId, UploadId};

/// Passes the kinds of record that can be listed to a macro: first those of a company, then those
/// of the whole installation, each with its type and the fields whose order a listing has (D58).
/// The tokens in brackets after the macro's name come before the list.
#[macro_export]
macro_rules! for_each_listing {
    ($($callback:ident)::+ $([$($input:tt)*])?) => {
        $($callback)::+! {
            $([$($input)*])?
            company {
                ApiKey($crate::access::ApiKey) by created_at, id;
                Member($crate::access::Member) by created_at, id;
                Login($crate::accounts::Login) by created_at, member;
                CustomField($crate::custom_fields::CustomField) by created_at, id;
                Tag($crate::tags::Tag) by created_at, id;
                CloseReason($crate::tags::CloseReason) by created_at, id;
                Pipeline($crate::deals::Pipeline) by created_at, id;
                Stage($crate::deals::Stage) by pipeline, display_order, id;
                Organization($crate::organizations::Organization) by created_at, id;
                Link($crate::links::Link) by created_at, id;
                Connection($crate::connections::Connection) by created_at, id;
                Template($crate::templates::Template) by created_at, id;
                InboundEndpoint($crate::inbound::InboundEndpoint) by created_at, id;
            }
            installation {
                Company($crate::access::Company) by created_at, id;
                OperatorToken($crate::access::OperatorToken) by created_at, id;
                Worker($crate::workers::Worker) by id;
                Shard($crate::deliveries::Shard) by number;
                Halt($crate::halts::Halt) by subject;
            }
        }
    };
}

macro_rules! listings {
    (
        company { $($name:ident($record:ty) by $($order:ident),+;)+ }
        installation { $($global:ident($global_record:ty) by $($global_order:ident),+;)+ }
    ) => {
        /// Rows that are read all together.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Listing {
            $(#[doc = concat!("The rows of this kind that a company has: [`", stringify!($name), "`](super::RowKind::", stringify!($name), ").")]
            $name(CompanyId),)+
            $(#[doc = concat!("All rows of this kind: [`", stringify!($global), "`](super::RowKind::", stringify!($global), ").")]
            $global,)+
            /// Some rows of a kind that a company has, in no particular order; none of a kind that
            /// has no company in its key, and none of the company itself.
            Some {
                /// The company.
                company: CompanyId,
                /// The kind.
                kind: super::RowKind,
                /// At most so many: all rows, if there are fewer.
                limit: u32,
            },
            /// The companies that have rows of a kind, by id; none of a kind that does not
            /// [belong](super::RowKind::is_of_company) to a company. It costs as much as these
            /// companies are, whatever the number of their rows and of other companies.
            CompaniesWith {
                /// The kind.
                kind: super::RowKind,
            },
            /// The oldest messages, ledger lines, clicks or uploads that a company has, by
            /// [`Message::created_at`](crate::messages::Message::created_at),
            /// [`LedgerLine::created_at`](crate::prosas::LedgerLine::created_at),
            /// [`Click::at`](crate::links::Click::at) or
            /// [`Upload::expires_at`](crate::uploads::Upload::expires_at), where there is one, then
            /// `id`; none of another kind.
            Oldest {
                /// The company.
                company: CompanyId,
                /// The kind.
                kind: super::RowKind,
                /// From this time or before.
                until: crate::Timestamp,
                /// At most so many.
                limit: u32,
            },
            /// Some organizations of a company to which no contact refers, or some of its uploads
            /// without [`expires_at`](crate::uploads::Upload::expires_at) to which no message
            /// refers, in no particular order; none of another kind.
            Unused {
                /// The company.
                company: CompanyId,
                /// The kind.
                kind: super::RowKind,
                /// At most so many: all, if there are fewer.
                limit: u32,
            },
            /// Some uploads to which messages of a contact refer, in no particular order.
            Carried {
                /// The company.
                company: CompanyId,
                /// The contact.
                contact: crate::ids::ContactId,
                /// At most so many: all, if there are fewer.
                limit: u32,
            },
            /// The newest entries of the audit log before a place, by
            /// [`AuditEntry::at`](crate::audit::AuditEntry::at), then `id`, both descending.
            Audited {
                /// Those about this company; `None`: all.
                company: Option<CompanyId>,
                /// The place; what stands there is not listed.
                before: (crate::Timestamp, crate::ids::AuditEntryId),
                /// At most so many.
                limit: u32,
            },
            /// The oldest entries of the audit log, by
            /// [`AuditEntry::at`](crate::audit::AuditEntry::at), then `id`.
            AuditedBefore {
                /// From this time or before.
                until: crate::Timestamp,
                /// At most so many.
                limit: u32,
            },
            /// Rows of a kind that [refer](super::RowKind::is_about_a_contact) to a contact, but no
            /// messages. Of a kind with an id: by id, those after `after`. Of other kinds, which
            /// are few for a contact: in no particular order, whatever `after` is.
            About {
                /// The company.
                company: CompanyId,
                /// The kind.
                kind: super::RowKind,
                /// The contact.
                contact: crate::ids::ContactId,
                /// The id of the row before.
                after: uuid::Uuid,
                /// At most so many: all, if there are fewer.
                limit: u32,
            },
            /// Messages of a contact, by
            /// [`Message::created_at`](crate::messages::Message::created_at), then `id`.
            MessagesOf {
                /// The company.
                company: CompanyId,
                /// The contact.
                contact: crate::ids::ContactId,
                /// Only these.
                direction: crate::messages::Direction,
                /// Only those from a check of the history, or only the others.
                is_history: bool,
                /// The place of the message before.
                after: (crate::Timestamp, crate::ids::MessageId),
                /// At most so many: all, if there are fewer.
                limit: u32,
            },
            /// The last message of each of these contacts, by
            /// [`Message::created_at`](crate::messages::Message::created_at), then `id`; in no
            /// particular order.
            LastMessages {
                /// The company.
                company: CompanyId,
                /// The contacts.
                contacts: Vec<crate::ids::ContactId>,
            },
        }

        impl Listing {
            /// The kind of its rows.
            pub const fn kind(&self) -> super::RowKind {
                match self {
                    $(Self::$name(_) => super::RowKind::$name,)+
                    $(Self::$global => super::RowKind::$global,)+
                    Self::Some { kind, .. }
                    | Self::Oldest { kind, .. }
                    | Self::Unused { kind, .. }
                    | Self::About { kind, .. } => *kind,
                    Self::Carried { .. } => super::RowKind::Upload,
                    Self::CompaniesWith { .. } => super::RowKind::Company,
                    Self::Audited { .. } | Self::AuditedBefore { .. } => {
                        super::RowKind::AuditEntry
                    }
                    Self::MessagesOf { .. } | Self::LastMessages { .. } => super::RowKind::Message,
                }
            }

            /// The company whose rows they are.
            pub const fn company(&self) -> Option<CompanyId> {
                match self {
                    $(Self::$name(company))|+
                    | Self::Some { company, .. }
                    | Self::Oldest { company, .. }
                    | Self::Unused { company, .. }
                    | Self::Carried { company, .. }
                    | Self::About { company, .. }
                    | Self::MessagesOf { company, .. }
                    | Self::LastMessages { company, .. } => Some(*company),
                    $(Self::$global => None,)+
                    Self::CompaniesWith { .. }
                    | Self::Audited { .. }
                    | Self::AuditedBefore { .. } => None,
                }
            }
        }

        $(impl Listed for $record {
            type Of = CompanyId;

            fn listing(company: CompanyId) -> Listing {
                Listing::$name(company)
            }
        })+

        $(impl Listed for $global_record {
            type Of = ();

            fn listing((): ()) -> Listing {
                Listing::$global
            }
        })+
    };
}

/// A kind of record whose rows can be read all together.
pub trait Listed: Record {
    /// Whose rows: a company's, or `()` where they belong to the installation.
    type Of: Send;

    /// The rows of `of`.
    fn listing(of: Self::Of) -> Listing;
}

for_each_listing!(listings);

/// A record that the operator removes only while nothing uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removable {
    /// A member: contacts are assigned to it.
    Member(MemberId),
    /// A close reason: contacts were closed with it.
    CloseReason(CloseReasonId),
    /// A connection: messages, conversations, templates and the `last_connection_id` of contacts
    /// name it.
    Connection(ConnectionId),
    /// An upload: messages carry it.
    Upload(UploadId),
}

impl Removable {
    /// The key of its row.
    pub const fn key(self, company: CompanyId) -> RowKey {
        match self {
            Self::Member(id) => RowKey::Member { company, id },
            Self::CloseReason(id) => RowKey::CloseReason { company, id },
            Self::Connection(id) => RowKey::Connection { company, id },
            Self::Upload(id) => RowKey::Upload { company, id },
        }
    }
}

/// Reads of rows of any kind. Callers use [`RecordsExt`], whose methods return the record types.
#[async_trait]
pub trait Records: Send + Sync {
    /// The row of a key.
    async fn row(&self, key: &RowKey) -> Result<Option<Stored<Row>>, StoreError>;

    /// All rows of a listing: by `created_at`, then `id` (D58); stages by pipeline and
    /// `display_order`, workers by id, shards by number, halts by kind and subject;
    /// [`Listing::Some`], [`Listing::Unused`], [`Listing::Carried`] and
    /// [`Listing::LastMessages`] in any order,
    /// [`Listing::Oldest`] by their times, [`Listing::About`] and [`Listing::MessagesOf`] as they
    /// say.
    async fn rows(&self, listing: Listing) -> Result<Vec<Stored<Row>>, StoreError>;

    /// Whether any row of the company refers to this record by a [`Reference`](super::Reference)
    /// with [`OnDelete::Restrict`](super::OnDelete::Restrict) or
    /// [`OnDelete::Keep`](super::OnDelete::Keep).
    async fn is_in_use(&self, company: CompanyId, row: Removable) -> Result<bool, StoreError>;

    /// How many rows of a kind [refer](super::RowKind::is_about_a_contact) to a contact; 0 for a
    /// kind of which none can.
    async fn count_about(
        &self,
        company: CompanyId,
        kind: super::RowKind,
        contact: crate::ids::ContactId,
    ) -> Result<u64, StoreError>;

    /// Of which kinds a contact has more than `than` rows. No more of them are read than that.
    async fn has_many(
        &self,
        company: CompanyId,
        contact: crate::ids::ContactId,
        than: u32,
    ) -> Result<ManyRows, StoreError>;
}

/// The kinds of which a contact has many rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManyRows {
    /// Messages.
    pub messages: bool,
    /// Ledger lines.
    pub ledger_lines: bool,
    /// Events with data, or events whose data was erased.
    pub events: bool,
}

/// [`Records`] with types.
pub trait RecordsExt: Records {
    /// The record of a key, given by its parts.
    fn get<T: Record>(
        &self,
        key: T::Key,
    ) -> impl Future<Output = Result<Option<Stored<T>>, StoreError>> + Send {
        let key = T::key_of(key);
        async move { self.row(&key).await?.map(typed).transpose() }
    }

    /// All records of a company, or of the installation, with their versions.
    fn all_stored<T: Listed>(
        &self,
        of: T::Of,
    ) -> impl Future<Output = Result<Vec<Stored<T>>, StoreError>> + Send {
        let listing = T::listing(of);
        async move { self.rows(listing).await?.into_iter().map(typed).collect() }
    }

    /// All records of a company, or of the installation.
    fn all<T: Listed>(&self, of: T::Of) -> impl Future<Output = Result<Vec<T>, StoreError>> + Send {
        let stored = self.all_stored::<T>(of);
        async move { Ok(stored.await?.into_iter().map(Stored::into_value).collect()) }
    }
}

impl<S: Records + ?Sized> RecordsExt for S {}

fn typed<T: Record>(row: Stored<Row>) -> Result<Stored<T>, StoreError> {
    let version = row.version();
    let record = T::try_from(row.into_value()).map_err(StoreError::corrupt)?;
    Ok(Stored::new(record, version))
}
