//! URLs that parsers read differently: a URL that could be read as another host is never called
//! (D54).

use recado_core::transport::Transport;
use recado_core::webhooks::WebhookUrl;

use crate::peer::{OK, Watched, delivery};

/// URLs that are refused by their form, when they are registered and by the client.
const REFUSED: &[&str] = &[
    // Not absolute http or https URLs.
    "",
    "/",
    "127.0.0.1",
    "hook.example",
    "//hook.example/",
    "///hook.example/",
    "http:",
    "http:/",
    "http://",
    "http:///hook.example/",
    "http:////127.0.0.1/",
    "http://:80/",
    "http:hook.example/",
    "http:/hook.example/",
    "https:127.0.0.1",
    "://127.0.0.1/",
    "ftp://hook.example/",
    "file:///etc/passwd",
    "file://hook.example/",
    "gopher://127.0.0.1:6379/_x",
    "dict://127.0.0.1:11211/",
    "ldap://127.0.0.1/",
    "ws://hook.example/",
    "unix:///run/docker.sock",
    "http+unix://%2frun%2fdocker.sock/",
    "javascript://hook.example/",
    "data:text/plain,x",
    "jar:http://127.0.0.1!/",
    "url:http://127.0.0.1/",
    // Users, and texts that parsers take for a user.
    "http://user@hook.example/",
    "http://user:secret@hook.example/",
    "http://@127.0.0.1/",
    "http://hook.example@127.0.0.1/",
    "http://hook.example:80@127.0.0.1/",
    "http://hook.example:@127.0.0.1/",
    "http://127.0.0.1@hook.example/",
    "http://a@b@127.0.0.1/",
    "http://hook.example%40127.0.0.1/",
    "http://hook.example%2540127.0.0.1/",
    // Backslashes.
    "http://hook.example\\@127.0.0.1/",
    "http://127.0.0.1\\@hook.example/",
    "http://127.0.0.1\\.hook.example/",
    "http:\\\\127.0.0.1\\",
    "http:/\\127.0.0.1/",
    "http://\\\\127.0.0.1/",
    // White space and control characters.
    " http://hook.example/",
    "\thttp://hook.example/",
    "http://hook.example /",
    "http:// hook.example/",
    "http://hook.example\t/",
    "http://127.0\t.0.1/",
    "http://127.0.0.1\t.hook.example/",
    "ht\ttp://127.0.0.1/",
    "http://127.0.0.1\r\n.hook.example/",
    "http://hook.example\r\nHost: 127.0.0.1/",
    "http://hook.example/\r\nHost: 127.0.0.1",
    "http://hook.example\n/",
    "http://127.0.0.1\0.hook.example/",
    "http://hook.example\0/",
    "http://hook\u{7f}.example/",
    "\u{feff}http://hook.example/",
    // Digits, dots, slashes and letters that look like others or disappear.
    "http://１２７.0.0.1/",
    "http://１２７．０．０．１/",
    "http://127。0。0。1/",
    "http://127．0．0．1/",
    "http://127｡0｡0｡1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/",
    "http://1𝟚7.0.0.1/",
    "http://٠.0.0.1/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://ｌｏｃａｌｈｏｓｔ/",
    "http://local\u{ad}host/",
    "http://local\u{200b}host/",
    "http://127.0.0\u{2024}1/",
    "http://hook.example\u{ff0f}@127.0.0.1/",
    "http://hook.example\u{2100}127.0.0.1/",
    "http://hook\u{3002}example/",
    "http://bücher.example/",
    "http://[::ﬀ]/",
    // Encoded hosts.
    "http://%31%32%37.0.0.1/",
    "http://127%2e0%2e0%2e1/",
    "http://127.0.0.1%2f.hook.example/",
    "http://127.0.0.1%23.hook.example/",
    "http://127.0.0.1%00.hook.example/",
    "http://local%68ost/",
    "http://%6c%6f%63%61%6c%68%6f%73%74/",
    "http://hook%2eexample/",
    "http://[%3a%3a1]/",
    // Brackets, zones and stray characters.
    "http://[::1",
    "http://::1/",
    "http://[::1]hook.example/",
    "http://[::1].hook.example/",
    "http://hook.example[::1]/",
    "http://[127.0.0.1]/",
    "http://[hook.example]/",
    "http://[::1%lo]/",
    "http://[fe80::1%eth0]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%251]/",
    "http://[fe80::1%25]/",
    "http://[v1.127.0.0.1]/",
    "http://[:::1]/",
    "http://[::1::]/",
    "http://[0:0:0:0:0:0:0:0:1]/",
    "http://[::00001]/",
    "http://[::ffff:127.1]/",
    "http://[::ffff:0x7f.0.0.1]/",
    "http://[::ffff:127.0.0.01]/",
    "http://[]/",
    "http://<127.0.0.1>/",
    "http://\"127.0.0.1\"/",
    "http://127.0.0.1;hook.example/",
    "http://hook.example,127.0.0.1/",
    "http://hook.example&@127.0.0.1/",
    "http://{127.0.0.1}/",
    "http://$(127.0.0.1)/",
    "http://127.0.0.1'/",
    "http://*/",
    "http://!127.0.0.1/",
    "http://~127.0.0.1/",
    // Invalid ports.
    "http://hook.example:/",
    "http://hook.example:0/",
    "http://hook.example:65536/",
    "http://hook.example:99999/",
    "http://hook.example:4294967376/",
    "http://hook.example:-1/",
    "http://hook.example:+80/",
    "http://hook.example:0x50/",
    "http://hook.example:80:22/",
    "http://hook.example: 80/",
    "http://hook.example:８０/",
    "http://hook.example:22@127.0.0.1/",
    "http://127.0.0.1:80.hook.example/",
    "http://127.0.0.1:hook.example/",
];

