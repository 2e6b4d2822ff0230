//! A recipient's slot: its message, or the reason why it gets none (D66).

use std::time::Duration;

use async_trait::async_trait;

use super::files::CampaignFiles;
use super::{
    Campaign, CampaignStatus, Campaigns, ContactFault, PauseReason, Recipient, RecipientFault,
    RecipientNumber, RecipientStatus, is_put_off,
};
use crate::Timestamp;
use crate::contacts::Contact;
use crate::error::{Error, NotFound};
use crate::gateway::Fault;
use crate::ids::{CampaignId, CompanyId, ContactId, LedgerLineId};
use crate::messages::{DeliveryCode, ErrorType, Failure};
use crate::sending::{Claim, NoConnection, Order, SendError, SendTarget};
use crate::store::{ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored, Version};
use crate::templates::{Composed, Template, TemplateStatus};
use crate::uploads::{FileRefused, FileSource};
use crate::use_case::UseCase;

use super::personal::{NoMessage, is_file_personal, is_personal, personal_message};

/// The outcome of a recipient's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotOutcome {
    /// Its message was accepted.
    Sent,
    /// It was claimed, here or elsewhere; its outcome does not affect the others.
    Taken,
    /// Its message failed because of the connection, its account or its gateway.
    Unreached,
    /// The gateway accepts no more messages for now, so that it waits again; for how long, if the
    /// gateway reports that (R294).
    Limited(Option<Duration>),
    /// The gateway accepts no more messages to this recipient for now, so that it waits again
    /// (R294).
    PutOff,
    /// Its message failed because the gateway no longer accepts the template.
    TemplateLost,
    /// The campaign is not as it was read, or not running any more.
    Outdated,
}

/// The consequence of a message that surely was not sent for the campaign's other messages, which
/// have the same connection and the same text (D66, R92, R140, R141, R294).
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
        (Fault::Moment { wait }, _) if is_put_off(failure) => SlotOutcome::Limited(wait),
        (Fault::Message, _) if is_put_off(failure) => SlotOutcome::PutOff,
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

/// What a campaign has to say to a contact.
enum Text {
    /// This.
    Ready(Box<Composed>),
    /// Nothing to this contact.
    NotFor(ContactFault),
    /// Nothing to anybody any more.
    Lost(PauseReason),
}

/// Skips a waiting recipient, if there is a reason to (R99).
struct PassOver {
    company: CompanyId,
    campaign: CampaignId,
    number: RecipientNumber,
    /// A reason that the contact's row itself does not show.
    fault: Option<RecipientFault>,
    /// The version of the campaign for which that is a reason.
    read_at: Version,
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

