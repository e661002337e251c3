//! The situations that faults are tried in, and who judges what came of them.
//!
//! What a hook has to tell is one message per session, each with a text of its own, so that what was told, lost or told
//! twice can be read from the replies.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::inject::Class;
use super::{Ran, Scenario, Trial, Verdict};
use crate::scene::{Agent, BEGINNING, HEADER, Scene};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "hook, first look",
        prepare: first_look,
        command: hook,
        judge: told_once,
    },
    Scenario {
        name: "hook, later look",
        prepare: later_look,
        command: hook,
        judge: told_once,
    },
    Scenario {
        name: "hook, named home",
        prepare: named_home,
        command: hook,
        judge: told_once,
    },
    Scenario {
        name: "hook, repository",
        prepare: repository,
        command: hook,
        judge: told_once,
    },
    Scenario {
        name: "hook, start",
        prepare: worked,
        command: start,
        judge: started_once,
    },
    Scenario {
        name: "list, no cache",
        prepare: first_look,
        command: list,
        judge: same_or_said,
    },
    Scenario {
        name: "list, old cache",
        prepare: listed_before,
        command: list,
        judge: same_or_said,
    },
    Scenario {
        name: "log",
        prepare: worked,
        command: log,
        judge: same_or_said,
    },
    Scenario {
        name: "resume",
        prepare: worked,
        command: resume,
        judge: same_or_said,
    },
    Scenario {
        name: "resume, last",
        prepare: repository,
        command: resume_last,
        judge: same_or_said,
    },
    Scenario {
        name: "search, no cache",
        prepare: worked,
        command: search,
        judge: same_or_said,
    },
    Scenario {
        name: "search, old cache",
        prepare: searched_before,
        command: search,
        judge: same_or_said,
    },
    Scenario {
        name: "files",
        prepare: worked,
        command: files,
        judge: same_or_said,
    },
    Scenario {
        name: "profile",
        prepare: worked,
        command: profile,
        judge: same_or_said,
    },
    Scenario {
        name: "wait",
        prepare: worked,
        command: wait,
        judge: same_or_said,
    },
    Scenario {
        name: "watch, once",
        prepare: worked,
        command: watch,
        judge: same_or_said,
    },
    Scenario {
        name: "formats",
        prepare: worked,
        command: formats,
        judge: same_or_said,
    },
    Scenario {
        name: "status line",
        prepare: worked,
        command: statusline,
        judge: same_or_said,
    },
    Scenario {
        name: "export",
        prepare: worked,
        command: export,
        judge: whole_or_none,
    },
    Scenario {
        name: "pin",
        prepare: pinned_before,
        command: pin,
        judge: pinned_or_said,
    },
    Scenario {
        name: "install",
        prepare: settings,
        command: install,
        judge: old_or_new,
    },
];

/// Faults that did harm once: calls of a class about a path that ends so. The short form tries them all.
pub const HARMED: &[(&str, Class, &str, i32)] = &[
    // The first answer about a directory was an error, the second was not, and only half of the session was told.
    ("hook, later look", Class::Stat, "work/.git", libc::EIO),
    ("hook, repository", Class::Stat, "work/.git", libc::EACCES),
    // The home was taken for missing, and all was told again once it was back.
    (
        "hook, named home",
        Class::Stat,
        "work/.volute",
        libc::EACCES,
    ),
    // Paths were shown in full, because nobody knew where the session had begun.
    (
        "log",
        Class::Open,
        "aaaaaaaa-0000-4000-8000-00000000000a.jsonl",
        libc::EIO,
    ),
];

const CONTEXT: &str = env!("CARGO_BIN_EXE_session-context");
const READER: &str = env!("CARGO_BIN_EXE_session-reader");

const MINUTE: i64 = 60_000;
const NOW: i64 = BEGINNING;

const OBSERVER: &str = "00000000-0000-4000-8000-000000000000";
const ALPHA: (Agent, &str) = (Agent::Claude, "aaaaaaaa-0000-4000-8000-00000000000a");
const BETA: (Agent, &str) = (Agent::Claude, "bbbbbbbb-0000-4000-8000-00000000000b");
const GAMMA: (Agent, &str) = (Agent::Codex, "cccccccc-0000-4000-8000-00000000000c");
const DELTA: (Agent, &str) = (Agent::Pi, "dddddddd-0000-4000-8000-00000000000d");

