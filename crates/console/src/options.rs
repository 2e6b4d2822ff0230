//! The options of the console.

use std::sync::Arc;
use std::time::Duration;

use recado_core::accounts::SignInProvider;

use crate::last_hour::LastHour;

/// The options of the console.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConsoleOptions {
    /// Bytes of a form without files.
    pub form_bytes: usize,
    /// How long a body may take to arrive, and how long one with a file may pause.
    pub body_timeout: Duration,
    /// How many files of forms are received at once, in this process.
    pub files_at_once: usize,
    /// How many of them are of one company.
    pub files_per_company: usize,
    /// How many files are sent to browsers at once, in this process.
    pub downloads_at_once: usize,
    /// How many of them are of one company.
    pub downloads_per_company: usize,
    /// How many exports are made at once, in this process.
    pub exports_at_once: usize,
    /// How many of them are of one company.
    pub exports_per_company: usize,
    /// How many pages of one member may listen for what is new at once, in this process.
    pub live_pages_per_member: usize,
    /// How many pages may listen for what is new at once, in this process.
    pub live_pages: usize,
    /// What the process did in the last hour; without it there are no plots of it (R431).
    pub last_hour: Option<LastHour>,
    /// The provider that members may sign in with; without it they sign in by password only (R432).
    pub sign_in_provider: Option<Arc<dyn SignInProvider>>,
}

impl Default for ConsoleOptions {
    fn default() -> Self {
        Self {
            form_bytes: 1024 * 1024,
            body_timeout: Duration::from_secs(30),
            files_at_once: 8,
            files_per_company: 2,
            downloads_at_once: 64,
            downloads_per_company: 16,
            exports_at_once: 8,
            exports_per_company: 2,
            live_pages_per_member: 16,
            live_pages: 1024,
            last_hour: None,
            sign_in_provider: None,
        }
    }
}
