//! A row of the list: what is shown of a [`Tally`], in little memory, because there may be very many.

use crate::fold::{Ending, OpenEnd, Tally};
use crate::time::Time;

#[derive(Debug, Clone, Default)]
pub struct Row {
    pub started: Option<Time>,
    pub updated: Option<Time>,
    pub messages: u64,
    pub input: u64,
    pub output: u64,
    pub ending: Ending,
    /// What it is doing; few are doing anything.
    open_end: Option<Box<OpenEnd>>,
    /// Those of the texts that it has, as bits.
    has: u8,
    /// All texts, and where each of them ends.
    texts: Box<str>,
    ends: [u32; TEXTS],
}

const TEXTS: usize = 5;
const FIRST_CWD: usize = 0;
const LAST_CWD: usize = 1;
const PERSON_TITLE: usize = 2;
const AGENT_TITLE: usize = 3;
const ASKED: usize = 4;

impl Row {
    pub fn of<S: AsRef<str>>(tally: &Tally<S>) -> Row {
        let [first, last] = [&tally.first_cwd, &tally.last_cwd].map(Option::as_ref);
        let [person, agent] = [&tally.person_title, &tally.agent_title].map(Option::as_ref);
        let parts = [first, last, person, agent, tally.asked.best()].map(|part| part.map(AsRef::as_ref));
        let mut row = Row {
            started: tally.started,
            updated: tally.updated,
            messages: tally.messages,
            input: tally.input,
            output: tally.output,
            ending: tally.ending(),
            open_end: tally.open_end().map(Box::new),
            ..Row::default()
        };
        let mut texts = String::with_capacity(parts.iter().flatten().map(|part: &&str| part.len()).sum());
        for (index, part) in parts.into_iter().enumerate() {
            row.has |= u8::from(part.is_some()) << index;
            texts += part.unwrap_or_default();
            row.ends[index] = texts.len() as u32;
        }
        Row { texts: texts.into(), ..row }
    }

    fn text(&self, index: usize) -> Option<&str> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let text = self.texts.get(start..self.ends[index] as usize);
        text.filter(|_| self.has & 1 << index != 0)
    }

    pub fn open_end(&self) -> Option<&OpenEnd> {
        self.open_end.as_deref()
    }

    /// Where it began.
    pub fn first_cwd(&self) -> Option<&str> {
        self.text(FIRST_CWD)
    }

    /// Where the session is now, or was last.
    pub fn cwd(&self) -> Option<&str> {
        self.text(LAST_CWD).or_else(|| self.first_cwd())
    }

    pub fn person_title(&self) -> Option<&str> {
        self.text(PERSON_TITLE)
    }

    pub fn agent_title(&self) -> Option<&str> {
        self.text(AGENT_TITLE)
    }

    /// What was last asked in it.
    pub fn asked(&self) -> Option<&str> {
        self.text(ASKED)
    }

    /// What a person calls the session: the title somebody gave it, else what was last asked.
    pub fn title(&self) -> Option<&str> {
        [PERSON_TITLE, AGENT_TITLE, ASKED].into_iter().find_map(|index| self.text(index))
    }
}
