//! The routes of the service, as its OpenAPI document lists them.

use recado_tests::{Request, World, wamid};
use serde_json::{Value, json};

use super::records::Records;

/// Where operator tokens are managed.
pub(super) const TOKENS: &str = "/operator/v1/operator-tokens";
/// Where the audit log of all companies is.
pub(super) const AUDIT: &str = "/operator/v1/audit";

/// Who may call a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// The holder of a key with this scope.
    Key(String),
    /// An operator with this role or a higher one.
    Operator(String),
    /// Anyone: what the path names, or a secret beside it, is all there is to show.
    Open,
}

/// One method of one path.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// Its `operationId`.
    pub(super) operation: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) guard: Guard,
    /// The query parameters that hold an id, and its kind.
    pub(super) query: Vec<(String, String)>,
    /// Those of them without which there is no call.
    needed: Vec<String>,
    /// The fields of the body that hold an id, and its kind.
    pub(super) fields: Vec<(Vec<Step>, String)>,
    example: Option<Value>,
    takes_bytes: bool,
}

/// A step from a JSON value into a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The value of a key.
    Key(String),
    /// The first item.
    Item,
    /// The keys of an object are ids.
    Names,
}

/// One place of a request that holds an id.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// A parameter of the path.
    Path(String),
    /// A parameter of the query.
    Query(String),
    /// A field of the body.
    Field(Vec<Step>),
}

/// All routes that the service lists.
pub(super) async fn all(world: &World) -> Vec<Route> {
    let document = world.send(Request::new("GET", "/api/openapi.json")).await.json();
    let paths = document["paths"].as_object().expect("paths");
    let mut routes = Vec::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().expect("methods") {
            routes.push(Route::read(&document, path, method, operation));
        }
    }
    routes
}

impl Route {
    fn read(document: &Value, path: &str, method: &str, operation: &Value) -> Self {
        let content = &operation["requestBody"]["content"];
        let json = &content["application/json"];
        let mut fields = Vec::new();
        find_ids(document, &json["schema"], &mut Vec::new(), &mut fields);
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let of_query = parameters.iter().filter(|parameter| {
            parameter["in"] == "query" && parameter["schema"]["format"] == "uuid"
        });
        let query = of_query.map(|parameter| {
            let name = parameter["name"].as_str().expect("a name");
            let kind = match name {
                "pipeline_stage_id" => "Stage".to_owned(),
                name => kind_of(name.strip_suffix("_id").expect("an id"), "_"),
            };
            (name.to_owned(), kind)
        });
        let needed = parameters.iter().filter(|parameter| parameter["required"] == true);
        let needed = needed.filter(|parameter| parameter["in"] == "query");
        let needed = needed.filter_map(|parameter| parameter["name"].as_str());
        Self {
            needed: needed.map(str::to_owned).collect(),
            operation: operation["operationId"].as_str().unwrap_or_default().to_owned(),
            method: method.to_uppercase(),
            path: path.to_owned(),
            guard: guard(operation),
            query: query.collect(),
            fields,
            example: json.get("example").cloned(),
            takes_bytes: content.get("application/octet-stream").is_some(),
        }
    }

    /// The parameters of the path, and of which kind each is.
    pub(super) fn parameters(&self) -> Vec<(String, String)> {
        let segments: Vec<&str> = self.path.split('/').collect();
        let pairs = segments.windows(2).filter_map(|pair| {
            let name = pair[1].strip_prefix('{')?.strip_suffix('}')?;
            let kind = match name {
                "id" => singular(pair[0]),
                name => kind_of(name.strip_suffix("_id").unwrap_or(name), "_"),
            };
            Some((name.to_owned(), kind))
        });
        pairs.collect()
    }

    /// The places where an id of another company could stand. The company in a path of the operator
    /// is none: the operator may name any. So it is with the tokens of operators.
    pub(super) fn places(&self) -> Vec<(Place, String)> {
        // These are about all companies.
        if self.path.starts_with(TOKENS) || self.path == AUDIT {
            return Vec::new();
        }
        let path = self.parameters().into_iter().filter(|(name, _)| name != "company_id");
        let path = path.map(|(name, kind)| (Place::Path(name), kind));
        let query = self.query.iter().cloned().map(|(name, kind)| (Place::Query(name), kind));
        let fields = self.fields.iter().cloned().map(|(at, kind)| {
            // An import may give a message any id, which is then ours.
            let is_given = at == [Step::Key("id".to_owned())];
            (Place::Field(at), if is_given { "OtherMessage".to_owned() } else { kind })
        });
        path.chain(query).chain(fields).collect()
    }

