//! Which values no two rows may have, said once, as [references](super::REFERENCES) are.

use std::fmt;

use uuid::Uuid;

use super::{Row, RowKind, UniqueKey};
use crate::access::KeyHash;
use crate::contacts::{Email, Identifier, Platform};
use crate::ids::{CampaignId, CompanyId, ContactId};
use crate::inbound::EndpointSlug;
use crate::jobs::JobKind;
use crate::links::LinkCode;
use crate::organizations::Cnpj;

/// Fields of a kind of row that no two rows have alike. A row in which one of them is empty is held
/// to nothing. The identity of rows is unique besides: [`UniqueKey::identity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unique {
    /// What a conflict names.
    pub key: UniqueKey,
    /// The kind of row.
    pub kind: RowKind,
    /// The fields of its record. Without `company` among them, the values are unique over all
    /// companies.
    pub fields: &'static [&'static str],
}

/// What a row has in the fields of a [`Unique`]: alike in no two rows. Prints its key alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UniqueValue<'a> {
    key: UniqueKey,
    parts: [Option<Part<'a>>; 3],
}

impl UniqueValue<'_> {
    /// What a conflict names.
    pub const fn key(&self) -> UniqueKey {
        self.key
    }
}

impl fmt::Debug for UniqueValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UniqueValue({:?})", self.key)
    }
}

/// The value of one field.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part<'a> {
    Id(Uuid),
    Text(&'a str),
    Bytes(&'a [u8]),
    Subject(&'static str, Uuid),
}

/// A field that can be part of a unique key; `None` where it is empty.
trait Unequal {
    fn part(&self) -> Option<Part<'_>>;
}

macro_rules! parts {
    ($($Type:ty: $value:ident => $part:expr;)+) => {$(
        impl Unequal for $Type {
            fn part(&self) -> Option<Part<'_>> {
                let $value = self;
                Some($part)
            }
        }
    )+};
}

parts! {
    CompanyId: id => Part::Id(id.uuid());
    CampaignId: id => Part::Id(id.uuid());
    ContactId: id => Part::Id(id.uuid());
    Uuid: id => Part::Id(*id);
    String: text => Part::Text(text);
    Platform: platform => Part::Text(platform.as_str());
    Identifier: identifier => Part::Text(identifier.as_str());
    Email: email => Part::Text(email.as_str());
    Cnpj: cnpj => Part::Text(cnpj.as_str());
    LinkCode: code => Part::Text(code.as_str());
    EndpointSlug: slug => Part::Text(slug.as_str());
    KeyHash: hash => Part::Bytes(hash.as_bytes());
    JobKind: kind => Part::Subject(kind.name(), kind.subject());
}

impl<T: Unequal> Unequal for Option<T> {
    fn part(&self) -> Option<Part<'_>> {
        self.as_ref().and_then(T::part)
    }
}

/// The value of a key, unless one of the fields is empty.
fn value<'a, const N: usize>(
    key: UniqueKey,
    fields: [Option<Part<'a>>; N],
) -> Option<UniqueValue<'a>> {
    let mut parts = [None; 3];
    for (part, field) in parts.iter_mut().zip(fields) {
        *part = Some(field?);
    }
    Some(UniqueValue { key, parts })
}

macro_rules! unique {
    ($($Kind:ident { $($Key:ident: $($field:ident),+;)+ })+) => {
        /// Every unique key beside the identities of rows.
        pub const UNIQUE: &[Unique] = &[$($(Unique {
            key: UniqueKey::$Key,
            kind: RowKind::$Kind,
            fields: &[$(stringify!($field)),+],
        },)+)+];

        impl Row {
            /// What no other row of its kind may have, beside its key.
            pub fn unique_values(&self) -> Vec<UniqueValue<'_>> {
                match self {
                    $(Self::$Kind(record) => [
                        $(value(UniqueKey::$Key, [$(Unequal::part(&record.$field)),+]),)+
                    ].into_iter().flatten().collect(),)+
                    _ => Vec::new(),
                }
            }
        }
    };
}

unique! {
    ApiKey { KeyHash: hash; }
    Contact {
        ContactIdentifier: company, source_platform, identifier;
        ContactEmail: company, email;
    }
    CustomField { CustomFieldSlug: company, slug; }
    Organization { OrganizationCnpj: company, cnpj; }
    Link { LinkCode: code; }
    Template { TemplateToken: token; }
    InboundEndpoint { EndpointSlug: slug; }
    Recipient { Recipient: company, campaign, contact; }
    Job { JobSubject: company, kind; }
}
