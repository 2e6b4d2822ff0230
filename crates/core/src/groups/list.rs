//! What a gateway tells of groups, and what it leaves open.

use super::body::last_of_each;
use super::{ConnectionGroup, Group, GroupCode, GroupsMode};
use crate::inbox::tidy_group;
use crate::store::Stored;

/// Groups as a gateway tells of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupList {
    /// The groups.
    pub groups: Vec<Group>,
    /// Whether the number is in no others. Of a list that is not whole nobody knows: the groups
    /// that it does not name stay as they are known.
    pub is_whole: bool,
    /// The codes of those of which it does not tell whether the number administers them: what is
    /// known of that stays.
    pub without_role: Vec<GroupCode>,
}

impl From<Vec<Group>> for GroupList {
    /// All groups there are, with everything about them.
    fn from(groups: Vec<Group>) -> Self {
        Self { groups, is_whole: true, without_role: Vec::new() }
    }
}

impl GroupList {
    /// How it is written over what is known, if it answers a question.
    pub(super) const fn mode(&self) -> GroupsMode {
        if self.is_whole { GroupsMode::Replace } else { GroupsMode::Merge }
    }

    /// The list as it is taken: each group once.
    pub(crate) fn tidied(self) -> Self {
        let groups = self.groups.into_iter().map(tidy_group).collect();
        Self { groups: last_of_each(groups), ..self }
    }

    /// The groups with the roles that are known and not told anew.
    pub(super) fn with_known_roles(&self, known: &[Stored<ConnectionGroup>]) -> Vec<Group> {
        let role = |group: &Group| match self.without_role.contains(&group.code) {
            true => known.iter().any(|row| row.group.code == group.code && row.group.is_admin),
            false => group.is_admin,
        };
        self.groups.iter().map(|group| Group { is_admin: role(group), ..group.clone() }).collect()
    }
}
