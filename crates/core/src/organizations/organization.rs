//! An organization (D22).

use serde::Serialize;

use super::{Cnpj, RegistryEntry};
use crate::Timestamp;
use crate::ids::{CompanyId, OrganizationId};

/// A client organization of a company, one per cnpj.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organization {
    /// Its id.
    pub id: OrganizationId,
    /// Its company.
    pub company: CompanyId,
    /// Its name: the cnpj until the registry answered.
    pub name: String,
    /// Its registration number.
    pub cnpj: Cnpj,
    /// Its legal name, once the registry answered.
    pub razao_social: Option<String>,
    /// When the registry answered.
    pub enriched_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Organization {
    /// An organization of which only the number is known (D22).
    pub fn new(id: OrganizationId, company: CompanyId, cnpj: Cnpj, now: Timestamp) -> Self {
        Self {
            id,
            company,
            name: cnpj.as_str().to_owned(),
            cnpj,
            razao_social: None,
            enriched_at: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// The organization with the registry's data: `name` is replaced only while it is still the
    /// cnpj (D22).
    #[must_use]
    pub fn enriched(&self, entry: &RegistryEntry, now: Timestamp) -> Self {
        let mut enriched = self.clone();
        if self.name == self.cnpj.as_str() {
            let name = entry.nome_fantasia.as_ref().or(entry.razao_social.as_ref());
            enriched.name = name.cloned().unwrap_or_else(|| self.name.clone());
        }
        enriched.razao_social.clone_from(&entry.razao_social);
        enriched.enriched_at = Some(now);
        enriched.updated_at = now;
        enriched
    }
}

/// The organization of a contact as it is shown (2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct OrganizationView {
    /// Its id.
    pub id: OrganizationId,
    /// Its name.
    pub name: String,
    /// Its registration number, 14 digits.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub cnpj: String,
    /// Its registered name.
    pub razao_social: Option<String>,
    /// When the registry was last asked about it.
    pub enriched_at: Option<Timestamp>,
}

impl From<&Organization> for OrganizationView {
    fn from(organization: &Organization) -> Self {
        Self {
            id: organization.id,
            name: organization.name.clone(),
            cnpj: organization.cnpj.as_str().to_owned(),
            razao_social: organization.razao_social.clone(),
            enriched_at: organization.enriched_at,
        }
    }
}
