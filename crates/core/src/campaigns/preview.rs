//! What a contact would get from a campaign (X16).

use serde::Serialize;

use super::personal::{NoMessage, Person, PersonalMessage, personal_message};
use super::send::fault_of;
use super::{Campaign, CampaignError, CampaignResult, Campaigns, ContactFault};
use crate::contacts::ContactRecord;
use crate::custom_fields::CustomField;
use crate::error::Error;
use crate::gateway::Content;
use crate::ids::{CampaignId, CompanyId, ContactId};
use crate::problems::Problems;
use crate::store::{RecordsExt, StoreError};
use crate::templates::{
    ButtonValue, Composed, HeaderValue, Template, TemplateValues, VariableValues,
};
#[cfg(feature = "openapi")]
use crate::templates::{ButtonValueDraft, HeaderValueDraft};

/// What a contact would get from a campaign now, whether it is in its list or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct CampaignPreview {
    /// The text; null where there is none.
    pub text: Option<String>,
    /// The variables, filled in; an empty text where there is nothing to fill in.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, String>))]
    pub variables: VariableValues,
    /// What is given for the header, filled in likewise (R354); left out where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<HeaderValueDraft>))]
    pub header: Option<HeaderValue>,
    /// What is given for the buttons, filled in likewise (R354); left out where nothing is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<ButtonValueDraft>>))]
    pub buttons: Vec<ButtonValue>,
    /// The `error_code` with which the contact would be skipped; null where it would not be.
    pub skipped: Option<ContactFault>,
}

/// What a campaign would send to a contact, and why it would not be sent (X16).
fn preview(
    template: &Template,
    campaign: &Campaign,
    (record, custom): &(ContactRecord, Vec<CustomField>),
) -> Result<CampaignPreview, Problems> {
    let person = Person::new(record, custom);
    let fault = fault_of(Some(record.contact.value()));
    let PersonalMessage { message, values } =
        personal_message(template, &campaign.values(), Some(&person));
    let (text, skipped) = match message {
        Ok(Composed { content: Content::Template(content), .. }) => (Some(content.rendered), fault),
        Ok(_) => return Err(Problems::of("template_id", "is no text")),
        Err(NoMessage::ForThis(own)) => (None, fault.or(Some(own))),
        Err(NoMessage::ForAnybody(error)) => return Err(error.problems()),
    };
    let TemplateValues { variables, header, buttons } = values;
    Ok(CampaignPreview { text, variables, header, buttons, skipped })
}

impl Campaigns<'_> {
    /// What a contact would get from a campaign now (X16). Nothing is sent or stored.
    ///
    /// # Errors
    ///
    /// [`CampaignError::NotFound`] for a campaign or contact that the company does not have;
    /// [`CampaignError::Invalid`] if its template is gone or needs what it does not have.
    pub async fn preview(
        &self,
        company: CompanyId,
        id: CampaignId,
        contact: ContactId,
    ) -> CampaignResult<CampaignPreview> {
        let store = self.app.store();
        let not_found = || Error::Rejected(CampaignError::NotFound);
        let campaign = store.get::<Campaign>((company, id)).await?.ok_or_else(not_found)?;
        let known = store.contact_record(company, contact).await?.ok_or_else(not_found)?;
        let template = store.get::<Template>((company, campaign.template)).await?;
        let shown = match template {
            Some(template) => preview(&template, &campaign, &known),
            None => Err(Problems::of("template_id", "names a template that is gone")),
        };
        shown.map_err(|problems| Error::Rejected(problems.into()))
    }

    /// What a contact fills in of what is given in a campaign; `None` where it is gone.
    pub(super) async fn person(
        &self,
        campaign: &Campaign,
        contact: ContactId,
    ) -> Result<Option<Person>, StoreError> {
        let known = self.app.store().contact_record(campaign.company, contact).await?;
        Ok(known.map(|(record, custom)| Person::new(&record, &custom)))
    }
}
