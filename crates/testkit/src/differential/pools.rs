//! Values that the commands choose from. They are few, so that values repeat, and include special
//! cases.

/// Names.
pub(super) const NAMES: &[&str] = &[
    "",
    "Ana",
    "ana paula",
    "João da Conceição",
    "JOAO",
    "D’Ávila",
    "100% Café",
    "a_b\\c\"d'e*f",
    "Zé",
    "Z",
    "Łódź Straße",
    "東京 👩‍👩‍👧",
    "Sala 3499",
    "x\ny",
];

/// Phones. Some are the same number in another notation.
pub(super) const PHONES: &[&str] = &[
    "+5534991234567",
    "(34) 99123-4567",
    "34 9123-4567",
    "+5511987654321",
    "11987654321",
    "+551133224455",
    "+12025550123",
    "+5534991230001",
    "+5534991230002",
    "+5534991230003",
    "+5534991230004",
    "12",
];

/// Identifiers of imports. Some are phones without their ninth digit.
pub(super) const IDENTIFIERS: &[&str] =
    &["lid-1", "lid-2", "LID-1", "553491234567", "5511987654321", "grupo@g.us", "551187654321"];

/// E-mails.
pub(super) const EMAILS: &[&str] = &[
    "ana@example.com",
    "ANA@example.com",
    "bia@example.com",
    "ze+loja@padaria.com.br",
    "not an address",
];

/// Registration numbers.
pub(super) const CNPJS: &[&str] =
    &["19.131.243/0001-97", "00000000000191", "11222333000181", "11222333000180"];

/// Channels.
pub(super) const PLATFORMS: &[&str] = &["whatsapp", "telegram", "sms", "No Channel"];

/// Searches.
pub(super) const SEARCHES: &[&str] = &[
    "ana",
    "A",
    "z",
    "zé",
    "joao",
    "conceicao",
    "d'avila",
    "100%",
    "%",
    "_",
    "\\",
    "\"",
    "*",
    "'",
    "a_b",
    "(34) 99",
    "3499",
    "3491234567",
    "91234567",
    "55",
    "@example",
    "lid-",
    "LODZ",
    "東京",
    "sala 3499",
    "nobody",
    " ",
    "\u{7}",
];

/// Values of `crm_status`. One of them does not exist.
pub(super) const CRM: &[&str] = &["lead", "prospect", "customer", "inactive", "lost", "friend"];

/// Values of `inbox_status`. One of them does not exist.
pub(super) const INBOX: &[&str] = &["open", "resolved", "closed"];

/// Slugs.
pub(super) const SLUGS: &[&str] = &["cidade", "time", "Cidade", "a.b-c_d", "not a slug"];

/// Values of custom fields.
pub(super) const VALUES: &[&str] = &["", "Uberlândia", "São Paulo", "a\"b\\c", "  x  "];

/// User agents that follow links: a person's and a preview's.
pub(super) const AGENTS: &[&str] = &[
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "WhatsApp/2.23.20.0",
];
