//! Stubs for a store under development: a method that is not written yet returns an error with its
//! name.

pub use async_trait::async_trait;

use super::StoreError;

/// The error of a method that is not written yet.
pub fn missing(of: &str, method: &str) -> StoreError {
    StoreError::corrupt(format!("`{method}` of `{of}` is not written yet"))
}

macro_rules! names {
    (
        [$($Trait:ident { $($method:ident)+ })+]
        $($Reads:ident($path:path) {
            $(fn $name:ident($($arg:ident: $Type:ty),* $(,)?) -> $Answer:ty;)+
        })+
    ) => {
        /// The names that `stubs!` accepts after `except`: traits and methods.
        #[expect(non_upper_case_globals, reason = "these are the names themselves")]
        pub mod names {
            $(
                #[doc = concat!("The trait `", stringify!($Trait), "`.")]
                pub const $Trait: &str = stringify!($Trait);
                $(
                    #[doc = concat!("Of `", stringify!($Trait), "`.")]
                    pub const $method: &str = stringify!($method);
                )+
            )+
            $(
                #[doc = concat!("The trait `", stringify!($Reads), "`.")]
                pub const $Reads: &str = stringify!($Reads);
                $(
                    #[doc = concat!("Of `", stringify!($Reads), "`.")]
                    pub const $name: &str = stringify!($name);
                )+
            )+

            /// The methods of a store, by their traits.
            pub const METHODS: &[(&str, &[&str])] = &[
                $((stringify!($Trait), &[$(stringify!($method)),+]),)+
                $((stringify!($Reads), &[$(stringify!($name)),+]),)+
            ];
        }

        /// Makes the compiler refuse a store that lacks a listed method. Without this trait, the
        /// name would mean the method of the store's trait, which would call itself.
        pub trait WriteThisMethodFirst {
            $($(
                #[doc = concat!("Stands for a missing `", stringify!($method), "`.")]
                fn $method(&self) {}
            )+)+
            $($(
                #[doc = concat!("Stands for a missing `", stringify!($name), "`.")]
                fn $name(&self) {}
            )+)+
        }

        impl<T: ?Sized> WriteThisMethodFirst for T {}
    };
}
for_each_read!(names [
    Commit { commit }
    Claims { claim_jobs }
    Upkeep { ready upkeep }
    Outbox { erase_events sweep_outbox }
    Signals { notify notified }
]);

