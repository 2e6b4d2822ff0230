//! Template dispatch: one POST with a template's token sends it to a phone, not twice inside its
//! window (4.10, 7.3, 8, D48–D51).

mod admit;
mod draft;
mod error;
mod handle;
mod reads;
mod send;
mod window;

pub(crate) use admit::read_token;
pub use admit::{AdmittedTemplate, DispatchRates, rates};
pub use draft::{DispatchDraft, reads_parameter};
pub use error::{BODY_LIMIT, DispatchError};
pub use handle::Dispatches;
pub use reads::DispatchReads;
pub use send::{DispatchAction, Dispatched};
pub use window::{
    DispatchWindow, Eligibility, ExistingSend, RESERVATION, WindowKey, WindowRule, WindowState,
    window_rule,
};
