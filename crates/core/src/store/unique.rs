//! All unique keys of rows, in one table as the [references](super::REFERENCES) are.

use std::fmt;

use uuid::Uuid;

use super::{Row, RowKind, UniqueKey};
use crate::access::KeyHash;
use crate::accounts::LoginSubjectHash;
use crate::contacts::{Email, Identifier, Platform};
use crate::ids::{CampaignId, CompanyId, ContactId};
use crate::inbound::EndpointSlug;
use crate::jobs::JobKind;
use crate::links::LinkCodeHash;
use crate::organizations::Cnpj;
use crate::templates::TemplateTokenHash;

/// Fields of a kind of row whose values no two rows share. It does not apply to a row in which one
/// of them is empty. The identity of rows is unique as well: [`UniqueKey::identity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unique {
    /// The key that a conflict names.
    pub key: UniqueKey,
    /// The kind of row.
    pub kind: RowKind,
    /// The fields of its record. Without `company` among them, the values are unique over all
    /// companies.
    pub fields: &'static [&'static str],
}

/// The values of a row in the fields of a [`Unique`]; no two rows share them. Its `Debug` form
/// shows only the key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UniqueValue<'a> {
    key: UniqueKey,
    parts: [Option<UniquePart<'a>>; 3],
}

impl UniqueValue<'_> {
    /// The key that a conflict names.
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
enum UniquePart<'a> {
    Id(Uuid),
    Text(&'a str),
    Bytes(&'a [u8]),
    Subject(&'static str, Uuid),
}

/// A field that can be part of a unique key; `None` where it is empty.
trait UniqueField {
    fn part(&self) -> Option<UniquePart<'_>>;
}

macro_rules! parts {
    ($($Type:ty: $value:ident => $part:expr;)+) => {$(
        impl UniqueField for $Type {
            fn part(&self) -> Option<UniquePart<'_>> {
                let $value = self;
                Some($part)
            }
        }
    )+};
}

parts! {
    CompanyId: id => UniquePart::Id(id.uuid());
    CampaignId: id => UniquePart::Id(id.uuid());
    ContactId: id => UniquePart::Id(id.uuid());
    String: text => UniquePart::Text(text);
    Platform: platform => UniquePart::Text(platform.as_str());
    Identifier: identifier => UniquePart::Text(identifier.as_str());
    Email: email => UniquePart::Text(email.as_str());
    Cnpj: cnpj => UniquePart::Text(cnpj.as_str());
    LinkCodeHash: hash => UniquePart::Bytes(hash.as_bytes());
    TemplateTokenHash: hash => UniquePart::Bytes(hash.as_bytes());
    EndpointSlug: slug => UniquePart::Text(slug.as_str());
    KeyHash: hash => UniquePart::Bytes(hash.as_bytes());
    LoginSubjectHash: hash => UniquePart::Bytes(hash.as_bytes());
    JobKind: kind => UniquePart::Subject(kind.name(), kind.subject());
}

impl<T: UniqueField> UniqueField for Option<T> {
    fn part(&self) -> Option<UniquePart<'_>> {
        self.as_ref().and_then(T::part)
    }
}

/// The value of a key, unless one of the fields is empty.
fn value<'a, const N: usize>(
    key: UniqueKey,
    fields: [Option<UniquePart<'a>>; N],
) -> Option<UniqueValue<'a>> {
    let mut parts = [None; 3];
    for (part, field) in parts.iter_mut().zip(fields) {
        *part = Some(field?);
    }
    Some(UniqueValue { key, parts })
}

macro_rules! unique {
    ($($Kind:ident { $($Key:ident: $($field:ident),+;)+ })+) => {
        /// Every unique key except the identities of rows.
        pub const UNIQUE: &[Unique] = &[$($(Unique {
            key: UniqueKey::$Key,
            kind: RowKind::$Kind,
            fields: &[$(stringify!($field)),+],
        },)+)+];

        impl Row {
            /// The values, besides its key, that no other row of its kind may have.
            pub fn unique_values(&self) -> Vec<UniqueValue<'_>> {
                match self {
                    $(Self::$Kind(record) => [
                        $(value(UniqueKey::$Key, [$(UniqueField::part(&record.$field)),+]),)+
                    ].into_iter().flatten().collect(),)+
                    _ => Vec::new(),
                }
            }
        }
    };
}

unique! {
    ApiKey { KeyHash: hash; }
    Login { LoginEmail: email; LoginSubject: subject; }
    Contact {
        ContactIdentifier: company, source_platform, identifier;
        ContactEmail: company, email;
    }
    CustomField { CustomFieldSlug: company, slug; }
    Organization { OrganizationCnpj: company, cnpj; }
    Link { LinkCode: code_hash; }
    Template { TemplateToken: token_hash; }
    InboundEndpoint { EndpointSlug: slug; }
    Recipient { Recipient: company, campaign, contact; }
    Job { JobSubject: company, kind; }
}
