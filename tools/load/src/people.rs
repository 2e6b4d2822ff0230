//! Invented people, as in the CRM of a Brazilian company. They are the same in every run.

/// Area codes of large and small regions.
const AREAS: [u8; 20] =
    [11, 21, 31, 34, 41, 47, 48, 51, 61, 62, 65, 71, 81, 83, 84, 85, 91, 92, 98, 19];
const FIRST: [&str; 40] = [
    "Maria",
    "José",
    "Ana",
    "João",
    "Antônio",
    "Francisca",
    "Carlos",
    "Paulo",
    "Adriana",
    "Pedro",
    "Lucas",
    "Luíza",
    "Marcos",
    "Gabriel",
    "Rafaela",
    "Conceição",
    "Márcia",
    "Patrícia",
    "Bruno",
    "Beatriz",
    "Letícia",
    "Felipe",
    "Júlia",
    "Vinícius",
    "Camila",
    "Thaís",
    "Sebastião",
    "Otávio",
    "Mônica",
    "Gonçalo",
    "Íris",
    "Eliane",
    "Flávio",
    "Sônia",
    "Helena",
    "Miguel",
    "Davi",
    "Laís",
    "Caíque",
    "Zélia",
];
const LAST: [&str; 40] = [
    "da Silva",
    "dos Santos",
    "Oliveira",
    "Souza",
    "Rodrigues",
    "Ferreira",
    "Alves",
    "Pereira",
    "Lima",
    "Gomes",
    "Ribeiro",
    "Carvalho",
    "de Araújo",
    "Gonçalves",
    "Barbosa",
    "Magalhães",
    "Simões",
    "Conceição",
    "Antunes",
    "Falcão",
    "Brandão",
    "Assunção",
    "Queirós",
    "Vasconcelos",
    "Nóbrega",
    "Mendonça",
    "Teixeira",
    "Cavalcanti",
    "Dias",
    "Castro",
    "Campos",
    "Cardoso",
    "Rocha",
    "Mello",
    "Freitas",
    "Vieira",
    "Moreira",
    "Nunes",
    "Marques",
    "Machado",
];
const DOMAINS: [&str; 5] =
    ["exemplo.com.br", "example.com", "correio.example", "mail.example.org", "loja.example.net"];
const CITIES: [(&str, &str); 8] = [
    ("São Paulo", "SP"),
    ("Rio de Janeiro", "RJ"),
    ("Uberlândia", "MG"),
    ("Curitiba", "PR"),
    ("Florianópolis", "SC"),
    ("Brasília", "DF"),
    ("Salvador", "BA"),
    ("Manaus", "AM"),
];
/// How many mobile numbers begin with 96 to 99 in one area.
const PER_AREA: u64 = 40_000_000;

/// One person.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) name: String,
    /// E.164, with `+`.
    pub(crate) phone: String,
    pub(crate) email: Option<String>,
    pub(crate) city: &'static str,
    pub(crate) state: &'static str,
}

/// The mobile number with this index. Different indexes give different numbers.
pub(crate) fn phone(index: u64) -> String {
    let areas = AREAS.len() as u64;
    let area = AREAS[(index % areas) as usize];
    // The factor and the modulus have no common divisor, so no number repeats.
    let local = 60_000_000 + (index / areas).wrapping_mul(27_644_437) % PER_AREA;
    format!("+55{area}9{local}")
}

/// A name. A few family names are common, most are rare.
pub(crate) fn name(random: &mut fastrand::Rng) -> String {
    let skewed = |random: &mut fastrand::Rng, length: usize| {
        let roll = random.f64();
        ((roll * roll * length as f64) as usize).min(length - 1)
    };
    let first = FIRST[skewed(random, FIRST.len())];
    let middle = LAST[random.usize(..LAST.len())];
    let last = LAST[skewed(random, LAST.len())];
    if random.u8(..3) == 0 { format!("{first} {last}") } else { format!("{first} {middle} {last}") }
}

/// The person with this index.
pub(crate) fn person(index: u64, random: &mut fastrand::Rng) -> Person {
    let name = name(random);
    let first = name.split(' ').next().unwrap_or_default();
    let local: String = recado_core::contacts::normalize(first);
    let domain = DOMAINS[random.usize(..DOMAINS.len())];
    let email = (random.u8(..10) < 6).then(|| format!("{local}.{index}@{domain}"));
    let (city, state) = CITIES[random.usize(..CITIES.len())];
    Person { phone: phone(index), email, city, state, name }
}

/// A first name, for searches.
pub(crate) fn first_name(random: &mut fastrand::Rng) -> &'static str {
    FIRST[random.usize(..FIRST.len())]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use recado_core::contacts::{Email, Phone, Region};

    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_people() {
        let make = || person(7, &mut fastrand::Rng::with_seed(3)).name;
        assert_eq!(make(), make());
    }

    #[test]
    fn phones_and_addresses_are_valid_and_differ() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut seen = HashSet::new();
        for index in (0..20_000).chain(900_000_000..900_020_000) {
            let person = person(index, &mut random);
            let parsed = Phone::parse(&person.phone, &Region::br()).expect("a valid number");
            assert_eq!(parsed.as_str(), person.phone);
            assert!(person.email.is_none_or(|email| Email::parse(&email).is_ok()));
            assert!(seen.insert(person.phone));
        }
    }
}