// ------------------------------------------------------------------------------------- scenes

type Who = (Agent, &'static str);

fn prompt(scene: &Scene, (agent, id): Who, minutes_ago: i64, text: &str) -> String {
    agent.prompt(
        id,
        &scene.work(),
        NOW - minutes_ago * MINUTE,
        &format!("{id}-{minutes_ago}"),
        text,
    )
}

/// Begins a session with one prompt.
fn begin(scene: &Scene, path: &str, who: Who, minutes_ago: i64, text: &str) {
    let head = who.0.head(who.1, &scene.work(), NOW - minutes_ago * MINUTE);
    scene.write(path, head + &prompt(scene, who, minutes_ago, text));
    age(scene, path);
}

/// Sets the time of a file back by a minute: what a faulty look passes over is then found again because it was not told,
/// and not because it is new.
fn age(scene: &Scene, path: &str) {
    let then = SystemTime::now() - Duration::from_mins(1);
    let file = std::fs::File::options().append(true).open(scene.path(path));
    file.and_then(|file| file.set_modified(then))
        .expect("an older file");
}

fn place(scene: &Scene, (agent, id): Who) -> String {
    agent.transcript(id, &scene.work())
}

fn observer(scene: &Scene) {
    let who = (Agent::Claude, OBSERVER);
    begin(scene, &place(scene, who), who, 200, "what I asked myself");
}

/// Four sessions in three formats, none of them seen yet, and one of another project.
fn first_look(scene: &Scene) {
    observer(scene);
    begin(scene, &place(scene, ALPHA), ALPHA, 11, "alpha asks first");
    begin(scene, &place(scene, BETA), BETA, 12, "beta asks first");
    begin(scene, &place(scene, GAMMA), GAMMA, 13, "gamma asks first");
    begin(scene, &place(scene, DELTA), DELTA, 14, "delta asks first");
    let elsewhere = scene.path("elsewhere");
    let line = Agent::Claude.prompt(
        "e",
        &elsewhere,
        NOW - MINUTE,
        "e-1",
        "epsilon asks elsewhere",
    );
    scene.write(Agent::Claude.transcript("eeeeeeee", &elsewhere), line);
}

/// The newest session has something to show for its work.
fn worked(scene: &Scene) {
    first_look(scene);
    let path = place(scene, ALPHA);
    let file = scene.work().join("src/parser.rs");
    scene.append(&path, Agent::Claude.edit(10, NOW - 10 * MINUTE, &file));
    scene.append(
        &path,
        Agent::Claude.answer(11, NOW - 9 * MINUTE, "The parser reads both forms now."),
    );
    scene.append(&path, prompt(scene, ALPHA, 5, "and now the tests"));
    scene.append(
        &path,
        Agent::Claude.answer(12, NOW - 4 * MINUTE, "The tests are written."),
    );
    age(scene, &path);
}

/// Some were seen; one of them goes on, one moves and goes on, one is new.
fn later_look(scene: &Scene) {
    observer(scene);
    let moved = place(scene, BETA).replace("-work/", "-work-moved/");
    begin(scene, &place(scene, ALPHA), ALPHA, 11, "alpha asked before");
    begin(scene, &place(scene, BETA), BETA, 12, "beta asked before");
    begin(scene, &place(scene, GAMMA), GAMMA, 13, "gamma asked before");
    let seen = ran(hook(scene));
    assert!(seen.err.is_empty() && !seen.out.is_empty(), "{seen}");
    scene.append(
        place(scene, ALPHA),
        prompt(scene, ALPHA, 5, "alpha asks first"),
    );
    scene.write(&moved, "");
    std::fs::rename(scene.path(place(scene, BETA)), scene.path(&moved)).expect("moved");
    scene.append(&moved, prompt(scene, BETA, 6, "beta asks first"));
    scene.append(
        place(scene, GAMMA),
        prompt(scene, GAMMA, 7, "gamma asks first"),
    );
    begin(scene, &place(scene, DELTA), DELTA, 8, "delta asks first");
    for path in [place(scene, ALPHA), moved, place(scene, GAMMA)] {
        age(scene, &path);
    }
}

/// The same where sessions have names: two with a name file, one in a folder of its own.
fn named_home(scene: &Scene) {
    let name = |name: &str, id: &str| {
        scene.write(
            format!("work/.volute/sessions/{name}.json"),
            json!({"sessionId": id}).to_string(),
        );
    };
    name("main", OBSERVER);
    name("alpha", ALPHA.1);
    name("beta", BETA.1);
    let delta = "work/.volute/pi-sessions/delta/1_dddddddd.jsonl";
    observer(scene);
    begin(scene, &place(scene, ALPHA), ALPHA, 11, "alpha asked before");
    begin(scene, delta, DELTA, 14, "delta asked before");
    let seen = ran(hook(scene));
    assert!(seen.err.is_empty() && !seen.out.is_empty(), "{seen}");
    scene.append(
        place(scene, ALPHA),
        prompt(scene, ALPHA, 5, "alpha asks first"),
    );
    scene.append(delta, prompt(scene, DELTA, 6, "delta asks first"));
    begin(scene, &place(scene, BETA), BETA, 7, "beta asks first");
    for path in [place(scene, ALPHA), delta.into()] {
        age(scene, &path);
    }
}

/// A repository with a worktree beside it: sessions in both, one below, and one that came here from elsewhere.
fn repository(scene: &Scene) {
    scene.write("work/.git/HEAD", "ref: refs/heads/main\n");
    scene.write("work/.git/worktrees/tree/commondir", "../..\n");
    scene.write("work/src/main.rs", "");
    let tree = scene.path("tree");
    scene.write(
        "tree/.git",
        format!(
            "gitdir: {}\n",
            scene.path("work/.git/worktrees/tree").display()
        ),
    );
    observer(scene);
    begin(scene, &place(scene, ALPHA), ALPHA, 11, "alpha asks first");
    let moves = place(scene, BETA).replace("-work/", "-elsewhere/");
    let elsewhere = Agent::Claude.prompt(
        BETA.1,
        &scene.path("elsewhere"),
        NOW - 13 * MINUTE,
        "b-1",
        "beta asks elsewhere",
    );
    scene.write(
        &moves,
        elsewhere + &prompt(scene, BETA, 12, "beta asks first"),
    );
    age(scene, &moves);
    for ((agent, id), cwd, text) in [
        (GAMMA, tree, "gamma asks first"),
        (DELTA, scene.path("work/src"), "delta asks first"),
    ] {
        let path = agent.transcript(id, &cwd);
        let time = NOW - 14 * MINUTE;
        scene.write(
            &path,
            agent.head(id, &cwd, time) + &agent.prompt(id, &cwd, time, id, text),
        );
        age(scene, &path);
    }
}

fn listed_before(scene: &Scene) {
    first_look(scene);
    ran(list(scene));
    scene.append(
        place(scene, ALPHA),
        prompt(scene, ALPHA, 5, "alpha asks again"),
    );
    std::fs::remove_file(scene.path(place(scene, BETA))).expect("deleted");
}

fn searched_before(scene: &Scene) {
    worked(scene);
    ran(search(scene));
    scene.append(
        place(scene, ALPHA),
        prompt(scene, ALPHA, 3, "another parser"),
    );
    std::fs::remove_file(scene.path(place(scene, BETA))).expect("deleted");
}

fn pinned_before(scene: &Scene) {
    ran(scene.command(CONTEXT, &["pin", "the first note"], NOW));
}

fn settings(scene: &Scene) {
    scene.write(
        ".claude/settings.json",
        "{\n  // mine\n  \"model\": \"opus\"\n}\n",
    );
    scene.write(".codex/config.toml", "model = \"gpt\"\n");
}

// ----------------------------------------------------------------------------------- programs

/// Runs a program without faults.
fn ran(mut command: Command) -> Ran {
    command.output().map(Ran::from).expect("the program runs")
}

/// Input that is all there before the program begins.
fn with_input(mut command: Command, input: &serde_json::Value) -> Command {
    use std::io::Write;
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer
        .write_all(input.to_string().as_bytes())
        .expect("it fits a pipe");
    command.stdin(Stdio::from(reader));
    command
}

fn hook(scene: &Scene) -> Command {
    let input = Agent::Claude.asks(
        OBSERVER,
        &scene.work(),
        &scene.path(place(scene, (Agent::Claude, OBSERVER))),
    );
    with_input(scene.command(CONTEXT, &["--budget", "3000"], NOW), &input)
}

fn start(scene: &Scene) -> Command {
    let input = json!({"session_id": "99999999-new", "cwd": scene.work(), "hook_event_name": "SessionStart",
        "source": "startup", "transcript_path": scene.path(place(scene, (Agent::Claude, "99999999-new")))});
    with_input(scene.command(CONTEXT, &[], NOW), &input)
}

fn list(scene: &Scene) -> Command {
    scene.command(READER, &["list", "--json"], NOW)
}

fn log(scene: &Scene) -> Command {
    scene.command(READER, &["log", "aaaaaaaa"], NOW)
}

fn resume(scene: &Scene) -> Command {
    scene.command(READER, &["resume", "aaaaaaaa"], NOW)
}

fn resume_last(scene: &Scene) -> Command {
    scene.command(READER, &["resume"], NOW)
}

fn search(scene: &Scene) -> Command {
    scene.command(READER, &["search", "parser", "frist"], NOW)
}

fn files(scene: &Scene) -> Command {
    scene.command(READER, &["files"], NOW)
}

fn profile(scene: &Scene) -> Command {
    scene.command(READER, &["profile", "--all"], NOW)
}

fn wait(scene: &Scene) -> Command {
    scene.command(
        READER,
        &["wait", "--until", "error", "--timeout", "10ms"],
        NOW,
    )
}

fn watch(scene: &Scene) -> Command {
    scene.command(READER, &["watch", "--once"], NOW)
}

fn formats(scene: &Scene) -> Command {
    scene.command(READER, &["formats"], NOW)
}

/// With another one, whose input and output it watches.
fn statusline(scene: &Scene) -> Command {
    let mut command = scene.command(CONTEXT, &["statusline", "--", "cat; echo theirs"], NOW);
    command.env("PATH", "/usr/bin:/bin");
    with_input(
        command,
        &json!({"session_id": OBSERVER, "cwd": scene.work()}),
    )
}

fn export(scene: &Scene) -> Command {
    scene.command(READER, &["export", "aaaaaaaa", "-o", "page.html"], NOW)
}

fn pin(scene: &Scene) -> Command {
    scene.command(CONTEXT, &["pin", "the second note"], NOW)
}

fn pins(scene: &Scene) -> Command {
    scene.command(CONTEXT, &["pins"], NOW)
}

fn install(scene: &Scene) -> Command {
    scene.command(CONTEXT, &["install", "claude", "codex"], NOW)
}

// ------------------------------------------------------------------------------------- judges

const NEWS: [&str; 4] = [
    "alpha asks first",
    "beta asks first",
    "gamma asks first",
    "delta asks first",
];
const OLD: [&str; 4] = [
    "alpha asked before",
    "beta asked before",
    "gamma asked before",
    "delta asked before",
];

fn told(ran: &Ran) -> Result<BTreeSet<&'static str>, Verdict> {
    let text = Agent::Claude
        .told(&ran.out)
        .map_err(|why| Verdict::Failed("cut output", why))?;
    if !text.is_empty() && !text.starts_with(HEADER) || text.contains("elsewhere") {
        return Err(Verdict::Failed("wrong output", text));
    }
    Ok(NEWS
        .into_iter()
        .chain(OLD)
        .filter(|news| text.contains(news))
        .collect())
}

