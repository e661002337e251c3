//! JSON as text: finds places in it and changes it there, so that every other byte stays as it is.
//!
//! The text is checked whole at the start; after that the walker relies on it being JSON. Of members with the same key
//! the last one counts, as it does for the agents. What is added looks like what is there: same indentation, same line
//! ends, on one line where its neighbours are.

use std::ops::Range;

use serde::de::IgnoredAny;

pub type Span = Range<usize>;

/// A JSON document whose top level is an object.
#[derive(Debug)]
pub struct Json {
    text: String,
}

/// What is wrong with a text, and where. Lines and columns count from 1.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    pub line: usize,
    pub column: usize,
    pub why: String,
}

/// A value to be added.
#[derive(Debug)]
pub enum New<'n> {
    Text(&'n str),
    Number(u32),
    Array(Vec<New<'n>>),
    Object(Vec<(&'n str, New<'n>)>),
}

/// A member of an object or an element of an array.
pub struct Child {
    /// With its key.
    span: Span,
    pub key: Option<String>,
    pub value: Span,
}

/// How added text is laid out.
struct Layout<'t> {
    /// One value per line, or all on one line.
    lines: bool,
    newline: &'static str,
    unit: &'t str,
    /// After a colon, and on one line after a comma.
    blank: &'static str,
}

impl Json {
    /// A new document.
    pub fn empty() -> Json {
        Json { text: "{}\n".into() }
    }

