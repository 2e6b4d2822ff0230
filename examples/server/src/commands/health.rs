//! `recado health`: asks a running server whether it is ready, for supervisors and containers.

use std::time::Duration;

use clap::Args;
use recado_core::transport::{OutboundRequest, Transport};
use recado_http_hyper::{ClientOptions, GuardedClient, Reach};
use recado_runtime::causes;
use serde_json::json;

use super::{CommandError, output};
use crate::options::Options;
use crate::start::local_url;

pub(super) const HELP: &str = "\
Examples:
  recado health
  recado health --listen 0.0.0.0:8080
  recado health --url http://127.0.0.1:8080 --live

It asks the server that listens where --listen says, on this machine. Exit status 0 when the server
is ready, 1 when it is not or does not answer within 5 seconds.";

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether a server is ready.
#[derive(Debug, Args)]
pub struct HealthArgs {
    /// The server's base URL; by default this machine, at the port of --listen
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Asks whether the process lives (/healthz), not whether it is ready (/readyz)
    #[arg(long)]
    live: bool,
}

pub(super) async fn run(
    options: &Options,
    json: bool,
    args: HealthArgs,
) -> Result<(), CommandError> {
    let base = args.url.unwrap_or_else(|| local_url(options.listen));
    let path = if args.live { "healthz" } else { "readyz" };
    let url = format!("{}/{path}", base.trim_end_matches('/'));
    let mut request = OutboundRequest::get(&url);
    request.timeout = PATIENCE;
    let client = GuardedClient::new(ClientOptions { reach: Reach::Everything });
    let answer = client
        .send(request)
        .await
        .map_err(|error| CommandError::Run(format!("{url}: {}", causes(&error))))?;
    if answer.status != 200 {
        return Err(CommandError::Run(format!("{url} answered {}", answer.status)));
    }
    if json {
        output::json(&json!({ "url": url, "status": answer.status }));
    } else {
        output::line(format_args!("{url} answered 200"));
    }
    Ok(())
}
