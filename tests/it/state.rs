//! What state a session is in, and why: every combination of what its agent says, how its transcript ends, and how long
//! ago that was. `state_agents` has the same for the files of real agents.

use session_core::fold::{Doing, Ending, OpenEnd};
use session_core::session::State;
use session_core::session::live::{AgentReport, Evidence, Presence};
use session_core::session::state::History;
use session_core::show::state::reason;
use session_format::entry::Act;
use session_format::format::live::{Live, Status};
use session_format::time::{HOUR, MINUTE, Time};

fn call(tool: &str, subject: &str, act: Act, asks: bool) -> OpenEnd {
    OpenEnd::Call(Doing {
        tool: tool.into(),
        subject: subject.into(),
        act,
        asks,
        waits: false,
    })
}

/// How a transcript may end, and what is open then.
fn ends() -> Vec<(&'static str, Ending, Option<OpenEnd>)> {
    let trouble = |text: &str, limit| {
        Some(OpenEnd::Trouble {
            text: text.into(),
            limit,
        })
    };
    vec![
        ("nothing", Ending::None, None),
        ("answer", Ending::Answered, None),
        ("prompt", Ending::Working, None),
        (
            "call",
            Ending::Working,
            Some(call("Bash", "make  -j\n4", Act::Run, false)),
        ),
        (
            "question",
            Ending::Asked,
            Some(call("AskUserQuestion", "Redis or NATS?", Act::Other, true)),
        ),
        (
            "plan",
            Ending::Asked,
            Some(call("ExitPlanMode", "", Act::Plan, true)),
        ),
        ("interrupt", Ending::Interrupted, None),
        ("error", Ending::Failed, trouble("API Error: 529", false)),
        (
            "limit",
            Ending::Failed,
            trouble("Too many requests, try at 15:00", true),
        ),
    ]
}

fn said(status: Option<Status>, by: Evidence) -> AgentReport {
    AgentReport {
        status,
        since: None,
        by,
        doing: None,
        pid: None,
        name: None,
        pane: None,
    }
}

/// All states of one kind of presence, one line for each end: what is said two minutes later, and after two hours where
/// that is something else.
fn states(presence: &Presence, live: &Live) -> String {
    let now = Time(100 * HOUR);
    let mut lines = String::new();
    for (name, ending, open_end) in ends() {
        let at = |ago: i64| {
            let updated = (ending != Ending::None).then_some(Time(now.0 - ago));
            let history = History {
                ending,
                open_end: open_end.as_ref(),
                updated,
                done: false,
            };
            let state = State::of(&history, live, presence, now);
            (
                state.kind.name(),
                reason(&state, Some(now))
                    .unwrap_or_default()
                    .replace("2m", "AGO")
                    .replace("2h", "AGO"),
            )
        };
        let (kind, why) = at(2 * MINUTE);
        lines += format!("{name:10} {kind:10} {why}").trim_end();
        let later = at(2 * HOUR);
        if later.0 != kind {
            lines += &format!("  later {}", later.0);
        }
        lines += "\n";
    }
    lines
}

/// The transcript is all there is. A call may run or wait for permission, and nobody is at work for ever.
#[test]
fn without_more_the_transcript_decides() {
    assert_eq!(
        states(&Presence::Unknown, &Live::default()),
        "\
nothing    idle
answer     waiting    answered AGO ago  later idle
prompt     working    last seen thinking  later idle
call       working    last seen running or waiting for permission: Bash make -j 4  later idle
question   needs-you  question: Redis or NATS?  later idle
plan       needs-you  plan to approve  later idle
interrupt  waiting    interrupted AGO ago  later idle
error      error      API Error: 529
limit      error      limit: Too many requests, try at 15:00
"
    );
}

/// An agent that never asks for permission runs what it calls; one that writes calls late may not have answered yet.
#[test]
fn what_is_known_about_an_agent_decides() {
    let live = Live {
        no_permissions: true,
        late_calls: true,
        ..Live::default()
    };
    let states = states(&Presence::Unknown, &live);
    assert!(
        states.contains("call       working    last seen running Bash make -j 4  later idle\n"),
        "{states}"
    );
    assert!(
        states.contains(
            "answer     waiting    answered AGO ago, or a call is running or waiting for permission  later idle\n"
        ),
        "{states}"
    );
}

/// After an hour of silence nobody waits for a call, so an old answer is just an answer.
#[test]
fn an_old_answer_is_beyond_doubt() {
    let history = History {
        ending: Ending::Answered,
        open_end: None,
        updated: Some(Time(0)),
        done: false,
    };
    let live = Live {
        late_calls: true,
        ..Live::default()
    };
    let shown = |minutes: i64, presence: &Presence| {
        let now = Time(minutes * MINUTE);
        let state = State::of(&history, &live, presence, now);
        format!(
            "{}: {}",
            state.kind.name(),
            reason(&state, None).unwrap_or_default()
        )
    };
    let doubt = "waiting: answered, or a call is running or waiting for permission";
    let runs = Presence::Runs(Box::new(self::said(None, Evidence::Lock)));
    for presence in [&Presence::Unknown, &runs] {
        assert_eq!(shown(59, presence), doubt);
        assert_eq!(shown(61, presence), "idle: answered");
    }
}

