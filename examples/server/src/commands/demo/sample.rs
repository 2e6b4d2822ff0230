//! The people of the demonstration. All are invented, and so are their numbers.

/// A contact of the demonstration.
pub(super) struct SampleContact {
    pub(super) name: &'static str,
    pub(super) area_code: u8,
    pub(super) city: &'static str,
    pub(super) state: &'static str,
    /// `open` or `resolved`.
    pub(super) inbox: &'static str,
    pub(super) priority: &'static str,
    pub(super) crm: &'static str,
    /// How many days ago the contact was made.
    pub(super) age_days: u64,
    /// How many hours ago the last message was exchanged, if there was one.
    pub(super) quiet_hours: Option<u64>,
    /// The tags, by their index in [`TAGS`].
    pub(super) tags: &'static [usize],
    /// The deal: its title, the stage by its index in [`STAGES`], its status.
    pub(super) deal: Option<(&'static str, usize, &'static str)>,
    /// The list, by its index in [`LISTS`].
    pub(super) list: Option<usize>,
}

/// Name and color of each tag.
pub(super) const TAGS: [(&str, &str); 4] =
    [("VIP", "#d4af37"), ("Atacado", "#2563eb"), ("Pós-venda", "#16a34a"), ("Retorno", "#dc2626")];

/// Name and color of each stage.
pub(super) const STAGES: [(&str, &str); 5] = [
    ("Novo", "#64748b"),
    ("Qualificado", "#2563eb"),
    ("Proposta", "#9333ea"),
    ("Negociação", "#ea580c"),
    ("Fechado", "#16a34a"),
];

/// The lists; the last one is inactive.
pub(super) const LISTS: [&str; 3] = ["Newsletter", "Clientes 2026", "Campanha encerrada"];

/// Name and role of each member.
pub(super) const MEMBERS: [(&str, &str); 3] =
    [("Renata Moreira", "admin"), ("Diego Fontes", "agent"), ("Luana Prado", "agent")];

/// Label, slug and type of each custom field.
pub(super) const FIELDS: [(&str, &str, &str); 4] = [
    ("Origem", "origem", "text"),
    ("Número do cliente", "numero_cliente", "number"),
    ("Renovação", "renovacao", "date"),
    ("Plano contratado", "plano", "select"),
];

/// Why conversations are closed.
pub(super) const CLOSE_REASONS: [&str; 3] = ["Resolvido", "Sem resposta", "Venda concluída"];

/// Kind, name and own number of each connection; both use the simulated gateway.
pub(super) const CONNECTIONS: [(&str, &str, &str); 2] = [
    ("official_cloud", "Atendimento (oficial)", "551130000001"),
    ("qr", "Loja (QR)", "5511990000001"),
];

/// Name, category and text of the template.
pub(super) const TEMPLATE: (&str, &str, &str) =
    ("boas_vindas", "UTILITY", "Olá {{1}}, seu pedido {{2}} está a caminho.");

/// The slug of the inbound endpoint.
pub(super) const ENDPOINT: &str = "demo-leads";

/// Dialogues between people and the company; a conversation is one of these, the newest message
/// last. `true` is a message from the contact.
pub(super) const DIALOGUES: [&[(bool, &str)]; 5] = [
    &[
        (true, "Bom dia! Vocês têm entrega hoje?"),
        (false, "Bom dia! Temos sim, até as 18h."),
        (true, "Ótimo, vou fazer o pedido."),
    ],
    &[
        (false, "Seu orçamento está pronto. Posso enviar?"),
        (true, "Pode mandar, por favor."),
        (false, "Enviado! Qualquer dúvida, estou por aqui."),
        (true, "Recebi, obrigado 🙏"),
    ],
    &[(true, "Qual o horário de atendimento?"), (false, "De segunda a sexta, das 9h às 18h.")],
    &[
        (true, "O boleto venceu ontem, ainda posso pagar?"),
        (false, "Pode sim, acabei de gerar a segunda via."),
        (true, "Paguei agora."),
        (false, "Confirmado, muito obrigada!"),
    ],
    &[(true, "Quero saber mais sobre o plano anual")],
];

