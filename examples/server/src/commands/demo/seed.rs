//! The sample data of the demonstration (people and what belongs to them), made through the same
//! use cases as everything else.

use std::time::Duration;

use recado_core::access::Company;
use recado_core::ids::{CompanyId, ContactId, CustomFieldId, ListId, StageId, TagId};
use recado_core::{Recado, Timestamp};
use serde_json::{Map, Value, json};

use super::channels;
use super::sample::{CLOSE_REASONS, FIELDS, LISTS, MEMBERS, PEOPLE, STAGES, SampleContact, TAGS};
use crate::commands::{CommandError, refused};

/// The company of the demonstration.
pub(super) const COMPANY: &str = "Demo";

/// The company of the demonstration, made if it is missing.
pub(super) async fn company(recado: &Recado) -> Result<Company, CommandError> {
    let companies = recado.access().companies().await.map_err(refused)?;
    if let Some(company) = companies.into_iter().find(|company| company.name == COMPANY) {
        return Ok(company);
    }
    let body = json!({
        "name": COMPANY,
        "plan": "enterprise",
        "features": {"inbound_contacts": true, "template_dispatch": true},
        "default_region": "BR",
    });
    recado.access().create_company(&object(body)).await.map_err(refused)
}

/// Fills the company. Each kind of record is made only where there is none yet, so that the next
/// start completes an interrupted one.
pub(super) async fn fill(recado: &Recado, company: &Company) -> Result<(), CommandError> {
    let id = company.id;
    members(recado, id).await?;
    close_reasons(recado, id).await?;
    let known = ContactRefs {
        tags: tags(recado, id).await?,
        stages: stages(recado, id).await?,
        fields: fields(recado, id).await?,
        lists: lists(recado, id).await?,
    };
    let mut contacts = Vec::new();
    for (index, person) in PEOPLE.iter().enumerate() {
        contacts.push(contact(recado, company, &known, index, person).await?);
    }
    group(recado, company).await?;
    let connections = channels::connections(recado, id).await?;
    channels::messages(recado, company, &connections, &contacts).await?;
    for (place, list) in known.lists.iter().enumerate() {
        let members: Vec<&ContactId> = PEOPLE
            .iter()
            .zip(&contacts)
            .filter(|(person, _)| person.list == Some(place))
            .map(|(_, contact)| contact)
            .collect();
        if !members.is_empty() {
            let body = object(json!({ "contact_ids": members }));
            recado.lists().add_contacts(id, *list, &body).await.map_err(refused)?;
        }
    }
    if let Some(contact) = contacts.first() {
        let body = json!({"contact_id": contact, "url": "https://example.com/catalogo"});
        recado.links().create(id, &object(body)).await.map_err(refused)?;
    }
    Ok(())
}

/// The records that contacts refer to.
struct ContactRefs {
    tags: Vec<TagId>,
    stages: Vec<StageId>,
    fields: Vec<CustomFieldId>,
    lists: Vec<ListId>,
}

/// The object of a `json!({…})`.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

async fn members(recado: &Recado, company: CompanyId) -> Result<(), CommandError> {
    let access = recado.access();
    if access.members(company).await.map_err(refused)?.is_empty() {
        for (display_name, role) in MEMBERS {
            let body = object(json!({"display_name": display_name, "role": role}));
            access.create_member(company, &body).await.map_err(refused)?;
        }
    }
    Ok(())
}

async fn close_reasons(recado: &Recado, company: CompanyId) -> Result<(), CommandError> {
    let tags = recado.tags();
    if tags.close_reasons(company).await.map_err(refused)?.is_empty() {
        for name in CLOSE_REASONS {
            let body = object(json!({ "name": name }));
            tags.create_close_reason(company, &body).await.map_err(refused)?;
        }
    }
    Ok(())
}

async fn tags(recado: &Recado, company: CompanyId) -> Result<Vec<TagId>, CommandError> {
    let all = recado.tags().all(company).await.map_err(refused)?;
    let mut ids = Vec::new();
    for (name, color) in TAGS {
        ids.push(match all.iter().find(|tag| tag.name == name) {
            Some(tag) => tag.id,
            None => {
                let body = object(json!({"name": name, "color": color}));
                recado.tags().create(company, &body).await.map_err(refused)?.id
            }
        });
    }
    Ok(ids)
}

async fn stages(recado: &Recado, company: CompanyId) -> Result<Vec<StageId>, CommandError> {
    let pipelines = recado.deals().pipelines(company).await.map_err(refused)?;
    let pipeline = match pipelines.into_iter().next() {
        Some(pipeline) => pipeline,
        None => {
            let stages: Vec<Value> =
                STAGES.iter().map(|(name, color)| json!({"name": name, "color": color})).collect();
            let body = object(json!({"name": "Vendas", "stages": stages}));
            recado.deals().create_pipeline(company, &body).await.map_err(refused)?
        }
    };
    Ok(pipeline.stages.iter().map(|stage| stage.id).collect())
}

