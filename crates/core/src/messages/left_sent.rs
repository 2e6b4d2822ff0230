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
/// [`FigureQuery::left_sent`](crate::figures::FigureQuery::left_sent).
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

#[cfg(test)]
mod tests {
    use super::super::samples::{at, connection, contact, message};
    use super::*;
    use crate::connections::ConnectionStatus;

    /// R123.
    #[test]
    fn a_message_is_left_at_sent_only_where_everything_holds() {
        let (contact, connection) = (contact(), connection());
        let sent = Message { status: MessageStatus::Sent, ..message(Direction::Outbound, at(0)) };
        assert!(is_left_sent(&sent, &contact, &connection));
        let delivered = Message { status: MessageStatus::Delivered, ..sent.clone() };
        let inbound = Message { direction: Direction::Inbound, ..sent.clone() };
        let history = Message { is_history: true, ..sent.clone() };
        for message in [delivered, inbound, history] {
            assert!(!is_left_sent(&message, &contact, &connection));
        }
        let group = Contact { is_group: true, ..contact.clone() };
        assert!(!is_left_sent(&sent, &group, &connection));
        let cloud = Connection { kind: ConnectionKind::OfficialCloud, ..connection.clone() };
        let off = Connection { is_active: false, ..connection.clone() };
        let lost = Connection { status: ConnectionStatus::Disconnected, ..connection };
        for connection in [cloud, off, lost] {
            assert!(!is_left_sent(&sent, &contact, &connection));
        }
    }

    /// R123.
    #[test]
    fn messages_from_ten_minutes_to_a_day_old_count() {
        let day = 24 * 60 * 60 * 1000;
        assert_eq!(left_sent_between(at(day)), (at(0), at(day - 10 * 60 * 1000)));
    }
}
