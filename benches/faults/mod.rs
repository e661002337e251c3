//! What every program does when a system call fails, for every call that it makes.
//!
//! A scenario is a scene, a program run in it, and a judge. The judge compares with the same run without a fault, and with
//! what the next run does once the fault is gone: nothing may be lost, told twice, cut, or left out without a word.

#![allow(
    dead_code,
    reason = "the program needs one part of it, the tests another"
)]

pub mod inject;
mod scenarios;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::Output;

use inject::{Call, Class, Done, Plan};
use scenarios::HARMED;
pub use scenarios::SCENARIOS;

use crate::scene::{Scene, Stage};

/// One program in one situation.
pub struct Scenario {
    pub name: &'static str,
    prepare: fn(&Scene),
    command: fn(&Scene) -> std::process::Command,
    judge: fn(&Trial) -> Verdict,
}

/// A run with a fault, and all that is known about it.
struct Trial<'t> {
    scene: &'t Scene,
    /// The program once more.
    command: fn(&Scene) -> std::process::Command,
    plan: Plan,
    ran: Ran,
    /// The same without a fault.
    sound: &'t Sound,
    /// The files before the run, and after it.
    before: &'t Files,
    after: Files,
}

impl Trial<'_> {
    fn was_killed(&self) -> bool {
        matches!(self.plan, Plan::Kill(_))
    }
}

/// What a program said.
#[derive(Debug, Clone, PartialEq)]
struct Ran {
    exit: Option<i32>,
    out: Vec<u8>,
    err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        Ran {
            exit: output.status.code(),
            out: output.stdout,
            err,
        }
    }
}

/// A run without a fault.
struct Sound {
    ran: Ran,
    after: Files,
}

/// All files of a scene, without the caches.
type Files = BTreeMap<String, Vec<u8>>;

/// What came of a fault. The order is from good to bad.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nobody can tell the difference.
    Harmless,
    /// It cost something, and that was said.
    Said,
    /// It was told twice: the program was killed between telling and saving, or said that this would happen.
    Repeated,
    Failed(&'static str, String),
}

/// How the calls of a program fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    Single,
    FromThenOn,
    Kill,
}

/// Counts of one scenario.
#[derive(Default)]
pub struct Row {
    /// How many calls the program makes.
    pub calls: usize,
    counts: BTreeMap<Mode, [usize; 4]>,
    by_class: BTreeMap<Class, (usize, usize)>,
    pub failures: Vec<Failure>,
}

/// A fault that did harm.
pub struct Failure {
    scenario: &'static str,
    plan: Plan,
    call: Option<Call>,
    kind: &'static str,
    detail: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let call = self.call.as_ref().map_or("?".into(), |call| {
            format!("{:?} {}", call.class, call.about)
        });
        let plan = match self.plan {
            Plan::Nothing => "no fault".to_owned(),
            Plan::Fail(at, error) => format!(
                "call {at} fails ({})",
                std::io::Error::from_raw_os_error(error)
            ),
            Plan::FailFrom(at) => format!("all fail from call {at} on"),
            Plan::Kill(at) => format!("killed at call {at}"),
        };
        write!(
            f,
            "{}: {}: {plan}, {call}\n    {}",
            self.kind,
            self.scenario,
            self.detail.replace('\n', "\n    ")
        )
    }
}

/// Which faults are tried.
#[derive(Debug, Clone, Copy)]
pub enum Choice {
    /// Every `step`th call. If not all, another error each time.
    Every(usize),
    /// One call of each class, and those that did harm once.
    OnePerClass,
}

