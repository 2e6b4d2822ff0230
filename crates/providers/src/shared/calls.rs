//! Calls to gateways: failures of the transport, and limits.

use std::time::Duration;

use recado_core::transport::TransportError;

/// How long a connection may have been unused to serve a send: gateways close unused connections
/// after a few seconds, and a send on a closing connection has an unknown outcome.
pub(crate) const SEND_IDLE: Duration = Duration::from_secs(2);
/// How much of an answer with lists is read.
pub(crate) const MAX_ANSWER: usize = 8 * 1024 * 1024;
/// How many characters of a gateway's own text are kept.
const MAX_TEXT: usize = 500;

/// A transport's failure for people, without the address, which may hold secrets.
pub(crate) fn transport_text(error: &TransportError) -> String {
    match error {
        TransportError::InvalidUrl(_) => "the address cannot be called".to_owned(),
        other => other.to_string(),
    }
}

/// A gateway's own text, cut to the length that is kept.
pub(crate) fn clip(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

/// The text by which a message that a program sent is known: its own, that of its blocks, or the
/// caption of its file. A file is not known by what its blocks say, and a reaction is no message of
/// its own.
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) fn own_content(message: &recado_core::gateway::GatewayMessage) -> Option<String> {
    let shown = || match &message.media {
        Some(media) if message.message_type.is_file() => media.caption.clone(),
        None if message.blocks.reaction.is_none() => message.blocks.clone().tidied().content(),
        Some(_) | None => None,
    };
    message.content.clone().or_else(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        assert_eq!(clip(&"é".repeat(600)).chars().count(), MAX_TEXT);
        assert_eq!(clip("a\u{0}b\n"), "ab");
    }
}
