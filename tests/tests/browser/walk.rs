//! Every route of the console, as every role, as another company's member and as nobody. The routes
//! are those that the console lists, so that a new one is here too. R418.

use recado_console::{Access, Route};
use recado_core::access::OperatorRole;
use recado_tests::{ScriptedAnswer, StoreKind, both_stores};

use crate::office::{Office, site};
use crate::routes;
use crate::visitor::{Visitor, page};

/// What ends the session that the walk needs.
const ENDS: [&str; 2] = ["/console/sign-out", "/console/sign-in"];

/// Whether somebody with this role may use a route.
fn allows(route: &Route, role: OperatorRole) -> bool {
    match route.access() {
        Access::Open | Access::Member => true,
        Access::Action(action) => role >= action.least_role(),
    }
}

/// Asks for a route about our records. What streams is left after its head.
async fn ask(visitor: &mut Visitor, route: &Route, path: &str) -> ScriptedAnswer {
    let answer = visitor.whatever(route, path).send(visitor.addr).await;
    visitor.learn(&answer);
    answer
}

fn walked() -> impl Iterator<Item = &'static Route> {
    let once = routes::read().chain(routes::write());
    once.filter(|route| !routes::is_live(route) && !ENDS.contains(&route.path()))
}

/// R418. A role sees and does what the table says, and nothing else.
#[both_stores]
async fn each_role_has_its_routes(kind: StoreKind) {
    let office = Office::on(kind).await;
    let mut wrong = Vec::new();
    for role in OperatorRole::ALL {
        let person = office.member(*role).await;
        let mut visitor = office.visitor(&person).await;
        for route in walked() {
            let path = routes::path(route, &office.ours);
            if visitor.get("/console/account").await.status != 200 {
                // A route has ended the session, as it should.
                visitor = office.visitor(&person).await;
            }
            let answer = ask(&mut visitor, route, &path).await;
            let refused = [401, 403].contains(&answer.status);
            if refused == allows(route, *role) || answer.status >= 500 {
                wrong.push(format!("{route:?} as {role:?}: {}", answer.show()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// R418. For an owner of another company our records are missing, and stay as they are.
#[both_stores]
async fn another_companys_owner_finds_nothing(kind: StoreKind) {
    let office = Office::on(kind).await;
    let person = office.member_of(&office.theirs.tenant, OperatorRole::Owner).await;
    let before = office.world.database.rows_of(&office.ours.tenant.id).await;
    let mut wrong = Vec::new();
    let mut visitor = office.visitor(&person).await;
    for route in walked() {
        let path = routes::path(route, &office.ours);
        if visitor.get("/console/account").await.status != 200 {
            visitor = office.visitor(&person).await;
        }
        let answer = ask(&mut visitor, route, &path).await;
        let shown = page(&answer).to_lowercase();
        let is_right = if routes::names_a_record(route) {
            // A form may be found wrong before its record is looked for.
            answer.status == 404
                || (route.verb() == recado_console::Verb::Post && answer.status == 422)
        } else {
            answer.status < 500
        };
        let asked = office.ours.ids_but("").filter(|id| id.len() > 20 && !path.contains(*id));
        let leaks = asked.into_iter().any(|id| shown.contains(id));
        if !is_right || leaks || shown.contains(office.ours.word) {
            wrong.push(format!("{route:?}: {}", answer.show()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(office.world.database.rows_of(&office.ours.tenant.id).await, before);
}

/// R418. Nobody is led to the page to sign in, and sees and changes nothing.
#[both_stores]
async fn nobody_is_asked_to_sign_in(kind: StoreKind) {
    let office = Office::on(kind).await;
    let before = office.world.database.rows_of(&office.ours.tenant.id).await;
    let mut wrong = Vec::new();
    for route in routes::all() {
        let path = routes::path(route, &office.ours);
        let mut visitor = Visitor::at(site(&office.world));
        let answer = ask(&mut visitor, route, &path).await;
        let is_led = answer.status == 401
            || (answer.status == 303 && answer.header("location").starts_with("/console/sign-in"));
        let is_open = route.access() == Access::Open;
        let is_right = if is_open { answer.status < 500 } else { is_led };
        if !is_right || page(&answer).to_lowercase().contains(office.ours.word) {
            wrong.push(format!("{route:?}: {}", answer.show()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(office.world.database.rows_of(&office.ours.tenant.id).await, before);
}
