//! The filtered list as CSV, in the columns that an import reads (R427).

use bytes::Bytes;
use futures_util::stream;
use recado_core::access::Caller;
use recado_core::contacts::{ContactFilter, ContactListItem, ExportQuery, ListedPage};
use recado_core::imports::{CUSTOM, formula};
use recado_core::page::MAX_LIMIT;
use serde_json::Value;

use super::documents::download;
use super::list::filter_of;
use crate::ask::Ask;
use crate::body::{BoxError, file};
use crate::i18n::Language;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::visit::Visit;

/// The columns, named as fields of the import. Those that begin with `_` are remarks.
const COLUMNS: &[&str] = &[
    "id",
    "phone",
    "identifier",
    "source_platform",
    "name",
    "email",
    "crm_status",
    "priority",
    "inbox_status",
    "birthday",
    "cpf",
    "rg",
    "genero",
    "estado_civil",
    "profissao",
    "cargo",
    "street",
    "street_number",
    "address_complement",
    "neighborhood",
    "city",
    "state",
    "postal_code",
    "country",
    "observation",
    "is_group",
    "is_blocked",
    "is_archived",
    "first_message_at",
    "last_message_at",
    "last_inbound_at",
    "created_at",
    "tag_ids",
    "_tags",
    "_stage",
    formula::MARK_COLUMN,
];

/// Writes contacts as lines of CSV.
struct Lines {
    slugs: Vec<String>,
    delimiter: u8,
}

impl Lines {
    /// R427. A piece of the file: every cell as text, so that a spreadsheet runs none as a
    /// formula.
    fn write(&self, rows: impl Iterator<Item = Vec<String>>) -> Result<Bytes, BoxError> {
        let mut writer =
            csv::WriterBuilder::new().delimiter(self.delimiter).from_writer(Vec::new());
        for row in rows {
            writer.write_record(row.iter().map(|cell| formula::escaped(cell.as_bytes())))?;
        }
        Ok(Bytes::from(writer.into_inner().map_err(|error| error.to_string())?))
    }

    fn header(&self) -> Vec<String> {
        let custom = self.slugs.iter().map(|slug| format!("{CUSTOM}{slug}"));
        COLUMNS.iter().map(|name| (*name).to_owned()).chain(custom).collect()
    }

    fn row(&self, contact: &ContactListItem) -> Vec<String> {
        let body = serde_json::to_value(contact).unwrap_or_default();
        let own = COLUMNS.iter().map(|name| match *name {
            "tag_ids" => joined(contact.tags.iter().map(|tag| tag.id.to_string())),
            "_tags" => joined(contact.tags.iter().map(|tag| tag.name.clone())),
            "_stage" => {
                contact.pipeline_stage.as_ref().map(|stage| stage.name.clone()).unwrap_or_default()
            }
            name => text(body.get(name)),
        });
        let custom = self
            .slugs
            .iter()
            .map(|slug| contact.custom_fields.get(slug).cloned().unwrap_or_default());
        own.chain(custom).collect()
    }
}

fn joined(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join("; ")
}

fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

async fn next(
    visit: &Visit,
    filter: &ContactFilter,
    cursor: Option<String>,
) -> Result<ListedPage, Refusal> {
    let query = ExportQuery { filter: filter.clone(), cursor, limit: MAX_LIMIT, clicks: false };
    // The role was checked for the route.
    let caller = Caller::trusted(&visit.company);
    Ok(visit.recado.contacts().export(&caller, &query).await?)
}

/// R427. Answers the file in pieces, each of which is read when the one before was sent.
pub(super) async fn export(ask: Ask) -> Outcome {
    let (visit, shared) = (ask.visit, ask.shared);
    let filter = filter_of(&visit, &ask.query)?;
    let fields = visit.recado.custom_fields().all(visit.company.id).await?;
    // Spreadsheets separate cells as the language of their user does.
    let delimiter = if visit.language == Language::Portuguese { b';' } else { b',' };
    let lines = Lines { slugs: fields.into_iter().map(|field| field.slug).collect(), delimiter };
    let place = shared.exports.enter(visit.company.id).await.ok_or(Refusal::Unavailable)?;
    let first = next(&visit, &filter, None).await?;
    let begin = lines
        .write(std::iter::once(lines.header()))
        .map_err(|error| Refusal::Internal(error.to_string()))?;
    // With the mark of UTF-8 spreadsheets read accents as they are.
    let begin = Bytes::from([b"\xef\xbb\xbf".as_slice(), &begin].concat());
    let rest = stream::unfold(Some((Some(first), None)), move |state| {
        let (visit, filter) = (visit.clone(), filter.clone());
        let lines = Lines { slugs: lines.slugs.clone(), delimiter };
        async move {
            let (page, cursor) = state?;
            let page = match page {
                Some(page) => Ok(page),
                None => next(&visit, &filter, cursor).await,
            };
            match page {
                Ok(page) => {
                    let piece = lines.write(page.items.iter().map(|contact| lines.row(contact)));
                    let state = page.next_cursor.map(|cursor| (None, Some(cursor)));
                    Some((piece, state))
                }
                // The connection breaks off, so that a part is not taken for the whole.
                Err(refusal) => Some((Err(format!("{refusal:?}").into()), None)),
            }
        }
    });
    let begin = stream::once(async move { Ok::<_, BoxError>(begin) });
    let answer = file(futures_util::StreamExt::chain(begin, rest), place);
    Ok(Reply::Raw(download("contacts.csv", "text/csv; charset=utf-8", None, answer)))
}
