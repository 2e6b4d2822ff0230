//! `recado member …`

use clap::{ArgGroup, Args, Subcommand};
use recado_core::Recado;
use recado_core::access::{Operator, OperatorRole};
use recado_core::accounts::NewLink;
use recado_core::ids::{CompanyId, MemberId, SessionId};
use serde::Serialize;
use serde_json::Value;

use super::company::company_id;
use super::{CommandError, object, output, refused};

pub(super) const HELP: &str = "\
Examples:
  recado member invite --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --name Bia \\
    --email bia@example.org --role agent
  recado member list --company 01a19b7c-a680-78b4-a652-e44da7f29e26";

/// Logins of members.
#[derive(Debug, Args)]
pub struct MemberArgs {
    #[command(subcommand)]
    command: MemberCommand,
}

/// Which member.
#[derive(Debug, Args)]
struct Who {
    /// The member's company
    #[arg(long, value_name = "ID", value_parser = company_id)]
    company: CompanyId,
    /// The member
    #[arg(value_parser = member_id)]
    member: MemberId,
}

/// The example of a command that takes one member, and what comes after.
macro_rules! example {
    ($words:literal, $after:literal) => {
        concat!(
            "Examples:\n  recado member ",
            $words,
            " --company 01a19b7c-a680-78b4-a652-e44da7f29e26 \\\n    ",
            "01a19b7c-a680-78b4-a652-e44da7f29e27",
            $after
        )
    };
}

const INVITE: &str = "\
Examples:
  recado member invite --company 01a19b7c-a680-78b4-a652-e44da7f29e26 --name Bia \\
    --email bia@example.org --role agent";

const LIST: &str = "\
Examples:
  recado member list --company 01a19b7c-a680-78b4-a652-e44da7f29e26";

#[derive(Debug, Subcommand)]
enum MemberCommand {
    /// Gives a member a login; shows the one-time link to hand over, this once
    #[command(after_help = INVITE, group(ArgGroup::new("whose").required(true)))]
    Invite {
        /// The member's company
        #[arg(long, value_name = "ID", value_parser = company_id)]
        company: CompanyId,
        /// The member; without it, a new one is made
        #[arg(value_parser = member_id, group = "whose")]
        member: Option<MemberId>,
        /// The name of a new member
        #[arg(long, group = "whose")]
        name: Option<String>,
        /// The e-mail address to log in with
        #[arg(long)]
        email: String,
        /// What the member may do: viewer, agent, manager or owner
        #[arg(long, value_parser = role)]
        role: OperatorRole,
    },
    /// Makes a one-time link to choose a new password; shows it, this once
    #[command(after_help = example!("reset", ""))]
    Reset(Who),
    /// Lists the logins of a company's members
    #[command(after_help = LIST)]
    List {
        /// The company
        #[arg(long, value_name = "ID", value_parser = company_id)]
        company: CompanyId,
    },
    /// Changes the role of a member's login; its sessions end
    #[command(after_help = example!("role", " --role manager"))]
    Role {
        #[command(flatten)]
        who: Who,
        /// What the member may do from now on: viewer, agent, manager or owner
        #[arg(long, value_parser = role)]
        role: OperatorRole,
    },
    /// Disables a member's login; its sessions end
    #[command(after_help = example!("disable", ""))]
    Disable(Who),
    /// Enables a member's login again
    #[command(after_help = example!("enable", ""))]
    Enable(Who),
    /// Removes the second factor of a member who lost it
    #[command(after_help = example!("remove-totp", ""))]
    RemoveTotp(Who),
    /// Lists the sessions of a member
    #[command(after_help = example!("sessions", ""))]
    Sessions(Who),
    /// Ends a session of a member, or all
    #[command(after_help = example!("revoke-sessions", ""))]
    RevokeSessions {
        #[command(flatten)]
        who: Who,
        /// Only this session
        #[arg(long, value_name = "ID", value_parser = session_id)]
        session: Option<SessionId>,
    },
}

fn member_id(text: &str) -> Result<MemberId, String> {
    MemberId::parse(text).ok_or_else(|| "must be the id of a member".to_owned())
}

fn session_id(text: &str) -> Result<SessionId, String> {
    SessionId::parse(text).ok_or_else(|| "must be the id of a session".to_owned())
}

fn role(text: &str) -> Result<OperatorRole, String> {
    OperatorRole::parse(text)
        .ok_or_else(|| format!("must be one of {}", OperatorRole::WORDS.join(", ")))
}

/// A link with its address.
#[derive(Serialize)]
struct WithUrl<'a> {
    #[serde(flatten)]
    link: &'a NewLink,
    url: &'a str,
}

const LOGIN: [&str; 9] = [
    "member_id",
    "email",
    "role",
    "was_accepted",
    "has_password",
    "has_provider",
    "has_totp",
    "disabled_at",
    "created_at",
];

fn show_link(json: bool, link: &NewLink) {
    let shown = WithUrl { link, url: link.url.expose() };
    output::record(json, &["member_id", "purpose", "expires_at", "url"], &shown);
}

fn show_done(json: bool, member: MemberId) {
    let (id, done) = (Value::from(member.to_string()), Value::Bool(true));
    output::record(
        json,
        &["member_id", "done"],
        &object([("member_id", Some(id)), ("done", Some(done))]),
    );
}

pub(super) async fn run(recado: &Recado, json: bool, args: MemberArgs) -> Result<(), CommandError> {
    let (accounts, by) = (recado.accounts(), &Operator::ROOT);
    let change = async |who: Who, field: &str, value: Value| {
        let body = object([(field, Some(value))]);
        let changed = accounts.change_login(by, who.company, who.member, &body).await;
        output::record(json, &LOGIN, &changed.map_err(refused)?);
        Ok(())
    };
    match args.command {
        MemberCommand::Invite { company, member, name, email, role } => {
            let member = match (member, name) {
                (Some(member), _) => member,
                (None, name) => {
                    let body = object([("display_name", name.map(Value::from))]);
                    recado.access().create_member(company, &body).await.map_err(refused)?.id
                }
            };
            let role = Value::from(role.as_str());
            let body = object([("email", Some(Value::from(email))), ("role", Some(role))]);
            let link = accounts.invite(by, company, member, &body).await.map_err(refused)?;
            show_link(json, &link);
        }
        MemberCommand::Reset(who) => {
            let link = accounts.reset_link(by, who.company, who.member).await;
            show_link(json, &link.map_err(refused)?);
        }
        MemberCommand::List { company } => {
            output::records(json, &LOGIN, &accounts.logins(company).await.map_err(refused)?);
        }
        MemberCommand::Role { who, role } => {
            return change(who, "role", Value::from(role.as_str())).await;
        }
        MemberCommand::Disable(who) => return change(who, "disabled", Value::Bool(true)).await,
        MemberCommand::Enable(who) => return change(who, "disabled", Value::Bool(false)).await,
        MemberCommand::RemoveTotp(who) => {
            accounts.remove_member_totp(by, who.company, who.member).await.map_err(refused)?;
            show_done(json, who.member);
        }
        MemberCommand::Sessions(who) => {
            let all = accounts.member_sessions(who.company, who.member).await.map_err(refused)?;
            output::records(json, &["id", "created_at", "last_seen_at", "ends_at"], &all);
        }
        MemberCommand::RevokeSessions { who, session } => {
            let ended = match session {
                Some(id) => accounts.revoke_session(by, who.company, who.member, id).await,
                None => accounts.revoke_all(by, who.company, who.member).await,
            };
            ended.map_err(refused)?;
            show_done(json, who.member);
        }
    }
    Ok(())
}
