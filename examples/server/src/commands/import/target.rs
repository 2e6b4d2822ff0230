//! Importing a record through the core.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use recado_core::access::Company;
use recado_core::ids::ContactId;
use recado_core::imports::{Imported, Labels, RowImport, RowManner, RowOutcome, RowProblems};
use recado_core::{Code, Error, Recado, Rejection};
use serde_json::{Map, Value};

use super::ImportKind;
use super::source::ImportRecord;
use crate::commands::{CommandError, refused};

/// How often a record is tried if concurrent writes conflict.
const ATTEMPTS: u32 = 3;
/// How records are imported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// What the records are.
    pub(super) kind: ImportKind,
    /// Whether events tell of what is imported (D65).
    pub(super) events: bool,
    /// Whether contacts that are there are changed (R290).
    pub(super) update: bool,
    /// Whether a bad value refuses its row (R289).
    pub(super) strict: bool,
    /// Whether nothing is written (R286).
    pub(super) is_rehearsal: bool,
}

impl Manner {
    const fn of_rows(self) -> RowManner {
        let Self { events, update, strict, is_rehearsal, .. } = self;
        RowManner { events, update, strict, is_rehearsal }
    }
}

/// A record that is refused as a whole.
fn whole(reason: String) -> RowOutcome {
    RowOutcome::refused(RowProblems::whole(reason))
}

/// The company that records are imported into.
pub(super) struct Target<'a> {
    recado: &'a Recado,
    company: Company,
    manner: Manner,
    rows: RowImport,
    /// Connections by what a file may call them: their ids, numbers and names in lower case.
    connections: BTreeMap<String, String>,
    /// The connection of messages that name none: the only one there is.
    only_connection: Option<String>,
    /// Contacts of messages, by the phone as it was written.
    by_phone: Mutex<HashMap<String, ContactId>>,
    /// In a rehearsal, what earlier lines would have made.
    rehearsed: Mutex<HashSet<String>>,
}

impl<'a> Target<'a> {
    /// The company.
    pub(super) async fn new(
        recado: &'a Recado,
        company: Company,
        manner: Manner,
    ) -> Result<Self, CommandError> {
        let rows = RowImport::new(recado, company.clone(), manner.of_rows()).await;
        let rows = rows.map_err(refused)?;
        let all = match manner.kind {
            ImportKind::Contacts => Vec::new(),
            ImportKind::Messages => recado.connections().all(company.id).await.map_err(refused)?,
        };
        let mut connections = BTreeMap::new();
        for connection in &all {
            let id = connection.id.to_string();
            for name in [&id, &connection.identifier, &connection.name] {
                // Of two with one name the earlier one counts; an id names one only.
                connections.entry(name.trim().to_lowercase()).or_insert_with(|| id.clone());
            }
        }
        let only_connection = match all.as_slice() {
            [only] => Some(only.id.to_string()),
            _ => None,
        };
        Ok(Self {
            recado,
            company,
            manner,
            rows,
            connections,
            only_connection,
            by_phone: Mutex::default(),
            rehearsed: Mutex::default(),
        })
    }

    /// The same, with a list and a tag for the contacts.
    pub(super) fn with_labels(self, labels: Labels) -> Self {
        Self { rows: self.rows.with_labels(labels), ..self }
    }

    /// Whether messages may leave out their connection.
    pub(super) const fn has_one_connection(&self) -> bool {
        self.only_connection.is_some()
    }

    /// Whether a custom field has this slug, or this id.
    pub(super) fn has_field(&self, slug: &str) -> bool {
        self.rows.has_field(slug)
    }

    /// Replaces what a message calls its connection by the connection's id (R288).
    pub(super) fn name_connection(&self, body: &mut Map<String, Value>) -> Result<(), String> {
        let named = match body.remove("connection") {
            Some(Value::String(name)) => {
                let known = self.connections.get(&name.trim().to_lowercase());
                Some(known.ok_or_else(|| format!("connection {name:?} is not known"))?.clone())
            }
            Some(_) => return Err("connection must be a string".to_owned()),
            None => None,
        };
        if body.get("connection_id").is_none_or(Value::is_null)
            && let Some(id) = named.or_else(|| self.only_connection.clone())
        {
            body.insert("connection_id".to_owned(), id.into());
        }
        Ok(())
    }

    /// Adds contacts to the list that was named.
    pub(super) async fn list(&self, outcomes: &[RowOutcome]) -> Result<(), CommandError> {
        self.rows.list(outcomes).await.map_err(refused)
    }

    /// Imports one record.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(super) async fn import(&self, entry: &ImportRecord) -> Result<RowOutcome, CommandError> {
        let body = match &entry.body {
            Ok(body) => body.clone(),
            Err(reason) => return Ok(whole(reason.clone())),
        };
        match self.manner.kind {
            ImportKind::Contacts => self.rows.import(body).await.map_err(refused),
            ImportKind::Messages => self.import_message(body).await,
        }
    }

    async fn import_message(
        &self,
        mut body: Map<String, Value>,
    ) -> Result<RowOutcome, CommandError> {
        if let Err(reason) = self.name_contact(&mut body).await? {
            return Ok(whole(reason));
        }
        for _ in 0..ATTEMPTS {
            let (messages, company) = (self.recado.messages(), self.company.id);
            let answer = match self.manner.events {
                false => messages.import(company, &body).await,
                true => messages.import_with_events(company, &body).await,
            };
            let imported = match answer {
                Ok(_) => self.made(&body),
                Err(Error::Rejected(rejection)) if rejection.code() == Code::MessageExists => {
                    Imported::AlreadyThere
                }
                Err(Error::Rejected(rejection)) => Imported::Refused(RowProblems::of(&rejection)),
                Err(Error::Busy) => continue,
                Err(error) => return Err(refused(error)),
            };
            return Ok(RowOutcome { imported, contact: None, skipped: Vec::new() });
        }
        Ok(whole(BUSY.to_owned()))
    }

    /// Replaces the phone of a message's contact by the contact's id, or says why it cannot (R288).
    async fn name_contact(
        &self,
        body: &mut Map<String, Value>,
    ) -> Result<Result<(), String>, CommandError> {
        let phone = body.remove("phone");
        if body.get("contact_id").is_some_and(|id| !id.is_null()) {
            return Ok(Ok(()));
        }
        let Some(Value::String(phone)) = phone else { return Ok(Ok(())) };
        let known =
            self.by_phone.lock().unwrap_or_else(PoisonError::into_inner).get(&phone).copied();
        let contact = match known {
            Some(contact) => contact,
            None => match self.recado.contacts().by_phone(&self.company, &phone).await {
                Ok(contact) => contact,
                Err(Error::Rejected(rejection)) => return Ok(Err(rejection.to_string())),
                Err(error) => return Err(refused(error)),
            },
        };
        self.by_phone.lock().unwrap_or_else(PoisonError::into_inner).insert(phone, contact);
        body.insert("contact_id".to_owned(), contact.to_string().into());
        Ok(Ok(()))
    }

    /// The outcome of a message that the core accepted: in a rehearsal, an earlier line may have
    /// made the same one.
    fn made(&self, body: &Map<String, Value>) -> Imported {
        if !self.manner.is_rehearsal {
            return Imported::Made;
        }
        let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::trim);
        let key = text("id").or_else(|| text("wamid")).map(str::to_owned);
        let mut rehearsed = self.rehearsed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_repeated = key.is_some_and(|key| !rehearsed.insert(key));
        if is_repeated { Imported::AlreadyThere } else { Imported::Made }
    }
}

/// What is said of a record that others keep changing.
const BUSY: &str = "others keep changing the same records; import it again";
