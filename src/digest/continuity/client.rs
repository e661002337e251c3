//! What clients write around and instead of what was said: by these words a refusal, a limit or an answer is known.

/// A summary without what a client says before and after each.
pub fn bare_summary(summary: &str) -> &str {
    const PREAMBLE: &str = "This session is being continued from a previous conversation";
    // What it tells the model to do with it.
    const ORDERS: [&str; 2] = ["Continue the conversation from where", "Please continue the conversation from where"];
    let rest = summary.trim_start().strip_prefix(PREAMBLE).and_then(|rest| rest.split_once('\n')).map(|(_, rest)| rest);
    let told = rest.map(str::trim_start).filter(|rest| !rest.is_empty()).unwrap_or(summary);
    let end = ORDERS.iter().filter_map(|order| told.rfind(order)).min().filter(|end| *end > 0);
    told[..end.unwrap_or(told.len())].trim_end()
}

/// What clients write in the place of a result that the user did not want.
pub fn is_denied(result: &str) -> bool {
    const DENIED: [&str; 5] = [
        "The user doesn't want to proceed with this tool use",
        "The user doesn't want to take this action",
        "Permission to use",
        "User rejected",
        "The user rejected",
    ];
    DENIED.iter().any(|start| result.trim_start().starts_with(start))
}

/// What clients write where a file was there before it was written.
pub fn was_there(result: &str) -> bool {
    const THERE: [&str; 3] = ["has been updated", "overwrote", "overwritten"];
    THERE.iter().any(|there| result.contains(there))
}

/// Whether an error says that there is no more to be had for now.
pub fn is_limit(error: &str) -> bool {
    const LIMITS: [&str; 10] = [
        "limit reached",
        "rate limit",
        "rate_limit",
        "usage limit",
        "session limit",
        "hit your limit",
        "quota",
        "too many requests",
        "prompt is too long",
        "context window",
    ];
    let error = error.to_lowercase();
    LIMITS.iter().any(|limit| error.contains(limit))
        || error.split(|char: char| !char.is_alphanumeric()).any(|word| word == "429")
}

/// The first heading or line of a plan.
pub fn heading(plan: &str) -> String {
    let bare = |line: &'_ str| line.trim().trim_start_matches(['#', '*', '-', ' ']).to_owned();
    format!("\"{}\"", plan.lines().map(bare).find(|line| !line.is_empty()).unwrap_or_default())
}

/// `"Which database?"="PostgreSQL"`: the questions and answers in a result.
pub fn answers(result: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = result;
    while let Some(at) = rest.find("\"=\"") {
        let question = rest[..at].rsplit('"').next().unwrap_or_default().to_owned();
        rest = &rest[at + 3..];
        let end = rest.find('"').unwrap_or(rest.len());
        found.push((question, rest[..end].to_owned()));
        rest = &rest[end..];
    }
    found
}
