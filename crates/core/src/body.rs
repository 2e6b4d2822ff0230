//! JSON bodies, each declared once: `body!` makes the type, the parser that names every problem
//! at once (D8), what a patch does to its record, and the schema of the OpenAPI document.

use std::marker::PhantomData;

use crate::form::Form;
use crate::input::{Given, Input};
#[cfg(feature = "openapi")]
use crate::openapi::{Components, Property};

/// Whether a field of a body is required, and what null means.
pub trait BodyField {
    /// What is known of the field after reading.
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

/// The two documenting functions of a field that is documented as its form is.
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

/// Declares a body.
///
/// ```ignore
/// body! {
///     /// What changes of a deal.
///     #[derive(Clone, Debug)]
///     pub struct DealPatch as "UpdateDeal" of Deal {
///         title: Replaced<Name>,
///         /// `null`: no stage.
///         stage_id: Clearable<StageId>,
///     }
///     check |input| if … { input.problem("stage_id", "…") };
/// }
/// ```
///
/// becomes
///
/// ```ignore
/// /// What changes of a deal.
/// #[derive(Clone, Debug)]
/// pub struct DealPatch {
///     pub(crate) title: Option<String>,
///     /// `null`: no stage.
///     pub(crate) stage_id: Given<StageId>,
/// }
///
/// impl DealPatch {
///     pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
///         input::parse(body, Self::fields)
///     }
///
///     fn fields(input: &mut Input<'_>) -> Option<Self> {
///         let title = Replaced::<Name>::read(input, "title");
///         let stage_id = Clearable::<StageId>::read(input, "stage_id");
///         if … { input.problem("stage_id", "…") }
///         Some(Self { title: title?, stage_id: stage_id? })
///     }
///
///     pub fn over(&self, record: &Deal) -> Deal {
///         let mut changed = record.clone();
///         self.title.write_over(&mut changed.title);
///         self.stage_id.write_over(&mut changed.stage_id);
///         changed
///     }
/// }
/// ```
///
/// and, with the feature `openapi`, a `ToSchema` of the name `UpdateDeal` with the fields in which
/// the doc comments are descriptions. `of Deal` is left out of bodies that are no patch of a record
/// with fields of the same names; a field with another name in JSON is written
/// `field_type as "type": …`. `before` runs ahead of the fields, `check` sees each field as an
/// option that is `None` when a problem was recorded. `partial` for `of …` makes no `parse` but
/// a `fields` that never fails, for bodies whose problems are answered with what the store knows.
macro_rules! body {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derive:ident),+)])?
        $vis:vis struct $name:ident as $schema:literal $(of $record:ty)? {
            $(
                $(#[doc = $about:literal])*
                $field:ident $(as $wire:literal)?: $presence:ty,
            )*
        }
        $(before |$early:ident| $before:expr;)?
        $(check |$late:ident| $check:expr;)?
    ) => {
        crate::body::body! {
            @declare [$(#[doc = $doc])+ $(#[derive($($derive),+)])? $vis] $name as $schema
            [$($doc)+]
            $([$($about)*] $field [$($wire)?] [$presence])*
        }

        impl $name {
            /// Reads it.
            ///
            /// # Errors
            ///
            /// Everything that is wrong with the body.
            $vis fn parse(
                body: &serde_json::Map<String, serde_json::Value>,
            ) -> Result<Self, crate::problems::Problems> {
                crate::input::parse(body, Self::fields)
            }

            /// `None` means that a problem was recorded.
            fn fields(input: &mut crate::input::Input<'_>) -> Option<Self> {
                $({ let $early = &mut *input; $before; })?
                $(
                    let $field = <$presence as crate::body::BodyField>::read(
                        input,
                        crate::body::body!(@name $field $($wire)?),
                    );
                )*
                $({ let $late = &mut *input; $check; })?
                Some(Self { $($field: $field?,)* })
            }
        }

        crate::body::body!(@over $name [$($record)?] [$($field)*]);
    };
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derive:ident),+)])?
        $vis:vis struct $name:ident as $schema:literal partial {
            $(
                $(#[doc = $about:literal])*
                $field:ident $(as $wire:literal)?: $presence:ty,
            )*
        }
        $(check |$late:ident| $check:expr;)?
    ) => {
        crate::body::body! {
            @declare [$(#[doc = $doc])+ $(#[derive($($derive),+)])? $vis] $name as $schema
            [$($doc)+]
            $([$($about)*] $field [$($wire)?] [$presence])*
        }

        impl $name {
            /// Reads it. A field that cannot be read is recorded as a problem and then counts as
            /// absent.
            pub(crate) fn fields(input: &mut crate::input::Input<'_>) -> Self {
                $(
                    let $field = <$presence as crate::body::BodyField>::read(
                        input,
                        crate::body::body!(@name $field $($wire)?),
                    );
                )*
                $({ let $late = &mut *input; $check; })?
                Self { $($field: $field.unwrap_or_default(),)* }
            }
        }
    };
    (
        @declare [$($head:tt)+] $name:ident as $schema:literal [$($doc:literal)+]
        $([$($about:literal)*] $field:ident [$($wire:literal)?] [$presence:ty])*
    ) => {
        $($head)+ struct $name {
            $(
                $(#[doc = $about])*
                pub(crate) $field: <$presence as crate::body::BodyField>::Value,
            )*
        }

        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> crate::openapi::Property {
                let object = crate::openapi::object(concat!($($doc, "\n",)+));
                $(
                    let object = crate::body::field::<$presence>(
                        object,
                        crate::body::body!(@name $field $($wire)?),
                        concat!($($about, "\n",)*),
                    );
                )*
                object.into()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                $schema.into()
            }

            fn schemas(all: &mut crate::openapi::Components) {
                $(
                    <$presence as crate::body::BodyField>::components(all);
                )*
            }
        }
    };
    (@over $name:ident [] [$($field:ident)*]) => {};
    (@over $name:ident [$record:ty] [$($field:ident)*]) => {
        impl $name {
            /// The record with what was sent written over it.
            pub(crate) fn over(&self, record: &$record) -> $record {
                let mut changed = record.clone();
                $(crate::body::WriteOver::write_over(&self.$field, &mut changed.$field);)*
                changed
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $wire:literal) => { $wire };
}

pub(crate) use body;
