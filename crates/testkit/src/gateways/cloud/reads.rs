//! Answers reads of the number, of templates and of files.

use serde_json::json;

use super::{HOST, State, VERSION, graph_error};
use crate::gateways::{FakeRequest, Reply};

impl State {
    fn only_parameters(&mut self, request: &FakeRequest, allowed: &[&str]) {
        let unknown = request.query.iter().find(|(name, _)| !allowed.contains(&name.as_str()));
        if let Some((name, _)) = unknown {
            self.violation(format!("{} has the parameter {name}", request.path));
        }
    }

    /// The state of the number.
    pub(super) fn number(&mut self, request: &FakeRequest) -> Reply {
        self.only_parameters(request, &["fields"]);
        if let Some((status, body)) = &self.state {
            return Reply::json(*status, body);
        }
        let mut reported = json!({
            "display_phone_number": self.display,
            "verified_name": "Loja",
            "quality_rating": "GREEN",
        });
        let fields = request.parameter("fields").unwrap_or("display_phone_number");
        if let Some(reported) = reported.as_object_mut() {
            reported.retain(|name, _| fields.split(',').any(|field| field == name));
            reported.insert("id".to_owned(), json!(self.number));
        }
        Reply::json(200, &reported)
    }

    /// One page of the account's templates.
    pub(super) fn list_templates(&mut self, request: &FakeRequest) -> Reply {
        self.only_parameters(request, &["fields", "limit", "after"]);
        if request.parameter("limit").is_some_and(|limit| limit.parse::<usize>().is_err()) {
            self.violation("limit is no number");
        }
        let start = match request.parameter("after") {
            None => 0,
            Some(cursor) => match cursor.strip_prefix("after-").and_then(|n| n.parse().ok()) {
                Some(start) => start,
                None => {
                    self.violation("the cursor is none of ours");
                    0
                }
            },
        };
        let page: Vec<_> = self.templates.iter().skip(start).take(self.page).cloned().collect();
        let end = start + page.len();
        let mut paging = json!({"cursors": {
            "before": format!("before-{start}"), "after": format!("after-{end}"),
        }});
        if end < self.templates.len() {
            let next = format!("https://{HOST}/{VERSION}/{}/message_templates", self.account);
            paging["next"] = json!(next);
        }
        Reply::json(200, &json!({"data": page, "paging": paging}))
    }

    /// The address of a file.
    pub(super) fn media(&mut self, request: &FakeRequest, id: &str) -> Reply {
        self.only_parameters(request, &["phone_number_id"]);
        if request.parameter("phone_number_id").is_some_and(|number| number != self.number) {
            self.violation("phone_number_id is another number's");
        }
        let Some(file) = self.files.get(id) else {
            let (status, mut body) = graph_error(
                100,
                "Unsupported get request. Object with ID does not exist, cannot be loaded due to \
                 missing permissions, or does not support this operation",
            );
            body["error"]["error_subcode"] = json!(33);
            return Reply::json(status, &body);
        };
        // A fake behind a real server answers addresses with the host of the request.
        let base = match request.header("host") {
            Some(host) => format!("http://{host}"),
            None => format!("https://{HOST}"),
        };
        Reply::json(
            200,
            &json!({
                "messaging_product": "whatsapp",
                "url": format!("{base}/file/{id}"),
                "mime_type": file.mime,
                "sha256": "00",
                "file_size": file.bytes.len(),
                "id": id,
            }),
        )
    }

    /// The content of a file.
    pub(super) fn file(&mut self, id: &str) -> Reply {
        match self.files.get_mut(id) {
            None => Reply::bytes(404, Vec::new()),
            Some(file) if file.expired > 0 => {
                file.expired -= 1;
                Reply::bytes(404, Vec::new())
            }
            Some(file) => Reply::bytes(200, file.bytes.clone()),
        }
    }
}
