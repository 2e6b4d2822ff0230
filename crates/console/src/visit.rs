//! Who looks at a page (R418): the only place that turns the cookie into a handle.

use http::HeaderMap;
use recado_core::access::{ClientNet, Company, Member, Operator, OperatorAction};
use recado_core::audit::OperationName;
use recado_core::store::StoreError;
use recado_core::{Error, Recado};

use crate::cookies::{Cookies, cookie};
use crate::csrf::CsrfToken;
use crate::i18n::{Language, Value};
use crate::service::Shared;
use crate::theme::Theme;

/// A signed-in member at a page.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    /// The core.
    pub(crate) recado: Recado,
    /// What the member may do.
    pub(crate) operator: Operator,
    /// The member's company; every id is looked up in it.
    pub(crate) company: Company,
    /// The member; `None` for an operator who is no member.
    pub(crate) member: Option<Member>,
    /// The language of the page.
    pub(crate) language: Language,
    /// The colours of the page.
    pub(crate) theme: Theme,
    /// What every form carries.
    pub(crate) csrf: CsrfToken,
    /// The token of the session.
    pub(crate) session: String,
}

impl Visit {
    /// R418. The visit of a request's cookie; `None` without a session, or with one that has ended,
    /// or whose company is gone. What the visit changes is written in the name of the member, in
    /// this operation (R384).
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub(crate) async fn of(
        shared: &Shared,
        headers: &HeaderMap,
        client: ClientNet,
        operation: OperationName,
    ) -> Result<Option<Self>, StoreError> {
        let installation = &shared.installation;
        let name = Cookies::of(&installation.settings().public_url).session();
        let Some(session) = cookie(headers, name) else { return Ok(None) };
        let stranger = shared.stranger(operation.clone(), client);
        let Some(signed_in) = stranger.accounts().session(session).await? else {
            return Ok(None);
        };
        let operator = signed_in.operator();
        let recado = installation.as_operator(&operator, operation, Some(client.address()));
        let company = match recado.access().company_for(&operator, signed_in.company).await {
            Ok(company) => company,
            Err(Error::Store(error)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let member = match recado.access().member(company.id, signed_in.member).await {
            Ok(member) => Some(member),
            Err(Error::Store(error)) => return Err(error),
            Err(_) => None,
        };
        Ok(Some(Self {
            operator,
            member,
            language: Language::of(cookie(headers, Language::COOKIE), headers),
            theme: Theme::of(cookie(headers, Theme::COOKIE)),
            csrf: CsrfToken::of(session),
            session: session.to_owned(),
            company,
            recado,
        }))
    }

    /// Whether the role may do this.
    pub(crate) fn may(&self, action: OperatorAction) -> bool {
        self.operator.require(action).is_ok()
    }

    /// The text of a key in the visit's language.
    pub(crate) fn t(&self, key: &str) -> String {
        self.language.text(key)
    }

    /// The text of a key with these values in it.
    pub(crate) fn t_with(&self, key: &str, values: &[(&str, Value<'_>)]) -> String {
        self.language.text_with(key, values)
    }

    /// The text of a word of an enumeration, such as `word_of("message-status", "sent")`.
    pub(crate) fn word_of(&self, group: &str, word: &str) -> String {
        self.language.word_of(group, word)
    }
}
