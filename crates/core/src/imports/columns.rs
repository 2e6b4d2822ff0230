//! Which names a column of a file of contacts may stand for (R287).

use crate::contacts::ImportedContact;

/// The prefix of columns of custom fields.
pub const CUSTOM: &str = "custom_fields.";
/// Fields that are made of other columns than the field of the same name.
const OF_CONTACTS: [&str; 2] = ["first_name", "last_name"];

/// Whether a column of a file of contacts may be this field.
///
/// R287.
pub fn is_contact_field(name: &str) -> bool {
    name.starts_with(CUSTOM)
        || OF_CONTACTS.contains(&name)
        || name == "id"
        || ImportedContact::FIELDS.contains(&name)
}

/// The fields that a column of a file of contacts may be, custom fields aside, in the order in
/// which they are offered.
pub fn contact_field_names() -> Vec<&'static str> {
    let own = ImportedContact::FIELDS.iter().copied();
    let own = own.filter(|name| *name != "custom_fields");
    let (first, rest): (Vec<&str>, Vec<&str>) =
        own.partition(|name| ["phone", "name", "email"].contains(name));
    first.into_iter().chain(OF_CONTACTS).chain(rest).collect()
}

/// Why no row with these columns can name its person; `None` if rows can.
///
/// R287.
pub fn contact_columns_problem(fields: &[Option<String>]) -> Option<&'static str> {
    let names = |field: &String| ["phone", "identifier"].contains(&field.as_str());
    let is_named = fields.iter().flatten().any(names);
    (!is_named).then_some("no column is the phone or the identifier of a contact")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R287.
    #[test]
    fn rows_need_a_column_that_names_their_person() {
        let fields = |names: &[&str]| -> Vec<Option<String>> {
            names.iter().map(|name| Some((*name).to_owned())).collect()
        };
        assert!(contact_columns_problem(&fields(&["name", "email"])).is_some());
        assert!(contact_columns_problem(&[None]).is_some());
        assert_eq!(contact_columns_problem(&fields(&["identifier"])), None);
    }

    #[test]
    fn every_name_that_is_offered_is_a_field() {
        let names = contact_field_names();
        assert!(names.iter().all(|name| is_contact_field(name)));
        assert_eq!(names[0], "phone");
        assert!(!is_contact_field("telefone"));
    }
}
