//! Sending offers, places, cards and reactions (X12, X13).

use serde_json::{Map, Value};

use super::card_draft::CardsDraft;
use super::{OfferDraft, PlaceDraft, SendContacts, SendInteractive, SendLocation, SendReaction};
use crate::access::{Caller, Scope};
use crate::body::IntoBody;
use crate::connections::Connection;
use crate::error::Error;
use crate::gateway::{Content, ReactionContent};
use crate::ids::{CompanyId, MessageId};
use crate::input::Given;
use crate::messages::{RefTarget, Referred};
use crate::problems::Problems;
use crate::sending::draft::{SendTo, is_missing, require};
use crate::sending::{
    Delivered, KindSentView, Order, SendAddress, SendError, SendRules, SendTarget, Sending,
};
use crate::store::RecordsExt;

fn invalid(problems: Problems) -> Error<SendError> {
    Error::Rejected(problems.into())
}

impl Sending<'_> {
    /// Sends a text with something to choose (4.13, X12). Durability, events and refusals are those
    /// of [`Sending::send_text`]; where the connection cannot carry it and no fallback was given,
    /// it is refused before anything is stored.
    ///
    /// # Errors
    ///
    /// [`SendError`], in the order of D33.
    pub async fn send_interactive(
        &self,
        caller: &Caller,
        body: impl IntoBody<SendInteractive>,
    ) -> Result<KindSentView, Error<SendError>> {
        let body = self.begin(caller, body, &["kind", "body"])?;
        let (draft, to) = SendInteractive::parse(&body).map_err(invalid)?.split();
        let (content, file) = draft.content().map_err(invalid)?;
        let order = self.order(caller, content, to).await?;
        let order = Order { fallback: draft.fallback_text().map_err(invalid)?, ..order };
        Ok(KindSentView::from(&self.deliver_with_file(order, file).await?))
    }

    /// Sends a place (4.13, X13), as [`Sending::send_interactive`].
    ///
    /// # Errors
    ///
    /// [`SendError`], in the order of D33.
    pub async fn send_location(
        &self,
        caller: &Caller,
        body: impl IntoBody<SendLocation>,
    ) -> Result<KindSentView, Error<SendError>> {
        let body = self.begin(caller, body, &["latitude", "longitude"])?;
        let (draft, to) = SendLocation::parse(&body).map_err(invalid)?.split();
        let order = self.order(caller, PlaceDraft::content(draft), to).await?;
        Ok(KindSentView::from(&self.deliver(order).await?))
    }

    /// Sends address cards (X13), as [`Sending::send_interactive`].
    ///
    /// # Errors
    ///
    /// [`SendError`], in the order of D33.
    pub async fn send_contacts(
        &self,
        caller: &Caller,
        body: impl IntoBody<SendContacts>,
    ) -> Result<KindSentView, Error<SendError>> {
        let body = self.begin(caller, body, &["contacts"])?;
        let (draft, to) = SendContacts::parse(&body).map_err(invalid)?.split();
        let order = self.order(caller, CardsDraft::content(draft), to).await?;
        Ok(KindSentView::from(&self.deliver(order).await?))
    }

    /// Reacts to a message, changes the reaction, or withdraws it (X7, X13). There is one message
    /// for all reactions of the company to one message.
    ///
    /// # Errors
    ///
    /// [`SendError::MessageNotFound`]; then as [`Sending::send_interactive`].
    pub async fn send_reaction(
        &self,
        caller: &Caller,
        body: impl IntoBody<SendReaction>,
    ) -> Result<KindSentView, Error<SendError>> {
        caller.require(Scope::MessagesSend)?;
        let body = &*body.into_map();
        let mut missing = Vec::new();
        if is_missing(body, "message_id") {
            missing.push("message_id");
        }
        if !body.contains_key("emoji") {
            missing.push("emoji");
        }
        if !missing.is_empty() {
            return Err(Error::Rejected(SendError::MissingField(missing)));
        }
        let SendReaction { message, emoji } = SendReaction::parse(body).map_err(invalid)?;
        let rules = |order: Order| Order { rules: SendRules::FREE_TEXT, ..order };
        Ok(KindSentView::from(&self.react(caller.company(), message, emoji, rules).await?))
    }

    /// Checks the scope, and names what is missing of the body.
    fn begin<T>(
        &self,
        caller: &Caller,
        body: impl IntoBody<T>,
        needed: &[&'static str],
    ) -> Result<Map<String, Value>, Error<SendError>> {
        caller.require(Scope::MessagesSend)?;
        let body = body.into_map().into_owned();
        require(&body, needed).map_err(Error::Rejected)?;
        Ok(body)
    }

    /// The order of the company's software for this content.
    async fn order(
        &self,
        caller: &Caller,
        content: Content,
        to: SendTo,
    ) -> Result<Order, Error<SendError>> {
        let (company, suffix) = (caller.company(), &self.app.settings().group_suffix);
        let address = SendAddress::read(to.to.as_deref(), to.contact, suffix, caller.region());
        let address = address.map_err(Error::Rejected)?;
        let quoted = self.quoted(company, to.quoted).await?;
        let (target, contact) = self.target(company, address).await?;
        let order = Order::text(company, target, to.connection, String::new());
        Ok(Order { contact, content, quoted, ..order })
    }

    /// Reacts to a message, under the rules that `change` gives its order.
    pub(crate) async fn react(
        &self,
        company: CompanyId,
        message: MessageId,
        emoji: Given<String>,
        change: impl Fn(Order) -> Order,
    ) -> Result<Delivered, Error<SendError>> {
        let (message, target) = self.message_named(company, message, "message_id").await?;
        let connection = message.connection;
        let reaction =
            ReactionContent { message: target.id, target: target.name, emoji: emoji.value() };
        let standing = reaction.target.provider_id.own_reaction(connection);
        let order = Order::text(
            company,
            SendTarget::Contact(message.contact),
            Some(connection),
            String::new(),
        );
        let order = change(Order { content: Content::Reaction(reaction), ..order });
        if self.app.store().get::<Connection>((company, connection)).await?.is_none() {
            return Err(Error::Rejected(SendError::ConnectionNotFound));
        }
        // Another reaction to the same message may be stored between the look and the intent; then
        // it is looked up again.
        let mut tries = 2;
        loop {
            tries -= 1;
            let known =
                self.app.store().referred(company, connection, std::slice::from_ref(&standing));
            let known = known.await?.into_iter().next();
            let again = known.and_then(|Referred { reference, message }| match reference.target {
                RefTarget::Message(id) => message.map(|_| id),
                RefTarget::Early { .. } | RefTarget::Forgotten { .. } => None,
            });
            match self.deliver(Order { again, ..order.clone() }).await {
                Err(Error::Rejected(SendError::ClaimLost)) if tries > 0 => {}
                ended => return ended,
            }
        }
    }
}

impl OfferDraft {
    /// The text in place of the offer, if one was asked for.
    ///
    /// # Errors
    ///
    /// As [`OfferDraft::offer`].
    pub(crate) fn fallback_text(&self) -> Result<Option<String>, Problems> {
        let offer = self.offer()?;
        Ok(self.fallback.map(|_| offer.as_numbered_text()))
    }
}
