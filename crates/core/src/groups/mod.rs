//! Groups and communities as the connections' gateways report them (4.8, D64).

mod apply;
mod body;
mod group;
mod list;
mod manage;
mod reads;
mod route;
mod sync;

pub use apply::{GroupContactIds, GroupFacts, GroupsMode, apply_groups, group_contact};
pub use body::{MAX_GROUPS, parse_groups, read_groups};
pub use group::{ConnectionGroup, Group, GroupCode, GroupList};
pub use manage::{GroupView, Groups, GroupsError, GroupsResult, GroupsWritten, WriteGroups};
pub use reads::GroupReads;
pub use route::{ConnectionNeeded, GroupRefusal, GroupUnknown, choose_connection, resolve_group};
pub use sync::SWEEP;
pub(crate) use sync::sync_groups_job;
