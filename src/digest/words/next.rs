//! What an answer says is still to do: the items of lists under headings like "Next steps".
//!
//! Only a heading, a bold line or a line of its own announces such a list, and only its top items count that are not
//! checked off. What was done since is for the caller to take out, by `overlap`.

use super::prose::{heading, lines, list_item};
use super::sentence::clean;
use super::word::{cue, plain};

/// The items of lists under headings like "Next steps".
pub fn next_steps(answer: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Under such a heading: how far the items are indented, once there was one.
    let mut under: Option<Option<usize>> = None;
    for line in lines(answer).into_iter().filter(|line| !line.text.is_empty()) {
        if announces(line.text) {
            under = Some(None);
            continue;
        }
        let Some(depth) = under else { continue };
        let indent = line.at - answer[..line.at].rfind('\n').map_or(0, |at| at + 1);
        match list_item(line.text) {
            Some(item) if depth.is_none_or(|depth| indent <= depth) => {
                under = Some(Some(indent));
                found.extend(open_step(line.text, item));
            }
            // What belongs to the item above it.
            Some(_) => {}
            None if depth.is_some_and(|depth| indent > depth) => {}
            None => under = None,
        }
    }
    found
}

/// What an item says is to do, unless it is done.
fn open_step(line: &str, item: &str) -> Option<String> {
    let mark = &line[..line.len() - item.len()];
    let done = mark.contains(['x', 'X']) || item.starts_with("~~") || item.starts_with('✅');
    Some(clean(&item.replace("**", ""))).filter(|text| !done && text.contains(char::is_alphanumeric))
}

/// A heading, a bold line or a line of its own that says that what is still to do comes next.
fn announces(line: &str) -> bool {
    const HEADS: &str = "next steps, next step, next actions, remaining, still open, to do, todo, todos, follow ups, \
        follow up, followups, prochaines etapes, prochaine etape, reste a faire, a faire";
    if line.len() > 100 || list_item(line).is_some() && !line.contains("**") {
        return false;
    }
    let bare = line.trim_end().trim_end_matches(['*', '_']).trim_end_matches(':').trim_end_matches(['*', '_']);
    let marked = heading(line).is_some() || line.starts_with("**") && (line.ends_with("**") || line.ends_with("**:"));
    let words = plain(bare);
    let head = (0..words.len()).find_map(|at| Some((at, cue(&words[at..], HEADS)?)));
    match head {
        Some((at, phrase)) if marked => words.len() <= at + phrase.split(' ').count() + 3 && at <= 2,
        Some((0, phrase)) => words.len() == phrase.split(' ').count(),
        _ => false,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const STEPS: [(&str, &[&str]); 15] = [
        ("## Next steps\n- Rename arr[x] to arr[i]", &["Rename arr[x] to arr[i]"]),
        ("Done.\n\n## Next steps\n\n- Add tests.\n- **Write** docs\n\nBye", &["Add tests", "Write docs"]),
        ("**Next steps:**\n1. One thing\n2) Two things", &["One thing", "Two things"]),
        ("**Remaining work**:\n* [x] done already\n* [ ] still open", &["still open"]),
        ("Next steps:\n- plain line works", &["plain line works"]),
        ("### Suggested next steps (optional)\n- a1\n  - nested\n  goes on\n- b2", &["a1", "b2"]),
        ("## Prochaines étapes\n- écrire les tests\n## Fait\n- autre", &["écrire les tests"]),
        ("**Reste à faire :**\n- la doc", &["la doc"]),
        ("## À faire\n- la doc", &["la doc"]),
        ("## TODO\n- the list\nText ends it.\n- not this", &["the list"]),
        ("## Follow-ups\n- later\n## Still open\n- this too", &["later", "this too"]),
        ("## Changes\n- added next steps\n- fixed it", &[]),
        ("The next steps are clear to me and I will go on:\n- no", &[]),
        ("```\n## Next steps\n- in code\n```\n- out", &[]),
        ("- Next steps\n- no heading", &[]),
    ];

    #[test]
    fn finds_lists_of_next_steps() {
        for (answer, wanted) in STEPS {
            assert_eq!(next_steps(answer), wanted, "{answer}");
        }
    }
}
