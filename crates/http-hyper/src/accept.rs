//! Content negotiation: which of several media types a caller prefers (RFC 9110, 12.5.1).

use http::HeaderMap;
use http::header::ACCEPT;

/// The ranges of `Accept`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accept(Vec<MediaRange>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct MediaRange {
    /// Such as `image`; `*` for any.
    kind: String,
    /// Such as `png`; `*` for any.
    form: String,
    /// From 0 (not acceptable) to 1000.
    weight: u16,
}

impl Accept {
    /// Reads the headers. A part that cannot be read is ignored.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok());
        Self(lines.flat_map(|line| line.split(',')).filter_map(MediaRange::read).collect())
    }

    /// The preferred offer; of several, the one that is named most exactly, then the first. `None`
    /// when none is acceptable; without `Accept` all are.
    pub(crate) fn choose<'a>(&self, offers: &[&'a str]) -> Option<&'a str> {
        if self.0.is_empty() {
            return offers.first().copied();
        }
        let mut best = None;
        for offer in offers {
            let rank = self.rank(offer);
            if rank.0 > 0 && best.is_none_or(|(known, _)| rank > known) {
                best = Some((rank, *offer));
            }
        }
        best.map(|(_, offer)| offer)
    }

    /// The weight of an offer by the range that names it most exactly, and how exactly.
    fn rank(&self, offer: &str) -> (u16, usize) {
        let matching = self.0.iter().filter_map(|range| Some((range.names(offer)?, range.weight)));
        let most_exact = matching.max_by_key(|(exactness, _)| *exactness);
        most_exact.map_or((0, 0), |(exactness, weight)| (weight, exactness))
    }
}

impl MediaRange {
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let (kind, form) = parts.next()?.split_once('/')?;
        let weight = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case("q").then(|| weight(value.trim()))
        });
        let [kind, form] = [kind, form].map(str::to_ascii_lowercase);
        Some(Self { kind, form, weight: weight.unwrap_or(1000) })
    }

    /// How exactly the range names an offer, if it does.
    fn names(&self, offer: &str) -> Option<usize> {
        let (kind, form) = offer.split_once('/')?;
        match (self.kind.as_str(), self.form.as_str()) {
            ("*", "*") => Some(0),
            (own, "*") if own == kind => Some(1),
            (own, exact) if own == kind && exact == form => Some(2),
            _ => None,
        }
    }
}

/// A weight such as `0.8` in thousandths; 0 if it is not a number.
fn weight(text: &str) -> u16 {
    let value = text.parse::<f32>().unwrap_or(0.0).clamp(0.0, 1.0);
    // Within 0 and 1000 by the clamp; NaN becomes 0.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
    let thousandths = (value * 1000.0).round() as u16;
    thousandths
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const OFFERS: [&str; 3] = ["application/json", "image/png", "text/plain"];

    fn chosen(lines: &[&'static str]) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT, HeaderValue::from_static(line));
        }
        Accept::of(&headers).choose(&OFFERS)
    }

    #[test]
    fn without_a_word_the_first_offer_is_taken() {
        assert_eq!(chosen(&[]), Some("application/json"));
        assert_eq!(chosen(&["*/*"]), Some("application/json"));
        assert_eq!(chosen(&["nonsense"]), Some("application/json"));
    }

    #[test]
    fn what_is_named_exactly_goes_before_what_is_meant_too() {
        assert_eq!(chosen(&["image/png"]), Some("image/png"));
        assert_eq!(chosen(&["text/plain, */*"]), Some("text/plain"));
        assert_eq!(chosen(&["image/avif,image/webp,image/*,*/*"]), Some("image/png"));
        assert_eq!(chosen(&["text/html,*/*;q=0.8"]), Some("application/json"));
    }

    #[test]
    fn weights_count_over_all_lines_and_nothing_is_none() {
        assert_eq!(chosen(&["image/png;q=0.5", "Text/Plain; Q=0.9"]), Some("text/plain"));
        assert_eq!(chosen(&["application/json;q=0, */*;q=0.1"]), Some("image/png"));
        assert_eq!(chosen(&["text/html"]), None);
        assert_eq!(chosen(&["image/png;q=x"]), None);
    }
}
