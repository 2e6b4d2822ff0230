//! Managing campaigns: making, changing, listing and deleting them. Starting and pausing are in
//! [`start`](super::start).

use async_trait::async_trait;

use super::personal::{NoMessage, is_well_formed, personal_message, unknown_fields};
use super::schedule::{require_to_come, rescheduled};
use super::{
    Campaign, CampaignDraft, CampaignError, CampaignPatch, CampaignRecord, CampaignResult,
    CampaignStatus, CampaignView, Campaigns, RecipientFilter, RecipientListing,
};
use crate::Timestamp;
use crate::access::{Caller, Scope};
use crate::body::IntoBody;
use crate::connections::Connection;
use crate::custom_fields::CustomField;
use crate::error::Error;
use crate::ids::{CampaignId, CompanyId, ConnectionId, UploadId};
use crate::lists::List;
use crate::page::{Page, PageRequest};
use crate::problems::Problems;
use crate::store::{Change, ChangeSet, Collection, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::templates::{HeaderValue, Template, TemplateValues};
use crate::uploads::Upload;
use crate::use_case::UseCase;

fn invalid(problems: Problems) -> Error<CampaignError> {
    Error::Rejected(CampaignError::Invalid(problems))
}

const NOT_FOUND: Error<CampaignError> = Error::Rejected(CampaignError::NotFound);

/// The upload that a campaign's header names.
const fn upload_of(campaign: &Campaign) -> Option<UploadId> {
    match &campaign.header {
        Some(HeaderValue::Upload { media_id, .. }) => Some(*media_id),
        Some(_) | None => None,
    }
}

/// What a campaign refers to.
struct CampaignReferences {
    template: Option<Stored<Template>>,
    list: Option<Stored<List>>,
    connections: Vec<Stored<Connection>>,
    custom: Vec<CustomField>,
    /// The upload that its header names, if it is there.
    upload: Option<Stored<Upload>>,
}

impl CampaignReferences {
    async fn of(campaign: &Campaign, store: &dyn Reads) -> Result<Self, StoreError> {
        let list = store.list(campaign.company, campaign.list).await?;
        let upload = match upload_of(campaign) {
            Some(id) => store.get::<Upload>((campaign.company, id)).await?,
            None => None,
        };
        Ok(Self {
            upload: upload.filter(|upload| upload.is_there()),
            template: store.get::<Template>((campaign.company, campaign.template)).await?,
            list: list.map(|(list, _)| list),
            connections: store.all_stored::<Connection>(campaign.company).await?,
            custom: store.all::<CustomField>(campaign.company).await?,
        })
    }

    /// What is wrong with the fields of a contact that a campaign names, wherever it may name them
    /// (X16, R354, R375).
    fn field_problems(&self, values: &TemplateValues) -> Problems {
        let mut problems = Problems::new();
        let TemplateValues { variables, header, buttons } = values;
        let of_variables = variables.iter().map(|(name, text)| (name.to_string(), text.as_str()));
        let of_header = header.iter().flat_map(HeaderValue::texts);
        let of_buttons =
            buttons.iter().map(|button| (button.index.to_string(), button.given.text()));
        for (field, texts) in [
            ("variables", of_variables.collect::<Vec<_>>()),
            ("header", of_header.map(|text| ("its text".to_owned(), text)).collect()),
            ("buttons", of_buttons.collect()),
        ] {
            let wrong = texts.iter().filter(|(_, text)| !is_well_formed(text));
            let wrong: Vec<&str> = wrong.map(|(at, _)| at.as_str()).collect();
            if !wrong.is_empty() {
                let reason = "has a field that is not closed, or a default with a brace or a tag";
                problems.add(field, format!("{reason}, at {}", wrong.join(", ")));
            }
            let texts = texts.iter().map(|(_, text)| *text);
            let unknown: Vec<String> = unknown_fields(texts, &self.custom).into_iter().collect();
            if !unknown.is_empty() {
                problems.add(field, format!("has unknown fields: {}", unknown.join(", ")));
            }
        }
        problems
    }

    /// References of a campaign to records that do not exist or do not fit together (R377).
    /// `before` is the campaign before the change: records that it names already may have been
    /// deleted since.
    fn problems(&self, campaign: &Campaign, before: Option<&Campaign>) -> Problems {
        let mut problems = Problems::new();
        let is_new_list = before.is_none_or(|before| before.list != campaign.list);
        if is_new_list && !self.list.as_ref().is_some_and(|list| list.is_active) {
            problems
                .add("list_id", "names a list that the company does not have, or an inactive one");
        }
        let is_known = |id: ConnectionId| self.connections.iter().any(|known| known.id == id);
        let is_new = |id: ConnectionId| before.and_then(|before| before.connection) != Some(id);
        if campaign.connection.is_some_and(|id| is_new(id) && !is_known(id)) {
            problems.add("connection_id", "names a connection that the company does not have");
        }
        let is_new_header = before.is_none_or(|before| before.header != campaign.header);
        if is_new_header && upload_of(campaign).is_some() && self.upload.is_none() {
            problems.add("header", "names an upload that the company does not have");
        }
        let is_same = |before: &Campaign| {
            (before.template, before.values(), before.connection)
                == (campaign.template, campaign.values(), campaign.connection)
        };
        if before.is_some_and(is_same) {
            return problems;
        }
        problems.merge(self.field_problems(&campaign.values()));
        match &self.template {
            None => {
                problems.add("template_id", "names a template that the company does not have");
            }
            Some(template) => {
                let usual = personal_message(template, &campaign.values(), None);
                if let Err(NoMessage::ForAnybody(error)) = usual.message {
                    problems.merge(error.problems());
                }
                if template.connection.is_some()
                    && campaign.connection.is_some()
                    && template.connection != campaign.connection
                {
                    problems.add("connection_id", "is not the one that the template is bound to");
                }
            }
        }
        problems
    }
}

/// Makes a campaign.
struct CreateCampaign {
    company: CompanyId,
    id: CampaignId,
    draft: CampaignDraft,
}

#[async_trait]
impl UseCase for CreateCampaign {
    type Loaded = CampaignReferences;
    type Output = Campaign;
    type Error = CampaignError;

    async fn load(&self, store: &dyn Reads) -> Result<CampaignReferences, StoreError> {
        let now = Timestamp::MIN;
        let campaign = self.draft.clone().into_campaign(self.company, self.id, now);
        CampaignReferences::of(&campaign, store).await
    }

    fn decide(
        &self,
        around: CampaignReferences,
        now: Timestamp,
    ) -> Result<Decided<Campaign>, CampaignError> {
        let campaign = self.draft.clone().into_campaign(self.company, self.id, now);
        let mut problems = around.problems(&campaign, None);
        problems.merge(require_to_come(&campaign, None, now));
        problems.into_result()?;
        Ok(Decided::new(ChangeSet::new().insert(campaign.clone()), campaign))
    }
}

/// Changes a campaign (R93).
struct ChangeCampaign {
    company: CompanyId,
    id: CampaignId,
    patch: CampaignPatch,
}

#[async_trait]
impl UseCase for ChangeCampaign {
    type Loaded = Option<(Stored<Campaign>, CampaignReferences)>;
    type Output = Campaign;
    type Error = CampaignError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let Some(campaign) = store.get::<Campaign>((self.company, self.id)).await? else {
            return Ok(None);
        };
        let changed = self.patch.apply(&campaign, campaign.updated_at);
        let around = CampaignReferences::of(&changed, store).await?;
        Ok(Some((campaign, around)))
    }

    fn decide(
        &self,
        loaded: Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Campaign>, CampaignError> {
        let (campaign, around) = loaded.ok_or(CampaignError::NotFound)?;
        let changed = rescheduled(&campaign, self.patch.apply(&campaign, now));
        if changed == *campaign.value() {
            return Ok(Decided::unchanged(changed));
        }
        if changed.list != campaign.list && campaign.has_begun() {
            return Err(CampaignError::Started);
        }
        let mut problems = around.problems(&changed, Some(&campaign));
        problems.merge(require_to_come(&changed, Some(&campaign), now));
        problems.into_result()?;
        let change = campaign.update(changed.clone());
        Ok(Decided::new(ChangeSet::new().with(change), changed))
    }
}

/// Deletes a campaign that does not run (R93).
struct DeleteCampaign {
    company: CompanyId,
    id: CampaignId,
}

#[async_trait]
impl UseCase for DeleteCampaign {
    type Loaded = Option<Stored<Campaign>>;
    type Output = ();
    type Error = CampaignError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        store.get::<Campaign>((self.company, self.id)).await
    }

    fn decide(&self, known: Self::Loaded, _: Timestamp) -> Result<Decided<()>, CampaignError> {
        let known = known.ok_or(CampaignError::NotFound)?;
        if known.status == CampaignStatus::Running {
            return Err(CampaignError::Running);
        }
        let change: Change = known.delete();
        Ok(Decided::new(ChangeSet::new().with(change), ()))
    }
}

