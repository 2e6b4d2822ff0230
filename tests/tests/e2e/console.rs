//! The console on the real server: docs/console.md.

use recado_tests::{Request, World, both_stores};

/// R418, R419.
#[both_stores]
async fn the_console_is_mounted_with_the_headers_of_its_pages(world: World) {
    let root = world.send(Request::new("GET", "/")).await;
    assert_eq!(root.status, 303, "{}", root.show());
    assert_eq!(root.header("location"), "/console");
    let page = world.send(Request::new("GET", "/console/sign-in")).await;
    assert_eq!(page.status, 200, "{}", page.show());
    assert!(page.header("content-security-policy").contains("script-src 'self'"));
    assert_eq!(page.header("cache-control"), "no-store");
    assert_ne!(page.header("x-request-id"), "");
    let inside = world.send(Request::new("GET", "/console/contacts")).await;
    assert!(inside.header("location").starts_with("/console/sign-in?next="), "{}", inside.show());
}