async fn fields(recado: &Recado, company: CompanyId) -> Result<Vec<CustomFieldId>, CommandError> {
    let all = recado.custom_fields().all(company).await.map_err(refused)?;
    let mut ids = Vec::new();
    for (label, slug, kind) in FIELDS {
        ids.push(match all.iter().find(|field| field.slug == slug) {
            Some(field) => field.id,
            None => {
                let body = object(json!({"label": label, "slug": slug, "type": kind}));
                recado.custom_fields().create(company, &body).await.map_err(refused)?.id
            }
        });
    }
    Ok(ids)
}

async fn lists(recado: &Recado, company: CompanyId) -> Result<Vec<ListId>, CommandError> {
    let all = recado.lists().all(company).await.map_err(refused)?;
    let mut ids = Vec::new();
    for (place, name) in LISTS.into_iter().enumerate() {
        ids.push(match all.iter().find(|list| list.name == name) {
            Some(list) => list.id,
            None => {
                let is_active = place + 1 < LISTS.len();
                let body = object(json!({"name": name, "is_active": is_active}));
                recado.lists().create(company, &body).await.map_err(refused)?.id
            }
        });
    }
    Ok(ids)
}

async fn contact(
    recado: &Recado,
    company: &Company,
    known: &ContactRefs,
    index: usize,
    person: &SampleContact,
) -> Result<ContactId, CommandError> {
    let now = recado.now();
    let phone = format!("+55{}99000{}", person.area_code, 1001 + index);
    let first_name = recado_core::contacts::normalize(person.name);
    let first_name = first_name.split(' ').next().unwrap_or_default();
    let last_message = person.quiet_hours.map(|hours| ago(now, hours * 3600 + index as u64));
    let tags: Vec<TagId> = person.tags.iter().filter_map(|t| known.tags.get(*t)).copied().collect();
    let mut custom_fields = Map::new();
    let values = ["Indicação".to_owned(), (40_000 + index * 7).to_string()];
    for (field, value) in known.fields.iter().zip(values).take(1 + index % 2) {
        custom_fields.insert(field.to_string(), Value::String(value));
    }
    let body = json!({
        "phone": phone,
        "name": person.name,
        "email": format!("{first_name}.{}@example.com", 1001 + index),
        "wa_push_name": person.name.split(' ').next(),
        "city": person.city,
        "state": person.state,
        "country": "Brasil",
        "inbox_status": person.inbox,
        "priority": person.priority,
        "crm_status": person.crm,
        "first_message_at": person.quiet_hours.map(|_| ago(now, person.age_days * 86_400)),
        "last_message_at": last_message,
        "last_inbound_at": last_message,
        "created_at": ago(now, person.age_days * 86_400),
        "tag_ids": tags,
        "custom_fields": custom_fields,
    });
    let id = match recado.contacts().import(company, &object(body)).await {
        Ok((id, _)) => id,
        Err(error) => match taken_by(&error) {
            Some(id) => return Ok(id),
            None => return Err(refused(error)),
        },
    };
    if let Some((title, stage, status)) = person.deal {
        let body = json!({
            "contact_id": id,
            "title": title,
            "stage_id": known.stages.get(stage),
            "status": status,
        });
        recado.deals().create(company.id, &object(body)).await.map_err(refused)?;
    }
    Ok(id)
}

async fn group(recado: &Recado, company: &Company) -> Result<(), CommandError> {
    let code = format!("120363000000001001@{}", recado.settings().group_suffix);
    let body = json!({
        "identifier": code,
        "external_chat_id": code,
        "is_group": true,
        "name": "Clientes VIP",
        "is_ai_enabled": false,
        "last_message_at": ago(recado.now(), 5400),
        "created_at": ago(recado.now(), 100 * 86_400),
    });
    match recado.contacts().import(company, &object(body)).await {
        Ok(_) => Ok(()),
        Err(error) if taken_by(&error).is_some() => Ok(()),
        Err(error) => Err(refused(error)),
    }
}

/// The contact that an earlier start has made.
fn taken_by(
    error: &recado_core::Error<recado_core::contacts::ImportContactError>,
) -> Option<ContactId> {
    match error {
        recado_core::Error::Rejected(
            recado_core::contacts::ImportContactError::IdentifierTaken { by },
        ) => Some(*by),
        _ => None,
    }
}

pub(super) fn ago(now: Timestamp, seconds: u64) -> Timestamp {
    now.minus(Duration::from_secs(seconds))
}
