//! `session-reader search`: where some words were said, in all sessions.

use super::args::SearchArgs;
use super::{Exit, Problem, Stage};
use session_core::ask::search::{Found, Library, SearchQuery};
use session_core::env::iso;
use session_core::search::Query;
use session_core::search::query::MOST_WORDS;
use session_core::show::figures::plural;
use session_core::show::json;
use session_core::show::log::Opener;
use session_core::show::search::{SearchView, WORD, correction};
use session_core::show::terminal::{Tone, cut};
use session_format::path::shell_word;

/// The most entries of a session that are shown, and the most sessions in a pipe.
const HITS: usize = 3;
const SESSIONS: usize = 20;

pub fn run(args: &SearchArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    stage.known_agent(args.agent.as_deref())?;
    let query = query(args, stage)?;
    let library = stage.heard(Library::open(&query, stage.ask()));
    let shown = show_found(&library, &query, args, stage);
    stage.leave(library);
    shown
}

fn show_found(
    library: &Library,
    query: &SearchQuery,
    args: &SearchArgs,
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    if library.sessions(args.all).is_empty() {
        let elsewhere = library.sessions(true).len();
        return Problem::nothing(super::none(
            args.all,
            args.agent.is_some(),
            elsewhere,
            "--all",
        ));
    }
    let found = stage.heard(library.search(query, stage.env));
    let shown = if found.sessions.is_empty() {
        Problem::nothing(nothing(&found, library, query, args, stage))
    } else if args.json {
        show_json(&found, args, stage)
    } else {
        show(&found, library, args, stage)
    };
    stage.leave(found);
    shown
}

fn query<'q>(args: &'q SearchArgs, stage: &Stage) -> Result<SearchQuery<'q>, Problem> {
    let mut words = Query::new(&args.words, args.file.as_deref());
    if words.is_empty() {
        return Problem::trouble(
            "nothing to search for: give a word that has letters or digits in it",
        );
    }
    if args.words.len() > MOST_WORDS {
        return Problem::trouble(format!(
            "more than {MOST_WORDS} words; put a phrase in quotes"
        ));
    }
    if args.file.is_some() && !words.has_file() {
        return Problem::trouble(
            "--file: give a path, or a part of one that has letters or digits in it",
        );
    }
    words.whole = args.word;
    words.role = args.role;
    words.since = args.since.map(|since| since.time(stage.env));
    let on_screen = SESSIONS.max(stage.style.height.unwrap_or(0));
    let needed = args
        .limit
        .unwrap_or(if args.json { usize::MAX } else { on_screen });
    let SearchArgs {
        all,
        results,
        no_cache,
        ..
    } = *args;
    Ok(SearchQuery {
        words: words.with_forms(),
        all,
        agent: args.agent.as_deref(),
        results,
        no_cache,
        needed,
    })
}

fn show(
    found: &Found,
    library: &Library,
    args: &SearchArgs,
    stage: &mut Stage,
) -> Result<Exit, Problem> {
    // A line is left for the shell, and two for how many there are besides.
    let mut used = 3;
    let corrections = found
        .corrections
        .iter()
        .map(|one| correction(one, stage.gate))
        .collect::<Vec<_>>();
    match stage.style.height {
        Some(_) if !corrections.is_empty() => {
            used += corrections.len() + 1;
            for note in &corrections {
                super::print_faint(&stage.gate.line(note), stage)?;
            }
            writeln!(stage.out)?;
        }
        _ => stage.say_all(&corrections),
    }
    let room = stage
        .style
        .height
        .map(|rows| rows.saturating_sub(used).max(6));
    let (env, gate) = (stage.env, stage.gate);
    let opener = Opener {
        env,
        gate,
        subagents: &library.subagents,
    };
    let view = SearchView {
        zone: env.zone(),
        gate,
        style: stage.style,
        query: &found.query,
        has_context: args.context > 0,
    };
    let (mut rows, mut count) = (0, 0);
    for session in &found.sessions {
        let (excerpt, bad) = found.excerpt(session, HITS, args.context);
        let lines = view.session(&excerpt, env.now(), &opener);
        rows += lines.len() + usize::from(count > 0);
        let is_full = args.limit.map_or_else(
            || room.is_some_and(|room| rows > room),
            |limit| count >= limit,
        );
        if count > 0 && (is_full || args.limit.is_none() && room.is_none() && count >= SESSIONS) {
            break;
        }
        if count > 0 {
            writeln!(stage.out)?;
        }
        count += 1;
        stage.print_lines(lines)?;
        stage.say_unreadable(&bad);
    }
    if let Some(line) = besides(found, count) {
        match stage.style.height {
            Some(_) => writeln!(stage.out, "\n{}", stage.style.paint(Tone::Faint, &line))?,
            None => stage.say(line),
        }
    }
    Ok(Exit::Found)
}

