//! Cells that a spreadsheet would take for formulas.
//!
//! The file of refused lines is made to be opened in a spreadsheet, and its cells come from
//! strangers. A cell that begins like a formula gets an apostrophe before it, which the next import
//! of that file takes away again.

use std::borrow::Cow;

const MARK: u8 = b'\'';

/// A column that says of its file that its cells are escaped, as those of an export are.
pub const MARK_COLUMN: &str = "_escaped";

/// Whether the cells of a file with these columns are as [`escaped`] wrote them: a file of refused
/// lines (R175), or an export (R427).
pub fn is_of_escaped(names: &[String]) -> bool {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    has(MARK_COLUMN) || (has("_line") && has("_reason"))
}

/// Whether the cell begins like a formula, behind any number of apostrophes.
fn is_formula(cell: &[u8]) -> bool {
    let first = cell.iter().find(|byte| **byte != MARK);
    matches!(first, Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r'))
}

/// The cell as it is written.
///
/// R175.
pub fn escaped(cell: &[u8]) -> Cow<'_, [u8]> {
    if is_formula(cell) { Cow::Owned([&[MARK], cell].concat()) } else { Cow::Borrowed(cell) }
}

/// What was meant by a cell that [`escaped`] wrote, or that somebody has corrected since.
///
/// R175.
pub fn unescaped(cell: &[u8]) -> &[u8] {
    match cell.strip_prefix(&[MARK]) {
        Some(meant) if is_formula(meant) => meant,
        _ => cell,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// R175.
    #[test]
    fn what_begins_like_a_formula_is_written_as_text() {
        for cell in ["=1+1", "+5511987654321", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''+1"] {
            assert_eq!(escaped(cell.as_bytes()), format!("'{cell}").as_bytes(), "{cell:?}");
        }
        for cell in ["", "Ana", "'", "'Ana'", "1+1", "a=b", " =1"] {
            assert_eq!(escaped(cell.as_bytes()), cell.as_bytes(), "{cell:?}");
        }
    }

    /// R427.
    #[test]
    fn the_columns_tell_whether_cells_are_escaped() {
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(is_of_escaped(&names(&["phone", "_line", "_reason"])));
        assert!(is_of_escaped(&names(&["phone", MARK_COLUMN])));
        assert!(!is_of_escaped(&names(&["phone", "_line"])));
    }

    proptest! {
        /// R175.
        #[test]
        fn every_cell_is_read_as_it_was(cell in "['=+@\t\r-]{0,3}.{0,5}") {
            let written = escaped(cell.as_bytes());
            prop_assert!(!matches!(written.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')));
            prop_assert_eq!(unescaped(&written), cell.as_bytes());
        }
    }
}
