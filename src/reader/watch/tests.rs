//! Screens as text, and a table of keys.

use std::path::PathBuf;

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::finder::{Answer, Finder};
use super::input::{self, Key};
use super::keys::{Effect, SessionEffect};
use super::live_log::LiveLog;
use super::model::{ConflictText, LogLines, Model, Question};
use super::{Notified, new_trouble, sent};
use crate::watch::view::{Section, WatchRow, draw};
use session_core::env::Env;
use session_core::search::Query;
use session_core::session::live::Evidence;
use session_core::session::live::Presence;
use session_core::session::state::{Group, Reason};
use session_core::session::{Session, State, StateKind};
use session_core::show::gate::Gate;
use session_core::show::log::Piece;
use session_core::show::terminal::{Tone, width};
use session_format::time::{MINUTE, Time};

fn row(
    name: &str,
    agent: &str,
    kind: StateKind,
    minutes: i64,
    about: &str,
    title: &str,
) -> WatchRow {
    let reason = about
        .starts_with("crashed")
        .then_some(Reason::Crashed(None));
    let state = State {
        kind,
        reason,
        since: Some(Time(-minutes * MINUTE)),
        source: Evidence::Transcript,
        cwd: None,
    };
    let group = Group::of(&state, &Presence::Unknown, Time(0));
    WatchRow {
        group,
        section: Section::of(group, state.since, Time(0)),
        path: PathBuf::from(format!("/h/{name}.jsonl")),
        id: format!("{name}-id"),
        handle: name.into(),
        name: name.into(),
        format: agent.into(),
        agent: agent.into(),
        project: "shop".into(),
        cwd: Some("/h/shop".into()),
        place: "~/shop".into(),
        kind,
        since: state.since,
        started: Some(Time(-minutes * MINUTE)),
        time: format!("{minutes}m"),
        about: about.into(),
        title: title.into(),
        tags: String::new(),
        done: false,
        here: true,
        is_open: true,
        runs_in: None,
        context_used: None,
        waits_for: Vec::new(),
        conflicts: false,
        at: None,
        is_subagent: false,
    }
}

/// Lines of a log.
fn log_of(lines: Vec<Vec<Piece>>, starts: Vec<usize>, added: usize) -> LogLines {
    LogLines {
        lines,
        starts,
        added,
        ..LogLines::default()
    }
}

/// The same session in another state.
fn turn(row: &mut WatchRow, kind: StateKind, group: Group) {
    (row.kind, row.group, row.section) = (kind, group, Section::of(group, row.since, Time(0)));
}

/// One of each kind, in no order, and one of another project.
fn rows() -> Vec<WatchRow> {
    use StateKind::{Done, Error, Gone, Idle, NeedsYou, Waiting, Working};
    let mut rows = vec![
        row(
            "docs",
            "pi",
            Waiting,
            6,
            "",
            "write the release notes for 2.4",
        ),
        row(
            "api",
            "claude",
            NeedsYou,
            3,
            "permission: Bash rm -rf build && cargo build --release",
            "tax in the total",
        ),
        row(
            "coupons",
            "claude",
            Working,
            1,
            "running Bash cargo test coupon",
            "add a coupon field",
        ),
        row(
            "events",
            "claude",
            NeedsYou,
            14,
            "question: Redis or NATS?",
            "pick a queue",
        ),
        row(
            "landing",
            "claude",
            Error,
            41,
            "You've hit your usage limit · resets 3pm",
            "make it fast",
        ),
        row(
            "import",
            "codex",
            Working,
            25,
            "running or waiting for permission: exec_command cargo bench",
            "",
        ),
        row(
            "old",
            "gemini",
            Idle,
            59,
            "",
            "日本語のタイトルと👩‍👩‍👧 wide characters that go on and on to the end of the line",
        ),
        row("finished", "qwen", Done, 58, "", "was done"),
        row(
            "left",
            "copilot",
            Gone,
            57,
            "crashed while running Bash make",
            "left alone",
        ),
        row("elsewhere", "claude", Waiting, 2, "", "in another project"),
    ];
    rows[1].conflicts = true;
    rows[2].conflicts = true;
    rows[2].tags = "release".into();
    rows[9].here = false;
    rows[9].project = "site".into();
    for (name, used) in [("api", 41), ("coupons", 83), ("import", 100)] {
        let row = rows.iter_mut().find(|row| row.name == name);
        row.expect("a row").context_used = Some(used);
    }
    rows
}

fn conflict(text: &str, here: bool) -> ConflictText {
    ConflictText {
        text: text.into(),
        here,
    }
}

fn model(width: u16, height: u16, rows: Vec<WatchRow>) -> Model {
    let mut model = Model::new(false, "~/shop".into());
    model.resize(width, height);
    model.set_rows(rows, vec![conflict("src/checkout.rs: api, coupons", true)]);
    let said = |index: usize| {
        vec![
            (Tone::Faint, format!("12:{index:02}  ")),
            (Tone::Plain, format!("line {index}")),
        ]
    };
    model.set_log(log_of((0..40).map(said).collect(), vec![], 0));
    model
}

fn shown(model: &Model) -> String {
    let mut terminal =
        Terminal::new(TestBackend::new(model.width, model.height)).expect("no terminal fails less");
    terminal
        .draw(|frame| draw(&model.screen(), frame.buffer_mut(), true))
        .expect("drawn");
    let buffer = terminal.backend().buffer();
    let line = |y: u16| {
        let (mut line, mut x) = (String::new(), 0);
        while x < model.width {
            let symbol = buffer[(x, y)].symbol();
            line += symbol;
            x += (width(symbol) as u16).max(1);
        }
        line.trim_end().to_owned() + "\n"
    };
    (0..model.height).map(line).collect()
}

#[test]
fn screens_of_several_sizes() {
    let cases = [
        (60, 20, include_str!("screens/60x20.txt")),
        (80, 24, include_str!("screens/80x24.txt")),
        (120, 40, include_str!("screens/120x40.txt")),
        (200, 60, include_str!("screens/200x60.txt")),
        (30, 5, include_str!("screens/30x5.txt")),
    ];
    for (width, height, expected) in cases {
        let shown = shown(&model(width, height, rows()));
        assert_eq!(shown, expected, "{width}x{height}:\n{shown}");
    }
}

