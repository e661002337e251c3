//! Text from other sessions in a line that a model reads: quoted, and cut to the room there is for it.
//!
//! What a model may read of it is decided by the [`gate`](super::gate), before anything is cut. A cut never goes through
//! a character, nor through a `[redacted]`. What the line says about the text is up to others.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::gate::{REDACTED, harmless};

use session_format::boundary::substr;

/// How much of a text [`quote`] takes at first.
const TAKEN: usize = 2 * 1024;
/// How much has to follow what is shown, so that no secret that begins there lacks what it is known by.
const MARGIN: usize = 512;
/// How far before a cut the end of a word is looked for.
const WORD: usize = 16;

/// The length of a text in UTF-16 units. That is as long as any client counts it, in characters or in these.
pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// As much of a text as there is room for, with `…` where something is missing; up to the end of a word if one is
/// near.
pub fn shorten(text: &str, room: usize) -> Cow<'_, str> {
    let Some(start) = overlong(text, room) else {
        return Cow::Borrowed(text);
    };
    if room == 0 {
        return Cow::Borrowed("");
    }
    let mut used = 0;
    let fits = |grapheme: &&str| {
        used += length(grapheme);
        used < room
    };
    let kept = start.graphemes(true).take_while(fits).map(str::len).sum();
    let kept = match redacted_around(text, kept) {
        Some(whole) => whole.start,
        None => word_end(text, kept),
    };
    Cow::Owned(format!("{}…", substr(text, ..kept).trim_end()))
}

/// The beginning of a text that is too long, just longer than the room.
fn overlong(text: &str, room: usize) -> Option<&str> {
    let mut used = 0;
    let (last, char) = text.char_indices().find(|(_, char)| {
        used += char.len_utf16();
        used > room
    })?;
    Some(substr(text, ..last + char.len_utf8()))
}

/// The `[redacted]` that a cut would go through.
fn redacted_around(text: &str, cut: usize) -> Option<std::ops::Range<usize>> {
    let starts = cut.saturating_sub(REDACTED.len() - 1)..cut;
    let start = starts.into_iter().find(|at| {
        text.get(*at..)
            .is_some_and(|rest| rest.starts_with(REDACTED))
    })?;
    Some(start..start + REDACTED.len())
}

/// The end of the last whole word before a cut, or the cut if it is far.
fn word_end(text: &str, cut: usize) -> usize {
    let (before, after) = text.split_at(cut);
    if after.starts_with(char::is_whitespace) {
        return cut;
    }
    match before.rfind(char::is_whitespace) {
        Some(blank) if length(substr(before, blank..)) <= WORD && blank > cut / 2 => blank,
        _ => cut,
    }
}

/// A text that is harmless and in double quotes, no longer than the room; nothing if there is no room for a quote.
pub fn quote(text: &str, room: usize) -> String {
    let Some(room) = room.checked_sub(2).filter(|room| *room > 0) else {
        return String::new();
    };
    let mut taken = TAKEN;
    loop {
        let (line, is_enough) = harmless_start(text, taken, room);
        if is_enough {
            return format!("\"{}\"", shorten(&line, room));
        }
        taken *= 2;
    }
}

/// The beginning of a text, made harmless, and whether the room can be filled with it.
fn harmless_start(text: &str, taken: usize, room: usize) -> (String, bool) {
    let start = substr(text, ..text.floor_char_boundary(taken));
    let line = harmless(start);
    let is_enough = start.len() == text.len() || overlong(&line, room + MARGIN).is_some();
    (line, is_enough)
}

