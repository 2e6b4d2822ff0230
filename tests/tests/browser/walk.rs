//! Every route of the console, as every role, as another company's member and as nobody. The routes
//! are those that the console lists, so that a new one is here too. R418.

use recado_console::{Access, Route};
use recado_core::access::OperatorRole;
use recado_core::ids::CompanyId;
use recado_tests::{ScriptedAnswer, StoreKind, on_sqlite};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::office::{Office, site};
use crate::routes;
use crate::visitor::{Visitor, escaped, page};

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

/// R418. A role sees and does what the table says, and nothing else: what it may not do changes
/// nothing.
#[on_sqlite]
async fn each_role_has_its_routes(kind: StoreKind) {
    let office = Office::on(kind).await;
    let ours = &office.ours.tenant.id;
    let mut wrong = Vec::new();
    for role in OperatorRole::ALL {
        let person = office.member(*role).await;
        let mut visitor = office.visitor(&person).await;
        let before = office.world.database.rows_of(ours).await;
        let (allowed, refused): (Vec<_>, Vec<_>) = walked().partition(|route| allows(route, *role));
        assert_eq!(refused.is_empty(), *role == OperatorRole::Owner, "{role:?}");
        for (routes, are_refused) in [(refused, true), (allowed, false)] {
            for route in routes {
                let path = routes::path(route, &office.ours);
                if visitor.get("/console/account").await.status != 200 {
                    // A route has ended the session, as it should.
                    visitor = office.visitor(&person).await;
                }
                let answer = ask(&mut visitor, route, &path).await;
                let is_refused = [401, 403].contains(&answer.status);
                if is_refused != are_refused || answer.status >= 500 {
                    wrong.push(format!("{route:?} as {role:?}: {}", answer.show()));
                }
            }
            if are_refused {
                assert_eq!(office.world.database.rows_of(ours).await, before, "{role:?}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// R418. For an owner of another company our records are missing, and stay as they are.
#[on_sqlite]
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

/// The status of an answer whose body goes on.
async fn status(visitor: &Visitor, path: &str) -> u16 {
    let asked = visitor.request("GET", path);
    let mut stream = TcpStream::connect(visitor.addr).await.expect("it listens");
    let lines = asked.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: {}\r\n{}\r\n",
        visitor.addr,
        lines.collect::<String>()
    );
    stream.write_all(head.as_bytes()).await.expect("it reads");
    let mut line = [0; 12];
    stream.read_exact(&mut line).await.expect("an answer");
    let line = String::from_utf8_lossy(&line).into_owned();
    line.rsplit(' ').next().and_then(|code| code.parse().ok()).expect("a status")
}

/// R418, R423. What goes on while somebody listens is for the same roles as other routes. It begins
/// at no position of another company.
#[on_sqlite]
async fn who_may_listen_hears_the_own_company(kind: StoreKind) {
    let office = Office::on(kind).await;
    let company = CompanyId::new(office.ours.tenant.id.parse().expect("an id"));
    let position = office.world.server.recado().events().position_now(company).await;
    let position = escaped(&position.expect("a position"));
    let theirs = office.member_of(&office.theirs.tenant, OperatorRole::Owner).await;
    let theirs = office.visitor(&theirs).await;
    let live: Vec<&Route> = routes::read().filter(|route| routes::is_live(route)).collect();
    assert!(!live.is_empty());
    for route in live {
        let path = routes::path(route, &office.ours);
        for role in OperatorRole::ALL {
            let visitor = office.visitor(&office.member(*role).await).await;
            let expected = if allows(route, *role) { 200 } else { 403 };
            assert_eq!(status(&visitor, &path).await, expected, "{route:?} as {role:?}");
        }
        let from = format!("{path}?after={position}");
        let ours = office.visitor(&office.member(OperatorRole::Viewer).await).await;
        assert_eq!(status(&ours, &from).await, 200, "{route:?}");
        let refused = status(&theirs, &from).await;
        assert!((400..500).contains(&refused), "{route:?}: {refused}");
    }
}

/// R418. Nobody is led to the page to sign in, and sees and changes nothing.
#[on_sqlite]
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
