//! Which field a column probably is, by its name in English or Portuguese (R426).

use std::collections::BTreeSet;

use super::cells::is_remark;
use super::columns::{CUSTOM, is_contact_field};
use crate::contacts::normalize;

/// Names of columns by field, without accents, case and signs between words.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "phone",
        &[
            "phone",
            "phone number",
            "phone 1 value",
            "mobile",
            "mobile phone",
            "mobile number",
            "cell",
            "cell phone",
            "whatsapp",
            "whatsapp number",
            "tel",
            "telefone",
            "telefone celular",
            "celular",
            "fone",
            "numero",
            "numero de telefone",
            "numero do whatsapp",
            "contato",
        ],
    ),
    (
        "name",
        &[
            "name",
            "full name",
            "contact name",
            "nome",
            "nome completo",
            "cliente",
            "nome do cliente",
        ],
    ),
    ("first_name", &["first name", "given name", "primeiro nome", "nome proprio"]),
    ("last_name", &["last name", "surname", "family name", "sobrenome", "ultimo nome"]),
    (
        "email",
        &[
            "email",
            "e mail",
            "email address",
            "e mail 1 value",
            "mail",
            "endereco de email",
            "correio eletronico",
        ],
    ),
    (
        "birthday",
        &[
            "birthday",
            "date of birth",
            "birth date",
            "dob",
            "nascimento",
            "data de nascimento",
            "aniversario",
        ],
    ),
    ("cpf", &["cpf", "cpf do cliente", "documento"]),
    ("rg", &["rg", "identidade", "carteira de identidade"]),
    ("genero", &["genero", "gender", "sexo", "sex"]),
    ("estado_civil", &["estado civil", "marital status"]),
    ("profissao", &["profissao", "profession", "occupation", "ocupacao"]),
    ("cargo", &["cargo", "position", "job title", "title", "funcao"]),
    ("street", &["street", "address", "street address", "rua", "endereco", "logradouro"]),
    (
        "street_number",
        &["street number", "number", "house number", "numero da rua", "numero do endereco"],
    ),
    ("address_complement", &["complement", "complemento", "apartment", "apto"]),
    ("neighborhood", &["neighborhood", "neighbourhood", "district", "bairro"]),
    ("city", &["city", "town", "cidade", "municipio"]),
    ("state", &["state", "province", "region", "estado", "uf"]),
    ("postal_code", &["postal code", "zip", "zip code", "postcode", "cep", "codigo postal"]),
    ("country", &["country", "pais"]),
    (
        "observation",
        &[
            "observation",
            "observations",
            "note",
            "notes",
            "comment",
            "comments",
            "observacao",
            "observacoes",
            "obs",
            "nota",
            "notas",
            "anotacoes",
        ],
    ),
    (
        "created_at",
        &[
            "created at",
            "created",
            "create date",
            "criado em",
            "data de criacao",
            "data de cadastro",
            "cadastrado em",
        ],
    ),
    ("opted_out_at", &["opted out at", "unsubscribed at", "descadastrado em"]),
    ("identifier", &["identifier", "identificador"]),
];

/// A name without accents, case, and signs between its words.
fn plain(name: &str) -> String {
    let text: String = normalize(name)
        .chars()
        .map(|letter| if letter.is_alphanumeric() { letter } else { ' ' })
        .collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The field that each column probably is; `None` for a column that tells nothing. A field is
/// guessed once, for the first column of its name. `custom` has the slug and the name of each
/// custom field of the company.
///
/// R426.
pub fn guessed_fields(names: &[String], custom: &[(String, String)]) -> Vec<Option<String>> {
    let mut taken = BTreeSet::new();
    let guess = |name: &String| {
        if is_remark(name) {
            return None;
        }
        let field = guessed_field(name, custom)?;
        taken.insert(field.clone()).then_some(field)
    };
    names.iter().map(guess).collect()
}

fn guessed_field(name: &str, custom: &[(String, String)]) -> Option<String> {
    let name = name.trim();
    if is_contact_field(name) {
        return Some(name.to_owned()).filter(|name| name != "id");
    }
    let wanted = plain(name);
    let is_known = |(_, names): &&(&str, &[&str])| names.contains(&wanted.as_str());
    if let Some((field, _)) = KNOWN.iter().find(is_known) {
        return Some((*field).to_owned());
    }
    let is_custom =
        |(slug, name): &&(String, String)| plain(name) == wanted || plain(slug) == wanted;
    custom.iter().find(is_custom).map(|(slug, _)| format!("{CUSTOM}{slug}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let custom = [("origem".to_owned(), "Origem do lead".to_owned())];
        let fields = guessed_fields(&names, &custom);
        fields.into_iter().map(|field| field.unwrap_or_else(|| "-".to_owned())).collect()
    }

    /// R426.
    #[test]
    fn columns_are_guessed_by_their_names_in_both_languages() {
        assert_eq!(
            guessed(&["Nome Completo", "TELEFONE", "E-mail", "Data de Nascimento", "Observações"]),
            ["name", "phone", "email", "birthday", "observation"]
        );
        assert_eq!(
            guessed(&["First Name", "Last_Name", "Mobile Phone", "Zip Code", "city"]),
            ["first_name", "last_name", "phone", "postal_code", "city"]
        );
    }

    /// R426.
    #[test]
    fn a_field_is_guessed_once_and_an_unknown_column_not_at_all() {
        assert_eq!(guessed(&["Celular", "Telefone", "Saldo"]), ["phone", "-", "-"]);
        assert_eq!(guessed(&["_line", "", "id"]), ["-", "-", "-"]);
    }

    /// R426.
    #[test]
    fn a_custom_field_is_known_by_its_name_and_by_its_slug() {
        assert_eq!(guessed(&["Origem do lead"]), ["custom_fields.origem"]);
        assert_eq!(guessed(&["Origem"]), ["custom_fields.origem"]);
    }

    #[test]
    fn every_known_name_is_plain_and_stands_for_one_field() {
        let mut seen = BTreeSet::new();
        for (field, names) in KNOWN {
            assert!(is_contact_field(field), "{field}");
            for name in *names {
                assert_eq!(*name, plain(name), "{field}");
                assert!(seen.insert(*name), "{name}");
            }
        }
    }
}
