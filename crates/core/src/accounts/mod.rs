//! Accounts: how members log in (R394–R403, R432–R435).
//!
//! A login belongs to a member and has an e-mail address, a role of the operator API and a
//! password. Whoever signs in with it gets a session, whose token stands for the member until it
//! ends.

mod attempt_span;
mod attempts;
mod id_token;
mod link;
mod links;
mod login;
mod login_subject;
mod manage;
mod new_totp;
mod password;
mod password_rule;
mod provider;
mod provider_attempt;
mod provider_login;
mod provider_sign_in;
mod provider_step;
mod reads;
mod record_seen;
mod recovery;
mod refusal;
mod second_factor;
mod seen;
mod session;
mod sessions;
mod sign_in;
mod sign_in_state;
mod token;
mod totp;
mod turns;

pub use attempt_span::{AttemptSpan, LoginEmailHash};
pub use id_token::{Audience, IdToken, IsVerified, TokenProblem};
pub use link::{LinkPurpose, LinkToken, LinkView, LoginLink, NewLink};
pub use login::{Login, LoginDraft, LoginPatch, LoginView};
pub use login_subject::LoginSubjectHash;
pub use new_totp::NewTotp;
pub use password::{Password, PasswordHash, PasswordVerdict, Passwords};
pub use password_rule::PasswordProblem;
pub use provider::{ProviderCode, ProviderFailure, ProviderRequest, SignInProvider};
pub use provider_step::{BegunSignIn, ProviderAnswer, ProviderRefused, ProviderStep};
pub use reads::AccountReads;
pub use recovery::{RecoveryCode, RecoveryHashes};
pub use refusal::{AccountRefused, LoginRefused, SignInRefused};
pub(crate) use seen::SeenSessions;
pub use session::{NewSession, Session, SessionLimits, SessionToken, SessionView, SignedIn};
pub use sign_in_state::SignInStateHash;
pub use totp::TotpSecret;
pub(crate) use turns::Turns;

use crate::Recado;

/// The use cases on accounts. Made by [`Recado::accounts`].
#[derive(Clone, Copy, Debug)]
pub struct Accounts<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// How members log in, and their sessions.
    pub fn accounts(&self) -> Accounts<'_> {
        Accounts { app: self }
    }
}
