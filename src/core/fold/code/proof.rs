//! Which commands of a line ran and succeeded, given that the line did.
//!
//! A line ends as its last command does. So the success of `a; b` proves nothing about `a`, that of `a && b` proves both,
//! and that of `a || b` one of them. What runs in the background, under a condition or in a function proves nothing, nor
//! does what follows an `exit`. Under `set -e` each command that stands alone is proven.

use super::line::Link;

/// The syntax of a group of commands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GroupKind {
    /// The whole line, or the text that a shell is told to run.
    Script,
    Brackets,
    Braces,
    /// `if`, `for`, `while`, `case`.
    Block,
}

/// The effect of a command on the list that it is in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    None,
    /// `exit 0`: nothing after it runs, and the line may have succeeded.
    Leaves,
    /// `exit 1`: where it runs, the line fails.
    Fails,
    /// `set -e`, `set -o pipefail`.
    Sets {
        errexit: bool,
        pipefail: bool,
    },
}

impl Effect {
    /// The effect of a command, from its words.
    pub fn of(words: &[String]) -> Effect {
        let mut words = words.iter().map(String::as_str);
        let (first, rest) = (words.next().unwrap_or_default(), words);
        let mut rest = rest.peekable();
        match first {
            "exit" | "return" => match rest.next().and_then(|status| status.parse::<u8>().ok()) {
                Some(1..) => Effect::Fails,
                _ => Effect::Leaves,
            },
            // Without a program it only redirects.
            "exec" if rest.peek().is_some() => Effect::Leaves,
            "set" => {
                let is_short = |word: &&str| {
                    word.starts_with('-') && !word.starts_with("--") && word.contains('e')
                };
                // What comes after it are arguments of the script.
                let rest: Vec<&str> = rest.take_while(|word| *word != "--").collect();
                let on = |name: &str| {
                    rest.contains(&name) && !rest.iter().any(|word| word.starts_with('+'))
                };
                let errexit = rest.iter().any(is_short) || on("errexit");
                Effect::Sets {
                    errexit,
                    pipefail: on("pipefail"),
                }
            }
            _ => Effect::None,
        }
    }
}

#[derive(Debug)]
struct Step {
    link: Link,
    /// It begins with `!`.
    negated: bool,
    /// The list that it ends runs in the background.
    background: bool,
    what: StepKind,
}

#[derive(Debug)]
enum StepKind {
    /// A command, by its index.
    Command(usize, Effect),
    /// A group whose success proves what it does.
    Group(Group),
    /// A group that may not have run; an `exit` in it leaves the line.
    Unsure { leaves: bool },
}

#[derive(Debug)]
struct Group {
    kind: GroupKind,
    link: Link,
    negated: bool,
    unsure: bool,
    steps: Vec<Step>,
}

/// The groups of a line, as they are read.
#[derive(Debug)]
pub struct Proof {
    /// Those that are open, the whole line first.
    open: Vec<Group>,
    /// Nobody writes so many groups within each other; nothing is proven.
    too_deep: bool,
}

impl Proof {
    const DEPTH: usize = 32;

    pub fn new() -> Proof {
        let line = Group {
            kind: GroupKind::Script,
            link: Link::Then,
            negated: false,
            unsure: false,
            steps: Vec::new(),
        };
        Proof {
            open: vec![line],
            too_deep: false,
        }
    }

    /// A group begins; the body of a function, or of a condition, is not sure to run.
    pub fn open(&mut self, kind: GroupKind, link: Link, negated: bool, unsure: bool) {
        self.too_deep |= self.open.len() > Proof::DEPTH;
        if !self.too_deep {
            self.open.push(Group {
                kind,
                link,
                negated,
                unsure,
                steps: Vec::new(),
            });
        }
    }

    /// The innermost group ends, if it is of this kind.
    pub fn close(&mut self, kind: GroupKind, background: bool) {
        if self.open.len() > 1
            && let Some(group) = self.open.pop_if(|group| group.kind == kind)
        {
            self.end(group, background);
        }
    }

    /// The text for a shell ends, and whatever it left open.
    pub(crate) fn close_script(&mut self) {
        while self.open.len() > 1
            && let Some(group) = self.open.pop()
        {
            let is_script = group.kind == GroupKind::Script;
            self.end(group, false);
            if is_script {
                return;
            }
        }
    }

