//! The sources of a dispatch's phone and variables, and their validation: 4.10, 7.3; D46a, D49.

use recado_tests::hooks_in::dispatching;
use recado_tests::{Intake, Request, ScriptedAnswer, both_stores, mobile, text};
use serde_json::{Value, json};

const INVALID: (u16, &str) = (400, "INVALID_PAYLOAD");
const MISSING: (u16, &str) = (400, "MISSING_PHONE");

/// A template with one variable, whose text is that variable.
async fn echo(world: &Intake) -> String {
    world.silent("official_cloud").await;
    world.token("echo", "UTILITY", "<{{1}}>").await
}

/// Dispatches with a query and a body.
async fn both(world: &Intake, token: &str, query: &str, body: impl Into<String>) -> ScriptedAnswer {
    let request = Request::new("POST", format!("{}?{query}", dispatching(token)));
    world.knock(request.body(body.into())).await
}

/// The phone and the text of the message that was sent.
async fn sent(world: &Intake, answer: &ScriptedAnswer) -> (String, String) {
    let done = answer.expect_ok();
    let message = world.message(&text(&done["message_id"])).await;
    let contact = world.detail(&text(&done["contact_id"])).await;
    (text(&contact["phone"]), text(&message["content"]))
}

#[track_caller]
fn assert_refused(what: &str, answer: &ScriptedAnswer, (status, code): (u16, &str)) {
    assert_eq!(answer.status, status, "{what}: {}", answer.show());
    answer.expect_hook_error(status, code);
}

// The query.

#[both_stores]
async fn everything_may_come_in_the_query(world: Intake) {
    let token = echo(&world).await;
    for (n, name) in ["phone", "phone_number"].into_iter().enumerate() {
        let phone = mobile(u32::try_from(n).expect("small"));
        let query = format!("{name}={}&v1=Ana+Maria%20%26%20Caio", phone.replace('+', "%2B"));
        let answer = world.dispatch_query(&token, &query).await;
        assert_eq!(sent(&world, &answer).await, (phone, "<Ana Maria & Caio>".to_owned()));
    }
    let answer = world.dispatch_query(&token, "phone=(11)%2098765-4321&v1=x&utm=1&v2=y").await;
    assert_eq!(sent(&world, &answer).await.0, "+5511987654321");
}

// Body and query.

#[both_stores]
async fn a_body_that_is_not_json_is_ignored(world: Intake) {
    let token = echo(&world).await;
    let query = format!("phone={}&v1=x", mobile(1).replace('+', ""));
    for body in ["", "phone_number=5511999999999&v1=form", "{\"phone_number\": ", "x", "\0"] {
        world.advance(std::time::Duration::from_secs(600));
        let answer = both(&world, &token, &query, body).await;
        assert_eq!(sent(&world, &answer).await, (mobile(1), "<x>".to_owned()), "{body}");
    }
    assert_refused("no query", &both(&world, &token, "v1=x", "x").await, MISSING);
}

#[both_stores]
async fn a_phone_or_a_variable_that_is_no_string_is_refused(world: Intake) {
    let token = echo(&world).await;
    for body in [
        json!({"phone_number": 5_511_987_654_321_u64, "variables": {"1": "x"}}),
        json!({"phone_number": [mobile(1)], "variables": {"1": "x"}}),
        json!({"phone_number": {}, "variables": {"1": "x"}}),
        json!({"phone_number": true, "variables": {"1": "x"}}),
        json!({"phone_number": mobile(1), "variables": {"1": 5}}),
        json!({"phone_number": mobile(1), "variables": {"1": true}}),
        json!({"phone_number": mobile(1), "variables": {"1": ["x"]}}),
        json!({"phone_number": mobile(1), "variables": {"1": {}}}),
        json!({"phone_number": mobile(1), "variables": {"1": null}}),
        json!({"phone_number": mobile(1), "variables": ["x"]}),
        json!({"phone_number": mobile(1), "variables": "x"}),
    ] {
        assert_refused(&body.to_string(), &world.dispatch(&token, &body).await, INVALID);
    }
    assert!(world.list_ids("").await.is_empty());
}

// Variables.

