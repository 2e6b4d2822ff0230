//! The Rust blocks of the documentation, compiled and run as tests: `cargo test -p recado-docs`.
//!
//! Each block is complete, with its `use` lines. Lines that a reader does not need begin with `# `.
//! A block that needs a network is marked `rust,no_run`.
#![forbid(unsafe_code)]

#[cfg(doctest)]
mod pages {
    macro_rules! pages {
        ($($name:ident $page:literal)*) => {
            $(#[doc = include_str!(concat!("../../../", $page))]
            mod $name {})*
        };
    }

    pages! {
        readme "README.md"
        api_reference "docs/api-reference.md"
        campaigns "docs/campaigns.md"
        decisions "docs/decisions.md"
        embedding "docs/embedding.md"
        errors "docs/errors.md"
        inbound_webhooks "docs/inbound-webhooks.md"
        operations "docs/operations.md"
        operator_api "docs/operator-api.md"
        testing_your_rules "docs/testing-your-rules.md"
        webhooks "docs/webhooks.md"
        writing_a_provider "docs/writing-a-provider.md"
        writing_a_store "docs/writing-a-store.md"
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// The pages of the documentation, with their paths.
    fn pages() -> Vec<(String, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders = vec![root.join("docs")];
        let mut pages = vec![root.join("README.md")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                match path.extension() {
                    None => folders.push(path),
                    Some(kind) if kind == "md" => pages.push(path),
                    Some(_) => {}
                }
            }
        }
        let name = |path: &Path| path.strip_prefix(&root).expect("inside").display().to_string();
        pages.iter().map(|path| (name(path), fs::read_to_string(path).expect("a page"))).collect()
    }

    #[test]
    fn every_page_with_rust_is_compiled() {
        let wired = include_str!("lib.rs");
        for (path, page) in pages() {
            let compiled = wired.contains(&format!("\"{path}\""));
            assert!(compiled || !page.contains("```rust"), "{path} is not among the pages");
        }
    }

    /// The pages that documentation of crates shows, where relative links lead nowhere.
    #[test]
    fn pages_in_crates_are_links_to_those_of_the_repository_and_have_whole_links() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for guide in [
            "recado/guides/embedding.md",
            "testkit/guides/testing-your-rules.md",
            "testkit/guides/writing-a-provider.md",
            "testkit/guides/writing-a-store.md",
        ] {
            let path = root.join("crates").join(guide);
            let page = path.canonicalize().expect("a link that leads somewhere");
            assert!(page.parent().is_some_and(|folder| folder.ends_with("docs")), "{guide}");
            let text = fs::read_to_string(path).expect("a page");
            for link in text.split("](").skip(1) {
                let is_whole = link.starts_with("https://") || link.starts_with('#');
                assert!(is_whole, "{guide}: {}", link.split(')').next().unwrap_or(link));
            }
        }
    }

    #[test]
    fn no_rust_of_a_page_is_left_uncompiled() {
        for (path, page) in pages() {
            let ignored =
                page.lines().any(|line| line.starts_with("```") && line.contains("ignore"));
            assert!(!ignored, "{path} has a block that is not compiled");
        }
    }

    /// The anchor of a heading, as the usual viewers of Markdown make it.
    fn anchor(heading: &str) -> String {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
    }

    /// The text of a page outside of code.
    fn prose(page: &str) -> String {
        let mut is_code = false;
        let mut lines = Vec::new();
        for line in page.lines() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if !is_code {
                lines.push(line);
            }
        }
        lines.join("\n")
    }

    #[test]
    fn every_relative_link_leads_to_a_page_and_its_heading() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut dead = Vec::new();
        for (path, page) in pages() {
            let page = prose(&page);
            let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            for link in links.filter(|link| !link.contains("://") && !link.contains(' ')) {
                let (target, fragment) = link.split_once('#').unwrap_or((link, ""));
                let folder = root.join(&path).parent().expect("a folder").to_owned();
                let file = if target.is_empty() { root.join(&path) } else { folder.join(target) };
                let is_heading = |text: &str| {
                    let headings = text.lines().filter(|line| line.starts_with('#'));
                    headings
                        .map(|line| anchor(line.trim_start_matches('#').trim()))
                        .any(|found| found == fragment)
                };
                let leads = match fs::read_to_string(&file) {
                    Ok(text) => fragment.is_empty() || is_heading(&prose(&text)),
                    Err(_) => file.exists() && fragment.is_empty(),
                };
                if !leads {
                    dead.push(format!("{path}: {link}"));
                }
            }
        }
        assert!(dead.is_empty(), "{dead:#?}");
    }

    #[test]
    fn every_page_is_in_the_contents_of_its_site() {
        let contents = |path: &str| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            fs::read_to_string(root.join(path)).expect("contents")
        };
        let (english, portuguese) =
            (contents("docs/SUMMARY.md"), contents("docs/pt-BR/SUMMARY.md"));
        for (path, _) in pages() {
            let (contents, page) = match path.strip_prefix("docs/pt-BR/") {
                Some(page) => (&portuguese, page),
                None => (&english, path.strip_prefix("docs/").unwrap_or("README.md")),
            };
            let listed = page == "SUMMARY.md" || contents.contains(&format!("({page})"));
            assert!(listed, "{path} is in no contents");
        }
    }
}
