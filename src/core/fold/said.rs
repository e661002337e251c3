//! What was said and done in a session, as a text that a search can look through.
//!
//! Each entry is a line of it: lower case, without accents, each run of white space as one blank. A search word is made
//! alike in the same way, so that comparing bytes is enough. What only a machine said is left out: reminders, notes of the
//! client and, unless they are asked for, the answers of tools.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::Fold;
use session_format::boundary::substr;
use session_format::entry::{ById, Entry, Id, Position, Role, What};
use session_format::time::Time;

/// The text of a transcript, or of a part of one.
#[derive(Debug, Clone, Default)]
pub struct Said {
    pub text: String,
    pub lines: Vec<SaidLine>,
    /// Also what tools answered.
    results: bool,
    offset: Position,
    /// The line of each entry, because it may be written again, and the tool of a call.
    lines_by_key: ById<(usize, Id)>,
    /// Something was written again that stands before this part.
    pub renews_earlier: bool,
}

/// The origin of a line of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaidLine {
    /// Its first byte in the text.
    pub start: u32,
    /// The line of the transcript, from 1, and where that begins.
    pub number: u32,
    pub offset: Position,
    pub time: Option<Time>,
    pub role: Role,
    pub is_call: bool,
}

impl Said {
    /// Of the answers of tools, too, if they are wanted.
    pub fn new(results: bool) -> Said {
        Said {
            results,
            ..Said::default()
        }
    }
}

/// The searchable part of an entry: a text, the subjects of a call, and the answer of a tool if that is wanted.
pub fn searched(entry: &Entry, results: bool) -> Option<String> {
    match &entry.what {
        What::Text(text) => Some(text.to_string()),
        What::Call(call) => Some(format!("{} {}", call.tool, call.subjects.join(" "))),
        What::Result {
            text: Some(text), ..
        } if results => Some(text.text().into_owned()),
        _ => None,
    }
}

impl Fold for Said {
    fn line(&mut self, offset: Position) {
        self.offset = offset;
    }

    fn entry(&mut self, entry: &Entry, line: u64) {
        let Some(text) = searched(entry, self.results).filter(|_| !entry.is_taken_up()) else {
            return;
        };
        let tool = entry
            .call()
            .map(|call| Id::of(call.tool.as_bytes()))
            .unwrap_or_default();
        match entry
            .key
            .and_then(|key| self.lines_by_key.get(&key).copied())
        {
            // The client's report of a call under another name: the call itself says more.
            Some((_, earlier)) if earlier != tool => return,
            Some((line, _)) => self.blank(line),
            None => self.renews_earlier |= entry.renews,
        }
        // Places are numbers of 32 bits.
        if self.text.len() + text.len() > i32::MAX as usize {
            return;
        }
        self.lines_by_key
            .extend(entry.key.map(|key| (key, (self.lines.len(), tool))));
        self.lines.push(SaidLine {
            start: self.text.len() as u32,
            number: line as u32,
            offset: self.offset,
            time: entry.time,
            role: entry.role,
            is_call: entry.call().is_some(),
        });
        fold_into(&text, &mut self.text);
        self.text.push('\n');
    }
}

impl Said {
    /// Leaves nothing to find in a line.
    fn blank(&mut self, line: usize) {
        let start = self.lines[line].start as usize;
        let end = self
            .lines
            .get(line + 1)
            .map_or(self.text.len(), |next| next.start as usize)
            - 1;
        self.text
            .replace_range(start..end, &" ".repeat(end - start));
    }
}

/// A text made comparable.
pub fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(text, &mut out);
    out
}

fn fold_into(text: &str, out: &mut String) {
    let (mut rest, mut blank) = (text, true);
    loop {
        let end = plain_length(rest.as_bytes(), &mut blank);
        let start = out.len();
        out.push_str(substr(rest, ..end));
        out.get_mut(start..)
            .into_iter()
            .for_each(str::make_ascii_lowercase);
        rest = substr(rest, end..);
        let Some(char) = rest.chars().next() else {
            break;
        };
        fold_char(char, &mut blank, &mut |char| out.push(char));
        rest = substr(rest, char.len_utf8()..);
    }
}