/// In the list n asks for a name, with the one it has; in a log it goes on with a find.
#[test]
fn a_key_names_a_session() {
    let mut model = model(80, 24, rows());
    let selected = model.selected().expect("a row").clone();
    model.press(Key::Char('n'));
    let last = |model: &Model| shown(model).lines().last().unwrap_or_default().to_owned();
    assert_eq!(last(&model), " name for events: ▏");
    "checkout tax".chars().for_each(|char| {
        model.press(Key::Char(char));
    });
    assert_eq!(last(&model), " name for events: checkout tax▏");
    let effect = SessionEffect::Name("checkout tax".into());
    assert_eq!(
        model.press(Key::Enter),
        Some(Effect::With(Box::new(selected), effect))
    );
    model.press(Key::Enter);
    assert_eq!(model.press(Key::Char('n')), None);
    assert!(model.prompt.is_none());
}

/// However long a reason is, 40 characters of a title are there to tell one session from the next.
#[test]
fn at_120_columns_a_title_keeps_40_characters() {
    let (about, title) = ("permission: ".repeat(20), "0123456789".repeat(6));
    let row = row("api", "claude", StateKind::NeedsYou, 3, &about, &title);
    let shown = shown(&model(120, 40, vec![row]));
    let line = shown.lines().nth(2).unwrap_or_default();
    assert!(
        line.ends_with("… · 012345678901234567890123456789012345678…"),
        "{shown}"
    );
}

/// Whatever the size, nothing panics, and every key may be pressed.
#[test]
fn every_size_can_be_drawn() {
    let keys = b"jkgG\x1b[6~\x1b[5~?x/a\x7f\rs\x1b[Btx\rp\x1bdfmyYoaq\x1b[<0;3;4M\x1b[<64;3;4M\x1b[<65;30;14M\r\x15\x04gGk\x1b\x1b";
    for (width, height) in (0..130)
        .step_by(26)
        .flat_map(|width| (0..30).step_by(3).map(move |height| (width, height)))
    {
        for rows in [vec![], rows()] {
            let mut model = model(width, height, rows);
            shown(&model);
            for key in input::take(&mut keys.to_vec(), true) {
                model.press(key);
                shown(&model);
            }
        }
    }
}

