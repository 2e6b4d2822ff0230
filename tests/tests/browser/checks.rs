//! The harness finds what it is there to find: each check fails on a page that has the mistake.

use std::future::Future;

use serde_json::json;

use crate::harness::{Browser, Site};

const GOOD: &str = "<!doctype html><html lang=en><title>Good</title><meta name=viewport \
    content='width=device-width'><style>:focus{outline:2px \
    solid blue}</style><main><h1>Good</h1><p><a href='/a'>One</a></p><label>Name <input></label> \
    <button>Send</button></main></html>";

const BAD: &str = "<!doctype html><html><title>Bad</title><main><h1>Bad</h1><img src='/x.png'> \
    <button style='outline:none'>Send</button><div hx-get='/more'>More</div> \
    <div style='width:900px'>wide</div><p style='width:1ch;overflow-wrap:anywhere'>letters</p><script>window.pwned = 1</script></main></html>";

fn run<F: Future<Output = ()>>(test: impl FnOnce() -> F) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(test());
}

#[test]
fn a_good_page_passes_every_check() {
    run(|| async {
        let browser = Browser::at(Site::of(GOOD).await.addr).await;
        browser.phone().await;
        browser.goto("/").await;
        browser.sees("Good").await;
        assert_eq!(browser.barriers().await, Vec::<String>::new());
        assert_eq!(browser.needs_a_mouse().await, Vec::<String>::new());
        assert_eq!(browser.too_wide().await, None);
        assert_eq!(browser.squeezed().await, Vec::<String>::new());
        browser.fill("input", "Ana").await;
        assert_eq!(browser.value("input").await, "Ana");
        browser.click_named("a", "One").await;
        assert_eq!(browser.path().await, "/a");
    });
}

#[test]
fn each_check_finds_its_mistake() {
    run(|| async {
        let browser = Browser::at(Site::of(BAD).await.addr).await;
        browser.phone().await;
        browser.goto("/").await;
        let barriers = browser.barriers().await.join("\n");
        assert!(barriers.contains("image-alt") && barriers.contains("html-has-lang"), "{barriers}");
        let mouse = browser.needs_a_mouse().await.join("\n");
        assert!(mouse.contains("the focus is not seen on <button"), "{mouse}");
        assert!(mouse.contains("only a mouse clicks on <div hx-get"), "{mouse}");
        assert!(browser.too_wide().await.is_some_and(|wide| wide.contains("width:900px")));
        let squeezed = browser.squeezed().await.join("\n");
        assert!(squeezed.contains("letters"), "{squeezed}");
        assert_eq!(browser.js("return window.pwned ?? null", json!([])).await, json!(null));
        let log = browser.log().await.join("\n");
        assert!(log.contains("Content Security Policy"), "{log}");
    });
}
