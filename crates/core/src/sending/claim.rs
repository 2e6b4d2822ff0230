//! What an intent has to claim so that a message is sent once: the window of a template dispatch
//! (D50), or a recipient of a campaign (D66). It is claimed in the commit that stores the message,
//! and finished in the commit that records its outcome.

use std::time::Duration;

use super::SendError;
use crate::Timestamp;
use crate::access::{Company, TimeZone};
use crate::campaigns::{
    Campaign, CampaignStatus, Recipient, RecipientNumber, RecipientStatus, follow, is_withheld,
};
use crate::contacts::Contact;
use crate::dispatches::{DispatchWindow, Eligibility, WindowRule, WindowState};
use crate::ids::{CampaignId, CompanyId, ContactId, LedgerLineId};
use crate::messages::Message;
use crate::prosas::{Brl, GivenBack, LedgerLine, ProsaScope, Prosas, Spent, debit_line, give_back};
use crate::store::{Change, ChangeSet, Reads, RecordsExt, StoreError, Stored, Version};

/// How long after a dispatch was stored its provider may be called. With the longest timeout of a
/// gateway, 50 seconds, the call ends before the reservation lapses (D50, R88).
const CALLED_WITHIN: Duration = Duration::from_secs(5);

/// What an intent has to claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Claim {
    /// Nothing.
    #[default]
    Nothing,
    /// The window of a template dispatch.
    Window(WindowRule),
    /// A waiting recipient of a running campaign.
    Recipient {
        /// The campaign.
        campaign: CampaignId,
        /// The version of the campaign that the message was made from.
        read_at: Version,
        /// The recipient.
        number: RecipientNumber,
        /// The id that the debit of the message gets.
        debit: LedgerLineId,
    },
}

/// What a claim reads.
#[derive(Debug, Default)]
pub(super) struct ClaimFacts {
    window: Option<Stored<DispatchWindow>>,
    campaign: Option<Stored<Campaign>>,
    recipient: Option<Stored<Recipient>>,
    /// The time zone of the campaign's hours, if it has any.
    zone: Option<TimeZone>,
}

/// What was claimed, as it is stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Claimed {
    pub(super) window: Option<Stored<DispatchWindow>>,
    pub(super) recipient: Option<Stored<Recipient>>,
    pub(super) debit: Option<Stored<LedgerLine>>,
}

impl Claim {
    /// Whether the message was stored so long ago that its window could lapse during the call of
    /// the provider (D50).
    pub(super) fn is_late(&self, stored_at: Timestamp, now: Timestamp) -> bool {
        matches!(self, Self::Window(_)) && now.since(stored_at) > CALLED_WITHIN
    }

