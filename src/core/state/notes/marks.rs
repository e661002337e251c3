//! What the user said of sessions, in the notes of all projects: which are done, their tags and their names.

use super::Notes;
use super::line::Says;
use crate::dir;
use crate::env::Env;
use crate::file::Unreadable;
use session_format::boundary::substr;
use session_format::hash::HashMap;

/// An id may be shortened to this.
const LEAST_ID: usize = 8;

/// The user's marks, by the shortest form of the sessions' ids: an id is that of one session wherever it is written.
#[derive(Debug, Default)]
pub struct Marks(HashMap<String, Vec<Says>>);

impl Marks {
    /// Reads them. Files that cannot be read are named in `bad`; wrong lines are not.
    pub fn read(env: &Env, bad: &mut Vec<Unreadable>) -> Marks {
        let mut marks = Marks::default();
        let listed = dir::entries(&env.data_dir().join("projects"), bad);
        let paths = listed.iter().map(|entry| entry.path());
        let mut paths: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|end| end == "md"))
            .collect();
        paths.sort();
        for path in paths {
            let notes = Notes::of_project(&path, env).unwrap_or_else(|unreadable| {
                bad.push(unreadable);
                Notes::default()
            });
            for says in notes.says() {
                for id in says.sessions() {
                    marks
                        .0
                        .entry(beginning(id).to_owned())
                        .or_default()
                        .push(says.clone());
                }
            }
        }
        marks
    }

    /// A session is done or not, and has tags.
    pub fn of(&self, session: &str) -> (bool, Vec<String>) {
        let mut tags: Vec<String> = Vec::new();
        let mut done = false;
        for says in self.about(session) {
            match says {
                Says::Tag(tag, _) if !tags.contains(tag) => tags.push(tag.clone()),
                says => done |= matches!(says, Says::Done(_)),
            }
        }
        (done, tags)
    }

    /// The title that the user gave to a session; the last one counts.
    pub fn name(&self, session: &str) -> Option<&str> {
        let names = self.about(session).filter_map(|says| match says {
            Says::Name(_, name) => Some(&**name),
            _ => None,
        });
        names.last()
    }

    fn about(&self, session: &str) -> impl Iterator<Item = &Says> {
        let all = self.0.get(beginning(session)).into_iter().flatten();
        all.filter(move |says| says.sessions().iter().any(|id| is_same(id, session)))
    }
}

/// As much of an id as it cannot be shortened by.
fn beginning(id: &str) -> &str {
    substr(id, ..id.floor_char_boundary(LEAST_ID))
}

/// Two ids are of one session: one may be shortened in the name of a file, and by hand.
pub fn is_same(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short == long || short.len() >= LEAST_ID && long.starts_with(short)
}
