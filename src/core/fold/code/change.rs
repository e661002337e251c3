//! What changed in a file, in a few words.
//!
//! Lines that an edit repeats at its beginning and its end did not change, so they do not count. The change is named
//! after what it defines, else what it is in, else what it took away.

use super::definition::{Definition, definitions};

/// Sums up a change of a file in a few words: `total(): +2 -1`.
pub fn summary(path: &str, added: &str, removed: &str) -> String {
    let (new, old): (Vec<&str>, Vec<&str>) = (added.lines().collect(), removed.lines().collect());
    let before = new
        .iter()
        .zip(&old)
        .take_while(|(new, old)| new == old)
        .count();
    let same = new[before..]
        .iter()
        .rev()
        .zip(old[before..].iter().rev())
        .take_while(|(new, old)| new == old)
        .count();
    let changed = |lines: &[&str]| lines.len() - before - same;
    let within = |lines: &[&str], at: usize| (before..lines.len() - same).contains(&at);
    let (defined, dropped) = (definitions(path, &new), definitions(path, &old));
    let first = defined.iter().find(|(at, _)| within(&new, *at));
    let around = || defined.iter().rev().find(|(at, _)| *at < before);
    let gone = || dropped.iter().find(|(at, _)| within(&old, *at));
    let symbol = first
        .or_else(around)
        .or_else(gone)
        .map(|(_, definition)| definition);
    let counts = format!("+{} -{}", changed(&new), changed(&old));
    match symbol {
        Some(Definition {
            name,
            function: true,
        }) => format!("{name}(): {counts}"),
        Some(Definition { name, .. }) => format!("{name}: {counts}"),
        None => counts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_up_changes() {
        let cases = [
            (
                "a.rs",
                "fn total() {\n  1\n  2\n}",
                "fn total() {\n  3\n}",
                "total(): +2 -1",
            ),
            ("a.rs", "x\nfn b() {\n", "x\ny\nz", "b(): +1 -2"),
            ("a.rs", "", "fn gone() {}\n", "gone(): +0 -1"),
            ("a.py", "class A:\n  x = 1", "class A:\n  x = 2", "A: +1 -1"),
            ("a.txt", "a\nb", "a", "+1 -0"),
            ("a.txt", "a\na\na", "a\na", "+1 -0"),
            ("a.txt", "", "", "+0 -0"),
        ];
        for (path, added, removed, said) in cases {
            assert_eq!(summary(path, added, removed), said, "{added:?} {removed:?}");
        }
    }
}
