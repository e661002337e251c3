//! What is hidden in a text and what stays: `testdata/secrets.toml`, row by row, through the library.
//!
//! A row holds wherever its text turns up: in a sentence, in JSON, a second time. Who shows a text is for others to test.

use std::borrow::Cow;

use serde::Deserialize;
use session_monitor::secrets::{REDACTED, redact};

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
    toml::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/secrets.toml"))).expect("a table")
}

/// The same numbers in every run.
fn random(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % below
}

/// A row with characters made up for `⟨hex 32⟩`.
fn made_up(row: &str) -> String {
    const ALNUM: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut seed = row.len() as u64;
    let mut made = String::new();
    for (index, part) in row.split('⟨').enumerate() {
        let Some((kind, after)) = part.split_once('⟩').filter(|_| index > 0) else {
            made += part;
            continue;
        };
        let (alphabet, count) = kind.split_once(' ').expect("an alphabet and a count");
        let alphabet = match alphabet {
            "digits" => ALNUM[..10].to_owned(),
            "hex" => "0123456789abcdef".to_owned(),
            "caps" => ALNUM[..36].to_owned(),
            "alnum" => ALNUM.to_owned(),
            "word" => format!("{ALNUM}-_"),
            "base64" => format!("{ALNUM}+/"),
            other => panic!("no alphabet {other}"),
        };
        let count: usize = count.parse().expect("a count");
        // A key has letters and digits in it.
        made += &"7b0a"[..count.min(4)].replace(|char| !alphabet.contains(char), "7");
        made.extend((4..count).map(|_| char::from(alphabet.as_bytes()[random(&mut seed, alphabet.len())])));
        made += after;
    }
    made
}

/// The text of a row, and what has to become of it.
fn text_and_expected(row: &str) -> (String, String) {
    let row = made_up(row);
    let mut expected = String::new();
    for (index, part) in row.split('⟦').enumerate() {
        let after = part.split_once('⟧').map_or("", |(_, after)| after);
        expected += &if index == 0 { part.to_owned() } else { format!("{REDACTED}{after}") };
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
        (format!("Then “run” this: {text}"), format!("Then “run” this: {expected}")),
    ];
    // Where a secret ends that has no end cannot be said.
    if row.contains('⟧') {
        pairs.push((format!("{text} - and so on"), format!("{expected} - and so on")));
        pairs.push((format!("{text}\nand so on"), format!("{expected}\nand so on")));
        pairs.push((json(&text), json(&expected)));
    }
    pairs
        .iter()
        .find(|(text, expected)| redact(text) != *expected)
        .map(|(text, expected)| format!("{text}\n   is {}\n  not {expected}", redact(text)))
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} are wrong:\n\n{}", wrong.len(), wrong.join("\n\n"));
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
        all.extend(row.texts.iter().filter_map(|text| wrong(text)).map(|wrong| format!("{}: {wrong}", row.about)));
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
            for text in [text.clone(), format!("{text}\nand so on"), format!("see: {text}"), json] {
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
    let rows = table.secret.into_iter().chain(table.ordinary).flat_map(|row| row.texts);
    rows.chain(table.key.into_iter().map(|key| key.key)).map(|row| text_and_expected(&row).0).collect()
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
        let mut some = || (0..random(&mut seed, 8)).map(|_| parts[random(&mut seed, parts.len())]).collect::<String>();
        let text = format!("{} {key} {}", some(), some());
        assert!(!redact(&text).contains(&key), "{text:?}");
    }
}