    fn end(&mut self, group: Group, background: bool) {
        let (link, negated) = (group.link, group.negated);
        let what = if group.unsure {
            StepKind::Unsure {
                leaves: group.leaves(),
            }
        } else {
            StepKind::Group(group)
        };
        self.push(Step {
            link,
            negated,
            background,
            what,
        });
    }

    pub fn command(
        &mut self,
        index: usize,
        effect: Effect,
        link: Link,
        negated: bool,
        background: bool,
    ) {
        self.push(Step {
            link,
            negated,
            background,
            what: StepKind::Command(index, effect),
        });
    }

    fn push(&mut self, step: Step) {
        if let Some(group) = self.open.last_mut() {
            group.steps.push(step);
        }
    }

    /// True if what is read now may not run though the line succeeds.
    pub(crate) fn is_unsure(&self) -> bool {
        self.open.iter().any(|group| group.unsure)
    }

    /// The commands that ran and succeeded, in their order. Of `a || b` that is what both sides do, which `same` decides.
    pub(crate) fn proven(mut self, same: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
        while self.open.len() > 1 {
            self.close_script();
        }
        let line = if self.too_deep { None } else { self.open.pop() };
        line.map(|line| line.proven(same)).unwrap_or_default()
    }
}

impl Group {
    fn proven(&self, same: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
        let (mut strict, mut all_of_pipes) = (false, false);
        let mut sure = Vec::new();
        let mut lists = self
            .steps
            .chunk_by(|_, next| next.link != Link::Then)
            .peekable();
        while let Some(list) = lists.next() {
            let is_alone = list.iter().skip(1).all(|step| step.link == Link::Pipe);
            let or_fails = list
                .last()
                .is_some_and(|last| last.link == Link::Or && last.effect() == Effect::Fails);
            let is_background = list.last().is_some_and(|last| last.background);
            if !is_background && (lists.peek().is_none() || strict && is_alone || or_fails) {
                sure.extend(proven_of_list(list, all_of_pipes, same));
            }
            if list.iter().any(Step::leaves) {
                break;
            }
            // Where the end of a group is tested, `set -e` does nothing in it.
            if let (
                [
                    Step {
                        what: StepKind::Command(_, Effect::Sets { errexit, pipefail }),
                        ..
                    },
                ],
                GroupKind::Script,
            ) = (list, self.kind)
            {
                (strict, all_of_pipes) = (*errexit, *pipefail);
            }
        }
        sure
    }

    fn leaves(&self) -> bool {
        self.steps.iter().any(Step::leaves)
    }
}

impl Step {
    fn effect(&self) -> Effect {
        match self.what {
            StepKind::Command(_, effect) => effect,
            _ => Effect::None,
        }
    }

    /// True if nothing may run after it, though the line succeeds.
    fn leaves(&self) -> bool {
        match &self.what {
            StepKind::Command(_, effect) => *effect == Effect::Leaves,
            StepKind::Group(group) => group.kind == GroupKind::Braces && group.leaves(),
            StepKind::Unsure { leaves } => *leaves,
        }
    }
}

/// The commands that the success of pipes joined by `&&` and `||` proves.
fn proven_of_list(
    list: &[Step],
    all_of_pipes: bool,
    same: &dyn Fn(usize, usize) -> bool,
) -> Vec<usize> {
    let mut sure: Vec<usize> = Vec::new();
    for pipe in list.chunk_by(|_, next| next.link == Link::Pipe) {
        let negated = pipe.iter().any(|step| step.negated);
        let ends = if all_of_pipes {
            pipe
        } else {
            &pipe[pipe.len() - 1..]
        };
        let steps = ends.iter().filter(|_| !negated);
        let proven = steps.flat_map(|step| match &step.what {
            StepKind::Command(index, _) => vec![*index],
            StepKind::Group(group) => group.proven(same),
            StepKind::Unsure { .. } => Vec::new(),
        });
        let proven: Vec<usize> = proven.collect();
        match pipe {
            [first, ..] if first.link == Link::Or => {
                let fails = pipe.len() == 1 && first.effect() == Effect::Fails;
                sure.retain(|left| fails || proven.iter().any(|right| same(*left, *right)));
            }
            _ => sure.extend(proven),
        }
    }
    sure
}
