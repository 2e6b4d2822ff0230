//! Dispatching a template (4.10, D50, D51).

use serde::Serialize;

use super::handle::Dispatches;
use super::{AdmittedTemplate, DispatchDraft, DispatchError, window_rule};
use crate::error::Error;
use crate::ids::{ContactId, MessageId};
use crate::messages::Shown;
use crate::query::Params;
use crate::sending::{Claim, Order, SendTarget};
use crate::templates::{Composed, TemplateStatus, compose};
use crate::words::words;

words! {
    /// Whether the contact was created or existed (D51).
    DispatchAction {
        /// It was made.
        Created = "created",
        /// It existed.
        Existing = "existing",
    }
}

/// The answer to a dispatch (4.10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Dispatched {
    /// The provider's id of the message.
    pub wamid: Option<String>,
    /// The contact it went to.
    pub contact_id: ContactId,
    /// The message.
    pub message_id: MessageId,
    /// Whether the contact was made for it.
    pub action: DispatchAction,
}

/// The order for a dispatch: inside its window no other one like it is sent (D50).
fn order(admitted: &AdmittedTemplate, to: SendTarget, composed: Composed) -> Order {
    let template = &admitted.template;
    let rendered = Shown::of(&composed.content).content.unwrap_or_default();
    let rule = window_rule(template.category, &template.name, &template.language, &rendered);
    Order { claim: Claim::Window(rule), ..Order::template(admitted.company.id, to, composed) }
}

impl Dispatches<'_> {
    /// Sends the template to the phone that the body or the query names, made a contact if no
    /// contact has it (4.10).
    ///
    /// An answer means that the message, its outcome and its events are durable. Of simultaneous
    /// calls of one dispatch, in any processes, one sends. The provider is called at most once
    /// inside a window; after a crash, however, the window is reserved for only 60 seconds (D50).
    /// The dispatch is completed also when this future is dropped.
    ///
    /// # Errors
    ///
    /// [`DispatchError`], in the order of D48.
    pub async fn send(
        &self,
        admitted: &AdmittedTemplate,
        body: &[u8],
        query: &Params,
    ) -> Result<Dispatched, Error<DispatchError>> {
        let template = &admitted.template;
        let refuse = Error::Rejected;
        let draft = DispatchDraft::read(&template.body, body, query).map_err(refuse)?;
        let composed =
            compose(template, &draft.variables).map_err(|error| Error::Rejected(error.into()))?;
        let phone = draft.brazilian_phone().map_err(refuse)?;
        if template.status != TemplateStatus::Approved {
            return Err(Error::Rejected(DispatchError::TemplateNotApproved));
        }
        let order = order(admitted, SendTarget::AnyWithPhone(phone), composed);
        // The outcome of an earlier dispatch may not be recorded yet.
        self.app.sending().record_leftovers().await?;
        let sent = self.app.sending().deliver(order).await;
        let sent = sent.map_err(|error| error.map(DispatchError::from))?;
        Ok(Dispatched {
            wamid: sent.message.provider_id.as_ref().map(|id| id.as_str().to_owned()),
            contact_id: sent.message.contact,
            message_id: sent.message.id,
            action: match sent.is_new_contact {
                true => DispatchAction::Created,
                false => DispatchAction::Existing,
            },
        })
    }
}