/// R61.
#[tokio::test]
async fn a_url_that_could_be_read_as_another_is_called_nowhere() {
    let network = Watched::answering(OK).await;
    network.name("hook.example", &[&["8.8.8.8"]]);
    let client = network.guarded();
    for url in REFUSED {
        assert!(WebhookUrl::parse(url).is_err(), "{url:?} must not be registered");
        assert!(client.check(url).await.is_err(), "{url:?} must not pass");
        assert!(client.send(delivery(url)).await.is_err(), "{url:?} must not be called");
        assert_eq!(network.dialed(), Vec::<String>::new(), "{url:?}");
    }
}

#[tokio::test]
async fn hosts_that_end_in_a_number_are_addresses_or_nothing() {
    let network = Watched::answering(OK).await;
    let client = network.guarded();
    for host in [
        "256.0.0.1",
        "127.0.0.256",
        "127.0.0.1.1",
        "127.0.0.0.1",
        "1.2.3.4.5",
        "4294967296",
        "4294967297",
        "0x100000000",
        "0400000000000",
        "127.16777216",
        "127.0.65536",
        "08.0.0.1",
        "0.0.0.09",
        "127..1",
        ".127.0.0.1",
        "127.0.0.1..",
        "hook.example.1",
        "hook.0x7f",
        "localhost.0",
    ] {
        let url = format!("http://{host}/");
        assert!(client.check(&url).await.is_err(), "{host}");
        assert!(client.send(delivery(&url)).await.is_err(), "{host}");
        assert_eq!(network.dialed(), Vec::<String>::new(), "{host}");
    }
}

#[tokio::test]
async fn what_follows_the_host_never_changes_it() {
    for path in [
        "",
        "/",
        "?",
        "?@127.0.0.1/",
        "?u=http://127.0.0.1/",
        "/@127.0.0.1/",
        "/:80@127.0.0.1/",
        "//127.0.0.1/",
        "/../../127.0.0.1/",
        "/..;/127.0.0.1",
        "/http://127.0.0.1/",
        "/%0d%0aHost:%20127.0.0.1",
        "/%5c@127.0.0.1/",
        "/%2f%2f127.0.0.1",
        "/%23@127.0.0.1",
        "/.127.0.0.1/",
    ] {
        let network = Watched::answering(OK).await;
        network.name("hook.example", &[&["8.8.8.8"]]);
        let client = network.guarded();
        let url = format!("http://hook.example{path}");
        let registered = WebhookUrl::parse(&url).expect(&url);
        assert_eq!(client.check(registered.as_str()).await, Ok(()), "{url}");
        assert_eq!(client.send(delivery(registered.as_str())).await.expect(&url).status, 200);
        assert_eq!(network.dialed(), ["8.8.8.8:80"], "{url}");
    }
}

#[tokio::test]
async fn a_fragment_is_not_registered_and_never_names_the_host() {
    for fragment in ["#", "#x", "#@127.0.0.1/", "/#@127.0.0.1/", "?#@127.0.0.1/", "#.127.0.0.1"] {
        let network = Watched::answering(OK).await;
        network.name("hook.example", &[&["8.8.8.8"]]);
        let url = format!("http://hook.example{fragment}");
        assert!(WebhookUrl::parse(&url).is_err(), "{url}");
        let _ = network.guarded().send(delivery(&url)).await;
        let dialed = network.dialed();
        assert!(dialed.iter().all(|address| address == "8.8.8.8:80"), "{url}: {dialed:?}");
    }
}