#[test]
fn no_sessions_and_one() {
    let lines = |model: &Model| {
        shown(model)
            .lines()
            .take(3)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let mut empty = model(60, 20, vec![]);
    empty.set_rows(vec![], vec![]);
    assert_eq!(
        lines(&empty),
        [
            " no sessions                                         ~/shop",
            "  no sessions yet; `session-reader formats` shows where the…",
            ""
        ]
    );
    empty.press(Key::Char('a'));
    assert_eq!(
        lines(&empty)[1],
        "  no sessions yet; `session-reader formats` shows where the…"
    );
    let one = model(60, 20, rows().split_off(9));
    assert_eq!(
        lines(&one)[1],
        "  no sessions in this project; a shows all projects"
    );
    let mut one = model(60, 20, rows().split_off(8));
    assert_eq!(
        lines(&one)[1..],
        [
            " Failed  1",
            "▌ left      copilot  57m  crashed while running Bash make"
        ]
    );
    let over = [
        " 1 inactive   ! src/checkout.rs: api, coupons        ~/shop",
        " Recent  1",
    ];
    assert_eq!(lines(&model(60, 20, rows()[7..8].to_vec()))[..2], over);
    one.press(Key::Char('/'));
    one.press(Key::Char('x'));
    assert_eq!(lines(&one)[1], "  no session fits; Esc shows all");
}

/// However many there are, each can be got at, and the list uses all lines that it has.
#[test]
fn a_thousand_sessions() {
    let many = |index: i64| {
        let kind = [
            StateKind::Idle,
            StateKind::Working,
            StateKind::Gone,
            StateKind::Waiting,
        ][index as usize % 4];
        row(
            &format!("s{index:03}"),
            "claude",
            kind,
            10 * index,
            "",
            "a title",
        )
    };
    let mut model = model(80, 24, (0..1000).map(many).collect());
    let first = shown(&model);
    let head: Vec<&str> = first.lines().take(3).collect();
    assert_eq!(
        head,
        [
            " 250 working · 250 waiting   ! src/checkout.rs: api, coupons             ~/shop",
            " Working  250",
            "▌ s001      claude   10m  a title",
        ]
    );
    let names = |model: &Model| {
        let shown = shown(model);
        let list = shown
            .lines()
            .take(usize::from(model.layout().list.bottom()))
            .skip(1);
        list.filter_map(|line| Some(line.get(4..)?.split_whitespace().next()?.to_owned()))
            .collect::<Vec<_>>()
    };
    let mut seen = session_format::hash::HashSet::default();
    for step in 0..1000 {
        let name = model
            .selected()
            .map(|row| row.name.clone())
            .unwrap_or_default();
        // Drawing takes a while here.
        assert!(
            step % 50 > 0 || shown(&model).contains(&format!("▌ {name} ")),
            "{name}"
        );
        seen.insert(name);
        model.press(Key::Char('j'));
    }
    assert_eq!(seen.len(), 1000);
    assert_eq!(
        model.selected().map(|row| &*row.name),
        Some("s999"),
        "the last of all"
    );
    model.press(Key::PageUp);
    assert_eq!(model.selected().map(|row| &*row.name), Some("s987"));
    for _ in 0..200 {
        model.press(Key::PageUp);
    }
    let list = |shown: &str| {
        shown
            .lines()
            .take(12)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(list(&shown(&model)), list(&first), "with the heading");
    for key in "/s998".chars() {
        model.press(Key::Char(key));
    }
    assert_eq!(model.selected().map(|row| &*row.name), Some("s998"));
    model.press(Key::Esc);
    model.press(Key::Esc);
    model.press(Key::Char('G'));
    for (width, height) in [(80, 24), (120, 40), (200, 50)] {
        model.resize(width, height);
        assert_eq!(
            names(&model).len(),
            usize::from(model.layout().list.height),
            "{width}x{height}"
        );
    }
}

/// What the model is after some keys.
fn told(model: &Model, act: Option<Effect>) -> String {
    let mut told = vec![
        model
            .selected()
            .map_or("nothing", |row| &row.name)
            .to_owned(),
    ];
    told.extend(model.only_log.then_some("log".into()));
    told.extend(model.shows_help.then_some("help".into()));
    told.extend((!model.filter.is_empty()).then(|| format!("/{}", model.filter)));
    told.extend(
        model
            .prompt
            .as_ref()
            .map(|prompt| format!("{}{}", prompt.label, prompt.text)),
    );
    told.extend(
        model
            .finder
            .as_ref()
            .map(|finder| format!("find: {}", finder.text)),
    );
    told.extend((!model.log.follows).then(|| format!("{} below", model.log.below)));
    told.extend(act.map(|act| match act {
        Effect::With(row, deed) => format!("{deed:?} {}", row.name),
        Effect::Pick(row) => format!("Pick {}", row.name),
        act => format!("{act:?}"),
    }));
    told.join(", ")
}

#[test]
fn what_each_key_does() {
    let cases = [
        ("", "events"),
        ("j", "api"),
        ("\x1b[B", "api"),
        ("jjk", "api"),
        ("jjj", "landing"),
        ("k", "events"),
        ("G", "old"),
        ("G\x1b[H", "events"),
        ("g", "events, Go events"),
        ("\x1b[6~", "old"),
        ("G\x1b[5~", "events"),
        ("\r", "events, log"),
        ("\r\x1b", "events"),
        ("\rk", "events, log, 1 below"),
        ("\rkj", "events, log"),
        ("\rkkf", "events, log"),
        ("\rg", "events, log, 19 below, MoreLog"),
        ("\rgG", "events, log"),
        ("\r/", "events, log, find: "),
        ("\r/line 7\r", "events, log, Find { older: true }"),
        ("\r/line 7\rN", "events, log, Find { older: false }"),
        ("\r/line 7\x1b", "events, log"),
        ("\rn", "events, log"),
        ("\x15", "events, 5 below"),
        ("\x15\x04", "events"),
        ("\x15j", "api"),
        ("?", "events, help"),
        ("?j", "events"),
        ("/cou", "coupons, /cou, filter: cou"),
        ("/cou\r", "coupons, /cou"),
        ("/cou\r\x1b", "coupons"),
        ("/cou\x1b", "coupons"),
        ("/cou\x17", "coupons, filter: "),
        ("/zz", "nothing, /zz, filter: zz"),
        ("/zz\x7f\x7f\r", "events"),
        ("/needs-you\x1b[B", "api, /needs-you, filter: needs-you"),
        (
            "/\x1b[200~co\nup\x1b[201~",
            "coupons, /co up, filter: co up",
        ),
        ("a", "events"),
        ("a/elsewhere\r", "elsewhere, /elsewhere"),
        ("s", "nothing, find: , Search { is_fresh: true }"),
        ("sa", "nothing, find: a, Search { is_fresh: false }"),
        ("sab\x7f", "nothing, find: a, Search { is_fresh: false }"),
        ("s\x7f", "nothing, find: "),
        ("sa b\x17", "nothing, find: a , Search { is_fresh: false }"),
        ("sab\x15", "nothing, find: , Search { is_fresh: false }"),
        ("s\t", "nothing, find: , Search { is_fresh: false }"),
        ("sq?\r", "nothing, find: q?"),
        ("sa\x1b", "events"),
        ("r", "events, AskResume events"),
        ("o", "events, Edit events"),
        ("y", "events, CopyId events"),
        ("Y", "events, CopyPath events"),
        ("t", "events, tag for events: "),
        ("trelease\r", "events, Tag(\"release\") events"),
        ("t\x1b", "events"),
        ("pfrozen\r", "events, Pin(\"frozen\") events"),
        ("p", "events, pin for shop: "),
        ("d", "events, Done events"),
        ("m", "events, Mute events"),
        ("q", "events, Quit"),
        ("\x03", "events, Quit"),
        ("s\x03", "nothing, find: , Quit"),
        ("\x1a", "events, Suspend"),
        ("\x0c", "events, Redraw"),
        ("\x1b[200~qdm\x1b[201~", "events"),
        // The third line is the second session; the first one is a heading.
        ("\x1b[<0;5;4M", "api"),
        ("\x1b[<0;5;2M", "events"),
        ("\x1b[<65;5;4M", "api"),
        ("\x1b[<64;5;20M", "events, 3 below"),
    ];
    for (typed, expected) in cases {
        let mut model = model(80, 24, rows());
        let mut act = None;
        for key in input::take(&mut typed.as_bytes().to_vec(), true) {
            act = model.press(key);
        }
        assert_eq!(told(&model, act), expected, "{typed:?}");
    }
}

#[test]
fn resuming_is_asked_for() {
    let cases = [
        Key::Char('y'),
        Key::Char('n'),
        Key::Char('q'),
        Key::Enter,
        Key::Paste("y".into()),
        Key::Down,
    ];
    for key in cases {
        let mut model = model(80, 24, rows());
        model.ask(
            Question::Resume(Box::new(rows()[1].clone()), "run it".into()),
            "run it? ".into(),
            String::new(),
        );
        let expected = (key == Key::Char('y')).then(|| {
            Effect::With(
                Box::new(rows()[1].clone()),
                SessionEffect::Resume("run it".into()),
            )
        });
        assert_eq!(model.press(key), expected);
        assert_eq!(model.prompt, None);
        assert_eq!(model.selected().map(|row| &*row.name), Some("events"));
    }
}

/// A digit chooses an agent, and every other key leaves it be.
#[test]
fn another_agent_is_chosen_by_its_number() {
    let mut pressed = model(80, 24, rows());
    let row = Box::new(pressed.selected().expect("a row").clone());
    assert_eq!(
        pressed.press(Key::Char('c')),
        Some(Effect::With(row, SessionEffect::AskContinue))
    );
    for (key, agent) in [
        ('1', Some("codex")),
        ('2', Some("pi")),
        ('3', None),
        ('0', None),
        ('q', None),
    ] {
        let mut model = model(80, 24, rows());
        let row = Box::new(rows()[1].clone());
        let agents = vec!["codex".to_owned(), "pi".to_owned()];
        model.ask(
            Question::Continue(row.clone(), agents),
            "continue events with: 1 codex  2 pi ".into(),
            String::new(),
        );
        let expected = agent.map(|agent| Effect::With(row, SessionEffect::Continue(agent.into())));
        assert_eq!(model.press(Key::Char(key)), expected);
        assert_eq!(model.prompt, None);
    }
}

/// While the user types or thinks, the session may change its state, its line or leave the list.
#[test]
fn an_answer_is_about_the_session_that_was_asked_about() {
    for (typed, expected) in [
        ("tmytag\r", "Tag(\"mytag\") events"),
        ("pfrozen\r", "Pin(\"frozen\") events"),
    ] {
        let mut model = model(80, 24, rows());
        let mut keys = input::take(&mut typed.as_bytes().to_vec(), true).into_iter();
        model.press(keys.next().expect("a key"));
        for key in [Key::Down, Key::Up, Key::Down] {
            model.press(key);
        }
        assert_eq!(
            model.selected().map(|row| &*row.name),
            Some("events"),
            "only a filter moves the selection"
        );
        model.set_rows(
            rows()
                .into_iter()
                .filter(|row| row.name != "events")
                .collect(),
            vec![],
        );
        let mut act = None;
        for key in keys {
            act = model.press(key);
        }
        assert_eq!(told(&model, act), format!("api, {expected}"));
    }
}

/// The selected session is the same one, wherever its line goes, and one that goes away leaves its place to the next.
#[test]
fn the_selection_stays_with_its_session() {
    let mut model = model(80, 24, rows());
    model.press(Key::Char('j'));
    let mut changed = rows();
    turn(&mut changed[1], StateKind::Waiting, Group::Waiting);
    changed.reverse();
    model.set_rows(changed, vec![]);
    assert_eq!(model.selected().map(|row| &*row.name), Some("api"));
    model.set_rows(
        rows().into_iter().filter(|row| row.name != "api").collect(),
        vec![],
    );
    assert_eq!(model.selected().map(|row| &*row.name), Some("docs"));
}

/// While the log has the whole screen, the list waits as it was.
#[test]
fn the_list_is_as_it_was_after_the_log() {
    let mut model = model(80, 24, rows());
    model.press(Key::Char('j'));
    let before = shown(&model);
    model.press(Key::Enter);
    model.set_rows(
        rows(),
        vec![conflict("src/checkout.rs: api, coupons", true)],
    );
    model.press(Key::Esc);
    let lines = |text: &str| text.lines().take(12).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&shown(&model)), lines(&before));
}

