//! Managing webhooks (D52a, D54, D56, D56a).

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    MAX_WEBHOOKS, RotateSecret, Routes, SecretView, SigningSecret, Webhook, WebhookDraft,
    WebhookPatch, WebhookState, WebhookUrl, WebhookView,
};
use crate::access::{Company, Denied, Plan};
use crate::body::IntoBody;
use crate::code::Code;
use crate::deliveries::{Delivery, DeliveryView};
use crate::error::{Error, Rejection};
use crate::events::{Event, EventType};
use crate::ids::{CompanyId, DeliveryId, EventId, WebhookId};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Precondition, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;
use crate::{Recado, Timestamp};

/// How many commits a deletion makes at most to cancel pending deliveries before it answers.
const CANCELLING_COMMITS: u32 = 50;

/// Why a webhook was not written or tested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such webhook, or no such company.
    #[error("no such record")]
    NotFound,
    /// It is inactive; activate it first.
    #[error("the webhook is inactive")]
    Inactive,
    /// The company has the largest number of webhooks allowed; delete one first.
    #[error("the company has {MAX_WEBHOOKS} webhooks, and no more are kept")]
    TooMany,
    /// The company's plan does not include outbound webhooks.
    #[error("the company's plan does not include outbound webhooks")]
    Plan,
}

impl Rejection for WebhookError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::NotFound => Code::NotFound,
            Self::Inactive => Code::WebhookInactive,
            Self::TooMany => Code::TooManyWebhooks,
            Self::Plan => Code::PlanRequired,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::Plan => Denied::Plan { required: Plan::Professional }.details(),
            Self::NotFound | Self::Inactive | Self::TooMany => None,
        }
    }
}

/// What managing a webhook answers.
pub type WebhookResult<T> = Result<T, Error<WebhookError>>;

/// The use cases on webhooks. Made by [`Recado::webhooks`].
#[derive(Clone, Copy, Debug)]
pub struct Webhooks<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Outbound webhooks.
    pub fn webhooks(&self) -> Webhooks<'_> {
        Webhooks { app: self }
    }
}

fn invalid(problems: Problems) -> Error<WebhookError> {
    Error::Rejected(WebhookError::Invalid(problems))
}

/// The routes after a webhook was written, as a change of their row.
fn routed(
    changes: ChangeSet,
    routes: Option<&Stored<Routes>>,
    company: &Company,
    webhook: &Webhook,
) -> ChangeSet {
    match routes {
        Some(known) => changes.with(known.update(known.with(webhook))),
        None => changes.insert(Routes::none(company.id, company.plan).with(webhook)),
    }
}

/// Makes a webhook.
struct CreateWebhook {
    company: CompanyId,
    id: WebhookId,
    draft: WebhookDraft,
    random: [u8; 32],
}

type WebhookOwner = (Option<Stored<Company>>, Option<Stored<Routes>>);

#[async_trait]
impl UseCase for CreateWebhook {
    type Loaded = (WebhookOwner, usize);
    type Output = Webhook;
    type Error = WebhookError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let around =
            (store.get::<Company>(self.company).await?, store.get::<Routes>(self.company).await?);
        Ok((around, store.webhooks(self.company).await?.len()))
    }

    fn decide(
        &self,
        ((company, routes), count): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Webhook>, WebhookError> {
        let company = company.filter(|it| it.is_there()).ok_or(WebhookError::NotFound)?;
        if count >= MAX_WEBHOOKS {
            return Err(WebhookError::TooMany);
        }
        let webhook = self.draft.clone().into_webhook(self.company, self.id, self.random, now);
        // The routes contain whether the plan includes webhooks: it must be the plan that was read.
        let changes = ChangeSet::new().insert(webhook.clone()).require(company.unchanged());
        Ok(Decided::new(routed(changes, routes.as_ref(), &company, &webhook), webhook))
    }
}

/// Changes a webhook that is not deleted (R71).
struct ChangeWebhook<F> {
    company: CompanyId,
    id: WebhookId,
    change: F,
}