impl Choice {
    fn plans(self, scenario: &Scenario, calls: &[Call]) -> Vec<(Mode, Plan)> {
        let all = |at: usize| {
            [
                (Mode::FromThenOn, Plan::FailFrom(at)),
                (Mode::Kill, Plan::Kill(at)),
            ]
        };
        let one = |at: usize, number: usize| {
            let errors = calls[at].class.errors();
            (Mode::Single, Plan::Fail(at, errors[number % errors.len()]))
        };
        let each = |at: usize| {
            calls[at]
                .class
                .errors()
                .iter()
                .map(move |error| (Mode::Single, Plan::Fail(at, *error)))
        };
        match self {
            Choice::Every(1) => (0..calls.len())
                .flat_map(|at| each(at).chain(all(at)))
                .collect(),
            Choice::Every(step) => (0..calls.len())
                .step_by(step)
                .flat_map(|at| [one(at, at / step)].into_iter().chain(all(at)))
                .collect(),
            Choice::OnePerClass => {
                let mut classes: BTreeMap<Class, Vec<usize>> = BTreeMap::new();
                calls
                    .iter()
                    .enumerate()
                    .for_each(|(at, call)| classes.entry(call.class).or_default().push(at));
                let middle: Vec<usize> = classes
                    .values()
                    .map(|of_class| of_class[of_class.len() / 2])
                    .collect();
                let ends = [middle.first(), middle.last()].into_iter().flatten();
                let singles = middle
                    .iter()
                    .enumerate()
                    .map(|(number, at)| one(*at, number));
                let harmed = HARMED
                    .iter()
                    .filter(|(name, ..)| *name == scenario.name)
                    .flat_map(|(_, class, path, error)| {
                        let is_it = move |call: &Call| {
                            call.class == *class && Path::new(&call.about).ends_with(path)
                        };
                        let found = calls
                            .iter()
                            .enumerate()
                            .filter(move |(_, call)| is_it(call));
                        found.map(|(at, _)| (Mode::Single, Plan::Fail(at, *error)))
                    });
                singles
                    .chain(ends.flat_map(|at| all(*at)))
                    .chain(harmed)
                    .collect()
            }
        }
    }
}

/// Runs a scenario with one fault after the other.
pub fn matrix(scenario: &'static Scenario, choice: Choice) -> Row {
    let mut row = Row::default();
    let stage = Stage::new();
    let (sound, calls) = match without_fault(scenario, &stage) {
        Ok(sound) => sound,
        Err(failure) => {
            row.failures.push(failure);
            return row;
        }
    };
    row.calls = calls.len();
    for (mode, plan) in choice.plans(scenario, &calls) {
        let (verdict, call) = try_one(scenario, plan, &sound, &stage);
        row.add(scenario, mode, plan, call, verdict);
    }
    row
}

/// The run that all others are measured by. It must be as the scenario wants it, twice.
fn without_fault(
    scenario: &'static Scenario,
    stage: &Stage,
) -> Result<(Sound, Vec<Call>), Failure> {
    let scene = stage.scene();
    (scenario.prepare)(&scene);
    let before = files(scene.home());
    let done = inject::run((scenario.command)(&scene), scene.home(), Plan::Nothing)
        .expect("calls can be watched");
    let calls = done.calls;
    let ran = Ran::from(done.output);
    let sound = Sound {
        ran: ran.clone(),
        after: files(scene.home()),
    };
    let after = sound.after.clone();
    let command = scenario.command;
    let trial = Trial {
        scene: &scene,
        command,
        plan: Plan::Nothing,
        ran,
        sound: &sound,
        before: &before,
        after,
    };
    let verdict = (scenario.judge)(&trial);
    match verdict {
        Verdict::Harmless => Ok((sound, calls)),
        verdict => Err(Failure {
            scenario: scenario.name,
            plan: Plan::Nothing,
            call: None,
            kind: "wrong without a fault",
            detail: format!("{verdict:?}\n{}", sound.ran),
        }),
    }
}

