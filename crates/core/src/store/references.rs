//! All references between rows. The guide for store authors, the model of the test kit and the
//! tests of the databases' schemas are made from this table.

use super::{Row, RowKey, RowKind};
use crate::ids::MessageId;
use crate::messages::RefTarget;

/// The effect on a row when the row that it refers to is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnDelete {
    /// The deletion is refused with [`Conflict::Reference`](super::Conflict::Reference).
    Restrict,
    /// The row is deleted, too.
    Cascade,
    /// The field becomes empty, and of a ledger line what was written about it, too (R196). The
    /// row keeps its version.
    SetNull,
    /// None. The field keeps the id of the deleted row, and may hold the id of a row that never
    /// existed. [`Records::is_in_use`](super::Records::is_in_use) counts it nevertheless.
    Keep,
}

/// A field by which rows of one kind refer to rows of another kind, within one company.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The kind that refers.
    pub from: RowKind,
    /// The field of its record, or the one that holds the part of the record with it. If it is
    /// empty, the row refers to nothing.
    pub field: &'static str,
    /// The kind that is referred to.
    pub to: RowKind,
    /// What its deletion does.
    pub on_delete: OnDelete,
}

impl Reference {
    /// How rows of a kind refer to their company. `None` for companies themselves, for rows that
    /// belong to no company, and for deliveries, which keep a copy of all that they need.
    pub const fn to_company(from: RowKind) -> Option<Self> {
        let refers = !matches!(
            from,
            RowKind::Company
                | RowKind::OperatorToken
                | RowKind::AuditEntry
                | RowKind::Secret
                | RowKind::Worker
                | RowKind::Shard
                | RowKind::Halt
                | RowKind::Delivery
        );
        let reference =
            Self { from, field: "company", to: RowKind::Company, on_delete: OnDelete::Restrict };
        if refers { Some(reference) } else { None }
    }

    /// Whether a row can be stored only while the referenced row exists.
    pub const fn is_enforced(&self) -> bool {
        !matches!(self.on_delete, OnDelete::Keep)
    }
}

/// As `Stage.pipeline, which refers to a Pipeline`.
impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}.{}, which refers to a {:?}", self.from, self.field, self.to)
    }
}

/// A field that may name a row.
trait Names<Id> {
    fn named(&self) -> Option<Id>;
}

impl<Id: Copy> Names<Id> for Id {
    fn named(&self) -> Option<Id> {
        Some(*self)
    }
}

impl<Id: Copy> Names<Id> for Option<Id> {
    fn named(&self) -> Option<Id> {
        *self
    }
}

impl Names<MessageId> for RefTarget {
    fn named(&self) -> Option<MessageId> {
        match self {
            Self::Message(id) => Some(*id),
            Self::Early { .. } | Self::Forgotten { .. } => None,
        }
    }
}

/// A record with a field emptied, if its reference has `SetNull`.
macro_rules! cleared {
    ($record:ident contact SetNull LedgerLine) => {
        Some($record.clone().without_contact().into())
    };
    ($record:ident $field:ident SetNull $From:ident) => {{
        let mut record = $record.clone();
        record.$field = None;
        Some(record.into())
    }};
    ($record:ident $field:ident $on_delete:ident $From:ident) => {
        None
    };
}

/// The field of a record that a reference names: the one that holds the part with it.
macro_rules! named {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident in $part:ident) => {
        stringify!($part)
    };
}

macro_rules! references {
    ($($From:ident {
        $($field:ident $(in $part:ident)? => $To:ident: $on_delete:ident),+ $(,)?
    })+) => {
        /// Every reference within a company, by the kinds that refer. References to the company
        /// itself are [`Reference::to_company`].
        pub const REFERENCES: &[Reference] = &[$($(Reference {
            from: RowKind::$From,
            field: named!($field $(in $part)?),
            to: RowKind::$To,
            on_delete: OnDelete::$on_delete,
        },)+)+];

        /// The rows that a row refers to within its company.
        fn within_company(row: &Row) -> Vec<(Reference, RowKey)> {
            match row {
                $(Row::$From(record) => [$(
                    Names::named(&record$(.$part)?.$field).map(|id| {
                        let reference = Reference {
                            from: RowKind::$From,
                            field: named!($field $(in $part)?),
                            to: RowKind::$To,
                            on_delete: OnDelete::$on_delete,
                        };
                        (reference, RowKey::$To { company: record.company, id })
                    }),
                )+].into_iter().flatten().collect(),)+
                _ => Vec::new(),
            }
        }

        impl Row {
            /// The row with the field of a reference emptied; `None` unless it is a reference of
            /// this kind of row with [`OnDelete::SetNull`]. A ledger line without its contact has
            /// no description either (R196).
            pub fn cleared(&self, reference: &Reference) -> Option<Self> {
                match self {
                    $($(Row::$From(record)
                        if (reference.from, reference.field)
                            == (RowKind::$From, named!($field $(in $part)?)) =>
                    {
                        let _ = record;
                        cleared!(record $field $on_delete $From)
                    })+)+
                    _ => None,
                }
            }
        }
    };
}

