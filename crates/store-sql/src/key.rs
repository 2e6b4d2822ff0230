//! The columns of a key.

use recado_core::store::RowKey;

use crate::cell::CellWriter;
use crate::field::Field;
use crate::record::Layout;

macro_rules! keys {
    ($($(#[$doc:meta])* $Name:ident($Record:ty) {
        $($part:ident: $Type:ty $(= $($from:ident).+)?),+ $(,)?
    } $version:ident;)+) => {
        /// Writes the values of the key of a row, in the order of its table's columns.
        pub fn write_key<'a, W: CellWriter<'a>>(key: &'a RowKey, writer: &mut W) {
            match key {
                $(RowKey::$Name { $($part),+ } => {
                    $(Field::write($part, writer);)+
                })+
            }
        }

        $(const _: () = assert!(
            <$Record as Layout>::TABLE.key == 0 $(+ <$Type as Field>::WIDTH)+,
            concat!("the key of `", stringify!($Name), "` has other columns than parts")
        );)+
    };
}
recado_core::for_each_row!(keys);