fn try_one(
    scenario: &Scenario,
    plan: Plan,
    sound: &Sound,
    stage: &Stage,
) -> (Verdict, Option<Call>) {
    let scene = stage.scene();
    (scenario.prepare)(&scene);
    let before = files(scene.home());
    let done =
        inject::run((scenario.command)(&scene), scene.home(), plan).expect("calls can be watched");
    let Done {
        output,
        calls,
        hung,
    } = done;
    let (Plan::Fail(at, _) | Plan::FailFrom(at) | Plan::Kill(at)) = plan else {
        unreachable!("there is a fault")
    };
    let call = calls.get(at).cloned();
    if hung {
        return (Verdict::Failed("hangs", String::new()), call);
    }
    let after = files(scene.home());
    let ran = Ran::from(output);
    let command = scenario.command;
    let trial = Trial {
        scene: &scene,
        command,
        plan,
        ran,
        sound,
        before: &before,
        after,
    };
    let verdict = left_over(&trial, call.as_ref()).unwrap_or_else(|| (scenario.judge)(&trial));
    let verdict = match verdict {
        Verdict::Failed(kind, detail) => Verdict::Failed(kind, format!("{detail}\n{}", trial.ran)),
        verdict => verdict,
    };
    (verdict, call)
}

/// Temporary files that stay, although they could have been deleted.
fn left_over(trial: &Trial, call: Option<&Call>) -> Option<Verdict> {
    let deletable =
        matches!(trial.plan, Plan::Fail(..)) && call.is_none_or(|call| call.class != Class::Unlink);
    let left = trial.after.keys().find(|name| name.ends_with(".tmp"))?;
    deletable.then(|| Verdict::Failed("left a temporary file", left.clone()))
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let out = String::from_utf8_lossy(&self.out);
        write!(
            f,
            "exit {:?}\nstdout: {}\nstderr: {}",
            self.exit,
            out.trim_end(),
            self.err.trim_end()
        )
    }
}

impl Row {
    fn add(
        &mut self,
        scenario: &Scenario,
        mode: Mode,
        plan: Plan,
        call: Option<Call>,
        verdict: Verdict,
    ) {
        let place = match verdict {
            Verdict::Harmless => 0,
            Verdict::Said => 1,
            Verdict::Repeated => 2,
            Verdict::Failed(..) => 3,
        };
        self.counts.entry(mode).or_default()[place] += 1;
        if let Some(call) = &call {
            let (tried, failed) = self.by_class.entry(call.class).or_default();
            *tried += 1;
            *failed += usize::from(place == 3);
        }
        if let Verdict::Failed(kind, detail) = verdict {
            self.failures.push(Failure {
                scenario: scenario.name,
                plan,
                call,
                kind,
                detail,
            });
        }
    }

    pub fn head() -> String {
        format!(
            "{:<22} {:>5}  {:<12} {:>6} {:>8} {:>6} {:>8} {:>6}",
            "scenario", "calls", "mode", "runs", "harmless", "said", "repeated", "FAILED"
        )
    }

    /// A line for each mode, and one for the classes of calls.
    pub fn lines(&self, name: &str) -> String {
        let mut lines = String::new();
        for (mode, counts @ [harmless, said, repeated, failed]) in &self.counts {
            let (runs, mode) = (counts.iter().sum::<usize>(), format!("{mode:?}"));
            let calls = self.calls;
            lines += &format!(
                "{name:<22} {calls:>5}  {mode:<12} {runs:>6} {harmless:>8} {said:>6} {repeated:>8} {failed:>6}\n"
            );
        }
        let class = |(class, (tried, failed)): (&Class, &(usize, usize))| match failed {
            0 => format!("{class:?} {tried}").to_lowercase(),
            failed => format!("{class:?} {tried} ({failed} FAILED)"),
        };
        let classes: Vec<String> = self.by_class.iter().map(class).collect();
        lines + &format!("{:<22} {:>5}  {}", "", "", classes.join(", "))
    }
}

/// All files below a directory, without our caches and journals and what holds inodes.
fn files(home: &Path) -> Files {
    let mut found = Files::new();
    let mut dirs = vec![home.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir)
            .expect("a directory")
            .map(|entry| entry.expect("an entry"))
        {
            let path = entry.path();
            let name = path
                .strip_prefix(home)
                .expect("below")
                .to_string_lossy()
                .into_owned();
            if path.is_dir() && name != ".cache" && !name.ends_with("session-monitor/installed") {
                dirs.push(path);
            } else if path.is_file() && !name.ends_with("journal.jsonl") {
                found.insert(name, std::fs::read(&path).expect("a file"));
            }
        }
    }
    found
}
