//! `--update`: values of a file for a contact that is there already (R290).

use serde_json::{Map, Value};

use super::bad_values::{Skipped, without_bad_values};
use super::row::{RowProblems, failed};
use crate::Recado;
use crate::access::{Caller, Company};
use crate::contacts::{ContactChange, ContactPatch};
use crate::error::{Error, Rejection};
use crate::ids::ContactId;
use crate::manage::ManageResult;

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
) -> ManageResult<Result<(), RowProblems>> {
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
) -> ManageResult<Result<(), RowProblems>>
where
    E: Rejection + 'static,
{
    while !part.is_empty() {
        match call(&part).await {
            Ok(()) => break,
            Err(Error::Rejected(rejection)) => {
                if strict || !without_bad_values(&mut part, &rejection, skipped) {
                    return Ok(Err(RowProblems::of(&rejection)));
                }
            }
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(Ok(()))
}
