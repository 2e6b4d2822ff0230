//! A [`World`] with a template, a connection, lists of contacts and campaigns, and the API's views
//! of a campaign.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Deref;
use std::time::Duration;

use serde_json::{Value, json};

use crate::backend::{Setup, StoreKind};
use crate::http::{Request, ScriptedAnswer, text};
use crate::messaging::{mobile, with};
use crate::world::{FromStore, Tenant, World};

/// The public listing of campaigns.
pub const CAMPAIGNS: &str = "/api/v1/campaigns";
/// The public listing of the ledger.
pub const LEDGER: &str = "/api/v1/prosas/consumption";
/// The rendered text of the usual campaign.
pub const RENDERED: &str = "Olá amigos, temos novidades";

/// A world without background work: [`Campaigning::drain`] sends the messages of campaigns. The
/// gateway reports nothing on its own.
#[derive(Debug)]
pub struct Campaigning {
    /// The world.
    pub world: World,
    /// The only connection, of the official cloud kind.
    pub connection: String,
    /// An approved template with two variables.
    pub template: String,
}

impl Deref for Campaigning {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl FromStore for Campaigning {
    async fn from_store(kind: StoreKind) -> Self {
        Self::with(kind, Setup { no_background: true, ..Setup::default() }).await
    }
}

impl Campaigning {
    /// A world with these settings.
    pub async fn with(kind: StoreKind, setup: Setup) -> Self {
        let world = World::with(kind, setup).await;
        let connection = world.silent("official_cloud").await;
        let body = "Olá {{1}}, temos {{2}}";
        let template = text(&world.template("promo", "MARKETING", body).await["id"]);
        Self { world, connection, template }
    }

    /// The body that creates a campaign to a list.
    pub fn draft(&self, list: &str, more: Value) -> Value {
        let body = json!({
            "name": "Novidades", "template_id": self.template, "list_id": list,
            "variables": {"1": "amigos", "2": "novidades"}, "messages_per_second": 1000,
        });
        with(body, more)
    }

    /// Creates a campaign to a list and returns its id.
    pub async fn campaign(&self, list: &str, more: Value) -> String {
        text(&self.make("C/campaigns", self.draft(list, more)).await["id"])
    }

    /// Creates a list with these contacts and returns its id.
    pub async fn list_of(&self, contacts: &[String]) -> String {
        let list = self.list("the list").await;
        self.enlist(&list, contacts).await;
        list
    }

    /// Adds contacts to a list.
    pub async fn enlist(&self, list: &str, contacts: &[String]) {
        let path = format!("C/lists/{list}/contacts");
        self.operator("POST", &path, json!({"contact_ids": contacts})).await.expect(200);
    }

    /// Creates a contact with a phone and returns its id.
    pub async fn contact(&self, phone: &str) -> String {
        self.import(json!({"phone": phone})).await
    }

    /// Creates the first `count` contacts of [`mobile`] and returns their ids.
    pub async fn contacts(&self, count: u32) -> Vec<String> {
        let mut ids = Vec::new();
        for n in 0..count {
            ids.push(self.contact(&mobile(n)).await);
        }
        ids
    }

    /// Creates `count` contacts and a campaign to them, and returns the campaign's id and theirs.
    pub async fn campaign_to(&self, count: u32, more: Value) -> (String, Vec<String>) {
        let contacts = self.contacts(count).await;
        let list = self.list_of(&contacts).await;
        (self.campaign(&list, more).await, contacts)
    }

    /// Starts a campaign.
    pub async fn start(&self, campaign: &str) -> Value {
        let path = format!("C/campaigns/{campaign}/start");
        self.operator("POST", &path, Value::Null).await.expect(200)
    }

    /// Pauses a campaign.
    pub async fn pause(&self, campaign: &str) -> Value {
        let path = format!("C/campaigns/{campaign}/pause");
        self.operator("POST", &path, Value::Null).await.expect(200)
    }

    /// Changes a campaign.
    pub async fn change(&self, campaign: &str, body: Value) -> ScriptedAnswer {
        self.operator("PATCH", &format!("C/campaigns/{campaign}"), body).await
    }

    /// A campaign as the operator API shows it.
    pub async fn record(&self, campaign: &str) -> Value {
        self.operator_get(&format!("C/campaigns/{campaign}")).await
    }

    /// Sends everything that campaigns may send at the current time.
    pub async fn drain(&self) {
        self.world.server.drain_campaigns().await;
    }

