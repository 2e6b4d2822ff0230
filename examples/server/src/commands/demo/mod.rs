//! `recado demo`: one process, one SQLite file, sample data and lines to try.

mod automation;
mod channels;
mod credentials;
mod lines;
mod login;
mod sample;
mod seed;

use recado_core::access::{Caller, Company, KeyDraft, Scope, Scopes};
use recado_core::secret::SecretText;
use recado_core::{Ids, Recado};
use recado_runtime::RandomIds;
use serde_json::{Value, json};

use self::credentials::Credentials;
use super::{CommandError, object, output, refused, serve};
use crate::options::Options;
use crate::permissions;
use crate::shutdown::StopSignals;
use crate::start::{Overrides, start_locked};

/// The name of the key that the demonstration makes.
const KEY: &str = "Demo key";

pub(super) const HELP: &str = "\
Examples:
  recado demo
  recado demo --listen 127.0.0.1:9000

It takes the options of `recado serve`. The demonstration has its own defaults: --database \
    sqlite:recado-demo.db, --documents file:recado-demo-documents, --log warn, private destinations \
    allowed, and an operator token of its own. The data is kept. The key and the token are kept \
    beside the database in a file that only you can read, and printed again at each start.";

const SIMULATED: &str = "\
Both connections are simulated: nothing leaves this machine. Messages to phones that end in
  0001  are refused                 0004  fail later
  0002  end uncertainly             0005  take 15 seconds
  0003  find the connection lost    any other: sent, delivered, read";

/// Sixteen random bytes.
fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    RandomIds::new().fill(&mut bytes);
    bytes
}

/// The default options of the demonstration.
pub(super) fn defaults() -> Options {
    Options {
        database: crate::DatabaseLocation::Sqlite("recado-demo.db".into()),
        documents: crate::DocumentStorage::Folder("recado-demo-documents".into()),
        allow_private_destinations: true,
        log: "warn".to_owned(),
        ..Options::default()
    }
}

pub(super) async fn run(json: bool, mut options: Options) -> Result<(), CommandError> {
    let mut signals = StopSignals::listen_with_hangup().map_err(CommandError::run)?;
    // Its files hold samples, and may be of a version that let others read them.
    permissions::mend(&options)?;
    let mut credentials = {
        let given = options.read_operator_token()?;
        Credentials::load(&options.database, given.as_ref())
    };
    options.operator_token = Some(credentials.operator_token.clone());
    let with_console = !options.no_console;
    let lock = serve::lock(&options)?;
    let running = start_locked(options, Overrides::default(), lock).await?;
    let recado = &running.recado;
    let company = seed::company(recado).await?;
    sign_in(recado, &company, &mut credentials).await?;
    // At each start, so that the data of an earlier version gets them too.
    channels::connections(recado, company.id).await?;
    channels::template(recado, company.id, &mut credentials).await?;
    automation::endpoint(recado, company.id, &mut credentials).await?;
    if with_console {
        login::owner(recado, &company, &mut credentials).await?;
    }
    credentials.save().map_err(CommandError::run)?;
    automation::campaign(recado, company.id).await?;
    let url = running.url();
    let lines = lines::to_try(recado, &running, &company, &credentials).await?;
    let key = credentials.key.as_ref().map(SecretText::expose).unwrap_or_default();
    let token = credentials.operator_token.expose();
    let console = with_console.then(|| format!("{url}/console"));
    let password = credentials.password.as_ref().map(SecretText::expose).unwrap_or_default();

    if json {
        // A line, for a program that waits for it.
        output::line(json!({
            "listening": url,
            "operator": running.operator_addr.map(|_| running.operator_url()),
            "company_id": company.id,
            "key": key,
            "operator_token": token,
            "console": console.as_ref().map(|console| {
                json!({ "url": console, "email": login::EMAIL, "password": password })
            }),
            "credentials": credentials.path(),
        }));
        return serve::until_signal(&mut signals, running).await;
    }
    if running.operator_addr.is_some() {
        output::line(format_args!("operator API on {}", running.operator_url()));
    }
    output::line(format_args!("listening on {url}"));
    output::line("");
    output::line(format_args!("company         {} ({})", company.id, company.name));
    output::line(format_args!("API key         {key}"));
    output::line(format_args!("operator token  {}", token));
    if let Some(console) = console {
        output::line(format_args!("console         {console}"));
        output::line(format_args!("  e-mail        {}", login::EMAIL));
        output::line(format_args!("  password      {password}"));
    }
    output::line(format_args!("kept in         {}", credentials.path().display()));
    output::line("");
    output::line("Lines to try:");
    for line in lines {
        output::line(format_args!("\n{line}"));
    }
    output::line(format_args!("\n{SIMULATED}"));
    output::line("\nCtrl-C stops it; the data stays.");
    serve::until_signal(&mut signals, running).await
}

/// Makes sure that the stored key works. If not, the company is filled if necessary, a key is made
/// last, and the earlier one is revoked.
async fn sign_in(
    recado: &Recado,
    company: &Company,
    credentials: &mut Credentials,
) -> Result<(), CommandError> {
    let access = recado.access();
    if let Some(key) = &credentials.key
        && let Ok(caller) = access.authenticate(key.expose()).await
        && caller.company() == company.id
    {
        widen(recado, &caller).await?;
        return credentials.save().map_err(CommandError::run);
    }
    let earlier = access.keys(company.id).await.map_err(refused)?;
    if earlier.is_empty() {
        seed::fill(recado, company).await?;
    }
    let draft = KeyDraft::new(KEY, Scopes::all());
    let new = access.create_key(company.id, draft).await.map_err(refused)?;
    credentials.key = Some(SecretText::new(new.secret.expose()));
    credentials.save().map_err(CommandError::run)?;
    for key in earlier.iter().filter(|key| key.name == KEY) {
        access.revoke_key(company.id, key.id).await.map_err(refused)?;
    }
    Ok(())
}

/// Gives a key of an earlier version the scopes that have been added since.
async fn widen(recado: &Recado, caller: &Caller) -> Result<(), CommandError> {
    if Scope::ALL.iter().all(|scope| caller.has(*scope)) {
        return Ok(());
    }
    let Some(key) = caller.key() else { return Ok(()) };
    let scopes = object([("scopes", Some(Value::from(Scope::WORDS)))]);
    let changed = recado.access().change_key(caller.company(), key, &scopes).await;
    changed.map(drop).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R172.
    #[test]
    fn the_demonstration_asks_no_registry() {
        assert_eq!(defaults().cnpj_registry, None);
    }
}