/// Whoever is through with a session goes on with the next one.
#[test]
fn the_cursor_stays_when_a_session_is_done() {
    let mut model = model(80, 24, rows());
    model.leave();
    let mut changed = rows();
    turn(&mut changed[3], StateKind::Done, Group::Inactive);
    changed[3].done = true;
    model.set_rows(changed.clone(), vec![]);
    assert_eq!(model.selected().map(|row| &*row.name), Some("api"));
    // One at work is marked, and stays where it is.
    model.leave();
    changed[1].done = true;
    model.set_rows(changed.clone(), vec![]);
    turn(&mut changed[1], StateKind::Working, Group::Working);
    model.set_rows(changed, vec![]);
    assert_eq!(model.selected().map(|row| &*row.name), Some("api"));
}

/// However narrow it is, one sees that it is a question.
#[test]
fn the_end_of_a_question_is_always_shown() {
    for width in [20, 40, 60, 80, 120] {
        let mut model = model(width, 24, rows());
        let label = "it is open elsewhere; run `claude --resume dddd4444…` in ~/src/a/long/way/down? (y/n) ";
        model.ask(
            Question::Resume(Box::new(rows()[1].clone()), String::new()),
            label.into(),
            String::new(),
        );
        let last = shown(&model).lines().last().unwrap_or_default().to_owned();
        assert!(last.contains("? (y/n) "), "{last}");
    }
}

/// As in less, but from the newest line upwards, because that is where one is.
#[test]
fn what_is_looked_for_in_a_log_is_found_line_by_line() {
    let mut model = model(80, 24, rows());
    model.press(Key::Enter);
    model.find = "Line 1".into();
    let mut found = |older: bool| {
        let is_found = model.find_line(older);
        let line = model.log.lines.len() - 1 - model.log.found.expect("something was found");
        // It is marked, and no other.
        let shown = shown(&model);
        let marked: Vec<_> = shown.lines().filter(|line| line.starts_with('▌')).collect();
        (
            is_found,
            line,
            marked == [format!("▌12:{line:02}  line {line}")],
        )
    };
    let lines = [(true, 19), (true, 18), (false, 19), (true, 18), (true, 17)];
    for (older, line) in lines {
        assert_eq!(found(older), (true, line, true));
    }
    for line in (10..17).rev().chain([1]) {
        assert_eq!(found(true), (true, line, true));
    }
    assert_eq!(found(true), (false, 1, true), "there is no other");
    // It stays the one that was found while lines are added.
    let mut lines = model.log.lines.clone();
    lines.extend(model.log.lines[..3].to_vec());
    model.set_log(log_of(lines, vec![], 3));
    assert!(
        model.find_line(false) && model.log.found == Some(32),
        "{:?}",
        model.log.found
    );
    model.press(Key::Char('G'));
    assert!(
        model.find_line(true) && model.log.found == Some(1),
        "from the end again: {:?}",
        model.log.found
    );
}

