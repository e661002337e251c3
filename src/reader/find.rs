//! `session-reader find`: a session by what one remembers of it, as one types on the screen of `watch`, or printed.

use super::args::FindArgs;
use super::watch::{self, Wanted};
use super::{Exit, Problem, Stage};
use session_core::ask::find::{FindQuery, Shelf};
use session_core::ask::search::{Library, SearchQuery};
use session_core::search::Query;
use session_core::search::typed::Typed;
use session_core::show::find::{cwd, json, line};

/// How many sessions are printed.
const PRINTED: usize = 20;

pub fn run(args: &FindArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let prints = args.print || args.cwd || args.json;
    if prints && args.words.is_empty() && !args.json && watch::is_at_terminal() {
        return watch::find(
            args,
            Some(if args.cwd { Wanted::Cwd } else { Wanted::Line }),
            stage,
        );
    }
    if prints || stage.style.height.is_none() {
        print(args, stage)
    } else {
        watch::find(args, None, stage)
    }
}

fn print(args: &FindArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let typed = Typed::new(&args.line());
    if typed.is_empty() && !args.words.is_empty() {
        return Problem::trouble(
            "nothing to look for: give a word, or none for the newest sessions",
        );
    }
    let query = SearchQuery::of(Query::new(&[], None));
    let library = stage.heard(Library::open(&query, stage.ask()));
    let shelf = Shelf::new(&library);
    let query = FindQuery {
        typed: &typed,
        all: args.all,
        most: if args.cwd { 1 } else { PRINTED },
    };
    let found = shelf.find(&query, stage.env, &|| false);
    let found = found.map(|found| stage.heard(found));
    let Some(found) = found.filter(|found| !found.hits.is_empty()) else {
        return Problem::nothing(match typed.is_empty() {
            true => "no sessions yet; `session-reader formats` shows where they are looked for",
            false => "no session on this machine fits all of this",
        });
    };
    for hit in &found.hits {
        if args.json {
            stage.print_json(&json(hit))?;
        } else if !args.cwd {
            writeln!(stage.out, "{}", line(hit, stage.gate, stage.style))?;
        } else {
            watch::print_cwd(cwd(hit), hit.listed.handle(), stage.gate, stage.out)?;
        }
    }
    Ok(Exit::Found)
}
