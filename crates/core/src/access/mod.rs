//! Access: companies, plans, API keys and their scopes, members (5, D5, D6, D10–D12).

mod actions;
mod caller;
mod client_address;
mod company;
mod entrance;
mod guesses;
mod key;
mod last_used;
mod manage;
mod member;
mod operator;
mod operator_token;
mod operator_tokens;
mod rates;
mod reads;
mod removal;
mod secret;
mod time_zone;
mod used_keys;

pub use actions::OperatorAction;
pub use caller::{Caller, Denied, Unauthorized};
pub use client_address::{ClientNet, client_address};
pub use company::{Company, CompanyDraft, CompanyPatch, Features, FeaturesPatch, Plan};
pub use entrance::Entrance;
pub use key::{ApiKey, ApiKeyView, KeyDraft, KeyHash, KeyPatch, KeySecret, NewKey, Scope, Scopes};
pub use manage::Access;
pub use member::{Member, MemberDraft, MemberPatch, Role};
pub use operator::{Operator, OperatorDenied, OperatorIdentity, OperatorRole};
pub use operator_token::{
    NewOperatorToken, OperatorSecret, OperatorToken, OperatorTokenDraft, OperatorTokenPatch,
    OperatorTokenView,
};
pub use rates::{
    Gcra, Limiter, MemoryLimiter, RateCheck, RateDecision, RateKey, decide_rates, rate_checks,
};
pub use reads::AccessReads;
pub(crate) use removal::{drop_job, remove_company_job};
pub use secret::{Secret, SecretName};
pub use time_zone::{LocalDay, TimeZone, WallTime};
pub(crate) use used_keys::UsedKeys;