/// The agent runs, and says nothing more: then it may be at work for hours.
#[test]
fn an_agent_that_runs_may_work_for_hours() {
    assert_eq!(
        states(
            &Presence::Runs(Box::new(said(None, Evidence::Lock))),
            &Live::default()
        ),
        "\
nothing    idle
answer     waiting    answered AGO ago  later idle
prompt     working    thinking
call       working    running or waiting for permission: Bash make -j 4
question   needs-you  question: Redis or NATS?
plan       needs-you  plan to approve
interrupt  waiting    interrupted AGO ago  later idle
error      error      API Error: 529
limit      error      limit: Too many requests, try at 15:00
"
    );
}

/// What an agent says of itself goes before its transcript, which knows of what.
#[test]
fn what_an_agent_says_goes_before_its_transcript() {
    let states = |status| {
        states(
            &Presence::Runs(Box::new(said(Some(status), Evidence::Registry))),
            &Live::default(),
        )
    };
    let all = |line: &str| {
        ends()
            .iter()
            .map(|(name, ..)| format!("{name:10} {line}\n"))
            .collect::<String>()
    };
    let with = |mut all: String, name: &str, line: &str| {
        let start = all.find(&format!("{name:10} ")).expect("a line");
        let end = start + all[start..].find('\n').expect("its end");
        all.replace_range(start..end, &format!("{name:10} {line}"));
        all
    };
    let calls = |line: &str, words: [&str; 3]| {
        let names = ["call", "question", "plan"];
        names
            .into_iter()
            .zip(words)
            .fold(all(line), |all, (name, words)| with(all, name, words))
    };
    assert_eq!(
        states(Status::Working),
        calls(
            "working    thinking",
            [
                "working    running Bash make -j 4",
                "working    running AskUserQuestion Redis or NATS?",
                "working    running ExitPlanMode"
            ]
        )
    );
    let asked = [
        "needs-you  question: Redis or NATS?",
        "needs-you  plan to approve",
    ];
    let needs = |bare: &str, call: &str| calls(bare, [call, asked[0], asked[1]]);
    let allow = needs(
        "needs-you  permission",
        "needs-you  permission: Bash make -j 4",
    );
    assert_eq!(states(Status::Permission), allow);
    assert_eq!(states(Status::Waiting), allow);
    assert_eq!(
        states(Status::Question),
        needs("needs-you  question", "needs-you  question")
    );
    assert_eq!(states(Status::Dialog), all("waiting    a dialog is open"));
    let ago = |text: &str| {
        with(
            all(&text.replace('+', " AGO ago")),
            "nothing",
            &text.replace('+', ""),
        )
    };
    assert_eq!(
        states(Status::Background),
        ago("waiting    answered+; a background job is running")
    );
    let ready = with(ago("waiting    interrupted+"), "nothing", "waiting");
    let ready = with(ready, "answer", "waiting    answered AGO ago");
    let ready = with(ready, "error", "error      API Error: 529");
    assert_eq!(
        states(Status::Ready),
        with(
            ready,
            "limit",
            "error      limit: Too many requests, try at 15:00"
        )
    );
}

/// Nobody is at work, and nobody needs the user, where no agent runs.
#[test]
fn where_no_agent_runs_nobody_works_or_needs_the_user() {
    let closed = states(&Presence::Closed, &Live::default());
    assert_eq!(
        closed,
        "\
nothing    gone       ended
answer     gone       ended; last active AGO ago
prompt     gone       ended; last active AGO ago
call       gone       ended; no result of Bash make -j 4
question   gone       ended before it was answered: AskUserQuestion Redis or NATS?
plan       gone       ended before it was answered: ExitPlanMode
interrupt  gone       ended; last active AGO ago
error      gone       API Error: 529
limit      gone       limit: Too many requests, try at 15:00
"
    );
    let killed = |status| {
        states(
            &Presence::Killed(Box::new(said(status, Evidence::Registry))),
            &Live::default(),
        )
    };
    for status in [Status::Ready, Status::Background] {
        assert_eq!(killed(Some(status)), closed, "{status:?}");
    }
    // Where it does not say what it was doing, a call that has no result does.
    assert_eq!(
        killed(None),
        closed
            .replace("ended; no", "crashed; no")
            .replace("ended before", "crashed before")
    );
    for status in [
        Status::Working,
        Status::Waiting,
        Status::Permission,
        Status::Question,
    ] {
        let killed = killed(Some(status));
        assert_eq!(
            killed.matches(" gone       crashed").count(),
            ends().len(),
            "{killed}"
        );
        let how = if status == Status::Working {
            "running"
        } else {
            "waiting for permission:"
        };
        assert!(
            killed.contains(&format!(
                "call       gone       crashed while {how} Bash make -j 4\n"
            )),
            "{killed}"
        );
    }
}

