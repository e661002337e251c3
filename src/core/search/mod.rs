//! Which sessions say some words, and where.
//!
//! [`query`] finds the words in the text of a session, [`rank`] orders the sessions by what that is worth, and [`spelling`]
//! proposes words for those that nobody says. What subagents said belongs to their session ([`sources`]); [`cache`] has the
//! texts, and with each a [`signature`] that tells most of those that need not be looked at. [`typed`] is another
//! kind of query, for whoever types it a key at a time.

pub mod cache;
pub mod query;
pub mod rank;
pub mod sieve;
pub mod signature;
pub mod sources;
pub mod spelling;
pub mod typed;

pub use query::Query;
