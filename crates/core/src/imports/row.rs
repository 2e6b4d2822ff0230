//! Importing one row of a file of contacts, as the operator's calls would (R289, R290).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};

use super::bad_values::{Skipped, without_bad_values};
use super::labels::Labels;
use super::outcome::{Imported, RowOutcome, RowProblems, failed};
use super::person::identity;
use super::update::update;
use crate::Recado;
use crate::access::Company;
use crate::contacts::ImportContactError;
use crate::error::Error;
use crate::ids::{CompanyId, ContactId, CustomFieldId};
use crate::manage::ManageResult;

/// How often a row is tried if concurrent writes conflict.
const ATTEMPTS: u32 = 3;

/// How rows are imported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowManner {
    /// Whether events tell of what is imported (D65).
    pub events: bool,
    /// Whether contacts that are there are changed (R290).
    pub update: bool,
    /// Whether a bad value refuses its row (R289).
    pub strict: bool,
    /// Whether nothing is written (R286).
    pub is_rehearsal: bool,
}

/// The company that rows of contacts are imported into.
#[derive(Debug)]
pub struct RowImport {
    recado: Recado,
    company: Company,
    manner: RowManner,
    labels: Labels,
    /// Custom fields by slug, so that files need no ids.
    fields: BTreeMap<String, CustomFieldId>,
    /// In a rehearsal, what earlier rows would have made.
    rehearsed: Mutex<HashSet<String>>,
}

impl RowImport {
    /// An import into the company. In a dry run everything happens on [`Recado::rehearsal`].
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn new(recado: &Recado, company: Company, manner: RowManner) -> ManageResult<Self> {
        let recado = if manner.is_rehearsal { recado.rehearsal() } else { recado.clone() };
        let fields = recado.custom_fields().all(company.id).await?;
        let fields = fields.into_iter().map(|field| (field.slug, field.id)).collect();
        let (labels, rehearsed) = (Labels::default(), Mutex::default());
        Ok(Self { recado, company, manner, labels, fields, rehearsed })
    }

    /// The same, with a list and a tag for the contacts.
    #[must_use]
    pub fn with_labels(self, labels: Labels) -> Self {
        Self { labels, ..self }
    }

    /// The company.
    pub const fn company(&self) -> CompanyId {
        self.company.id
    }

    /// The region whose national numbers the rows have.
    pub(super) const fn region(&self) -> &crate::contacts::Region {
        &self.company.default_region
    }

    /// Whether a custom field has this slug, or this id.
    pub fn has_field(&self, slug: &str) -> bool {
        self.fields.contains_key(slug)
            || self.fields.values().any(|id| id.to_string() == slug.to_lowercase())
    }

    /// Adds the contacts of these rows to the list that was named.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn list<'a>(
        &self,
        outcomes: impl IntoIterator<Item = &'a RowOutcome>,
    ) -> ManageResult<()> {
        if self.manner.is_rehearsal {
            return Ok(());
        }
        let contacts: BTreeSet<ContactId> =
            outcomes.into_iter().filter_map(|outcome| outcome.contact).collect();
        self.labels.list(&self.recado, self.company.id, contacts).await
    }

    /// Imports one row: its body is that of the operator's call, but that it may name custom fields
    /// by slug.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn import(&self, mut body: Map<String, Value>) -> ManageResult<RowOutcome> {
        self.name_fields(&mut body);
        if let Some(tag) = self.labels.tag() {
            let tags = body.entry("tag_ids").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(tags) = tags {
                tags.push(tag.to_string().into());
            }
        }
        let mut skipped = Vec::new();
        let mut attempts = ATTEMPTS;
        while attempts > 0 {
            let contacts = self.recado.contacts();
            let answer = match self.manner.events {
                false => contacts.import(&self.company, &body).await,
                true => contacts.import_with_events(&self.company, &body).await,
            };
            let (imported, contact) = match answer {
                Ok((id, _)) => (self.made(&body), Some(id).filter(|_| !self.manner.is_rehearsal)),
                Err(Error::Rejected(ImportContactError::IdentifierTaken { by })) => {
                    (self.already_there(by, &body, &mut skipped).await?, Some(by))
                }
                Err(Error::Rejected(rejection))
                    if !self.manner.strict
                        && without_bad_values(&mut body, &rejection, &mut skipped) =>
                {
                    continue;
                }
                Err(Error::Rejected(rejection)) => {
                    return Ok(RowOutcome::refused(RowProblems::of(&rejection)));
                }
                Err(Error::Busy) => {
                    attempts -= 1;
                    continue;
                }
                Err(error) => return Err(failed(error)),
            };
            if matches!(imported, Imported::Refused(_)) {
                return Ok(RowOutcome { imported, contact: None, skipped: Vec::new() });
            }
            return Ok(RowOutcome { imported, contact, skipped });
        }
        Ok(RowOutcome::refused(RowProblems::whole(BUSY)))
    }

    /// What is done with a contact that is there already.
    async fn already_there(
        &self,
        contact: ContactId,
        body: &Map<String, Value>,
        skipped: &mut Vec<Skipped>,
    ) -> ManageResult<Imported> {
        if let Some(tag) = self.labels.tag().filter(|_| !self.manner.is_rehearsal) {
            self.recado.contacts().add_tag(self.company.id, contact, tag).await?;
        }
        if !self.manner.update {
            skipped.clear();
            return Ok(Imported::AlreadyThere);
        }
        let strict = self.manner.strict;
        let updated = update(&self.recado, &self.company, contact, body, strict, skipped).await?;
        Ok(match updated {
            Ok(()) => Imported::Updated,
            Err(problems) => Imported::Refused(problems),
        })
    }

    /// The outcome of a row that the core accepted: in a rehearsal, an earlier row may have made
    /// the same one.
    fn made(&self, body: &Map<String, Value>) -> Imported {
        if !self.manner.is_rehearsal {
            return Imported::Made;
        }
        let mut rehearsed = self.rehearsed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_repeated = identity(body, self.region()).is_some_and(|key| !rehearsed.insert(key));
        if is_repeated { Imported::AlreadyThere } else { Imported::Made }
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

/// What is said of a row that others keep changing.
const BUSY: &str = "others keep changing the same records; import it again";
