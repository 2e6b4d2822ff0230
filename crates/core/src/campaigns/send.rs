//! A recipient's slot: its message, or the reason why it gets none (D66).

use std::time::Duration;

use async_trait::async_trait;

use super::files::CampaignFiles;
use super::{
    Campaign, CampaignStatus, Campaigns, ContactFault, PauseReason, Recipient, RecipientFault,
    RecipientNumber, RecipientStatus,
};
use crate::Timestamp;
use crate::contacts::Contact;
use crate::error::{Error, NotFound};
use crate::gateway::Fault;
use crate::ids::{CampaignId, CompanyId, ContactId, LedgerLineId};
use crate::messages::{DeliveryCode, ErrorType, Failure};
use crate::sending::{Claim, NoConnection, Order, SendError, SendTarget};
use crate::store::{ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::templates::{Composed, Template, TemplateStatus, compose};
use crate::uploads::{FileRefused, FileSource};
use crate::use_case::UseCase;

/// The outcome of a recipient's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotOutcome {
    /// Its message was accepted.
    Sent,
    /// It was claimed, here or elsewhere; its outcome does not affect the others.
    Taken,
    /// Its message failed because of the connection, its account or its gateway.
    Unreached,
    /// Its message failed because the gateway accepts no more messages for now; for how long, if it
    /// reports that.
    Limited(Option<Duration>),
    /// Its message failed because the gateway no longer accepts the template.
    TemplateLost,
    /// The campaign is not as it was read, or not running any more.
    Outdated,
}

/// The consequence of a message that surely was not sent for the campaign's other messages, which
/// have the same connection and the same text (D66, R92, R140, R141).
pub(super) fn slot_outcome(failure: &Failure, fault: Fault) -> SlotOutcome {
    let unreached = matches!(
        failure.error_type,
        ErrorType::Network | ErrorType::ConnectionOffline | ErrorType::Config
    );
    match (fault, failure.code) {
        (Fault::Connection, _) => SlotOutcome::Unreached,
        // Some gateways answer alike to wrong settings and to a wrong request.
        _ if unreached => SlotOutcome::Unreached,
        (_, DeliveryCode::TemplateRejected) => SlotOutcome::TemplateLost,
        (Fault::Moment { wait }, DeliveryCode::RateLimitedByProvider) => SlotOutcome::Limited(wait),
        (Fault::Message | Fault::Moment { .. }, _) => SlotOutcome::Taken,
    }
}

/// The state of a contact that keeps a campaign from sending to it, in the order of D33 (D66, R95).
pub(super) fn fault_of(contact: Option<&Contact>) -> Option<ContactFault> {
    let Some(contact) = contact else { return Some(ContactFault::Deleted) };
    if contact.is_group {
        Some(ContactFault::Group)
    } else if contact.opted_out_at.is_some() {
        Some(ContactFault::OptedOut)
    } else if contact.is_blocked {
        Some(ContactFault::Blocked)
    } else {
        None
    }
}

/// Skips a waiting recipient, if there is a reason to (R99).
struct PassOver {
    company: CompanyId,
    campaign: CampaignId,
    number: RecipientNumber,
    /// A reason that the contact itself does not show.
    fault: Option<ContactFault>,
}

#[async_trait]
impl UseCase for PassOver {
    type Loaded = Option<(Stored<Campaign>, Stored<Recipient>, Option<Stored<Contact>>)>;
    type Output = ();
    type Error = NotFound;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let campaign = store.get::<Campaign>((self.company, self.campaign)).await?;
        let found = store.get::<Recipient>((self.company, self.campaign, self.number)).await?;
        let (Some(campaign), Some(recipient)) = (campaign, found) else { return Ok(None) };
        let contact = match recipient.contact {
            Some(contact) => store.get::<Contact>((self.company, contact)).await?,
            None => None,
        };
        Ok(Some((campaign, recipient, contact)))
    }

    fn decide(&self, loaded: Self::Loaded, _: Timestamp) -> Result<Decided<()>, NotFound> {
        let Some((campaign, recipient, contact)) = loaded else {
            return Ok(Decided::unchanged(()));
        };
        let contact = contact.as_ref().map(Stored::value);
        let Some(fault) = fault_of(contact).or(self.fault) else {
            return Ok(Decided::unchanged(()));
        };
        let runs = campaign.status == CampaignStatus::Running;
        if !runs || recipient.status != RecipientStatus::Waiting {
            return Ok(Decided::unchanged(()));
        }
        let status = match fault {
            // The cause is not the contact: the company has to choose a connection.
            ContactFault::NoConnection => RecipientStatus::Failed,
            _ => RecipientStatus::Skipped,
        };
        let fault = Some(RecipientFault::Contact(fault));
        let passed = Recipient { status, fault, ..recipient.value().clone() };
        Ok(Decided::new(ChangeSet::new().with(recipient.update(passed)), ()))
    }
}