/// What holds for the hook whatever happens.
fn unharmed(trial: &Trial) -> Option<Verdict> {
    let Ran { exit, err, .. } = &trial.ran;
    if !trial.was_killed() && *exit != Some(0) {
        return Some(Verdict::Failed("exit status", format!("{exit:?}")));
    }
    let mut lines: Vec<&str> = err.lines().collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    if lines.len() < all
        || !lines
            .iter()
            .all(|line| line.starts_with("session-context: "))
    {
        return Some(Verdict::Failed(
            "stderr is not a line per problem",
            String::new(),
        ));
    }
    None
}

/// Every message exactly once, or twice if it was said that this would happen or if the program was killed.
fn told_once(trial: &Trial) -> Verdict {
    judged(unharmed(trial), || {
        let news: BTreeSet<_> = NEWS.into_iter().filter(|news| trial.has(news)).collect();
        let first = told(&trial.ran)?;
        let (next, last) = (ran(hook(trial.scene)), ran(hook(trial.scene)));
        let (second, third) = (told(&next)?, told(&last)?);
        let said = !trial.ran.err.is_empty();
        let context = |what: &str| {
            format!(
                "{what}\nfirst {first:?}\nthen {second:?} {}\nthen {third:?}",
                next.err
            )
        };
        let heard: BTreeSet<_> = first.union(&second).copied().collect();
        let lost: Vec<_> = news.difference(&heard).collect();
        if !lost.is_empty() {
            let kind = if said { "lost" } else { "lost silently" };
            return Err(Verdict::Failed(kind, context(&format!("{lost:?}"))));
        }
        if !third.is_empty() {
            return Err(Verdict::Failed("goes on telling", context("")));
        }
        if !first.is_subset(&news) && !said {
            return Err(Verdict::Failed(
                "told again what was told before, silently",
                context(""),
            ));
        }
        let again =
            !second.is_disjoint(&first) || !second.is_subset(&news) || !first.is_subset(&news);
        if again && !said && !trial.was_killed() {
            return Err(Verdict::Failed("repeated silently", context("")));
        }
        if first != news && !said && !trial.was_killed() {
            return Err(Verdict::Failed("late without a word", context("")));
        }
        Ok(match (again, first == news) {
            (true, _) => Verdict::Repeated,
            (false, true) => Verdict::Harmless,
            (false, false) => Verdict::Said,
        })
    })
}

