//! Telling people from previews and bots (D60).

/// What is known of a request for a tracked link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Visit<'a> {
    /// Whether the method is HEAD.
    pub head: bool,
    /// The `User-Agent` header.
    pub user_agent: Option<&'a str>,
    /// The `Purpose` or `X-Purpose` header.
    pub purpose: Option<&'a str>,
    /// The `Sec-Purpose` header.
    pub sec_purpose: Option<&'a str>,
}

/// Agents that fetch a page to show a preview of it, beside those of the maintained crawler list.
/// Lower case.
const PREVIEWERS: &[&str] = &[
    "whatsapp",
    "facebookexternalhit",
    "facebot",
    "meta-externalagent",
    "telegrambot",
    "twitterbot",
    "linkedinbot",
    "slackbot",
    "slack-imgproxy",
    "discordbot",
    "skypeuripreview",
    "viber",
    "line-poker",
    "googleimageproxy",
    "google-pagerenderer",
    "bingpreview",
    "iframely",
    "embedly",
    "curl/",
    "wget/",
    "python-requests",
    "go-http-client",
    "okhttp",
    "headlesschrome",
];

/// Whether a person asked: not HEAD, not a prefetch, and an agent that is neither empty nor known
/// as a crawler or previewer (D60).
pub fn is_human(visit: Visit<'_>) -> bool {
    let agent = visit.user_agent.unwrap_or_default().trim();
    if visit.head || agent.is_empty() {
        return false;
    }
    let prefetches = |purpose: Option<&str>| {
        purpose.is_some_and(|purpose| {
            let purpose = purpose.to_ascii_lowercase();
            ["prefetch", "preview", "prerender"].iter().any(|word| purpose.contains(word))
        })
    };
    if prefetches(visit.purpose) || prefetches(visit.sec_purpose) {
        return false;
    }
    let lower = agent.to_ascii_lowercase();
    !PREVIEWERS.iter().any(|known| lower.contains(known)) && !iscrawl::is_crawler(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHROME: &str = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like \
                          Gecko) Chrome/141.0.0.0 Mobile Safari/537.36";

    fn agent(user_agent: &str) -> Visit<'_> {
        Visit { user_agent: Some(user_agent), ..Visit::default() }
    }

    #[test]
    fn a_browser_is_human() {
        assert!(is_human(agent(CHROME)));
        assert!(is_human(agent(
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, \
             like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
        )));
    }

    #[test]
    fn previewers_and_crawlers_are_not_human() {
        for bot in [
            "WhatsApp/2.23.20.0",
            "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
            "TelegramBot (like TwitterBot)",
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
            "curl/8.5.0",
            "",
            "  ",
        ] {
            assert!(!is_human(agent(bot)), "{bot}");
        }
        assert!(!is_human(Visit::default()));
    }

    #[test]
    fn a_head_request_or_a_prefetch_is_not_human() {
        assert!(!is_human(Visit { head: true, ..agent(CHROME) }));
        assert!(!is_human(Visit { purpose: Some("prefetch"), ..agent(CHROME) }));
        assert!(!is_human(Visit { sec_purpose: Some("prefetch;prerender"), ..agent(CHROME) }));
    }
}
