//! The login of the demonstration: an owner with a password that was made here.

use recado_core::Recado;
use recado_core::access::{Company, MemberDraft, Operator};
use recado_core::ids::MemberId;
use recado_core::secret::SecretText;
use serde_json::Value;

use super::credentials::Credentials;
use super::random;
use crate::commands::{CommandError, object, refused};

/// The address that the owner signs in with.
pub(super) const EMAIL: &str = "demo@example.com";

/// R420. Makes sure that somebody can sign in to the console: at the first start a member is made
/// with a login, and after it the password of the credentials is good.
pub(super) async fn owner(
    recado: &Recado,
    company: &Company,
    credentials: &mut Credentials,
) -> Result<(), CommandError> {
    let accounts = recado.accounts();
    let logins = accounts.logins(company.id).await.map_err(refused)?;
    let known = logins.iter().find(|login| login.email.as_str() == EMAIL);
    if known.is_some_and(|login| login.has_password) && credentials.password.is_some() {
        return Ok(());
    }
    let link = match known {
        Some(login) => accounts.reset_link(&Operator::ROOT, company.id, login.member_id).await,
        None => {
            let member = member(recado, company).await?;
            let text = |text: &str| Some(Value::from(text));
            let login = object([("email", text(EMAIL)), ("role", text("owner"))]);
            accounts.invite(&Operator::ROOT, company.id, member, &login).await
        }
    };
    let link = link.map_err(refused)?;
    let password = SecretText::new(format!("{:032x}", u128::from_be_bytes(random())));
    let accepted = accounts.accept_link(link.token.expose(), password.expose()).await;
    accepted.map_err(CommandError::run)?;
    credentials.password = Some(password);
    Ok(())
}

async fn member(recado: &Recado, company: &Company) -> Result<MemberId, CommandError> {
    let draft = object([("display_name", Some(Value::from("Demo")))]);
    let draft = MemberDraft::parse(&draft).map_err(CommandError::run)?;
    let made = recado.access().create_member(company.id, draft).await;
    Ok(made.map_err(refused)?.id)
}
