//! Keys that are known by their looks: one table, and a new kind is a line in it.
//!
//! A prefix alone is no key (`the AKIA prefix`): enough has to follow it, of the right characters, and it has to look
//! random. Keys that are known only by the words around them are for `announced`.

use super::Secret;
use super::text::{
    Alphabet, after, is_alphanumeric, is_capital, is_digit, is_dotted, is_encoded, is_escaped, is_hex, is_listed,
    is_path, is_word, looked, near, run, run_end_before_dots,
};
use super::words::{TECHNICAL, UNITS};

/// An alphabet, and the least and most characters of it.
type Stretch = (Alphabet, usize, usize);

/// How such keys are written.
pub struct KeyKind {
    pub prefixes: &'static [&'static str],
    /// What stands before the prefix and belongs to the key.
    before: Stretch,
    /// What follows the prefix, with dots between the runs.
    body: &'static [Stretch],
    /// The prefix stays: it tells a reader what was there.
    shows_prefix: bool,
}

const ANY: usize = usize::MAX;
const NOTHING: Stretch = (is_word, 0, 0);

/// A key that begins with its prefix.
const fn key(_maker: &str, prefixes: &'static [&'static str], body: &'static [Stretch]) -> KeyKind {
    KeyKind { prefixes, before: NOTHING, body, shows_prefix: false }
}

/// A key that has its mark in the middle.
const fn marked(_maker: &str, before: Stretch, prefixes: &'static [&'static str], body: &'static [Stretch]) -> KeyKind {
    KeyKind { prefixes, before, body, shows_prefix: false }
}

/// A secret after something that is none.
const fn secret_after(_where: &str, prefixes: &'static [&'static str], body: &'static [Stretch]) -> KeyKind {
    KeyKind { prefixes, before: NOTHING, body, shows_prefix: true }
}

