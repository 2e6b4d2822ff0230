//! JSON bodies, each declared once: `body!` makes the type, the parser that names every problem
//! at once (D8), what a patch does to its record, and the schema of the OpenAPI document.

mod declare;

use std::borrow::Cow;
use std::marker::PhantomData;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::form::Form;
use crate::input::{Given, Input};
#[cfg(feature = "openapi")]
use crate::openapi::{Components, Property};

pub(crate) use declare::body;

/// Whether a field of a body is required, and what null means.
pub trait BodyField {
    /// The value of the field after reading.
    type Value;
    /// Whether the field must be there.
    const REQUIRED: bool = false;
    /// Whether the field may be null.
    const NULLABLE: bool = false;

    /// Reads the field; `None` means that a problem was recorded.
    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Self::Value>;

    /// Its schema, without its description and without whether it may be null.
    #[cfg(feature = "openapi")]
    fn schema() -> Property;

    /// Adds the schemas to which [`BodyField::schema`] refers.
    #[cfg(feature = "openapi")]
    fn components(_all: &mut Components) {}
}

/// The two documenting functions of a field that is documented like its form.
macro_rules! as_form {
    ($form:ty) => {
        #[cfg(feature = "openapi")]
        fn schema() -> crate::openapi::Property {
            <$form>::schema()
        }

        #[cfg(feature = "openapi")]
        fn components(all: &mut crate::openapi::Components) {
            <$form>::components(all);
        }
    };
}

pub(crate) use as_form;

/// Required and not empty.
#[derive(Debug)]
pub struct Required<F>(PhantomData<F>);

impl<F: Form> BodyField for Required<F> {
    type Value = F::Value;
    const REQUIRED: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<F::Value> {
        match input.field::<F>(name)? {
            Given::Value(value) => Some(value),
            Given::Absent | Given::Cleared => input.refuse(name, "is required"),
        }
    }

    as_form!(F);
}

/// May be left out; null is the same.
#[derive(Debug)]
pub struct Optional<F>(PhantomData<F>);

impl<F: Form> BodyField for Optional<F> {
    type Value = Option<F::Value>;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Option<F::Value>> {
        input.field::<F>(name).map(Given::value)
    }

    as_form!(F);
}

/// May be left out; null is the same, and both mean the default of what is read.
#[derive(Debug)]
pub struct OrDefault<F>(PhantomData<F>);

impl<F: Form<Value: Default>> BodyField for OrDefault<F> {
    type Value = F::Value;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<F::Value> {
        input.field::<F>(name).map(|given| given.value().unwrap_or_default())
    }

    as_form!(F);
}

/// Must be there. It is for a body whose problems are answered by the use case, together with those
/// that need the store.
#[derive(Debug)]
pub struct Expected<F>(PhantomData<F>);

impl<F: Form> BodyField for Expected<F> {
    type Value = Option<F::Value>;
    const REQUIRED: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Option<F::Value>> {
        Required::<F>::read(input, name).map(Some)
    }

    as_form!(F);
}

/// A time that is not later than now; may be left out.
#[derive(Debug)]
pub struct NotAfterNow;

impl BodyField for NotAfterNow {
    type Value = Option<Timestamp>;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Option<Timestamp>> {
        let at = Optional::<Timestamp>::read(input, name)?;
        if input.now().is_some_and(|now| at > Some(now)) {
            return input.refuse(name, "lies in the future");
        }
        Some(at)
    }

    as_form!(Timestamp);
}

/// Accepted and ignored, so that a record that was read can be sent again.
#[derive(Debug)]
pub struct Unread<F>(PhantomData<F>);

impl<F: Form> BodyField for Unread<F> {
    type Value = ();
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<()> {
        input.ignore([name]);
        Some(())
    }

    as_form!(F);
}

/// Of a patch: left out it stays, null clears it.
#[derive(Debug)]
pub struct Clearable<F>(PhantomData<F>);

