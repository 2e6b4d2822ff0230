//! The declaration of a record.

use recado_core::store::Record;

use crate::cell::{CellReader, CellWriter};
use crate::field::Field;
use crate::sealing::Sealer;

/// How a record is laid out in a table. Declared by `record!`.
pub trait Layout: Record {
    /// The table of the record.
    const TABLE: TableDef;

    /// Writes the values of [`TableDef::columns`].
    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W);

    /// Writes the values of [`TableDef::derived`].
    fn write_derived<'a, W: CellWriter<'a>>(&'a self, writer: &mut W);

    /// Writes the values of [`TableDef::activity`].
    fn write_activity<'a, W: CellWriter<'a>>(&'a self, writer: &mut W);

    /// Reads the values of [`TableDef::columns`].
    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error>;

    /// As [`Layout::write`], with the values of [`TableDef::sealed`] in their stored form.
    ///
    /// R215.
    fn write_sealed<'a, W: CellWriter<'a>>(&'a self, writer: &mut W, _sealer: &Sealer) {
        self.write(writer);
    }

    /// As [`Layout::read`], with the values of [`TableDef::sealed`] in their stored form.
    ///
    /// # Errors
    ///
    /// As `read`, and when a sealed value cannot be opened.
    fn read_sealed<R: CellReader>(reader: &mut R, _sealer: &Sealer) -> Result<Self, R::Error> {
        Self::read(reader)
    }
}

/// A column whose values are sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedColumn {
    /// The name of the column.
    pub name: &'static str,
    /// The type of the column.
    pub form: SealedForm,
}

/// The type of a sealed column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedForm {
    /// Text; also for values that are JSON.
    Text,
    /// Bytes.
    Bytes,
}

/// What the statements of a table are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableDef {
    /// The name of the table.
    pub name: &'static str,
    /// The number of columns of the primary key, which are the first ones.
    pub key: usize,
    /// The columns that a record is read from, without `version`.
    pub columns: &'static [&'static str],
    /// The columns of each field of the record, by the field's name. A part with fields of its own
    /// is listed field by field.
    pub fields: &'static [(&'static str, &'static [&'static [&'static str]])],
    /// Columns whose values follow from the others. They are written after the others, for indexes,
    /// and never read.
    pub derived: &'static [&'static str],
    /// The fields that an update of the activity changes; none if there is no such update (R466).
    pub activity: &'static [&'static str],
    /// Columns whose values are sealed (R215). Statements do not compare them; an index may have
    /// their beginning, which names the key.
    pub sealed: &'static [SealedColumn],
    /// Whether rows have a `version`. A row without one is inserted and deleted, but never updated.
    pub versioned: bool,
}

impl TableDef {
    /// The columns that a record and its version are read from.
    pub fn read_columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().copied().chain(self.versioned.then_some("version"))
    }

    /// The columns of [`TableDef::activity`].
    pub fn activity_columns(&self) -> impl Iterator<Item = &'static str> {
        self.activity.iter().flat_map(|field| self.columns_of(field))
    }

    /// The columns that a field of the record is kept in; none if the record has no such field.
    pub fn columns_of(&self, field: &str) -> impl Iterator<Item = &'static str> {
        let parts = self.fields.iter().find(|(name, _)| *name == field).map(|(_, parts)| *parts);
        parts.into_iter().flatten().flat_map(|columns| columns.iter().copied())
    }
}

