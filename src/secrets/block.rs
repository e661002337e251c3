//! Private keys of several lines: from `-----BEGIN … PRIVATE KEY-----` to their end line.
//!
//! One that has no end line goes to the end of the text, for a text may be cut anywhere. Nothing in it is looked at, so it
//! may be escaped or all on one line. Certificates and public keys stay.

use memchr::memmem;

use super::Secret;
use super::text::{after, is_blank, is_capital, is_dash, near, run_end};

/// The block that begins with this dash, the first of its row.
pub fn private_key(text: &[u8], at: usize) -> Option<Secret> {
    if at > 0 && text[at - 1] == b'-' {
        return None;
    }
    let label = run_end(text, run_end(text, at, is_dash), is_blank);
    let body = after_label(text, label, "BEGIN ")?;
    let end = memmem::find_iter(&text[body..], "END ").find_map(|end| after_label(text, body + end, "END "));
    Some(at..end.unwrap_or(text.len()))
}

/// Over `BEGIN … PRIVATE KEY-----`.
fn after_label(text: &[u8], at: usize, word: &str) -> Option<usize> {
    let start = after(text, at, word)?;
    let label = near(text, start, |byte| is_capital(byte) || byte == b' ');
    let end = start + label.len();
    let over = run_end(text, end, is_dash);
    (memmem::find(label, b"PRIVATE KEY").is_some() && over - end >= 2).then_some(over)
}

/// Where a value ends that seemed to end earlier, because of a block in it.
pub fn end_of_block_in(text: &[u8], value: &Secret) -> Option<usize> {
    let at = memmem::find(&text[value.clone()], b"-----BEGIN")?;
    private_key(text, value.start + at).map(|block| block.end)
}

#[cfg(test)]
mod tests {
    use crate::secrets::check::{assert_hidden, assert_kept};

    #[test]
    fn a_private_key_goes_whole() {
        assert_hidden(&[
            "⟦-----BEGIN RSA PRIVATE KEY----- MIIEpAIBAAKCAQEA abc== -----END RSA PRIVATE KEY-----⟧ after",
            "⟦-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----⟧\nafter",
            "⟦-----BEGIN PGP PRIVATE KEY BLOCK-----\nMIIE\n-----END PGP PRIVATE KEY BLOCK-----⟧\nafter",
            "⟦-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXk\\n",
            "private_key: \"⟦-----BEGIN PRIVATE KEY-----\\nMII\\n-----END PRIVATE KEY-----\\n⟧\", x",
            "private_key: ⟦-----BEGIN PRIVATE KEY----- MII abc -----END PRIVATE KEY-----⟧ rest",
            "KEY_SECRET=\"⟦-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----⟧\"",
        ]);
    }

    #[test]
    fn what_anyone_may_know_stays() {
        assert_kept(&["-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----"]);
    }
}