/// Whoever finds nothing in one direction learns whether there is something in the other.
#[test]
fn what_is_not_found_in_a_log_may_be_in_the_other_direction() {
    let mut model = model(80, 24, rows());
    let keys = |model: &Model| shown(model).lines().last().unwrap_or_default().to_owned();
    let before = " Esc back  ? help  j/k scroll  / find  g/G start, end  x open calls  f follow";
    let after = " Esc back  ? help  n/N next older, newer  / find  j/k scroll  g/G start, end";
    model.press(Key::Enter);
    model.log.is_whole = true;
    assert_eq!(keys(&model), before);
    for (words, start, older, not_found) in [
        (
            "line 39",
            'g',
            true,
            Some("no older line has 'line 39'; N looks below"),
        ),
        ("line 39", 'g', false, None),
        (
            "line 2",
            'G',
            false,
            Some("no newer line has 'line 2'; n looks above"),
        ),
        ("line 39", 'G', true, None),
        ("heron", 'g', true, Some("nothing in this log has 'heron'")),
        ("heron", 'G', false, Some("nothing in this log has 'heron'")),
    ] {
        model.press(Key::Char(start));
        model.find = words.into();
        assert_eq!(keys(&model), after);
        let told = (!model.find_line(older)).then(|| model.not_found(older, true));
        assert_eq!(told.as_deref(), not_found, "{words} from {start}");
    }
    assert_eq!(
        model.not_found(true, false),
        "nothing in this part of the log has 'heron'"
    );
    model.find = "line 7".into();
    model.press(Key::Char('G'));
    assert!(model.find_line(true) && !model.find_line(false));
    assert_eq!(model.not_found(false, true), "no other line has 'line 7'");
    model.log.is_whole = false;
    assert_eq!(
        model.not_found(false, true),
        "no newer line has 'line 7'; n looks above",
        "it may be in what is not read yet"
    );
}

/// The whole help fits a small terminal.
#[test]
fn help_is_whole_at_60x20() {
    let mut model = model(60, 20, rows());
    model.press(Key::Char('?'));
    let shown = shown(&model);
    let missing: Vec<_> = super::keys::HELP
        .iter()
        .filter(|(_, what)| !shown.contains(what))
        .collect();
    assert_eq!(missing, [] as [&(&str, &str); 0], "{shown}");
    // A mark in the list is explained as the keys are.
    assert!(
        shown
            .lines()
            .any(|line| line == "  !                another one edited the same file"),
        "{shown}"
    );
}

/// A line of the help is whole, or not there.
#[test]
fn help_does_not_overlap() {
    for (width, height) in [(60, 20), (80, 24), (100, 14), (200, 12)] {
        let mut model = model(width, height, rows());
        model.press(Key::Char('?'));
        let shown = shown(&model);
        let whole = super::keys::HELP
            .iter()
            .filter(|(_, what)| shown.contains(what))
            .count();
        let columns = if width >= 120 { 2 } else { 1 };
        assert_eq!(
            whole,
            super::keys::HELP
                .len()
                .min(columns * usize::from(height - 2)),
            "{shown}"
        );
    }
}

/// Who scrolled up stays where he is while lines are added; who follows sees the new ones.
#[test]
fn the_log_stays_where_it_was_scrolled() {
    let last = |model: &Model| shown(model).lines().nth(22).map(str::to_owned);
    let lines = |count: usize| {
        (0..count)
            .map(|index| vec![(Tone::Plain, format!("line {index}"))])
            .collect::<Vec<_>>()
    };
    let mut model = model(80, 24, rows());
    model.set_log(log_of(lines(50), vec![], 10));
    assert_eq!(last(&model).as_deref(), Some(" line 49"));
    model.press(Key::Ctrl('u'));
    assert_eq!(last(&model).as_deref(), Some(" line 44"));
    model.set_log(log_of(lines(60), vec![], 10));
    assert_eq!(last(&model).as_deref(), Some(" line 44"));
    model.press(Key::Char('f'));
    assert_eq!(last(&model).as_deref(), Some(" line 59"));
}

/// Who reads in the middle of a log goes on there when it gets more or less room, and what was found stays found.
#[test]
fn a_log_of_another_width_is_at_the_same_place() {
    // Ten entries, each of so many lines, the last of which says so.
    let wrapped = |each: usize| {
        let text = |line: usize| {
            if line % each == each - 1 {
                format!("end of {}", line / each)
            } else {
                format!("more of {}", line / each)
            }
        };
        let lines = (0..10 * each)
            .map(|line| vec![(Tone::Plain, text(line))])
            .collect::<Vec<_>>();
        (lines, (0..10).map(|entry| entry * each).collect::<Vec<_>>())
    };
    let last = |model: &Model| {
        shown(model)
            .lines()
            .nth(22)
            .map(|line| line.trim_start_matches(['▌', ' ']).to_owned())
    };
    let mut model = model(80, 24, rows());
    let (lines, starts) = wrapped(6);
    model.set_log(log_of(lines, starts, 0));
    model.find = "end of 5".into();
    assert!(model.find_line(true));
    model.log.below = 4 * 6;
    for each in [3, 9, 2, 6] {
        let (lines, starts) = wrapped(each);
        model.rewrap_log(log_of(lines, starts, 0));
        assert_eq!(
            (last(&model), model.log.found),
            (Some("end of 5".into()), Some(4 * each)),
            "{each}"
        );
    }
    // In the middle of an entry it stays about there.
    model.log.below += 3;
    let (lines, starts) = wrapped(12);
    model.rewrap_log(log_of(lines, starts, 0));
    assert_eq!(
        (last(&model).as_deref(), model.log.below),
        (Some("more of 5"), 4 * 12 + 6)
    );
    model.press(Key::Char('f'));
    let (lines, starts) = wrapped(3);
    model.rewrap_log(log_of(lines, starts, 0));
    assert_eq!(
        last(&model).as_deref(),
        Some("end of 9"),
        "who follows goes on to follow"
    );
}

