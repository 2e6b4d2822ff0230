//! Whose a name is that Recado gave out, and where its company is now (R460).

use super::Halts;
use crate::Cell;
use crate::dispatches::read_token;
use crate::ids::{CompanyId, ConnectionId};
use crate::inbound::EndpointSlug;
use crate::links::LinkCode;
use crate::store::StoreError;
use crate::templates::TemplateTokenHash;

/// A name in the address of a call that shows no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameGiven<'a> {
    /// The company itself: of the operator API and of media.
    Company(CompanyId),
    /// The id of a connection: of gateways' webhooks.
    Connection(&'a str),
    /// The slug of an inbound endpoint.
    Endpoint(&'a str),
    /// The token of a template.
    Template(&'a str),
    /// The code of a tracked link.
    Link(&'a str),
}

impl Halts<'_> {
    /// The company that a name is of and the cell that it was moved to; `None` if it is here, if
    /// nobody said which cell it is in, and for a name that nobody has. Reads nothing where no
    /// company was moved.
    ///
    /// R460.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn cell_of(
        &self,
        name: NameGiven<'_>,
    ) -> Result<Option<(CompanyId, Cell)>, StoreError> {
        let halted = self.app.halted().await?;
        if !halted.knows_moved() {
            return Ok(None);
        }
        let company = self.company_of(name).await?;
        Ok(company.and_then(|company| Some((company, halted.cell_of(company)?))))
    }

    async fn company_of(&self, name: NameGiven<'_>) -> Result<Option<CompanyId>, StoreError> {
        let (app, store) = (self.app, self.app.store());
        match name {
            NameGiven::Company(company) => Ok(Some(company)),
            NameGiven::Connection(id) => {
                let Some(id) = ConnectionId::parse(id) else { return Ok(None) };
                Ok(app.inbox().look_up(id).await?.map(|connection| connection.company))
            }
            NameGiven::Endpoint(slug) => {
                let Some(slug) = EndpointSlug::parse(slug) else { return Ok(None) };
                Ok(store.endpoint_by_slug(&slug).await?.map(|(_, company)| company.id))
            }
            NameGiven::Template(token) => {
                let Some(token) = read_token(token) else { return Ok(None) };
                let hash = TemplateTokenHash::of_token(app.hash_key().await?, token);
                Ok(store.template_by_token(&hash).await?.map(|(_, company)| company.id))
            }
            NameGiven::Link(code) => {
                let Some(code) = LinkCode::parse(code) else { return Ok(None) };
                let code = code.hash(app.hash_key().await?);
                Ok(store.link_by_code(&code).await?.map(|link| link.company))
            }
        }
    }
}
