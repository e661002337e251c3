//! Parts of a text that never cut a character in two.
//!
//! A position in a text often comes from another one: folded, cut, or read anew. Where it is not between two characters, or
//! not in the text at all, indexing ends the program; here the nearest part that there is will do.

use std::ops::{Bound, RangeBounds};

/// The part of a text between two positions; one that is inside a character is moved to its beginning.
#[inline]
pub fn substr(text: &str, range: impl RangeBounds<usize>) -> &str {
    let end = match range.end_bound() {
        Bound::Included(last) => text.floor_char_boundary(last.saturating_add(1)),
        Bound::Excluded(end) => text.floor_char_boundary(*end),
        Bound::Unbounded => text.len(),
    };
    let start = match range.start_bound() {
        Bound::Included(start) => text.floor_char_boundary(*start),
        Bound::Excluded(before) => text.floor_char_boundary(before.saturating_add(1)),
        Bound::Unbounded => 0,
    };
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the positions are, there is a part; and with positions between characters it is what indexing gives.
    #[test]
    fn any_two_positions_have_a_part() {
        for text in ["", "a", "aé日👩\u{200d}👧e\u{301}", "\u{0}\n…"] {
            let positions = || (0..text.len() + 3).chain([usize::MAX - 1, usize::MAX]);
            for (start, end) in
                positions().flat_map(|start| positions().map(move |end| (start, end)))
            {
                let found = substr(text, start..end);
                assert!(
                    text.contains(found)
                        && found.len() <= end.saturating_sub(start).saturating_add(3)
                );
                assert_eq!(
                    substr(text, start..=end),
                    substr(text, start..end.saturating_add(1))
                );
                if let Some(same) = text.get(start..end) {
                    assert_eq!(found, same);
                }
            }
            positions()
                .for_each(|at| assert_eq!([substr(text, ..at), substr(text, at..)].concat(), text));
            assert_eq!(substr(text, ..), text);
        }
    }
}
