//! Words to look for in place of one that no session says.

use std::collections::HashMap;

use super::cache::Text;
use super::query::Query;
use crate::fold::folded;

/// The parts of an identifier, if all of them are said, or else the word that is most like this one.
pub fn instead<'t>(word: &str, texts: impl Iterator<Item = &'t Text<'t>> + Clone) -> Option<String> {
    let parts = parts(word);
    let query = Query::new(&parts, None);
    if parts.len() > 1 && query.said_in(texts.clone()) == query.all() {
        return Some(parts.join(" "));
    }
    nearest(&folded(word), texts)
}

/// `parse`, `empty` and `input` of `parseEmptyInput` and `parse_empty-input`.
fn parts(word: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut after_small = false;
    for char in word.chars() {
        if !char.is_alphanumeric() || after_small && char.is_uppercase() {
            parts.push(String::new());
        }
        after_small = char.is_lowercase() || char.is_numeric();
        if let Some(part) = parts.last_mut().filter(|_| char.is_alphanumeric()) {
            part.extend(char.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.dedup();
    parts
}

/// The word with the fewest letters to change; of several, the one that is said most often.
fn nearest<'t>(word: &str, texts: impl Iterator<Item = &'t Text<'t>>) -> Option<String> {
    /// Which part of the letters has to be right, and by how many bytes the length may differ.
    const ENOUGH: f64 = 0.75;
    const LENGTHS: usize = 2;
    let first = word.chars().next()?;
    let mut known: HashMap<&str, usize> = HashMap::new();
    for part in texts.flat_map(Text::parts) {
        for said in part.text.split(|char: char| !char.is_alphanumeric() && char != '_') {
            let may_be = said.len() > LENGTHS
                && said.len().abs_diff(word.len()) <= LENGTHS
                && (word.len() > 4 || said.starts_with(first));
            if may_be {
                *known.entry(said).or_default() += 1;
            }
        }
    }
    let like = |(said, count): (&'t str, usize)| {
        let likeness = strsim::normalized_damerau_levenshtein(word, said);
        (likeness > ENOUGH).then_some((likeness, count, said))
    };
    let best = known.into_iter().filter_map(like);
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(b.2.cmp(a.2)))?;
    Some(best.2.to_owned())
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn the_parts_of_an_identifier() {
        for (word, expected) in [
            ("parseEmptyInput", "parse empty input"),
            ("parse_empty-input", "parse empty input"),
            ("HTTPServer2Go", "httpserver2 go"),
            ("src/a.rs", "src a rs"),
            ("word", "word"),
            ("...", ""),
        ] {
            assert_eq!(parts(word).join(" "), expected, "{word}");
        }
    }
}
