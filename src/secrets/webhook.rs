//! Addresses that are as good as a password: whoever knows one may write there.
//!
//! What they begin with stays, for it tells a reader what was there; the rest goes. Addresses with a user or a password in
//! them are for `login`.

use super::Secret;
use super::text::{after, is_word, run_end};

/// Addresses that are secret from there on.
pub const WEBHOOKS: &[&str] = &[
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "api.telegram.org/bot",
];

/// `https://hooks.slack.com/services/…`
pub fn webhook(text: &[u8], at: usize) -> Option<Secret> {
    let start = WEBHOOKS.iter().find_map(|webhook| after(text, at, webhook))?;
    let end = run_end(text, start, |byte| is_word(byte) || matches!(byte, b'/' | b':'));
    (end - start >= 8).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::WEBHOOKS;
    use crate::secrets::check::assert_hidden;

    #[test]
    fn an_address_that_is_a_password_goes() {
        for webhook in WEBHOOKS {
            assert_hidden(&[&format!("https://{webhook}⟦1234:abcd/efgh⟧")]);
        }
        assert_hidden(&["https://hooks.slack.com/services/⟦T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX⟧"]);
    }
}
