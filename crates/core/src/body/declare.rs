//! `body!`: the type, parser, patch and schema of a body, from one declaration (D8).

/// Declares a body.
///
/// ```ignore
/// body! {
///     /// What changes of a deal.
///     #[derive(Clone, Debug)]
///     pub struct DealPatch as "UpdateDeal" of Deal {
///         title: Option<String> = Replaced<Name>,
///         /// `null`: no stage.
///         stage_id: Given<StageId> = Clearable<StageId>,
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
/// #[non_exhaustive]
/// pub struct DealPatch {
///     pub title: Option<String>,
///     /// `null`: no stage.
///     pub stage_id: Given<StageId>,
/// }
///
/// impl DealPatch {
///     pub const FIELDS: &'static [&'static str] = &["title", "stage_id"];
///
///     pub fn title(mut self, value: impl IntoField<Option<String>>) -> Self { … }
///     pub fn stage_id(mut self, value: impl IntoField<Given<StageId>>) -> Self { … }
///
///     pub fn parse(body: impl IntoBody<Self>) -> Result<Self, Problems> {
///         input::parse(&body.into_map(), Self::fields)
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
///
/// impl Default for DealPatch { … }
/// impl IntoBody<Self> for DealPatch { … }
/// ```
///
/// and, with the feature `openapi`, a `ToSchema` of the name `UpdateDeal` with the fields in which
/// the doc comments are descriptions. A body with fields that are `Required` has `new`, which takes
/// these, in place of `Default`.
///
/// `of Deal` is left out of bodies that are no patch of a record with fields of the same names; `of
/// Template, updated_at` makes `apply` too, which sets the time of a changed record. A field with
/// another name in JSON is written `field_type as "type": …`. `before` runs before the fields are
/// read; `check` gets each field as an option, which is `None` if a problem was recorded. `partial`
/// for `of …` makes no `parse` but a `fields` that never fails, for bodies whose problems are
/// answered together with those that need the store.
macro_rules! body {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derive:ident),+)])?
        pub struct $name:ident as $schema:literal $(of $record:ty $(, $stamp:ident)?)? {
            $($fields:tt)*
        }
        $(before |$early:ident| $before:expr;)?
        $(check |$late:ident| $check:expr;)?
    ) => {
        crate::body::body! {
            @draft [$(#[doc = $doc])+ $(#[derive($($derive),+)])?] [$($doc)+] $name as $schema
            { $($fields)* }
        }
        crate::body::body!(@new $name [] [] { $($fields)* });
        crate::body::body! {
            @read $name [$($early $before)?] [$($late $check)?] { $($fields)* }
        }
        crate::body::body!(@over $name [$($record $(, $stamp)?)?] { $($fields)* });
    };
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derive:ident),+)])?
        pub struct $name:ident as $schema:literal partial { $($fields:tt)* }
        $(check |$late:ident| $check:expr;)?
    ) => {
        crate::body::body! {
            @draft [$(#[doc = $doc])+ $(#[derive($($derive),+)])?] [$($doc)+] $name as $schema
            { $($fields)* }
        }
        crate::body::body!(@new $name [] [] { $($fields)* });
        crate::body::body!(@read_partly $name [$($late $check)?] { $($fields)* });
    };
    // The type, what it is written as, and its schema.
    (
        @draft [$($head:tt)+] [$($doc:literal)+] $name:ident as $schema:literal {
            $(
                $(#[doc = $about:literal])*
                $field:ident $(as $wire:literal)?: $type:ty = $presence:ty,
            )*
        }
    ) => {
        $($head)+
        #[non_exhaustive]
        pub struct $name {
            $(
                $(#[doc = $about])*
                #[doc = concat!("\n\nIn JSON `", crate::body::body!(@name $field $($wire)?), "`.")]
                pub $field: $type,
            )*
        }

        impl $name {
            /// The names of its fields in JSON, in the order of their declaration.
            pub const FIELDS: &'static [&'static str] =
                &[$(crate::body::body!(@name $field $($wire)?)),*];

            $(
                #[doc = concat!("The same with this `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(mut self, value: impl crate::body::IntoField<$type>) -> Self {
                    self.$field = value.into_field();
                    self
                }
            )*

            /// The body as a JSON object.
            fn json_object(&self) -> serde_json::Map<String, serde_json::Value> {
                let fields = [
                    $((
                        crate::body::body!(@name $field $($wire)?),
                        crate::form::ToJson::to_json(&self.$field),
                    )),*
                ];
                let said = |(name, value): (&str, Option<_>)| Some((name.to_owned(), value?));
                fields.into_iter().filter_map(said).collect()
            }
        }

        impl crate::form::ToJson for $name {
            fn to_json(&self) -> Option<serde_json::Value> {
                Some(self.json_object().into())
            }
        }

        impl crate::body::IntoBody<Self> for $name {
            fn into_map<'a>(
                self,
            ) -> std::borrow::Cow<'a, serde_json::Map<String, serde_json::Value>>
            where
                Self: 'a,
            {
                std::borrow::Cow::Owned(self.json_object())
            }
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
    // The constructor, field by field: those that are `Required` are arguments.
    (@new $name:ident [] [$($other:ident)*] {}) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($other: Default::default(),)* }
            }
        }
    };
    (@new $name:ident [$($needed:ident: $type:ty,)+] [$($other:ident)*] {}) => {
        impl $name {
            /// A body with only its required fields.
            pub fn new($($needed: impl Into<$type>),+) -> Self {
                Self { $($needed: $needed.into(),)+ $($other: Default::default(),)* }
            }
        }
    };
    (
        @new $name:ident [$($needed:tt)*] [$($other:ident)*] {
            $(#[doc = $about:literal])*
            $field:ident $(as $wire:literal)?: $type:ty = Required<$form:ty>,
            $($more:tt)*
        }
    ) => {
        crate::body::body! {
            @new $name [$($needed)* $field: $type,] [$($other)*] { $($more)* }
        }
    };
    (
        @new $name:ident [$($needed:tt)*] [$($other:ident)*] {
            $(#[doc = $about:literal])*
            $field:ident $(as $wire:literal)?: $type:ty = $presence:ty,
            $($more:tt)*
        }
    ) => {
        crate::body::body!(@new $name [$($needed)*] [$($other)* $field] { $($more)* });
    };
    (
        @read $name:ident [$($early:ident $before:expr)?] [$($late:ident $check:expr)?] {
            $(
                $(#[doc = $about:literal])*
                $field:ident $(as $wire:literal)?: $type:ty = $presence:ty,
            )*
        }
    ) => {
        impl $name {
            /// Reads it.
            ///
            /// # Errors
            ///
            /// All problems of the body.
            pub fn parse(
                body: impl crate::body::IntoBody<Self>,
            ) -> Result<Self, crate::problems::Problems> {
                crate::input::parse(&body.into_map(), Self::fields)
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
    };
    (
        @read_partly $name:ident [$($late:ident $check:expr)?] {
            $(
                $(#[doc = $about:literal])*
                $field:ident $(as $wire:literal)?: $type:ty = $presence:ty,
            )*
        }
    ) => {
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
    (@over $name:ident [] { $($fields:tt)* }) => {};
    (
        @over $name:ident [$record:ty] {
            $(
                $(#[doc = $about:literal])*
                $field:ident $(as $wire:literal)?: $type:ty = $presence:ty,
            )*
        }
    ) => {
        impl $name {
            /// The record with the sent values written over it.
            pub(crate) fn over(&self, record: &$record) -> $record {
                let mut changed = record.clone();
                $(crate::body::WriteOver::write_over(&self.$field, &mut changed.$field);)*
                changed
            }
        }
    };
    (@over $name:ident [$record:ty, $stamp:ident] { $($fields:tt)* }) => {
        crate::body::body!(@over $name [$record] { $($fields)* });

        impl $name {
            /// The record after the change; its time of change is set only if something changed.
            pub fn apply(&self, record: &$record, now: crate::clock::Timestamp) -> $record {
                let mut changed = self.over(record);
                if changed != *record {
                    changed.$stamp = now;
                }
                changed
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $wire:literal) => { $wire };
}

pub(crate) use body;