impl Campaigns<'_> {
    /// All campaigns of the caller's company, oldest first (4.12, D58).
    ///
    /// # Errors
    ///
    /// Only [`Error::Denied`] and [`Error::Store`].
    pub async fn list(&self, caller: &Caller) -> CampaignResult<Vec<CampaignView>> {
        caller.require(Scope::MessagesRead)?;
        let campaigns = self.app.store().campaigns(caller.company()).await?;
        Ok(campaigns.iter().map(|(known, totals)| CampaignView::new(known, totals)).collect())
    }

    /// A page of the recipients of a campaign of the caller's company (4.11, 4.12, D58).
    ///
    /// # Errors
    ///
    /// [`CampaignError::NotFound`].
    pub async fn recipients_for(
        &self,
        caller: &Caller,
        id: CampaignId,
        filter: RecipientFilter,
        page: PageRequest,
    ) -> CampaignResult<RecipientListing> {
        caller.require(Scope::MessagesRead)?;
        self.recipients(caller.company(), id, filter, page).await
    }

    /// All campaigns of a company, oldest first.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> CampaignResult<Vec<CampaignRecord>> {
        let campaigns = self.app.store().campaigns(company).await?;
        Ok(campaigns.iter().map(|(known, totals)| CampaignRecord::new(known, totals)).collect())
    }

    /// A campaign.
    ///
    /// # Errors
    ///
    /// [`CampaignError::NotFound`].
    pub async fn get(&self, company: CompanyId, id: CampaignId) -> CampaignResult<CampaignRecord> {
        let campaign = self.app.store().get::<Campaign>((company, id)).await?.ok_or(NOT_FOUND)?;
        self.show(&campaign).await
    }

    /// A page of the recipients of a campaign, in the order of sending.
    ///
    /// # Errors
    ///
    /// [`CampaignError::NotFound`].
    pub async fn recipients(
        &self,
        company: CompanyId,
        id: CampaignId,
        filter: RecipientFilter,
        page: PageRequest,
    ) -> CampaignResult<RecipientListing> {
        let store = self.app.store();
        let campaign = store.get::<Campaign>((company, id)).await?.ok_or(NOT_FOUND)?;
        if !campaign.has_begun() {
            // What is stored of its list is not to be seen yet (R447).
            return Ok(RecipientListing::new(&Page::empty(), page));
        }
        let read = self.app.listing(|store| store.recipient_page(company, id, filter.status, page));
        let found = read.await?;
        Ok(RecipientListing::new(&found, page))
    }

    /// Makes a campaign, not started yet.
    ///
    /// # Errors
    ///
    /// [`CampaignError::Invalid`], which also names references to records that do not exist.
    pub async fn create(
        &self,
        company: CompanyId,
        body: impl IntoBody<CampaignDraft>,
    ) -> CampaignResult<CampaignRecord> {
        let draft = CampaignDraft::parse(body).map_err(invalid)?;
        let id = CampaignId::new(self.app.uuid(self.app.now()));
        let made = self.app.run(&CreateCampaign { company, id, draft }).await?;
        self.show(&made).await
    }

    /// Changes a campaign. The change applies to later sends. Once it has begun to send its list
    /// cannot change.
    ///
    /// # Errors
    ///
    /// [`CampaignError`], save [`CampaignError::Running`].
    pub async fn change(
        &self,
        company: CompanyId,
        id: CampaignId,
        body: impl IntoBody<CampaignPatch>,
    ) -> CampaignResult<CampaignRecord> {
        let patch = CampaignPatch::parse(body).map_err(invalid)?;
        let changed = self.app.run(&ChangeCampaign { company, id, patch }).await?;
        self.show(&changed).await
    }

    /// Deletes a campaign with its recipients, unless it is running. Its messages and its lines of
    /// the ledger stay. Many recipients go in commits of their own before (R442), the last ones
    /// first: if this fails between two, the campaign is there with fewer recipients, and a repeat
    /// completes it.
    ///
    /// # Errors
    ///
    /// [`CampaignError::NotFound`], [`CampaignError::Running`].
    pub async fn delete(&self, company: CompanyId, id: CampaignId) -> CampaignResult<()> {
        let store = self.app.store();
        let recipients = store.campaign_totals(company, id, None).await?.counts.total();
        let load = || async move {
            let known = store.get::<Campaign>((company, id)).await?;
            Ok(known.filter(|known| known.status != CampaignStatus::Running))
        };
        self.app.remove_rows(company, Collection::Campaign(id), recipients, load).await?;
        self.app.run(&DeleteCampaign { company, id }).await
    }

    pub(super) async fn show(&self, campaign: &Campaign) -> CampaignResult<CampaignRecord> {
        let (company, id) = (campaign.company, campaign.id);
        let totals = self.app.store().campaign_totals(company, id, None).await?;
        Ok(CampaignRecord::new(campaign, &totals))
    }
}
