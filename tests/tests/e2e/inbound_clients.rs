//! The client address of an inbound call: D13.

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::hooks_in::{FORWARDED, dispatching, incoming};
use recado_tests::{
    Request, ScriptedAnswer, Setup, StoreKind, World, both_stores, join_all, unknown_id,
};

/// A world that trusts these proxies.
async fn believing(kind: StoreKind, trusted_proxies: &'static [&'static str]) -> World {
    World::with(kind, Setup { trusted_proxies, ..Setup::default() }).await
}

/// A call to an endpoint that does not exist, with these header lines.
async fn call(world: &World, lines: &[&str]) -> ScriptedAnswer {
    let mut request = Request::new("POST", incoming("nobody-has-this"));
    for line in lines {
        request = request.header(FORWARDED, *line);
    }
    world.send(request).await
}

/// Uses up the minute's allowance of the client in these header lines.
async fn use_up(world: &World, lines: &[&str]) {
    for _ in 0..10 {
        call(world, lines).await.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
    }
    call(world, lines).await.expect_limited();
}

async fn is_same(world: &World, lines: &[&str]) {
    let answer = call(world, lines).await;
    assert_eq!(answer.status, 429, "{lines:?} is the same client: {}", answer.show());
}

async fn is_other(world: &World, lines: &[&str]) {
    let answer = call(world, lines).await;
    assert_eq!(answer.status, 404, "{lines:?} is another client: {}", answer.show());
}

#[both_stores]
async fn the_header_of_a_peer_that_is_not_trusted_is_ignored(kind: StoreKind) {
    for proxies in [&[][..], &["10.0.0.0/8", "::1/128"]] {
        let world = believing(kind, proxies).await;
        for n in 0..10 {
            let forwarded = format!("198.51.100.{n}");
            call(&world, &[&forwarded]).await.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
        }
        is_same(&world, &[]).await;
        is_same(&world, &["198.51.100.77"]).await;
    }
}

#[both_stores]
async fn behind_a_trusted_proxy_the_rightmost_entry_that_is_not_trusted_counts(kind: StoreKind) {
    let world = believing(kind, &["127.0.0.1/32", "10.0.0.0/8"]).await;
    use_up(&world, &["198.51.100.7"]).await;
    is_same(&world, &["203.0.113.1, 198.51.100.7"]).await;
    is_same(&world, &["203.0.113.2,198.51.100.7 , 10.1.2.3"]).await;
    is_same(&world, &["198.51.100.7, 10.9.9.9, 10.1.2.3"]).await;
    is_other(&world, &["198.51.100.7, 203.0.113.3"]).await;
    is_other(&world, &["198.51.100.7, 203.0.113.3, 10.1.2.3"]).await;
    is_other(&world, &[]).await;
}

#[both_stores]
async fn the_proxies_are_an_option_of_the_server(kind: StoreKind) {
    let database = Database::migrated(kind);
    let args = ["--trusted-proxies", "127.0.0.1,10.0.0.0/8"];
    let process = Process::serve(&database, &args).await;
    let call = |client: String| {
        let request = Request::new("POST", incoming("nobody-has-this"));
        request.header(FORWARDED, client).send(process.addr)
    };
    for n in 0..12 {
        let answer = call(format!("198.51.100.{n}, 10.0.0.1")).await;
        answer.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
    }
    let calls = (0..40).map(|_| call("198.51.100.99, 10.0.0.2".to_owned()));
    let answers = join_all(calls.collect()).await;
    assert!(answers.iter().any(|answer| answer.status == 429), "one client is one client");
}

#[both_stores]
async fn dispatch_tells_clients_apart_in_the_same_way_with_counters_of_its_own(kind: StoreKind) {
    let world = believing(kind, &["127.0.0.1/32"]).await;
    let dispatch = |client: &'static str| {
        let request = Request::new("POST", dispatching(&unknown_id()));
        world.send(request.header(FORWARDED, client))
    };
    use_up(&world, &["198.51.100.7"]).await;
    for _ in 0..10 {
        dispatch("198.51.100.7").await.expect_hook_error(404, "TEMPLATE_NOT_FOUND");
    }
    dispatch("::ffff:198.51.100.7").await.expect_limited();
    dispatch("203.0.113.1, 198.51.100.7").await.expect_limited();
    dispatch("198.51.100.8").await.expect_hook_error(404, "TEMPLATE_NOT_FOUND");
    is_other(&world, &["198.51.100.8"]).await;
}
