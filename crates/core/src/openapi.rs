//! Building blocks for the schemas of bodies.

use utoipa::ToSchema;
use utoipa::openapi::schema::{
    Array, ArrayBuilder, KnownFormat, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat,
    SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr};

/// The schema of a field.
pub type Property = RefOr<Schema>;

/// Schemas by name.
pub type Components = Vec<(String, Property)>;

/// A reference to a schema that is a component of its own.
pub(crate) fn reference<T: ToSchema>() -> Property {
    RefOr::Ref(Ref::from_schema_name(T::name()))
}

/// Adds a component with those that it refers to.
pub(crate) fn add<T: ToSchema>(all: &mut Components) {
    all.push((T::name().into_owned(), T::schema()));
    T::schemas(all);
}

/// A text with the limits that `limits` adds.
pub(crate) fn text(limits: impl FnOnce(ObjectBuilder) -> ObjectBuilder) -> Property {
    limits(ObjectBuilder::new().schema_type(Type::String)).into()
}

/// The same text with an example.
pub(crate) fn example(text: ObjectBuilder, example: &str) -> ObjectBuilder {
    #[expect(deprecated, reason = "the document has `example`, not a list of them")]
    text.example(Some(example.into()))
}

/// The format of a date without a time.
pub(crate) const DATE: Option<SchemaFormat> = Some(SchemaFormat::KnownFormat(KnownFormat::Date));

/// An object of texts by names that are not fixed.
pub(crate) fn texts_by_name() -> Property {
    let name = ObjectBuilder::new().schema_type(Type::String).build();
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .property_names(Some(name))
        .additional_properties(Some(text(|text| text)))
        .into()
}

/// True or false.
pub(crate) fn boolean() -> Property {
    ObjectBuilder::new().schema_type(Type::Boolean).into()
}

/// A number with a fraction.
pub(crate) fn number(doc: &str) -> Property {
    ObjectBuilder::new().schema_type(Type::Number).description(said(doc)).into()
}

/// A whole number within bounds.
pub(crate) fn whole_number(min: u32, max: u32) -> Property {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int32)))
        .minimum(Some(min))
        .maximum(Some(max))
        .into()
}

/// An array of `items` with the limits that `limits` adds.
pub(crate) fn array(
    items: Property,
    limits: impl FnOnce(ArrayBuilder) -> ArrayBuilder,
) -> Property {
    limits(ArrayBuilder::new().items(items)).into()
}

/// One of fixed words, each with its meaning.
pub(crate) fn words(doc: &str, meanings: &[(&str, &str)]) -> Property {
    let meaning = |(word, doc): &(&str, &str)| {
        let text = said(doc)?.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(format!("- `{word}`: {text}"))
    };
    let listed: Vec<String> = meanings.iter().filter_map(meaning).collect();
    let parts = [said(doc), (!listed.is_empty()).then(|| listed.join("\n"))];
    let description = parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .enum_values(Some(meanings.iter().map(|(word, _)| *word)))
        .into()
}

/// An object of which nothing is documented.
pub(crate) fn any_object() -> Property {
    ObjectBuilder::new().schema_type(Type::Object).into()
}

/// The text of a doc comment: its lines without the space at the beginning of each.
fn said(doc: &str) -> Option<String> {
    let lines: Vec<&str> = doc.lines().map(str::trim).collect();
    let text = lines.join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A property with its doc comment.
pub(crate) fn described(mut property: Property, doc: &str) -> Property {
    let Some(text) = said(doc) else { return property };
    match &mut property {
        RefOr::Ref(reference) => reference.description = text,
        RefOr::T(Schema::Object(Object { description, .. }))
        | RefOr::T(Schema::Array(Array { description, .. })) => *description = Some(text),
        RefOr::T(_) => {}
    }
    property
}

/// A property that may be null.
pub(crate) fn nullable(property: Property) -> Property {
    let null = |schema_type: &SchemaType| match schema_type {
        SchemaType::Type(one) => SchemaType::from_iter([one.clone(), Type::Null]),
        many => many.clone(),
    };
    match property {
        RefOr::T(Schema::Object(mut object)) => {
            object.schema_type = null(&object.schema_type);
            object.into()
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.schema_type = null(&array.schema_type);
            array.into()
        }
        other => {
            let nothing = ObjectBuilder::new().schema_type(Type::Null);
            OneOfBuilder::new().item(other).item(nothing).into()
        }
    }
}

/// The schema of a body, begun with its doc comment.
pub(crate) fn object(doc: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Object).description(said(doc))
}