/// Declares the table of a record.
///
/// The columns come in order, the key first. A field is kept in the column of its name. A column of
/// another name is given in parentheses behind the field, and so are all columns of a type that is
/// kept in several. A part with fields of its own is written as a pattern with its fields. The
/// declaration has to name every field of the record. Fields that make up the activity are named
/// again behind `activity`, and columns that hold secrets behind `sealed Text` or `sealed Bytes`.
///
/// ```text
/// record! {
///     Campaign in "campaigns" key(company_id, id) {
///         company("company_id"), id, name,
///         refunded("refunded_prosas", "refunded_cost"),
///         limits: Limits { per_second, per_day("messages_per_day") },
///     }
///     derived { queued_at = |campaign, writer| campaign.queued_at().write(writer) }
/// }
/// ```
///
/// becomes
///
/// ```text
/// impl Layout for Campaign {
///     const TABLE: TableDef = TableDef {
///         name: "campaigns",
///         key: 2,
///         columns: &["company_id", "id", "name", "refunded_prosas", "refunded_cost", "per_second",
///                    "messages_per_day"],
///         fields: &[("company", &[&["company_id"]]), …],
///         derived: &["queued_at"],
///         activity: &[],
///         sealed: &[],
///         versioned: Campaign::VERSIONED,
///     };
///
///     fn write<'a, W: Writer<'a>>(&'a self, writer: &mut W) {
///         let Campaign { company, id, name, refunded, limits } = self;
///         Field::write(company, writer);
///         Field::write(id, writer);
///         Field::write(name, writer);
///         Field::write(refunded, writer);
///         let Limits { per_second, per_day } = limits;
///         Field::write(per_second, writer);
///         Field::write(per_day, writer);
///     }
///
///     fn write_derived<'a, W: Writer<'a>>(&'a self, writer: &mut W) {
///         let write: fn(&'a Campaign, &mut W) = |campaign, writer| …;
///         write(self, writer);
///     }
///
///     fn write_activity<'a, W: Writer<'a>>(&'a self, writer: &mut W) {}
///
///     fn read<R: Reader>(reader: &mut R) -> Result<Self, R::Error> {
///         Ok(Campaign {
///             company: Field::read(reader)?,
///             id: Field::read(reader)?,
///             name: Field::read(reader)?,
///             refunded: Field::read(reader)?,
///             limits: Limits { per_second: Field::read(reader)?, per_day: Field::read(reader)? },
///         })
///     }
/// }
/// ```
///
macro_rules! record {
    (
        $Record:ident in $table:literal key($($key:ident),+) {
            $(
                $field:ident
                $(( $($column:literal),+ ))?
                $(: $Part:ident { $( $inner:ident $(( $($inner_column:literal),+ ))? ),+ $(,)? })?
            ),+ $(,)?
        }
        $(derived { $( $derived:ident = $write:expr ),+ $(,)? })?
        $(activity { $( $active:ident ),+ $(,)? })?
        $(sealed $form:ident { $( $sealed:literal ),+ $(,)? })?
    ) => {
        impl $crate::record::Layout for $Record {
            const TABLE: $crate::record::TableDef = {
                const KEY: &[&str] = &[$(stringify!($key)),+];
                const FIELDS: &[(&str, &[&[&str]])] = &[$((
                    stringify!($field),
                    $crate::record::record!(@columns $field
                        $(( $($column),+ ))? $({ $( $inner $(( $($inner_column),+ ))? ),+ })?)
                )),+];
                const FLAT: [&str; $crate::record::count(FIELDS)] =
                    $crate::record::flatten(FIELDS);
                const SEALED: &[$crate::record::SealedColumn] = &[$($($crate::record::SealedColumn {
                    name: $sealed,
                    form: $crate::record::SealedForm::$form,
                }),+)?];
                assert!($crate::record::begins_with(&FLAT, KEY), "the columns of the key come first");
                assert!(
                    $crate::sealed::are_columns(&FLAT, KEY.len(), SEALED),
                    "what is sealed is a column, and not of the key"
                );
                $crate::record::TableDef {
                    name: $table,
                    key: KEY.len(),
                    columns: &FLAT,
                    fields: FIELDS,
                    derived: &[$($(stringify!($derived)),+)?],
                    activity: &[$($(stringify!($active)),+)?],
                    sealed: SEALED,
                    versioned: <$Record as recado_core::store::Record>::VERSIONED,
                }
            };

            fn write<'a, W: $crate::CellWriter<'a>>(&'a self, writer: &mut W) {
                let $Record { $($field),+ } = self;
                $( $crate::record::record!(@write writer $field $($Part { $($inner),+ })?); )+
            }

            fn write_derived<'a, W: $crate::CellWriter<'a>>(&'a self, _writer: &mut W) {
                $($(
                    let write: fn(&'a $Record, &mut W) = $write;
                    write(self, _writer);
                )+)?
            }

            fn write_activity<'a, W: $crate::CellWriter<'a>>(&'a self, _writer: &mut W) {
                $( $( $crate::field::Field::write(&self.$active, _writer); )+ )?
            }

            fn read<R: $crate::CellReader>(reader: &mut R) -> Result<Self, R::Error> {
                Ok($Record {
                    $( $field: $crate::record::record!(@read reader $($Part { $($inner),+ })?) ),+
                })
            }

            $( $crate::record::record!(@sealed $form); )?
        }

        const _: fn() = || {
            $( $crate::record::record!(@width $Record $field
                $(( $($column),+ ))? $({ $( $inner $(( $($inner_column),+ ))? ),+ })?); )+
        };
    };

    (@sealed $form:ident) => {
        fn write_sealed<'a, W: $crate::CellWriter<'a>>(
            &'a self,
            writer: &mut W,
            sealer: &$crate::Sealer,
        ) {
            self.write(&mut $crate::sealed::SealingWriter::new(writer, Self::TABLE, sealer));
        }

        fn read_sealed<R: $crate::CellReader>(
            reader: &mut R,
            sealer: &$crate::Sealer,
        ) -> Result<Self, R::Error> {
            Self::read(&mut $crate::sealed::OpeningReader::new(reader, Self::TABLE, sealer))
        }
    };

    (@columns $field:ident) => { &[&[stringify!($field)]] };
    (@columns $field:ident ($($column:literal),+)) => { &[&[$($column),+]] };
    (@columns $field:ident { $( $inner:ident $(( $($column:literal),+ ))? ),+ }) => {
        &[$( $crate::record::record!(@inner $inner $(( $($column),+ ))?) ),+]
    };
    (@inner $inner:ident) => { &[stringify!($inner)] };
    (@inner $inner:ident ($($column:literal),+)) => { &[$($column),+] };

    (@width $Record:ident $field:ident $(( $($column:literal),+ ))?) => {
        $crate::record::record!(@fits $Record [$field] $field $(( $($column),+ ))?)
    };
    (@width $Record:ident $field:ident { $( $inner:ident $(( $($column:literal),+ ))? ),+ }) => {
        $( $crate::record::record!(@fits $Record [$field.$inner] $inner $(( $($column),+ ))?); )+
    };
    // The compiler shows no place for a name that a macro was given, so the message has the name.
    (@fits $Record:ident [$($path:tt)+] $field:ident) => {
        const _: () = assert!(
            $crate::record::width(|record: &$Record| &record.$($path)+) == 1,
            concat!("the type of `", stringify!($field), "` needs several columns")
        );
    };
    // The first column is the argument, because an error points at that.
    (@fits $Record:ident [$($path:tt)+] $field:ident ($first:literal $(, $column:literal)*)) => {
        $crate::record::fits::<
            {
                $crate::record::width(|record: &$Record| &record.$($path)+)
                    == [$first $(, $column)*].len()
            }
        >($first)
    };

    (@write $writer:ident $field:ident) => { $crate::field::Field::write($field, $writer) };
    (@write $writer:ident $field:ident $Part:ident { $($inner:ident),+ }) => {{
        let $Part { $($inner),+ } = $field;
        $( $crate::field::Field::write($inner, $writer); )+
    }};

    (@read $reader:ident) => { $crate::field::Field::read($reader)? };
    (@read $reader:ident $Part:ident { $($inner:ident),+ }) => {
        $Part { $( $inner: $crate::field::Field::read($reader)? ),+ }
    };
}
pub(crate) use record;

/// The number of columns of a field.
pub(crate) const fn width<R, F: Field>(_: fn(&R) -> &F) -> usize {
    F::WIDTH
}

/// A column of a field that has as many as its type needs.
#[diagnostic::on_unimplemented(
    message = "this field has not as many columns as its type needs",
    label = "`Field::WIDTH` of the type says how many"
)]
pub(crate) trait FittingColumn<const FITS: bool> {}