#[rustfmt::skip] // A kind is a line.
pub const KINDS: &[KeyKind] = &[
    key("1Password", &["ops_eyJ"], &[(is_word, 40, ANY)]),
    key("age", &["AGE-SECRET-KEY-1"], &[(is_capital, 20, ANY)]),
    key("Airtable", &["pat"], &[(is_alphanumeric, 14, 14), (is_hex, 64, 64)]),
    key("Alibaba Cloud", &["LTAI"], &[(is_alphanumeric, 16, 24)]),
    key("Amazon Web Services", &["AKIA", "ASIA"], &[(is_capital, 16, ANY)]),
    key("Artifactory", &["AKCp", "cmVmdGtu"], &[(is_alphanumeric, 40, ANY)]),
    key("Atlassian", &["ATATT3", "ATCTT3", "ATBB"], &[(is_escaped, 16, ANY)]),
    marked("Azure", (is_dotted, 3, 3), &["6Q~", "7Q~", "8Q~", "9Q~"], &[(is_word, 8, 40)]),
    key("Brevo", &["xkeysib-", "xsmtpsib-"], &[(is_word, 20, ANY)]),
    key("Buildkite", &["bkua_", "bkaj_"], &[(is_hex, 40, 40)]),
    key("CircleCI", &["CCIPAT_", "CCIPRJ_"], &[(is_word, 20, ANY)]),
    key("Databricks", &["dapi"], &[(is_hex, 32, 32)]),
    key("DigitalOcean", &["dop_v1_", "doo_v1_", "dor_v1_"], &[(is_alphanumeric, 20, ANY)]),
    key("Discord", &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT", "Oj", "Oz"],
        &[(is_word, 18, 28), (is_word, 5, 7), (is_word, 25, 50)]),
    key("Docker", &["dckr_pat_", "dckr_oat_"], &[(is_word, 16, ANY)]),
    key("Doppler", &["dp.st.", "dp.pt.", "dp.ct."], &[(is_dotted, 16, ANY)]),
    key("Dynatrace", &["dt0c01.", "dt0s01."], &[(is_dotted, 40, ANY)]),
    key("Figma", &["figd_"], &[(is_word, 20, ANY)]),
    key("GitHub", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], &[(is_dotted, 16, ANY)]),
    key("GitHub", &["github_pat_"], &[(is_word, 16, ANY)]),
    key("GitLab", &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glagent-"], &[(is_dotted, 16, ANY)]),
    key("Google", &["AIza"], &[(is_word, 30, ANY)]),
    key("Google", &["GOCSPX-"], &[(is_word, 20, ANY)]),
    key("Google", &["ya29.", "1//0"], &[(is_dotted, 16, ANY)]),
    key("Grafana", &["glsa_", "glc_"], &[(is_escaped, 16, ANY)]),
    key("Groq, Supabase, RubyGems", &["gsk_", "sbp_", "rubygems_"], &[(is_alphanumeric, 20, ANY)]),
    key("HashiCorp", &["hvs.", "hvb.", "hvr."], &[(is_dotted, 16, ANY)]),
    marked("HashiCorp Terraform", (is_dotted, 15, 15), &["atlasv1."], &[(is_word, 60, ANY)]),
    key("Heroku", &["HRKU-"], &[(is_word, 30, ANY)]),
    key("HubSpot", &["pat-na1-", "pat-eu1-"], &[(is_word, 30, ANY)]),
    key("Hugging Face, Replicate", &["hf_", "r8_"], &[(is_alphanumeric, 20, ANY)]),
    key("JSON web token", &["eyJ"], &[(is_word, 7, 512), (is_word, 6, ANY)]),
    key("LangSmith", &["lsv2_"], &[(is_word, 32, ANY)]),
    key("Linear", &["lin_api_"], &[(is_alphanumeric, 20, ANY)]),
    marked("Mailchimp", (is_hex, 32, 32), &["-us"], &[(is_digit, 1, 2)]),
    key("Mailgun", &["key-"], &[(is_hex, 32, 32)]),
    marked("Mailgun", (is_hex, 32, 32), &["-"], &[(is_word, 17, 17)]),
    key("New Relic, Postman", &["NRAK-", "PMAK-"], &[(is_word, 20, ANY)]),
    key("Notion", &["ntn_", "secret_"], &[(is_alphanumeric, 20, ANY)]),
    key("npm", &["npm_"], &[(is_alphanumeric, 20, ANY)]),
    key("NVIDIA, Perplexity, Tavily", &["nvapi-", "pplx-", "tvly-"], &[(is_word, 20, ANY)]),
    key("OpenAI, Anthropic", &["sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-"], &[(is_word, 6, ANY)]),
    key("OpenAI and many more", &["sk-"], &[(is_word, 6, ANY)]),
    key("Pinecone, Resend", &["pcsk_", "re_"], &[(is_word, 24, ANY)]),
    key("PlanetScale", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], &[(is_dotted, 20, ANY)]),
    key("Pulumi", &["pul-"], &[(is_hex, 40, 40)]),
    key("PyPI", &["pypi-AgE"], &[(is_word, 16, ANY)]),
    key("SendGrid", &["SG."], &[(is_dotted, 20, ANY)]),
    key("Sentry", &["sntrys_", "sntryu_"], &[(is_escaped, 16, ANY)]),
    key("Shopify", &["shpat_", "shpca_", "shppa_", "shpss_"], &[(is_alphanumeric, 20, ANY)]),
    key("Slack", &["xapp-", "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxp-", "xoxr-", "xoxs-"], &[(is_escaped, 8, ANY)]),
    key("Square", &["sq0atp-", "sq0csp-"], &[(is_word, 20, ANY)]),
    key("Stripe", &["sk_live_", "rk_live_", "sk_test_", "rk_test_"], &[(is_alphanumeric, 10, ANY)]),
    key("Stripe, Svix", &["whsec_"], &[(is_encoded, 10, ANY)]),
    key("Supabase", &["sb_secret_"], &[(is_word, 10, ANY)]),
    key("Tailscale", &["tskey-"], &[(is_word, 16, ANY)]),
    marked("Telegram", (is_digit, 8, 10), &[":AA"], &[(is_word, 30, 36)]),
    key("Twilio", &["AC", "SK"], &[(is_hex, 32, 32)]),
    key("xAI", &["xai-"], &[(is_alphanumeric, 20, ANY)]),
    secret_after("Azure, in an address", &["sig=", "sig%3D", "sig%3d"], &[(is_encoded, 30, ANY)]),
    secret_after("signed addresses", &["X-Amz-Signature=", "X-Goog-Signature=", "&Signature="], &[(is_encoded, 20, ANY)]),
    secret_after("a scheme in a header", &["Bearer ", "bearer ", "BEARER "], &[(is_encoded, 6, ANY)]),
    secret_after("webhooks", &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"], &[(is_path, 8, ANY)]),
    secret_after("webhooks", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "api.telegram.org/bot"], &[(is_path, 8, ANY)]),
];

