//! The form of the tokens of sessions and links: two ids and 256 random bits.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

/// The bytes of an id.
const ID: usize = 16;
/// The bytes that nobody can guess.
pub(super) const RANDOM: usize = 32;

/// Writes a token: the prefix and 86 base64url characters.
pub(super) fn write(prefix: &str, ids: [Uuid; 2], random: [u8; RANDOM]) -> String {
    let bytes = [&ids[0].as_bytes()[..], &ids[1].as_bytes()[..], &random[..]].concat();
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The ids in a token that somebody shows; `None` for a text that is no token of this prefix.
pub(super) fn ids_in(prefix: &str, presented: &str) -> Option<[Uuid; 2]> {
    let mut bytes = [0; 2 * ID + RANDOM];
    let text = presented.strip_prefix(prefix)?;
    let read = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
    let id = |at: usize| bytes[at..at + ID].try_into().ok().map(Uuid::from_bytes);
    if read == bytes.len() { Some([id(0)?, id(ID)?]) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R397.
    #[test]
    fn a_token_holds_its_ids_and_nothing_else_is_read_as_one() {
        let ids = [Uuid::from_u128(1), Uuid::from_u128(2)];
        let text = write("rs_", ids, [9; RANDOM]);
        assert_eq!(text.len(), 89);
        assert_eq!(ids_in("rs_", &text), Some(ids));
        for wrong in ["", "rs_", &text[..80], &text[3..], &format!("{text}A"), "rs_é"] {
            assert_eq!(ids_in("rs_", wrong), None, "{wrong}");
        }
        assert_eq!(ids_in("rl_", &text), None);
    }
}
