//! The corpus of secrets and of texts that look like some.

use session_core::secrets::redact;

use crate::made_up::made_up;

/// The lines of a part of the corpus.
pub fn corpus(part: &str) -> Vec<String> {
    let all = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/testdata/secrets_corpus.txt"
    ));
    let lines = all
        .split("\n== ")
        .find_map(|section| section.strip_prefix(part))
        .expect("a part");
    let lines = lines
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("--- "));
    lines.map(|line| made_up(line).replace('⏎', "\n")).collect()
}

/// No six characters in a row of what is marked may be left.
pub fn comes_through(row: &str) -> bool {
    let hidden = redact(&row.replace(['⟦', '⟧'], "")).into_owned();
    row.split('⟦')
        .skip(1)
        .filter_map(|part| part.split_once('⟧'))
        .any(|(secret, _)| {
            let chars: Vec<char> = secret.chars().collect();
            chars
                .windows(chars.len().min(6))
                .any(|piece| hidden.contains(&piece.iter().collect::<String>()))
        })
}
