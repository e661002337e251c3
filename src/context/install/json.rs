//! JSON with comments, as people write it in settings files.
//!
//! `jsonc-parser` keeps a file as a tree of everything in it, so an edit leaves the rest as it is: comments, order,
//! blanks. It adds and removes whole lines, though; what stands on one line, and comments beside a value, are looked
//! after here. Of members with the same key the last counts, as it does for the agents.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{
    CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode,
};
use serde_json::Value;

use super::files::Trouble;

use session_format::boundary::substr;

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

const BOM: &str = "\u{feff}";

/// A document whose top level is an object.
#[derive(Debug)]
pub struct Json {
    path: PathBuf,
    bom: &'static str,
    root: CstRootNode,
    pub top: CstObject,
}

impl Json {
    /// An empty file counts as an empty object.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Json, Trouble> {
        let body = bytes.strip_prefix(BOM.as_bytes()).unwrap_or(bytes);
        let text = str::from_utf8(body).map_err(|error| {
            let before = String::from_utf8_lossy(&body[..error.valid_up_to()]);
            Trouble::at(path, &before, before.len(), "not UTF-8 text")
        })?;
        let tree = |text| {
            CstRootNode::parse(text, &OPTIONS).map_err(|error| {
                let why = error.kind().to_string();
                let why = format!(
                    "not JSON: {}{}",
                    substr(&why, ..1).to_lowercase(),
                    substr(&why, 1..)
                );
                Trouble::at(path, text, error.range().start, &why)
            })
        };
        let root = tree(text)?;
        let root = if root.value().is_none() {
            tree(text.trim())?
        } else {
            root
        };
        let not_an_object = || {
            let start = root.value().map_or(0, |value| offset(&value));
            Trouble::at(path, text, start, "not an object: {…} is expected here")
        };
        let top = root.object_value_or_create().ok_or_else(not_an_object)?;
        Ok(Json {
            path: path.into(),
            bom: if body.len() < bytes.len() { BOM } else { "" },
            root,
            top,
        })
    }

    pub fn text(&self) -> String {
        format!("{}{}", self.bom, self.root)
    }

    pub fn value(&self) -> Value {
        self.top.to_serde_value().unwrap_or_default()
    }

    /// True if nothing is in it, not even a comment.
    pub fn is_empty(&self) -> bool {
        self.root.to_string().trim() == "{}"
    }

    pub fn trouble(&self, at: &CstNode, why: &str) -> Trouble {
        Trouble::at(&self.path, &self.root.to_string(), offset(at), why)
    }

    /// Adds a child at the end of an object, or without a key of an array.
    pub fn add(
        &mut self,
        to: &CstContainerNode,
        key: Option<&str>,
        value: CstInputValue,
    ) -> Result<(), Trouble> {
        let children = |of: &CstContainerNode| of.children_exclude_trivia_and_tokens();
        let last = children(to).pop();
        // An empty container is laid out like the document.
        let model = if last.is_some() {
            to.clone()
        } else {
            self.top.clone().into()
        };
        if children(&model).is_empty() || model.children().iter().any(CstNode::is_newline) {
            key.and_then(|key| Some(to.as_object()?.append(key, value.clone())));
            to.as_array().map(|array| array.append(value));
            return Ok(());
        }
        let key = key
            .map(|key| format!("{}: ", Value::from(key)))
            .unwrap_or_default();
        let comma = if last.is_some() { ", " } else { "" };
        let end = last.map_or_else(
            || offset(&to.clone().into()) + 1,
            |last| offset(&last) + last.to_string().len(),
        );
        let mut text = self.text();
        text.insert_str(
            self.bom.len() + end,
            &format!("{comma}{key}{}", on_one_line(&value)),
        );
        *self = Json::parse(&self.path, text.as_bytes())?;
        Ok(())
    }

    /// Removes a value, and the containers that it leaves without even a comment; but not the top level, and none that was
    /// there `before`.
    pub fn remove(&mut self, mut value: CstContainerNode, before: &Value) -> Result<(), Trouble> {
        loop {
            let Some(around) = value.parent() else { break };
            let is_other = |child: &CstNode| {
                !is_blank(child) && !child.is_token() && child.child_index() != value.child_index()
            };
            match around.parent() {
                _ if around.children().iter().any(is_other) => break cut(&value),
                _ if counterpart(before, &around).is_some() => {
                    break inside(&around).into_iter().for_each(CstNode::remove);
                }
                Some(outer) if outer.is_object_prop() => value = outer,
                _ => value = around,
            }
        }
        // Parse again: an edit must never break a file.
        *self = Json::parse(&self.path, self.text().as_bytes())?;
        Ok(())
    }
}

