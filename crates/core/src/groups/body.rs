//! Groups as operators and gateways write them.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Group, GroupCode};
use crate::input::{Input, read_bool};
use crate::problems::Problems;
use crate::text;

/// The most groups that one call may name.
pub const MAX_GROUPS: usize = 10_000;
/// How many groups with problems one answer names; a call with ten thousand wrong groups need not
/// list them all.
const MAX_NAMED: usize = 20;

/// Reads the set of groups of a PUT: each with a code and a subject, no code twice.
///
/// # Errors
///
/// What is wrong, as `groups[<index>].<field>`.
pub fn read_groups(entries: &[Value], suffix: &str) -> Result<Vec<Group>, Problems> {
    check_number(entries).map_err(|reason| Problems::of("groups", reason))?;
    let mut problems = Problems::new();
    let mut named = 0;
    let mut codes = HashSet::new();
    let mut groups = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let read = read_object(entry, index).and_then(|object| {
            let mut input = Input::new(object);
            let group = read_group(&mut input, suffix, Subject::Required);
            finish(input.finish(), group, index)
        });
        match read {
            Ok(group) if codes.insert(group.code.clone()) => groups.push(group),
            Ok(_) => problems.add(field(index, "code"), "is named twice"),
            Err(wrong) => {
                problems.merge(wrong);
                named += 1;
                if named == MAX_NAMED {
                    break;
                }
            }
        }
    }
    problems.into_result()?;
    Ok(groups)
}

/// Reads the groups of a gateway's event: unknown fields are ignored, a subject may be missing, and
/// of two with the same code the later counts.
///
/// # Errors
///
/// The first thing that is wrong.
pub fn parse_groups(entries: &[Value], suffix: &str) -> Result<Vec<Group>, String> {
    check_number(entries)?;
    let mut groups: Vec<Group> = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let read = read_object(entry, index).and_then(|object| {
            let mut input = Input::new(object);
            let group = read_group(&mut input, suffix, Subject::Optional);
            input.ignore(object.keys().map(String::as_str));
            finish(input.finish(), group, index)
        });
        groups.push(read.map_err(|problems| problems.to_string())?);
    }
    Ok(last_of_each(groups))
}

/// The groups without those that are named again later.
pub(super) fn last_of_each(groups: Vec<Group>) -> Vec<Group> {
    let mut codes = HashSet::new();
    let mut kept: Vec<Group> =
        groups.into_iter().rev().filter(|group| codes.insert(group.code.clone())).collect();
    kept.reverse();
    kept
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Required,
    Optional,
}

fn check_number(entries: &[Value]) -> Result<(), String> {
    if entries.len() > MAX_GROUPS {
        return Err(format!("may be at most {MAX_GROUPS}"));
    }
    Ok(())
}

fn field(index: usize, name: &str) -> String {
    format!("groups[{index}].{name}")
}

fn read_object(entry: &Value, index: usize) -> Result<&Map<String, Value>, Problems> {
    let problem = || Problems::of(format!("groups[{index}]"), "must be an object");
    entry.as_object().ok_or_else(problem)
}

/// `None` means that a problem was recorded.
fn read_group(input: &mut Input<'_>, suffix: &str, subject: Subject) -> Option<Group> {
    let read_code = |text: &str| {
        GroupCode::parse(text, suffix).ok_or_else(|| format!("must be a code like 1234@{suffix}"))
    };
    let code = input.required("code", |value| read_code(value.as_str().ok_or("must be a string")?));
    let subject = match subject {
        Subject::Required => input.required_text("subject", text::NAME),
        // R174: a gateway's subject is not refused for a change of direction.
        Subject::Optional => input
            .given_form("subject", |subject| {
                text::clean(&text::without_directions(subject), text::NAME)
            })
            .value()
            .filter(|subject| !subject.is_empty()),
    };
    let community_code = input.given_form("community_code", read_code).value();
    let mut flag = |name, default| input.given(name, read_bool).value().unwrap_or(default);
    let mut group = Group {
        subject,
        is_community: flag("is_community", false),
        community_code,
        is_announcement: flag("is_announcement", false),
        announce_only: flag("announce_only", false),
        participates: flag("participates", true),
        is_admin: flag("is_admin", false),
        ..Group::seen(GroupCode::from_stored(String::new()))
    };
    group.code = code?;
    Some(group)
}