    /// A text with nothing in it is an empty document.
    pub fn parse(bytes: &[u8]) -> Result<Json, Fault> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            fault(&before, before.len(), "not UTF-8 text".into())
        })?;
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        if body.trim().is_empty() {
            return Ok(Json::empty());
        }
        // Numbers may be of any size: they are stepped over.
        if let Err(error) = serde_json::from_str::<IgnoredAny>(body) {
            let line_start: usize = body.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            let at = (line_start + error.column().saturating_sub(1)).min(body.len());
            return Err(fault(body, at, reason(body, at, &error.to_string())));
        }
        let json = Json { text: text.into() };
        let root = json.root();
        if json.is_object(&root) { Ok(json) } else { Err(json.fault(&root, "not an object: {…} is expected here")) }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn fault(&self, at: &Span, why: &str) -> Fault {
        fault(&self.text, at.start, why.into())
    }

    pub fn root(&self) -> Span {
        let body = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text);
        let start = self.text.len() - body.trim_start().len();
        start..self.value_end(start)
    }

    pub fn is_object(&self, value: &Span) -> bool {
        self.text[value.clone()].starts_with('{')
    }

    pub fn is_array(&self, value: &Span) -> bool {
        self.text[value.clone()].starts_with('[')
    }

    /// A string, decoded.
    pub fn string(&self, value: &Span) -> Option<String> {
        serde_json::from_str(&self.text[value.clone()]).ok()
    }

    /// Whether there is this word: `true`, `false`, `null`.
    pub fn is(&self, value: &Span, word: &str) -> bool {
        &self.text[value.clone()] == word
    }

    /// The value that a path of keys leads to.
    pub fn find(&self, path: &[&str]) -> Option<Span> {
        path.iter().try_fold(self.root(), |value, key| self.member(&value, key))
    }

    pub fn member(&self, object: &Span, key: &str) -> Option<Span> {
        let members = if self.is_object(object) { self.children(object) } else { vec![] };
        members.into_iter().rev().find(|member| member.key.as_deref() == Some(key)).map(|member| member.value)
    }

    /// The members that count: of those with the same key the last.
    pub fn members(&self, object: &Span) -> Vec<Child> {
        let mut members: Vec<Child> = Vec::new();
        for member in if self.is_object(object) { self.children(object) } else { vec![] } {
            members.retain(|earlier| earlier.key != member.key);
            members.push(member);
        }
        members
    }

    /// The values of an array; of anything else none.
    pub fn elements(&self, array: &Span) -> Vec<Span> {
        let children = if self.is_array(array) { self.children(array) } else { vec![] };
        children.into_iter().map(|child| child.value).collect()
    }

    /// Puts a string in the place of another.
    pub fn replace(&mut self, value: &Span, text: &str) {
        self.text.replace_range(value.clone(), &quoted(text));
    }

    /// Adds a member at the end of the top level.
    pub fn add(&mut self, key: &str, value: &New) {
        self.insert(&self.root(), Some(key), value);
    }

    /// Adds an element at the end of the array that a path leads to. What is missing on the way is made.
    pub fn append(&mut self, path: &[&str], value: New) {
        let mut place = self.root();
        for (depth, key) in path.iter().enumerate() {
            match self.member(&place, key) {
                Some(member) => place = member,
                None => {
                    let value = path[depth + 1..]
                        .iter()
                        .rfold(New::Array(vec![value]), |inner, key| New::Object(vec![(key, inner)]));
                    return self.insert(&place, Some(key), &value);
                }
            }
        }
        self.insert(&place, None, &value);
    }

    /// Removes a value, which a path of keys and then indices and keys leads to, and every array and object around it
    /// that has nothing else in it, but not the top level.
    pub fn remove(&mut self, path: &[Step]) {
        let mut places = vec![self.root()];
        let mut indices = Vec::new();
        for step in path {
            let Some(place) = places.last() else { return };
            let children = self.children(place);
            let index = match step {
                Step::Key(key) => children.iter().rposition(|child| child.key.as_deref() == Some(key)),
                Step::Index(index) => Some(*index),
            };
            let Some((index, child)) = index.and_then(|index| Some((index, children.get(index)?))) else { return };
            indices.push(index);
            places.push(child.value.clone());
        }
        for (place, index) in places.iter().zip(indices).rev() {
            let children = self.children(place);
            let range = match (index, children.len()) {
                (_, 1) if place.start > self.root().start => continue,
                (_, 1) => place.start + 1..place.end - 1,
                (0, _) => children[0].span.start..children[1].span.start,
                _ => children[index - 1].span.end..children[index].span.end,
            };
            return self.text.replace_range(range, "");
        }
    }

    /// Adds a child at the end of an object or array.
    fn insert(&mut self, place: &Span, key: Option<&str>, value: &New) {
        let children = self.children(place);
        let mut layout = self.layout();
        let mut text = String::new();
        let range = match children.last() {
            Some(last) => {
                let before = children.iter().rev().nth(1).map_or(place.start + 1, |child| child.span.end);
                let gap = &self.text[before..last.span.start];
                text.push(',');
                match gap.rfind('\n') {
                    Some(newline) => {
                        let indent = blanks(&gap[newline + 1..]);
                        text += layout.newline;
                        text += indent;
                        value.render_child(key, &layout, indent, &mut text);
                    }
                    None => {
                        layout.lines = false;
                        text += layout.blank;
                        value.render_child(key, &layout, "", &mut text);
                    }
                }
                last.span.end..last.span.end
            }
            None => {
                layout.lines &= self.children(&self.root()).is_empty() || self.text[self.root()].contains('\n');
                if layout.lines {
                    let line = self.text[..place.start].rfind('\n').map_or(0, |newline| newline + 1);
                    let outer = blanks(&self.text[line..place.start]);
                    let inner = format!("{outer}{}", layout.unit);
                    text = format!("{}{inner}", layout.newline);
                    value.render_child(key, &layout, &inner, &mut text);
                    text += layout.newline;
                    text += outer;
                } else {
                    value.render_child(key, &layout, "", &mut text);
                }
                place.start + 1..place.end - 1
            }
        };
        self.text.replace_range(range, &text);
    }

    /// How this text is laid out, as its first lines show it.
    fn layout(&self) -> Layout<'_> {
        let root = self.root();
        let children = self.children(&root);
        let newline = match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let gap = children.first().map(|first| &self.text[root.start + 1..first.span.start]);
        let unit = gap.and_then(|gap| Some(blanks(&gap[gap.rfind('\n')? + 1..])));
        let tight = children.first().is_some_and(|first| self.text[..first.value.start].ends_with(':'));
        Layout { lines: true, newline, unit: unit.unwrap_or("  "), blank: if tight { "" } else { " " } }
    }

    fn children(&self, place: &Span) -> Vec<Child> {
        let object = self.is_object(place);
        let mut children = Vec::new();
        let mut at = self.skip(place.start + 1, b" \t\r\n,");
        while at + 1 < place.end {
            let start = at;
            let mut key = None;
            if object {
                let end = self.value_end(at);
                key = self.string(&(at..end));
                at = self.skip(end, b" \t\r\n:");
            }
            let value = at..self.value_end(at);
            at = self.skip(value.end, b" \t\r\n,");
            children.push(Child { span: start..value.end, key, value });
        }
        children
    }

    fn skip(&self, from: usize, over: &[u8]) -> usize {
        let rest = &self.text.as_bytes()[from..];
        from + rest.iter().position(|byte| !over.contains(byte)).unwrap_or(rest.len())
    }

    /// Where the value that begins here ends.
    fn value_end(&self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth) = (start, 0_usize);
        while at < bytes.len() {
            match bytes[at] {
                b'"' => at = self.string_end(at),
                b'{' | b'[' => {
                    depth += 1;
                    at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    at += 1;
                }
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => at += 1,
                _ => {
                    let rest = &bytes[at..];
                    at += rest.iter().position(|byte| b" \t\r\n,]}".contains(byte)).unwrap_or(rest.len());
                }
            }
            if depth == 0 {
                break;
            }
        }
        at
    }

    fn string_end(&self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        while at < bytes.len() && bytes[at] != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        at + 1
    }
}