#[both_stores]
async fn a_tag_that_was_not_substituted_is_refused(world: Intake) {
    let token = echo(&world).await;
    for value in [
        "{{nome}}",
        "{{ nome }}",
        "Olá {{nome}}!",
        "{{1}}",
        "${nome}",
        "Olá ${user.name}!",
        "[[nome]]",
        "a [[first name]] b",
        "<%nome%>",
        "Oi <%= nome %>",
        "*|FNAME|*",
        "Oi *|FNAME|* tudo",
        "{nome}",
        "{first_name}",
        "{first.name-2}",
        "%nome%",
        "%FIRST_NAME%",
        "%a.b-c%",
        "{1}",
        "%1%",
        "Oi %%NOME%%!",
        "{nome completo}",
        "{ação}",
        "[NOME]",
        "[Nome Completo]",
        "[Sim]",
        "{% if nome %}x",
        "a <<nome>> b",
        "{!$Contact.Name}",
        "Oi #{nome}",
    ] {
        let body = json!({"phone_number": mobile(1), "variables": {"1": value}});
        assert_refused(value, &world.dispatch(&token, &body).await, INVALID);
        let query = format!("phone={}&v1={}", mobile(1).replace('+', ""), percent(value));
        assert_refused(value, &world.dispatch_query(&token, &query).await, INVALID);
    }
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn a_text_that_only_looks_like_a_tag_is_sent(world: Intake) {
    let token = echo(&world).await;
    let texts =
        ["100%", "5 % 3 %", "a < b << c", "{}", "{\"a\":{\"b\":[1,2]}}", "[1, 2]", "😀 [a] b"];
    for value in texts {
        world.advance(std::time::Duration::from_secs(600));
        let body = json!({"phone_number": mobile(1), "variables": {"1": value}});
        let answer = world.dispatch(&token, &body).await;
        assert_eq!(sent(&world, &answer).await.1, format!("<{value}>"));
    }
}

// D49: a surplus variable with a literal tag is refused like any other.
#[both_stores]
async fn a_surplus_variable_is_not_sent_and_refused_with_a_tag(world: Intake) {
    let token = echo(&world).await;
    for (name, value) in [("2", "{{nome}}"), ("999", "[NOME]"), ("nome", "%%X%%"), ("01", "<<x>>")]
    {
        let variables = json!({"1": "x", name: value});
        for phone in [mobile(1), "12".to_owned()] {
            let body = json!({"phone_number": phone, "variables": variables});
            assert_refused(value, &world.dispatch(&token, &body).await, INVALID);
        }
    }
    let phone = mobile(1).replace('+', "");
    let query = format!("phone={phone}&v1=x&v2={}", percent("{nome completo}"));
    assert_refused("query", &world.dispatch_query(&token, &query).await, INVALID);
    for name in ["v0", "v01", "v1000"] {
        let query = format!("phone={phone}&v1=x&{name}={}", percent("{{nome}}"));
        assert_refused(name, &world.dispatch_query(&token, &query).await, INVALID);
    }
    assert!(world.list_ids("").await.is_empty());
    let body = json!({"phone_number": mobile(1), "variables": {"1": "x", "2": "y", "n": "z"}});
    assert_eq!(sent(&world, &world.dispatch(&token, &body).await).await.1, "<x>");
}

#[both_stores]
async fn a_missing_or_empty_variable_is_refused_before_the_phone_is_looked_at(world: Intake) {
    world.silent("official_cloud").await;
    let token = world.token("two", "UTILITY", "{{1}} {{2}} {{1}}").await;
    for variables in [
        json!({}),
        json!({"1": "x"}),
        json!({"2": "x"}),
        json!({"1": "", "2": "x"}),
        json!({"1": "x", "2": ""}),
        json!({"1": "x", "3": "x"}),
    ] {
        for phone in [mobile(1), "12".to_owned()] {
            let body = json!({"phone_number": phone, "variables": variables});
            assert_refused(&body.to_string(), &world.dispatch(&token, &body).await, INVALID);
        }
        let body = json!({"variables": variables});
        assert_refused(&body.to_string(), &world.dispatch(&token, &body).await, INVALID);
    }
    let none = world.dispatch_to(&token, &mobile(1)).await;
    assert_refused("no variables", &none, INVALID);
    let empty = world.dispatch_query(&token, "phone=11987654321&v1=a&v2=").await;
    assert_refused("an empty one", &empty, INVALID);
    assert!(world.list_ids("").await.is_empty());
}

// The phone.

#[both_stores]
async fn a_phone_is_needed(world: Intake) {
    let token = echo(&world).await;
    for body in [
        json!({"variables": {"1": "x"}}),
        json!({"variables": {"1": "x"}, "phone": mobile(1)}),
        json!({"variables": {"1": "x"}, "to": mobile(1)}),
    ] {
        assert_refused(&body.to_string(), &world.dispatch(&token, &body).await, MISSING);
    }
    assert_refused("query", &world.dispatch_query(&token, "v1=x").await, MISSING);
}

#[both_stores]
async fn a_body_in_the_query_only_needs_no_content_type_nor_a_length(world: Intake) {
    let token = echo(&world).await;
    let head = format!(
        "POST {}?phone=11987654321&v1=x HTTP/1.1\r\nhost: recado\r\n\r\n",
        dispatching(&token)
    );
    let answer = recado_tests::raw(world.addr, head.as_bytes()).await.expect("an answer");
    assert_eq!(sent(&world, &answer).await.1, "<x>");
    assert_ne!(answer.json()["wamid"], Value::Null);
}

/// A value, percent-encoded for a query.
fn percent(value: &str) -> String {
    value.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
