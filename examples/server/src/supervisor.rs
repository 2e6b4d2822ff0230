//! What the server tells a supervisor such as systemd, which then knows when it serves and when it
//! stops (`Type=notify`). Without a supervisor (`NOTIFY_SOCKET`) nothing is told.

/// The server listens, and its database has the current schema.
pub(crate) fn ready() {
    #[cfg(unix)]
    tell(&sd_notify::NotifyState::Ready);
}

/// The server stops.
pub(crate) fn stopping() {
    #[cfg(unix)]
    tell(&sd_notify::NotifyState::Stopping);
}

#[cfg(unix)]
fn tell(state: &sd_notify::NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(std::slice::from_ref(state)) {
        tracing::warn!(%error, ?state, "the supervisor cannot be notified");
    }
}
