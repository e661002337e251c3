//! A shell line, read into simple commands.
//!
//! Quoted text is one word, substitutions stay as they are written, and redirections and comments are left out; a
//! here-document is the last word of its command. A bracket is a command of its own. Anything can be read, however broken: what is not closed ends with
//! the text. What the words mean is for `command`.

use session_format::boundary::substr;

/// The operator between a command and the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Link {
    /// It runs whatever happened: `;`, `&`, a new line.
    #[default]
    Then,
    And,
    Or,
    Pipe,
}

/// A command without other commands in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Simple {
    pub link: Link,
    pub words: Vec<String>,
    /// The last of its words is a here-document.
    pub document: bool,
    /// A single `&` follows.
    pub background: bool,
}

/// The simple commands of a line.
pub(crate) fn simple_commands(line: &str) -> Vec<Simple> {
    let mut shell = Shell {
        text: line,
        ..Shell::default()
    };
    shell.read();
    shell.commands
}

/// A line that is being read, or a substitution in it.
#[derive(Default)]
struct Shell<'a> {
    text: &'a str,
    at: usize,
    /// The number of substitutions around it.
    depth: usize,
    commands: Vec<Simple>,
    /// The command that is being read.
    open: Simple,
    word: Option<String>,
    /// The ends of the here-documents whose texts begin at the next line, and the commands that they belong to.
    documents: Vec<(&'a str, usize)>,
}

impl<'a> Shell<'a> {
    /// Reads to the end of the text, or of the substitution.
    fn read(&mut self) {
        let mut brackets = 0usize;
        while let Some((char, text)) = self.take() {
            brackets += usize::from(char == '(');
            match char {
                '\'' => self.quoted(),
                '"' => self.double_quoted(),
                '\\' => self.escaped(),
                '$' if self.begins_substitution() => self.substitution(),
                '\n' => self.end_line(),
                '&' if self.rest().starts_with('>') => self.redirection(),
                ')' if brackets == 0 && self.depth > 0 => return,
                '(' if self.defines_function() => {
                    brackets -= 1;
                    self.at = self.text.len() - self.rest().trim_start_matches(' ').len() + 1;
                    self.put("()");
                }
                '(' | ')' => {
                    brackets = if char == ')' {
                        brackets.saturating_sub(1)
                    } else {
                        brackets
                    };
                    self.end_command();
                    self.put(text);
                    self.end_command();
                }
                '|' | '&' => self.operator(char),
                ';' => self.end_command(),
                '#' if self.word.is_none() => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                '<' | '>' => self.redirection(),
                char if char.is_whitespace() => self.end_word(),
                _ => self.put(text),
            }
        }
        self.end_command();
    }

    fn rest(&self) -> &'a str {
        substr(self.text, self.at..)
    }

    /// Goes on by one character.
    fn take(&mut self) -> Option<(char, &'a str)> {
        let char = self.rest().chars().next()?;
        let text = substr(self.rest(), ..char.len_utf8());
        self.at += text.len();
        Some((char, text))
    }

    fn put(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    /// True if a bracket that follows a name closes at once: `f() { …; }`.
    fn defines_function(&self) -> bool {
        let has_name = self.word.is_some() || !self.open.words.is_empty();
        has_name && self.rest().trim_start_matches(' ').starts_with(')')
    }

    fn end_word(&mut self) {
        self.open.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.open.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.open));
        }
    }

    /// `&&`, `||`, `|` or `&`, whose first character was taken. A line may break after it.
    fn operator(&mut self, char: char) {
        self.end_command();
        let is_double = self.rest().starts_with(char);
        self.at += usize::from(is_double);
        self.open.link = match (char, is_double) {
            ('&', true) => Link::And,
            ('|', true) => Link::Or,
            ('|', false) => Link::Pipe,
            // `|&` is a pipe, too.
            _ if self.open.link == Link::Pipe => Link::Pipe,
            _ => {
                self.commands
                    .iter_mut()
                    .last()
                    .into_iter()
                    .for_each(|command| command.background = true);
                Link::Then
            }
        };
    }

    fn quoted(&mut self) {
        let rest = self.rest();
        let (text, length) = rest
            .split_once('\'')
            .map_or((rest, rest.len()), |(text, _)| (text, text.len() + 1));
        self.put(text);
        self.at += length;
    }

    fn double_quoted(&mut self) {
        self.put("");
        while let Some((char, text)) = self.take() {
            match char {
                '"' => return,
                '\\' if self.rest().starts_with(['"', '\\', '$', '`', '\n']) => self.escaped(),
                '$' if self.begins_substitution() => self.substitution(),
                _ => self.put(text),
            }
        }
    }

    fn escaped(&mut self) {
        if let Some((_, text)) = self.take().filter(|(char, _)| *char != '\n') {
            self.put(text);
        }
    }

    fn begins_substitution(&self) -> bool {
        /// Nobody writes more of them within each other.
        const DEPTH: usize = 16;
        self.rest().starts_with('(') && self.depth < DEPTH
    }

    /// Puts it as it is written. The `$` of it was taken.
    fn substitution(&mut self) {
        let from = self.at - 1;
        let mut inside = Shell {
            text: self.text,
            at: self.at + 1,
            depth: self.depth + 1,
            ..Shell::default()
        };
        inside.read();
        self.at = inside.at;
        self.put(substr(self.text, from..self.at));
    }

    /// Skips `2>&1`, `> file`; notes the end of a here-document.
    fn redirection(&mut self) {
        // The number of the stream is no word.
        if self
            .word
            .as_ref()
            .is_some_and(|word| word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_digit()))
        {
            self.word = None;
        }
        self.end_word();
        let document = substr(self.text, self.at - 1..)
            .strip_prefix("<<")
            .filter(|rest| !rest.starts_with('<'));
        if let Some((mark, length)) = document.and_then(here_mark) {
            self.at += 1 + length;
            self.documents.push((mark, self.commands.len()));
            return;
        }
        let target = self
            .rest()
            .trim_start_matches(['<', '>', '&', '|'])
            .trim_start_matches([' ', '\t']);
        let quote = target
            .chars()
            .next()
            .filter(|char| matches!(char, '"' | '\''));
        let length = match quote {
            Some(quote) => substr(target, 1..)
                .find(quote)
                .map_or(target.len(), |end| end + 2),
            None => target
                .find(|char: char| char.is_whitespace() || ";|&()<>".contains(char))
                .unwrap_or(target.len()),
        };
        self.at = self.text.len() - target.len() + length;
    }

    /// Gives the here-documents that begin here to their commands.
    fn end_line(&mut self) {
        self.end_command();
        for (mark, command) in std::mem::take(&mut self.documents) {
            let end = document_end(self.text, self.at, mark);
            let body = substr(self.text, self.at..end).trim_end();
            let body = body.strip_suffix(mark).unwrap_or(body);
            if let Some(command) = self.commands.get_mut(command) {
                command.words.push(body.to_owned());
                command.document = true;
            }
            self.at = end;
        }
    }
}

