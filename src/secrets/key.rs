//! Keys that are known by how they look: those of the services, web tokens, and what is too random for a word.
//!
//! A beginning alone is no key (`the AKIA prefix`): enough has to follow it of what such keys consist of. Where a word may
//! begin is decided by `beginning`; keys of several lines are for `block`.

use super::Secret;
use super::text::{
    Alphabet, NEAR, after, is_alphanumeric, is_capital, is_dotted, is_encoded, is_word, near, run_end,
    run_end_before_dots,
};

/// What keys consist of after their beginning, how much of it there is at least, and the beginnings.
pub const KEYS: &[(Alphabet, usize, &[&str])] = &[
    (is_word, 6, &["sk-ant-"]),
    (is_word, 8, &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-", "xapp-"]),
    (is_capital, 16, &["AKIA", "ASIA"]),
    (is_dotted, 16, &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "ya29.", "hvs.", "hvb.", "dp.st.", "dp.pt.", "1//0"]),
    (is_dotted, 16, &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glagent-"]),
    (is_word, 16, &["github_pat_", "dckr_pat_", "pypi-AgE", "ATATT3", "sntrys_", "sntryu_", "glsa_", "tskey-"]),
    (is_encoded, 8, &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxp-", "xoxr-", "xoxs-"]),
    (is_word, 30, &["AIza"]),
    (is_dotted, 20, &["SG."]),
    (is_alphanumeric, 10, &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_", "sb_secret_"]),
    (is_alphanumeric, 20, &["npm_", "hf_", "dop_v1_", "doo_v1_", "dor_v1_", "gsk_", "sbp_", "r8_", "rubygems_"]),
    (is_alphanumeric, 20, &["shpat_", "shpca_", "shppa_", "shpss_", "lin_api_", "xai-", "ntn_", "secret_"]),
    (is_word, 20, &["nvapi-", "pplx-", "tvly-", "figd_", "sq0atp-", "sq0csp-", "PMAK-", "NRAK-", "AGE-SECRET-KEY-1"]),
];

/// A beginning that says too little by itself, as in `sk-estimator-link`.
pub const SHORT: &str = "sk-";

/// `{"` in Base64.
pub const WEB_TOKEN: &str = "eyJ";

/// A key with one of the beginnings in these rows of [`KEYS`], a bit each.
pub fn listed(text: &[u8], at: usize, rows: u32) -> Option<Secret> {
    let mut candidates = KEYS.iter().enumerate().filter(|(row, _)| rows & 1 << row != 0);
    candidates.find_map(|(_, (alphabet, least, beginnings))| {
        let body = beginnings.iter().find_map(|beginning| after(text, at, beginning))?;
        let end = run_end_before_dots(text, body, *alphabet);
        (end >= body + least).then_some(at..end)
    })
}

/// `sk-…`, if what follows is no word.
pub fn short(text: &[u8], at: usize) -> Option<Secret> {
    let body = after(text, at, SHORT)?;
    is_random(near(text, body, is_word)).then(|| at..run_end(text, body, is_word))
}

/// How long the header of a web token may be.
const HEADER: usize = 1024;

/// A JSON web token: `eyJ….….…`.
pub fn web_token(text: &[u8], at: usize) -> Option<Secret> {
    // No header is longer, and looking on from every `eyJ` in a long run would take for ever.
    let near = &text[..text.len().min(at + HEADER)];
    let header = run_end(near, after(near, at, WEB_TOKEN)?, is_word);
    if header - at < 10 || text.get(header) != Some(&b'.') {
        return None;
    }
    let payload = run_end(text, header + 1, is_word);
    (payload - header > 6).then(|| at..run_end_before_dots(text, payload, is_dotted))
}

/// Whether this may be a key rather than a word: letters with digits in them, or no end of letters.
pub fn is_random(text: &[u8]) -> bool {
    text[..text.len().min(NEAR)].split(|byte| !is_alphanumeric(*byte)).any(|run| {
        let has_digit = run.iter().any(u8::is_ascii_digit);
        let has_letter = run.iter().any(u8::is_ascii_alphabetic);
        run.len() >= 6 && has_digit && has_letter || run.len() >= 20
    })
}

#[cfg(test)]
mod tests {
    use super::KEYS;
    use crate::secrets::check::{KEY, assert_kept, assert_survives_cuts};
    use crate::secrets::{REDACTED, redact};

    const EXAMPLES: &[&str] = &[
        KEY,
        "sk-ant-api03-Ab1_cd-EFghIJklMNopQRstUVwx-yz0123456789AA",
        "sk-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV",
        "sk-proj-abc_DEF-123456ghijklmn",
        "sk-or-v1-0123456789abcdef0123456789abcdef",
        "sk-abc123",
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "gho_16C7e42F292c6912E7710c838347Ae178B4a",
        "ghu_16C7e42F292c6912E7710c838347Ae178B4a",
        "ghs_16C7e42F292c6912E7710c838347Ae178B4a",
        "ghr_16C7e42F292c6912E7710c838347Ae178B4a",
        "github_pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUVWXYZ",
        "glpat-abcdefghij0123456789",
        "xoxb-123456789012-1234567890123-abcdefABCDEF",
        "xoxp-123456789012-abcdefABCDEF",
        "xapp-1-A0123456789-1234567890123-abcdef",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "rk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
        "ya29.a0AfH6SMBx-abc_def.ghi012345",
        "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",
        "dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    ];

    #[test]
    fn a_key_goes_wherever_it_stands() {
        let places = [
            ("", ""),
            ("", " is mine"),
            ("use ", " now"),
            ("the key is ", "."),
            ("is it ", "?"),
            ("curl -H 'X-Thing: ", "' https://x"),
            ("K=", "; curl"),
            ("PASSWORD=", " ./run"),
            ("https://", "@host/x"),
            ("key%3D", "&x=1"),
            ("{\"a\": \"", "\"}"),
            ("{\\\"a\\\":\\\"", "\\\"}"),
            ("a\\n", "\\nb"),
            ("a\n", "\nb"),
            ("(", ")"),
            ("`", "`"),
            ("é", "é"),
            ("日本", "語"),
            ("👩‍👩‍👧", "👩‍👩‍👧"),
        ];
        for key in EXAMPLES {
            for (before, after) in places {
                assert_eq!(redact(&format!("{before}{key}{after}")), format!("{before}{REDACTED}{after}"));
            }
            assert_survives_cuts(key);
        }
    }

    #[test]
    fn every_beginning_is_known() {
        for (_, least, beginnings) in KEYS {
            for beginning in *beginnings {
                let key = format!("{beginning}{}", "A".repeat(*least));
                assert_eq!(redact(&format!("a {key} b")), format!("a {REDACTED} b"), "{key}");
            }
        }
    }

    #[test]
    fn a_beginning_alone_stays() {
        assert_kept(&[
            "sk- alone, sk-SK",
            "sk-estimator-doc-link sk-container-id-1 sk-toggleable__label-arrow",
            "npm_config_registry npm_package_version hf_hub_download",
            "the AKIA prefix and AIza keys, ghp_ tokens, eyJ… tokens, xoxb- ones",
        ]);
    }
}
