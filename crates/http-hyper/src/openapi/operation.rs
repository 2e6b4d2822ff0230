//! The documentation of one route, written beside it in the table.
#![cfg_attr(not(test), expect(dead_code, reason = "the document is made by the tests"))]

use std::collections::BTreeMap;

use recado_core::Code;
use serde_json::{Map, Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::error::status_of;

/// Outside of tests no schema is generated.
#[cfg(not(test))]
pub(crate) trait ToSchema {}

#[cfg(not(test))]
impl<T> ToSchema for T {}

/// A query parameter: its name, and its documentation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryParam {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) kind: ParamKind,
}

/// The values of a query parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParamKind {
    Text,
    Required,
    RequiredUuid,
    Uuid,
    Flag,
    Page,
    Limit,
    Words(&'static [&'static str]),
    List(&'static [&'static str]),
}

impl QueryParam {
    pub(crate) const fn new(name: &'static str, kind: ParamKind, about: &'static str) -> Self {
        Self { name, about, kind }
    }

    pub(crate) fn document(&self) -> Value {
        let schema = match self.kind {
            ParamKind::Text | ParamKind::Required => json!({"type": "string"}),
            ParamKind::Uuid | ParamKind::RequiredUuid => {
                json!({"type": "string", "format": "uuid"})
            }
            ParamKind::Flag => json!({"type": "boolean"}),
            ParamKind::Page => json!({"type": "integer", "minimum": 1, "default": 1}),
            ParamKind::Limit => {
                json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 50})
            }
            ParamKind::Words(words) => json!({"type": "string", "enum": words}),
            ParamKind::List(words) => {
                json!({"type": "array", "items": {"type": "string", "enum": words}})
            }
        };
        let mut document = json!({
            "name": self.name,
            "in": "query",
            "description": self.about,
            "required": matches!(self.kind, ParamKind::Required | ParamKind::RequiredUuid),
            "schema": schema,
        });
        if matches!(self.kind, ParamKind::List(_)) {
            document["style"] = json!("form");
            document["explode"] = json!(false);
        }
        document
    }
}

/// The documentation of one method of one path.
#[derive(Debug, Default)]
pub(crate) struct Operation {
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: Option<&'static str>,
    pub(crate) body: Option<Value>,
    pub(crate) answers: Map<String, Value>,
    /// Codes beyond those that every call of the surface may answer.
    pub(crate) codes: Vec<(u16, Code)>,
    /// The schemas that the answers refer to.
    pub(crate) answer_schemas: BTreeMap<String, Value>,
    /// The schemas that the body refers to.
    pub(crate) body_schemas: BTreeMap<String, Value>,
}

impl Operation {
    /// Its id and a line on what it does.
    pub(crate) fn says(mut self, id: &'static str, summary: &'static str) -> Self {
        self.id = id;
        self.summary = summary;
        self
    }