/// The last member with a key, which is the one that counts.
pub fn member(object: &CstObject, key: &str) -> Option<CstObjectProp> {
    object
        .properties()
        .into_iter()
        .rfind(|member| member.decoded_name().as_deref() == Some(key))
}

/// The byte at which a value begins.
fn offset(node: &CstNode) -> usize {
    let before: usize = node
        .previous_siblings()
        .map(|sibling| sibling.to_string().len())
        .sum();
    before + node.parent().map_or(0, |parent| offset(&parent.into()))
}

/// The value where a container of another document is; nothing below an array has a place of its own.
fn counterpart<'v>(value: &'v Value, container: &CstContainerNode) -> Option<&'v Value> {
    let outer = container.parent()?;
    if outer.is_root() {
        return Some(value);
    }
    let key = outer.as_object_prop()?.decoded_name()?;
    counterpart(value, &outer.parent()?)?.get(key)
}

fn is_blank(node: &CstNode) -> bool {
    node.is_whitespace() || node.is_newline()
}

fn inside(container: &CstContainerNode) -> Vec<CstNode> {
    let children = container.children();
    children
        .get(1..children.len().saturating_sub(1))
        .unwrap_or_default()
        .to_vec()
}

/// Cuts a value out, with a comma and the blanks on one side. The tree's own `remove` takes the comments on the line of
/// the value with it.
fn cut(value: &CstContainerNode) {
    let node = CstNode::from(value.clone());
    let behind = node.trailing_comma().map(CstNode::from);
    let is_last = node
        .next_siblings()
        .all(|next| next.is_trivia() || next.is_token());
    let blanks: Vec<CstNode> = match &behind {
        Some(comma) if !is_last => comma.next_siblings().take_while(is_blank).collect(),
        _ => node.previous_siblings().take_while(is_blank).collect(),
    };
    // The line end of a comment must stay, or what follows becomes part of it.
    let before = node.previous_siblings().find(|before| !is_blank(before));
    let after_comment = before
        .and_then(|before| before.as_comment())
        .is_some_and(|comment| comment.is_line_comment());
    let next = behind
        .as_ref()
        .unwrap_or(&node)
        .next_siblings()
        .find(|next| !next.is_whitespace());
    if !is_last || !after_comment || next.is_some_and(|next| next.is_newline()) {
        blanks.into_iter().for_each(CstNode::remove);
    }
    let comma = behind.or_else(|| node.previous_siblings().find(CstNode::is_comma));
    comma
        .into_iter()
        .chain(inside(value))
        .for_each(CstNode::remove);
    node.children().into_iter().for_each(CstNode::remove);
}

fn on_one_line(value: &CstInputValue) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        CstInputValue::Null => "null".into(),
        CstInputValue::Bool(yes) => yes.to_string(),
        CstInputValue::Number(number) => number.clone(),
        CstInputValue::String(text) => Value::from(&**text).to_string(),
        CstInputValue::Array(items) => {
            format!("[{}]", joined(items.iter().map(on_one_line).collect()))
        }
        CstInputValue::Object(members) => {
            let member = |(key, value): &(String, _)| {
                format!("{}: {}", Value::from(&**key), on_one_line(value))
            };
            format!("{{{}}}", joined(members.iter().map(member).collect()))
        }
    }
}
