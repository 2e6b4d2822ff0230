//! A company with people who sign in to the console, and records of every kind.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use recado_core::access::OperatorRole;
use recado_tests::backend::Setup;
use recado_tests::{FromStore, ScriptedAnswer, StoreKind, Tenant, World, text};
use serde_json::json;

use crate::harness::Browser;
use crate::records::Records;
use crate::visitor::Visitor;

/// The password of everybody in the tests.
pub(crate) const PASSWORD: &str = "nove sapos azuis";

/// Somebody who can sign in.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    /// The address to sign in with.
    pub(crate) email: String,
}

/// A world with two companies that have records of every kind.
#[derive(Debug)]
pub(crate) struct Office {
    /// The server and its database.
    pub(crate) world: World,
    /// Our company.
    pub(crate) ours: Records,
    /// Another one.
    pub(crate) theirs: Records,
}

impl FromStore for Office {
    async fn from_store(kind: StoreKind) -> Self {
        Self::on(kind).await
    }
}

impl Office {
    /// An office that does its background work only when it is told to.
    pub(crate) async fn on(kind: StoreKind) -> Self {
        Self::reached_at(kind, None).await
    }

    /// The same where people reach the server at another address.
    pub(crate) async fn reached_at(kind: StoreKind, public_url: Option<&'static str>) -> Self {
        let setup = Setup { no_background: true, public_url, ..Setup::default() };
        let world = World::with(kind, setup).await;
        let ours = Records::of(&world, "amarela").await;
        let theirs = Records::of(&world, "belmarca").await;
        Self { world, ours, theirs }
    }

    /// A member of our company who can sign in.
    pub(crate) async fn member(&self, role: OperatorRole) -> Person {
        self.member_of(&self.ours.tenant, role).await
    }

    /// A member of a company who can sign in.
    pub(crate) async fn member_of(&self, tenant: &Tenant, role: OperatorRole) -> Person {
        person(&self.world, tenant, role, None).await
    }

    /// What signing in is answered with.
    pub(crate) async fn signs_in(&self, visitor: &mut Visitor, person: &Person) -> ScriptedAnswer {
        self.signs_in_to(visitor, person, "").await
    }

    /// What signing in is answered with where one wanted to see a page.
    pub(crate) async fn signs_in_to(
        &self,
        visitor: &mut Visitor,
        person: &Person,
        next: &str,
    ) -> ScriptedAnswer {
        signs_in_to(visitor, person, next).await
    }

    /// Somebody who has signed in, without a browser.
    pub(crate) async fn visitor(&self, person: &Person) -> Visitor {
        visitor(&self.world, person).await
    }
}

async fn signs_in_to(visitor: &mut Visitor, person: &Person, next: &str) -> ScriptedAnswer {
    let fields = [("email", person.email.as_str()), ("password", PASSWORD), ("next", next)];
    visitor.post("/console/sign-in", &fields).await
}

/// Somebody who has signed in, without a browser.
pub(crate) async fn visitor(world: &World, person: &Person) -> Visitor {
    let mut visitor = Visitor::at(site(world));
    let answer = signs_in_to(&mut visitor, person, "").await;
    assert_eq!(answer.status, 303, "{}", answer.show());
    visitor
}

/// Where the console of a world is.
pub(crate) fn site(world: &World) -> SocketAddr {
    world.addr
}

/// A member with a login.
pub(crate) async fn person(
    world: &World,
    tenant: &Tenant,
    role: OperatorRole,
    name: Option<&str>,
) -> Person {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = name.map_or_else(|| format!("Member {n}"), str::to_owned);
    let email = format!("member{n}@example.com");
    let member = world.make_for(tenant, "C/members", json!({"display_name": name})).await;
    let id = text(&member["id"]);
    let login = json!({"email": email, "role": role.as_str()});
    let link = world.make_for(tenant, &format!("C/members/{id}/login"), login).await;
    let url = text(&link["url"]);
    let (_, token) = url.split_once('#').expect("a token");
    let accepted = world.server.recado().accounts().accept_link(token, PASSWORD).await;
    accepted.expect("the link works");
    Person { email }
}

/// A browser in which somebody has signed in, on the first page after that.
pub(crate) async fn signed_in(world: &World, person: &Person) -> Browser {
    let browser = Browser::at(site(world)).await;
    sign_in(&browser, person).await;
    browser
}

/// Signs in by the form.
pub(crate) async fn sign_in(browser: &Browser, person: &Person) {
    browser.goto("/console/sign-in").await;
    browser.fill("input[name=email]", &person.email).await;
    browser.fill("input[name=password]", PASSWORD).await;
    browser.click("main button[type=submit]").await;
    browser.find("header nav").await;
}
