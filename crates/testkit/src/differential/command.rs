//! A command is a verb and eight numbers. What the numbers choose depends on the records that exist
//! at the time.

use std::ops::Range;

use proptest::prelude::*;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::allow_attributes, missing_docs, reason = "the names are those of the use cases")]
pub enum Verb {
    CreateContact,
    UpdateContact,
    ImportContact,
    PatchContact,
    DeleteContact,
    MergeContacts,
    Page,
    Export,
    ReadContact,
    CreateList,
    ChangeList,
    DeleteList,
    AddToList,
    CreateTag,
    ChangeTag,
    DeleteTag,
    CreateReason,
    DeleteReason,
    CreateMember,
    DeleteMember,
    CreateField,
    ChangeField,
    DeleteField,
    CreatePipeline,
    DeletePipeline,
    CreateDeal,
    ChangeDeal,
    DeleteDeal,
    CreateLink,
    Follow,
    DeleteLink,
    Attach,
    ReadDocuments,
    RunJobs,
    Upkeep,
    RevokeKey,
    ReadRecords,
    CreateConnection,
    ChangeConnection,
    DeleteConnection,
    PutGroups,
    Receive,
    Send,
    Reply,
    ReplyTemplate,
    AiTurn,
    Act,
    ImportMessage,
    Debit,
    Refund,
    Infer,
    CreateTemplate,
    DeleteTemplate,
    ListMessages,
    CreateWebhook,
    ChangeWebhook,
    DeleteWebhook,
    RotateSecret,
    TestWebhook,
    ChangePlan,
    Attempt,
    Redeliver,
    ReadDelivery,
    Forget,
    Sweep,
    ReadQueues,
    ReadJournal,
    ListDeliveries,
    InsertRow,
    ChangeRow,
    DeleteRow,
    MoveRows,
    ReadRows,
    InsertReach,
    ChangeReach,
    DeleteReach,
    MoveReach,
    ReadReach,
    Claim,
}

/// Relative frequencies of verbs on single rows.
const ROW_WEIGHTS: &[(u32, Verb)] = &[
    (50, Verb::InsertRow),
    (20, Verb::ChangeRow),
    (8, Verb::DeleteRow),
    (3, Verb::MoveRows),
    (22, Verb::ReadRows),
    (2, Verb::Upkeep),
];

/// Relative frequencies of verbs on rows of endpoints, windows and campaigns.
const REACH_WEIGHTS: &[(u32, Verb)] = &[
    (46, Verb::InsertReach),
    (20, Verb::ChangeReach),
    (5, Verb::DeleteReach),
    (2, Verb::MoveReach),
    (22, Verb::ReadReach),
    (10, Verb::Claim),
    (1, Verb::Upkeep),
];

/// Relative frequencies of verbs about conversations and messages.
const MESSAGING_WEIGHTS: &[(u32, Verb)] = &[
    (6, Verb::CreateContact),
    (6, Verb::ImportContact),
    (2, Verb::PatchContact),
    (2, Verb::DeleteContact),
    (4, Verb::MergeContacts),
    (5, Verb::Page),
    (5, Verb::Export),
    (6, Verb::ReadContact),
    (3, Verb::CreateMember),
    (3, Verb::CreateReason),
    (5, Verb::RunJobs),
    (1, Verb::Upkeep),
    (5, Verb::CreateConnection),
    (2, Verb::ChangeConnection),
    (1, Verb::DeleteConnection),
    (4, Verb::PutGroups),
    (30, Verb::Receive),
    (14, Verb::Send),
    (6, Verb::Reply),
    (4, Verb::ReplyTemplate),
    (4, Verb::AiTurn),
    (12, Verb::Act),
    (8, Verb::ImportMessage),
    (5, Verb::Debit),
    (5, Verb::Refund),
    (4, Verb::Infer),
    (4, Verb::CreateTemplate),
    (1, Verb::DeleteTemplate),
    (14, Verb::ListMessages),
];