/// Length of the ASCII with single blanks that a text begins with. Most of a text is like that and is copied. Many bytes
/// are looked at together.
fn plain_length(bytes: &[u8], blank: &mut bool) -> usize {
    const MANY: usize = 32;
    let is_printable = |byte: u8| matches!(byte, b' '..=b'~');
    let mut end = 0;
    while let Some(many) = bytes.get(end..).and_then(|rest| rest.first_chunk::<MANY>()) {
        let pairs = many[1..].iter().zip(&many[..MANY - 1]);
        let odd = u8::from(*blank && many[0] == b' ');
        let odd = many
            .iter()
            .fold(odd, |odd, byte| odd | u8::from(!is_printable(*byte)));
        let is_blank = |byte: &u8| u8::from(*byte == b' ');
        if pairs.fold(odd, |odd, (byte, before)| {
            odd | is_blank(byte) & is_blank(before)
        }) != 0
        {
            break;
        }
        (*blank, end) = (many[MANY - 1] == b' ', end + MANY);
    }
    let is_plain = |byte: &&u8| {
        is_printable(**byte) && (**byte != b' ' || !*blank) && {
            *blank = **byte == b' ';
            true
        }
    };
    end + bytes[end..].iter().take_while(is_plain).count()
}

/// The characters of a text made comparable, each with where it stands in the text as it is.
pub fn fold_each(text: &str, take: &mut dyn FnMut(char, usize)) {
    let mut blank = true;
    text.char_indices()
        .for_each(|(at, char)| fold_char(char, &mut blank, &mut |char| take(char, at)));
}

/// Letters with a stroke, and two that grew together, which Unicode takes for letters of their own and people do not.
const WITHOUT_ACCENTS: [(&str, &str); 10] = [
    ("łŁ", "l"),
    ("øØ", "o"),
    ("đĐðÐ", "d"),
    ("ħĦ", "h"),
    ("ŧŦ", "t"),
    ("ı", "i"),
    ("ßẞ", "ss"),
    ("æÆ", "ae"),
    ("œŒ", "oe"),
    ("þÞ", "th"),
];

/// One character made comparable; `blank` says whether the one before it was white space, or there was none.
fn fold_char(char: char, blank: &mut bool, take: &mut dyn FnMut(char)) {
    let was_blank = std::mem::replace(blank, char.is_whitespace());
    match char {
        _ if *blank && was_blank => {}
        _ if *blank => take(' '),
        _ if char.is_ascii() => take(char.to_ascii_lowercase()),
        // At the end of a word, Greek writes it differently.
        'ς' => take('σ'),
        _ => match WITHOUT_ACCENTS.iter().find(|(with, _)| with.contains(char)) {
            Some((_, letters)) => letters.chars().for_each(take),
            None => decompose_compatible(char, |part| {
                if !is_combining_mark(part) {
                    part.to_lowercase()
                        .filter(|part| !is_combining_mark(*part))
                        .for_each(&mut *take);
                }
            }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{fold_each, folded};

    #[test]
    fn texts_that_people_take_for_the_same_are_the_same() {
        let cases = [
            ("Résumé  of\n\tthe\u{a0}plan", "resume of the plan"),
            ("re\u{301}sume\u{301}", "resume"),
            ("ÅNGSTRÖM", "angstrom"),
            ("ΛΌΓΟΣ", "λογος"),
            ("日本語 ﾃｽﾄ", "日本語 テスト"),
            ("ﬁnal", "final"),
            ("İstanbul", "istanbul"),
            (
                "Łódź, Ørsted, Straße, Œuvre",
                "lodz, orsted, strasse, oeuvre",
            ),
            ("👩‍👩‍👧 ok", "👩‍👩‍👧 ok"),
        ];
        for (text, same) in cases {
            assert_eq!(folded(text), folded(same), "{text}");
        }
        assert_eq!(folded("Größe ΛΌΓΟΣ"), "grosse λογοσ");
        for text in [
            "  a  B\n\nc é\t d ",
            "é x",
            "\u{1b}[1mX",
            " ",
            "",
            "a\u{a0} b",
        ] {
            let mut each = String::new();
            fold_each(text, &mut |char, _| each.push(char));
            assert_eq!(folded(text), each, "{text:?}");
        }
        // Something that is no plain text, anywhere in a long one.
        for odd in [" ", "  ", "\t", "\n ", "É", "~\u{7f}", "\0"] {
            for (before, after) in (0..70).map(|before| (before, 70 - before)) {
                let text = format!("{}{odd}{}", "Ab c".repeat(before), " dE f".repeat(after));
                let text: String = text.chars().skip(before % 5).collect();
                let mut each = String::new();
                fold_each(&text, &mut |char, _| each.push(char));
                assert_eq!(folded(&text), each, "{text:?}");
            }
        }
    }
}
