use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use http::header::{COOKIE, HOST, LOCATION, SET_COOKIE};
use http::{Method, Request};
use recado_core::Clock as _;
use recado_core::access::OperatorRole;
use recado_core::accounts::{
    Audience, IdToken, IsVerified, ProviderCode, ProviderFailure, ProviderRequest, SignInProvider,
};
use recado_core::{Spawner, Work};
use recado_testkit::Kit;
use tokio::sync::{Notify, Semaphore};

use crate::ConsoleOptions;
use crate::harness::{PASSWORD, Shown, Site};

const ISSUER: &str = "https://id.example";
const HERE: &str = "/console/sign-in/oidc";

/// A provider whose answer is set beforehand.
#[derive(Debug, Default)]
struct Fake {
    asked: Mutex<Option<ProviderRequest>>,
    answer: Mutex<Option<Result<IdToken, ProviderFailure>>>,
    /// Given for each code that the provider takes, if it is slow.
    slow: Mutex<Option<Arc<Semaphore>>>,
    redeemed: Notify,
}

#[async_trait]
impl SignInProvider for Fake {
    fn name(&self) -> &str {
        "<Aurora>"
    }

    fn issuer(&self) -> &str {
        ISSUER
    }

    fn client_id(&self) -> &str {
        "recado"
    }

    async fn sign_in_url(&self, request: &ProviderRequest) -> Result<String, ProviderFailure> {
        if let Some(Err(failure)) = &*self.answer.lock().unwrap() {
            return Err(failure.clone());
        }
        *self.asked.lock().unwrap() = Some(request.clone());
        Ok(format!("{ISSUER}/authorize?state={}", request.state))
    }

    async fn redeem(&self, _: &ProviderCode) -> Result<IdToken, ProviderFailure> {
        self.redeemed.notify_one();
        let slow = self.slow.lock().unwrap().clone();
        if let Some(slow) = slow {
            slow.acquire().await.expect("it stays open").forget();
        }
        self.answer.lock().unwrap().clone().expect("an answer")
    }
}

struct World {
    site: Site,
    fake: Arc<Fake>,
}

impl World {
    async fn new() -> Self {
        Self::of(Kit::new().await)
    }

    fn of(kit: Kit) -> Self {
        let fake = Arc::new(Fake::default());
        let sign_in_provider = Some(fake.clone() as Arc<dyn SignInProvider>);
        let options = ConsoleOptions { sign_in_provider, ..ConsoleOptions::default() };
        Self { site: Site::with(kit, options), fake }
    }

    async fn get(&self, path: &str, cookies: &str) -> Shown {
        let request = Request::get(path).header(HOST, "crm.example").header(COOKIE, cookies);
        self.site.send(request, String::new()).await
    }

    /// Begins; answers the cookie with its value, and the state.
    async fn begun(&self, next: &str) -> (String, String) {
        let shown = self.get(&format!("{HERE}?next={next}"), "").await;
        assert_eq!(shown.status, 303);
        let state = self.fake.asked.lock().unwrap().as_ref().unwrap().state.clone();
        assert_eq!(shown.location(), format!("{ISSUER}/authorize?state={state}"));
        (pair(&shown, "recado-sign-in").expect("a cookie"), state)
    }

    /// What the provider says about member 0 from now on.
    fn says(&self, email: &str) {
        let now = self.site.kit.clock.now().millis() / 1000;
        let nonce = self.fake.asked.lock().unwrap().as_ref().map(|asked| asked.nonce.clone());
        *self.fake.answer.lock().unwrap() = Some(Ok(IdToken {
            iss: ISSUER.to_owned(),
            sub: "1".to_owned(),
            aud: Audience::One("recado".to_owned()),
            exp: Some(now + 300),
            iat: Some(now),
            nonce,
            email: Some(email.to_owned()),
            email_verified: IsVerified::Flag(true),
            ..IdToken::default()
        }));
    }

    fn fails(&self, failure: ProviderFailure) {
        *self.fake.answer.lock().unwrap() = Some(Err(failure));
    }
}

