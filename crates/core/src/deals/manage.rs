//! Managing pipelines and deals. Every change of a deal brings the focus stage of its contact up
//! to date in the same commit (2.5.1).

use async_trait::async_trait;

use super::{
    Deal, DealDraft, DealPatch, DealStatus, Pipeline, PipelineDraft, PipelinePatch, PipelineView,
    Stage, focus_stage,
};
use crate::body::IntoBody;
use crate::contacts::Contact;
use crate::error::{Error, NotFound};
use crate::ids::{CompanyId, ContactId, DealId, PipelineId, StageId};
use crate::manage::{IN_USE, ManageError, ManageResult, NOT_FOUND, invalid};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;
use crate::{Recado, Timestamp};

/// The use cases on pipelines and deals. Made by [`Recado::deals`].
#[derive(Clone, Copy, Debug)]
pub struct Deals<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Pipelines and deals.
    pub fn deals(&self) -> Deals<'_> {
        Deals { app: self }
    }
}

/// A change of a deal.
#[derive(Clone, Debug)]
enum DealChange {
    Create(DealDraft),
    Patch(DealPatch),
    Delete,
}

/// Writes a deal and its contact's focus stage. The contact is always written, so that of two
/// simultaneous changes of one contact's deals one conflicts and decides again.
#[derive(Clone, Debug)]
pub struct ChangeDeal {
    company: CompanyId,
    id: DealId,
    change: DealChange,
}

/// What [`ChangeDeal`] reads.
#[derive(Debug)]
pub struct DealFacts {
    deal: Option<Stored<Deal>>,
    contact: Option<Stored<Contact>>,
    deals: Vec<Deal>,
    stage: Option<Stored<Stage>>,
}

impl ChangeDeal {
    fn wanted_stage(&self) -> Option<StageId> {
        match &self.change {
            DealChange::Create(draft) => draft.stage_id,
            DealChange::Patch(patch) => patch.stage_id.as_ref().copied(),
            DealChange::Delete => None,
        }
    }

    /// The deal after the change; `None` when it is deleted.
    fn changed(
        &self,
        facts: &DealFacts,
        now: Timestamp,
    ) -> Result<(Option<Deal>, ChangeSet), ManageError> {
        let mut changes = ChangeSet::new();
        if self.wanted_stage().is_some() {
            match &facts.stage {
                Some(stage) => changes = changes.require(stage.unchanged()),
                None => {
                    let reason = "names a stage that the company does not have";
                    return Err(Problems::of("stage_id", reason).into());
                }
            }
        }
        match (&self.change, &facts.deal) {
            (DealChange::Create(draft), _) => {
                let deal = Deal {
                    id: self.id,
                    company: self.company,
                    contact_id: draft.contact_id,
                    title: draft.title.clone(),
                    stage_id: draft.stage_id,
                    stage_entered_at: draft.stage_id.map(|_| draft.stage_entered_at.unwrap_or(now)),
                    status: draft.status.unwrap_or(DealStatus::Open),
                    created_at: now,
                    updated_at: now,
                };
                Ok((Some(deal.clone()), changes.insert(deal)))
            }
            (_, None) => Err(ManageError::NotFound),
            (DealChange::Patch(patch), Some(stored)) => {
                let deal = patch.apply(stored, now);
                let change = stored.update(deal.clone());
                Ok((Some(deal), changes.with(change)))
            }
            (DealChange::Delete, Some(stored)) => Ok((None, changes.with(stored.delete()))),
        }
    }
}

#[async_trait]
impl UseCase for ChangeDeal {
    type Loaded = DealFacts;
    type Output = Option<Deal>;
    type Error = ManageError;

    async fn load(&self, store: &dyn Reads) -> Result<DealFacts, StoreError> {
        let deal = store.get::<Deal>((self.company, self.id)).await?;
        let contact_id = match (&self.change, &deal) {
            (DealChange::Create(draft), _) => Some(draft.contact_id),
            (_, deal) => deal.as_ref().map(|deal| deal.contact_id),
        };
        let (contact, deals) = match contact_id {
            None => (None, Vec::new()),
            Some(id) => (
                store.get::<Contact>((self.company, id)).await?,
                store.deals(self.company, Some(id)).await?,
            ),
        };
        let stage = match self.wanted_stage() {
            None => None,
            Some(id) => store.get::<Stage>((self.company, id)).await?,
        };
        Ok(DealFacts { deal, contact, deals, stage })
    }

    fn decide(
        &self,
        facts: DealFacts,
        now: Timestamp,
    ) -> Result<Decided<Option<Deal>>, ManageError> {
        if !matches!(self.change, DealChange::Create(_)) && facts.deal.is_none() {
            return Err(ManageError::NotFound);
        }
        let Some(contact) = &facts.contact else {
            let reason = "names a contact that the company does not have";
            return Err(Problems::of("contact_id", reason).into());
        };
        let (deal, changes) = self.changed(&facts, now)?;
        let others = facts.deals.iter().filter(|other| other.id != self.id);
        let focus = focus_stage(others.chain(&deal));
        let refocused = contact.changed(now, |contact| contact.pipeline_stage_id = focus);
        let changes = changes.with(contact.update(refocused));
        Ok(Decided::new(changes, deal))
    }
}