#[async_trait]
impl<F> UseCase for ChangeWebhook<F>
where
    F: Fn(&Webhook, Timestamp) -> Webhook + Send + Sync,
{
    type Loaded = (WebhookOwner, Option<Stored<Webhook>>);
    type Output = Webhook;
    type Error = WebhookError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let around =
            (store.get::<Company>(self.company).await?, store.get::<Routes>(self.company).await?);
        Ok((around, store.get::<Webhook>((self.company, self.id)).await?))
    }

    fn decide(
        &self,
        ((company, routes), webhook): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Webhook>, WebhookError> {
        let company = company.filter(|it| it.is_there()).ok_or(WebhookError::NotFound)?;
        let known = live(webhook.as_ref())?;
        let changed = (self.change)(known, now);
        if changed == *known.value() {
            return Ok(Decided::unchanged(changed));
        }
        let changes = ChangeSet::new().with(known.update(changed.clone()));
        Ok(Decided::new(routed(changes, routes.as_ref(), &company, &changed), changed))
    }
}

fn live(webhook: Option<&Stored<Webhook>>) -> Result<&Stored<Webhook>, WebhookError> {
    webhook.filter(|known| known.state != WebhookState::Deleted).ok_or(WebhookError::NotFound)
}

/// The data of `webhook.test` (D56a).
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = WebhookTestData))]
pub(crate) struct TestData {
    /// The webhook that is tested.
    webhook_id: WebhookId,
}

/// Sends a test to one webhook (D56a, R58).
struct TestWebhook {
    company: CompanyId,
    id: WebhookId,
    event: EventId,
    delivery: DeliveryId,
}

#[async_trait]
impl UseCase for TestWebhook {
    type Loaded = (Option<Stored<Routes>>, Option<Stored<Webhook>>);
    type Output = Delivery;
    type Error = WebhookError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        // Read before the webhook: the precondition on the routes then covers the webhook, which is
        // read later.
        let routes = store.get::<Routes>(self.company).await?;
        Ok((routes, store.get::<Webhook>((self.company, self.id)).await?))
    }

    fn decide(
        &self,
        (routes, webhook): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Delivery>, WebhookError> {
        let routes = routes.ok_or(WebhookError::NotFound)?;
        let webhook = live(webhook.as_ref())?;
        if !routes.fires {
            return Err(WebhookError::Plan);
        }
        if webhook.state == WebhookState::Inactive {
            return Err(WebhookError::Inactive);
        }
        let event = Event {
            id: self.event,
            company: self.company,
            event_type: EventType::WebhookTest,
            contact: None,
            at: now,
            data: serde_json::to_string(&TestData { webhook_id: self.id })
                .expect("an id can be written as JSON"),
        };
        let delivery = Delivery::new(
            self.delivery,
            self.company,
            self.id,
            self.event,
            EventType::WebhookTest,
            now,
        );
        // Every change of a webhook or of the plan writes the routes, so no lock is needed.
        let read_at = Some(routes.version());
        let changes = ChangeSet::new()
            .require(Precondition::Routed { company: self.company, read_at })
            .emit(event)
            .insert(delivery.clone());
        Ok(Decided::new(changes, delivery))
    }
}

