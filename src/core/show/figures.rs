//! Numbers for people, spelt the same everywhere.
//!
//! What is counted, and whether it is worth saying, is up to who shows it.

use session_format::time::{HOUR, MINUTE};

/// `1,204`
pub fn number(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy)
        .collect();
    groups.join(",")
}

/// `1 session`, `1,204 sessions`
pub fn counted(count: u64, unit: &str) -> String {
    plural(number(count), unit)
}

/// `1 line`, `1204 lines`
pub fn plural(count: impl ToString, unit: &str) -> String {
    let count = count.to_string();
    format!("{count} {unit}{}", if count == "1" { "" } else { "s" })
}

/// `850`, `12k`, `3.4M`, `892M`
pub fn amount(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => (count / 1_000).to_string() + "k",
        1_000_000..10_000_000 => format!("{}.{}M", count / 1_000_000, count / 100_000 % 10),
        count => format!("{}M", number(count / 1_000_000)),
    }
}

/// `under 1m`, `34m`, `1h 05m`
pub fn duration(length: i64) -> String {
    match length {
        length if length < MINUTE => "under 1m".into(),
        length if length < HOUR => format!("{}m", length / MINUTE),
        length => format!("{}h {:02}m", length / HOUR, length % HOUR / MINUTE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(number),
            ["0", "999", "1,000", "1,234,567"]
        );
        let amounts = [0, 999, 1999, 3_450_000, 892_312_345, 4_321_000_000].map(amount);
        assert_eq!(amounts, ["0", "999", "1k", "3.4M", "892M", "4,321M"]);
    }
}
