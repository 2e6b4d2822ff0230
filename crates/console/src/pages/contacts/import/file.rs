//! Reading an uploaded file of CSV: its encoding, its delimiter, its lines (R287).

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};
use recado_core::ids::CompanyId;
use recado_core::imports::formula::{is_of_escaped, unescaped};
use recado_core::imports::{Row, TextEncoding, cells, delimiter};

use super::cells_held::CellsHeld;
use super::runs::Imports;

/// The most bytes of a file.
pub(super) const MAX_BYTES: usize = 20 * 1024 * 1024;
/// The most rows of a file.
pub(super) const MAX_ROWS: usize = 100_000;
/// The most cells of one record.
const MAX_COLUMNS: usize = 200;
/// The most cells of a file: each takes far more memory than its bytes.
const MAX_CELLS: usize = 2_000_000;
/// How much of a file is looked at for zero bytes.
const SAMPLE: usize = 4096;

/// A row with the line on which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) line: u64,
    pub(super) cells: Vec<String>,
}

/// A file of CSV that was read.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) names: Vec<String>,
    pub(super) lines: Vec<Line>,
    pub(super) delimiter: u8,
    /// What its cells take of the bound of the process.
    _held: CellsHeld,
}

/// Why a file cannot be imported; each has a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SheetError {
    Empty,
    TooManyRows,
    TooManyColumns,
    TooManyCells,
    /// Imports under way hold as many cells as the process may.
    Full,
    Broken,
}

impl SheetError {
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Empty => "contacts-import-empty",
            Self::TooManyRows => "contacts-import-too-many-rows",
            Self::TooManyColumns => "contacts-import-too-many-columns",
            Self::TooManyCells => "contacts-import-too-many-cells",
            Self::Full => "contacts-import-full",
            Self::Broken => "contacts-import-broken",
        }
    }
}

fn decoded(bytes: &[u8]) -> String {
    let encoding: &'static Encoding =
        match TextEncoding::of_sample(&bytes[..bytes.len().min(SAMPLE)]) {
            Some(TextEncoding::Utf16Le) => UTF_16LE,
            Some(TextEncoding::Utf16Be) => UTF_16BE,
            None => match str::from_utf8(bytes) {
                Ok(text) => return text.trim_start_matches('\u{feff}').to_owned(),
                Err(_) => WINDOWS_1252,
            },
        };
    encoding.decode(bytes).0.into_owned()
}

impl Sheet {
    /// R426. Reads a file of a company within its bounds and those of the process. A first line
    /// that names the delimiter counts, too.
    pub(super) fn read(
        bytes: &[u8],
        company: CompanyId,
        imports: &Imports,
    ) -> Result<Self, SheetError> {
        let mut held = imports.hold(company);
        let text = decoded(bytes);
        let (separator, skipped) = match delimiter::named(text.as_bytes()) {
            Some((separator, skipped)) => (separator, skipped),
            None => (delimiter::most_frequent(text.as_bytes()), 0),
        };
        let before = u64::from(skipped > 0);
        let text = text.get(skipped..).ok_or(SheetError::Broken)?;
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes());
        let mut records = reader.records();
        let first = records.next().ok_or(SheetError::Empty)?.map_err(|_| SheetError::Broken)?;
        let mut names: Vec<String> = first.iter().map(str::to_owned).collect();
        let mut cells = 0;
        let mut count = |record: &csv::StringRecord| {
            cells += record.len();
            if record.len() > MAX_COLUMNS {
                return Err(SheetError::TooManyColumns);
            }
            if cells > MAX_CELLS {
                return Err(SheetError::TooManyCells);
            }
            // Before the cells are made.
            if held.grow(imports, record.len()) { Ok(()) } else { Err(SheetError::Full) }
        };
        count(&first)?;
        let is_escaped = is_of_escaped(&names);
        let meant = |cell: &str| match str::from_utf8(unescaped(cell.as_bytes())) {
            Ok(meant) if is_escaped => meant.to_owned(),
            _ => cell.to_owned(),
        };
        names = names.iter().map(|name| meant(name)).collect();
        let mut lines = Vec::new();
        for record in records {
            if lines.len() == MAX_ROWS {
                return Err(SheetError::TooManyRows);
            }
            let record = record.map_err(|_| SheetError::Broken)?;
            count(&record)?;
            let line = before + record.position().map_or(0, |position| begin(text, position));
            lines.push(Line { line, cells: record.iter().map(&meant).collect() });
        }
        if lines.is_empty() {
            return Err(SheetError::Empty);
        }
        Ok(Self { names, lines, delimiter: separator, _held: held })
    }

    /// The body of a line, given the field of each column.
    pub(super) fn row(&self, line: &Line, fields: &[Option<String>]) -> Row {
        if line.cells.len() != self.names.len() {
            return Err(format!("has {} cells in {} columns", line.cells.len(), self.names.len()));
        }
        let named = fields.iter().zip(&line.cells);
        Ok(cells::body(named.filter_map(|(field, cell)| Some((field.as_deref()?, cell.as_str())))))
    }
}

