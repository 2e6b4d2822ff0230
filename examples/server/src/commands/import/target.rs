//! Importing a record through the core.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use recado_core::access::Company;
use recado_core::contacts::{ImportContactError, ImportedContact, Phone};
use recado_core::ids::{ContactId, CustomFieldId};
use recado_core::{Code, Error, Recado, Rejection};
use serde_json::{Map, Value};

use super::ImportKind;
use super::labels::Labels;
use super::source::ImportRecord;
use super::update::update;
use crate::commands::{CommandError, refused};

/// How often a record is tried if concurrent writes conflict.
const ATTEMPTS: u32 = 3;
/// Fields whose bad values refuse their row: without them another person would be meant, or one who
/// must not be written to would be written to (R289).
const NEVER_SKIPPED: [&str; 7] = [
    "phone",
    "identifier",
    "source_platform",
    "is_group",
    "external_chat_id",
    "is_blocked",
    "opted_out_at",
];

/// A value that was left out, and why.
pub(super) type Skipped = (String, String);

/// The outcome of a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Imported {
    /// It was stored.
    Made,
    /// It exists already, from an earlier import or another source.
    AlreadyThere,
    /// It existed already, and was changed.
    Updated,
    /// It cannot be stored, for this reason.
    Refused(String),
}

/// The outcome of a record, its contact, and the values that were left out.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) imported: Imported,
    pub(super) contact: Option<ContactId>,
    pub(super) skipped: Vec<Skipped>,
}

impl Outcome {
    fn refused(reason: String) -> Self {
        Self { imported: Imported::Refused(reason), contact: None, skipped: Vec::new() }
    }
}

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

/// The company that records are imported into.
pub(super) struct Target<'a> {
    recado: &'a Recado,
    company: Company,
    manner: Manner,
    labels: Labels,
    /// Custom fields by slug, so that files need no ids.
    fields: BTreeMap<String, CustomFieldId>,
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
        let fields = recado.custom_fields().all(company.id).await.map_err(refused)?;
        let fields = fields.into_iter().map(|field| (field.slug, field.id)).collect();
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
            labels: Labels::default(),
            fields,
            connections,
            only_connection,
            by_phone: Mutex::default(),
            rehearsed: Mutex::default(),
        })
    }

    /// The same, with a list and a tag for the contacts.
    pub(super) fn with_labels(self, labels: Labels) -> Self {
        Self { labels, ..self }
    }

    /// Whether messages may leave out their connection.
    pub(super) const fn has_one_connection(&self) -> bool {
        self.only_connection.is_some()
    }

    /// Whether a custom field has this slug, or this id.
    pub(super) fn has_field(&self, slug: &str) -> bool {
        self.fields.contains_key(slug)
            || self.fields.values().any(|id| id.to_string() == slug.to_lowercase())
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
    pub(super) async fn list(&self, outcomes: &[Outcome]) -> Result<(), CommandError> {
        if self.manner.is_rehearsal {
            return Ok(());
        }
        let contacts = outcomes.iter().filter_map(|outcome| outcome.contact).collect();
        self.labels.list(self.recado, self.company.id, contacts).await
    }

    /// Imports one record.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(super) async fn import(&self, entry: &ImportRecord) -> Result<Outcome, CommandError> {
        let body = match &entry.body {
            Ok(body) => body.clone(),
            Err(reason) => return Ok(Outcome::refused(reason.clone())),
        };
        match self.manner.kind {
            ImportKind::Contacts => self.import_contact(body).await,
            ImportKind::Messages => self.import_message(body).await,
        }
    }

    async fn import_contact(&self, mut body: Map<String, Value>) -> Result<Outcome, CommandError> {
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
                    return Ok(Outcome::refused(reason(&rejection)));
                }
                Err(Error::Busy) => {
                    attempts -= 1;
                    continue;
                }
                Err(error) => return Err(refused(error)),
            };
            if matches!(imported, Imported::Refused(_)) {
                return Ok(Outcome { imported, contact: None, skipped: Vec::new() });
            }
            return Ok(Outcome { imported, contact, skipped });
        }
        Ok(Outcome::refused(BUSY.to_owned()))
    }

    /// What is done with a contact that is there already.
    async fn already_there(
        &self,
        contact: ContactId,
        body: &Map<String, Value>,
        skipped: &mut Vec<Skipped>,
    ) -> Result<Imported, CommandError> {
        let Manner { strict, .. } = self.manner;
        if let Some(tag) = self.labels.tag().filter(|_| !self.manner.is_rehearsal) {
            let tagged = self.recado.contacts().add_tag(self.company.id, contact, tag).await;
            tagged.map_err(refused)?;
        }
        if !self.manner.update {
            skipped.clear();
            return Ok(Imported::AlreadyThere);
        }
        let updated = update(self.recado, &self.company, contact, body, strict, skipped).await?;
        Ok(match updated {
            Ok(()) => Imported::Updated,
            Err(reason) => Imported::Refused(reason),
        })
    }

    async fn import_message(&self, mut body: Map<String, Value>) -> Result<Outcome, CommandError> {
        if let Err(reason) = self.name_contact(&mut body).await? {
            return Ok(Outcome::refused(reason));
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
                Err(Error::Rejected(rejection)) => Imported::Refused(reason(&rejection)),
                Err(Error::Busy) => continue,
                Err(error) => return Err(refused(error)),
            };
            return Ok(Outcome { imported, contact: None, skipped: Vec::new() });
        }
        Ok(Outcome::refused(BUSY.to_owned()))
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

    /// The outcome of a record that the core accepted: in a rehearsal, an earlier line may have
    /// made the same one.
    fn made(&self, body: &Map<String, Value>) -> Imported {
        if !self.manner.is_rehearsal {
            return Imported::Made;
        }
        let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::trim);
        let key = match self.manner.kind {
            ImportKind::Contacts => {
                let of_phone = |phone| Phone::parse(phone, &self.company.default_region).ok();
                let platform = text("source_platform").unwrap_or("whatsapp");
                let digits = |phone: Phone| phone.as_str().trim_start_matches('+').to_owned();
                let identifier = text("identifier").map(|identifier| {
                    Phone::on_channel(identifier).map_or_else(|| identifier.to_owned(), digits)
                });
                let identifier =
                    identifier.or_else(|| text("phone").and_then(of_phone).map(digits));
                identifier.map(|identifier| format!("{platform} {identifier}"))
            }
            ImportKind::Messages => text("id").or_else(|| text("wamid")).map(str::to_owned),
        };
        let mut rehearsed = self.rehearsed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_repeated = key.is_some_and(|key| !rehearsed.insert(key));
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