    /// Reads the records of the claim; `contact` is the one that the message would go to, if there
    /// is one.
    pub(super) async fn load(
        &self,
        store: &dyn Reads,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<ClaimFacts, StoreError> {
        let mut facts = ClaimFacts::default();
        match (*self, contact) {
            (Self::Nothing, _) | (Self::Window(_), None) => {}
            (Self::Window(rule), Some(contact)) => {
                facts.window = store.get::<DispatchWindow>((company, contact, rule.key)).await?;
            }
            (Self::Recipient { campaign, number, .. }, _) => {
                facts.campaign = store.get::<Campaign>((company, campaign)).await?;
                facts.recipient = store.get::<Recipient>((company, campaign, number)).await?;
                if facts.campaign.as_ref().is_some_and(|known| known.send_between.is_some()) {
                    let company = store.get::<Company>(company).await?;
                    facts.zone = company.map(|company| company.time_zone);
                }
            }
        }
        Ok(facts)
    }

    /// Whether it can be claimed for a contact at `now`.
    ///
    /// # Errors
    ///
    /// [`SendError::Duplicate`] inside a window, [`SendError::ClaimLost`] where a campaign does not
    /// run, its hours are over (R371), or a recipient does not wait.
    pub(super) fn check(
        &self,
        facts: &ClaimFacts,
        contact: Option<&Contact>,
        now: Timestamp,
    ) -> Result<(), SendError> {
        match self {
            Self::Nothing => Ok(()),
            Self::Window(rule) => {
                let known = facts.window.as_ref();
                match known.map(|window| window.eligibility(rule.lasts, now)) {
                    None | Some(Eligibility::Free) => Ok(()),
                    Some(Eligibility::InFlight) => Err(SendError::Duplicate(None)),
                    Some(Eligibility::Sent(existing)) => Err(SendError::Duplicate(Some(existing))),
                }
            }
            Self::Recipient { read_at, .. } => {
                let runs = |campaign: &Stored<Campaign>| {
                    campaign.status == CampaignStatus::Running
                        && campaign.version() == *read_at
                        && is_open(campaign, facts.zone, now)
                };
                let waits = |recipient: &Stored<Recipient>| {
                    recipient.status == RecipientStatus::Waiting
                        && recipient.contact.is_some()
                        && recipient.contact == contact.map(|contact| contact.id)
                };
                if !facts.campaign.as_ref().is_some_and(runs)
                    || !facts.recipient.as_ref().is_some_and(waits)
                {
                    return Err(SendError::ClaimLost);
                }
                Ok(())
            }
        }
    }

    /// Adds the changes that claim it to those that store the message.
    pub(super) fn win(
        &self,
        facts: &ClaimFacts,
        message: &Message,
        changes: ChangeSet,
    ) -> (ChangeSet, Claimed) {
        let mut claimed = Claimed::default();
        let changes = match self {
            Self::Nothing => changes,
            Self::Window(rule) => {
                let window = DispatchWindow {
                    company: message.company,
                    contact: message.contact,
                    key: rule.key,
                    message: message.id,
                    sent_at: message.created_at,
                    state: WindowState::Reserved,
                    ends_at: message.created_at.plus(rule.lasts),
                };
                let (change, stored) = write(facts.window.as_ref(), window);
                claimed.window = Some(stored);
                changes.with(change)
            }
            Self::Recipient { debit, .. } => {
                let (Some(campaign), Some(known)) = (&facts.campaign, &facts.recipient) else {
                    return (changes, claimed);
                };
                let recipient = Recipient {
                    status: RecipientStatus::Sending,
                    message: Some(message.id),
                    debit: Some(*debit),
                    ..known.value().clone()
                };
                let line = debit_line(*debit, spent(campaign, message), message.created_at);
                let (change, stored) = write(Some(known), recipient);
                claimed.recipient = Some(stored);
                claimed.debit = Some(Stored::new(line.clone(), Version::FIRST));
                // A message must not be stored after a pause of the campaign was answered.
                changes.require(campaign.unchanged()).with(change).insert(line)
            }
        };
        (changes, claimed)
    }
}

/// Whether a campaign's hours are open, or it has none: getting the file of its header may have
/// outlasted them (R371).
fn is_open(campaign: &Campaign, zone: Option<TimeZone>, now: Timestamp) -> bool {
    let hours = campaign.send_between.as_ref().zip(zone);
    hours.is_none_or(|(hours, zone)| hours.is_open(zone.wall_time(now)))
}

/// The debit of a campaign's message (D66).
fn spent(campaign: &Campaign, message: &Message) -> Spent {
    Spent {
        company: message.company,
        scope: ProsaScope::Message,
        prosas: campaign.prosas,
        cost: campaign.cost,
        contact: Some(message.contact),
        campaign: Some(campaign.id),
        description: Some(campaign.name.clone()),
    }
}

/// The write of a row that was read or is new, and the row as it is then stored.
fn write<T: Clone + Into<crate::store::Row>>(
    read: Option<&Stored<T>>,
    row: T,
) -> (Change, Stored<T>) {
    match read {
        Some(read) => (read.update(row.clone()), Stored::new(row, read.version().next())),
        None => (Change::insert(row.clone()), Stored::new(row, Version::FIRST)),
    }
}

/// The outcome of a send, as the claim needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SendEnd {
    /// Whether it was sent, or may have been.
    pub(super) may_have_arrived: bool,
    /// Whether no certain outcome was recorded before.
    pub(super) is_news: bool,
}

