//! JSON values from their bytes: strings, numbers, truth. Lossy where the bytes are wrong, never an error.

use std::borrow::Cow;

use super::scan;

/// A raw JSON value, as a walker captured it. A string may lack its end, if it was too long to be kept whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(pub &'a [u8]);

impl<'a> Raw<'a> {
    /// The bytes between the quotes, if this is a string.
    pub fn inside(self) -> Option<&'a [u8]> {
        let rest = self.0.strip_prefix(b"\"")?;
        Some(rest.strip_suffix(b"\"").unwrap_or(rest))
    }

    /// The text of a string; broken UTF-8, lone surrogates and unknown escapes become U+FFFD.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let inside = self.inside()?;
        if scan::is_plain(inside) {
            // SAFETY: it is ASCII.
            return Some(Cow::Borrowed(unsafe {
                std::str::from_utf8_unchecked(inside)
            }));
        }
        Some(if inside.contains(&b'\\') {
            Cow::Owned(unescape(inside))
        } else {
            lossy(inside)
        })
    }

    /// A string that says just that.
    #[inline]
    pub fn is_text(self, text: &str) -> bool {
        let length = self.0.len();
        if length == text.len() + 2 {
            return self.0[1..=text.len()] == *text.as_bytes() && self.0[0] == b'"';
        }
        // Written with escapes, it is at most six times as long.
        length > text.len() + 2
            && length <= 6 * text.len() + 2
            && self.0.contains(&b'\\')
            && self.text().as_deref() == Some(text)
    }

    /// A string, or a scalar as it is written.
    pub(crate) fn scalar(self) -> Option<Cow<'a, str>> {
        match self.0.first()? {
            b'"' => self.text(),
            b'{' | b'[' => None,
            _ => Some(lossy(self.0)),
        }
    }

    /// False, null and nothing are not.
    pub fn is_there(self) -> bool {
        !matches!(self.0, b"null" | b"false" | b"")
    }

    /// A number, also one that was written as a string.
    pub fn number(self) -> Option<f64> {
        let digits = self.inside().unwrap_or(self.0);
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    pub fn count(self) -> Option<u64> {
        let digit = |sum: u64, byte: &u8| {
            byte.is_ascii_digit()
                .then(|| sum * 10 + u64::from(byte - b'0'))
        };
        if self.0.len() < 19
            && let Some(count) = self.0.iter().try_fold(0, digit)
        {
            return Some(count);
        }
        self.number()
            .filter(|number| *number >= 0.0)
            .map(|number| number as u64)
    }
}

/// As the standard library does it, but at full speed where nothing is wrong.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// In code there is an escape on every line, so the bytes between two of them are copied in chunks and cut off.
fn unescape(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len() + scan::CHUNK);
    let mut rest = bytes;
    while let Some(chunk) = rest.first_chunk() {
        out.extend_from_slice(chunk);
        let backslashes = scan::bits(chunk, b'\\');
        let plain = if backslashes == 0 {
            scan::CHUNK
        } else {
            backslashes.trailing_zeros() as usize
        };
        out.truncate(out.len() - scan::CHUNK + plain);
        rest = &rest[plain..];
        if backslashes != 0 {
            rest = &rest[escape(&mut out, rest)..];
        }
    }
    while let Some(&byte) = rest.first() {
        let used = if byte == b'\\' {
            escape(&mut out, rest)
        } else {
            0
        };
        out.extend((used == 0).then_some(byte));
        rest = &rest[used.max(1)..];
    }
    // An escape stands for whole characters, so what is wrong between two of them stays between them.
    String::from_utf8(out)
        .unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned())
}

/// Adds what an escape stands for; returns the bytes used.
fn escape(out: &mut Vec<u8>, bytes: &[u8]) -> usize {
    out.push(match bytes.get(1) {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(byte @ (b'"' | b'\\' | b'/')) => *byte,
        Some(b'u') => return unicode(out, bytes),
        _ => {
            push(out, char::REPLACEMENT_CHARACTER);
            return bytes.len().min(2);
        }
    });
    2
}

fn push(out: &mut Vec<u8>, char: char) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

/// `\uXXXX`, or a pair of them; returns the bytes used.
fn unicode(out: &mut Vec<u8>, bytes: &[u8]) -> usize {
    let unit = |at: usize| -> Option<u32> {
        let hex = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        hex.iter().try_fold(0, |sum, &digit| {
            Some(sum * 16 + char::from(digit).to_digit(16)?)
        })
    };
    let Some(high) = unit(0) else {
        push(out, char::REPLACEMENT_CHARACTER);
        return 2;
    };
    if let (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) = (high, unit(6)) {
        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        push(
            out,
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
        );
        return 12;
    }
    push(
        out,
        char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER),
    );
    6
}

#[cfg(test)]
mod tests {
    use crate::boundary::substr;

    use super::*;

    #[test]
    fn agrees_with_serde_json() {
        for json in [
            r#""""#,
            r#""plain""#,
            r#""a\nb\t\"q\"\\\/\b\f\r""#,
            r#""\u00e9\ud83e\udd80 é🦀""#,
            r#""\u0000""#,
            r#""ends \\""#,
        ] {
            // Wherever in a chunk the escapes are.
            for before in 0..40 {
                let json = format!(
                    "\"{}{}é\"",
                    "x".repeat(before),
                    substr(json, 1..json.len() - 1)
                );
                let expected: String = serde_json::from_str(&json).unwrap();
                assert_eq!(Raw(json.as_bytes()).text().unwrap(), expected, "{json}");
            }
        }
    }

    #[test]
    fn broken_strings_become_replacement_characters() {
        let text = |json: &[u8]| Raw(json).text().unwrap().into_owned();
        assert_eq!(text(br#""cut \ud83d""#), "cut \u{fffd}");
        assert_eq!(text(br#""\udd80\ud83d\n""#), "\u{fffd}\u{fffd}\n");
        assert_eq!(text(b"\"a\xffb\""), "a\u{fffd}b");
        assert_eq!(text(br#""\u12"#), "\u{fffd}12");
        assert_eq!(text(br#""\x""#), "\u{fffd}");
        assert_eq!(text(b"\"\\"), "\u{fffd}");
    }

    #[test]
    fn every_prefix_of_a_string_decodes() {
        let json = br#""a\n\ud83e\udd80\"\\ z""#;
        for end in 1..=json.len() {
            Raw(&json[..end]).text().unwrap();
        }
    }
}