    /// A line on what it does, for the operator API: its id is the word of its action.
    pub(crate) fn does(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// More on what it does.
    pub(crate) fn more(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// A JSON body, with an example that is accepted as it stands.
    pub(crate) fn body<T: ToSchema>(mut self, example: &'static str) -> Self {
        let example: Value = serde_json::from_str(example).expect("the example is JSON");
        let schema = self.refer_in_body::<T>();
        let content = json!({"application/json": {"schema": schema, "example": example}});
        self.body = Some(json!({"required": true, "content": content}));
        self
    }

    /// Further examples of a JSON body, each with its name; `first` is that of the one before.
    pub(crate) fn examples(
        mut self,
        first: &'static str,
        more: &[(&'static str, &'static str)],
    ) -> Self {
        let Some(body) = &mut self.body else { return self };
        let content = &mut body["content"]["application/json"];
        let mut examples = Map::new();
        let one = content.as_object_mut().and_then(|content| content.remove("example"));
        examples.insert(first.to_owned(), json!({ "value": one }));
        for (name, example) in more {
            let example: Value = serde_json::from_str(example).expect("the example is JSON");
            examples.insert((*name).to_owned(), json!({ "value": example }));
        }
        content["examples"] = examples.into();
        self
    }

    /// A body of raw bytes.
    pub(crate) fn raw_body(mut self) -> Self {
        let content = json!({"application/octet-stream": {"schema": binary()}});
        self.body = Some(json!({"required": true, "content": content}));
        self
    }

    /// A JSON body, or a form with the same fields and perhaps the part `file`; with an example.
    pub(crate) fn form<T: ToSchema>(mut self, example: &'static str) -> Self {
        let example: Value = serde_json::from_str(example).expect("the example is JSON");
        let schema = self.refer_in_body::<T>();
        let file = json!({"type": "object", "properties": {"file": file_part()}});
        let mut form = example.clone();
        let fields = form.as_object_mut().expect("the example is an object");
        fields.remove("url");
        fields.insert("file".to_owned(), file_part()["example"].clone());
        let content = json!({
            "application/json": {"schema": schema.clone(), "example": example},
            "multipart/form-data": {"schema": {"allOf": [schema, file]}, "example": form},
        });
        self.body = Some(json!({"required": true, "content": content}));
        self
    }

    /// A file: raw, or the part `file` of a form.
    pub(crate) fn file_body(mut self) -> Self {
        let part =
            json!({"type": "object", "required": ["file"], "properties": {"file": file_part()}});
        let bytes = file_part()["example"].clone();
        let content = json!({
            "application/octet-stream": {"schema": binary(), "example": bytes.clone()},
            "multipart/form-data": {"schema": part, "example": {"file": bytes}},
        });
        self.body = Some(json!({"required": true, "content": content}));
        self
    }

    /// 200 with `data`.
    pub(crate) fn answers<T: ToSchema>(mut self) -> Self {
        let schema = envelope(&[("data", self.refer::<T>(), true)]);
        self.answer(200, "Done.", schema)
    }

    /// 200 with `data`, which may be null.
    pub(crate) fn answers_maybe<T: ToSchema>(mut self) -> Self {
        let schema = json!({"oneOf": [self.refer::<T>(), {"type": "null"}]});
        self.answer(200, "Done.", envelope(&[("data", schema, true)]))
    }

    /// 200 with `data` if it was asked for, else without.
    pub(crate) fn answers_if_asked<T: ToSchema>(mut self) -> Self {
        let schema = envelope(&[("data", self.refer::<T>(), false)]);
        self.answer(200, "Done.", schema)
    }

    /// 201 with `data`.
    pub(crate) fn makes<T: ToSchema>(mut self) -> Self {
        let schema = envelope(&[("data", self.refer::<T>(), true)]);
        self.answer(201, "Made.", schema)
    }

    /// `status` with `data` and, where there are any, `warnings`.
    pub(crate) fn answers_with_warnings<T: ToSchema>(mut self, status: u16) -> Self {
        let warning = self.refer::<recado_core::contacts::Warning>();
        let warnings = json!({
            "type": "array",
            "items": warning,
            "description": "Absent when there are none.",
        });
        let schema = envelope(&[("data", self.refer::<T>(), true), ("warnings", warnings, false)]);
        self.answer(status, "Done.", schema)
    }

    /// 200 with a list in `data`.
    pub(crate) fn lists<T: ToSchema>(mut self) -> Self {
        let items = self.refer::<T>();
        let schema = envelope(&[("data", json!({"type": "array", "items": items}), true)]);
        self.answer(200, "All of them.", schema)
    }

    /// 200 with a page in `data` and one of several forms of `pagination`.
    pub(crate) fn pages<T: ToSchema>(mut self, pagination: Vec<Value>) -> Self {
        let items = self.refer::<T>();
        let pagination = match <[Value; 1]>::try_from(pagination) {
            Ok([one]) => one,
            Err(several) => json!({"oneOf": several}),
        };
        let data = json!({"type": "array", "items": items});
        let schema = envelope(&[("data", data, true), ("pagination", pagination, true)]);
        self.answer(200, "A page.", schema)
    }

    /// 200 with a page in `data`, its `pagination`, and another field at the root.
    pub(crate) fn pages_with<T: ToSchema>(
        mut self,
        pagination: Value,
        name: &'static str,
        schema: Value,
    ) -> Self {
        let items = self.refer::<T>();
        let data = json!({"type": "array", "items": items});
        let fields = [("data", data, true), ("pagination", pagination, true), (name, schema, true)];
        self.answer(200, "A page.", envelope(&fields))
    }

    /// 200 with a page in `data` and `total`, `page` and `limit` beside it (4.11).
    pub(crate) fn pages_flat<T: ToSchema>(mut self) -> Self {
        let data = json!({"type": "array", "items": self.refer::<T>()});
        let number = |least: u32, about: &str| json!({"type": "integer", "minimum": least, "description": about});
        let fields = [
            ("data", data, true),
            ("total", number(0, "How many there are in all."), true),
            ("page", number(1, "Which page this is."), true),
            ("limit", number(1, "How many a page has."), true),
        ];
        self.answer(200, "A page.", envelope(&fields))
    }

    /// 200 in the flat form of hooks: the fields of `T` beside `ok`.
    pub(crate) fn answers_hook<T: ToSchema>(mut self) -> Self {
        let body = self.refer::<T>();
        let schema = json!({
            "type": "object",
            "properties": {"ok": {
                "type": "boolean",
                "const": true,
                "description": "That it is no refusal.",
            }},
            "required": ["ok"],
            "allOf": [body],
        });
        self.answer(200, "Done.", schema)
    }

    /// 200 without `data`.
    pub(crate) fn done(self) -> Self {
        self.answer(200, "Done.", envelope(&[]))
    }

    /// 200 with bytes.
    pub(crate) fn answers_bytes(mut self, content_type: &'static str) -> Self {
        let schema =
            if content_type.starts_with("text/") { json!({"type": "string"}) } else { binary() };
        let content = json!({content_type: {"schema": schema}});
        self.answers.insert("200".to_owned(), json!({"description": "Done.", "content": content}));
        self
    }

    /// 200 with the bytes of a file, or 206 with a part of them.
    pub(crate) fn answers_file(mut self, content_type: &'static str) -> Self {
        self = self.answers_bytes(content_type);
        let content = self.answers["200"]["content"].clone();
        let part = json!({"description": "The range that was asked for.", "content": content});
        self.answers.insert("206".to_owned(), part);
        self
    }

    /// The same answer as bytes of this type, if `Accept` prefers it.
    pub(crate) fn also_as(mut self, content_type: &'static str) -> Self {
        let schema =
            if content_type.starts_with("text/") { json!({"type": "string"}) } else { binary() };
        self.answers["200"]["content"][content_type] = json!({"schema": schema});
        self
    }

    /// 200 with a JSON object of its own, without the envelope.
    pub(crate) fn answers_object(self) -> Self {
        self.answer(200, "Done.", json!({"type": "object", "additionalProperties": true}))
    }

    /// An answer without a body.
    pub(crate) fn answers_empty(mut self, status: u16, description: &'static str) -> Self {
        self.answers.insert(status.to_string(), json!({"description": description}));
        self
    }

    /// A refusal beyond those that every call of the surface may answer.
    pub(crate) fn refuses(self, code: Code) -> Self {
        self.refuses_as(status_of(code).as_u16(), code)
    }

    /// All of these refusals.
    pub(crate) fn refuses_all(self, codes: &[Code]) -> Self {
        codes.iter().fold(self, |op, code| op.refuses(*code))
    }

    /// The same under a status that is not its code's.
    pub(crate) fn refuses_as(mut self, status: u16, code: Code) -> Self {
        self.codes.push((status, code));
        self
    }

    /// A reference to the schema of `T` as a part of an answer.
    pub(crate) fn refer<T: ToSchema>(&mut self) -> Value {
        let (schemas, reference) = schemas_of::<T>();
        for (name, mut schema) in schemas {
            complete(&name, &mut schema);
            self.answer_schemas.insert(name, schema);
        }
        reference
    }

    fn refer_in_body<T: ToSchema>(&mut self) -> Value {
        let (schemas, reference) = schemas_of::<T>();
        self.body_schemas.extend(schemas);
        reference
    }

    fn answer(mut self, status: u16, description: &str, schema: Value) -> Self {
        let content = json!({"application/json": {"schema": schema}});
        self.answers
            .insert(status.to_string(), json!({"description": description, "content": content}));
        self
    }
}

/// The schema of `T` with all that it refers to, and a reference to it.
#[cfg(test)]
fn schemas_of<T: ToSchema>() -> (Vec<(String, Value)>, Value) {
    let mut schemas = Vec::new();
    T::schemas(&mut schemas);
    schemas.push((T::name().into_owned(), T::schema()));
    let json = |schema| serde_json::to_value(schema).expect("a schema is JSON");
    let schemas = schemas.into_iter().map(|(name, schema)| (name, json(schema))).collect();
    (schemas, json!({"$ref": format!("#/components/schemas/{}", T::name())}))
}

#[cfg(not(test))]
fn schemas_of<T: ToSchema>() -> (Vec<(String, Value)>, Value) {
    (Vec::new(), Value::Null)
}

/// Fields of answers that are sometimes absent; every other field is always present, possibly null.
const SOMETIMES: &[(&str, &[&str])] = &[
    ("ContactSummary", &["shared_email"]),
    ("ContactListItem", &["link_clicks"]),
    ("ContactDetail", &["lead_memory"]),
    (
        "Offer",
        &[
            "header",
            "body",
            "footer",
            "buttons",
            "button",
            "sections",
            "label",
            "url",
            "options",
            "selectable",
        ],
    ),
    ("SentView", &["group_jid"]),
    ("Upload", &["url"]),
    ("Upserted", &["warnings"]),
    ("EventResult", &["message_id", "reason"]),
    ("Bant", &["authority_raw"]),
    ("CampaignPreview", &["header", "buttons"]),
];

/// Completes the derived schema of an answer: fields that may be null are required, and a part that
/// may be absent is absent, not null.
pub(super) fn complete(name: &str, schema: &mut Value) {
    let parts = schema.get_mut("allOf").and_then(Value::as_array_mut);
    for part in parts.into_iter().flatten() {
        if let Some(choice) = part.get_mut("oneOf").map(Value::take) {
            *part = json!({"anyOf": [choice[0], {"type": "object"}]});
        } else {
            complete(name, part);
        }
    }
    let Some(properties) = schema["properties"].as_object() else { return };
    let sometimes: Vec<&str> = SOMETIMES
        .iter()
        .filter(|(of, _)| *of == name)
        .flat_map(|(_, fields)| *fields)
        .copied()
        .collect();
    let always = |field: &&String| !sometimes.contains(&field.as_str());
    let required: Vec<String> = properties.keys().filter(always).cloned().collect();
    schema["required"] = json!(required);
}

fn binary() -> Value {
    json!({"type": "string", "format": "binary"})
}

/// The part of a form that holds a file.
fn file_part() -> Value {
    let mut file = binary();
    file["description"] = json!("The file.");
    file["example"] = json!("(bytes)");
    file
}

/// The schema of a success: `success` and the other fields at the root.
fn envelope(fields: &[(&str, Value, bool)]) -> Value {
    let mut properties = json!({"success": {
        "type": "boolean",
        "const": true,
        "description": "That it is no refusal.",
    }});
    let mut required = vec!["success"];
    for (name, schema, always) in fields {
        properties[*name] = schema.clone();
        if *always {
            required.push(name);
        }
    }
    json!({"type": "object", "properties": properties, "required": required})
}
