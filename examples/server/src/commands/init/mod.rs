//! `recado init`: from nothing to a configuration, a database, a company and a key.

mod ask;
mod config;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use recado_core::access::{Company, KeyDraft, Scopes};
use recado_core::ids::CompanyId;
use recado_core::secret::SecretText;
use recado_core::{Ids, Recado};
use recado_runtime::RandomIds;
use serde::Serialize;
use serde_json::{Map, Value};

use super::database::core;
use super::{CommandError, object, output, refused};
use crate::options::{Cli, DatabaseLocation, Options};
use crate::wiring;

pub(super) const HELP: &str = "\
Examples:
  recado init
  recado init --dir /srv/recado --company 'Padaria Aurora' --yes
  recado init --company 'Padaria Aurora' --json \\
    --database postgres://recado@db.example.org/recado

It writes DIR/recado.toml, which holds no secret, and DIR/operator-token, which only you can read;
brings the database to the current schema, and makes the first company and a key with every scope,
which is shown this once. Options of `recado serve` that are given are written to recado.toml. On a
terminal it asks for what is not given. Run again it changes nothing.";

/// The first run.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder of the configuration; it is made if it is missing
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// The name of the first company [default: My company]
    #[arg(long, value_name = "NAME")]
    company: Option<String>,
    /// Asks nothing
    #[arg(long)]
    yes: bool,
}

/// The name of the first company where nobody gave one.
const COMPANY: &str = "My company";
/// The name of the first key.
const KEY: &str = "First key";
/// The file of the configuration, in its folder.
const CONFIG: &str = "recado.toml";
/// The file of the operator's token, in the same folder.
const TOKEN: &str = "operator-token";

/// Where everything is.
struct Places {
    dir: PathBuf,
    config: PathBuf,
    token: PathBuf,
}