impl Campaigns<'_> {
    /// Sends a campaign's message to a waiting recipient, or skips it, or pauses the campaign if
    /// its template or connection is lost. Sends at most one message to a recipient, even if other
    /// processes try at the same time; an error leaves the recipient waiting, or its message to
    /// [`Sending::recover`](crate::sending::Sending::recover).
    pub(super) async fn use_slot(
        &self,
        campaign: &Stored<Campaign>,
        number: RecipientNumber,
        contact: Option<ContactId>,
        files: &CampaignFiles,
    ) -> Result<SlotOutcome, StoreError> {
        let Some(contact) = contact else {
            self.pass_over(campaign, number, None).await?;
            return Ok(SlotOutcome::Taken);
        };
        let composed = match self.compose(campaign).await? {
            Ok(composed) => composed,
            Err(reason) => {
                self.pause_for(campaign.company, campaign.id, reason).await?;
                return Ok(SlotOutcome::Outdated);
            }
        };
        let (wish, turn) = match composed.file.clone() {
            None => (None, None),
            Some(wish) => {
                let (wish, turn) = files.turn(campaign.id, wish).await;
                (Some(wish), turn)
            }
        };
        let is_known =
            wish.as_ref().is_some_and(|wish| matches!(wish.source, FileSource::Received(_)));
        let text = Order::template(campaign.company, SendTarget::Contact(contact), composed);
        let order = Order {
            connection: text.connection.or(campaign.connection),
            sender: crate::messages::SenderType::Campaign,
            claim: Claim::Recipient {
                campaign: campaign.id,
                read_at: campaign.version(),
                number,
                debit: LedgerLineId::new(self.app.uuid(self.app.now())),
            },
            ..text
        };
        match self.app.sending().deliver_with_file(order, wish).await {
            Ok(sent) => {
                if let (Some(turn), Some(upload)) = (turn, sent.message.media.upload) {
                    turn.done(upload);
                }
                Ok(SlotOutcome::Sent)
            }
            // It went with the messages that had it: it is fetched again.
            Err(Error::Rejected(SendError::File(FileRefused::NotFound))) if is_known => {
                files.forget(campaign.id).await;
                Err(StoreError::Unavailable(None))
            }
            Err(Error::Rejected(SendError::File(FileRefused::Files(_)))) => {
                Err(StoreError::Unavailable(None))
            }
            // It would be refused for everybody.
            Err(Error::Rejected(SendError::File(_))) => {
                let reason = PauseReason::TemplateVariables;
                self.pause_for(campaign.company, campaign.id, reason).await?;
                Ok(SlotOutcome::Outdated)
            }
            Err(Error::Rejected(SendError::Uncertain { .. })) => Ok(SlotOutcome::Taken),
            Err(Error::Rejected(SendError::Provider { failure, fault, .. })) => {
                let slot = slot_outcome(&failure, fault);
                if slot == SlotOutcome::TemplateLost {
                    let reason = PauseReason::TemplateNotApproved;
                    self.pause_for(campaign.company, campaign.id, reason).await?;
                }
                Ok(slot)
            }
            Err(Error::Rejected(SendError::ClaimLost | SendError::OnHold(_))) => {
                Ok(SlotOutcome::Outdated)
            }
            // It may be another contact of the same person that asked to stop (D15).
            Err(Error::Rejected(SendError::OptedOut { .. })) => {
                self.pass_over(campaign, number, Some(ContactFault::OptedOut)).await?;
                Ok(SlotOutcome::Taken)
            }
            // It concerns this contact only: others may have a connection.
            Err(Error::Rejected(SendError::ConnectionRequired(
                NoConnection::Several | NoConnection::Nameless,
            ))) => {
                self.pass_over(campaign, number, Some(ContactFault::NoConnection)).await?;
                Ok(SlotOutcome::Taken)
            }
            Err(Error::Rejected(
                SendError::ConnectionRequired(_) | SendError::ConnectionNotFound,
            )) => {
                self.pause_for(campaign.company, campaign.id, PauseReason::Connection).await?;
                Ok(SlotOutcome::Outdated)
            }
            Err(
                Error::Rejected(SendError::ContactStateUnavailable | SendError::NotStored(_))
                | Error::Busy,
            ) => Err(StoreError::Unavailable(None)),
            Err(Error::Rejected(_) | Error::Denied(_)) => {
                self.pass_over(campaign, number, None).await?;
                Ok(SlotOutcome::Taken)
            }
            Err(Error::Store(error)) => Err(error),
        }
    }

    /// The campaign's message, or why it cannot be sent.
    async fn compose(
        &self,
        campaign: &Campaign,
    ) -> Result<Result<Composed, PauseReason>, StoreError> {
        let found = self.app.store().get::<Template>((campaign.company, campaign.template)).await?;
        let Some(template) = found else { return Ok(Err(PauseReason::TemplateNotFound)) };
        if template.status != TemplateStatus::Approved {
            return Ok(Err(PauseReason::TemplateNotApproved));
        }
        Ok(compose(&template, &campaign.values()).map_err(|_| PauseReason::TemplateVariables))
    }

    /// Skips a recipient if there is a reason to; `fault` is one that its contact does not show.
    pub(super) async fn pass_over(
        &self,
        campaign: &Campaign,
        number: RecipientNumber,
        fault: Option<ContactFault>,
    ) -> Result<(), StoreError> {
        let (company, campaign) = (campaign.company, campaign.id);
        match self.app.run(&PassOver { company, campaign, number, fault }).await {
            Ok(()) | Err(Error::Rejected(_) | Error::Denied(_)) => Ok(()),
            Err(Error::Busy) => Err(StoreError::Unavailable(None)),
            Err(Error::Store(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::SendFailure;

    fn slot(class: impl FnOnce(Failure) -> SendFailure, code: DeliveryCode) -> SlotOutcome {
        let failure = class(Failure::new(code, None));
        slot_outcome(failure.failure(), failure.fault())
    }

    #[test]
    fn a_message_that_fails_for_the_sake_of_the_connection_is_unreached_whatever_its_code() {
        for code in DeliveryCode::ALL {
            assert_eq!(slot(SendFailure::Connection, *code), SlotOutcome::Unreached);
            assert_eq!(slot(SendFailure::Unreachable, *code), SlotOutcome::Unreached);
        }
    }

    #[test]
    fn a_refusal_says_something_of_the_others_only_where_it_blames_what_they_share() {
        for code in DeliveryCode::ALL {
            let expected = match code {
                DeliveryCode::TemplateRejected => SlotOutcome::TemplateLost,
                DeliveryCode::Configuration
                | DeliveryCode::ConnectionOffline
                | DeliveryCode::Network => SlotOutcome::Unreached,
                _ => SlotOutcome::Taken,
            };
            assert_eq!(slot(SendFailure::Refused, *code), expected);
        }
        let limit = DeliveryCode::RateLimitedByProvider;
        let later = |wait| move |failure| SendFailure::TryLater { failure, wait };
        for wait in [None, Some(Duration::from_secs(7))] {
            assert_eq!(slot(later(wait), limit), SlotOutcome::Limited(wait));
        }
        assert_eq!(slot(SendFailure::RecipientLimited, limit), SlotOutcome::Taken);
        assert_eq!(slot(later(None), DeliveryCode::Unknown), SlotOutcome::Taken);
    }
}