/// The same in a file that grows so long that its beginning is forgotten.
#[test]
fn a_scrolled_log_stays_where_it_is_while_its_file_grows() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.jsonl");
    let line = |index: usize| {
        let uuid = format!("u{index}");
        let message = serde_json::json!({"role": "user", "content": format!("line {index}")});
        let line = serde_json::json!({
            "type": "user", "sessionId": "a", "uuid": uuid, "cwd": "/h", "timestamp": "2026-11-16T12:00:00Z", "message": message,
        });
        format!("{line}\n")
    };
    let write = |count: usize| {
        std::fs::write(&path, (0..count).map(line).collect::<String>()).expect("written");
    };
    let (formats, _) = session_core::formats::known(std::path::Path::new("/nonexistent"));
    let claude = formats
        .iter()
        .find(|format| format.is_called("claude"))
        .expect("it is built in");
    let env = Env::given([], "/".into(), None);
    write(200);
    let mut log = LiveLog::open(Session::new("a", claude, None, path.clone()), None).expect("read");
    let mut model = model(80, 24, rows());
    let show = |model: &mut Model, log: &LiveLog, new: usize| {
        let LogLines { lines, added, .. } = log.lines(&env, Gate::new(true), 79, new, None);
        model.set_log(log_of(lines, vec![], added));
    };
    let last = |model: &Model| {
        let shown = shown(model)
            .lines()
            .nth(22)
            .map(str::to_owned)
            .unwrap_or_default();
        shown
            .split_whitespace()
            .last()
            .and_then(|number| number.parse::<usize>().ok())
    };
    show(&mut model, &log, 0);
    assert_eq!(last(&model), Some(199));
    model.press(Key::Ctrl('u'));
    let place = last(&model);
    assert!(place < Some(199), "{place:?}");
    for (before, count) in [(200, 220), (220, 290), (290, 310), (310, 450), (450, 700)] {
        write(count);
        let new = log.news(!model.log.follows).expect("read");
        assert_eq!(new, count - before);
        show(&mut model, &log, new);
        assert_eq!(last(&model), place, "{count}");
    }
    model.press(Key::Char('f'));
    assert_eq!(last(&model), Some(699));
    write(701);
    let new = log.news(!model.log.follows).expect("read");
    show(&mut model, &log, new);
    assert_eq!(
        (last(&model), log.is_whole),
        (Some(700), false),
        "the beginning is forgotten"
    );
    assert!(model.log.lines.len() < 300, "{}", model.log.lines.len());
}

/// A conflict is shown where its sessions are.
#[test]
fn conflicts_of_other_projects_are_shown_with_all_projects() {
    let mut model = model(100, 20, rows());
    model.set_rows(
        rows(),
        vec![conflict("x.rs: a, b", false), conflict("y.rs: c, d", true)],
    );
    let header = |model: &Model| shown(model).lines().next().unwrap_or_default().to_owned();
    assert!(
        header(&model).contains("   ! y.rs: c, d   "),
        "{}",
        header(&model)
    );
    model.press(Key::Char('a'));
    assert!(
        header(&model).contains("   ! x.rs: a, b, +1 more   "),
        "{}",
        header(&model)
    );
}

#[test]
fn the_title_counts_who_needs_the_user() {
    let title = |rows: Vec<WatchRow>| model(80, 24, rows).title();
    assert_eq!(
        title(rows()),
        "2 need you · session-monitor",
        "an error is another thing"
    );
    assert_eq!(
        title(rows()[1..2].to_vec()),
        "1 needs you · session-monitor"
    );
    assert_eq!(title(rows()[2..3].to_vec()), "session-monitor");
}

/// Without colours there are none, but bold and dim stay.
#[test]
fn no_colours_if_none_are_wanted() {
    for colour in [true, false] {
        let model = model(80, 24, rows());
        let mut buffer = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, 80, 24));
        draw(&model.screen(), &mut buffer, colour);
        let has = |is_it: &dyn Fn(&ratatui::buffer::Cell) -> bool| buffer.content.iter().any(is_it);
        assert_eq!(has(&|cell| cell.fg != ratatui::style::Color::Reset), colour);
        assert!(
            !has(&|cell| cell.bg != ratatui::style::Color::Reset),
            "never a background"
        );
        assert!(has(&|cell| !cell.modifier.is_empty()));
    }
}

/// Once per wait, never for the selected one, and not for what was so from the start.
#[test]
fn who_begins_to_need_the_user_is_told_once() {
    let mut model = model(80, 24, rows());
    let mut told = Notified::default();
    let none: [&str; 0] = [];
    assert_eq!(told.news(&model), none, "from the start");
    let mut changed = rows();
    let asks = |row: &mut WatchRow, minute: i64| {
        *row = self::row(
            &row.name,
            "pi",
            StateKind::NeedsYou,
            -minute,
            "permission: Bash make",
            "",
        );
    };
    asks(&mut changed[0], 1);
    asks(&mut changed[3], 1);
    model.set_rows(changed.clone(), vec![]);
    assert_eq!(model.selected().map(|row| &*row.name), Some("events"));
    assert_eq!(
        told.news(&model),
        ["docs needs you: permission: Bash make"],
        "not the selected one"
    );
    assert_eq!(told.news(&model), none, "once");
    model.press(Key::Char('j'));
    assert_eq!(told.news(&model), none, "it was seen");
    changed[0] = rows()[0].clone();
    model.set_rows(changed.clone(), vec![]);
    assert_eq!(told.news(&model), none);
    asks(&mut changed[0], 2);
    model.set_rows(changed.clone(), vec![]);
    assert_eq!(
        told.news(&model),
        ["docs needs you: permission: Bash make"],
        "another wait"
    );
    asks(&mut changed[0], 3);
    changed[0].about = "permission: Bash curl -u ghp_0123456789abcdefghijABCDEFGHIJ012345".into();
    model.set_rows(changed.clone(), vec![]);
    let texts = told.news(&model);
    assert!(
        texts.len() == 1 && !texts[0].contains("ghp_01"),
        "others may see it: {texts:?}"
    );
    turn(&mut changed[2], StateKind::Error, Group::Failed);
    model.set_rows(changed.clone(), vec![]);
    assert_eq!(
        told.news(&model),
        ["coupons failed: running Bash cargo test coupon"]
    );
    turn(&mut changed[9], StateKind::NeedsYou, Group::NeedsYou);
    model.set_rows(changed, vec![]);
    assert_eq!(told.news(&model), none, "of another project");
}

