//! The smallest parts of a descriptor, and the two forms that they have: as a person writes them, and as they are stored.

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

/// Gives a type two forms: what a person writes, which is converted and checked, and what is stored, which is its fields.
/// The type derives the second with `remote = "Self"`.
macro_rules! two_forms {
    ($type:ident, written as $written:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $type::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$type, D::Error> {
                if !deserializer.is_human_readable() {
                    return $type::deserialize(deserializer);
                }
                let written = <$written as serde::Deserialize>::deserialize(deserializer)?;
                $type::try_from(written).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(super) use two_forms;

/// A JSON pointer (RFC 6901), split at its slashes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Pointer(pub Vec<String>);

two_forms!(Pointer, written as String);

impl TryFrom<String> for Pointer {
    type Error = String;

    fn try_from(text: String) -> Result<Pointer, String> {
        match text.strip_prefix('/') {
            Some(path) => Ok(Pointer::below(path)),
            None => Err(format!("a JSON pointer starts with a slash: \"/{text}\"")),
        }
    }
}

impl Pointer {
    /// A pointer without its leading slash.
    pub fn below(path: &str) -> Pointer {
        let keys = path.split('/').filter(|_| !path.is_empty());
        Pointer(
            keys.map(|key| key.replace("~1", "/").replace("~0", "~"))
                .collect(),
        )
    }
}

/// One value or a list of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Many<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Many<T>, D::Error> {
        if !deserializer.is_human_readable() {
            return Vec::deserialize(deserializer).map(Many);
        }
        let values = match toml::Value::deserialize(deserializer)? {
            toml::Value::Array(list) => list,
            one => vec![one],
        };
        values
            .into_iter()
            .map(T::deserialize)
            .collect::<Result<_, _>>()
            .map(Many)
            .map_err(D::Error::custom)
    }
}