/// What is said of a record that others keep changing.
const BUSY: &str = "others keep changing the same records; import it again";

/// Takes the values that were refused out of the body and remembers them; false if one of them may
/// not be left out, and then nothing is taken out (R289).
pub(super) fn without_bad_values(
    body: &mut Map<String, Value>,
    rejection: &impl Rejection,
    skipped: &mut Vec<Skipped>,
) -> bool {
    let details = rejection.details().unwrap_or_default();
    let Some(reasons) = details.get("reasons").and_then(Value::as_object) else { return false };
    let text = |reason: &Value| reason.as_str().unwrap_or_default().to_owned();
    let custom: Vec<String> = details
        .get("custom_fields")
        .and_then(Value::as_array)
        .map(|keys| keys.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let may_go = |field: &str| match field {
        // A key that is no id names a field that does not exist: nothing says where its values go.
        "custom_fields" => {
            !custom.is_empty() && custom.iter().all(|key| CustomFieldId::parse(key).is_some())
        }
        field => ImportedContact::FIELDS.contains(&field) && !NEVER_SKIPPED.contains(&field),
    };
    let has = |field: &str| body.contains_key(field);
    if reasons.is_empty() || details.contains_key("more") {
        return false;
    }
    if !reasons.keys().all(|field| may_go(field) && has(field)) {
        return false;
    }
    for (field, reason) in reasons {
        match (field.as_str(), body.get_mut(field)) {
            ("custom_fields", Some(Value::Object(values))) => {
                for key in &custom {
                    values.remove(key);
                    skipped.push((format!("custom_fields.{key}"), text(reason)));
                }
            }
            (field, _) => {
                body.remove(field);
                skipped.push((field.to_owned(), text(reason)));
            }
        }
    }
    true
}

/// All reasons of a rejection in one line.
pub(super) fn reason(rejection: &impl Rejection) -> String {
    let details = rejection.details();
    let reasons = details.as_ref().and_then(|details| details.get("reasons")?.as_object());
    let all: Vec<String> = reasons
        .into_iter()
        .flatten()
        .map(|(field, reason)| format!("{field} {}", reason.as_str().unwrap_or_default()))
        .collect();
    if all.is_empty() { rejection.to_string() } else { all.join("; ") }
}

#[cfg(test)]
mod tests {
    use recado_core::Problems;
    use serde_json::json;

    use super::*;

    fn left(body: Value, bad: &[&str]) -> Option<(Value, usize)> {
        let mut body = body.as_object().cloned().expect("an object");
        let mut problems = Problems::new();
        bad.iter().for_each(|field| problems.add(*field, "is wrong"));
        let mut skipped = Vec::new();
        without_bad_values(&mut body, &problems, &mut skipped)
            .then_some((Value::Object(body), skipped.len()))
    }

    /// R289.
    #[test]
    fn a_bad_value_is_left_out_unless_it_says_who_is_meant_or_may_be_written_to() {
        let body = || json!({"phone": "1", "email": "x", "cpf": "y", "opted_out_at": "z"});
        let rest = json!({"phone": "1", "opted_out_at": "z"});
        assert_eq!(left(body(), &["email", "cpf"]), Some((rest, 2)));
        for never in ["phone", "opted_out_at"] {
            assert_eq!(left(body(), &["email", never]), None, "{never}");
        }
        assert_eq!(left(body(), &["e-mail"]), None, "a key that is no field");
        assert_eq!(left(body(), &[]), None);
    }
}