    fn decide(&self, loaded: Self::Loaded, now: Timestamp) -> Result<Decided<()>, NotFound> {
        let Some((campaign, recipient, contact)) = loaded else {
            return Ok(Decided::unchanged(()));
        };
        let contact = contact.as_ref().map(Stored::value);
        let Some(fault) = fault_of(contact).map(RecipientFault::from).or(self.fault) else {
            return Ok(Decided::unchanged(()));
        };
        // Another text, or file, may have something for this contact (X16).
        let is_of_text = matches!(
            fault,
            RecipientFault::Contact(ContactFault::EmptyVariable | ContactFault::TextTooLong)
                | RecipientFault::Delivery(_)
        );
        let is_outdated = is_of_text && campaign.version() != self.read_at;
        let runs = campaign.status == CampaignStatus::Running && !is_outdated;
        if !runs || recipient.status != RecipientStatus::Waiting {
            return Ok(Decided::unchanged(()));
        }
        let status = match fault {
            // The cause is not the contact: the company has to choose a connection, or to mend the
            // file.
            RecipientFault::Contact(ContactFault::NoConnection) | RecipientFault::Delivery(_) => {
                RecipientStatus::Failed
            }
            RecipientFault::Contact(_) => RecipientStatus::Skipped,
        };
        let outcomes = recipient.outcomes.after(status, now);
        let passed =
            Recipient { status, fault: Some(fault), outcomes, ..recipient.value().clone() };
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
        let composed = match self.compose(campaign, contact).await? {
            Text::Ready(composed) => *composed,
            Text::NotFor(fault) => {
                self.pass_over(campaign, number, Some(fault.into())).await?;
                return Ok(SlotOutcome::Taken);
            }
            Text::Lost(reason) => {
                self.pause_for(campaign.company, campaign.id, reason).await?;
                return Ok(SlotOutcome::Outdated);
            }
        };
        let is_file_personal = is_file_personal(campaign.header.as_ref());
        let (wish, turn) = match composed.file.clone() {
            None => (None, None),
            // Each recipient has one of its own (R354).
            Some(wish) if is_file_personal => (Some(wish), None),
            Some(wish) => {
                let (wish, turn) = files.turn(campaign.id, wish).await;
                (Some(wish), turn)
            }
        };
        let is_known =
            wish.as_ref().is_some_and(|wish| matches!(wish.source, FileSource::Shared(_)));
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
        let (kept, sent) = match wish {
            None => (None, self.app.sending().deliver(order).await),
            Some(wish) => self.app.sending().deliver_keeping_file(order, wish).await,
        };
        // R374: also where this message was refused.
        if let (Some(turn), Some(upload)) = (turn, kept) {
            turn.done(upload);
        }
        match sent {
            Ok(_) => Ok(SlotOutcome::Sent),
            // It went with the messages that had it: it is fetched again.
            Err(Error::Rejected(SendError::File(FileRefused::NotFound))) if is_known => {
                files.forget(campaign.id).await;
                Err(StoreError::Unavailable(None))
            }
            Err(Error::Rejected(SendError::File(FileRefused::Files(_)))) => {
                Err(StoreError::Unavailable(None))
            }
            Err(Error::Rejected(SendError::File(_))) if is_file_personal => {
                let fault = RecipientFault::Delivery(DeliveryCode::Media);
                self.pass_over(campaign, number, Some(fault)).await?;
                self.failed(campaign, SlotOutcome::Taken).await
            }
            // It would be refused for everybody.
            Err(Error::Rejected(SendError::File(_))) => {
                let reason = PauseReason::TemplateVariables;
                self.pause_for(campaign.company, campaign.id, reason).await?;
                Ok(SlotOutcome::Outdated)
            }
            Err(Error::Rejected(SendError::Uncertain { .. })) => {
                self.failed(campaign, SlotOutcome::Taken).await
            }
            Err(Error::Rejected(SendError::Provider { failure, fault, .. })) => {
                let slot = slot_outcome(&failure, fault);
                if slot == SlotOutcome::TemplateLost {
                    let reason = PauseReason::TemplateNotApproved;
                    self.pause_for(campaign.company, campaign.id, reason).await?;
                }
                self.failed(campaign, slot).await
            }
            Err(Error::Rejected(SendError::ClaimLost | SendError::OnHold(_))) => {
                Ok(SlotOutcome::Outdated)
            }
            // It may be another contact of the same person that asked to stop (D15).
            Err(Error::Rejected(SendError::OptedOut { .. })) => {
                self.pass_over(campaign, number, Some(ContactFault::OptedOut.into())).await?;
                Ok(SlotOutcome::Taken)
            }
            // It concerns this contact only: others may have a connection.
            Err(Error::Rejected(SendError::ConnectionRequired(
                NoConnection::Several | NoConnection::Nameless,
            ))) => {
                let fault = ContactFault::NoConnection.into();
                self.pass_over(campaign, number, Some(fault)).await?;
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

    /// The outcome of a slot whose message was not accepted; the campaign may stop after it (X16).
    async fn failed(
        &self,
        campaign: &Campaign,
        slot: SlotOutcome,
    ) -> Result<SlotOutcome, StoreError> {
        match self.stop_on_failures(campaign).await? {
            true => Ok(SlotOutcome::Outdated),
            false => Ok(slot),
        }
    }

    /// The campaign's message to a contact, or why it cannot be sent.
    async fn compose(&self, campaign: &Campaign, contact: ContactId) -> Result<Text, StoreError> {
        let found = self.app.store().get::<Template>((campaign.company, campaign.template)).await?;
        let Some(template) = found else { return Ok(Text::Lost(PauseReason::TemplateNotFound)) };
        if template.status != TemplateStatus::Approved {
            return Ok(Text::Lost(PauseReason::TemplateNotApproved));
        }
        let mut person = None;
        let values = campaign.values();
        if is_personal(&values) {
            person = self.person(campaign, contact).await?;
            if person.is_none() {
                return Ok(Text::NotFor(ContactFault::Deleted));
            }
        }
        Ok(match personal_message(&template, &values, person.as_ref()).message {
            Ok(composed) => Text::Ready(Box::new(composed)),
            Err(NoMessage::ForThis(fault)) => Text::NotFor(fault),
            Err(NoMessage::ForAnybody(_)) => Text::Lost(PauseReason::TemplateVariables),
        })
    }

    /// Skips a recipient if there is a reason to; `fault` is one that the row of its contact does
    /// not show.
    pub(super) async fn pass_over(
        &self,
        campaign: &Stored<Campaign>,
        number: RecipientNumber,
        fault: Option<RecipientFault>,
    ) -> Result<(), StoreError> {
        let (company, read_at, campaign) = (campaign.company, campaign.version(), campaign.id);
        match self.app.run(&PassOver { company, campaign, number, fault, read_at }).await {
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
                DeliveryCode::RateLimitedByProvider => SlotOutcome::PutOff,
                _ => SlotOutcome::Taken,
            };
            assert_eq!(slot(SendFailure::Refused, *code), expected);
        }
        let limit = DeliveryCode::RateLimitedByProvider;
        let later = |wait| move |failure| SendFailure::TryLater { failure, wait };
        for wait in [None, Some(Duration::from_secs(7))] {
            assert_eq!(slot(later(wait), limit), SlotOutcome::Limited(wait));
        }
        assert_eq!(slot(SendFailure::RecipientLimited, limit), SlotOutcome::PutOff);
        assert_eq!(slot(later(None), DeliveryCode::Unknown), SlotOutcome::Taken);
    }
}