/// Relative frequencies of verbs about webhooks.
const WEBHOOK_WEIGHTS: &[(u32, Verb)] = &[
    (10, Verb::CreateContact),
    (3, Verb::DeleteContact),
    (3, Verb::MergeContacts),
    (4, Verb::CreateConnection),
    (14, Verb::Receive),
    (6, Verb::Send),
    (6, Verb::RunJobs),
    (6, Verb::CreateWebhook),
    (6, Verb::ChangeWebhook),
    (1, Verb::DeleteWebhook),
    (3, Verb::RotateSecret),
    (4, Verb::TestWebhook),
    (3, Verb::ChangePlan),
    (24, Verb::Attempt),
    (6, Verb::Redeliver),
    (6, Verb::ReadDelivery),
    (4, Verb::Forget),
    (1, Verb::Sweep),
    (12, Verb::ReadQueues),
    (6, Verb::ReadJournal),
    (14, Verb::ListDeliveries),
];

/// Relative frequencies of use cases.
const WEIGHTS: &[(u32, Verb)] = &[
    (14, Verb::CreateContact),
    (12, Verb::UpdateContact),
    (10, Verb::ImportContact),
    (6, Verb::PatchContact),
    (4, Verb::DeleteContact),
    (4, Verb::MergeContacts),
    (14, Verb::Page),
    (14, Verb::Export),
    (6, Verb::ReadContact),
    (3, Verb::CreateList),
    (2, Verb::ChangeList),
    (1, Verb::DeleteList),
    (4, Verb::AddToList),
    (3, Verb::CreateTag),
    (1, Verb::ChangeTag),
    (1, Verb::DeleteTag),
    (2, Verb::CreateReason),
    (2, Verb::DeleteReason),
    (2, Verb::CreateMember),
    (2, Verb::DeleteMember),
    (4, Verb::CreateField),
    (2, Verb::ChangeField),
    (1, Verb::DeleteField),
    (2, Verb::CreatePipeline),
    (1, Verb::DeletePipeline),
    (6, Verb::CreateDeal),
    (5, Verb::ChangeDeal),
    (2, Verb::DeleteDeal),
    (3, Verb::CreateLink),
    (5, Verb::Follow),
    (1, Verb::DeleteLink),
    (3, Verb::Attach),
    (2, Verb::ReadDocuments),
    (3, Verb::RunJobs),
    (1, Verb::Upkeep),
    (1, Verb::RevokeKey),
    (2, Verb::ReadRecords),
];

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What the command does.
    pub verb: Verb,
    /// Numbers that choose its arguments.
    pub args: [u16; 8],
}

impl Command {
    /// The element of `pool` that the `n`-th number chooses.
    pub(super) fn pick<'a, T: ?Sized>(&self, n: usize, pool: &[&'a T]) -> &'a T {
        pool[self.number(n) % pool.len()]
    }

    /// The `n`-th number. There is no last one: later numbers are derived from the eight.
    pub(super) fn number(&self, n: usize) -> usize {
        let (round, at) = (n / self.args.len(), n % self.args.len());
        let next = self.args[(at + round) % self.args.len()];
        usize::from(self.args[at] ^ next.rotate_left(5 * round as u32 + 3))
    }

    /// Whether the `n`-th number decides yes, which happens once in `times`.
    pub(super) fn once_in(&self, n: usize, times: usize) -> bool {
        self.number(n).is_multiple_of(times)
    }
}

/// A choice of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Use cases around contacts.
    UseCases,
    /// Use cases around conversations and messages.
    Messaging,
    /// Use cases around webhooks, their deliveries and the journal.
    Webhooks,
    /// Single rows of conversations, messages and related kinds, without the core.
    Rows,
    /// Single rows of inbound endpoints, dispatch windows, campaigns and their recipients.
    Reach,
}

/// Any command of a mix.
pub fn command(mix: Mix) -> impl Strategy<Value = Command> {
    let weights = match mix {
        Mix::UseCases => WEIGHTS,
        Mix::Messaging => MESSAGING_WEIGHTS,
        Mix::Webhooks => WEBHOOK_WEIGHTS,
        Mix::Rows => ROW_WEIGHTS,
        Mix::Reach => REACH_WEIGHTS,
    };
    let total: u32 = weights.iter().map(|(weight, _)| weight).sum();
    (0..total, any::<[u16; 8]>()).prop_map(|(at, args)| {
        let mut left = at;
        let verb = weights.iter().find(|(weight, _)| match left.checked_sub(*weight) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
        Command { verb: verb.expect("the sum of all is more than any part").1, args }
    })
}

/// This many commands of a mix.
pub fn commands(mix: Mix, count: Range<usize>) -> impl Strategy<Value = Vec<Command>> {
    proptest::collection::vec(command(mix), count)
}