impl Trial<'_> {
    /// Whether a text stands in a file of the scene.
    fn has(&self, text: &str) -> bool {
        let files = self
            .before
            .iter()
            .filter(|(name, _)| name.ends_with(".jsonl"));
        files
            .into_iter()
            .any(|(_, content)| memchr::memmem::find(content, text.as_bytes()).is_some())
    }
}

fn judged(first: Option<Verdict>, then: impl FnOnce() -> Result<Verdict, Verdict>) -> Verdict {
    first.unwrap_or_else(|| then().unwrap_or_else(|failed| failed))
}

/// Where the work stopped is told at the start, or at the next start.
fn started_once(trial: &Trial) -> Verdict {
    judged(unharmed(trial), || {
        let text = |ran: &Ran| {
            Agent::Claude
                .told(&ran.out)
                .map_err(|why| Verdict::Failed("cut output", why))
        };
        let (whole, first) = (text(&trial.sound.ran)?, text(&trial.ran)?);
        let next = ran(start(trial.scene));
        let second = text(&next)?;
        let said = !trial.ran.err.is_empty();
        let context = || format!("first {first}\nthen {second} {}", next.err);
        if whole.is_empty() {
            return Err(Verdict::Failed("tells nothing at all", context()));
        }
        match (first == whole, second == whole) {
            (true, false) if second.is_empty() => Ok(if said {
                Verdict::Said
            } else {
                Verdict::Harmless
            }),
            (true, true) if said || trial.was_killed() => Ok(Verdict::Repeated),
            (true, true) => Err(Verdict::Failed("repeated silently", context())),
            (false, true) if said || trial.was_killed() => Ok(Verdict::Said),
            (false, false) if said && !first.is_empty() && second.is_empty() => Ok(Verdict::Said),
            (false, _) if !said => Err(Verdict::Failed("less without a word", context())),
            _ => Err(Verdict::Failed("lost", context())),
        }
    })
}