impl Deals<'_> {
    /// All deals of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> ManageResult<Vec<Deal>> {
        Ok(self.app.store().deals(company, None).await?)
    }

    /// A deal.
    ///
    /// # Errors
    ///
    /// [`NotFound`].
    pub async fn get(&self, company: CompanyId, id: DealId) -> Result<Deal, Error<NotFound>> {
        match self.app.store().get::<Deal>((company, id)).await? {
            Some(deal) => Ok(deal.into_value()),
            None => Err(Error::Rejected(NotFound)),
        }
    }

    /// Makes a deal.
    ///
    /// # Errors
    ///
    /// [`ManageError::Invalid`].
    pub async fn create(
        &self,
        company: CompanyId,
        body: impl IntoBody<DealDraft>,
    ) -> Result<Deal, Error<ManageError>> {
        let draft = DealDraft::parse(body).map_err(|problems| Error::Rejected(problems.into()))?;
        let id = DealId::new(self.app.uuid(self.app.now()));
        self.write(ChangeDeal { company, id, change: DealChange::Create(draft) }).await
    }

    /// Changes a deal.
    ///
    /// # Errors
    ///
    /// [`ManageError`].
    pub async fn change(
        &self,
        company: CompanyId,
        id: DealId,
        body: impl IntoBody<DealPatch>,
    ) -> Result<Deal, Error<ManageError>> {
        let patch = DealPatch::parse(body).map_err(|problems| Error::Rejected(problems.into()))?;
        self.write(ChangeDeal { company, id, change: DealChange::Patch(patch) }).await
    }

    async fn write(&self, change: ChangeDeal) -> Result<Deal, Error<ManageError>> {
        self.app.run(&change).await?.ok_or(Error::Rejected(ManageError::NotFound))
    }

    /// Deletes a deal.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: DealId) -> Result<(), Error<ManageError>> {
        self.app.run(&ChangeDeal { company, id, change: DealChange::Delete }).await.map(drop)
    }

    /// The deals of a contact.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn of_contact(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> ManageResult<Vec<Deal>> {
        Ok(self.app.store().deals(company, Some(contact)).await?)
    }

    /// All pipelines of a company with their stages.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn pipelines(&self, company: CompanyId) -> ManageResult<Vec<PipelineView>> {
        let store = self.app.store();
        let pipelines = store.all::<Pipeline>(company).await?;
        let stages = store.all_stored::<Stage>(company).await?;
        let stages = || stages.iter().map(Stored::value);
        Ok(pipelines.iter().map(|pipeline| PipelineView::new(pipeline, stages())).collect())
    }

    /// A pipeline with its stages.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn pipeline(&self, company: CompanyId, id: PipelineId) -> ManageResult<PipelineView> {
        let store = self.app.store();
        let Some(pipeline) = store.get::<Pipeline>((company, id)).await? else {
            return Err(NOT_FOUND);
        };
        let stages = store.all_stored::<Stage>(company).await?;
        Ok(PipelineView::new(&pipeline, stages.iter().map(Stored::value)))
    }

    /// Makes a pipeline with its stages.
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create_pipeline(
        &self,
        company: CompanyId,
        body: impl IntoBody<PipelineDraft>,
    ) -> ManageResult<PipelineView> {
        let draft = PipelineDraft::parse(body).map_err(invalid)?;
        let now = self.app.now();
        let id = PipelineId::new(self.app.uuid(now));
        let pipeline = Pipeline { id, company, name: draft.name, created_at: now };
        let stages: Vec<Stage> = (0..)
            .zip(draft.stages)
            .map(|(display_order, stage)| Stage {
                id: StageId::new(self.app.uuid(now)),
                company,
                pipeline: id,
                name: stage.name,
                color: stage.color,
                display_order,
            })
            .collect();
        let view = PipelineView::new(&pipeline, &stages);
        let changes = stages
            .into_iter()
            .fold(ChangeSet::new().insert(pipeline), |changes, stage| changes.insert(stage));
        self.app.insert_all(changes, view).await
    }

    /// Renames a pipeline.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`crate::ManageError::NotFound`].
    pub async fn change_pipeline(
        &self,
        company: CompanyId,
        id: PipelineId,
        body: impl IntoBody<PipelinePatch>,
    ) -> ManageResult<PipelineView> {
        let patch = PipelinePatch::parse(body).map_err(invalid)?;
        let store = self.app.store();
        self.app
            .change(|| store.get::<Pipeline>((company, id)), |pipeline| patch.over(pipeline))
            .await?;
        self.pipeline(company, id).await
    }

    /// Deletes a pipeline with its stages, unless a deal is in one of them (R5).
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`] or [`crate::ManageError::InUse`].
    pub async fn delete_pipeline(&self, company: CompanyId, id: PipelineId) -> ManageResult<()> {
        let store = self.app.store();
        let delete = |_| async move {
            let Some(pipeline) = store.get::<Pipeline>((company, id)).await? else {
                return Err(NOT_FOUND);
            };
            let stages: Vec<_> = store
                .all_stored::<Stage>(company)
                .await?
                .into_iter()
                .filter(|stage| stage.pipeline == id)
                .collect();
            let deals = store.deals(company, None).await?;
            let used = |stage: &Stored<Stage>| deals.iter().any(|d| d.stage_id == Some(stage.id));
            if stages.iter().any(used) {
                return Err(IN_USE);
            }
            let changes = stages
                .iter()
                .fold(ChangeSet::new(), |changes, stage| changes.with(stage.delete()))
                .with(pipeline.delete());
            Ok(Decided::new(changes, ()))
        };
        self.app.decide(delete).await
    }
}
