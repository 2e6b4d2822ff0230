//! Importing a record through the core.

use std::collections::BTreeMap;

use recado_core::access::Company;
use recado_core::ids::{CompanyId, CustomFieldId};
use recado_core::{Code, Error, Recado, Rejection};
use serde_json::{Map, Value};

use super::ImportKind;
use super::source::ImportRecord;
use crate::commands::{CommandError, refused};

/// How often a record is tried if concurrent writes conflict.
const ATTEMPTS: u32 = 3;

/// The outcome of a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Imported {
    /// It was stored.
    Made,
    /// It exists already, from an earlier import or another source.
    AlreadyThere,
    /// It cannot be stored, for this reason.
    Refused(String),
}

/// The company that records are imported into.
pub(super) struct Target<'a> {
    recado: &'a Recado,
    company: Company,
    kind: ImportKind,
    /// Whether events tell of what is imported (D65).
    events: bool,
    /// Custom fields by slug, so that files need no ids.
    fields: BTreeMap<String, CustomFieldId>,
}

impl<'a> Target<'a> {
    /// The company.
    pub(super) async fn new(
        recado: &'a Recado,
        company: CompanyId,
        kind: ImportKind,
        events: bool,
    ) -> Result<Self, CommandError> {
        let company = recado.access().company(company).await.map_err(refused)?;
        let fields = recado.custom_fields().all(company.id).await.map_err(refused)?;
        let fields = fields.into_iter().map(|field| (field.slug, field.id)).collect();
        Ok(Self { recado, company, kind, events, fields })
    }

    /// Imports one record.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(super) async fn import(&self, entry: &ImportRecord) -> Result<Imported, CommandError> {
        let mut body = match &entry.body {
            Ok(body) => body.clone(),
            Err(reason) => return Ok(Imported::Refused(reason.clone())),
        };
        self.name_fields(&mut body);
        for _ in 0..ATTEMPTS {
            let (contacts, messages) = (self.recado.contacts(), self.recado.messages());
            let imported = match (self.kind, self.events) {
                (ImportKind::Contacts, false) => {
                    outcome(contacts.import(&self.company, &body).await)?
                }
                (ImportKind::Contacts, true) => {
                    outcome(contacts.import_with_events(&self.company, &body).await)?
                }
                (ImportKind::Messages, false) => {
                    outcome(messages.import(self.company.id, &body).await)?
                }
                (ImportKind::Messages, true) => {
                    outcome(messages.import_with_events(self.company.id, &body).await)?
                }
            };
            if let Some(imported) = imported {
                return Ok(imported);
            }
        }
        Ok(Imported::Refused("others keep changing the same records; import it again".to_owned()))
    }

    /// Replaces slugs of custom fields by ids.
    fn name_fields(&self, body: &mut Map<String, Value>) {
        let Some(Value::Object(values)) = body.get_mut("custom_fields") else { return };
        let written = std::mem::take(values);
        for (key, value) in written {
            let key = self.fields.get(&key).map_or(key, CustomFieldId::to_string);
            values.insert(key, value);
        }
    }
}

/// The outcome for an answer of the core; `None` if the record has to be tried again.
fn outcome<T, E>(answer: Result<T, Error<E>>) -> Result<Option<Imported>, CommandError>
where
    E: Rejection + 'static,
    Error<E>: std::error::Error,
{
    match answer {
        Ok(_) => Ok(Some(Imported::Made)),
        Err(Error::Busy) => Ok(None),
        Err(Error::Rejected(rejection)) => Ok(Some(match rejection.code() {
            Code::ContactExists | Code::MessageExists => Imported::AlreadyThere,
            _ => Imported::Refused(reason(&rejection)),
        })),
        Err(error) => Err(refused(error)),
    }
}

/// All reasons of a rejection in one line.
fn reason(rejection: &impl Rejection) -> String {
    let details = rejection.details();
    let reasons = details.as_ref().and_then(|details| details.get("reasons")?.as_object());
    let all: Vec<String> = reasons
        .into_iter()
        .flatten()
        .map(|(field, reason)| format!("{field} {}", reason.as_str().unwrap_or_default()))
        .collect();
    if all.is_empty() { rejection.to_string() } else { all.join("; ") }
}
