//! Edits JSON as text: every byte outside an edit stays as it is, comments included.
//!
//! `jsonc-parser` finds the values. Its own editor spreads a one-line file over many lines, so this file makes the edits:
//! what it adds has the indentation, line ends and blanks of its neighbours. Of members with the same key the last
//! counts, as it does for the agents.

use std::ops::Range;

use jsonc_parser::ast::{NullKeyword, Value as Node};
use jsonc_parser::common::{Range as Span, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, Scanner, ScannerOptions, parse_to_ast};
use serde_json::{Value, json};

/// JSON with comments and trailing commas, and nothing else that the parser would let pass.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A document whose top level is an object.
#[derive(Debug)]
pub struct Json {
    bom: &'static str,
    text: String,
    pub value: Value,
}

/// What is wrong with a text, and where. Lines and columns count from 1.
#[derive(Debug)]
pub struct Fault {
    pub line: usize,
    pub column: usize,
    pub why: String,
}

type Edit = (Range<usize>, String);

impl Json {
    /// A file without a value is an empty document.
    pub fn parse(bytes: &[u8]) -> Result<Json, Fault> {
        let body = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let bom = if body.len() < bytes.len() { "\u{feff}" } else { "" };
        let text = str::from_utf8(body).map_err(|error| {
            let before = String::from_utf8_lossy(&body[..error.valid_up_to()]);
            fault(&before, before.len(), "not UTF-8 text")
        })?;
        match Source::read(text)?.root {
            root @ Node::Object(_) => Ok(Json { bom, text: text.into(), value: root.into() }),
            root if root.width() > 0 => Err(fault(text, root.start(), "not an object: {…} is expected here")),
            _ => Ok(Json { bom, text: format!("{}\n{{}}\n", text.trim()).trim_start().into(), value: json!({}) }),
        }
    }

    pub fn text(&self) -> String {
        format!("{}{}", self.bom, self.text)
    }

    /// Whether nothing is in it, not even a comment.
    pub fn is_empty(&self) -> bool {
        self.text.trim() == "{}"
    }

    /// A fault at the value that a path of keys and indices leads to.
    pub fn fault(&self, path: &[&str], why: &str) -> Fault {
        let source = Source::read(&self.text);
        let at = source.ok().and_then(|source| Some(source.find(path)?.start()));
        fault(&self.text, at.unwrap_or_default(), why)
    }

    /// Puts a string in the place of a value.
    pub fn replace(&mut self, path: &[String], string: &str) -> Result<(), Fault> {
        self.edit(|source| {
            let value = source.find(path)?.range();
            Some(vec![(value.start..value.end, Value::from(string).to_string())])
        })
    }

    /// Adds a child, given as JSON without blanks, at the end of an object or array.
    pub fn insert(&mut self, path: &[&str], child: &str) -> Result<(), Fault> {
        self.edit(|source| source.insertion(source.find(path)?, child))
    }

    /// Removes a value, and what around it has nothing else in it, not even a comment; but not the top level.
    pub fn remove(&mut self, path: &[String]) -> Result<(), Fault> {
        self.edit(|source| source.removal(path))
    }

    /// Makes edits, which come in the order of the text. The result is parsed again, so no edit breaks a file.
    fn edit(&mut self, edits: impl FnOnce(&Source) -> Option<Vec<Edit>>) -> Result<(), Fault> {
        let edits = edits(&Source::read(&self.text)?).ok_or_else(|| self.fault(&[], "a value is missing"))?;
        let mut text = self.text.clone();
        edits.into_iter().rev().for_each(|(range, new)| text.replace_range(range, &new));
        *self = Json { bom: self.bom, ..Json::parse(text.as_bytes())? };
        Ok(())
    }
}

struct Source<'t> {
    text: &'t str,
    root: Node<'t>,
    /// Comments among them.
    tokens: Vec<TokenAndRange<'t>>,
}

impl<'t> Source<'t> {
    fn read(text: &'t str) -> Result<Source<'t>, Fault> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let read = parse_to_ast(text, &collect, &OPTIONS).map_err(|error| {
            let why = error.kind().to_string();
            fault(text, error.range().start, &format!("not JSON: {}{}", why[..1].to_lowercase(), &why[1..]))
        })?;
        let nothing = Node::NullKeyword(NullKeyword { range: Span::new(0, 0) });
        Ok(Source { text, root: read.value.unwrap_or(nothing), tokens: read.tokens.unwrap_or_default() })
    }