/// The cookie of this name that an answer sets, as a browser sends it.
fn pair(shown: &Shown, name: &str) -> Option<String> {
    let lines = shown.headers.get_all(SET_COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.filter_map(|line| line.split(';').next());
    pairs.find(|pair| pair.starts_with(&format!("{name}="))).map(str::to_owned)
}

/// R432.
#[tokio::test]
async fn without_a_provider_there_is_no_way_to_one() {
    let site = Site::new().await;
    site.get("/console/sign-in").await.lacks(HERE);
    for path in ["", "/callback?code=a&state=b", "/code"] {
        assert_eq!(site.get(&format!("{HERE}{path}")).await.status, 404, "{path}");
    }
}

/// R432, R420.
#[tokio::test]
async fn a_member_signs_in_at_the_provider_and_is_led_back() {
    let world = World::new().await;
    world.site.as_role(OperatorRole::Agent).await;
    let page = world.get("/console/sign-in?next=/console/contacts", "").await;
    page.has("Sign in with &lt;Aurora&gt;").has(&format!("{HERE}?next=%2Fconsole%2Fcontacts"));
    let (cookie, state) = world.begun("/console/contacts").await;
    world.says("member-0@example.com");
    let callback = format!("{HERE}/callback?code=a&state={state}");
    let cookies = format!("recado-session=fixed-by-somebody; {cookie}");
    let shown = world.get(&callback, &cookies).await;
    assert_eq!((shown.status.as_u16(), shown.location()), (303, "/console/contacts"));
    let session = pair(&shown, "recado-session").expect("a session");
    assert!(session.contains("rs_") && !session.contains("fixed"), "{session}");
    assert_eq!(pair(&shown, "recado-sign-in").as_deref(), Some("recado-sign-in="));
    assert_eq!(world.get("/console/account", &session).await.status, 200);
    // Who is signed in already is led on, and the answer counts once.
    assert_eq!(world.get(HERE, &session).await.location(), "/console");
    let again = world.get(&callback, &cookies).await;
    assert_eq!(again.status, 400);
    again.has("not begun in this browser");
    assert!(pair(&again, "recado-session").is_none());
}

/// R432.
#[tokio::test]
async fn what_the_browser_keeps_is_read_by_no_script_and_sent_back_from_the_provider() {
    let world = World::new().await;
    let shown = world.get(HERE, "").await;
    let line = shown.headers[SET_COOKIE].to_str().expect("a text");
    for part in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=600"] {
        assert!(line.contains(part), "{line}");
    }
    let policy = shown.headers["content-security-policy"].to_str().expect("a text");
    assert!(policy.contains("form-action 'self'"), "{policy}");
    let secure = crate::cookies::Cookies::of("https://crm.example").keep_sign_in("a");
    let secure = secure.to_str().expect("a text");
    assert!(secure.starts_with("__Host-recado-sign-in=a; Path=/; Secure; "), "{secure}");
}

/// R432.
#[tokio::test]
async fn no_other_host_is_led_to_and_no_other_browser_answers() {
    let world = World::new().await;
    world.site.as_role(OperatorRole::Agent).await;
    let (cookie, state) = world.begun("https://evil.example/console/").await;
    world.says("member-0@example.com");
    let callback = format!("{HERE}/callback?code=a&state={state}");
    for cookies in ["", "recado-sign-in=", "recado-sign-in=a.b.c"] {
        let shown = world.get(&callback, cookies).await;
        assert_eq!(shown.status, 400);
        assert!(pair(&shown, "recado-session").is_none());
    }
    let wrong = format!("{HERE}/callback?code=a&state={}", "A".repeat(43));
    assert_eq!(world.get(&wrong, &cookie).await.status, 400);
    let shown = world.get(&callback, &cookie).await;
    assert_eq!(shown.headers[LOCATION], "/console");
}

/// Runs work as tasks, as a server does.
#[derive(Debug)]
struct Tasks;

