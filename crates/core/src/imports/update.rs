//! `--update`: values of a file for a contact that is there already (R290).

use serde_json::{Map, Value};

use super::bad_values::{Skipped, without_bad_values};
use super::outcome::{RowProblems, failed};
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
    let mut own = part(ContactPatch::FIELDS);
    while !own.is_empty() {
        let answer = contacts.update(&caller, contact, &own).await.map(|_| ());
        match settled(answer, &mut own, strict, skipped)? {
            Settled::Done => break,
            Settled::Again => {}
            Settled::Refused(problems) => return Ok(Err(problems)),
        }
    }
    let mut of_operator = part(ContactChange::FIELDS);
    while !of_operator.is_empty() {
        let answer = contacts.patch_as_operator(company.id, contact, &of_operator).await;
        match settled(answer, &mut of_operator, strict, skipped)? {
            Settled::Done => break,
            Settled::Again => {}
            Settled::Refused(problems) => return Ok(Err(problems)),
        }
    }
    Ok(Ok(()))
}

/// What follows from the answer of a call.
enum Settled {
    Done,
    /// The call is to be made again without the values that were refused.
    Again,
    Refused(RowProblems),
}

fn settled<E: Rejection>(
    answer: Result<(), Error<E>>,
    part: &mut Map<String, Value>,
    strict: bool,
    skipped: &mut Vec<Skipped>,
) -> ManageResult<Settled> {
    match answer {
        Ok(()) => Ok(Settled::Done),
        Err(Error::Rejected(rejection)) => {
            if strict || !without_bad_values(part, &rejection, skipped) {
                return Ok(Settled::Refused(RowProblems::of(&rejection)));
            }
            Ok(Settled::Again)
        }
        Err(error) => Err(failed(error)),
    }
}