/// A step of a path to a value.
#[derive(Debug, Clone)]
pub enum Step {
    Key(String),
    Index(usize),
}

impl New<'_> {
    /// A document with nothing else in it.
    pub fn pretty(&self) -> String {
        let layout = Layout { lines: true, newline: "\n", unit: "  ", blank: " " };
        let mut out = String::new();
        self.render(&layout, "", &mut out);
        out
    }

    fn render_child(&self, key: Option<&str>, layout: &Layout, indent: &str, out: &mut String) {
        if let Some(key) = key {
            *out += &quoted(key);
            out.push(':');
            *out += layout.blank;
        }
        self.render(layout, indent, out);
    }

    fn render(&self, layout: &Layout, indent: &str, out: &mut String) {
        let (open, close, children): (_, _, Vec<(Option<&str>, &New)>) = match self {
            New::Text(text) => return out.push_str(&quoted(text)),
            New::Number(number) => return out.push_str(&number.to_string()),
            New::Array(values) => ('[', ']', values.iter().map(|value| (None, value)).collect()),
            New::Object(members) => ('{', '}', members.iter().map(|(key, value)| (Some(*key), value)).collect()),
        };
        let inner = format!("{indent}{}", layout.unit);
        out.push(open);
        for (index, (key, value)) in children.into_iter().enumerate() {
            match (layout.lines, index) {
                (true, 0) => *out += &format!("{}{inner}", layout.newline),
                (true, _) => *out += &format!(",{}{inner}", layout.newline),
                (false, 0) => {}
                (false, _) => *out += &format!(",{}", layout.blank),
            }
            value.render_child(key, layout, &inner, out);
        }
        if layout.lines {
            *out += &format!("{}{indent}", layout.newline);
        }
        out.push(close);
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The blanks that a text begins with.
fn blanks(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches([' ', '\t']).len()]
}

/// Why a text is no JSON, in the words of somebody who wrote it by hand.
fn reason(text: &str, at: usize, message: &str) -> String {
    let (before, after) = text.as_bytes().split_at(at);
    match (before.trim_ascii_end().last(), after.first()) {
        (_, Some(b'/' | b'#')) => "a comment, which JSON does not have".into(),
        (Some(b','), Some(b'}' | b']')) => "a comma after the last value, which JSON does not have".into(),
        _ => format!("not JSON: {}", message.split(" at line ").next().unwrap_or_default()),
    }
}

