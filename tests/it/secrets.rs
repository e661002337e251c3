//! What is hidden in a text and what stays: `testdata/secrets.toml`, row by row, through the library; and which share
//! of the longer `testdata/secrets_corpus.txt`, which was written before the rules were.
//!
//! A row holds wherever its text turns up: in a sentence, in JSON, a second time. Who shows a text is for others to test.

use std::borrow::Cow;

use serde::Deserialize;
use session_core::secrets::{REDACTED, redact};

use crate::made_up::{made_up, random};
use crate::support::secrets::{comes_through, corpus};

#[derive(Deserialize)]
struct Table {
    settings: Vec<String>,
    key: Vec<Key>,
    secret: Vec<Row>,
    ordinary: Vec<Row>,
}

#[derive(Deserialize)]
struct Key {
    maker: String,
    key: String,
}

#[derive(Deserialize)]
struct Row {
    about: String,
    texts: Vec<String>,
    /// Known not to be found. One that is found must lose this mark.
    #[serde(default)]
    leaks: bool,
}

fn table() -> Table {
    toml::from_str(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/testdata/secrets.toml"
    )))
    .expect("a table")
}

/// The text of a row, and what has to become of it.
fn text_and_expected(row: &str) -> (String, String) {
    let row = made_up(row);
    let mut expected = String::new();
    for (index, part) in row.split('⟦').enumerate() {
        let after = part.split_once('⟧').map_or("", |(_, after)| after);
        expected += &if index == 0 {
            part.to_owned()
        } else {
            format!("{REDACTED}{after}")
        };
    }
    (row.replace(['⟦', '⟧'], ""), expected)
}

/// What is wrong with a row, if anything.
fn wrong(row: &str) -> Option<String> {
    let (text, expected) = text_and_expected(row);
    let json = |text: &str| serde_json::to_string(&[text, "next"]).expect("JSON");
    let mut pairs = vec![
        (text.clone(), expected.clone()),
        (expected.clone(), expected.clone()),
        (
            format!("Then “run” this: {text}"),
            format!("Then “run” this: {expected}"),
        ),
    ];
    // Where a secret ends that has no end cannot be said.
    if row.contains('⟧') {
        pairs.push((
            format!("{text} - and so on"),
            format!("{expected} - and so on"),
        ));
        pairs.push((
            format!("{text}\nand so on"),
            format!("{expected}\nand so on"),
        ));
        pairs.push((json(&text), json(&expected)));
    }
    pairs
        .iter()
        .find(|(text, expected)| redact(text) != *expected)
        .map(|(text, expected)| format!("{text}\n   is {}\n  not {expected}", redact(text)))
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn every_kind_of_key_is_hidden_wherever_it_stands() {
    let Table { settings, key, .. } = table();
    let mut all = Vec::new();
    for Key { maker, key } in &key {
        let key = made_up(key);
        for setting in &settings {
            let (text, expected) = (setting.replace("⟦⟧", &key), setting.replace("⟦⟧", REDACTED));
            if redact(&text) != expected {
                all.push(format!("{maker}: {text}\n   is {}", redact(&text)));
            }
        }
    }
    assert_none(&all);
}

#[test]
fn every_secret_is_hidden_and_nothing_around_it() {
    let mut all = Vec::new();
    let rows = table().secret;
    for row in rows.iter().filter(|row| !row.leaks) {
        all.extend(
            row.texts
                .iter()
                .filter_map(|text| wrong(text))
                .map(|wrong| format!("{}: {wrong}", row.about)),
        );
    }
    assert_none(&all);
}

#[test]
fn few_secrets_are_known_to_leak() {
    let rows: Vec<Row> = table().secret.into_iter().filter(|row| row.leaks).collect();
    assert!(rows.len() <= 3);
    for text in rows.iter().flat_map(|row| &row.texts) {
        let (text, _) = text_and_expected(text);
        assert_eq!(redact(&text), text, "it is hidden now: it leaks no more");
    }
}

#[test]
fn ordinary_texts_stay() {
    let mut all = Vec::new();
    for row in table().ordinary {
        for text in row.texts.iter().map(|text| made_up(text)) {
            let json = serde_json::to_string(&[&text]).expect("JSON");
            for text in [
                text.clone(),
                format!("{text}\nand so on"),
                format!("see: {text}"),
                json,
            ] {
                if redact(&text) != text {
                    all.push(format!("{}: {text}\n   is {}", row.about, redact(&text)));
                }
                assert!(redact(&text) != text || matches!(redact(&text), Cow::Borrowed(_)));
            }
        }
    }
    assert_none(&all);
}

#[test]
fn the_table_is_large_enough() {
    let table = table();
    let count = |rows: &[Row]| rows.iter().map(|row| row.texts.len()).sum::<usize>();
    assert!(table.key.len() + table.secret.len() >= 95 && count(&table.secret) >= 150);
    assert!(count(&table.ordinary) >= 60);
}

/// All texts of the table.
fn texts() -> Vec<String> {
    let table = table();
    let rows = table
        .secret
        .into_iter()
        .chain(table.ordinary)
        .flat_map(|row| row.texts);
    rows.chain(table.key.into_iter().map(|key| key.key))
        .map(|row| text_and_expected(&row).0)
        .collect()
}

/// No part of a text makes it panic, nor does anything put into it.
#[test]
fn no_cut_makes_it_panic() {
    for text in texts() {
        for (at, _) in text.char_indices() {
            redact(&text[..at]);
            redact(&text[at..]);
            redact(&format!("{}é{}", &text[..at], &text[at..]));
        }
    }
}

/// Whatever stands around a key, it goes; and nothing of it panics.
#[test]
fn no_neighbour_saves_a_key() {
    let key = made_up("ghp_⟨alnum 36⟩");
    let parts: Vec<_> = "token|password|\"|'|`|“|”|=|:| |\\|\\\"|://|@|/|-u|--token|-|-----BEGIN PRIVATE KEY-----|\
        é|日|{|}|(|)|[|]|<|>|$|Bearer|Authorization|the|,|;|&|.|\n|eyJ|sk-|api|key|\\n|1|str|='''|*|is|Cookie|echo|\
        sudo -S|<<<|mysql|-p|Passwort|clé|\u{0}|\u{a0}"
        .split('|')
        .chain(["|"])
        .collect();
    let mut seed = 1;
    for _ in 0..30_000 {
        let mut some = || {
            (0..random(&mut seed, 8))
                .map(|_| parts[random(&mut seed, parts.len())])
                .collect::<String>()
        };
        let text = format!("{} {key} {}", some(), some());
        assert!(!redact(&text).contains(&key), "{text:?}");
    }
}

#[test]
fn of_many_pasted_secrets_hardly_any_comes_through() {
    let all = corpus("secrets");
    let through: Vec<&String> = all.iter().filter(|row| comes_through(row)).collect();
    println!(
        "{} of {} come through:\n{through:#?}",
        through.len(),
        all.len()
    );
    assert!(all.len() >= 250 && through.len() * 100 <= all.len() * 4);
}

#[test]
fn of_many_ordinary_texts_hardly_any_is_hidden() {
    let all = corpus("ordinary");
    let hidden: Vec<_> = all
        .iter()
        .filter(|text| redact(text) != text.as_str())
        .map(|text| redact(text))
        .collect();
    println!("{} of {} are hidden:\n{hidden:#?}", hidden.len(), all.len());
    assert!(all.len() >= 160 && hidden.len() * 100 <= all.len() * 2);
}
