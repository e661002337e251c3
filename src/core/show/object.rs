//! JSON objects whose keys keep their order: [`object!`].

use serde::ser::{Error, Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

/// A JSON object, written like a struct: `object! { line, name: session.name }`. Its keys keep their order.
#[macro_export]
macro_rules! object {
    (@value $key:ident) => { $key };
    (@value $key:ident $value:expr) => { $value };
    ($($key:ident $(: $value:expr)?),* $(,)?) => {
        $crate::show::object::Object(vec![
            $((stringify!($key), serde_json::value::to_raw_value(&$crate::show::object::object!(@value $key $($value)?)))),*
        ])
    };
}
pub use object;

pub struct Object(pub Vec<(&'static str, serde_json::Result<Box<RawValue>>)>);

impl Object {
    /// Leaves out the keys that do not apply.
    pub(crate) fn without_nulls(mut self) -> Object {
        self.0
            .retain(|(_, value)| value.as_ref().map_or(true, |value| value.get() != "null"));
        self
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value.as_ref().map_err(S::Error::custom)?)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_keys_of_an_object_keep_their_order() {
        let (zeta, alpha) = ("z", None::<u8>);
        let object = object! { zeta, nested: object! { b: 1, a: [true] }, alpha };
        assert_eq!(
            serde_json::to_string(&object).expect("JSON"),
            r#"{"zeta":"z","nested":{"b":1,"a":[true]},"alpha":null}"#
        );
    }
}
