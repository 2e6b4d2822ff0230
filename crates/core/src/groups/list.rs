//! A gateway's list of groups, which may be incomplete.

use std::collections::HashSet;

use super::body::last_of_each;
use super::group::GroupList;
use super::{ConnectionGroup, Group, GroupCode, GroupsMode};
use crate::inbox::tidy_group;
use crate::store::Stored;

impl GroupList {
    /// How it is combined with the stored groups, if it is the answer to a request.
    pub(super) const fn mode(&self) -> GroupsMode {
        if self.is_whole { GroupsMode::Replace } else { GroupsMode::Merge }
    }

    /// The normalized list: each group once.
    pub(crate) fn tidied(self) -> Self {
        let groups = self.groups.into_iter().map(tidy_group).collect();
        Self { groups: last_of_each(groups), ..self }
    }

    /// The groups, with the stored role where none is reported.
    pub(super) fn with_known_roles(&self, known: &[Stored<ConnectionGroup>]) -> Vec<Group> {
        let unreported: HashSet<&GroupCode> = self.without_role.iter().collect();
        let led: HashSet<&GroupCode> =
            known.iter().filter(|row| row.group.is_admin).map(|row| &row.group.code).collect();
        let role = |group: &Group| match unreported.contains(&group.code) {
            true => led.contains(&group.code),
            false => group.is_admin,
        };
        self.groups.iter().map(|group| Group { is_admin: role(group), ..group.clone() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::ids::{CompanyId, ConnectionId};
    use crate::store::Version;

    #[test]
    fn as_many_roles_as_there_may_be_groups_are_kept_at_once() {
        // With a search for each of them this would take minutes.
        const MANY: usize = 60_000;
        let code = |n: usize| GroupCode::from_stored(format!("{n}@g.us"));
        let group = |n: usize| Group { is_admin: n.is_multiple_of(2), ..Group::seen(code(n)) };
        let row = |n| ConnectionGroup {
            company: CompanyId::new(Uuid::from_u128(1)),
            connection: ConnectionId::new(Uuid::from_u128(2)),
            group: group(n),
        };
        let known: Vec<_> = (0..MANY).map(|n| Stored::new(row(n), Version::FIRST)).collect();
        let list = GroupList {
            groups: (0..MANY).map(|n| Group::seen(code(n))).collect(),
            is_whole: true,
            without_role: (1..MANY).map(code).collect(),
        };
        let led = list.with_known_roles(&known).iter().filter(|group| group.is_admin).count();
        assert_eq!(led, MANY / 2 - 1, "the first was told to be none");
    }
}