    fn find(&self, path: &[impl AsRef<str>]) -> Option<&Node<'t>> {
        path.iter().try_fold(&self.root, |node, step| {
            children(node).into_iter().rfind(|(key, ..)| key == step.as_ref()).map(|(.., value)| value)
        })
    }

    fn insertion(&self, place: &Node, child: &str) -> Option<Vec<Edit>> {
        let spans = |node| children(node).into_iter().map(|(_, span, _)| span).collect::<Vec<_>>();
        let (text, all, top) = (self.text, spans(place), spans(&self.root));
        let crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
        let line = |at| format!("{}{}", if crlf { "\r\n" } else { "\n" }, indent(text, at));
        let first = top.first().filter(|first| text[self.root.start()..first.start].contains('\n'));
        let unit = first.map_or("  ", |first| indent(text, first.start));
        let colon = self.tokens.iter().find(|token| token.token == Token::Colon);
        let tight = colon.is_some_and(|colon| !text[colon.end()..].starts_with(char::is_whitespace));
        let blank = if tight { "" } else { " " };
        let Some(last) = all.last() else {
            let lines = top.is_empty() || self.root.text(text).contains(['\n', '\r']);
            let outer = if lines { line(place.start()) } else { String::new() };
            let inner = if lines { format!("{outer}{unit}") } else { String::new() };
            let (open, close) = (self.before(place.end() - 1)?.end(), place.end() - 1);
            return Some(vec![(open..close, format!("{inner}{}{outer}", laid_out(child, &inner, unit, blank)))]);
        };
        let before = all.iter().rev().nth(1).map_or(place.start(), Ranged::end);
        let mut lines = text[before..last.start].contains('\n');
        // A comment behind the last child stays with it.
        let (mut end, mut comma) = (last.end, false);
        for token in self.tokens.iter().filter(|token| token.start() >= last.end) {
            match token.token {
                _ if text[end..token.start()].contains('\n') => break,
                Token::Comma => comma = true,
                Token::CommentLine(_) => lines = true,
                Token::CommentBlock(_) => {}
                _ => break,
            }
            end = token.end();
        }
        let line = if lines { line(last.start) } else { String::new() };
        let new = format!("{}{}", if lines { &line } else { blank }, laid_out(child, &line, unit, blank));
        Some(if comma { vec![(end..end, new + ",")] } else { vec![(last.end..last.end, ",".into()), (end..end, new)] })
    }

    fn removal(&self, path: &[String]) -> Option<Vec<Edit>> {
        let (text, mut node, mut cut) = (self.text, &self.root, None);
        let is_blank = |range: Range<usize>| text[range].chars().all(|char| char.is_whitespace() || char == ',');
        for step in path {
            let all = children(node);
            let index = all.iter().rposition(|(key, ..)| key == step)?;
            let (this, value) = (all[index].1, all[index].2);
            let inner = node.start() + 1..node.end() - 1;
            let alone = is_blank(inner.start..this.start) && is_blank(this.end..inner.end);
            if cut.is_none() || !alone {
                cut = Some((all, index, alone.then_some(inner)));
            }
            node = value;
        }
        let (all, index, everything) = cut?;
        if let Some(everything) = everything {
            return Some(vec![(everything, String::new())]);
        }
        let (this, is_last) = (all[index].1, index + 1 == all.len());
        let behind = self.comma(this.end);
        let comma = behind.or_else(|| self.comma(all[index.checked_sub(1)?].1.end));
        // The blanks before it go, too, unless what follows it would then be in a comment.
        let before = self.before(this.start)?;
        let rest = text[behind.unwrap_or(this).end..].trim_start_matches([' ', '\t']);
        let safe = rest.starts_with(['\n', '\r']) || !matches!(before.token, Token::CommentLine(_));
        let start = if is_last && safe { before.end() } else { this.start };
        let mut cuts = vec![(start..this.end, String::new())];
        cuts.extend(comma.map(|Span { start, end }| {
            let blanks = if is_last { 0 } else { text[end..].len() - text[end..].trim_start().len() };
            (start..end + blanks, String::new())
        }));
        cuts.sort_by_key(|(cut, _)| cut.start);
        Some(cuts)
    }

    fn before(&self, at: usize) -> Option<&TokenAndRange<'t>> {
        self.tokens.iter().rfind(|token| token.end() <= at)
    }

    /// The comma that follows a value, perhaps after comments.
    fn comma(&self, at: usize) -> Option<Span> {
        let is_comment = |token: &Token| matches!(token, Token::CommentLine(_) | Token::CommentBlock(_));
        let next = self.tokens.iter().find(|token| token.start() >= at && !is_comment(&token.token))?;
        (next.token == Token::Comma).then_some(next.range)
    }
}

/// The keys, or indices, of what is in an object or array, where each is with its key, and its value.
fn children<'n, 't>(node: &'n Node<'t>) -> Vec<(String, Span, &'n Node<'t>)> {
    let indexed = |(index, value): (usize, &'n Node<'t>)| (index.to_string(), value.range(), value);
    match node {
        Node::Object(all) => all.properties.iter().map(|it| (it.name.as_str().into(), it.range, &it.value)).collect(),
        Node::Array(all) => all.elements.iter().enumerate().map(indexed).collect(),
        _ => Vec::new(),
    }
}

/// JSON without blanks, spread over lines that begin with `line`, a line end and blanks; on one line if that is empty.
fn laid_out(json: &str, line: &str, unit: &str, blank: &str) -> String {
    let (mut out, mut line, unit) = (String::new(), line.to_owned(), if line.is_empty() { "" } else { unit });
    let mut scanner = Scanner::new(json, &ScannerOptions::default());
    while let Ok(Some(token)) = scanner.scan() {
        let text = &json[scanner.token_start()..scanner.token_end()];
        match token {
            Token::OpenBrace | Token::OpenBracket => {
                line += unit;
                out.extend([text, &line]);
            }
            Token::CloseBrace | Token::CloseBracket => {
                line.truncate(line.len() - unit.len());
                out.extend([&line, text]);
            }
            Token::Comma if !line.is_empty() => out.extend([text, &line]),
            Token::Comma | Token::Colon => out.extend([text, blank]),
            _ => out += text,
        }
    }
    out
}

/// The blanks that a line begins with.
fn indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn fault(text: &str, at: usize, why: &str) -> Fault {
    let line = text[..at].matches('\n').count() + 1;
    let column = text[..at].chars().rev().take_while(|char| *char != '\n').count() + 1;
    Fault { line, column, why: why.into() }
}