impl Places {
    fn of(dir: &Path) -> Result<Self, CommandError> {
        let dir = std::path::absolute(dir)
            .map_err(|error| CommandError::Usage(format!("--dir cannot be used: {error}")))?;
        Ok(Self { config: dir.join(CONFIG), token: dir.join(TOKEN), dir })
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    already: Option<bool>,
    config: &'a Path,
    operator_token_file: &'a Path,
    company_id: CompanyId,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
}

/// Makes what is missing. A second run finds everything and changes nothing.
///
/// R268.
pub(super) async fn run(cli: &Cli, args: &InitArgs) -> Result<(), CommandError> {
    let places = Places::of(&args.dir)?;
    let had_config = places.config.exists();
    let mut options = options(cli, &places)?;
    let mut name = args.company.clone();
    if !had_config && !args.yes && ask::can_ask() {
        name = Some(ask::company(name, COMPANY)?);
        if !cli.gives("database") {
            options.database = ask::database(&options.database)?;
        }
    }
    make_folder(&places.dir)?;
    wiring::open(&options, true).await?.closer.close().await;
    let core = core(&options).await?;
    let recado = &core.recado;
    let (company, is_first) = company(recado, name.as_deref().unwrap_or(COMPANY)).await?;
    let had_token = places.token.exists();
    if !had_token {
        write(&places.token, &format!("{}\n", token(&options)?.expose()))?;
    }
    if !had_config {
        write(&places.config, &config::text(cli.given(), &options, &places.dir))?;
    }
    let keys = recado.access().keys(company.id).await.map_err(refused)?;
    // Where a first run was ended between the company and its key, there is none yet.
    let needs_key = is_first || (!had_config && keys.is_empty());
    let key = if needs_key { Some(first_key(recado, company.id).await?) } else { None };
    core.closer.close().await;
    let already = had_config && had_token && !is_first;
    let report = Report {
        already: already.then_some(true),
        config: &places.config,
        operator_token_file: &places.token,
        company_id: company.id,
        key: key.as_ref().map(SecretText::expose),
    };
    match cli.json {
        true => output::record(true, &[], &report),
        false => tell(&report, &options, &company),
    }
    Ok(())
}

/// The options, as a server with the configuration would have them.
fn options(cli: &Cli, places: &Places) -> Result<Options, CommandError> {
    if cli.gives("config") {
        let reason = "--config is of no use here: --dir names the folder of recado.toml";
        return Err(CommandError::Usage(reason.to_owned()));
    }
    let base = Options {
        database: DatabaseLocation::Sqlite(places.dir.join("recado.db")),
        ..Options::default()
    };
    let config = places.config.exists().then(|| places.config.clone());
    let options = cli.options_with(base.clone(), config.clone(), |name| std::env::var_os(name))?;
    let Some(config) = config else { return Ok(options) };
    let configured = Options::of_file(base, &config)?.database;
    if config::address(&options.database, &places.dir) != config::address(&configured, &places.dir)
    {
        return Err(CommandError::Usage(format!(
            "--database is another one than in {}: change it there, or give another --dir",
            config.display()
        )));
    }
    Ok(options)
}

/// The first company, and whether it was made now.
async fn company(recado: &Recado, name: &str) -> Result<(Company, bool), CommandError> {
    let access = recado.access();
    let all = access.companies().await.map_err(refused)?;
    if let Some(oldest) = all.into_iter().min_by_key(|company| company.created_at) {
        return Ok((oldest, false));
    }
    let body: Map<String, Value> = object([("name", Some(Value::from(name)))]);
    Ok((access.create_company(&body).await.map_err(refused)?, true))
}

async fn first_key(recado: &Recado, company: CompanyId) -> Result<SecretText, CommandError> {
    let draft = KeyDraft::new(KEY, Scopes::all());
    let new = recado.access().create_key(company, draft).await.map_err(refused)?;
    Ok(SecretText::new(new.secret.expose()))
}

/// The operator's token: the one that was given, else a new one.
fn token(options: &Options) -> Result<SecretText, CommandError> {
    if let Some(token) = &options.operator_token {
        return Ok(token.clone());
    }
    let mut bytes = [0; 32];
    RandomIds::new().fill(&mut bytes);
    let text = bytes.iter().fold("op_".to_owned(), |token, byte| format!("{token}{byte:02x}"));
    Ok(SecretText::new(text))
}

fn make_folder(dir: &Path) -> Result<(), CommandError> {
    fs::create_dir_all(dir).map_err(|error| cannot(dir, &error))
}

/// Writes a new file, for its owner alone.
fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|error| cannot(path, &error))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| cannot(path, &error))
}

fn cannot(path: &Path, error: &io::Error) -> CommandError {
    CommandError::Run(format!("{} cannot be made: {error}", path.display()))
}

/// Says what there is, and what to do next.
fn tell(report: &Report<'_>, options: &Options, company: &Company) {
    if report.already.is_some() {
        output::line("All of this is there already; nothing was changed.\n");
    }
    output::line(format_args!("configuration   {}", report.config.display()));
    output::line(format_args!("operator token  {}", report.operator_token_file.display()));
    output::line(format_args!("database        {:?}", options.database));
    output::line(format_args!("company         {} ({})", company.id, company.name));
    if let Some(key) = report.key {
        output::line(format_args!("API key         {key} (shown this once)"));
    }
    if let Some(hint) = config::password_hint(&options.database) {
        output::line(format_args!("\n{hint}"));
    }
    output::line("\nNext:");
    for line in next(report, options) {
        output::line(format_args!("  {line}"));
    }
}

/// The next three commands.
fn next(report: &Report<'_>, options: &Options) -> [String; 3] {
    let config = quoted(report.config);
    let token = quoted(report.operator_token_file);
    let url = crate::start::public_url(options, options.listen);
    let with_key = match report.key {
        Some(key) => format!("curl -s {url}/api/v1/contacts -H 'Authorization: Bearer {key}'"),
        None => format!(
            "recado key create --config {config} --company {} --name CRM --scopes all",
            report.company_id
        ),
    };
    [
        format!("recado serve --config {config}"),
        with_key,
        format!("curl -s {url}/operator/v1/companies -H \"Authorization: Bearer $(cat {token})\""),
    ]
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+');
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