#[test]
fn trouble_is_told_once() {
    let mut known = Vec::new();
    let mut told = |bad: &[&str]| {
        new_trouble(
            &mut known,
            bad.iter().map(|text| (*text).to_owned()).collect(),
        )
    };
    assert_eq!(told(&[]), None);
    assert_eq!(told(&["a: denied"]).as_deref(), Some("a: denied"));
    assert_eq!(told(&["a: denied"]), None);
    assert_eq!(
        told(&["a: denied", "b: denied"]).as_deref(),
        Some("a: denied (and another file)")
    );
    assert_eq!(told(&[]), None);
    assert_eq!(told(&["a: denied"]).as_deref(), Some("a: denied"));
}

/// A feed that has ended is an error, and nothing to wait for.
#[test]
fn a_feed_that_ended_ends_the_screen() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let _ = sender.send(1);
    assert_eq!(sent(&receiver).ok(), Some(vec![1]));
    assert_eq!(sent(&receiver).ok(), Some(vec![]));
    drop(sender);
    assert!(sent(&receiver).is_err());
}

#[test]
fn what_was_found_is_a_list_of_its_own() {
    let mut model = model(80, 24, rows());
    let found = |line: u64| WatchRow {
        at: Some(line),
        about: format!("hit {line}"),
        ..rows()[1].clone()
    };
    model.press(Key::Char('s'));
    model.take_answer(answer(vec![found(3), found(9)]));
    model.press(Key::Down);
    assert_eq!(
        model.log_target(),
        Some((PathBuf::from("/h/api.jsonl"), Some(9)))
    );
    model.press(Key::Enter);
    model.press(Key::Char('f'));
    assert_eq!(
        model.log_target(),
        Some((PathBuf::from("/h/api.jsonl"), None))
    );
    model.press(Key::Esc);
    assert!(model.finder.is_some());
    model.press(Key::Esc);
    assert_eq!(model.selected().map(|row| &*row.name), Some("events"));
}

fn claude_line(index: usize, cwd: &str, text: &str) -> String {
    let message = serde_json::json!({"role": "user", "content": text});
    let line = serde_json::json!({
        "type": "user", "sessionId": "a", "uuid": format!("u{index}"), "cwd": cwd,
        "timestamp": "2026-11-16T12:00:00Z", "message": message,
    });
    format!("{line}\n")
}

/// Prompts of hundreds of kilobytes, as whole files are pasted: of each only its beginning is kept.
#[test]
fn a_log_of_long_texts_takes_little_memory() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.jsonl");
    let long = "word ".repeat(80_000);
    std::fs::write(
        &path,
        (0..200)
            .map(|index| claude_line(index, "/h", &long))
            .collect::<String>(),
    )
    .expect("written");
    let (formats, _) = session_core::formats::known(std::path::Path::new("/nonexistent"));
    let claude = formats
        .iter()
        .find(|format| format.is_called("claude"))
        .expect("it is built in");
    let mut log = LiveLog::open(Session::new("a", claude, None, path), None).expect("read");
    let env = Env::given([], "/".into(), None);
    let kept = |log: &LiveLog| {
        let lines = log.lines(&env, Gate::new(true), 79, 0, None).lines;
        lines
            .iter()
            .flatten()
            .map(|(_, text)| text.len())
            .sum::<usize>()
    };
    // With the blanks before each line.
    let entries = |log: &LiveLog| kept(log) / (20 << 10);
    assert!((90..110).contains(&entries(&log)), "{}", entries(&log));
    // Older ones are read for as long as there is room for all of their texts at once.
    log.more().expect("read");
    assert!(
        (150..175).contains(&entries(&log)) && !log.is_whole,
        "{}",
        entries(&log)
    );
    log.more().expect("read");
    assert!(
        (150..175).contains(&entries(&log)) && log.is_whole,
        "{}",
        entries(&log)
    );
}

/// What is looked for is marked wherever it is, also where the case is another one.
#[test]
fn what_is_looked_for_is_marked() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.jsonl");
    std::fs::write(
        &path,
        claude_line(0, "/h", "Deploy it") + &claude_line(1, "/h", "and wait"),
    )
    .expect("written");
    let (formats, _) = session_core::formats::known(std::path::Path::new("/nonexistent"));
    let claude = formats
        .iter()
        .find(|format| format.is_called("claude"))
        .expect("it is built in");
    let log = LiveLog::open(Session::new("a", claude, None, path), None).expect("read");
    let env = Env::given([], "/".into(), None);
    let lines = log
        .lines(
            &env,
            Gate::new(true),
            79,
            0,
            Some(Query::new(&["deploy".into()], None)),
        )
        .lines;
    let marked: Vec<_> = lines
        .iter()
        .flatten()
        .filter(|(tone, _)| *tone == Tone::Call)
        .map(|(_, text)| &**text)
        .collect();
    assert_eq!(marked, ["Deploy"]);
}

/// An agent looks for a session in the directory that it began in, wherever it went from there.
#[test]
fn a_session_is_resumed_where_it_began() {
    let home = tempfile::tempdir().expect("a directory");
    let [began, went] = ["began", "began/below"].map(|name| home.path().join(name));
    std::fs::create_dir_all(&went).expect("directories");
    let dir = home.path().join(".claude/projects/x");
    std::fs::create_dir_all(&dir).expect("a directory");
    let lines = [&began, &went].map(|cwd| claude_line(0, &cwd.to_string_lossy(), "go"));
    std::fs::write(
        dir.join("11111111-0000-4000-8000-000000000001.jsonl"),
        lines.concat(),
    )
    .expect("written");
    let (formats, _) = session_core::formats::known(std::path::Path::new("/nonexistent"));
    let env = Env::given([("HOME".into(), home.path().into())], began.clone(), None);
    let mut bad = Vec::new();
    let sessions = session_core::session::index::list(&env, &formats, &mut bad);
    let rows = super::feed::Rows::new(&env, Gate::new(true), 0).all(&sessions, Time(0));
    assert_eq!(
        rows.iter().map(|row| row.cwd.clone()).collect::<Vec<_>>(),
        [Some(began)],
        "{bad:?}"
    );
}

