//! What the user said of sessions, wherever it is written: which are done, and their tags.

use std::collections::HashMap;
use std::path::PathBuf;

use super::line::{Kind, Says};
use super::page::Page;
use crate::env::Env;

/// An id may be shortened to this.
const LEAST_ID: usize = 8;

/// What the user said of sessions, on the pages of all projects: an id is that of one session wherever it is written.
#[derive(Debug, Default)]
pub struct Marks(HashMap<String, Vec<Says>>);

impl Marks {
    /// Reads them. What is wrong with a page is said to who asks for that page.
    pub fn read(env: &Env) -> Marks {
        let mut marks = Marks::default();
        let pages = std::fs::read_dir(env.data_dir().join("projects")).into_iter().flatten().flatten();
        let mut pages: Vec<PathBuf> = pages.map(|page| page.path()).collect();
        pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
        pages.sort();
        for path in pages {
            let page = Page::read(path, Kind::OF_PROJECT, env, &mut Vec::new()).unwrap_or_default();
            for says in page.lines.into_iter().map(|line| line.says) {
                let ids = match &says {
                    Says::Done(id) => std::slice::from_ref(id),
                    Says::Tag(_, ids) => ids,
                    _ => continue,
                };
                for id in ids {
                    marks.0.entry(beginning(id).to_owned()).or_default().push(says.clone());
                }
            }
        }
        marks
    }

    /// Whether a session is done, and its tags.
    pub fn of(&self, session: &str) -> (bool, Vec<String>) {
        let mut tags: Vec<String> = Vec::new();
        let mut done = false;
        for says in self.0.get(beginning(session)).into_iter().flatten() {
            match says {
                Says::Done(id) => done |= is_same(id, session),
                Says::Tag(tag, ids) if !tags.contains(tag) && ids.iter().any(|id| is_same(id, session)) => {
                    tags.push(tag.clone());
                }
                _ => {}
            }
        }
        (done, tags)
    }
}

/// As much of an id as it cannot be shortened by.
fn beginning(id: &str) -> &str {
    &id[..id.floor_char_boundary(LEAST_ID)]
}

/// Whether two ids are of one session: one may be shortened in the name of a file, and by hand.
pub fn is_same(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short == long || short.len() >= LEAST_ID && long.starts_with(short)
}
