//! Why a message failed: the catalogue of codes with their Portuguese texts (D30).

use crate::words::words;

words! {
    /// The raw `error_type` of a message (2.4).
    ErrorType {
        /// The gateway could not be reached.
        Network = "network",
        /// The gateway does not reach the channel.
        ConnectionOffline = "connection_offline",
        /// The gateway refuses the connection's credentials or settings.
        Config = "config",
        /// The channel refused the message.
        Provider = "provider",
        /// It is unknown whether the message arrived.
        DeliveryUncertain = "delivery_uncertain",
        /// No cause is known.
        Unknown = "unknown",
    }
}

words! {
    /// The stable `delivery_error.code` of a failed message (2.4, D30).
    DeliveryCode {
        /// The number is not on the channel, or cannot be reached there.
        RecipientUnreachable = "RECIPIENT_UNREACHABLE",
        /// More than 24 hours since the contact's last message; only templates pass.
        OutsideServiceWindow = "OUTSIDE_SERVICE_WINDOW",
        /// The provider's own rate limit.
        RateLimitedByProvider = "RATE_LIMITED_BY_PROVIDER",
        /// The template is unknown, paused, disabled or wrongly filled.
        TemplateRejected = "TEMPLATE_REJECTED",
        /// The connection does not reach the channel.
        ConnectionOffline = "CONNECTION_OFFLINE",
        /// Credentials, permissions or settings of the connection.
        Configuration = "CONFIGURATION",
        /// The gateway could not be reached.
        Network = "NETWORK",
        /// It is unknown whether the message arrived.
        DeliveryUncertain = "DELIVERY_UNCERTAIN",
        /// The contact has opted out of such messages on the channel itself.
        RecipientOptedOut = "RECIPIENT_OPTED_OUT",
        /// The file could not be fetched or is not accepted.
        Media = "MEDIA",
        /// The channel limits how many marketing messages a user gets.
        MarketingLimited = "MARKETING_LIMITED",
        /// The content or kind of the message is not accepted.
        ContentRejected = "CONTENT_REJECTED",
        /// The account has to pay first.
        Payment = "PAYMENT",
        /// The account is restricted or locked.
        AccountRestricted = "ACCOUNT_RESTRICTED",
        /// The connection's number may not write in the group.
        Group = "GROUP",
        /// Anything else.
        Unknown = "UNKNOWN",
    }
}

impl DeliveryCode {
    /// The Portuguese text for display.
    pub const fn description(self) -> &'static str {
        match self {
            Self::RecipientUnreachable => {
                "O número do destinatário não está no WhatsApp ou não pode receber esta mensagem."
            }
            Self::OutsideServiceWindow => {
                "Passaram mais de 24 horas desde a última mensagem do contato; envie um modelo \
                 aprovado."
            }
            Self::RateLimitedByProvider => {
                "O limite de envios do provedor foi atingido; tente novamente mais tarde."
            }
            Self::TemplateRejected => {
                "O modelo de mensagem não existe, está pausado ou foi preenchido incorretamente."
            }
            Self::ConnectionOffline => "A conexão está desconectada do WhatsApp.",
            Self::Configuration => {
                "A conexão está mal configurada: verifique as credenciais e permissões."
            }
            Self::Network => "Não foi possível alcançar o provedor da conexão.",
            Self::DeliveryUncertain => {
                "Não se sabe se a mensagem chegou; não a reenvie automaticamente."
            }
            Self::RecipientOptedOut => "O contato optou por não receber este tipo de mensagem.",
            Self::Media => "O arquivo da mensagem não pôde ser baixado ou não é aceito.",
            Self::MarketingLimited => {
                "O WhatsApp reteve a mensagem de marketing para este contato; não reenvie antes de \
                 24 horas."
            }
            Self::ContentRejected => "O conteúdo ou o tipo da mensagem não é aceito.",
            Self::Payment => "Há um problema de pagamento na conta do WhatsApp Business.",
            Self::AccountRestricted => "A conta do WhatsApp Business está restrita ou bloqueada.",
            Self::Group => "O grupo não permite que este número envie mensagens.",
            Self::Unknown => "A mensagem falhou por um motivo desconhecido.",
        }
    }

    /// The code for a numeric error of the official API; `Unknown` for one that is not catalogued.
    pub const fn of_official(code: u32) -> Self {
        match code {
            131_021 | 131_026 | 131_030 | 130_497 | 131_062 => Self::RecipientUnreachable,
            131_047 => Self::OutsideServiceWindow,
            4 | 17 | 32 | 613 | 80_007 | 130_429 | 131_048 | 131_056 | 131_057 | 133_004
            | 132_069 => Self::RateLimitedByProvider,
            132_000 | 132_001 | 132_005 | 132_007 | 132_008 | 132_012 | 132_015 | 132_016
            | 132_018 | 132_068 => Self::TemplateRejected,
            0
            | 3
            | 10
            | 33
            | 100
            | 190
            | 200..=299
            | 131_005
            | 131_037
            | 131_045
            | 133_000
            | 133_005
            | 133_006
            | 133_008
            | 133_009
            | 133_010
            | 133_015
            | 133_016 => Self::Configuration,
            1 | 2 | 131_000 | 131_016 => Self::DeliveryUncertain,
            131_050 => Self::RecipientOptedOut,
            131_052 | 131_053 => Self::Media,
            130_472 | 131_049 | 131_063 | 131_064 | 134_100..=134_102 => Self::MarketingLimited,
            131_008 | 131_009 | 131_051 | 131_055 | 135_000 | 137_000 => Self::ContentRejected,
            131_042 | 131_044 | 134_011 => Self::Payment,
            368 | 131_031 => Self::AccountRestricted,
            131_020 | 131_041 | 131_059 | 131_201..=131_215 => Self::Group,
            _ => Self::Unknown,
        }
    }

    /// The code of a failure that the official API reports: an error that leaves the outcome of a
    /// call unknown is certain in a later report.
    pub const fn of_official_report(code: u32) -> Self {
        match Self::of_official(code) {
            Self::DeliveryUncertain => Self::Unknown,
            code => code,
        }
    }

    /// The `error_type` that goes with it.
    pub const fn error_type(self) -> ErrorType {
        match self {
            Self::Network => ErrorType::Network,
            Self::ConnectionOffline => ErrorType::ConnectionOffline,
            Self::Configuration => ErrorType::Config,
            Self::DeliveryUncertain => ErrorType::DeliveryUncertain,
            Self::Unknown => ErrorType::Unknown,
            Self::RecipientUnreachable
            | Self::OutsideServiceWindow
            | Self::RateLimitedByProvider
            | Self::TemplateRejected
            | Self::RecipientOptedOut
            | Self::Media
            | Self::MarketingLimited
            | Self::ContentRejected
            | Self::Payment
            | Self::AccountRestricted
            | Self::Group => ErrorType::Provider,
        }
    }
}

