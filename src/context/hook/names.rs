//! The sessions that have a name in the observer's home, and their subagents.

use super::candidate::Candidate;
use super::context::Context;
use session_core::file::{self, Stamp, Unreadable};
use session_core::session::find::{self, ByIds};
use session_core::session::home::{MANY_NAMES, in_turn};
use session_core::session::{Home, Session};
use session_format::hash::{HashMap, HashSet};

/// The names of a home and what they stand for now.
#[derive(Default)]
pub struct Names<'f> {
    /// The files of the sessions and of their subagents.
    pub files: Vec<Candidate<'f>>,
    by_path: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
    /// Names that say nothing now. What was seen under them stays as it is.
    pub unclear: HashSet<String>,
    pub bad: Vec<Unreadable>,
    pub cut_short: bool,
}

/// Reads the names of a home, as many as there is time for.
pub fn read<'f>(home: &Home, context: &Context<'_, 'f>) -> Result<Names<'f>, Unreadable> {
    let listed = home.names()?;
    let (mut names, mut ids) = (Names::default(), ByIds::default());
    let mut found = Vec::new();
    for (number, name) in in_turn(&listed, context.env).enumerate() {
        // However many names there are, the rest comes another time.
        if number >= MANY_NAMES && context.deadline.is_time_to_tell() {
            names.cut_short = true;
            names.unclear.insert(name.clone());
            continue;
        }
        let session = home.session_among(name, context.formats, context.env, &mut ids);
        let stamped = session.and_then(|session| match session {
            Some(session) => Ok(Some((file::stamp(&session.path)?, session))),
            None => Ok(None),
        });
        match stamped {
            Ok(Some((Some(stamp), session))) => found.push((name, session, stamp)),
            // The transcript that it had is gone.
            Ok(Some((None, _))) => {}
            // A name without a transcript, or one that is being written.
            Ok(None) => _ = names.unclear.insert(name.clone()),
            Err(bad) => {
                names.unclear.insert(name.clone());
                names
                    .bad
                    .extend(Some(bad).filter(|bad| !Home::is_torn(bad)));
            }
        }
    }
    names.cut_short |= listed.len() > MANY_NAMES && context.env.is_late();
    // A session with two names goes by the same one at each look, and by a throw-away one only if it has no other.
    found.sort_by_key(|(name, ..)| (Home::is_throw_away(name), *name));
    for (_, session, stamp) in found {
        names.add(session, stamp);
    }
    Ok(names)
}

impl<'f> Names<'f> {
    fn add(&mut self, session: Session<'f>, stamp: Stamp) {
        let name = session.name.clone();
        let file = Candidate::new(session.clone(), stamp, false, None);
        // A session with two names goes by the first.
        let index = *self
            .by_path
            .entry(file.key.clone())
            .or_insert(self.files.len());
        self.by_name.extend(name.map(|name| (name, index)));
        if index < self.files.len() {
            return;
        }
        self.files.push(file);
        for (path, stamp) in find::subagents(&session, &session.id, &mut self.bad) {
            let file = Candidate::new(
                Session {
                    path: path.into(),
                    ..session.clone()
                },
                stamp,
                true,
                None,
            );
            self.by_path.insert(file.key.clone(), self.files.len());
            self.files.push(file);
        }
    }

    /// The file at a path.
    pub fn at(&self, path: &str) -> Option<&Candidate<'f>> {
        self.files.get(*self.by_path.get(path)?)
    }

    /// The session with a name.
    pub fn called(&self, name: &str) -> Option<&Candidate<'f>> {
        self.files.get(*self.by_name.get(name)?)
    }
}