impl FittingColumn<true> for &str {}

/// Compiles only for a field that has as many columns as its type needs.
pub(crate) fn fits<const FITS: bool>(_: impl FittingColumn<FITS>) {}

/// The number of columns of all fields.
pub(crate) const fn count(fields: &[(&str, &[&[&str]])]) -> usize {
    let (mut count, mut field) = (0, 0);
    while field < fields.len() {
        let mut part = 0;
        while part < fields[field].1.len() {
            count += fields[field].1[part].len();
            part += 1;
        }
        field += 1;
    }
    count
}

/// The columns of all fields in one array.
pub(crate) const fn flatten<const N: usize>(
    fields: &[(&str, &[&[&'static str]])],
) -> [&'static str; N] {
    let mut flat = [""; N];
    let (mut at, mut field) = (0, 0);
    while field < fields.len() {
        let mut part = 0;
        while part < fields[field].1.len() {
            let mut column = 0;
            while column < fields[field].1[part].len() {
                flat[at] = fields[field].1[part][column];
                at += 1;
                column += 1;
            }
            part += 1;
        }
        field += 1;
    }
    flat
}

/// Whether the first columns are those of the key.
pub(crate) const fn begins_with(columns: &[&str], key: &[&str]) -> bool {
    let mut at = 0;
    while at < key.len() {
        if !is_same(columns[at], key[at]) {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether two names are the same.
pub(crate) const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut byte = 0;
    while byte < one.len() {
        if one[byte] != other[byte] {
            return false;
        }
        byte += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use recado_core::campaigns::Recipient;
    use recado_core::contacts::ContactTag;
    use recado_core::deliveries::Delivery;
    use recado_core::idempotency::RememberedCall;
    use recado_core::match_kind;
    use recado_core::store::{REFERENCES, RowKind, UNIQUE};
    use recado_core::webhooks::Webhook;

    use super::*;

    #[test]
    fn fields_become_columns_in_order() {
        let columns = ["company_id", "operation", "key", "body_hash", "worker_id", "answer"];
        assert_eq!(RememberedCall::TABLE.columns[..6], columns);
        assert_eq!(RememberedCall::TABLE.key, 3);
        let secrets = ["secret", "previous_secret", "previous_until"];
        assert_eq!(Webhook::TABLE.columns[6..9], secrets);
        assert_eq!(Recipient::TABLE.columns[3], "contact_id");
    }

    #[test]
    fn a_field_names_its_columns() {
        let columns = |field| Recipient::TABLE.columns_of(field).collect::<Vec<_>>();
        assert_eq!((columns("contact"), columns("nothing")), (vec!["contact_id"], vec![]));
    }

    /// R466. Values of the activity are written as they are.
    #[test]
    fn the_activity_of_a_record_is_its_own_columns_and_none_of_them_is_sealed() {
        for kind in RowKind::ALL {
            let table = match_kind!(*kind, T => T::TABLE);
            for field in table.activity {
                assert!(table.columns_of(field).count() > 0, "{}.{field}", table.name);
            }
            for column in table.activity_columns() {
                let sealed = table.sealed.iter().any(|sealed| sealed.name == column);
                assert!(!sealed && !table.columns[..table.key].contains(&column), "{column}");
            }
        }
    }

    #[test]
    fn what_is_referred_to_or_unique_is_kept_in_columns() {
        for reference in REFERENCES {
            let table = match_kind!(reference.from, T => T::TABLE);
            assert!(table.columns_of(reference.field).count() > 0, "{reference}");
        }
        for unique in UNIQUE {
            let table = match_kind!(unique.kind, T => T::TABLE);
            for field in unique.fields {
                assert!(table.columns_of(field).count() > 0, "{unique:?}: {field}");
            }
        }
    }

    #[test]
    fn what_follows_from_others_is_not_read() {
        assert_eq!(Delivery::TABLE.derived, ["queued_at"]);
        assert!(!Delivery::TABLE.columns.contains(&"queued_at"));
    }

    /// R215.
    #[test]
    fn all_secrets_that_are_used_are_sealed() {
        let sealed: Vec<String> = crate::sealed_columns()
            .map(|(table, column)| format!("{}.{}", table.name, column.name))
            .collect();
        let expected = [
            "connections.settings",
            "logins.totp_secret",
            "messages.media_source",
            "secrets.bytes",
            "unknown_events.body",
            "webhooks.previous_secret",
            "webhooks.secret",
        ];
        assert_eq!(BTreeSet::from_iter(sealed), BTreeSet::from(expected.map(str::to_owned)));
    }

    #[test]
    fn only_records_that_change_have_a_version() {
        let versioned = [Delivery::TABLE, ContactTag::TABLE].map(|table| table.versioned);
        assert_eq!(versioned, [true, false]);
    }

    #[test]
    fn no_table_and_no_column_is_there_twice() {
        let mut tables = BTreeSet::new();
        for kind in RowKind::ALL {
            let table = match_kind!(kind, T => T::TABLE);
            assert!(tables.insert(table.name), "{}", table.name);
            let columns: BTreeSet<_> = table.columns.iter().chain(table.derived).collect();
            assert_eq!(columns.len(), table.columns.len() + table.derived.len(), "{}", table.name);
        }
    }
}
