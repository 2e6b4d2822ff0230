//! Values on their way into and out of columns.

use recado_core::Timestamp;
use rusqlite::types::{FromSqlError, ToSqlOutput, Type, ValueRef};
use rusqlite::{Row as SqlRow, ToSql};
use uuid::Uuid;

use crate::error::ReadResult;

/// One value of a row as it is bound to a statement; borrows texts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Owned(String),
    Id([u8; 16]),
    Bytes(&'a [u8]),
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Owned(text) => ValueRef::Text(text.as_bytes()),
            Self::Id(bytes) => ValueRef::Blob(bytes),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl From<Uuid> for Cell<'_> {
    fn from(id: Uuid) -> Self {
        Self::Id(id.into_bytes())
    }
}

impl From<Timestamp> for Cell<'_> {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.millis())
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Self::Int(i64::from(flag))
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Int(i64::from(number))
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

macro_rules! cells_of_ids {
    ($($id:ident),+) => {
        $(impl From<recado_core::ids::$id> for Cell<'_> {
            fn from(id: recado_core::ids::$id) -> Self {
                Self::from(id.uuid())
            }
        })+
    };
}

cells_of_ids!(
    CompanyId,
    KeyId,
    MemberId,
    ContactId,
    CustomFieldId,
    ListId,
    TagId,
    CloseReasonId,
    PipelineId,
    StageId,
    DealId,
    OrganizationId,
    DocumentId,
    LinkId,
    ClickId,
    ConnectionId,
    MessageId,
    TemplateId,
    CampaignId,
    LedgerLineId,
    WorkerId,
    EventId,
    JobId,
    WebhookId,
    DeliveryId,
    InboundEndpointId
);

/// JSON of a value.
pub(crate) fn json<'a>(value: &impl serde::Serialize) -> Cell<'a> {
    Cell::Owned(serde_json::to_string(value).expect("rows hold nothing that JSON cannot write"))
}

/// Reads the columns of a row one after the other.
pub(crate) struct Columns<'r, 's> {
    row: &'r SqlRow<'s>,
    at: usize,
}

impl<'r, 's> Columns<'r, 's> {
    pub(crate) fn new(row: &'r SqlRow<'s>) -> Self {
        Self::from(row, 0)
    }

    /// The columns from `at` on.
    pub(crate) fn from(row: &'r SqlRow<'s>, at: usize) -> Self {
        Self { row, at }
    }

    /// A value that `read` takes from what is stored; an error says where it was found.
    fn next<T>(
        &mut self,
        read: impl FnOnce(ValueRef<'r>) -> Result<T, FromSqlError>,
    ) -> ReadResult<T> {
        let at = self.at;
        self.at += 1;
        let value = self.row.get_ref(at)?;
        let kind = value.data_type();
        read(value).map_err(|error| unreadable(at, kind, error))
    }

    /// Passes a column by.
    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// A text.
    pub(crate) fn text(&mut self) -> ReadResult<String> {
        self.next(|value| Ok(value.as_str()?.to_owned()))
    }

    /// A text or nothing.
    pub(crate) fn opt_text(&mut self) -> ReadResult<Option<String>> {
        self.next(|value| Ok(value.as_str_or_null()?.map(str::to_owned)))
    }

    /// A text that `parse` knows.
    pub(crate) fn word<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> ReadResult<T> {
        self.next(|value| parse(value.as_str()?).ok_or(FromSqlError::InvalidType))
    }

    /// A text that `parse` knows, or nothing.
    pub(crate) fn opt_word<T>(
        &mut self,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> ReadResult<Option<T>> {
        self.next(|value| {
            let text = value.as_str_or_null()?;
            text.map(|text| parse(text).ok_or(FromSqlError::InvalidType)).transpose()
        })
    }

    /// A text that is taken back.
    pub(crate) fn stored<T, E>(
        &mut self,
        from_stored: impl FnOnce(String) -> Result<T, E>,
    ) -> ReadResult<T>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        self.next(|value| from_stored(value.as_str()?.to_owned()).map_err(FromSqlError::other))
    }

    /// A text that is taken back, or nothing.
    pub(crate) fn opt_stored<T, E>(
        &mut self,
        from_stored: impl FnOnce(String) -> Result<T, E>,
    ) -> ReadResult<Option<T>>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        self.next(|value| {
            let text = value.as_str_or_null()?;
            text.map(|text| from_stored(text.to_owned()).map_err(FromSqlError::other)).transpose()
        })
    }

    /// JSON of a type.
    pub(crate) fn json<T: for<'de> serde::Deserialize<'de>>(&mut self) -> ReadResult<T> {
        self.next(|value| serde_json::from_str(value.as_str()?).map_err(FromSqlError::other))
    }

    /// An identifier.
    pub(crate) fn id<T>(&mut self, of: impl FnOnce(Uuid) -> T) -> ReadResult<T> {
        self.next(|value| Ok(of(uuid(value.as_blob()?)?)))
    }

    /// An identifier or nothing.
    pub(crate) fn opt_id<T>(&mut self, of: impl FnOnce(Uuid) -> T) -> ReadResult<Option<T>> {
        self.next(|value| value.as_blob_or_null()?.map(|bytes| Ok(of(uuid(bytes)?))).transpose())
    }

    /// Bytes of a fixed length.
    pub(crate) fn bytes<const N: usize>(&mut self) -> ReadResult<[u8; N]> {
        self.next(|value| value.as_blob()?.try_into().map_err(FromSqlError::other))
    }

    /// Bytes.
    pub(crate) fn blob(&mut self) -> ReadResult<Vec<u8>> {
        self.next(|value| Ok(value.as_blob()?.to_vec()))
    }

    /// A time.
    pub(crate) fn time(&mut self) -> ReadResult<Timestamp> {
        self.next(|value| Ok(Timestamp::from_millis(value.as_i64()?)))
    }

    /// A time or nothing.
    pub(crate) fn opt_time(&mut self) -> ReadResult<Option<Timestamp>> {
        self.next(|value| Ok(value.as_i64_or_null()?.map(Timestamp::from_millis)))
    }

    /// A truth value.
    pub(crate) fn flag(&mut self) -> ReadResult<bool> {
        self.next(|value| Ok(value.as_i64()? != 0))
    }

    /// A number or nothing.
    pub(crate) fn opt_number(&mut self) -> ReadResult<Option<i64>> {
        self.next(|value| value.as_i64_or_null())
    }

    /// A number that fits.
    pub(crate) fn number<T: TryFrom<i64>>(&mut self) -> ReadResult<T> {
        self.next(|value| {
            let number = value.as_i64()?;
            T::try_from(number).map_err(|_| FromSqlError::OutOfRange(number))
        })
    }
}

fn uuid(bytes: &[u8]) -> Result<Uuid, FromSqlError> {
    Uuid::from_slice(bytes).map_err(FromSqlError::other)
}

fn unreadable(at: usize, kind: Type, error: FromSqlError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(at, kind, Box::new(error))
}
