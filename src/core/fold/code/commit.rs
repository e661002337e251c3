//! The subject of the commit that a command makes.
//!
//! Only a message that the command itself says: what comes from a variable, an editor or a file is not known. What a
//! message is quoted with is for `line` to take off.

/// The first line of the message in the arguments of `git commit`, of which the last may be a here-document.
pub fn subject(arguments: &[String], document: bool) -> Option<String> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let document = || arguments.last().filter(|_| document);
        let message = match word.as_str() {
            "--message" => words.next()?,
            "-F-" | "--file=-" => document()?,
            "-F" | "--file" if words.clone().next().is_some_and(|file| file == "-") => document()?,
            word => match word.strip_prefix("--message=").or_else(|| glued(word)) {
                Some("") => words.next()?,
                Some(message) => message,
                None => continue,
            },
        };
        return first_line(message);
    }
    None
}

/// The message in `-mFix` or `-am'Fix it'`, if the word is such a flag: empty where the message is the next word.
fn glued(word: &str) -> Option<&str> {
    /// Flags that take no value, so that another may follow.
    const FLAGS: &str = "aeinopqsv";
    let (flags, message) = word.strip_prefix('-')?.split_once('m')?;
    flags
        .chars()
        .all(|flag| FLAGS.contains(flag))
        .then_some(message)
}

/// The first line of a message, also of one that `$(cat <<EOF …)` prints, or that PowerShell has between `@'` and `'@`.
fn first_line(message: &str) -> Option<String> {
    let message = message.trim();
    let body = match message.strip_prefix("$(") {
        Some(_) => message
            .split_once("<<")
            .and_then(|(_, body)| Some(body.split_once('\n')?.1))?,
        None => message.strip_prefix("@\n").unwrap_or(message),
    };
    let first = body.lines().map(str::trim).find(|line| !line.is_empty())?;
    (!first.starts_with('$')).then(|| first.to_owned())
}
