//! Runs the properties that docs/testing-your-rules.md shows.

mod windows {
    use proptest::collection::vec;
    use proptest::sample::select;
    use recado_core::templates::TemplateCategory;
    use recado_testkit::Kit;
    use serde_json::json;
    use std::time::Duration;

    recado_testkit::property! {
        /// 8, D50: advertising once a day, everything else once in ten minutes.
        #[cases(24)]
        async fn nothing_is_dispatched_twice_inside_its_window(
            category in select(TemplateCategory::ALL),
            waits in vec(0..15_u32, 1..10),
        ) {
            let kit = Kit::new().await;
            kit.connection("qr").await;
            let template = json!({ "name": "aviso", "category": category, "body": "Olá {{1}}" });
            let template = kit.template(template).await;
            let minutes = if category == TemplateCategory::Marketing { 24 * 60 } else { 10 };
            let window = Duration::from_secs(minutes * 60);
            let mut ends = kit.app.now();
            for tenths in waits {
                kit.clock.advance(window / 10 * tenths);
                let sent = kit.dispatch(&template, "+5534991230001", &["Ana"]).await.is_ok();
                assert_eq!(sent, kit.app.now() >= ends, "the window ends at {ends:?}");
                if sent {
                    ends = kit.app.now().plus(window);
                }
            }
        }
    }
}

mod focus {
    use proptest::collection::vec;
    use recado_core::deals::{Deal, DealStatus, focus_stage};
    use recado_core::strategies::deals;

    recado_testkit::property! {
        /// 2.5.1: the open deal that entered its stage last, or else the closed deal that did.
        async fn a_contact_is_in_the_stage_that_was_entered_last(deals in vec(deals(), 0..6)) {
            let (open, closed): (Vec<&Deal>, Vec<&Deal>) = deals
                .iter()
                .filter(|deal| deal.stage_id.is_some())
                .partition(|deal| deal.status == DealStatus::Open);
            let rivals = if open.is_empty() { closed } else { open };
            let latest = rivals.iter().filter_map(|deal| deal.stage_entered_at).max();
            let mut last = rivals.iter().filter(|deal| deal.stage_entered_at == latest);
            match focus_stage(&deals) {
                Some(stage) => assert!(last.any(|deal| deal.stage_id == Some(stage))),
                None => assert!(rivals.is_empty()),
            }
        }
    }
}

mod opt_outs {
    use proptest::collection::vec;
    use recado_core::strategies::texts;
    use recado_testkit::Kit;
    use serde_json::json;

    recado_testkit::property! {
        /// 3.4, D43: a contact that opted out is sent neither texts nor templates.
        #[cases(32)]
        async fn nothing_is_sent_after_an_opt_out(
            before in vec(texts(), 0..4),
            after in vec(texts(), 0..4),
        ) {
            const PHONE: &str = "+5534991230001";
            let kit = Kit::new().await;
            let connection = kit.connection("qr").await;
            let template = json!({ "name": "aviso", "category": "UTILITY", "body": "Olá {{1}}" });
            let template = kit.template(template).await;
            kit.send(PHONE, "Oi").await.expect("nobody asked to stop");
            for text in before.iter().map(String::as_str).chain(["Sair!"]) {
                kit.contact_writes(connection, &PHONE[1..], text).await;
            }
            for text in after {
                kit.contact_writes(connection, &PHONE[1..], &text).await;
                assert!(kit.send(PHONE, "Oi").await.is_err());
                assert!(kit.dispatch(&template, PHONE, &["Ana"]).await.is_err());
            }
            assert_eq!(kit.sent_texts(), ["Oi"]);
        }
    }
}

/// The Rust blocks of a page, without indentation.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line {
            line if line.starts_with("```") => {
                inside = line.starts_with("```rust");
                blocks.extend(inside.then(String::new));
            }
            line if inside => {
                let block = blocks.last_mut().expect("a block began");
                block.push_str(line.trim());
                block.push('\n');
            }
            _ => {}
        }
    }
    blocks
}

#[test]
fn the_guide_shows_what_runs_here_in_25_lines_each() {
    let guide = include_str!("../guides/testing-your-rules.md");
    let tests: String =
        include_str!("properties.rs").lines().map(|line| format!("{}\n", line.trim())).collect();
    let properties = blocks(guide).into_iter().filter(|block| block.contains(" in "));
    let mut shown = 0;
    for block in properties {
        assert!(tests.contains(&block), "this runs nowhere:\n{block}");
        let property = block.lines().skip_while(|line| !line.contains("property!"));
        assert!(property.count() <= 25, "too long:\n{block}");
        shown += 1;
    }
    assert_eq!(shown, 3);
}
