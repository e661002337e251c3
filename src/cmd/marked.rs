//! Sessions that the user marked, found by the ids on the page: as lists show them, or why there is nothing to show.

use std::borrow::Cow;
use std::io;

use super::{Exit, Stage};
use crate::catalog::{self, Listed};
use crate::locate::{self, Session, Unreadable};
use crate::render::terminal::{Look, Tone, cut, flat, pad, pad_left, width};
use crate::secrets::redact;
use crate::state::notes::is_same;
use crate::time::Time;

/// All sessions there are, to find marked ones among.
pub struct Sessions<'f> {
    listed: Vec<Listed<'f>>,
    /// Also those in which nobody said anything, and those that cannot be read.
    files: Vec<Session<'f>>,
    bad: Vec<Unreadable>,
    redact: bool,
}

/// A session that an id on the page stands for.
pub enum Marked<'m, 'f> {
    Listed(&'m Listed<'f>),
    /// The id as it is written, and what is the matter.
    Other(&'m str, &'static str),
}

impl<'f> Sessions<'f> {
    /// Reads them for some ids. Files that cannot be read are said if one of them may be a session that is not found.
    pub fn read(ids: &[&str], stage: &mut Stage<'_, 'f>) -> io::Result<(Sessions<'f>, Exit)> {
        let mut bad = Vec::new();
        let listed = catalog::list(stage.env, stage.formats, &mut bad);
        let files = locate::sessions(stage.formats, stage.env, false, &mut Vec::new());
        let sessions = Sessions { listed, files, bad, redact: stage.settings.redact };
        let lacks = sessions.marked(ids).iter().any(|marked| matches!(marked, Marked::Other(..)));
        let exit = stage.say_unreadable(if lacks { &sessions.bad } else { &[] })?;
        Ok((sessions, exit))
    }

    /// Those that some ids stand for, the newest first. A shortened id may stand for several.
    pub fn marked<'m>(&'m self, ids: &[&'m str]) -> Vec<Marked<'m, 'f>> {
        let is = |id: &str, listed: &Listed| is_same(id, &listed.session.id);
        let known = self.listed.iter().filter(|listed| ids.iter().any(|id| is(id, listed)));
        let others = ids.iter().filter(|id| !self.listed.iter().any(|listed| is(id, listed)));
        known.map(Marked::Listed).chain(others.map(|id| Marked::Other(id, self.matter(id)))).collect()
    }

    fn matter(&self, id: &str) -> &'static str {
        match self.files.iter().find(|file| is_same(id, &file.id)) {
            None => "(gone)",
            Some(file) if self.bad.iter().any(|bad| bad.path == file.path) => "(cannot be read)",
            Some(_) => "(nothing was said in it)",
        }
    }

    /// On one line; what the user does not want to see is hidden.
    pub fn title<'m>(&self, listed: &'m Listed) -> Cow<'m, str> {
        let title = listed.tally.title().unwrap_or_default();
        if self.redact { flat(&redact(title)).into_owned().into() } else { flat(title) }
    }

    /// Rows of a table without headings: what the session is called, its agent, age and title.
    pub fn rows(&self, marked: &[Marked], widths: &Widths, look: Look, now: Time) -> Vec<String> {
        let row = |marked: &Marked| match marked {
            Marked::Listed(listed) => {
                let [handle, agent, age] = cells(listed, now);
                let start = format!("  {}  {}  ", pad(&handle, widths.0[0]), pad(&agent, widths.0[1]));
                let start = start + &pad_left(&age, widths.0[2]) + "  ";
                let room = look.width.map_or(usize::MAX, |room| room.saturating_sub(width(&start)));
                (start + &cut(&self.title(listed), room)).trim_end().to_owned()
            }
            Marked::Other(id, matter) => format!("  {}  {}", flat(id), look.paint(Tone::Faint, matter)),
        };
        marked.iter().map(row).collect()
    }
}

/// How wide the columns of several tables are, so that they look like one.
pub struct Widths([usize; 3]);

impl Widths {
    pub fn of<'m, 'f: 'm>(marked: impl Iterator<Item = &'m Marked<'m, 'f>>, now: Time) -> Widths {
        let mut widths = [0; 3];
        for marked in marked {
            if let Marked::Listed(listed) = marked {
                let cells = cells(listed, now);
                widths.iter_mut().zip(&cells).for_each(|(widest, cell)| *widest = width(cell).max(*widest));
            }
        }
        Widths(widths)
    }
}

fn cells(listed: &Listed, now: Time) -> [String; 3] {
    let most = |text: &str, room: usize| cut(&flat(text), room).into_owned();
    [most(listed.handle(), 40), most(listed.session.format.label(), 12), listed.age(now)]
}
