//! Where a session stopped as codes: one word a line, for an agent that pays for every token.
//!
//! A model reads them, so each is harmless, and no code is said twice.

use super::{About, Fitted, within};
use crate::ask::resume::Stop;
use crate::fold::code::{Work, normalised, short_paths, work};
use crate::fold::continuity::Finding;
use crate::show::gate::{harmless, harmless_command};
use crate::state::notes::Kind;
use session_format::boundary::substr;
use session_format::entry::TaskState;
use session_format::hash::HashSet;

impl Stop<'_> {
    pub fn codes(&self, budget: usize) -> Fitted {
        let all = &self.continuity;
        let mut codes: Vec<(About, String)> = Vec::new();
        let mut known = HashSet::default();
        let mut put = |about: About, prefix: &str, text: &str| {
            let code = format!("{prefix}:{}", one_word(text));
            if code.len() > prefix.len() + 1 && known.insert(code.clone()) {
                codes.push((about, code));
            }
        };
        put(About::Head, "proj", &self.project);
        let files = all
            .files
            .iter()
            .filter(|file| !file.deleted)
            .map(|file| file.path.as_str());
        short_paths(&files.collect::<Vec<_>>())
            .iter()
            .for_each(|path| put(About::Files, "impl", path));
        all.functions
            .iter()
            .for_each(|(_, item)| put(About::Work, "impl", &item.text));
        let tests = all
            .recent_commands()
            .iter()
            .filter(|ran| work(&ran.subject) == Work::Test && !ran.failed);
        tests.for_each(|ran| put(About::Work, "test", &normalised(&ran.subject)));
        let done = all
            .tasks
            .iter()
            .filter(|task| task.state == TaskState::Done)
            .map(|task| &task.item.text);
        done.for_each(|text| put(About::Work, "done", text));
        // A message may set a variable, as the command that it stands in may.
        all.commits
            .iter()
            .for_each(|commit| put(About::Work, "done", &harmless_command(&commit.text)));
        self.noted(Kind::Decision)
            .for_each(|text| put(About::Head, "dec", text));
        let said = |item: &Finding| if item.from_words { ":said" } else { "" };
        all.decisions
            .iter()
            .for_each(|item| put(About::Decisions, &format!("dec{}", said(item)), &item.text));
        self.noted(Kind::Blocker)
            .for_each(|text| put(About::Head, "block:noted", text));
        for blocker in self.blockers() {
            put(
                About::Blockers,
                &format!("block:{}", blocker.kind.name()),
                &blocker.item.text,
            );
        }
        self.noted(Kind::Next)
            .for_each(|text| put(About::Head, "next", text));
        all.next
            .iter()
            .for_each(|item| put(About::Next, &format!("next{}", said(item)), &item.text));
        within(budget, codes)
    }
}

/// A text as one word: dashes for blanks.
fn one_word(text: &str) -> String {
    const MOST: usize = 80;
    let code = harmless(text)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join("-");
    substr(&code, ..code.floor_char_boundary(MOST))
        .trim_matches('-')
        .to_owned()
}
