//! A gateway supports what its description says.

use recado_core::Timestamp;
use recado_core::connections::{Capability, ConnectionSettings, Setting};
use recado_core::gateway::{
    Content, GatewayDestinations, Lookup, Outgoing, ProviderError, SendFailure,
};
use recado_core::messages::MessageType;

use super::ProviderCase;
use super::between::{Act, Between};

/// The settings of the case are valid. Without any one required setting they are not.
pub async fn the_settings_are_those_that_the_gateway_describes(case: &ProviderCase) {
    let described = case.description();
    let connection = case.connection();
    for setting in described.settings().iter().filter(|setting| setting.is_required()) {
        let mut without = case.settings.clone();
        without.remove(setting.name());
        let problems =
            ConnectionSettings::parse(&described, &without, &GatewayDestinations::default())
                .expect_err(&format!("it does without {}, which must be there", setting.name()));
        let named: Vec<&str> = problems.fields().collect();
        assert_eq!(named, [format!("settings.{}", setting.name())]);
    }
    let shown = connection.settings.shown(Some(&described));
    for secret in described.settings().iter().filter(|setting| setting.is_secret()) {
        assert!(!shown.contains_key(secret.name()), "{} is shown", secret.name());
    }
    let has_secrets = described.settings().iter().any(Setting::is_secret);
    assert!(
        has_secrets || !case.has_webhook(),
        "calls of a webhook are proved by a secret, and there is none among the settings"
    );
}

/// An operation that the description lists never answers that it is unsupported.
pub async fn what_the_gateway_can_do_by_its_description_it_can_be_asked(case: &ProviderCase) {
    let (described, connection) = (case.description(), case.connection());
    let transport = Between::new(case, |_, _| Act::Pass);
    let at = Timestamp::from_millis(1_795_000_000_000);
    let provider = &case.provider;
    for capability in described.capabilities() {
        let unable = match capability {
            Capability::State => is_unable(provider.status(&transport, &connection).await),
            Capability::Groups => is_unable(provider.groups(&transport, &connection).await),
            Capability::Qr => is_unable(provider.pairing(&transport, &connection).await),
            Capability::TemplateList => {
                is_unable(provider.templates(&transport, &connection).await)
            }
            Capability::History => {
                is_unable(provider.missed(&transport, &connection, at, at).await)
            }
            Capability::Names => {
                is_unable(provider.names(&transport, &connection, "123@lid").await)
            }
            Capability::FindSent => {
                let lookup = Lookup::new(case.outgoing(), MessageType::Text, at);
                is_unable(provider.find_sent(&transport, &connection, &lookup).await)
            }
            Capability::Text | Capability::Template | Capability::Webhook | Capability::OptOuts => {
                false
            }
        };
        assert!(!unable, "it cannot be asked for {capability}, which it is said to be able to");
    }
}

fn is_unable<T>(answer: Result<T, ProviderError>) -> bool {
    matches!(answer, Err(ProviderError::Unsupported))
}

/// A text or template is refused without a request if the description does not list this content.
pub async fn content_that_the_gateway_cannot_send_is_refused_before_any_request(
    case: &ProviderCase,
) {
    let template = Content::Template {
        name: "pedido".to_owned(),
        language: "pt_BR".to_owned(),
        variables: vec!["Maria".to_owned()],
        rendered: "Olá, Maria".to_owned(),
    };
    let contents =
        [(Capability::Text, Content::Text("Olá".to_owned())), (Capability::Template, template)];
    for (needed, content) in contents {
        if case.description().can(needed) {
            continue;
        }
        let transport = Between::new(case, |_, _| Act::Pass);
        let outgoing = Outgoing { content, ..case.outgoing() };
        let sent = case.provider.send(&transport, &case.connection(), &outgoing).await;
        assert!(matches!(sent, Err(SendFailure::Refused(_))), "{needed}: {sent:?}");
        assert!(transport.requests().is_empty(), "{needed}: a request was made");
    }
}