fn fault(text: &str, at: usize, why: String) -> Fault {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[line_start..].chars().filter(|char| *char != '\u{feff}').count() + 1;
    Fault { line: before.matches('\n').count() + 1, column, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
    }

    /// Appends `{"n": 1}` to `/h/e`, compares, and takes it out again.
    #[track_caller]
    fn there_and_back(before: &str, expected: &str) {
        let mut json = json(before);
        let index = json.find(&["h", "e"]).map_or(0, |array| json.elements(&array).len());
        json.append(&["h", "e"], New::Object(vec![("n", New::Number(1))]));
        assert_eq!(json.text(), expected);
        json.remove(&[Step::Key("h".into()), Step::Key("e".into()), Step::Index(index)]);
        assert_eq!(json.text(), before);
    }

    #[test]
    fn what_is_added_looks_like_what_is_there() {
        there_and_back("{}\n", "{\n  \"h\": {\n    \"e\": [\n      {\n        \"n\": 1\n      }\n    ]\n  }\n}\n");
        there_and_back(r#"{"a":1}"#, r#"{"a":1,"h":{"e":[{"n":1}]}}"#);
        there_and_back(r#"{"a": 1}"#, r#"{"a": 1, "h": {"e": [{"n": 1}]}}"#);
        there_and_back(
            "{\r\n\t\"a\": 1\r\n}\r\n",
            "{\r\n\t\"a\": 1,\r\n\t\"h\": {\r\n\t\t\"e\": [\r\n\t\t\t{\r\n\t\t\t\t\"n\": 1\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}\r\n",
        );
        there_and_back(
            "{\n    \"h\": {\"x\": [ ], \"e\": [1 , 2 ] } ,\n    \"z\": 0\n}",
            "{\n    \"h\": {\"x\": [ ], \"e\": [1 , 2, {\"n\": 1} ] } ,\n    \"z\": 0\n}",
        );
        there_and_back(
            "{ \"h\" : { \"x\": 1\n , \"y\": 2 } }",
            "{ \"h\" : { \"x\": 1\n , \"y\": 2,\n \"e\": [\n   {\n     \"n\": 1\n   }\n ] } }",
        );
    }

    #[test]
    fn the_last_of_equal_keys_counts_and_escapes_are_keys_too() {
        let text = r#"{"h":{"e":[1]},"\u0068":{"e":[2],"e":[3]}}"#;
        there_and_back(text, r#"{"h":{"e":[1]},"\u0068":{"e":[2],"e":[3,{"n":1}]}}"#);
        assert_eq!(json(text).members(&json(text).root()).len(), 1);
    }

    #[test]
    fn strings_and_numbers_are_stepped_over() {
        let odd = r#""]}\\\"\ud800 [{,:", 12345678901234567890, 1e400, -0.0E-0, null"#;
        there_and_back(
            &format!(r#"{{"a":[{odd}],"h":{{"e":[{odd}]}}}}"#),
            &format!(r#"{{"a":[{odd}],"h":{{"e":[{odd},{{"n":1}}]}}}}"#),
        );
    }

    /// A text of brackets must not take the stack with it.
    #[test]
    fn depth_has_no_limit() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        there_and_back(&format!(r#"{{"a":{deep}}}"#), &format!(r#"{{"a":{deep},"h":{{"e":[{{"n":1}}]}}}}"#));
    }

    #[test]
    fn what_is_removed_takes_with_it_what_it_leaves_empty() {
        for (before, after) in [
            (r#"{"h":{"e":[1]}}"#, "{}"),
            (r#"{"a":1,"h":{"e":[1]}}"#, r#"{"a":1}"#),
            (r#"{"h":{"e":[1]},"a":1}"#, r#"{"a":1}"#),
            (r#"{"h":{"d":[],"e":[1]}}"#, r#"{"h":{"d":[]}}"#),
            (r#"{"h":{"e":[1, 2, 3]}}"#, r#"{"h":{"e":[2, 3]}}"#),
        ] {
            let mut json = json(before);
            json.remove(&[Step::Key("h".into()), Step::Key("e".into()), Step::Index(0)]);
            assert_eq!(json.text(), after, "{before}");
        }
    }

    #[test]
    fn faults_say_where() {
        for (text, line, column, why) in [
            (&b"{\n  // no\n}"[..], 2, 3, "a comment, which JSON does not have"),
            (b"{\"a\": 1,\n}", 2, 1, "a comma after the last value, which JSON does not have"),
            (b"{\"a\": 1} x", 1, 10, "not JSON: trailing characters"),
            (b"\0", 1, 1, "not JSON: expected value"),
            (b"[]", 1, 1, "not an object: {…} is expected here"),
            (b"\n\n 3", 3, 2, "not an object: {…} is expected here"),
            ("{\"ä\": x}".as_bytes(), 1, 7, "not JSON: expected value"),
            (b"{\"a\": \"\xff\"}", 1, 8, "not UTF-8 text"),
        ] {
            let fault = Json::parse(text).expect_err("a fault");
            assert_eq!(fault, Fault { line, column, why: why.into() }, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn nothing_is_an_empty_document() {
        for text in ["", " \r\n\t", "\u{feff}\n"] {
            assert_eq!(json(text).text(), "{}\n");
        }
    }
}