impl Spawner for Tasks {
    fn spawn(&self, work: Work) -> Work {
        let task = tokio::spawn(work);
        Box::pin(async move {
            let _ = task.await;
        })
    }
}

/// R432.
#[tokio::test]
async fn a_sign_in_whose_browser_hangs_up_at_the_callback_is_completed() {
    let world = World::of(Kit::builder().spawner(Tasks).build().await);
    let member = world.site.as_role(OperatorRole::Agent).await.member.id;
    let (kit, accounts) = (&world.site.kit, world.site.kit.app.accounts());
    let sessions = async || accounts.sessions(kit.company.id, member).await.unwrap().len();
    let before = sessions().await;
    let (cookie, state) = world.begun("/console").await;
    world.says("member-0@example.com");
    let slow = Arc::new(Semaphore::new(0));
    *world.fake.slow.lock().unwrap() = Some(slow.clone());
    let callback = format!("{HERE}/callback?code=a&state={state}");
    tokio::select! {
        _ = world.get(&callback, &cookie) => panic!("the provider has not answered"),
        () = world.fake.redeemed.notified() => {}
    }
    slow.add_permits(1);
    kit.app.installation().tasks().finished().await;
    assert_eq!(sessions().await, before + 1);
}

/// R398, R432.
#[tokio::test]
async fn who_comes_back_too_early_may_ask_for_the_same_page_again() {
    let world = World::new().await;
    world.site.as_role(OperatorRole::Agent).await;
    let (cookie, state) = world.begun("/console").await;
    world.says("member-0@example.com");
    let client = recado_core::access::ClientNet::of([0, 0, 0, 0].into());
    for n in 0..30 {
        let (accounts, email) = (world.site.kit.app.accounts(), format!("nobody-{n}@example.com"));
        accounts.sign_in(&email, PASSWORD, None, Some(client.address())).await.unwrap_err();
    }
    let callback = format!("{HERE}/callback?code=a&state={state}");
    let shown = world.get(&callback, &cookie).await;
    assert_eq!(shown.status, 429);
    assert!(pair(&shown, "recado-sign-in").is_none(), "it is kept");
    world.site.kit.clock.advance(std::time::Duration::from_secs(60));
    assert_eq!(world.get(&callback, &cookie).await.status, 303);
}

/// R433.
#[tokio::test]
async fn a_login_that_is_bound_to_the_provider_is_shown_as_one() {
    let world = World::new().await;
    let owner = world.site.owner().await;
    let list = "/console/operation/members";
    let made = owner.post(list, &[("display_name", "Ana"), ("role", "agent")]).await;
    let path = made.location().to_owned();
    let fields = [("email", "ana@example.com"), ("login_role", "agent")];
    owner.post(&format!("{path}/invite"), &fields).await;
    owner.get(list).await.has(">invited<").lacks("bound to the provider");
    let (cookie, state) = world.begun("/console").await;
    world.says("ana@example.com");
    world.get(&format!("{HERE}/callback?code=a&state={state}"), &cookie).await;
    for page in [list, path.as_str()] {
        owner.get(page).await.lacks(">invited<").has("bound to the provider");
    }
}

