//! The thread that finds sessions while somebody types.
//!
//! It answers the newest question. A question that another one followed is void: its search ends at once, and its answer,
//! should it come all the same, is dropped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use super::feed::Rows;
use super::finder::{Answer, Request};
use super::view::WatchRow;
use session_core::ask::Asker;
use session_core::ask::find::{FindQuery, Finds, FoundHit, Shelf};
use session_core::ask::search::{Library, SearchQuery};
use session_core::search::Query;
use session_core::search::typed::Typed;
use session_core::show::figures::plural;
use session_core::show::find::around;
use session_core::show::gate::Gate;

/// As many as anybody looks through before they type another letter.
const MOST: usize = 50;

/// Answers questions until nobody asks any more. `newest` is the number of the newest one.
pub fn answer_all(
    asker: Asker,
    gate: Gate,
    conflict_window: i64,
    requests: &Receiver<Request>,
    newest: &AtomicU64,
    mut send: impl FnMut(Answer),
) {
    let mut waiting = requests.recv().ok();
    while let Some(mut request) = waiting.take() {
        let query = SearchQuery::of(Query::new(&[], None));
        let (library, bad) = Library::open(&query, asker);
        let shelf = Shelf::new(&library);
        let mut trouble = bad.first().map(ToString::to_string);
        let mut rows = Rows::new(asker.env, gate, conflict_window);
        loop {
            let typed = Typed::new(&request.line);
            let query = FindQuery {
                typed: &typed,
                all: request.all,
                most: MOST,
            };
            let is_void = || newest.load(Ordering::Relaxed) != request.number;
            if let Some((finds, bad)) = shelf.find(&query, asker.env, &is_void) {
                trouble = trouble.or_else(|| bad.first().map(ToString::to_string));
                let row = |hit: &FoundHit| found_row(hit, &typed, &mut rows, asker, gate);
                send(Answer {
                    number: request.number,
                    note: note(&finds),
                    rows: finds.hits.iter().map(row).collect(),
                    trouble: trouble.take().map(|text| gate.line(text).into_owned()),
                });
            }
            let Ok(next) = requests.recv() else { return };
            let is_fresh = request_after(next, requests, &mut request);
            if is_fresh {
                waiting = Some(request);
                break;
            }
        }
    }
}

/// Goes on to the newest question there is. Says whether the sessions are to be looked at anew for it.
fn request_after(next: Request, requests: &Receiver<Request>, request: &mut Request) -> bool {
    let mut is_fresh = next.is_fresh;
    *request = next;
    while let Ok(newer) = requests.try_recv() {
        is_fresh |= newer.is_fresh;
        *request = newer;
    }
    is_fresh
}

fn note(finds: &Finds) -> String {
    match finds.hits.len() {
        0 => "nothing fits".into(),
        _ if finds.elsewhere => "nothing fits here, but elsewhere".into(),
        MOST => format!("the best {MOST}"),
        count => plural(count, "session"),
    }
}

/// A session that was found, with its log at the line that fits best.
fn found_row(hit: &FoundHit, typed: &Typed, rows: &mut Rows, asker: Asker, gate: Gate) -> WatchRow {
    let now = asker.env.now();
    let row = rows.row(hit.listed, now);
    let line = hit.line.as_ref();
    let subagent = line.and_then(|line| line.subagent.clone());
    WatchRow {
        is_subagent: subagent.is_some(),
        path: subagent.unwrap_or_else(|| row.path.clone()),
        about: line
            .map(|line| around(line, typed, gate))
            .unwrap_or_default(),
        time: hit.listed.age(now),
        at: line.map(|line| line.number),
        ..row
    }
}
