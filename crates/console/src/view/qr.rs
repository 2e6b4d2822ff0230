//! QR codes as pictures in the page.

use std::fmt::Write;

use maud::{Markup, html};
use qrcode::{Color, EcLevel, QrCode};

/// The light modules around a code.
const MARGIN: usize = 4;

/// The code of a text, with what it is for; `None` for a text that is too long.
pub(crate) fn qr(text: &str, label: &str) -> Option<Markup> {
    // A code on a screen is not damaged: the lowest level of correction makes the smallest code.
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let side = code.width() + 2 * MARGIN;
    let mut dark = String::new();
    for y in 0..code.width() {
        for x in 0..code.width() {
            if code[(x, y)] == Color::Dark {
                let _ = write!(dark, "M{},{}h1v1h-1z", x + MARGIN, y + MARGIN);
            }
        }
    }
    Some(html! {
        svg.qr xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {side} {side}"))
            width="232" height="232" role="img" aria-label=(label) shape-rendering="crispEdges" {
            rect width=(side) height=(side) fill="#fff" {}
            path d=(dark) fill="#000" {}
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_a_margin_and_dark_corners_and_a_long_text_has_none() {
        let code = qr("2@abc", "Pairing").expect("it fits").into_string();
        assert!(code.contains("viewBox=\"0 0 29 29\"") && code.contains("aria-label=\"Pairing\""));
        assert!(code.contains("M4,4h1v1h-1z") && !code.contains("M3,"), "{code}");
        assert!(qr(&"x".repeat(5_000), "").is_none());
    }
}
