//! Attributes that make tests from an async function: one test for each store.
//!
//! ```text
//! #[both_stores]
//! async fn a_slug_is_unique(world: World) { … }
//! ```
//!
//! keeps the function and adds beside it
//!
//! ```text
//! mod a_slug_is_unique {
//!     #[test]
//!     fn sqlite() {
//!         ::recado_tests::run(::recado_tests::StoreKind::Sqlite, super::a_slug_is_unique);
//!     }
//!     #[test]
//!     fn postgres() { … }
//! }
//! ```

use proc_macro::{TokenStream, TokenTree};

/// Makes the tests `name::sqlite` and `name::postgres`. The argument of the function can be of any
/// type that is made from a store (`recado_tests::FromStore`).
#[proc_macro_attribute]
pub fn both_stores(_: TokenStream, item: TokenStream) -> TokenStream {
    with_tests(item, &[("sqlite", "Sqlite"), ("postgres", "Postgres")])
}

/// Makes the test `name::postgres`, for tests that need several processes on one database.
#[proc_macro_attribute]
pub fn on_postgres(_: TokenStream, item: TokenStream) -> TokenStream {
    with_tests(item, &[("postgres", "Postgres")])
}

/// Makes the test `name::sqlite`, for tests of what does not depend on the store.
#[proc_macro_attribute]
pub fn on_sqlite(_: TokenStream, item: TokenStream) -> TokenStream {
    with_tests(item, &[("sqlite", "Sqlite")])
}

fn with_tests(item: TokenStream, stores: &[(&str, &str)]) -> TokenStream {
    let Some(function) = name_of(&item) else {
        return tokens("compile_error!(\"this attribute belongs on an async function\");");
    };
    let tests: String = stores
        .iter()
        .map(|(test, kind)| {
            format!(
                "#[test] fn {test}() {{
                    ::recado_tests::run(::recado_tests::StoreKind::{kind}, super::{function});
                }}"
            )
        })
        .collect();
    item.into_iter().chain(tokens(&format!("mod {function} {{ {tests} }}"))).collect()
}

/// The name after `fn`.
fn name_of(function: &TokenStream) -> Option<String> {
    let mut tokens = function.clone().into_iter();
    tokens.find(|token| matches!(token, TokenTree::Ident(ident) if ident.to_string() == "fn"))?;
    tokens.next().map(|name| name.to_string())
}

fn tokens(source: &str) -> TokenStream {
    source.parse().expect("the text above is Rust")
}