/// Counts the sessions besides those that are shown, if any.
fn besides(found: &Found, shown: usize) -> Option<String> {
    let all = found
        .sessions
        .iter()
        .skip(shown)
        .filter(|session| found.has_all(session))
        .count();
    let some = found.sessions.len() - shown - all;
    let mut parts = Vec::new();
    if all > 0 {
        parts.push(plural(all, "more session"));
    }
    if some > 0 {
        parts.push(format!("{some} with only some of the words"));
    }
    let (limit, unsearched) = (found.sessions.len() + found.unsearched, found.unsearched);
    let (ones, verb) = if parts.is_empty() {
        ("sessions", "searches")
    } else {
        ("ones", "shows")
    };
    if unsearched > 0 {
        parts.push(format!("{unsearched} older {ones} were not searched"));
    }
    let parts = parts.join(", and ");
    (!parts.is_empty()).then(|| format!("{parts}: --limit {limit} {verb} all"))
}

fn show_json(found: &Found, args: &SearchArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let gate = stage.gate;
    stage.say_all(found.corrections.iter().map(|one| correction(one, gate)));
    for session in found.sessions.iter().take(args.limit.unwrap_or(usize::MAX)) {
        let (listed, missing) = (found.listed(session), found.missing(session));
        for source in found.lines(session) {
            let subagent = found.subagent(session, source);
            let entries = stage.heard(found.entries(session, source));
            for hit in entries.iter().filter(|entry| entry.is_hit) {
                stage.print_json(&json::hit(hit, listed, subagent.as_deref(), &missing))?;
            }
        }
    }
    Ok(Exit::Found)
}

/// Says why nothing was found, and proposes commands that may find more.
fn nothing(
    found: &Found,
    library: &Library,
    query: &SearchQuery,
    args: &SearchArgs,
    stage: &mut Stage,
) -> String {
    let elsewhere = stage.heard(library.elsewhere(query, stage.env));
    let is_anywhere = args.all || elsewhere.is_some_and(|elsewhere| elsewhere.sessions == 0);
    let place = if is_anywhere {
        "on this machine"
    } else {
        "in this project"
    };
    let filters = [
        ("--role", args.role.is_some()),
        ("--since", args.since.is_some()),
        ("--file", args.file.is_some()),
    ];
    let filters: Vec<&str> = filters
        .iter()
        .filter(|(_, given)| *given)
        .map(|(flag, _)| *flag)
        .collect();
    let mut lines = vec![match &found.unsaid()[..] {
        _ if !filters.is_empty() && found.is_said_anyhow(stage.env) => {
            format!(
                "this was said, but nowhere that fits {}",
                filters.join(" and ")
            )
        }
        [] => format!("no session {place} says all of this"),
        [word] => format!("no session {place} says \"{}\"", cut(word, WORD)),
        _ => format!("no session {place} says any of these words"),
    }];
    let mut propose = |why: String, all: bool, results: bool| {
        lines.extend([
            why,
            format!("  {}", command_line(args, all, results, stage)),
        ]);
    };
    if !is_anywhere {
        let why = elsewhere.map_or_else(
            || "to search every session on this machine:".into(),
            |elsewhere| {
                let (count, says) = match elsewhere.with_all {
                    0 => (elsewhere.sessions, ["says some of it", "say some of it"]),
                    with_all => (with_all, ["does", "do"]),
                };
                format!(
                    "{} elsewhere {}:",
                    plural(count, "session"),
                    says[usize::from(count != 1)]
                )
            },
        );
        propose(why, true, args.results);
    }
    if !args.results {
        propose(
            "to search what tools answered, too:".into(),
            is_anywhere,
            true,
        );
    }
    lines.join("\n")
}

/// The command that was given, with another scope. What nobody would type again stays out.
fn command_line(args: &SearchArgs, all: bool, results: bool, stage: &Stage) -> String {
    const LONGEST: usize = 400;
    let mut words = vec!["session-reader".to_owned(), "search".to_owned()];
    let is_long = args.words.iter().map(String::len).sum::<usize>() > LONGEST;
    let given = if is_long {
        &["WORD…".to_owned()][..]
    } else {
        &args.words
    };
    let starts_with_dash = given.iter().any(|word| word.starts_with('-'));
    let said = given.iter().map(|word| {
        if is_long {
            word.into()
        } else {
            shell_word(word)
        }
    });
    if !starts_with_dash {
        words.extend(said.clone());
    }
    let flags = [
        ("--all", all),
        ("-w", args.word),
        ("--results", results),
        ("--no-cache", args.no_cache),
        ("--json", args.json),
    ];
    words.extend(
        flags
            .iter()
            .filter(|(_, is_given)| *is_given)
            .map(|(flag, _)| (*flag).to_owned()),
    );
    let options = [
        ("--role", args.role.map(|role| role.name().to_owned())),
        ("--agent", args.agent.clone()),
        (
            "--file",
            args.file.clone().filter(|file| file.len() <= LONGEST),
        ),
        (
            "--since",
            args.since.map(|since| iso(since.time(stage.env))),
        ),
        ("--limit", args.limit.map(|limit| limit.to_string())),
        ("-C", (args.context > 0).then(|| args.context.to_string())),
    ];
    words.extend(
        options
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", shell_word(&value?)))),
    );
    if starts_with_dash {
        words.push("--".into());
        words.extend(said);
    }
    words.join(" ")
}
