//! Pictures of pages for the documentation. They are written on demand.

use std::path::Path;

use super::browser::Browser;

/// The bytes that one picture may have.
const MOST: usize = 150 * 1024;

impl Browser {
    /// Whether pictures are written.
    pub(crate) fn keeps_pictures() -> bool {
        std::env::var_os("RECADO_UPDATE_SCREENSHOTS").is_some_and(|value| value == "1")
    }

    /// A window of the size that pictures have.
    pub(crate) async fn for_pictures(&self) {
        self.window(1100, 620).await;
    }

    /// Writes `docs/images/console/NAME.png` where `RECADO_UPDATE_SCREENSHOTS` asks for it.
    pub(crate) async fn keep_picture(&self, name: &str) {
        if !Self::keeps_pictures() {
            return;
        }
        self.js("scrollTo(0, 0)", serde_json::json!([])).await;
        let picture = self.picture().await;
        assert!(picture.len() <= MOST, "{name}.png has {} bytes of {MOST}", picture.len());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/images/console");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(format!("{name}.png")), picture).expect("a file");
    }
}
