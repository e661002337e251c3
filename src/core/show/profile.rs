//! A profile as a page for the terminal, and as one JSON object that always has all its keys.
//!
//! What there is too little data for is said to be so, or is null. What counts is up to `fold/profile.rs`.

use super::figures::{amount, counted, duration, number};
use super::gate::Gate;
use super::json::{Object, object};
use super::terminal::{Style, Tone, cut, pad, pad_left, width, wrap};
use crate::ask::profile::Profiled;
use crate::env::iso;
use crate::fold::code::Work;
use crate::fold::{Amount, Profile, Share};
use session_format::time::{DAY, MINUTE, Time};

const LABEL: usize = 12;
const TOO_LITTLE: &str = "too little to tell";
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The page, line by line.
pub fn text(
    Profiled {
        profile, all, set, ..
    }: &Profiled,
    gate: Gate,
    style: Style,
) -> Vec<String> {
    let room = style
        .width
        .unwrap_or(usize::MAX)
        .saturating_sub(LABEL)
        .max(24);
    let listed = |parts: Vec<String>| flow(parts, ", ", room);
    let mut parts = vec![
        ("Sessions", listed(sessions(profile))),
        ("Hours", hours(profile, room)),
        ("Weekdays", flow(weekdays(profile), "  ", room)),
        ("Prompts", listed(prompts(profile))),
        (
            "Code",
            listed(counts(profile.code(), |language| language, "file")),
        ),
        (
            "Runs",
            listed(counts(profile.commands(), Work::name, "command")),
        ),
        ("Agents", table(&profile.agents(), gate, room)),
        ("Models", table(&profile.models(), gate, room)),
        ("Tokens", listed(tokens(profile))),
    ];
    if let Some((prompts, sessions)) = profile.owner() {
        let said = format!(
            "so say {prompts} prompts of {sessions} sessions (\"my project\", \"I created\")"
        );
        parts.push(("Owner", wrap(&said, room)));
    }
    let mut lines = wrap(&head(profile, *all), room.saturating_add(LABEL));
    lines.push(String::new());
    lines.extend(
        parts
            .into_iter()
            .flat_map(|(label, part)| labelled(label, part, style)),
    );
    if !set.is_empty() {
        lines.push(String::new());
        let set = set
            .iter()
            .flat_map(|line| wrap(&gate.line(line), room))
            .collect();
        lines.extend(labelled("You set", set, style));
    }
    lines
}

/// A label beside the first line. Without lines there is too little data.
fn labelled(label: &str, mut lines: Vec<String>, style: Style) -> Vec<String> {
    if lines.is_empty() {
        lines.push(style.paint(Tone::Faint, TOO_LITTLE).into_owned());
    }
    let label = style.paint(Tone::Strong, &pad(label, LABEL)).into_owned();
    let labels = std::iter::once(label).chain(std::iter::repeat(" ".repeat(LABEL)));
    labels
        .zip(lines)
        .map(|(label, line)| label + &line)
        .collect()
}

fn head(profile: &Profile, all: bool) -> String {
    let place = if all { "This machine" } else { "This project" };
    let sessions = counted(profile.sessions, "session");
    match profile.period() {
        None => format!("{place}: {sessions}, at times that nobody wrote down"),
        Some((first, last)) if first == last => format!("{place}, {}: {sessions}", date(first)),
        Some((first, last)) => {
            let (active, days) = (profile.active_days(), profile.days());
            format!(
                "{place}, {} to {}: {sessions} on {active} of {days} days",
                date(first),
                date(last)
            )
        }
    }
}

fn sessions(profile: &Profile) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some((per_day, per_active_day)) = profile.rate() {
        parts.push(format!("{} per day", rounded(per_day)));
        parts.push(format!("{} per active day", rounded(per_active_day)));
    }
    parts.extend(
        profile
            .length()
            .map(|length| format!("median length {}", duration(length))),
    );
    parts
}

fn prompts(profile: &Profile) -> Vec<String> {
    let mut parts = vec![number(profile.prompts())];
    if let Some((words, chars)) = profile.prompt_length() {
        parts.push(format!("median {}", counted(words.into(), "word")));
        parts.push(counted(chars.into(), "character"));
    }
    parts
}

