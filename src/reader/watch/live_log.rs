//! The log of the selected session: its last entries, and what is written from then on; or what is around a line.
//!
//! It is read as `log --follow` reads it, and looks as `show/log.rs` makes it.

use super::model::{LogLines, LogPlace};
use session_core::ask::follow::{Followed, shows_new};
use session_core::ask::log;
use session_core::env::Env;
use session_core::file::Unreadable;
use session_core::fold::text::cut;
use session_core::read::{self, Slice, Wanted};
use session_core::search::Query;
use session_core::session::choose::Resolved;
use session_core::show::gate::Gate;
use session_core::show::log::LogView;
use session_core::show::terminal::Style;
use session_format::entry::{Entry, LongText, What};

/// The number of entries at first, how many times more when the user wants older ones, and the most.
const FIRST: usize = 100;
const TIMES: usize = 5;
const MOST: usize = 12_500;
/// The longest text of an entry, in bytes, and how much text is read at once: all of it is in memory before it is cut.
const LONGEST: usize = 16 << 10;
const AT_ONCE: usize = 64 << 20;
/// The number of entries before and after a line that was searched for.
const AROUND: usize = 200;

pub struct LiveLog<'f> {
    pub target: LogPlace,
    followed: Followed<'f>,
    entries: Vec<Entry<'static>>,
    /// The entry that was searched for.
    hit: Option<usize>,
    count: usize,
    /// Calls are shown with all that they were given and what they answered.
    pub is_open: bool,
    /// The length of all texts before they were cut.
    length: usize,
    /// No older entries are to be had here.
    pub is_whole: bool,
    /// There are no older ones in the transcript.
    pub is_all: bool,
}

impl<'f> LiveLog<'f> {
    pub fn open(
        transcript: impl Into<Resolved<'f>>,
        at: Option<u64>,
    ) -> Result<LiveLog<'f>, Unreadable> {
        let transcript = transcript.into();
        let target = (transcript.session.path.to_path_buf(), at);
        // What is beside the transcript only makes paths shorter.
        let followed = Followed::new(transcript, None, None).0;
        let mut log = LiveLog {
            target,
            followed,
            entries: Vec::new(),
            hit: None,
            count: FIRST,
            is_open: false,
            length: 0,
            is_whole: false,
            is_all: false,
        };
        log.read()?;
        Ok(log)
    }

    fn read(&mut self) -> Result<(), Unreadable> {
        let at = self.target.1.map(read::Target::Line);
        let slice = Slice {
            at,
            context: AROUND,
            ..Slice::default()
        };
        let log = match at {
            None => self.followed.past(self.wanted(self.count))?,
            Some(_) => {
                let wanted = Wanted {
                    slice: Some(&slice),
                    ..self.wanted(usize::MAX)
                };
                log::last(&self.followed.resolved, wanted)?
            }
        };
        self.is_all = at.is_none() && log.entries.len() < self.count;
        self.is_whole = at.is_some() || self.is_all || self.count >= MOST;
        self.hit = log.hits.first().copied().filter(|_| at.is_some());
        self.length = log.entries.iter().map(length).sum();
        self.entries = log.entries.into_iter().map(capped).collect();
        Ok(())
    }

    /// Shows calls with all that belongs to them, or no longer.
    pub fn open_calls(&mut self) -> Result<(), Unreadable> {
        self.is_open = !self.is_open;
        self.read()
    }

    fn wanted<'w>(&self, count: usize) -> Wanted<'w> {
        Wanted {
            count,
            full: self.is_open,
            results: self.is_open,
            ..Wanted::default()
        }
    }

    /// Reads older entries, if there are any.
    pub fn more(&mut self) -> Result<(), Unreadable> {
        let affordable = AT_ONCE / (self.length / self.entries.len().max(1)).max(1);
        let count = (self.count * TIMES).min(MOST).min(affordable);
        self.is_whole |= count <= self.count;
        if self.is_whole {
            return Ok(());
        }
        self.count = count;
        self.read()
    }

    /// Reads what was written since, and says how many entries that are. The oldest ones are forgotten, unless `keeps`,
    /// because the user looks at them.
    pub fn news(&mut self, keeps: bool) -> Result<usize, Unreadable> {
        if self.target.1.is_some() {
            return Ok(0);
        }
        let wanted = self.wanted(self.count);
        let news = self
            .followed
            .news(wanted)
            .map_err(|error| Unreadable::new(&self.target.0, error))?;
        let before = self.entries.len();
        self.entries.extend(
            news.into_iter()
                .filter(|entry| shows_new(entry, wanted))
                .map(capped),
        );
        let new = self.entries.len() - before;
        let most = if keeps { MOST } else { self.count };
        let excess = self.entries.len().saturating_sub(2 * most);
        if excess > 0 {
            self.entries.drain(..excess);
            (self.is_whole, self.is_all) = (false, false);
        }
        Ok(new)
    }

    /// All lines, which of them begins what was searched for, and how many are of the last `new` entries. The words that
    /// the user looks for are marked.
    pub fn lines(
        &self,
        env: &Env,
        gate: Gate,
        width: usize,
        new: usize,
        marked: Option<Query>,
    ) -> LogLines {
        let style = Style {
            colour: true,
            width: Some(width),
            height: Some(0),
        };
        let mut view = LogView::new(env.zone(), gate, style)
            .narrow()
            .marking(marked);
        let (mut lines, mut starts, mut hit, mut before) = (Vec::new(), Vec::new(), None, 0);
        let old = self.entries.len().saturating_sub(new);
        for (index, entry) in self.entries.iter().enumerate() {
            view.points_at_it = self.hit == Some(index);
            if view.points_at_it {
                hit = Some(lines.len());
            }
            starts.push(lines.len());
            lines.append(&mut view.lines(entry, &self.followed.origin));
            if index < old {
                before = lines.len();
            }
        }
        LogLines {
            added: lines.len() - before,
            lines,
            starts,
            hit,
            waiting: 0,
        }
    }
}

fn length(entry: &Entry) -> usize {
    if let What::Text(text) | What::Mark(_, text) = &entry.what {
        text.len()
    } else {
        0
    }
}

/// An entry of which no more is kept than anybody reads in a pane.
fn capped(mut entry: Entry<'static>) -> Entry<'static> {
    if let What::Text(text) | What::Mark(_, text) = &mut entry.what
        && text.len() > LONGEST
    {
        *text = format!("{}…", cut(text, LONGEST)).into();
    }
    if let What::Result {
        text: Some(text), ..
    } = &mut entry.what
    {
        let whole = text.text().into_owned();
        if whole.len() > LONGEST {
            *text = LongText::Read(format!("{}…", cut(&whole, LONGEST)).into());
        }
    }
    entry
}
