//! `--update`: values of a file for a contact that is there already (R290).

use recado_core::access::{Caller, Company};
use recado_core::contacts::{ContactChange, ContactPatch};
use recado_core::ids::ContactId;
use recado_core::{Error, Recado, Rejection};
use serde_json::{Map, Value};

use super::target::{Skipped, reason, without_bad_values};
use crate::commands::{CommandError, refused};

/// Fields of the calls that are not written over: those that name the contact, and the whole set of
/// its tags, to which `--tag` adds.
const LEFT: [&str; 3] = ["phone", "identifier", "tag_ids"];

/// Writes the values that may be changed over those of the contact: the fields of 4.4, and those of
/// the operator's PATCH. The others (times, the address, flags of the channel) stay as they are. A
/// refusal is returned as its reason.
///
/// R290.
pub(super) async fn update(
    recado: &Recado,
    company: &Company,
    contact: ContactId,
    body: &Map<String, Value>,
    strict: bool,
    skipped: &mut Vec<Skipped>,
) -> Result<Result<(), String>, CommandError> {
    let part = |fields: &[&str]| -> Map<String, Value> {
        let is_part = |name: &str| fields.contains(&name) && !LEFT.contains(&name);
        body.iter().filter(|(name, _)| is_part(name)).map(|(n, v)| (n.clone(), v.clone())).collect()
    };
    let (contacts, caller) = (recado.contacts(), Caller::trusted(company));
    let own = part(ContactPatch::FIELDS);
    let call =
        async |part: &Map<String, Value>| contacts.update(&caller, contact, part).await.map(|_| ());
    if let Err(reason) = change(own, strict, skipped, call).await? {
        return Ok(Err(reason));
    }
    let of_operator = part(ContactChange::FIELDS);
    let call = async |part: &Map<String, Value>| {
        contacts.patch_as_operator(company.id, contact, part).await
    };
    change(of_operator, strict, skipped, call).await
}

/// Makes a call, without the values that it refuses unless `strict`.
async fn change<E>(
    mut part: Map<String, Value>,
    strict: bool,
    skipped: &mut Vec<Skipped>,
    call: impl AsyncFn(&Map<String, Value>) -> Result<(), Error<E>>,
) -> Result<Result<(), String>, CommandError>
where
    E: Rejection + 'static,
    Error<E>: std::error::Error,
{
    while !part.is_empty() {
        match call(&part).await {
            Ok(()) => break,
            Err(Error::Rejected(rejection)) => {
                if strict || !without_bad_values(&mut part, &rejection, skipped) {
                    return Ok(Err(reason(&rejection)));
                }
            }
            Err(error) => return Err(refused(error)),
        }
    }
    Ok(Ok(()))
}