/// The line on which a record begins: the reader reports the end of the one before, and the ends of
/// lines between them do not count as records.
fn begin(text: &str, position: &csv::Position) -> u64 {
    let from = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let between = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + between.filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Sheet, SheetError> {
        let company = CompanyId::parse("00000000-0000-0000-0000-000000000001").expect("an id");
        Sheet::read(bytes, company, &Imports::default())
    }

    fn lines(text: &[u8]) -> Vec<(u64, Vec<String>)> {
        let sheet = read(text).expect("a file");
        sheet.lines.into_iter().map(|line| (line.line, line.cells)).collect()
    }

    fn cells(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    /// R287.
    #[test]
    fn rows_have_the_lines_on_which_they_begin() {
        let text = b"nome;telefone\r\n\"Ana\r\nMaria\";1\r\n\r\nCaio;2\r\n";
        assert_eq!(lines(text), [(2, cells(&["Ana\r\nMaria", "1"])), (5, cells(&["Caio", "2"]))]);
        assert_eq!(lines(b"sep=;\na;b\nc;d\n"), [(3, cells(&["c", "d"]))]);
    }

    /// R287.
    #[test]
    fn files_of_spreadsheets_are_decoded() {
        let windows = b"nome,cidade\nJo\xe3o,S\xe3o Paulo\n";
        assert_eq!(lines(windows), [(2, cells(&["João", "São Paulo"]))]);
        let marked = "\u{feff}nome\nJoão\n";
        assert_eq!(read(marked.as_bytes()).expect("a file").names, ["nome"]);
        let wide: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(lines(&wide), [(2, cells(&["João"]))]);
    }

    /// R427.
    #[test]
    fn cells_of_an_export_lose_their_apostrophes_and_others_keep_them() {
        assert_eq!(lines(b"phone,_escaped\n'+5511987654321,\n")[0].1[0], "+5511987654321");
        assert_eq!(lines(b"phone\n'+5511987654321\n")[0].1[0], "'+5511987654321");
    }

    #[test]
    fn a_file_without_rows_is_refused() {
        assert_eq!(read(b"").expect_err("nothing"), SheetError::Empty);
        assert_eq!(read(b"nome;telefone\n").expect_err("no row"), SheetError::Empty);
    }

    /// R426.
    #[test]
    fn no_record_has_more_than_200_cells() {
        let wide = |cells: usize| vec!["a"; cells].join(",");
        let ends = |text: String| read(text.as_bytes()).map(drop);
        assert_eq!(ends(format!("{}\n{}\n", wide(200), wide(200))), Ok(()));
        assert_eq!(ends(format!("{}\na\n", wide(201))), Err(SheetError::TooManyColumns));
        assert_eq!(ends(format!("a,b\n1,2\n{}\n", wide(201))), Err(SheetError::TooManyColumns));
    }

    /// R426.
    #[test]
    fn a_file_has_at_most_2_000_000_cells() {
        let row = format!("{}\n", ",".repeat(199));
        let all = row.repeat(10_000);
        assert_eq!(read(all.as_bytes()).map(|sheet| sheet.lines.len()), Ok(9_999));
        let one_more = format!("{all}a\n");
        let refused = read(one_more.as_bytes()).map(drop);
        assert_eq!(refused, Err(SheetError::TooManyCells));
    }
}
