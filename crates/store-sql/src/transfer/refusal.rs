//! What is not moved, and why.

use recado_core::ids::CompanyId;

use super::stores::{Fill, Scope};

/// Why a move is not begun. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Source and target are one database.
    #[error("source and target are the same database")]
    SameDatabase,
    /// The target has companies.
    #[error("the target holds companies ({0}); an installation is moved to where none is")]
    HoldsCompanies(usize),
    /// The target has the company.
    #[error("the target holds company {0} already")]
    HoldsCompany(CompanyId),
    /// The source does not have the company.
    #[error("there is no company {0} in the source")]
    NoSuchCompany(CompanyId),
    /// Everything was to be moved while it is in use.
    #[error("only one company can be moved while it is in use")]
    NoCompany,
    /// It was moved away before.
    #[error("it was moved away before, and is closed for good")]
    MovedAway,
    /// A move of another extent is under way.
    #[error(
        "another move is under way, or was killed: finish it, or give it up by `recado resume`"
    )]
    AnotherMove,
}

/// How a target that holds these companies is filled.
///
/// R259.
///
/// # Errors
///
/// When it must not be.
pub fn fill(scope: Scope, held: &[CompanyId]) -> Result<Fill, Refusal> {
    match scope {
        _ if held.is_empty() => Ok(Fill::Anew),
        Scope::Installation => Err(Refusal::HoldsCompanies(held.len())),
        Scope::Company(company) if held.contains(&company) => Err(Refusal::HoldsCompany(company)),
        Scope::Company(_) => Ok(Fill::Beside),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// R259, D76.
    #[test]
    fn an_installation_needs_a_target_without_companies_and_a_company_one_without_itself() {
        let company = |n| CompanyId::new(Uuid::from_u128(n));
        let (one, held) = (Scope::Company(company(1)), [company(2), company(3)]);
        assert_eq!(fill(Scope::Installation, &[]), Ok(Fill::Anew));
        assert_eq!(fill(one, &[]), Ok(Fill::Anew));
        assert_eq!(fill(Scope::Installation, &held), Err(Refusal::HoldsCompanies(2)));
        assert_eq!(fill(one, &held), Ok(Fill::Beside));
        assert_eq!(fill(one, &[company(1)]), Err(Refusal::HoldsCompany(company(1))));
    }
}