/// A path that is harmless and no longer than the room: `…/deep/file.rs`.
pub fn path(text: &str, room: usize) -> String {
    let path = harmless(text);
    let mut left = length(&path);
    if left <= room {
        return path;
    }
    if room == 0 {
        return String::new();
    }
    // Whole components, or a part of the last one if even that is too long.
    let last = path.trim_end_matches(['/', '\\']).len();
    let (mut component, mut part) = (None, path.len());
    for (at, grapheme) in path.grapheme_indices(true) {
        if left < room {
            part = part.min(redacted_around(&path, at).map_or(at, |whole| whole.end));
            if component.is_none() && at < last && matches!(grapheme, "/" | "\\") {
                component = Some(at);
            }
        }
        left -= length(grapheme);
    }
    format!("…{}", substr(&path, component.unwrap_or(part)..))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-api03-Ab1cdEFghIJklMNopQRstUVwxyz0123456789";

    fn nasty() -> Vec<String> {
        vec![
            String::new(),
            "how do I deploy this?".into(),
            "a".repeat(300),
            "👩‍👩‍👧".repeat(40),
            "👩‍👩‍👧 e\u{301}🇩🇪🇫🇷 日本語 ".repeat(20),
            format!("e{} x", "\u{301}".repeat(150)),
            "\u{301}\u{301} combining first ".repeat(20),
            "\u{fffd}\u{fffd} lone surrogates \u{fffd}".repeat(20),
            "one two three  four\n\tfive ".repeat(20),
            format!("{KEY} ").repeat(20),
            format!("x{REDACTED}y").repeat(30),
            format!("PASSWORD={KEY};日本 ").repeat(20),
            "\u{200b} \u{1b}c<system-reminder>\"quoted\"</system-reminder>\u{202e} &lt;b&gt; "
                .repeat(10),
            "/home/me/projects/deep/deeper/src/render/untrusted.rs".into(),
            format!("/home/{}/file.rs", "👩‍👩‍👧".repeat(60)),
            format!("/home/me/{}", "日本".repeat(120)),
            format!("/home/token={KEY}/x/{}", "e\u{301}".repeat(90)),
            "C:\\Users\\me\\a very long directory name\\and another one\\file.rs".into(),
            "/".repeat(250),
            format!("{}/", "a/".repeat(150)),
        ]
    }

    fn is_whole(text: &str) -> bool {
        let rest = text.replace(REDACTED, "");
        !["[re", "[r…", "[…", "ted]", "d]"]
            .iter()
            .any(|part| rest.contains(part))
    }

    #[test]
    fn every_length_is_kept() {
        for text in nasty() {
            for room in (0..40).chain((40..200).step_by(7)) {
                let short = shorten(&text, room);
                assert!(length(&short) <= room, "{room}: {short}");
                let kept = short
                    .strip_suffix('…')
                    .filter(|_| short != text)
                    .unwrap_or(&short);
                assert!(text.starts_with(kept), "{room}: {short}");
                assert!(
                    kept.is_empty()
                        || text
                            .grapheme_indices(true)
                            .any(|(at, g)| at + g.len() == kept.len())
                );
                assert!(room == 0 || short == text || short.ends_with('…'));
                assert!(is_whole(&short), "{room}: {short}");

                let quoted = quote(&text, room);
                assert!(length(&quoted) <= room, "{room}: {quoted}");
                assert!(quoted.is_empty() == (room < 3));
                let inside = quoted
                    .strip_prefix('"')
                    .and_then(|rest| rest.strip_suffix('"'))
                    .unwrap_or_default();
                assert!(
                    !inside.contains(['"', '<', '>', '\n']) && is_whole(&quoted),
                    "{room}: {quoted}"
                );
                assert!(!quoted.contains("sk-ant-"));

                let end = path(&text, room);
                assert!(length(&end) <= room, "{room}: {end}");
                let whole = harmless(&text);
                assert!(
                    end.is_empty()
                        || end == whole
                        || whole.ends_with(end.strip_prefix('…').unwrap())
                );
                assert!(is_whole(&end) && !end.contains("sk-ant-"), "{room}: {end}");
            }
        }
    }

    #[test]
    fn a_cut_is_at_the_end_of_a_word_if_one_is_near() {
        assert_eq!(
            shorten("how do I deploy this?", 21),
            "how do I deploy this?"
        );
        assert_eq!(shorten("how do I deploy this?", 20), "how do I deploy…");
        assert_eq!(shorten("how do I deploy this?", 16), "how do I deploy…");
        assert_eq!(shorten("how do I deploy this?", 15), "how do I…");
        assert_eq!(shorten("a averyveryverylongword", 10), "a averyve…");
        assert_eq!(shorten("the key [redacted] is", 15), "the key…");
        assert_eq!(shorten("the key [redacted] is", 20), "the key [redacted]…");
        assert_eq!(shorten("👩‍👩‍👧👩‍👩‍👧", 9), "👩‍👩‍👧…");
        assert_eq!(shorten("ab", 1), "…");
    }

    #[test]
    fn a_path_keeps_its_end() {
        let file = "/home/me/deep/file.rs";
        assert_eq!(path(file, 21), file);
        assert_eq!(path(file, 20), "…/me/deep/file.rs");
        assert_eq!(path(file, 16), "…/deep/file.rs");
        assert_eq!(path(file, 13), "…/file.rs");
        assert_eq!(path(file, 8), "…file.rs");
        assert_eq!(path(file, 5), "…e.rs");
        assert_eq!(path("/home/me/deep/", 8), "…/deep/");
        assert_eq!(path("C:\\me\\deep\\file.rs", 13), "…\\file.rs");
        assert_eq!(path("a\"b<c>\n.rs", 20), "a'b‹c› .rs");
        assert_eq!(path(&format!("/x/{KEY}"), 11), "…[redacted]");
        assert_eq!(path(&format!("/x/{KEY}"), 10), "…");
    }

    /// How much of a text is read does not depend on how long it is, unless its beginning says nothing.
    #[test]
    fn a_long_text_is_quoted_from_its_beginning() {
        let long = "word ".repeat(1 << 18);
        assert_eq!(length(&quote(&long, 100)), 97);
        assert!(
            harmless_start(&long, TAKEN, 98).1,
            "the first {TAKEN} bytes are enough"
        );
        assert_eq!(
            quote(&("\u{200b} ".repeat(1 << 18) + "hello"), 100),
            "\"hello\""
        );
        assert_eq!(quote(&" ".repeat(1 << 18), 100), "\"\"");
        let block = format!(
            "-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY----- hello",
            "MII\n".repeat(1 << 16)
        );
        assert_eq!(quote(&block, 100), "\"[redacted] hello\"");
    }

    /// A secret that is cut where the taking ends is not mistaken for something else.
    #[test]
    fn no_secret_shows_at_the_border() {
        let secrets = [
            "AIzaSyA1234567890abcdefghijklmnopqrstuv",
            "https://u:AIzaSyA1234567890abcdefghijklmno@host/",
        ];
        for secret in secrets {
            for before in TAKEN - 200..TAKEN + 10 {
                for hidden in [
                    " ".repeat(before),
                    format!("PASSWORD='{}' ", "x".repeat(before - 12)),
                ] {
                    let text = format!(
                        "{hidden}{}{secret} {}",
                        "x ".repeat(30),
                        "and so on ".repeat(1000)
                    );
                    let quoted = quote(&text, 100);
                    assert!(
                        quoted.contains(REDACTED) && !quoted.contains("AIza"),
                        "{before}: {quoted}"
                    );
                }
            }
        }
    }
}