/// Why a message failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The raw type.
    pub error_type: ErrorType,
    /// The stable code.
    pub code: DeliveryCode,
    /// The provider's own text.
    pub message: Option<String>,
}

impl Failure {
    /// A failure of this code, with the provider's text.
    pub fn new(code: DeliveryCode, message: impl Into<Option<String>>) -> Self {
        Self { error_type: code.error_type(), code, message: message.into() }
    }

    /// A failure after which it is unknown whether the message arrived.
    pub fn uncertain(message: impl Into<Option<String>>) -> Self {
        Self::new(DeliveryCode::DeliveryUncertain, message)
    }

    /// Whether it is unknown if the message arrived: a later report may still move it on (D28).
    pub fn is_uncertain(&self) -> bool {
        self.error_type == ErrorType::DeliveryUncertain
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// D30.
    #[test]
    fn every_code_has_a_text_of_its_own() {
        let texts: BTreeSet<&str> =
            DeliveryCode::ALL.iter().map(|code| code.description()).collect();
        assert_eq!(texts.len(), DeliveryCode::ALL.len());
        assert!(texts.iter().all(|text| !text.is_empty()));
    }

    /// D30: the numbers of the official API.
    #[test]
    fn the_numbers_of_the_official_api_have_their_codes() {
        use DeliveryCode as Code;
        let of = |code, numbers: &[u32]| {
            for number in numbers {
                assert_eq!(Code::of_official(*number), code, "{number}");
            }
        };
        of(Code::RecipientUnreachable, &[131_021, 131_026, 131_030, 130_497, 131_062]);
        of(Code::OutsideServiceWindow, &[131_047]);
        of(Code::RateLimitedByProvider, &[4, 17, 32, 613, 80_007, 130_429, 131_048, 131_056]);
        of(Code::RateLimitedByProvider, &[131_057, 132_069, 133_004]);
        of(Code::TemplateRejected, &[132_000, 132_001, 132_005, 132_007, 132_008, 132_012]);
        of(Code::TemplateRejected, &[132_015, 132_016, 132_018, 132_068]);
        of(Code::Configuration, &[0, 3, 10, 33, 100, 190, 200, 299, 131_005, 131_037, 133_016]);
        of(Code::DeliveryUncertain, &[1, 2, 131_000, 131_016]);
        of(Code::RecipientOptedOut, &[131_050]);
        of(Code::Media, &[131_052, 131_053]);
        of(Code::MarketingLimited, &[130_472, 131_049, 134_100, 134_102]);
        of(Code::ContentRejected, &[131_008, 131_009, 131_051, 131_055, 135_000, 137_000]);
        of(Code::Payment, &[131_042, 131_044, 134_011]);
        of(Code::AccountRestricted, &[368, 131_031]);
        of(Code::Group, &[131_020, 131_041, 131_059, 131_201, 131_215]);
        of(Code::Unknown, &[5, 199, 300, 131_200, 131_216, u32::MAX]);
    }
}
