//! A program that reads and writes floats of its own. A library in it must not change what they
//! become: cargo switches the features of a shared crate, such as `serde_json`, on for the whole
//! program. The test runs twice, without Recado and with the feature `recado`, and has to find the
//! same both times.
#![forbid(unsafe_code)]

#[cfg(feature = "recado")]
use recado as _;

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Serialize};
    use serde_json::Value;

    #[derive(Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Reading { celsius: f64 },
    }

    #[derive(Serialize, Deserialize)]
    #[serde(tag = "kind", content = "value")]
    enum Adjacent {
        Reading(f64),
    }

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Value(f64),
        Word(String),
    }

    #[derive(Serialize, Deserialize)]
    struct Flattened {
        name: String,
        #[serde(flatten)]
        place: Place,
    }

    #[derive(Serialize, Deserialize)]
    struct Place {
        latitude: f64,
    }

    /// What is written of what was read.
    fn again<T: Serialize + DeserializeOwned>(json: &str) -> String {
        let read: Result<T, _> = serde_json::from_str(json);
        match read.and_then(|value| serde_json::to_string(&value)) {
            Ok(written) => written,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn floats_become_the_same_with_recado_in_the_program_and_without_it() {
        for (number, written) in
            [("21.5", "21.5"), ("-18.91860", "-18.9186"), ("1e3", "1000.0"), ("1.0", "1.0")]
        {
            let with = |form: &str, number: &str| form.replace('#', number);
            let form = r#"{"kind":"Reading","celsius":#}"#;
            assert_eq!(again::<Tagged>(&with(form, number)), with(form, written));
            let form = r#"{"kind":"Reading","value":#}"#;
            assert_eq!(again::<Adjacent>(&with(form, number)), with(form, written));
            assert_eq!(again::<Untagged>(number), written);
            let form = r#"{"name":"x","latitude":#}"#;
            assert_eq!(again::<Flattened>(&with(form, number)), with(form, written));
            assert_eq!(again::<Value>(number), written);
        }
        assert_eq!(again::<Untagged>(r#""warm""#), r#""warm""#);
    }
}