impl KeyKind {
    /// The key whose prefix is here.
    pub fn find(&self, text: &[u8], at: usize) -> Option<Secret> {
        let body = self.prefixes.iter().find_map(|prefix| after(text, at, prefix))?;
        let start = self.start(text, at)?;
        let (last, parts) = self.body.split_last()?;
        let from = parts.iter().try_fold(body, |at, part| after(text, end_of(text, at, part)?, "."))?;
        // A long prefix, a mark in the middle and dots where they belong tell enough; `sk-` or `Bearer` do not.
        let near = near(text, from, last.0);
        let tells = start < at || from > body || body - at > 3 && !self.shows_prefix && !is_row(near);
        let is_known = tells || is_random(near, SHORTEST);
        let end = is_known.then(|| end_of(text, from, last))??;
        // There may be more parts than those that make it known.
        let end = if from > body && last.2 == ANY { run_end_before_dots(text, from, is_dotted) } else { end };
        Some(if self.shows_prefix { body } else { start }..end)
    }

    /// Where the key begins that has its prefix here. It begins a word.
    fn start(&self, text: &[u8], at: usize) -> Option<usize> {
        let (alphabet, least, most) = self.before;
        let before = looked(&text[at.saturating_sub(most)..at]);
        let length = before.iter().rev().take_while(|byte| alphabet(**byte)).count();
        (length >= least && is_word_start(text, at - length)).then_some(at - length)
    }
}

/// Where a run ends, if it is long enough and not too long. A long one without a limit is sure to be hidden.
fn end_of(text: &[u8], at: usize, (alphabet, least, most): &Stretch) -> Option<usize> {
    let limit = if *most == ANY { *least } else { most + 1 };
    let length = run(&text[..text.len().min(at + limit)], at, alphabet).len();
    match *most {
        _ if length < *least => None,
        ANY => Some(run_end_before_dots(text, at, *alphabet)),
        most => {
            (length <= most && !text.get(at + length).is_some_and(|next| is_alphanumeric(*next))).then_some(at + length)
        }
    }
}

/// Whether a word begins here, also after an escaped newline (`\n`), `%3D` or `\u003d`.
fn is_word_start(text: &[u8], at: usize) -> bool {
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match &text[..at] {
        [.., last] if !is_alphanumeric(*last) => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if is_hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] if is_hex(&[*a, *b, *c, *d]) => true,
        before => before.is_empty(),
    }
}

/// How short a run of letters and digits may be that looks random.
pub const SHORTEST: usize = 6;
/// From here on it looks random whatever it consists of.
const LONG: usize = 20;

/// Whether this looks like a key rather than like words: letters with digits among them, or no end of letters.
pub fn is_random(text: &[u8], shortest: usize) -> bool {
    looked(text).split(|byte| !is_alphanumeric(*byte)).any(|run| {
        let has_digit = run.iter().any(u8::is_ascii_digit);
        let has_letter = run.iter().any(u8::is_ascii_alphabetic);
        (run.len() >= shortest && has_digit && has_letter || run.len() >= LONG) && !is_row(run) && !is_technical(run)
    })
}

/// Whether somebody wrote `xxxx` for a key.
fn is_row(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.eq_ignore_ascii_case(&b'x'))
}

/// Whether this is a word of the trade that has digits in it: `sha256`, `32bytes`.
fn is_technical(word: &[u8]) -> bool {
    let unit = &word[word.iter().take_while(|byte| byte.is_ascii_digit()).count()..];
    is_listed(TECHNICAL, word) || unit.len() < word.len() && is_listed(UNITS, unit)
}