    /// A call of a company with its own records, which the documented example is about, except for
    /// one place.
    pub(super) fn request(&self, own: &Records, other: Option<(&Place, &str)>) -> Request {
        let mut path = self.path.clone();
        for (name, kind) in self.parameters() {
            let id = match other {
                Some((Place::Path(place), id)) if *place == name => id.to_owned(),
                _ => own.id(&kind),
            };
            path = path.replace(&format!("{{{name}}}"), &id);
        }
        if let Some((Place::Query(name), id)) = other {
            path = format!("{path}?{name}={id}");
        } else if let Some((name, kind)) =
            self.query.iter().find(|(name, _)| self.needed.contains(name))
        {
            path = format!("{path}?{name}={}", own.id(kind));
        }
        if self.takes_bytes {
            return Request::new(&self.method, format!("{path}?filename=a.txt")).body("bytes");
        }
        let request = Request::new(&self.method, path);
        let Some(mut body) = self.example.clone() else { return request };
        for (at, kind) in &self.fields {
            if is_there(&body, at) {
                let kind = if *at == [Step::Key("other_contact_id".to_owned())] {
                    "OtherContact"
                } else {
                    kind
                };
                set(&mut body, at, &own.id(kind));
            }
        }
        if let Some(event) = body.pointer_mut("/events/0/provider_message_id") {
            // What has been stored before is not looked at again.
            *event = json!(wamid());
        }
        if let Some((Place::Field(at), id)) = other {
            set(&mut body, at, id);
        }
        request.json(&body)
    }
}

fn guard(operation: &Value) -> Guard {
    let security = &operation["security"][0];
    if security.get("operator_token").is_some() {
        let words = operation["description"].as_str().unwrap_or_default();
        let role = words.split('`').nth(1).filter(|_| words.starts_with("Needs an operator token"));
        return Guard::Operator(
            role.unwrap_or_else(|| panic!("no role in {operation}")).to_owned(),
        );
    }
    if security.get("api_key").is_none() {
        return Guard::Open;
    }
    let words = operation["description"].as_str().unwrap_or_default();
    let scope = words.split('`').nth(1).filter(|_| words.starts_with("Needs the scope `"));
    Guard::Key(scope.unwrap_or_else(|| panic!("no scope in {operation}")).to_owned())
}

/// The name of a kind of record, from its words: `CloseReason` of `close-reason`.
fn kind_of(words: &str, between: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    words.split(between).map(capital).collect()
}

fn singular(segment: &str) -> String {
    let one = match segment.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => segment.strip_suffix('s').unwrap_or(segment).to_owned(),
    };
    kind_of(&one, "-")
}

/// Finds the ids in a schema: the types of ids have names such as `ContactId`.
fn find_ids(
    document: &Value,
    schema: &Value,
    at: &mut Vec<Step>,
    found: &mut Vec<(Vec<Step>, String)>,
) {
    if at.len() > 6 {
        return;
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        let named = &document["components"]["schemas"][name];
        match name.strip_suffix("Id").filter(|_| named["format"] == "uuid") {
            Some(kind) => {
                let one = (at.clone(), kind.to_owned());
                if !found.contains(&one) {
                    found.push(one);
                }
            }
            None => find_ids(document, named, at, found),
        }
    }
    for several in ["allOf", "oneOf", "anyOf"] {
        for one in schema[several].as_array().into_iter().flatten() {
            find_ids(document, one, at, found);
        }
    }
    if schema.get("items").is_some() {
        at.push(Step::Item);
        find_ids(document, &schema["items"], at, found);
        at.pop();
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        at.push(Step::Key(name.clone()));
        find_ids(document, property, at, found);
        // Two hold ids without a type of their own: a template's name or id, and values by field.
        match name.as_str() {
            "template" => found.push((at.clone(), "Template".to_owned())),
            "custom_fields" => {
                let names = [&at[..], &[Step::Names]].concat();
                found.push((names, "CustomField".to_owned()));
            }
            _ => {}
        }
        at.pop();
    }
}

/// Whether an example has something there.
fn is_there(body: &Value, at: &[Step]) -> bool {
    let Some((step, rest)) = at.split_first() else { return !body.is_null() };
    match step {
        Step::Key(name) => body.get(name).is_some_and(|part| is_there(part, rest)),
        Step::Item => body.get(0).is_some_and(|part| is_there(part, rest)),
        Step::Names => false,
    }
}

/// Writes an id into a body, and makes what is missing on the way.
fn set(body: &mut Value, at: &[Step], id: &str) {
    let Some((step, rest)) = at.split_first() else {
        *body = json!(id);
        return;
    };
    match step {
        Step::Key(name) => {
            if !body.is_object() {
                *body = json!({});
            }
            set(&mut body[name], rest, id);
        }
        Step::Item => {
            if body.get(0).is_none() {
                *body = json!([null]);
            }
            set(&mut body[0], rest, id);
        }
        Step::Names => *body = json!({ id: "x" }),
    }
}