fn finish(problems: Problems, group: Option<Group>, index: usize) -> Result<Group, Problems> {
    match group {
        Some(group) if problems.is_empty() => Ok(group),
        _ => Err(problems.within(&format!("groups[{index}]"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(entries: Value) -> Result<Vec<Group>, Vec<String>> {
        let entries = entries.as_array().expect("a test writes arrays").clone();
        read_groups(&entries, "g.us")
            .map_err(|problems| problems.fields().map(str::to_owned).collect())
    }

    fn parse(entries: Value) -> Result<Vec<Group>, String> {
        parse_groups(entries.as_array().expect("a test writes arrays"), "g.us")
    }

    #[test]
    fn flags_default_to_false_and_participation_to_true() {
        let groups = read(json!([{"code": "12-3@g.us", "subject": " Obra "}])).expect("acceptable");
        let code = GroupCode::from_stored("12-3@g.us".to_owned());
        assert_eq!(groups, [Group { subject: Some("Obra".to_owned()), ..Group::seen(code) }]);
    }

    #[test]
    fn every_field_is_read() {
        let groups = read(json!([{"code": "1@g.us", "subject": "A", "is_community": true,
            "community_code": "2@g.us", "is_announcement": true, "announce_only": true,
            "participates": false, "is_admin": true}]));
        let expected = Group {
            code: GroupCode::from_stored("1@g.us".to_owned()),
            subject: Some("A".to_owned()),
            is_community: true,
            community_code: Some(GroupCode::from_stored("2@g.us".to_owned())),
            is_announcement: true,
            announce_only: true,
            participates: false,
            is_admin: true,
        };
        assert_eq!(groups, Ok(vec![expected]));
    }

    #[test]
    fn problems_name_the_index_and_the_field() {
        let answer = read(json!([
            {"code": "1@g.us", "subject": "A"},
            {"code": "1@other", "subject": "A"},
            {"subject": "A", "participates": "yes", "colour": 1},
            "x",
            {"code": "1@g.us", "subject": "B"},
            {"code": "2@g.us"},
        ]));
        let named = answer.expect_err("unacceptable");
        assert_eq!(
            named,
            [
                "groups[1].code",
                "groups[2].code",
                "groups[2].participates",
                "groups[2].colour",
                "groups[3]",
                "groups[4].code",
                "groups[5].subject",
            ]
        );
    }

    #[test]
    fn more_than_ten_thousand_are_refused() {
        let group = |n: usize| json!({"code": format!("{n}@g.us"), "subject": "A"});
        let most: Vec<Value> = (0..MAX_GROUPS).map(group).collect();
        assert_eq!(read(most.clone().into()).expect("acceptable").len(), MAX_GROUPS);
        let more: Vec<Value> = (0..=MAX_GROUPS).map(group).collect();
        assert_eq!(read(more.into()), Err(vec!["groups".to_owned()]));
    }

    #[test]
    fn an_event_passes_over_unknown_fields_and_missing_subjects() {
        let groups = parse(json!([{"code": "1@g.us", "size": 7}])).expect("acceptable");
        assert_eq!(groups, [Group::seen(GroupCode::from_stored("1@g.us".to_owned()))]);
    }

    #[test]
    fn of_two_groups_with_one_code_an_event_means_the_later() {
        let groups = parse(json!([
            {"code": "1@g.us", "subject": "old"},
            {"code": "2@g.us", "subject": "other"},
            {"code": "1@g.us", "subject": "new"},
        ]));
        let subjects: Vec<_> =
            groups.expect("acceptable").into_iter().filter_map(|group| group.subject).collect();
        assert_eq!(subjects, ["other", "new"]);
    }

    #[test]
    fn an_event_with_a_wrong_group_says_which() {
        let reason = parse(json!([{"code": "1@g.us"}, {"code": "x"}])).expect_err("unacceptable");
        assert!(reason.contains("groups[1].code"), "{reason}");
    }
}
