//! QR codes in a terminal.

use std::io::{IsTerminal, stdout};

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};

/// Dark on light, whatever the terminal's own colours are.
const DARK_ON_LIGHT: &str = "\x1b[38;5;16;48;5;231m";
const AS_BEFORE: &str = "\x1b[0m";

/// The QR code of a text; a text that is too long for one is returned as it is.
pub(super) fn drawn(text: &str) -> String {
    match code(text, stdout().is_terminal()) {
        Some(code) => {
            format!("Scan this with the phone; it is replaced every few seconds:\n{code}")
        }
        None => format!("Make a QR code of this text, and scan it with the phone:\n{text}"),
    }
}

/// Each character shows two modules, one above the other.
fn code(text: &str, coloured: bool) -> Option<String> {
    // A code on a screen is not damaged, so the lowest level of correction, with the smallest code,
    // is enough.
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let mut renderer = code.render::<Dense1x2>();
    if coloured {
        let lines = renderer.build();
        let lines = lines.lines().map(|line| format!("{DARK_ON_LIGHT}{line}{AS_BEFORE}"));
        return Some(lines.collect::<Vec<_>>().join("\n"));
    }
    // Without colours, written characters are the light modules, as most terminals are dark.
    Some(renderer.dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_square_with_a_margin_on_every_side() {
        let code = code("2@abc", false).expect("it fits");
        let lines: Vec<Vec<char>> = code.lines().map(|line| line.chars().collect()).collect();
        let width = lines[0].len();
        assert!(lines.iter().all(|line| line.len() == width));
        // 21 modules and twice 4 of margin: 29, two in a line.
        assert_eq!((width, lines.len()), (29, 15));
        assert!(lines[..2].iter().flatten().all(|c| *c == '█'), "{code}");
        assert!(lines.iter().all(|line| line[..4] == ['█'; 4] || line[..4] == ['▀'; 4]), "{code}");
    }

    #[test]
    fn colours_end_with_each_line() {
        let code = code("2@abc", true).expect("it fits");
        assert!(code.lines().all(|l| l.starts_with(DARK_ON_LIGHT) && l.ends_with(AS_BEFORE)));
    }

    #[test]
    fn a_text_that_is_too_long_stands_for_itself() {
        let text = "x".repeat(5_000);
        assert!(drawn(&text).ends_with(&text));
    }
}