/// R433, R435.
#[tokio::test]
async fn a_refusal_is_said_in_words_and_tells_nothing_about_logins() {
    let world = World::new().await;
    world.site.as_role(OperatorRole::Agent).await;
    let mut texts = Vec::new();
    for (email, subject) in [("nobody@example.com", "1"), ("member-0@example.com", "2")] {
        let (cookie, state) = world.begun("/console").await;
        world.says(email);
        if subject == "2" {
            // An address that the provider has not verified.
            let mut answer = world.fake.answer.lock().unwrap();
            let Some(Ok(token)) = &mut *answer else { panic!("a token") };
            token.email_verified = IsVerified::Flag(false);
        }
        let shown = world.get(&format!("{HERE}/callback?code=a&state={state}"), &cookie).await;
        assert_eq!(shown.status, 403);
        shown.has("No login here belongs to that account").lacks(email);
        texts.push(shown.html);
    }
    assert_eq!(texts[0], texts[1]);
    let (cookie, state) = world.begun("/console").await;
    let denied = format!("{HERE}/callback?error=access_denied&state={state}");
    let shown = world.get(&denied, &cookie).await;
    assert_eq!(shown.status, 403);
    shown.has("You were not signed in there");
    for (failure, words) in [
        (ProviderFailure::Unavailable("a secret detail".to_owned()), "cannot be used now"),
        (ProviderFailure::Token("a secret detail".to_owned()), "cannot be trusted"),
        (ProviderFailure::Refused("a secret detail".to_owned()), "cannot be trusted"),
    ] {
        *world.fake.answer.lock().unwrap() = None;
        let (cookie, state) = world.begun("/console").await;
        world.fails(failure);
        let shown = world.get(&format!("{HERE}/callback?code=a&state={state}"), &cookie).await;
        assert_eq!(shown.status, 502);
        shown.has(words).has("&lt;Aurora&gt;").lacks("secret").has("name=\"password\"");
    }
    world.fails(ProviderFailure::Unavailable("down".to_owned()));
    let shown = world.get(HERE, "").await;
    assert_eq!(shown.status, 502);
    shown.has("cannot be used now");
    let portuguese = format!("recado-language=pt-BR; {cookie}");
    world.get(HERE, &portuguese).await.has("não pode ser usado agora");
}

/// R434.
#[tokio::test]
async fn a_code_of_the_second_factor_is_asked_for_on_a_page_of_its_own() {
    let world = World::new().await;
    let member = world.site.as_role(OperatorRole::Agent).await.member.id;
    let (kit, accounts) = (&world.site.kit, world.site.kit.app.accounts());
    let new = accounts.sign_in("member-0@example.com", PASSWORD, None, None).await.unwrap();
    accounts.begin_totp(&new.who, PASSWORD).await.expect("begun");
    let code = || async {
        use recado_core::accounts::{Login, TotpSecret};
        use recado_core::store::RecordsExt;
        let login = kit.store.get::<Login>((kit.company.id, member)).await.unwrap().unwrap();
        let secret = TotpSecret::new(login.totp_secret.clone().expect("a secret"));
        secret.code(u64::try_from(kit.clock.now().millis() / 30_000).unwrap())
    };
    accounts.confirm_totp(&new.who, &code().await).await.expect("on");
    kit.clock.advance(std::time::Duration::from_secs(60));

    let (cookie, state) = world.begun("/console/contacts").await;
    world.says("member-0@example.com");
    let shown = world.get(&format!("{HERE}/callback?code=a&state={state}"), &cookie).await;
    assert_eq!(shown.location(), format!("{HERE}/code"));
    assert!(pair(&shown, "recado-session").is_none());
    let kept = pair(&shown, "recado-sign-in").expect("a cookie");
    world.get(&format!("{HERE}/code"), &kept).await.has("name=\"code\"");
    assert_eq!(world.get(&format!("{HERE}/code"), "").await.location(), "/console/sign-in");

    let post = async |cookie: &str, code: &str, site: &str| {
        let request = Request::builder().method(Method::POST).uri(format!("{HERE}/code"));
        let request = request.header(HOST, "crm.example").header("sec-fetch-site", site);
        world.site.send(request.header(COOKIE, cookie), format!("code={code}")).await
    };
    let wrong = post(&kept, "nothing", "same-origin").await;
    assert_eq!(wrong.status, 422);
    wrong.has("The code is not right.");
    let right = code().await;
    assert_eq!(post(&kept, &right, "cross-site").await.status, 403);
    assert_eq!(post(&cookie, &right, "same-origin").await.status, 400);
    let shown = post(&kept, &right, "same-origin").await;
    assert_eq!((shown.status.as_u16(), shown.location()), (303, "/console/contacts"));
    assert!(pair(&shown, "recado-session").is_some());
}