macro_rules! people {
    ($($name:literal $ddd:literal $city:literal $state:literal $inbox:ident $priority:ident
       $crm:ident $age:literal $quiet:expr, $tags:expr, $deal:expr, $list:expr;)+) => {
        [$(SampleContact {
            name: $name,
            area_code: $ddd,
            city: $city,
            state: $state,
            inbox: stringify!($inbox),
            priority: stringify!($priority),
            crm: stringify!($crm),
            age_days: $age,
            quiet_hours: $quiet,
            tags: &$tags,
            deal: $deal,
            list: $list,
        }),+]
    };
}

/// The contacts, oldest first.
#[rustfmt::skip]
pub(super) const PEOPLE: [SampleContact; 24] = people! {
    "Ana Beatriz Nogueira" 11 "São Paulo" "SP" open high customer 210 Some(1), [0, 2],
        Some(("Renovação anual", 3, "open")), Some(1);
    "João Pedro Sant'Anna" 21 "Rio de Janeiro" "RJ" open normal lead 180 Some(3), [3],
        Some(("Plano básico", 0, "open")), Some(0);
    "Maria Eduarda Guimarães" 31 "Belo Horizonte" "MG" resolved normal customer 171 Some(50), [2],
        Some(("Expansão de licenças", 4, "won")), Some(1);
    "Luís Otávio Brandão" 41 "Curitiba" "PR" open urgent prospect 160 Some(2), [0, 1],
        Some(("Pedido de atacado", 2, "open")), Some(0);
    "Conceição Araújo" 71 "Salvador" "BA" resolved low inactive 151 Some(900), [], None, None;
    "Thiago Magalhães" 81 "Recife" "PE" open normal lead 140 Some(6), [],
        Some(("Primeira compra", 0, "open")), Some(0);
    "Fernanda Corrêa" 51 "Porto Alegre" "RS" resolved normal customer 133 Some(77), [2], None, Some(1);
    "Antônio Carlos Peçanha" 61 "Brasília" "DF" open high prospect 121 Some(12), [1],
        Some(("Licitação regional", 1, "open")), None;
    "Larissa Figueirêdo" 85 "Fortaleza" "CE" open normal lead 110 Some(20), [],
        Some(("Assinatura mensal", 1, "open")), Some(0);
    "Márcio Vieira Lopes" 62 "Goiânia" "GO" resolved low lost 104 Some(610), [],
        Some(("Troca de fornecedor", 2, "lost")), None;
    "Júlia Tavares" 27 "Vitória" "ES" open normal customer 96 Some(9), [0], None, Some(1);
    "Rafael Assunção" 48 "Florianópolis" "SC" open normal prospect 88 Some(30), [3],
        Some(("Projeto piloto", 1, "open")), None;
    "Patrícia Mendonça" 91 "Belém" "PA" resolved normal customer 80 Some(120), [2], None, Some(1);
    "Gustavo Henrique Leão" 92 "Manaus" "AM" open high lead 71 Some(4), [1],
        Some(("Revenda Norte", 2, "open")), Some(0);
    "Isabela Coutinho" 19 "Campinas" "SP" open normal lead 63 None, [], None, Some(0);
    "Sebastião Rocha" 34 "Uberlândia" "MG" resolved low inactive 55 Some(700), [], None, None;
    "Camila Drummond" 21 "Niterói" "RJ" open urgent customer 47 Some(1), [0, 3],
        Some(("Reclamação e retenção", 3, "open")), Some(1);
    "Vinícius Paixão" 79 "Aracaju" "SE" open normal lead 40 Some(16), [], None, Some(0);
    "Letícia Gonçalves" 84 "Natal" "RN" open normal prospect 33 Some(26), [],
        Some(("Kit inicial", 0, "open")), Some(0);
    "Otávio Augusto Sá" 65 "Cuiabá" "MT" resolved normal customer 27 Some(44), [1, 2],
        Some(("Safra 2026", 4, "won")), Some(1);
    "Yasmin Abrahão" 98 "São Luís" "MA" open normal lead 19 None, [], None, None;
    "Bruno Cézar Falcão" 67 "Campo Grande" "MS" open low lead 12 Some(70), [],
        Some(("Demonstração", 0, "open")), None;
    "Heloísa Queiroz" 83 "João Pessoa" "PB" open normal prospect 5 Some(8), [3], None, Some(0);
    "Caio Antunes" 11 "Guarulhos" "SP" open normal lead 1 Some(0), [], None, None;
};
