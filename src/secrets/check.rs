//! How the examples are checked that stand beside each finder.
//!
//! An example goes through the whole of [`redact`], whichever finder it is about, and also with things around it, in JSON,
//! a second time, and cut anywhere: what a finder says must hold wherever its text turns up.

use std::borrow::Cow;

use super::{REDACTED, redact};

pub const KEY: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// What is between `⟦` and `⟧` has to go, and nothing else.
pub fn assert_hidden(rows: &[&str]) {
    for row in rows {
        let (text, expected) = (row.replace(['⟦', '⟧'], ""), expected(row));
        assert_eq!(redact(&text), expected);
        assert_eq!(redact(&expected), expected, "a second time");
        assert_eq!(redact(&format!("Then “run” this: {text}")), format!("Then “run” this: {expected}"));
        if row.contains('⟧') {
            assert_eq!(redact(&format!("{text} - and so on")), format!("{expected} - and so on"));
            assert_eq!(redact(&format!("{text}\nand so on")), format!("{expected}\nand so on"));
            let json = |text: &str| serde_json::to_string(&[text, "next"]).unwrap();
            assert_eq!(redact(&json(&text)), json(&expected));
        }
        assert_survives_cuts(&text);
    }
}

/// Nothing may go.
pub fn assert_kept(texts: &[&str]) {
    for text in texts {
        assert_eq!(redact(text), *text);
        assert!(matches!(redact(text), Cow::Borrowed(_)));
        assert_survives_cuts(text);
    }
}

/// No part of a text makes it panic.
pub fn assert_survives_cuts(text: &str) {
    for (at, _) in text.char_indices() {
        redact(&text[..at]);
        redact(&text[at..]);
        redact(&format!("{}é{}", &text[..at], &text[at..]));
        redact(&format!("{} {}", &text[..at], &text[at..]));
    }
}

/// What has to become of a row.
fn expected(row: &str) -> String {
    let mut expected = String::new();
    for (index, part) in row.split('⟦').enumerate() {
        let after = part.split_once('⟧').map_or("", |(_, after)| after);
        expected += &if index == 0 { part.to_owned() } else { format!("{REDACTED}{after}") };
    }
    expected
}