impl Claimed {
    /// Reads again what a message has claimed. Without a claim, as after a crash, the recipient is
    /// found by the message; a window that a crash left reserved lapses by itself (D50).
    pub(super) async fn load(
        store: &dyn Reads,
        message: &Message,
        claim: Claim,
    ) -> Result<Self, StoreError> {
        let company = message.company;
        let mut claimed = Self::default();
        match claim {
            Claim::Window(rule) => {
                claimed.window =
                    store.get::<DispatchWindow>((company, message.contact, rule.key)).await?;
            }
            Claim::Recipient { campaign, number, debit, .. } => {
                // Both may still exist when the message is deleted with its contact.
                claimed.recipient = store.get::<Recipient>((company, campaign, number)).await?;
                claimed.debit = store.get::<LedgerLine>((company, debit)).await?;
            }
            Claim::Nothing if message.is_of_campaign() => {
                claimed.recipient = store.recipients_of(company, &[message.id]).await?.pop();
                if let Some(debit) = claimed.recipient.as_ref().and_then(|known| known.debit) {
                    claimed.debit = store.get::<LedgerLine>((company, debit)).await?;
                }
            }
            Claim::Nothing => {}
        }
        let is_its = |recipient: &Stored<Recipient>| recipient.message == Some(message.id);
        claimed.recipient = claimed.recipient.filter(is_its);
        Ok(claimed)
    }

    /// What has to be written with the outcome of `message`: an opened or released window, the
    /// status of the recipient, and once the refund of a message that surely was not sent (D50,
    /// D66).
    pub(super) fn changes(
        &self,
        message: &Message,
        ended: SendEnd,
        refund: LedgerLineId,
        now: Timestamp,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        let own = |window: &&Stored<DispatchWindow>| {
            window.message == message.id && window.state == WindowState::Reserved
        };
        if let Some(window) = self.window.as_ref().filter(own) {
            let state = WindowState::Sent;
            changes.push(match ended.may_have_arrived {
                true => window.update(DispatchWindow { state, ..window.value().clone() }),
                false => window.delete(),
            });
        }
        if let Some(recipient) = &self.recipient {
            let after = follow(recipient, message, now);
            if after != *recipient.value() {
                changes.push(recipient.update(after));
            }
        }
        let is_lost = !ended.may_have_arrived && ended.is_news;
        // X16: whatever had been reported before.
        let is_withheld = message.failure.as_ref().is_some_and(is_withheld);
        if is_lost || is_withheld {
            changes.extend(self.given_back(refund, now));
        }
        changes
    }

    /// What has to be written when the channel refused the message for its rate, in place of its
    /// outcome: the recipient waits again, as if nothing had been sent, and its debit is refunded
    /// (R294). `None` unless a recipient is being sent to.
    pub(super) fn put_off(&self, refund: LedgerLineId, now: Timestamp) -> Option<Vec<Change>> {
        let sending = |known: &&Stored<Recipient>| known.status == RecipientStatus::Sending;
        let recipient = self.recipient.as_ref().filter(sending)?;
        let waiting = Recipient {
            status: RecipientStatus::Waiting,
            message: None,
            debit: None,
            ..recipient.value().clone()
        };
        let mut changes = vec![recipient.update(waiting)];
        changes.extend(self.given_back(refund, now));
        Some(changes)
    }

    /// The refund of the whole debit, unless something was refunded before.
    fn given_back(&self, refund: LedgerLineId, now: Timestamp) -> Vec<Change> {
        let untouched = |debit: &&Stored<LedgerLine>| debit.refunded == (Prosas::ZERO, Brl::ZERO);
        let Some(debit) = self.debit.as_ref().filter(untouched) else { return Vec::new() };
        refunded_whole(refund, debit, now)
    }
}

/// The refund of all that is left of the debit of a message that was not sent (D66).
pub(crate) fn refunded_whole(
    refund: LedgerLineId,
    debit: &Stored<LedgerLine>,
    now: Timestamp,
) -> Vec<Change> {
    let (prosas, cost) = debit.refundable();
    let reason = Some("the message was not sent".to_owned());
    match give_back(refund, debit, GivenBack { prosas, cost, reason }, now) {
        Some((debited, line)) => vec![debit.update(debited), Change::insert(line)],
        None => Vec::new(),
    }
}
