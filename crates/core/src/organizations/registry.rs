//! Requests to the public registry about a cnpj (BrasilAPI's contract, D22) and its answers: pure
//! translation.

use serde_json::Value;

use super::Cnpj;
use crate::json;
use crate::transport::{OutboundRequest, OutboundResponse, TransportError};

/// How much of the registry's answer is read.
const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// The longest name that is taken over.
const MAX_NAME_CHARS: usize = 200;

/// The registry's data of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryEntry {
    /// The legal name.
    pub razao_social: Option<String>,
    /// The trade name.
    pub nome_fantasia: Option<String>,
}

/// What an answer of the registry means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryAnswer {
    /// The organization is registered.
    Found(RegistryEntry),
    /// The number is invalid or not registered (400, 404); asking again is useless.
    Unknown,
    /// The registry failed; ask again later.
    TryLater,
}

/// The request that asks for `cnpj` at a registry with this base URL.
pub fn lookup_request(base_url: &str, cnpj: &Cnpj) -> OutboundRequest {
    let url = format!("{}/api/cnpj/v1/{}", base_url.trim_end_matches('/'), cnpj.as_str());
    OutboundRequest::get(url).with_answer_limit(MAX_ANSWER_BYTES)
}

/// Reads the registry's answer.
pub fn read_answer(outcome: &Result<OutboundResponse, TransportError>) -> RegistryAnswer {
    let Ok(response) = outcome else { return RegistryAnswer::TryLater };
    match response.status {
        200 => read_entry(&response.body).map_or(RegistryAnswer::TryLater, RegistryAnswer::Found),
        400 | 404 => RegistryAnswer::Unknown,
        _ => RegistryAnswer::TryLater,
    }
}

fn read_entry(body: &[u8]) -> Option<RegistryEntry> {
    let body: Value = json::read(body).ok()?.into();
    let object = body.as_object()?;
    let text = |name: &str| {
        let text: String =
            object.get(name)?.as_str()?.trim().chars().take(MAX_NAME_CHARS).collect();
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        (!text.is_empty()).then_some(text)
    };
    Some(RegistryEntry { razao_social: text("razao_social"), nome_fantasia: text("nome_fantasia") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> RegistryAnswer {
        read_answer(&Ok(OutboundResponse::new(status, body.as_bytes().to_vec())))
    }

    #[test]
    fn the_request_names_the_number_whatever_the_slash_of_the_base() {
        let cnpj = Cnpj::parse("19.131.243/0001-97").expect("valid");
        for base in ["https://registry.example", "https://registry.example/"] {
            let request = lookup_request(base, &cnpj);
            assert_eq!(request.url, "https://registry.example/api/cnpj/v1/19131243000197");
        }
    }

    #[test]
    fn a_found_organization_has_its_names_and_blank_ones_count_as_missing() {
        let found = answer(200, r#"{"razao_social":"EMPRESA LTDA","nome_fantasia":" "}"#);
        let entry =
            RegistryEntry { razao_social: Some("EMPRESA LTDA".to_owned()), nome_fantasia: None };
        assert_eq!(found, RegistryAnswer::Found(entry));
    }

    #[test]
    fn only_400_and_404_end_the_asking() {
        assert_eq!(answer(404, "{}"), RegistryAnswer::Unknown);
        assert_eq!(answer(400, "{}"), RegistryAnswer::Unknown);
        for status in [401, 429, 500, 503] {
            assert_eq!(answer(status, "{}"), RegistryAnswer::TryLater);
        }
        assert_eq!(answer(200, "<html>"), RegistryAnswer::TryLater);
        assert_eq!(read_answer(&Err(TransportError::Refused)), RegistryAnswer::TryLater);
    }
}
