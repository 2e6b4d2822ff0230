//! Waiting for a phone to be paired.

use std::time::Duration;

use recado_core::connections::PairingError;
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::{Error, Recado};
use tokio::time::{Instant, sleep};

use super::super::{CommandError, refused};

/// How often the gateway is asked.
const EVERY: Duration = Duration::from_secs(3);
/// How long to wait for a phone.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// Requests the code, shows each new one, and ends once a phone is paired.
pub(super) async fn pair(
    recado: &Recado,
    company: CompanyId,
    id: ConnectionId,
    show: impl Fn(&str),
) -> Result<(), CommandError> {
    let begun = Instant::now();
    let mut shown = None;
    loop {
        match recado.connections().pairing_code(company, id).await {
            Ok(code) => {
                if shown.as_ref() != Some(&code.text) {
                    show(&code.text);
                    shown = Some(code.text);
                }
            }
            Err(Error::Rejected(PairingError::Preparing)) => {}
            Err(Error::Rejected(PairingError::AlreadyPaired)) => return Ok(()),
            Err(error) => return Err(refused(error)),
        }
        if begun.elapsed() >= PATIENCE {
            let minutes = PATIENCE.as_secs() / 60;
            return Err(CommandError::Run(format!("no phone was paired within {minutes} minutes")));
        }
        sleep(EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;
    use recado_core::connections::{Connection, GatewayDescription};
    use recado_core::gateway::{
        Outgoing, Pairing, PairingCode, Provider, ProviderError, ProviderWebhook, Providers,
        SendFailure, SendResult, WebhookRefused,
    };
    use recado_core::transport::Transport;
    use recado_testkit::kit::body;
    use recado_testkit::{Kit, descriptions};
    use serde_json::json;

    use super::*;

    /// Answers these in turn, and then always the last one.
    struct Script(Mutex<VecDeque<Result<Pairing, ProviderError>>>);

    #[async_trait]
    impl Provider for Script {
        fn describe(&self) -> GatewayDescription {
            descriptions::waha()
        }

        async fn send(&self, _: &dyn Transport, _: &Connection, _: &Outgoing) -> SendResult {
            Err(SendFailure::uncertain("nothing is sent here"))
        }

        async fn pairing(
            &self,
            _: &dyn Transport,
            _: &Connection,
        ) -> Result<Pairing, ProviderError> {
            let mut script = self.0.lock().expect("nobody panicked");
            match script.len() {
                1 => script[0].clone(),
                _ => script.pop_front().expect("there is more"),
            }
        }

        fn admit(&self, _: &Connection, _: &ProviderWebhook) -> Result<(), WebhookRefused> {
            Err(WebhookRefused::Unsupported)
        }
    }

    fn code(text: &str) -> Result<Pairing, ProviderError> {
        Ok(Pairing::Code(PairingCode { text: text.to_owned(), png: None }))
    }

    /// The codes that were shown, the result, and after how many seconds it came.
    async fn paired(
        script: impl IntoIterator<Item = Result<Pairing, ProviderError>>,
    ) -> (Vec<String>, Result<(), String>, u64) {
        let script = Script(Mutex::new(script.into_iter().collect()));
        let providers = Providers::none().with(Arc::new(script));
        let kit = Kit::builder().providers(providers).build().await;
        let connection = body(json!({"kind": "qr", "name": "Loja", "identifier": "551140028922",
            "gateway": "waha", "settings": {"base_url": "http://127.0.0.1:3000",
                "session": "loja1", "api_key": "k", "webhook_hmac_key": "h"}}));
        let made = kit.app.connections().create(kit.company.id, &connection).await.expect("made");
        let shown = RefCell::new(Vec::new());
        let begun = Instant::now();
        let show = |text: &str| shown.borrow_mut().push(text.to_owned());
        let ended = pair(&kit.app, kit.company.id, made.id, show).await;
        let ended = ended.map_err(|failure| failure.to_string());
        (shown.into_inner(), ended, begun.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn each_new_code_is_shown_once_until_a_phone_is_paired() {
        let script = [
            Ok(Pairing::Preparing),
            code("2@a"),
            code("2@a"),
            code("2@b"),
            Ok(Pairing::Preparing),
            code("2@b"),
            Ok(Pairing::Paired),
        ];
        let (shown, ended, seconds) = paired(script).await;
        assert_eq!((shown.as_slice(), ended), (&["2@a".to_owned(), "2@b".to_owned()][..], Ok(())));
        assert_eq!(seconds, 18, "six waits of three seconds");
    }

    #[tokio::test(start_paused = true)]
    async fn after_five_minutes_nobody_is_waited_for() {
        let (shown, ended, seconds) = paired([code("2@a")]).await;
        assert_eq!(shown, ["2@a"]);
        assert!(ended.expect_err("it gave up").contains("within 5 minutes"));
        assert_eq!(seconds, 300);
    }

    #[tokio::test(start_paused = true)]
    async fn any_other_answer_ends_it_with_its_reason() {
        for (answer, about) in [
            (Err(ProviderError::Failed("timed out".to_owned())), "timed out"),
            (Err(ProviderError::Unsupported), "pairs no phones"),
        ] {
            let (shown, ended, seconds) = paired([answer]).await;
            assert_eq!((shown.len(), seconds), (0, 0));
            let reason = ended.expect_err("it failed");
            assert!(reason.contains(about), "{reason}");
        }
    }
}