/// What fits `tax`: with a line, of a subagent, with a title only, and one without a title.
fn found_rows() -> Vec<WatchRow> {
    use StateKind::{Idle, Waiting};
    let mut found = vec![
        row(
            "api",
            "claude",
            Waiting,
            3,
            "…so the tax is rounded per line, and the total is taxed again",
            "Tax in the total of the checkout, with all its rates and rules",
        ),
        row("old", "gemini", Idle, 59, "", "Taxonomy of plants"),
        row("1f2e3d4c", "pi", Idle, 99, "add tax", ""),
    ];
    (found[0].at, found[2].at) = (Some(7), Some(1));
    found
}

fn answer(rows: Vec<WatchRow>) -> Answer {
    Answer {
        number: 1,
        note: format!("{} sessions", rows.len()),
        rows,
        trouble: None,
    }
}

fn type_in(model: &mut Model, typed: &str) -> Option<Effect> {
    let mut effect = None;
    for key in input::take(&mut typed.as_bytes().to_vec(), true) {
        effect = model.press(key);
    }
    effect
}

#[test]
fn what_is_found_is_shown_with_the_line_that_fits() {
    let mut model = model(72, 18, rows());
    type_in(&mut model, "stax");
    assert_eq!(model.take_answer(answer(found_rows())), None);
    let shown = shown(&model);
    let list: Vec<&str> = shown.lines().take(9).collect();
    assert_eq!(
        list,
        [
            " find: tax▏                                   3 sessions · all projects",
            "▌Tax in the total of the checkout, with all …  api · claude · shop   3m",
            "▌  …so the tax is rounded per line, and the total is taxed again",
            " Taxonomy of plants                            old · gemini · shop  59m",
            " 1f2e3d4c                                                pi · shop  99m",
            "   add tax",
            "",
            "",
            "",
        ]
    );
    assert_eq!(
        shown.lines().last(),
        Some(" Enter log  Esc back  ↑↓ move  ^G go there  ^R resume  ^Y copy id")
    );
    // The words stand out in the title and in the line.
    let mut buffer = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, 72, 18));
    draw(&model.screen(), &mut buffer, true);
    let yellow = |y: u16| {
        let is_marked = |x: &u16| buffer[(*x, y)].fg == ratatui::style::Color::Yellow;
        let cells = (0..72).filter(is_marked);
        cells.map(|x| buffer[(x, y)].symbol()).collect::<String>()
    };
    assert_eq!([yellow(1), yellow(2), yellow(3)], ["Tax", "taxtax", "Tax"]);
}

#[test]
fn what_each_key_does_to_what_was_found() {
    let cases = [
        ("", "api, find: tax"),
        ("\x1b[B", "old, find: tax"),
        ("\x0e\x0e", "1f2e3d4c, find: tax"),
        ("\x0e\x0e\x10", "old, find: tax"),
        ("\x0e\x0e\x0e\x1b[A", "old, find: tax"),
        ("\x0e\r", "old, log, find: tax"),
        ("\x0e\r\x1b", "old, find: tax"),
        ("\x0e\r\x1bx", "old, find: taxx, Search { is_fresh: false }"),
        ("\x12", "api, find: tax, AskResume api"),
        ("\x19", "api, find: tax, CopyId api"),
        ("\x1b", "events"),
        // The second line of the first one, and the third.
        ("\x1b[<0;5;3M", "api, find: tax"),
        ("\x1b[<0;5;5M", "1f2e3d4c, find: tax"),
        ("\x1b[<0;5;6M", "1f2e3d4c, find: tax"),
    ];
    for (typed, expected) in cases {
        let mut model = model(80, 24, rows());
        type_in(&mut model, "stax");
        model.take_answer(answer(found_rows()));
        let effect = type_in(&mut model, typed);
        assert_eq!(told(&model, effect), expected, "{typed:?}");
    }
}

#[test]
fn who_finds_nothing_comes_back_to_where_they_were() {
    let mut model = model(80, 24, rows());
    type_in(&mut model, "jj");
    let before = told(&model, None);
    assert_ne!(before, "events");
    type_in(&mut model, "stax");
    model.take_answer(answer(found_rows()));
    let effect = type_in(&mut model, "\x0e\x1b");
    assert_eq!(told(&model, effect), before);
}

/// Whoever types fast means what they typed and not what was shown before.
#[test]
fn enter_waits_for_the_answer_and_a_log_is_not_taken_away() {
    let mut model = model(80, 24, rows());
    type_in(&mut model, "sta");
    model.take_answer(answer(found_rows()));
    let effect = type_in(&mut model, "x\r");
    assert_eq!(told(&model, effect), "api, find: tax");
    let effect = model.take_answer(answer(found_rows()[1..].to_vec()));
    assert_eq!(told(&model, effect), "old, log, find: tax");
    // What comes while somebody reads is there when they come back.
    let effect = model.take_answer(answer(found_rows()));
    assert_eq!(told(&model, effect), "old, log, find: tax");
    let effect = type_in(&mut model, "\x1b");
    assert_eq!(told(&model, effect), "api, find: tax");
    // Another key takes Enter back.
    type_in(&mut model, "y\r\x7f");
    let effect = model.take_answer(answer(found_rows()));
    assert_eq!(told(&model, effect), "api, find: tax");
}

#[test]
fn a_finder_of_its_own_ends_with_escape_or_a_pick() {
    for (picks, key, expected) in [
        (false, "\x1b", "api, find: tax, Quit"),
        (false, "\r", "api, log, find: tax"),
        (true, "\x1b", "api, find: tax, Quit"),
        (true, "\x1b[B\r", "old, find: tax, Pick old"),
        // What another program prints would go where the pick goes.
        (true, "\x12", "api, find: tax"),
        (true, "\x07", "api, find: tax"),
    ] {
        let mut model = model(80, 24, rows());
        model.open_finder(Finder {
            text: "tax".into(),
            is_alone: true,
            picks,
            ..Finder::default()
        });
        model.take_answer(answer(found_rows()));
        let effect = type_in(&mut model, key);
        assert_eq!(told(&model, effect), expected, "{key:?}");
    }
}
