//! Distinguishing clicks of people from those of link previews and bots (D60).

use crate::access::ClientNet;

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
    /// Who asks, as limits count clients; `None` if that is not known.
    pub client: Option<ClientNet>,
}

/// Names of programs that the maintained list lacks, or has in one spelling or with a version only.
/// Lower case; they may occur anywhere in the agent.
const PROGRAMS: &[&str] = &[
    "whatsapp/",
    "facebookexternalhit",
    "line-poker",
    "kakaotalk-scrap",
    "google-pagerenderer",
    "linkpreview",
    "link-preview",
    "urlpreview",
    "curl/",
    "wget/",
    "python-requests",
    "go-http-client",
    "java-http-client",
    "okhttp",
    "headlesschrome",
];

/// Names of HTTP libraries that count only at the start of an agent, as these words have other
/// meanings elsewhere. Lower case.
const LIBRARIES: &[&str] = &["ruby", "node", "undici", "hyper", "insomnia"];

/// Endings of programs' names. Lower case.
const OWN_WORDS: &[&str] = &["bot", "crawler", "spider"];

/// Exceptions to those endings: a brand of phones. Lower case.
const PEOPLES_WORDS: &[&str] = &["cubot"];

/// How much of an agent is examined, in bytes: agents of real browsers are shorter, and matching
/// takes longer for longer ones.
const AGENT_BYTES: usize = 1024;

/// Whether a person asked: not HEAD, not a prefetch, and an agent that is neither empty nor known
/// as a crawler or previewer, by the list of the Crawlerdex project, which the crate `iscrawl`
/// contains (D60).
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
    !is_program(&agent[..agent.floor_char_boundary(AGENT_BYTES)])
}

/// Whether an agent is that of a program: it is on the list, or names itself so. Any other agent
/// counts as a person's, however short or odd: browsers inside apps send agents of every form.
fn is_program(agent: &str) -> bool {
    let lower = agent.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let calls_itself_one = |word: &str| {
        OWN_WORDS.iter().any(|own| word.ends_with(own)) && !PEOPLES_WORDS.contains(&word)
    };
    words.clone().next().is_some_and(|first| LIBRARIES.contains(&first))
        || words.any(calls_itself_one)
        || PROGRAMS.iter().any(|name| lower.contains(name))
        || iscrawl::crawler_info(agent).is_some()
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
    fn a_browser_is_human_on_any_device_and_in_any_app() {
        for browser in [
            CHROME,
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, \
             like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
            "Mozilla/5.0 (Linux; Android 10; CUBOT X30) AppleWebKit/537.36 (KHTML, like Gecko) \
             Chrome/119.0.0.0 Mobile Safari/537.36",
            "Mozilla/5.0 (Linux; Android 9; CUBOT_NOTE_S Build/PPR1) AppleWebKit/537.36 (KHTML, \
             like Gecko) Version/4.0 Chrome/90.0 Mobile Safari/537.36",
            "Mozilla/5.0 (Linux; Android 13; SM-S908E; wv) AppleWebKit/537.36 (KHTML, like Gecko) \
             Version/4.0 Chrome/119.0.0.0 Mobile Safari/537.36",
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) \
             SamsungBrowser/23.0 Chrome/115.0.0.0 Mobile Safari/537.36",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, \
             like Gecko) Mobile/15E148 Instagram 300.0.0.0",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, \
             like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/430.0.0.23.113;FBDV/iPhone14,5]",
            "Opera/9.80 (Android; Opera Mini/36.2/191.290; U; pt) Presto/2.12.423 Version/12.16",
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
             Chrome/120.0.0.0 Safari/537.36 OPR/106.0.0.0",
        ] {
            assert!(is_human(agent(browser)), "{browser}");
        }
    }

    #[test]
    fn what_nobody_knows_is_human_however_short_it_is() {
        for unknown in [
            "Mozilla/5.0",
            "Mozilla/4.0",
            "Mozilla/5.0 (iPhone)",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X)",
            "Mozilla/5.0 (X11; Linux x86_64)",
            "Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0 Safari/537.36",
            "Mozilla/5.0 (Linux; Android 14) Mobile",
            "Safari/17.0",
            "Firefox",
            "test",
        ] {
            assert!(is_human(agent(unknown)), "{unknown}");
        }
    }

    #[test]
    fn previewers_crawlers_and_programs_are_not_human() {
        for bot in [
            "WhatsApp/2.23.20.0",
            "WhatsApp/2.2587.9 W",
            "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
            "TelegramBot (like TwitterBot)",
            "Twitterbot/1.0",
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            "googlebot",
            "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
            "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
            "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
            "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
            "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5",
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like \
             Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1)",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
             HeadlessChrome/119.0.6045.105 Safari/537.36",
            "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
            "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com \
             GoogleImageProxy)",
            "curl/8.5.0",
            "Wget/1.21.4",
            "python-requests/2.31.0",
            "Go-http-client/2.0",
            "okhttp/4.12.0",
            "axios/1.6.0",
            "node",
            "Ruby",
            "SomeNewBot/1.0",
            "Mozilla/5.0 (compatible; a new crawler)",
            "",
            "  ",
        ] {
            assert!(!is_human(agent(bot)), "{bot}");
        }
        assert!(!is_human(Visit::default()));
    }

    #[test]
    fn only_the_beginning_of_an_endless_agent_is_looked_at() {
        let long = "é".repeat(100_000);
        assert!(is_human(agent(&long)) && is_human(agent(&format!("{CHROME} {long} Googlebot/2"))));
        assert!(!is_human(agent(&format!("Googlebot/2 {long}"))));
    }

    #[test]
    fn a_head_request_or_a_prefetch_is_not_human() {
        assert!(!is_human(Visit { head: true, ..agent(CHROME) }));
        assert!(!is_human(Visit { purpose: Some("prefetch"), ..agent(CHROME) }));
        assert!(!is_human(Visit { sec_purpose: Some("prefetch;prerender"), ..agent(CHROME) }));
    }
}
