//! Hash maps and names that nobody outside can foresee, without asking the system for randomness.
//!
//! The standard library's maps do ask, and end the program where there is none to be had, as in a sandbox without devices.
//! Against ids that were made to collide, a seed that differs from run to run is enough.

use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub type HashMap<K, V> = std::collections::HashMap<K, V, Seeded>;
pub type HashSet<T> = std::collections::HashSet<T, Seeded>;

/// Hashes with a seed of its own.
#[derive(Debug, Clone)]
pub struct Seeded(u64);

impl Default for Seeded {
    /// From the process, the time, where the stack is, and how many came before.
    fn default() -> Seeded {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut hasher = DefaultHasher::new();
        let now = Instant::now();
        now.hash(&mut hasher);
        hasher.write_u32(std::process::id());
        hasher.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
        hasher.write_usize((&raw const now).addr());
        Seeded(hasher.finish())
    }
}

impl BuildHasher for Seeded {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_alike() {
        let seeds: std::collections::BTreeSet<u64> =
            (0..1000).map(|_| Seeded::default().0).collect();
        assert_eq!(seeds.len(), 1000);
    }
}