/// A command says the same as without the fault, or says what is wrong; and no trace of it is left for the next.
fn same_or_said(trial: &Trial) -> Verdict {
    let Ran { exit, out, err } = &trial.ran;
    if !trial.was_killed() && !matches!(exit, Some(0..=2)) {
        return Verdict::Failed("exit status", format!("{exit:?}"));
    }
    let next = ran((trial.command)(trial.scene));
    if next.out != trial.sound.ran.out || next.err != trial.sound.ran.err {
        return Verdict::Failed(
            "wrong afterwards",
            format!("then {next}\ninstead of {}", trial.sound.ran),
        );
    }
    if *out == trial.sound.ran.out && (*exit == trial.sound.ran.exit || trial.was_killed()) {
        return if *err == trial.sound.ran.err {
            Verdict::Harmless
        } else {
            Verdict::Said
        };
    }
    if trial.was_killed() || !err.is_empty() {
        Verdict::Said
    } else {
        Verdict::Failed("less without a word", String::new())
    }
}

/// The note is there, or an error was said; the one from before is there in any case.
fn pinned_or_said(trial: &Trial) -> Verdict {
    let Ran { exit, err, .. } = &trial.ran;
    let kept = ran(pins(trial.scene));
    let list = String::from_utf8_lossy(&kept.out);
    let (first, second) = (
        list.contains("pin 1 ("),
        list.contains(": the second note\n"),
    );
    let context = || format!("pins: {kept}");
    if !first
        || !list.contains(": the first note\n")
        || !kept.err.is_empty()
        || list.lines().count() > 2
    {
        return Verdict::Failed("notes are damaged", context());
    }
    match (exit, second) {
        (Some(0), true) if err.is_empty() => Verdict::Harmless,
        (Some(0), false) => Verdict::Failed("says that it is there", context()),
        (Some(1 | 2), _) if err.is_empty() => Verdict::Failed("fails without a word", context()),
        (Some(0..=2), _) => Verdict::Said,
        (None, _) if trial.was_killed() => Verdict::Said,
        _ => Verdict::Failed("exit status", format!("{exit:?}")),
    }
}

