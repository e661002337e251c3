//! Whether two texts are about the same, by the stems of their keywords.
//!
//! One word is never enough to be the same: "parser" would be done with everything that has a parser in it. What
//! follows from an overlap, that a step is done or a decision replaced, is the caller's.

use std::collections::BTreeSet;

use super::keyword::keywords;

/// Two texts are about the same: most of the words of the shorter one are in the other.
pub fn overlap(a: &str, b: &str) -> bool {
    let stems = |text: &str| -> BTreeSet<String> { keywords(text).iter().map(|word| stem(word)).collect() };
    let (a, b) = (stems(a), stems(b));
    let smaller = a.len().min(b.len());
    smaller >= 2 && a.intersection(&b).count() * 10 >= smaller * 6
}

/// Endings and what they are replaced by. The first that leaves enough of a word counts.
const ENDINGS: [(&str, &str); 4] =
    [("ies ied", "y"), ("ements ement", ""), ("ments", "ment"), ("ings ing ions ion ees ers ed ee es er ez s e", "")];

/// What forms of a word have in common, roughly.
fn stem(word: &str) -> String {
    let mut endings = ENDINGS.iter().flat_map(|(ends, put)| ends.split(' ').map(move |end| (end, put)));
    let cut = |(end, put): (&str, &&str)| {
        let rest = word.strip_suffix(end).filter(|rest| rest.chars().nth(2).is_some())?;
        Some(format!("{rest}{put}"))
    };
    let mut stem = endings.find_map(cut).unwrap_or_else(|| word.to_owned());
    if let Some(rest) = stem.strip_suffix("at").filter(|rest| rest.chars().nth(4).is_some()) {
        stem.truncate(rest.len());
    }
    let mut last = stem.chars().rev();
    if let (Some(one), Some(two)) = (last.next(), last.next())
        && one == two
    {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_when_most_of_the_smaller_set_is_in_the_other() {
        let cases = [
            ("add tests for the parser", "Added parser tests", true),
            ("implement caching of pages", "page cache implementation", true),
            ("validate user inputs", "validated the input of users", true),
            ("écrire les tests de l'analyseur", "tests écrits pour analyseur", true),
            ("update the docs", "deploy to production", false),
            ("fix parser", "fix login", false),
            ("parser", "parser", false),
            ("", "", false),
            ("write release notes today", "write release script", true),
            ("migrate the database schema now", "fix database timeouts quickly", false),
        ];
        for (a, b, wanted) in cases {
            assert_eq!((overlap(a, b), overlap(b, a)), (wanted, wanted), "{a} | {b}");
        }
    }
}
