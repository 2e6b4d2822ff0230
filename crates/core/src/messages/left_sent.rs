//! Messages that are left at `sent` (R123): a gateway accepted them and reported nothing more.

use std::time::Duration;

use super::{Direction, Message, MessageStatus};
use crate::Timestamp;
use crate::connections::{Connection, ConnectionKind};
use crate::contacts::Contact;

/// The least age: a phone may be off for a short time.
const LEAST: Duration = Duration::from_secs(10 * 60);
/// The greatest age.
const MOST: Duration = Duration::from_hours(24);

/// The times of the messages that count at `now`, for
/// [`messages_left_sent`](super::MessageReads::messages_left_sent).
pub fn left_sent_between(now: Timestamp) -> (Timestamp, Timestamp) {
    (now.minus(MOST), now.minus(LEAST))
}

/// Whether a message, whatever its age, is left at `sent`: outbound, not from a history, to a
/// person, through a QR connection that is active and connected.
pub fn is_left_sent(message: &Message, contact: &Contact, connection: &Connection) -> bool {
    message.status == MessageStatus::Sent
        && message.direction == Direction::Outbound
        && !message.is_history
        && !contact.is_group
        && connection.kind == ConnectionKind::Qr
        && connection.is_usable()
}