/// A page is there as a whole or not at all. Who reads Markdown there has maps that need random numbers: without any, the
/// program ends, before it has written something.
fn whole_or_none(trial: &Trial) -> Verdict {
    let page = trial.after.keys().find(|name| name.ends_with("page.html"));
    if let Some(name) = page
        && trial.after.get(name) != trial.sound.after.get(name)
    {
        return Verdict::Failed("a part of a page", name.clone());
    }
    let Ran { exit, err, .. } = &trial.ran;
    let lacks_numbers = err.is_empty() || err.contains("failed to generate random data");
    if exit.is_none() && page.is_none() && lacks_numbers {
        return Verdict::Said;
    }
    same_or_said(trial)
}

/// Each file is as before or as after, and a second run completes what a first could not.
fn old_or_new(trial: &Trial) -> Verdict {
    let Ran { exit, err, out } = &trial.ran;
    for (name, content) in &trial.after {
        let allowed = [trial.before.get(name), trial.sound.after.get(name)];
        let is_temporary = name.ends_with(".tmp") || name.ends_with(".lock");
        if !allowed.contains(&Some(content)) && !is_temporary {
            return Verdict::Failed("a file is neither old nor new", name.clone());
        }
    }
    if let Some(gone) = trial
        .before
        .keys()
        .find(|name| !trial.after.contains_key(*name))
    {
        return Verdict::Failed("a file is gone", gone.clone());
    }
    if !trial.was_killed() && !matches!(exit, Some(0..=2)) {
        return Verdict::Failed("exit status", format!("{exit:?}"));
    }
    let complete = trial
        .sound
        .after
        .iter()
        .all(|(name, content)| trial.after.get(name) == Some(content));
    if *exit == Some(0) && !complete && err.is_empty() {
        let missing = trial
            .sound
            .after
            .iter()
            .find(|(name, content)| trial.after.get(*name) != Some(content));
        return Verdict::Failed("says that it is done", format!("{missing:?}"));
    }
    if matches!(exit, Some(1 | 2)) && err.is_empty() && out.is_empty() {
        return Verdict::Failed("fails without a word", String::new());
    }
    let next = ran(install(trial.scene));
    let now = super::files(trial.scene.home());
    if next.exit != Some(0)
        || trial
            .sound
            .after
            .iter()
            .any(|(name, content)| now.get(name) != Some(content))
    {
        return Verdict::Failed("cannot be completed", format!("{next}"));
    }
    if *exit == Some(0) && complete && err.is_empty() {
        Verdict::Harmless
    } else {
        Verdict::Said
    }
}