/// A bar for each hour, a scale under them, and the busiest hours in words.
fn hours(profile: &Profile, room: usize) -> Vec<String> {
    if !profile.tells_hours() {
        return Vec::new();
    }
    let wide = if room >= 48 { 2 } else { 1 };
    let bars: String = bars(&profile.hours)
        .iter()
        .map(|bar| bar.to_string().repeat(wide))
        .collect();
    let scale: String = (0..24)
        .step_by(3)
        .map(|hour| pad(&hour.to_string(), 3 * wide))
        .collect();
    let spans = spans(profile);
    let mut lines = vec![bars, scale.trim_end().to_owned()];
    if !spans.is_empty() {
        lines.extend(wrap(&format!("mostly {}", spans.join(", ")), room));
    }
    lines
}

fn spans(profile: &Profile) -> Vec<String> {
    profile
        .active_hours()
        .into_iter()
        .map(|(from, to)| format!("{from:02}:00-{to:02}:00"))
        .collect()
}

fn tokens(profile: &Profile) -> Vec<String> {
    if profile.input == 0 && profile.output == 0 {
        return Vec::new();
    }
    [(profile.input, "in"), (profile.output, "out")]
        .map(|(count, what)| format!("{} {what}", amount(count)))
        .into()
}

fn weekdays(profile: &Profile) -> Vec<String> {
    if !profile.tells_weekdays() {
        return Vec::new();
    }
    WEEKDAYS
        .iter()
        .zip(bars(&profile.weekdays))
        .map(|(day, bar)| format!("{day} {bar}"))
        .collect()
}

/// Numbers as bars: the largest is full, and none looks like none.
fn bars(counts: &[u64]) -> Vec<char> {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |count: &u64| {
        if *count == 0 {
            '·'
        } else {
            BARS[((count * 8).div_ceil(most) as usize).clamp(1, 8) - 1]
        }
    };
    counts.iter().map(bar).collect()
}

/// The first few, counted; the first says what is counted.
fn counts<T>(shares: Vec<Share<T>>, name: impl Fn(T) -> &'static str, unit: &str) -> Vec<String> {
    let counted = |index: usize, count: u64| {
        if index == 0 {
            counted(count, unit)
        } else {
            number(count)
        }
    };
    let parts = shares.into_iter().take(8).enumerate();
    parts
        .map(|(index, (what, count, _))| format!("{} {}", name(what), counted(index, count)))
        .collect()
}

/// `71%  claude  4,100 messages in 180 sessions`, or as much of it as there is room for.
fn table(used: &[(&str, Amount, f64)], gate: Gate, room: usize) -> Vec<String> {
    const SHOWN: usize = 8;
    const NAME: usize = 40;
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let long = |used: &Amount| {
        format!(
            " message{} in {}",
            plural(used.messages),
            counted(used.sessions, "session")
        )
    };
    let short = |used: &Amount| {
        format!(
            " msg{} in {} sess.",
            plural(used.messages),
            number(used.sessions)
        )
    };
    let shortest = |used: &Amount| format!(" msg{}", plural(used.messages));

    let shown = &used[..used.len().min(SHOWN)];
    let widest = |cell: &dyn Fn(&str, &Amount) -> usize| {
        shown.iter().map(|(name, used, _)| cell(name, used)).max()
    };
    let name = widest(&|name, _| width(&gate.line(name)))
        .unwrap_or(0)
        .min(NAME);
    let digits = widest(&|_, used| width(&number(used.messages))).unwrap_or(0);
    let left = |form: &dyn Fn(&Amount) -> String| {
        room.saturating_sub(8 + digits + widest(&|_, used| width(&form(used))).unwrap_or(0))
    };
    let form: &dyn Fn(&Amount) -> String = match () {
        () if left(&long) >= name => &long,
        () if left(&short) >= name.min(16) => &short,
        () => &shortest,
    };
    let name_room = name.min(left(form));
    let row = |(name, used, share): &(&str, Amount, f64)| {
        let (share, messages) = (
            pad_left(&percent(*share), 4),
            pad_left(&number(used.messages), digits),
        );
        format!(
            "{share}  {}  {messages}{}",
            pad(&cut(&gate.line(*name), name_room), name_room),
            form(used)
        )
    };
    let mut lines: Vec<String> = shown.iter().map(row).collect();
    if used.len() > SHOWN {
        lines.push(format!("and {} more", used.len() - SHOWN));
    }
    lines
}

