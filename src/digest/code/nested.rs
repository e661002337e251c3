//! Where the texts end that stand within a shell line: here-documents and substitutions.
//!
//! Both may hold anything, brackets and quotation marks that do not match among it. What is not closed ends with the
//! text, and every place that is told is where a character begins.

/// The mark that ends a here-document, from what follows `<<`, and how much of that names it.
pub fn here_mark(text: &str) -> Option<(&str, usize)> {
    let bare = text.trim_start_matches(['-', '~']).trim_start_matches(' ').trim_start_matches(['\'', '"', '\\']);
    let end = bare.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(bare.len());
    let closing = usize::from(bare[end..].starts_with(['\'', '"']));
    (end > 0).then(|| (&bare[..end], text.len() - bare.len() + end + closing))
}

/// Where a here-document ends, its mark included; at the end of the text if it has none.
pub fn document_end(text: &str, from: usize, mark: &str) -> usize {
    let mut at = from;
    while at < text.len() {
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length);
        if text[at..end].trim() == mark {
            return end;
        }
        at = end + 1;
    }
    text.len()
}

/// Where the `)` ends that closes a substitution whose text begins at a place.
pub fn substitution_end(text: &str, from: usize) -> usize {
    // The marks that are open within each other.
    let mut open = vec![b'('];
    let mut document: Option<&str> = None;
    let bytes = text.as_bytes();
    let mut at = from;
    // Only ASCII is looked at, so that all steps lead to where a character begins or are made over whole ones.
    while at < bytes.len() {
        let quoted = open.last() == Some(&b'"');
        match bytes[at] {
            b'\\' => at += text[at + 1..].chars().next().map_or(0, char::len_utf8),
            b'\'' if !quoted => {
                at = memchr::memchr(b'\'', &bytes[at + 1..]).map_or(bytes.len() - 1, |length| at + 1 + length)
            }
            b'"' if quoted => {
                open.pop();
            }
            b'"' => open.push(b'"'),
            b'(' if !quoted || bytes[at - 1] == b'$' => open.push(b'('),
            b')' if !quoted => {
                open.pop();
                if open.is_empty() {
                    return at + 1;
                }
            }
            b'<' if !quoted && text[at..].starts_with("<<") && !text[at..].starts_with("<<<") => {
                if let Some((mark, length)) = here_mark(&text[at + 2..]) {
                    document = Some(mark);
                    at += 1 + length;
                }
            }
            b'\n' => {
                if let Some(mark) = document.take() {
                    at = document_end(text, at + 1, mark).saturating_sub(1).max(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}