/// Makes a type a [`Store`](crate::store::Store) of which only a part is written.
///
/// The listed methods are inherent methods of the type, with the signature of the trait and without
/// `#[async_trait]`. All others return an error with their name, except `notify`, which does
/// nothing, and `notified`, which never returns: both are correct for a database of one process. A
/// trait may be listed, too: then the type implements it itself.
///
/// ```
/// use recado_core::store::{ChangeSet, CommitError, RecordsExt, Row, RowKey, StoreError, Stored};
///
/// struct MyStore;
///
/// impl MyStore {
///     async fn row(&self, _: &RowKey) -> Result<Option<Stored<Row>>, StoreError> {
///         Ok(None)
///     }
///
///     async fn commit(&self, _: ChangeSet) -> Result<(), CommitError> {
///         Ok(())
///     }
/// }
///
/// recado_core::stubs!(MyStore except { row, commit });
///
/// # futures_util::FutureExt::now_or_never(async {
/// use recado_core::lists::ListReads;
/// let company = recado_core::ids::CompanyId::new(uuid::Uuid::nil());
/// let error = MyStore.lists(company).await.expect_err("there is no such method");
/// assert!(error.to_string().ends_with("`lists` of `ListReads` is not written yet"));
/// # }).expect("nothing waits");
/// ```
///
/// Listing a name that is no method of a store, or a method that the type does not have, is a
/// compile error.
///
/// ```compile_fail,E0425
/// struct MyStore;
/// recado_core::stubs!(MyStore except { no_such_method });
/// ```
///
/// ```compile_fail
/// struct MyStore;
/// recado_core::stubs!(MyStore except { commit });
/// ```
#[macro_export]
macro_rules! stubs {
    ($Store:ident) => {
        $crate::stubs! { $Store except {} }
    };
    ($Store:ident except { $($written:ident),* $(,)? }) => {
        $crate::stubs! { @known ($) $Store { $($written),* } }
    };
    (@known ($d:tt) $Store:ident { $($written:ident),* }) => {
        const _: () = {
            #[allow(unused_imports, clippy::allow_attributes, reason = "a guard, see there")]
            use $crate::store::stubs::WriteThisMethodFirst as _;

            $(const _: &str = $crate::store::stubs::names::$written;)*

            /// Expands to the first block if the name is listed, else to the second.
            macro_rules! if_written {
                $(($written { $d($d yes:tt)* } { $d($d no:tt)* }) => { $d($d yes)* };)*
                ($d other:ident { $d($d yes:tt)* } { $d($d no:tt)* }) => { $d($d no)* };
            }

            $crate::for_each_read! { $crate::stubs [@reads $Store if_written] }

            if_written! { Commit {} {
                #[$crate::store::stubs::async_trait]
                impl $crate::store::Commit for $Store {
                    async fn commit(
                        &self,
                        changes: $crate::store::ChangeSet,
                    ) -> Result<(), $crate::store::CommitError> {
                        if_written!(commit
                            { <$Store>::commit(self, changes).await }
                            {{
                                drop(changes);
                                Err($crate::store::stubs::missing("Commit", "commit").into())
                            }}
                        )
                    }
                }
            } }

            if_written! { Claims {} {
                #[$crate::store::stubs::async_trait]
                impl $crate::store::Claims for $Store {
                    async fn claim_jobs(
                        &self,
                        now: $crate::Timestamp,
                        leased_until: $crate::Timestamp,
                        limit: u32,
                        except: &[&'static str],
                    ) -> Result<
                        Vec<$crate::store::Stored<$crate::jobs::Job>>,
                        $crate::store::StoreError,
                    > {
                        if_written!(claim_jobs
                            { <$Store>::claim_jobs(self, now, leased_until, limit, except).await }
                            {{
                                let _ = (now, leased_until, limit, except);
                                Err($crate::store::stubs::missing("Claims", "claim_jobs"))
                            }}
                        )
                    }
                }
            } }

            if_written! { Upkeep {} {
                #[$crate::store::stubs::async_trait]
                impl $crate::store::Upkeep for $Store {
                    async fn ready(&self) -> Result<(), $crate::store::StoreError> {
                        if_written!(ready
                            { <$Store>::ready(self).await }
                            { Err($crate::store::stubs::missing("Upkeep", "ready")) }
                        )
                    }

                    async fn upkeep(
                        &self,
                        now: $crate::Timestamp,
                    ) -> Result<(), $crate::store::StoreError> {
                        if_written!(upkeep
                            { <$Store>::upkeep(self, now).await }
                            {{
                                let _ = now;
                                Err($crate::store::stubs::missing("Upkeep", "upkeep"))
                            }}
                        )
                    }
                }
            } }

            if_written! { Outbox {} {
                #[$crate::store::stubs::async_trait]
                impl $crate::events::Outbox for $Store {
                    async fn erase_events(
                        &self,
                        company: $crate::ids::CompanyId,
                        about: $crate::events::EventsAbout,
                        limit: u32,
                    ) -> Result<$crate::events::Erased, $crate::store::StoreError> {
                        if_written!(erase_events
                            { <$Store>::erase_events(self, company, about, limit).await }
                            {{
                                let _ = (company, about, limit);
                                Err($crate::store::stubs::missing("Outbox", "erase_events"))
                            }}
                        )
                    }

                    async fn sweep_outbox(
                        &self,
                        swept: $crate::events::Swept,
                        limit: u32,
                    ) -> Result<u32, $crate::store::StoreError> {
                        if_written!(sweep_outbox
                            { <$Store>::sweep_outbox(self, swept, limit).await }
                            {{
                                let _ = (swept, limit);
                                Err($crate::store::stubs::missing("Outbox", "sweep_outbox"))
                            }}
                        )
                    }
                }
            } }

            if_written! { Signals {} {
                #[$crate::store::stubs::async_trait]
                impl $crate::deliveries::Signals for $Store {
                    fn notify(&self, queues: &[$crate::deliveries::QueueKey]) {
                        if_written!(notify
                            { <$Store>::notify(self, queues) }
                            {{
                                let _ = queues;
                            }}
                        )
                    }

                    async fn notified(&self) -> Option<Vec<$crate::deliveries::QueueKey>> {
                        if_written!(notified
                            { <$Store>::notified(self).await }
                            { ::std::future::pending().await }
                        )
                    }
                }
            } }
        };
    };
    (
        [@reads $Store:ident $if_written:ident]
        $($Reads:ident($path:path) {
            $(fn $name:ident($($arg:ident: $Type:ty),* $(,)?) -> $Answer:ty;)+
        })+
    ) => {$(
        $if_written! { $Reads {} {
            #[$crate::store::stubs::async_trait]
            impl $path for $Store {
                $(async fn $name(
                    &self,
                    $($arg: $Type),*
                ) -> Result<$Answer, $crate::store::StoreError> {
                    $if_written!($name
                        { <$Store>::$name(self, $($arg),*).await }
                        {{
                            let _ = ($($arg,)*);
                            Err($crate::store::stubs::missing(
                                stringify!($Reads),
                                stringify!($name),
                            ))
                        }}
                    )
                })+
            }
        } }
    )+};
}
