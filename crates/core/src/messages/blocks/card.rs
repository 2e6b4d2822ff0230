//! Address cards (X2).

use serde::{Deserialize, Serialize};

/// An address card that was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct SharedContact {
    /// The name on it.
    pub name: Option<String>,
    /// The phones on it.
    pub phones: Vec<SharedPhone>,
    /// The e-mail addresses on it.
    pub emails: Vec<SharedEmail>,
    /// The organization on it.
    pub organization: Option<String>,
    /// The title of the person in it.
    pub title: Option<String>,
    /// The pages on it.
    pub urls: Vec<String>,
    /// The postal addresses on it, each in one text.
    pub addresses: Vec<String>,
    /// The birthday on it, as it is written there.
    pub birthday: Option<String>,
}

/// A phone of an address card.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct SharedPhone {
    /// The number as it is written on the card.
    pub number: String,
    /// What it is called there.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// An e-mail address of an address card.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct SharedEmail {
    /// The address as it is written on the card.
    pub email: String,
    /// What it is called there.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}