impl Webhooks<'_> {
    /// All webhooks of a company, oldest first.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> WebhookResult<Vec<WebhookView>> {
        let now = self.app.now();
        let webhooks = self.app.store().webhooks(company).await?;
        Ok(webhooks.iter().map(|webhook| WebhookView::new(webhook, now)).collect())
    }

    /// A webhook.
    ///
    /// # Errors
    ///
    /// [`WebhookError::NotFound`].
    pub async fn get(&self, company: CompanyId, id: WebhookId) -> WebhookResult<WebhookView> {
        let webhook = self.app.store().get::<Webhook>((company, id)).await?;
        let webhook = live(webhook.as_ref()).map_err(Error::Rejected)?;
        Ok(WebhookView::new(webhook, self.app.now()))
    }

    /// Registers a webhook. Only this answer contains its secret. The address is resolved and
    /// checked (D54), on any plan (D52a).
    ///
    /// # Errors
    ///
    /// What is wrong with the body, the address included; [`WebhookError::NotFound`] when there is
    /// no such company; [`WebhookError::TooMany`].
    pub async fn create(
        &self,
        company: CompanyId,
        body: impl IntoBody<WebhookDraft>,
    ) -> WebhookResult<SecretView> {
        let draft = WebhookDraft::parse(body).map_err(invalid)?;
        self.check(&draft.url).await?;
        let id = WebhookId::new(self.app.uuid(self.app.now()));
        let make = CreateWebhook { company, id, draft, random: self.app.random() };
        Ok(SecretView::new(&self.app.run(&make).await?, self.app.now()))
    }

    /// Changes a webhook; pending deliveries use its new values.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`WebhookError::NotFound`].
    pub async fn change(
        &self,
        company: CompanyId,
        id: WebhookId,
        body: impl IntoBody<WebhookPatch>,
    ) -> WebhookResult<WebhookView> {
        let patch = WebhookPatch::parse(body).map_err(invalid)?;
        if let Some(url) = &patch.url {
            self.check(url).await?;
        }
        let change = |webhook: &Webhook, now| patch.apply(webhook, now);
        let changed = self.app.run(&ChangeWebhook { company, id, change }).await?;
        Ok(WebhookView::new(&changed, self.app.now()))
    }

    /// Deletes a webhook: nothing is sent to it any more, and pending deliveries are cancelled
    /// (D52a, R57).
    ///
    /// # Errors
    ///
    /// [`WebhookError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: WebhookId) -> WebhookResult<()> {
        let change = |webhook: &Webhook, now| Webhook {
            state: WebhookState::Deleted,
            updated_at: now,
            ..webhook.clone()
        };
        self.app.run(&ChangeWebhook { company, id, change }).await?;
        // The webhook is deleted even if this fails: the delivery worker cancels the rest.
        let _left: Result<bool, StoreError> =
            self.app.deliveries().cancel(company, id, CANCELLING_COMMITS).await;
        Ok(())
    }

    /// Replaces the secret by a given or a new one, shown this once; the old one signs beside it
    /// for 24 hours (D56).
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`WebhookError::NotFound`].
    pub async fn rotate_secret(
        &self,
        company: CompanyId,
        id: WebhookId,
        body: impl IntoBody<RotateSecret>,
    ) -> WebhookResult<SecretView> {
        let given = RotateSecret::parse(body).map_err(invalid)?.secret;
        let new = given.unwrap_or_else(|| SigningSecret::from_random(self.app.random()));
        let change = |webhook: &Webhook, now| Webhook {
            secrets: webhook.secrets.rotated(new.clone(), now),
            updated_at: now,
            ..webhook.clone()
        };
        let changed = self.app.run(&ChangeWebhook { company, id, change }).await?;
        Ok(SecretView::new(&changed, self.app.now()))
    }

    /// Sends a `webhook.test` to the webhook and to no other, whatever its subscription (D56a).
    ///
    /// # Errors
    ///
    /// [`WebhookError::NotFound`], [`WebhookError::Inactive`], [`WebhookError::Plan`].
    pub async fn test(&self, company: CompanyId, id: WebhookId) -> WebhookResult<DeliveryView> {
        let now = self.app.now();
        let (event, delivery) = (self.app.uuid(now), self.app.uuid(now));
        let (event, delivery) = (EventId::new(event), DeliveryId::new(delivery));
        let made = self.app.run(&TestWebhook { company, id, event, delivery }).await?;
        Ok(DeliveryView::new(&made))
    }

    async fn check(&self, url: &WebhookUrl) -> WebhookResult<()> {
        let checked = self.app.transport().check(url.as_str()).await;
        checked.map_err(|error| invalid(Problems::of("url", format!("cannot be used: {error}"))))
    }
}