/// The mark that ends a here-document, from what follows `<<`, and how much of that names it.
fn here_mark(text: &str) -> Option<(&str, usize)> {
    let bare = text
        .trim_start_matches(['-', '~'])
        .trim_start_matches(' ')
        .trim_start_matches(['\'', '"', '\\']);
    let end = bare
        .find(|char: char| !char.is_alphanumeric() && char != '_')
        .unwrap_or(bare.len());
    let closing = usize::from(substr(bare, end..).starts_with(['\'', '"']));
    (end > 0).then(|| (substr(bare, ..end), text.len() - bare.len() + end + closing))
}

/// The end of a here-document, its mark included; the end of the text if it has none.
fn document_end(text: &str, from: usize, mark: &str) -> usize {
    let mut at = from;
    while at < text.len() {
        let end =
            memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length);
        if substr(text, at..end).trim() == mark {
            return end;
        }
        at = end + 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_words_as_a_shell_does() {
        let cases: [(&str, &[&[&str]]); 10] = [
            (
                "a 'b c'\"d $(e \"f)\")\"\\ g",
                &[&["a", "b cd $(e \"f)\") g"]],
            ),
            (
                "a && b; c | d & (e)",
                &[&["a"], &["b"], &["c"], &["d"], &["("], &["e"], &[")"]],
            ),
            (
                "f() { a; }; g () (b)",
                &[
                    &["f()", "{", "a"],
                    &["}"],
                    &["g", "()"],
                    &["("],
                    &["b"],
                    &[")"],
                ],
            ),
            ("a 2>&1 > 'x y' b", &[&["a", "b"]]),
            ("a &> x # b", &[&["a"]]),
            ("a#b ''", &[&["a#b", ""]]),
            ("a <<'E' | b\n c\nE\nd", &[&["a", " c\n"], &["b"], &["d"]]),
            ("a \\\n b", &[&["a", "b"]]),
            ("a 'b", &[&["a", "b"]]),
            ("", &[]),
        ];
        for (line, wanted) in cases {
            let words: Vec<Vec<String>> = simple_commands(line)
                .into_iter()
                .map(|command| command.words)
                .collect();
            assert_eq!(words, wanted, "{line}");
        }
    }

    #[test]
    fn operators_link_commands() {
        use Link::{And, Or, Pipe, Then};
        for (line, wanted) in [
            (
                "a && b || c | d; e & f",
                &[Then, And, Or, Pipe, Then, Then][..],
            ),
            ("a &&\n  b |\n c", &[Then, And, Pipe]),
            (
                "a && (b; c) || d\ne",
                &[Then, And, Then, Then, Then, Or, Then],
            ),
            ("a |& b 2>&1 &> c && d", &[Then, Pipe, And]),
            ("a '&&' \"||\" $(b && c)", &[Then]),
        ] {
            assert_eq!(
                simple_commands(line)
                    .iter()
                    .map(|command| command.link)
                    .collect::<Vec<_>>(),
                wanted,
                "{line}"
            );
        }
    }
}
