//! Template dispatch: one POST with a template's token sends it to a phone, not twice inside its
//! window (4.10, 7.3, 8, D48–D51).

mod admit;
mod draft;
mod error;
mod send;
mod window;

pub use admit::{AdmittedTemplate, DispatchRates, rates};
pub use draft::{DispatchDraft, reads_parameter};
pub use error::DispatchError;
pub use send::{DispatchAction, Dispatched, Dispatches};
pub use window::{
    DispatchReads, DispatchWindow, Eligibility, ExistingSend, RESERVATION, WindowKey, WindowRule,
    WindowState, window_rule,
};

/// The largest body that is read (8, D46a).
pub const BODY_LIMIT: usize = 51_200;
