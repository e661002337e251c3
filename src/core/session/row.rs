//! A row of the list: what is shown of a [`Tally`], in little memory, because there may be very many.

use std::sync::Arc;

use crate::fold::{Ending, OpenEnd, Tally, title};
use session_format::time::Time;

#[derive(Debug, Clone, Default)]
pub struct Row {
    pub started: Option<Time>,
    pub updated: Option<Time>,
    pub messages: u64,
    pub input: u64,
    pub output: u64,
    /// The used part of the model's context in per cent, where the client says both.
    pub context_used: Option<u8>,
    pub ending: Ending,
    /// Few sessions have one.
    open_end: Option<Box<OpenEnd>>,
    /// Those of the texts that it has, as bits.
    has: u8,
    /// The directory it began in, as a rule with many others.
    first_cwd: Option<Arc<str>>,
    /// All other texts, and where each but the last ends.
    texts: Box<str>,
    ends: [u32; TEXTS - 1],
}

const TEXTS: usize = 5;
const LAST_CWD: usize = 0;
const PERSON_TITLE: usize = 1;
const AGENT_TITLE: usize = 2;
const ASKED: usize = 3;
const ORIGIN: usize = 4;

impl Row {
    /// The row of a tally. `cwd` is where the one before began; it is shared if this one did, too.
    pub fn of<S: AsRef<str>>(tally: &Tally<S>, cwd: &mut Option<Arc<str>>) -> Row {
        let first_cwd = tally.first_cwd.as_ref().map(AsRef::as_ref);
        if cwd.as_deref() != first_cwd {
            *cwd = first_cwd.map(Arc::from);
        }
        let [last, person, agent] =
            [&tally.last_cwd, &tally.person_title, &tally.agent_title].map(Option::as_ref);
        let (asked, origin) = (tally.asked.best(), tally.origin.as_ref());
        let parts = [last, person, agent, asked, origin].map(|part| part.map(AsRef::as_ref));
        let mut row = Row {
            started: tally.started,
            updated: tally.updated,
            messages: tally.messages,
            input: tally.input,
            output: tally.output,
            context_used: tally.context_used(),
            ending: tally.ending(),
            open_end: tally.open_end().map(Box::new),
            first_cwd: cwd.clone(),
            ..Row::default()
        };
        let mut texts =
            String::with_capacity(parts.iter().flatten().map(|part: &&str| part.len()).sum());
        for (index, part) in parts.into_iter().enumerate() {
            row.has |= u8::from(part.is_some()) << index;
            texts += part.unwrap_or_default();
            row.ends
                .iter_mut()
                .skip(index)
                .for_each(|end| *end = texts.len() as u32);
        }
        Row {
            texts: texts.into(),
            ..row
        }
    }

    fn text(&self, index: usize) -> Option<&str> {
        let start = index
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        let end = self
            .ends
            .get(index)
            .map_or(self.texts.len(), |end| *end as usize);
        if self.has & 1 << index != 0 {
            self.texts.get(start..end)
        } else {
            None
        }
    }

    pub fn open_end(&self) -> Option<&OpenEnd> {
        self.open_end.as_deref()
    }

    /// The directory it began in.
    pub fn first_cwd(&self) -> Option<&str> {
        self.first_cwd.as_deref()
    }

    /// The directory it is in now, or was in last.
    pub fn cwd(&self) -> Option<&str> {
        self.text(LAST_CWD).or_else(|| self.first_cwd())
    }

    pub fn person_title(&self) -> Option<&str> {
        self.text(PERSON_TITLE)
    }

    /// The title that a person gave it, if that can stand for a name.
    pub(super) fn person_name(&self) -> Option<&str> {
        self.person_title().filter(|title| is_short(title))
    }

    pub fn agent_title(&self) -> Option<&str> {
        self.text(AGENT_TITLE)
    }

    /// The last substantive prompt.
    pub fn asked(&self) -> Option<&str> {
        self.text(ASKED)
    }

    /// The session that it continues, with its agent: `claude:1111…`.
    pub fn origin(&self) -> Option<&str> {
        self.text(ORIGIN)
    }

    /// Its title: the one somebody gave it, else the last substantive prompt.
    pub fn title(&self) -> Option<&str> {
        title([PERSON_TITLE, AGENT_TITLE, ASKED].map(|index| self.text(index)))
    }
}

/// The longest title that takes the place of a name, in characters.
const LONGEST_NAME: usize = 40;

/// True if a title can stand for a name.
pub fn is_short(title: &str) -> bool {
    title.chars().count() <= LONGEST_NAME && !title.contains('\n')
}