/// When a session ended is told where a hook noted it; its last activity is not its end.
#[test]
fn the_end_of_a_session_is_told_where_a_hook_noted_it() {
    let now = Time(100 * HOUR);
    let at = |minutes: i64| Some(Time(now.0 - minutes * MINUTE));
    let ended = |minutes| {
        Box::new(AgentReport {
            since: at(minutes),
            ..said(Some(Status::Ended), Evidence::Hook)
        })
    };
    for (presence, words, since) in [
        (Presence::Closed, "ended; last active 6m ago", 6),
        (
            Presence::Killed(Box::new(said(Some(Status::Ready), Evidence::Registry))),
            "ended; last active 6m ago",
            6,
        ),
        (Presence::Killed(ended(2)), "ended 2m ago", 2),
        (Presence::Runs(ended(2)), "ended 2m ago", 2),
        // Another agent had it after that.
        (Presence::Killed(ended(9)), "ended; last active 6m ago", 6),
    ] {
        let history = History {
            ending: Ending::Answered,
            open_end: None,
            updated: at(6),
            done: false,
        };
        let state = State::of(&history, &Live::default(), &presence, now);
        assert_eq!(
            (&*reason(&state, Some(now)).expect("a reason"), state.since),
            (words, at(since)),
            "{presence:?}"
        );
        assert_eq!(
            reason(&state, None).as_deref(),
            Some("ended"),
            "{presence:?}"
        );
    }
}

/// An agent says that it has come to rest before its transcript says how: after a "No", or with an answer.
#[test]
fn an_agent_that_has_just_come_to_rest_is_not_at_work() {
    let now = Time(100 * HOUR);
    let ready = AgentReport {
        since: Some(Time(now.0 - 100)),
        ..said(Some(Status::Ready), Evidence::Registry)
    };
    let ready = Presence::Runs(Box::new(ready));
    for (name, ending, open_end) in ends()
        .into_iter()
        .filter(|(_, ending, _)| *ending != Ending::None)
    {
        let history = History {
            ending,
            open_end: open_end.as_ref(),
            updated: Some(now),
            done: false,
        };
        let state = State::of(&history, &Live::default(), &ready, now);
        let words = match name {
            "call" | "question" | "plan" | "interrupt" => "interrupted",
            "prompt" => "answered, or interrupted",
            "answer" => "answered",
            _ => continue,
        };
        assert_eq!(reason(&state, None).as_deref(), Some(words), "{name}");
    }
}

/// What the user said counts, unless somebody is at work or needs them all the same.
#[test]
fn done_unless_somebody_is_at_it() {
    let now = Time(100 * HOUR);
    for presence in [
        Presence::Unknown,
        Presence::Closed,
        Presence::Runs(Box::new(said(None, Evidence::Lock))),
    ] {
        for (name, ending, open_end) in ends() {
            let of = |done| {
                let history = History {
                    ending,
                    open_end: open_end.as_ref(),
                    updated: Some(now),
                    done,
                };
                State::of(&history, &Live::default(), &presence, now)
                    .kind
                    .name()
            };
            let stays = matches!(of(false), "working" | "needs-you");
            assert_eq!(
                of(true),
                if stays { of(false) } else { "done" },
                "{name} {presence:?}"
            );
        }
    }
}

/// Some clients say when a limit ends in seconds since 1970.
#[test]
fn a_limit_may_end_in_seconds_since_1970() {
    let now = Time(1_763_300_000_000);
    let of = |text: &str, now| {
        let open_end = OpenEnd::Trouble {
            text: text.into(),
            limit: true,
        };
        let history = History {
            ending: Ending::Failed,
            open_end: Some(&open_end),
            updated: None,
            done: false,
        };
        reason(
            &State::of(&history, &Live::default(), &Presence::Unknown, Time(0)),
            now,
        )
        .expect("a reason")
    };
    for (text, said, for_programs) in [
        (
            "usage limit reached|1763307200",
            "usage limit reached, resets in 2h",
            "usage limit reached, resets 2025-11-16T15:33:20.000Z",
        ),
        (
            "limit reached · resets 3pm",
            "limit reached · resets 3pm",
            "limit reached · resets 3pm",
        ),
        ("limit|soon", "limit|soon", "limit|soon"),
        ("limit|42", "limit|42", "limit|42"),
        (
            "limit|9223372036854775807",
            "limit|9223372036854775807",
            "limit|9223372036854775807",
        ),
    ] {
        assert_eq!(
            (&*of(text, Some(now)), &*of(text, None)),
            (said, for_programs),
            "{text}"
        );
    }
}

/// What a subagent waits for goes before the call that started it.
#[test]
fn what_a_subagent_waits_for_goes_before_its_call() {
    let doing = Some(Doing {
        tool: "Bash".into(),
        subject: "rm -rf build".into(),
        act: Act::Run,
        ..Doing::default()
    });
    let said = AgentReport {
        doing,
        ..said(Some(Status::Permission), Evidence::Registry)
    };
    let states = states(&Presence::Runs(Box::new(said)), &Live::default());
    assert!(
        states.contains("call       needs-you  permission: Bash rm -rf build\n"),
        "{states}"
    );
    assert!(
        states.contains("answer     needs-you  permission: Bash rm -rf build\n"),
        "{states}"
    );
}
