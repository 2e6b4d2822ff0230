//! What providers' message ids stand for.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ConnectionId, ContactId, MessageId};
use recado_core::messages::{
    DeliveryCode, ErrorType, Failure, Message, MessageRef, MessageStatus, ProviderMessageId,
    RefTarget, Referred, StatusReport,
};
use recado_core::store::StoreError;

use crate::PostgresStore;
use crate::commit::CommitStep;
use crate::recipients::TAKE_LONG;
use crate::session::rows;
use crate::table::{Columns, Param, Table, columns_of, params, table_sql, unreadable};

/// Stands where the status of a report does, in the row of a message that was deleted.
const FORGOTTEN: &str = "forgotten";

/// Leaves a trace of each id among the messages of a contact (R145), made as the core makes it.
/// Where the same id was forgotten before, the row is there already.
pub(crate) const FORGET: &str = "\
INSERT INTO message_refs AS r \
(company_id, connection_id, provider_id, report_status, expires_at, version) \
SELECT DISTINCT company_id, connection_id, chr(9) || \
encode(sha256(convert_to(connection_id::text || provider_id, 'UTF8')), 'hex') AS trace, \
'forgotten', $3::bigint, 1 FROM messages \
WHERE company_id = $1 AND contact_id = $2 AND provider_id IS NOT NULL \
ORDER BY connection_id, trace \
ON CONFLICT (company_id, connection_id, provider_id) DO UPDATE SET message_id = NULL, \
report_status = excluded.report_status, error_type = NULL, error_code = NULL, \
error_message = NULL, expires_at = excluded.expires_at, version = r.version + 1";

/// The steps that remember the ids of a contact's messages as forgotten. The contact is locked by
/// then against messages that would come to it.
pub(crate) fn forget(
    company: CompanyId,
    contact: ContactId,
    expires_at: Timestamp,
) -> [CommitStep; 2] {
    let params = params![company.uuid(), contact.uuid(), expires_at.millis()];
    [CommitStep::new(TAKE_LONG, Vec::new(), None), CommitStep::new(FORGET, params, None)]
}

/// The values of `error_type`, `error_code` and `error_message`.
pub(crate) fn failure_params(failure: Option<Failure>) -> Vec<Param> {
    let (kind, code, message) = match failure {
        Some(failure) => {
            (Some(failure.error_type.as_str()), Some(failure.code.as_str()), failure.message)
        }
        None => (None, None, None),
    };
    params![kind, code, message]
}

/// Reads `error_type`, `error_code` and `error_message`.
pub(crate) fn read_failure(columns: &mut Columns<'_>) -> Result<Option<Failure>, StoreError> {
    let error_type = columns.word_or_null(ErrorType::parse)?;
    let code = columns.word_or_null(DeliveryCode::parse)?;
    let message = columns.get()?;
    Ok(error_type.zip(code).map(|(error_type, code)| Failure { error_type, code, message }))
}

impl Table for MessageRef {
    const NAME: &'static str = "message_refs";
    const KEY: usize = 3;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "connection_id",
        "provider_id",
        "message_id",
        "report_status",
        "error_type",
        "error_code",
        "error_message",
        "expires_at",
    ];
    table_sql!(MessageRef);

    fn bind(self) -> Vec<Param> {
        let (message, report, expires_at) = match self.target {
            RefTarget::Message(id) => (Some(id.uuid()), None, None),
            RefTarget::Report { report, expires_at } => {
                (None, Some(report), Some(expires_at.millis()))
            }
            RefTarget::Forgotten { expires_at } => (None, None, Some(expires_at.millis())),
        };
        let is_forgotten = message.is_none() && report.is_none();
        let status = report.as_ref().map(|report| report.status.as_str());
        let status = status.or(is_forgotten.then_some(FORGOTTEN));
        let mut params = params![
            self.company.uuid(),
            self.connection.uuid(),
            self.provider_id.as_str().to_owned(),
            message,
            status,
        ];
        params.extend(failure_params(report.and_then(|report| report.failure)));
        params.extend(params![expires_at]);
        params
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            connection: columns.id(ConnectionId::new)?,
            provider_id: ProviderMessageId::from_stored(columns.get()?),
            target: read_target(columns)?,
        })
    }
}

fn read_target(columns: &mut Columns<'_>) -> Result<RefTarget, StoreError> {
    let message = columns.id_or_null(MessageId::new)?;
    // A report has a status; what is no word of one is that of a forgotten message.
    let word = |word: &str| match MessageStatus::parse(word) {
        Some(status) => Some(Some(status)),
        None => (word == FORGOTTEN).then_some(None),
    };
    let status = columns.word_or_null(word)?;
    let failure = read_failure(columns)?;
    let expires_at: Option<Timestamp> = columns.time_or_null()?;
    match (message, status, expires_at) {
        (Some(message), None, None) => Ok(RefTarget::Message(message)),
        (None, Some(Some(status)), Some(expires_at)) => {
            Ok(RefTarget::Report { report: StatusReport { status, failure }, expires_at })
        }
        (None, Some(None), Some(expires_at)) => Ok(RefTarget::Forgotten { expires_at }),
        _ => Err(unreadable::<RefTarget>()),
    }
}

/// What these ids stand for, with the messages. Each is looked up by itself: left to the planner, a
/// connection that it takes for a small one is read whole.
pub(crate) static REFERRED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM unnest($3::text[]) AS wanted (provider_id) \
         CROSS JOIN LATERAL (SELECT * FROM message_refs WHERE company_id = $1 \
         AND connection_id = $2 AND provider_id = wanted.provider_id OFFSET 0) AS r \
         LEFT JOIN LATERAL (SELECT * FROM messages WHERE company_id = $1 \
         AND id = r.message_id OFFSET 0) AS m ON true",
        columns_of::<MessageRef>("r"),
        columns_of::<Message>("m"),
    )
});

impl PostgresStore {
    pub(crate) async fn references(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        ids: &[ProviderMessageId],
    ) -> Result<Vec<Referred>, StoreError> {
        let ids: BTreeSet<&str> = ids.iter().map(ProviderMessageId::as_str).collect();
        let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
        let params = params![company.uuid(), connection.uuid(), ids];
        let found = rows(&self.pool, REFERRED.as_str(), params).await?;
        let read = |row| {
            let mut columns = Columns::new(row);
            let reference = columns.stored()?;
            let message = if columns.is_present()? { Some(columns.stored()?) } else { None };
            Ok(Referred { reference, message })
        };
        found.iter().map(read).collect()
    }
}