impl<F: Form> BodyField for Clearable<F> {
    type Value = Given<F::Value>;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Given<F::Value>> {
        input.field::<F>(name)
    }

    as_form!(F);
}

/// Of a patch: left out it stays, null is a problem.
#[derive(Debug)]
pub struct Kept<F>(PhantomData<F>);

impl<F: Form> BodyField for Kept<F> {
    type Value = Option<F::Value>;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Option<F::Value>> {
        match input.field::<F>(name)? {
            Given::Cleared => input.refuse(name, "must not be empty"),
            given => Some(given.value()),
        }
    }

    as_form!(F);
}

/// Of a patch: left out it stays, otherwise it is required as in a new record.
#[derive(Debug)]
pub struct Replaced<F>(PhantomData<F>);

impl<F: Form> BodyField for Replaced<F> {
    type Value = Option<F::Value>;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Option<F::Value>> {
        match input.field::<F>(name)? {
            Given::Cleared => input.refuse(name, "is required"),
            given => Some(given.value()),
        }
    }

    as_form!(F);
}

/// The value of a field in a patch, written over the record's.
pub trait WriteOver<T> {
    /// Writes it over `field`; a field that the patch does not have stays unchanged.
    fn write_over(&self, field: &mut T);
}

impl<T: Clone> WriteOver<T> for Option<T> {
    fn write_over(&self, field: &mut T) {
        if let Some(value) = self {
            field.clone_from(value);
        }
    }
}

impl<T: Clone> WriteOver<Option<T>> for Given<T> {
    fn write_over(&self, field: &mut Option<T>) {
        self.clone().apply(field);
    }
}

impl<T: Clone + Default> WriteOver<T> for Given<T> {
    fn write_over(&self, field: &mut T) {
        match self {
            Self::Absent => {}
            Self::Cleared => *field = T::default(),
            Self::Value(value) => field.clone_from(value),
        }
    }
}

/// Adds a field with its doc comment.
#[cfg(feature = "openapi")]
pub(crate) fn field<F: BodyField>(
    object: utoipa::openapi::schema::ObjectBuilder,
    name: &str,
    doc: &str,
) -> utoipa::openapi::schema::ObjectBuilder {
    let property = crate::openapi::described(F::schema(), doc);
    let property = if F::NULLABLE { crate::openapi::nullable(property) } else { property };
    let object = object.property(name, property);
    if F::REQUIRED { object.required(name) } else { object }
}

/// The arguments that the builder of a body accepts for a field whose value is a `T`.
pub trait IntoField<T> {
    /// The value.
    fn into_field(self) -> T;
}

impl<T> IntoField<T> for T {
    fn into_field(self) -> T {
        self
    }
}

impl<T> IntoField<Option<T>> for T {
    fn into_field(self) -> Option<T> {
        Some(self)
    }
}

impl<T> IntoField<Given<T>> for T {
    fn into_field(self) -> Given<T> {
        Given::Value(self)
    }
}

/// `None` clears the field.
impl<T> IntoField<Given<T>> for Option<T> {
    fn into_field(self) -> Given<T> {
        self.map_or(Given::Cleared, Given::Value)
    }
}

impl IntoField<String> for &str {
    fn into_field(self) -> String {
        self.to_owned()
    }
}

impl IntoField<Option<String>> for &str {
    fn into_field(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl IntoField<Given<String>> for &str {
    fn into_field(self) -> Given<String> {
        Given::Value(self.to_owned())
    }
}

/// What use cases accept as a body `B`: the typed body itself, or the JSON object of an HTTP
/// request. Both are read in the same way, so that the same limits hold.
pub trait IntoBody<B>: Send {
    /// The JSON object.
    fn into_map<'a>(self) -> Cow<'a, Map<String, Value>>
    where
        Self: 'a;
}

impl<B> IntoBody<B> for &Map<String, Value> {
    fn into_map<'a>(self) -> Cow<'a, Map<String, Value>>
    where
        Self: 'a,
    {
        Cow::Borrowed(self)
    }
}
