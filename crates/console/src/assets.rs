//! The files that pages load: compiled in, and named by their content so that a browser keeps them.

use std::sync::LazyLock;

use bytes::Bytes;
use http::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use sha2::{Digest, Sha256};

use crate::body::ConsoleBody;

/// A file that pages load.
#[derive(Debug)]
pub(crate) struct Asset {
    /// The name in the path: its own, and the beginning of its hash.
    pub(crate) path: String,
    content_type: &'static str,
    bytes: &'static [u8],
}

impl Asset {
    fn new(name: &str, content_type: &'static str, bytes: &'static [u8]) -> Self {
        let hash = Sha256::digest(bytes);
        let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self { path: format!("/console/assets/{name}-{hash}"), content_type, bytes }
    }

    fn answer(&self) -> Response<ConsoleBody> {
        let response = Response::builder()
            .header(CONTENT_TYPE, self.content_type)
            .header(CACHE_CONTROL, "public, max-age=31536000, immutable");
        let body = ConsoleBody::whole(Bytes::from_static(self.bytes));
        response.body(body).expect("the headers are written in this file")
    }
}

/// A file of our own without the indentation and the lines that only explain it. No text of it goes
/// over several lines.
fn compact(text: &str) -> &'static [u8] {
    let is_code = |line: &&str| {
        let is_comment = line.starts_with("//") || line.starts_with("/*") && line.ends_with("*/");
        !line.is_empty() && !is_comment
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(is_code).collect();
    // Each file is made once, and kept as long as the program runs.
    lines.join("\n").leak().as_bytes()
}

/// The style sheet.
pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let text = concat!(
        include_str!("../assets/console.css"),
        include_str!("../assets/operation.css"),
        include_str!("../assets/thread.css"),
        include_str!("../assets/inbox.css"),
    );
    Asset::new("console.css", "text/css; charset=utf-8", compact(text))
});
/// The console's own script.
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = concat!(
        include_str!("../assets/console.js"),
        include_str!("../assets/held.js"),
        include_str!("../assets/thread.js"),
    );
    Asset::new("console.js", "text/javascript; charset=utf-8", compact(text))
});
/// htmx.
pub(crate) static HTMX: LazyLock<Asset> = LazyLock::new(|| {
    let bytes = include_bytes!("../assets/htmx.min.js");
    Asset::new("htmx.js", "text/javascript; charset=utf-8", bytes)
});

/// uPlot, which draws plots.
pub(crate) static UPLOT: LazyLock<Asset> = LazyLock::new(|| {
    let bytes = include_bytes!("../assets/vendor/uplot-1.6.32.min.js");
    Asset::new("uplot.js", "text/javascript; charset=utf-8", bytes)
});
/// The style sheet of uPlot.
pub(crate) static UPLOT_STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let bytes = include_bytes!("../assets/vendor/uplot-1.6.32.min.css");
    Asset::new("uplot.css", "text/css; charset=utf-8", bytes)
});
/// What gives the data of figures to uPlot.
pub(crate) static PLOTS: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../assets/plots.js");
    Asset::new("plots.js", "text/javascript; charset=utf-8", compact(text))
});

/// Every file.
pub(crate) fn all() -> [&'static Asset; 6] {
    [&STYLE, &SCRIPT, &HTMX, &UPLOT, &UPLOT_STYLE, &PLOTS]
}

/// The file of a name in the path.
pub(crate) fn answer(name: &str) -> Option<Response<ConsoleBody>> {
    let found = all().into_iter().find(|asset| asset.path.ends_with(name) && !name.is_empty());
    found.filter(|asset| asset.path.rsplit('/').next() == Some(name)).map(Asset::answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_our_own_is_served_without_what_only_explains_it() {
        let text = "/* a colour */\n:root {\n  --a: 1; /* why */\n}\n\n  // a rule\n  f(\"//\");\n";
        assert_eq!(compact(text), b":root {\n--a: 1; /* why */\n}\nf(\"//\");");
    }

    /// A line that is left out, or begins elsewhere, must not be within a text.
    #[test]
    fn no_text_of_a_script_of_our_own_goes_over_several_lines() {
        let scripts = [
            include_str!("../assets/console.js"),
            include_str!("../assets/held.js"),
            include_str!("../assets/thread.js"),
            include_str!("../assets/plots.js"),
        ];
        for line in scripts.iter().flat_map(|script| script.lines()) {
            let code = line.trim_start();
            let marks = code.matches('`').count();
            assert!(code.starts_with("//") || marks % 2 == 0, "{line}");
        }
    }
}