/// Joins parts on as many lines as it takes; no part is broken.
fn flow(parts: Vec<String>, between: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if width(line) + between.len() + width(&part) < room => {
                *line += &(between.to_owned() + &part);
            }
            Some(line) => {
                *line += between.trim_end();
                lines.push(part);
            }
            None => lines.push(part),
        }
    }
    lines
}

fn date(day: i64) -> String {
    iso(Time(day * DAY)).chars().take(10).collect()
}

/// `0.13`, `2.8`, `12`
fn rounded(value: f64) -> String {
    match value {
        value if value < 0.995 => format!("{value:.2}"),
        value if value < 9.95 => format!("{value:.1}").trim_end_matches(".0").to_owned(),
        value => format!("{value:.0}"),
    }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 1.0 => "<1%".into(),
        percent => format!("{percent:.0}%"),
    }
}

/// One object. What there is too little evidence for is null, or an empty list.
pub fn json(
    Profiled {
        profile,
        all,
        since,
        set,
        ..
    }: &Profiled,
) -> Object {
    let two = |value: f64| (value * 100.0).round() / 100.0;
    let three = |value: f64| (value * 1000.0).round() / 1000.0;
    let (from, to) = profile
        .period()
        .map(|(from, to)| (date(from), date(to)))
        .unzip();
    let (per_day, per_active_day) = profile
        .rate()
        .map(|(day, active)| (two(day), two(active)))
        .unzip();
    let (words, characters) = profile.prompt_length().unzip();
    object! {
        scope: if *all { "machine" } else { "project" },
        since: since.map(iso),
        from,
        to,
        days: profile.days(),
        active_days: profile.active_days(),
        sessions: profile.sessions,
        sessions_per_day: per_day,
        sessions_per_active_day: per_active_day,
        median_session_minutes: profile.length().map(|length| two(length as f64 / MINUTE as f64)),
        prompts: profile.prompts(),
        median_prompt_words: words,
        median_prompt_characters: characters,
        hours: &profile.hours,
        active_hours: spans(profile),
        weekdays: &profile.weekdays,
        // Always empty: what people write in and ask for cannot be told from words reliably enough.
        languages: [(); 0],
        code: (profile.code().into_iter())
            .map(|(language, files, share)| object! { language, files, share: three(share) })
            .collect::<Vec<_>>(),
        tasks: [(); 0],
        commands: (profile.commands().into_iter())
            .map(|(class, count, share)| object! { class: class.name(), commands: count, share: three(share) })
            .collect::<Vec<_>>(),
        agents: (profile.agents().into_iter())
            .map(|(agent, Amount { sessions, messages }, share)| {
                object! { agent, sessions, messages, share: three(share) }
            })
            .collect::<Vec<_>>(),
        models: (profile.models().into_iter())
            .map(|(model, Amount { sessions, messages }, share)| {
                object! { model, sessions, messages, share: three(share) }
            })
            .collect::<Vec<_>>(),
        tokens: object! { input: profile.input, output: profile.output },
        relationship: profile.owner().map(|_| "owner"),
        set,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(
            [0.126, 0.999, 2.84, 3.0, 12.4].map(rounded),
            ["0.13", "1", "2.8", "3", "12"]
        );
        assert_eq!(
            [0.0, 0.004, 0.345, 1.0].map(percent),
            ["0%", "<1%", "34%", "100%"]
        );
        assert_eq!(
            [0, 59 * MINUTE, 61 * MINUTE].map(duration),
            ["under 1m", "59m", "1h 01m"]
        );
        assert_eq!(bars(&[0, 1, 4, 8]), ['·', '▁', '▄', '█']);
        assert_eq!(bars(&[0, 0]), ['·', '·']);
    }
}