    /// Advances the clock until a campaign is no longer running, and returns it.
    pub async fn run(&self, campaign: &str) -> Value {
        for _ in 0..2_000 {
            self.drain().await;
            let record = self.record(campaign).await;
            if record["status"] != "running" {
                return record;
            }
            self.advance(Duration::from_millis(100));
        }
        panic!("it runs and runs: {}", self.record(campaign).await);
    }

    /// Starts a campaign, advances the clock until it is no longer running, and returns it.
    pub async fn start_and_run(&self, campaign: &str) -> Value {
        self.start(campaign).await;
        self.run(campaign).await
    }

    /// All recipients of a campaign, in order.
    pub async fn recipients(&self, campaign: &str) -> Vec<Value> {
        recipients_at(self.addr, &self.us, campaign, "").await
    }

    /// The recipient of a campaign that a contact is.
    pub async fn recipient(&self, campaign: &str, contact: &str) -> Value {
        let all = self.recipients(campaign).await;
        let mut of_it = all.into_iter().filter(|one| one["contact_id"] == contact);
        let found = of_it.next().unwrap_or_else(|| panic!("{contact} is no recipient"));
        assert_eq!(of_it.next(), None, "a contact is a recipient once");
        found
    }

    /// The statuses of the recipients of a campaign, and how many have each.
    pub async fn statuses(&self, campaign: &str) -> BTreeMap<String, usize> {
        let mut statuses = BTreeMap::new();
        for one in self.recipients(campaign).await {
            *statuses.entry(text(&one["status"])).or_default() += 1;
        }
        statuses
    }

    /// All lines of our company's ledger, newest first, and its totals in millionths.
    pub async fn ledger(&self) -> Ledger {
        ledger_at(self.addr, &self.us).await
    }
}

/// The ledger of a company.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// Its lines, newest first.
    pub lines: Vec<Value>,
    /// The total of prosas, in millionths.
    pub prosas: i128,
    /// The total cost, in millionths.
    pub cost: i128,
}

impl Ledger {
    /// The lines of a kind.
    pub fn of(&self, kind: &str) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["kind"] == kind).collect()
    }
}

/// A decimal number of an answer, converted to millionths without rounding.
#[track_caller]
pub fn micros(number: &Value) -> i128 {
    assert!(number.is_number(), "a JSON number, not {number}");
    let written = number.to_string();
    let (sign, written) = match written.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, written.as_str()),
    };
    let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
    assert!(fraction.len() <= 6, "finer than a millionth: {written}");
    let digits = format!("{whole}{fraction:0<6}");
    sign * digits.parse::<i128>().unwrap_or_else(|_| panic!("a plain decimal: {written}"))
}

/// A JSON number with exactly these digits, which `json!` would convert to floating point.
pub fn exact(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// All recipients of a campaign that match a query such as `status=sent`, in order.
pub async fn recipients_at(
    addr: SocketAddr,
    tenant: &Tenant,
    campaign: &str,
    query: &str,
) -> Vec<Value> {
    let path = format!("{CAMPAIGNS}/{campaign}/recipients?{query}");
    let (all, total, _) = pages(addr, tenant, &path, |body| body["total"].clone()).await;
    assert_eq!(all.len(), total, "the total is exact");
    all
}

/// The ledger of a company.
pub async fn ledger_at(addr: SocketAddr, tenant: &Tenant) -> Ledger {
    let path = format!("{LEDGER}?");
    let total = |body: &Value| body["pagination"]["total"].clone();
    let (lines, count, first) = pages(addr, tenant, &path, total).await;
    assert_eq!(lines.len(), count, "the total is exact");
    let totals = &first["totals"];
    Ledger { lines, prosas: micros(&totals["prosas"]), cost: micros(&totals["cost_brl"]) }
}

/// All items of a listing, the total of its first page, and that page.
async fn pages(
    addr: SocketAddr,
    tenant: &Tenant,
    path: &str,
    total: impl Fn(&Value) -> Value,
) -> (Vec<Value>, usize, Value) {
    let mut all = Vec::new();
    let mut first = Value::Null;
    for page in 1.. {
        let path = format!("{path}&limit=100&page={page}");
        let answer = Request::new("GET", path).bearer(&tenant.key).send(addr).await;
        answer.expect(200);
        if page == 1 {
            first = answer.json();
        }
        let items = answer.items();
        let is_last = items.len() < 100;
        all.extend(items);
        if is_last {
            break;
        }
    }
    let count = total(&first).as_u64().unwrap_or_else(|| panic!("no total in {first}"));
    (all, usize::try_from(count).expect("a number"), first)
}