references! {
    Login { member => Member: Cascade }
    LoginLink { member => Member: Cascade }
    Session { member => Member: Cascade }
    Stage { pipeline => Pipeline: Restrict }
    Contact {
        organization_id => Organization: Restrict,
        pipeline_stage_id => Stage: Restrict,
        assigned_to_member_id => Member: Restrict,
        last_close_reason_id => CloseReason: Restrict,
        last_connection_id => Connection: Keep,
    }
    ContactTag { contact => Contact: Cascade, tag => Tag: Cascade }
    ListMember { list => List: Cascade, contact => Contact: Cascade }
    Deal { contact_id => Contact: Cascade, stage_id => Stage: Restrict }
    Document { contact_id => Contact: Restrict }
    Link { contact => Contact: Cascade }
    Click { link => Link: Cascade, contact => Contact: Cascade }
    StatusHistory { connection => Connection: Cascade }
    Group { connection => Connection: Cascade }
    Alias { contact => Contact: Cascade }
    Conversation { contact => Contact: Cascade, connection => Connection: Restrict }
    Message {
        contact => Contact: Cascade,
        connection => Connection: Restrict,
        upload in media => Upload: Keep,
    }
    MessageRef { connection => Connection: Cascade, target => Message: Cascade }
    LeadMemory { contact => Contact: Cascade }
    LedgerLine { contact => Contact: SetNull }
    RememberedCall { contact => Contact: Cascade }
    UnknownEvent { connection => Connection: Cascade, contact => Contact: Cascade }
    Template { connection => Connection: Restrict }
    DispatchWindow { contact => Contact: Cascade }
    Recipient { campaign => Campaign: Cascade, contact => Contact: SetNull }
}

impl RowKind {
    /// Whether its rows can refer to a contact.
    pub fn is_about_a_contact(self) -> bool {
        let refers =
            |reference: &&Reference| (reference.from, reference.to) == (self, Self::Contact);
        REFERENCES.iter().any(|reference| refers(&reference))
    }

    /// Whether its rows belong to a company: they have it in their key, and are not the company.
    pub fn is_of_company(self) -> bool {
        self != Self::Company && self.key_parts().first() == Some(&"company")
    }

    /// The kinds of rows that belong to a company, each before those that it refers to: in this
    /// order all rows of a company can be removed (R209).
    pub fn removal_order() -> Vec<Self> {
        let mut left: Vec<Self> =
            Self::ALL.iter().copied().filter(|kind| kind.is_of_company()).collect();
        let mut order = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let referred_to = |kind: &Self| {
                REFERENCES.iter().any(|reference| {
                    reference.is_enforced()
                        && reference.to == *kind
                        && reference.from != *kind
                        && left.contains(&reference.from)
                })
            };
            let (next, rest): (Vec<Self>, Vec<Self>) =
                left.iter().copied().partition(|kind| !referred_to(kind));
            // Kinds that refer to each other in a circle could not be removed one by one.
            assert!(!next.is_empty(), "references between kinds form a circle");
            order.extend(next);
            left = rest;
        }
        order
    }
}

impl Row {
    /// The rows that this one refers to: its company, and those that its fields name.
    pub fn references(&self) -> Vec<(Reference, RowKey)> {
        let key = self.key();
        let company = Reference::to_company(key.kind())
            .zip(key.company().map(|company| RowKey::Company { company }));
        company.into_iter().chain(within_company(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the rows of a kind have their company in their key.
    fn has_company(kind: RowKind) -> bool {
        kind.key_parts().first() == Some(&"company")
    }

    #[test]
    fn rows_with_a_company_refer_to_it_but_for_deliveries() {
        for kind in RowKind::ALL.iter().copied() {
            let free = [RowKind::Company, RowKind::Delivery].contains(&kind);
            assert_eq!(Reference::to_company(kind).is_some(), has_company(kind) && !free);
        }
    }

    #[test]
    fn what_is_referred_to_is_named_by_company_and_id() {
        for reference in REFERENCES {
            assert_eq!(reference.to.key_parts(), ["company", "id"], "{reference}");
        }
    }

    /// R209.
    #[test]
    fn the_order_of_removal_has_every_kind_of_a_company_before_what_it_refers_to() {
        let order = RowKind::removal_order();
        let place = |kind: RowKind| order.iter().position(|other| *other == kind);
        for kind in RowKind::ALL.iter().copied() {
            let of_company = has_company(kind) && kind != RowKind::Company;
            assert_eq!(place(kind).is_some(), of_company, "{kind:?}");
        }
        for reference in REFERENCES.iter().filter(|reference| reference.is_enforced()) {
            assert!(place(reference.from) < place(reference.to), "{reference}");
        }
    }

    #[test]
    fn no_field_is_declared_twice() {
        for (at, one) in REFERENCES.iter().enumerate() {
            let same = |other: &&Reference| (other.from, other.field) == (one.from, one.field);
            assert!(!REFERENCES[at + 1..].iter().any(|other| same(&other)), "{one}");
        }
    }
}
