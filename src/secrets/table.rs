//! What is known of secrets, as one table: keys by their looks, names in many languages, and the ways they are pasted.
//!
//! A new kind is a row here. Each row carries a text that must be hidden (between `⟦` and `⟧`) and a near miss that must
//! stay; a test walks all rows. `⟨hex 32⟩` stands for characters that the test makes up, so nothing here looks like a key
//! that somebody lost. A `~` in a row's texts stands for each of its names. The texts are left out of the programs.

use super::text::{
    Alphabet, Words, is_alphanumeric, is_capital, is_constant, is_digit, is_dotted, is_encoded, is_escaped, is_hex,
    is_login, is_path, is_uuid, is_word,
};

/// What a row hides, and what it leaves alone.
#[cfg(test)]
pub struct Proof {
    pub hides: &'static str,
    pub keeps: &'static str,
}

/// An alphabet, and the least and most characters of it.
pub type Stretch = (Alphabet, usize, usize);

/// How keys of one maker are written.
pub struct KeyKind {
    pub prefixes: &'static [&'static str],
    /// What stands before the prefix and belongs to the key.
    pub before: Stretch,
    /// What follows the prefix, with dots between the runs.
    pub body: &'static [Stretch],
    /// The prefix stays: it tells a reader what was there.
    pub shows_prefix: bool,
    /// It goes on over lines of Base64.
    pub is_block: bool,
    #[cfg(test)]
    pub proof: Proof,
}

pub const ANY: usize = usize::MAX;
const NOTHING: Stretch = (is_word, 0, 0);

/// A key that begins with its prefix. What it hides is given without the prefix: no file has both in one piece.
#[cfg_attr(not(test), expect(unused_variables, reason = "the texts are left out of the programs"))]
const fn key(
    _maker: &str,
    prefixes: &'static [&'static str],
    body: &'static [Stretch],
    hides: &'static str,
    keeps: &'static str,
) -> KeyKind {
    KeyKind {
        prefixes,
        before: NOTHING,
        body,
        shows_prefix: false,
        is_block: false,
        #[cfg(test)]
        proof: Proof { hides, keeps },
    }
}

/// A key of several lines.
const fn block(
    maker: &str,
    prefixes: &'static [&'static str],
    body: &'static [Stretch],
    hides: &'static str,
    keeps: &'static str,
) -> KeyKind {
    KeyKind { is_block: true, ..key(maker, prefixes, body, hides, keeps) }
}

/// A key that has its mark in the middle: what it hides is given without the mark, with a `~` where it stands.
const fn marked(
    maker: &str,
    before: Stretch,
    prefixes: &'static [&'static str],
    body: &'static [Stretch],
    hides: &'static str,
    keeps: &'static str,
) -> KeyKind {
    KeyKind { before, ..key(maker, prefixes, body, hides, keeps) }
}

/// A secret after something that is none.
const fn secret_after(
    place: &str,
    prefixes: &'static [&'static str],
    body: &'static [Stretch],
    hides: &'static str,
    keeps: &'static str,
) -> KeyKind {
    KeyKind { shows_prefix: true, ..key(place, prefixes, body, hides, keeps) }
}

// ------------------------------------------------------------------------------------------ keys, by their looks

#[rustfmt::skip] // A kind is a line.
pub const KINDS: &[KeyKind] = &[
    key("1Password service account", &["ops_eyJ"], &[(is_word, 40, ANY)],
        "⟨alnum 60⟩", "ops_eyJ is how they begin"),
    key("Adobe", &["p8e-"], &[(is_alphanumeric, 32, 32)],
        "⟨alnum 32⟩", "p8e-short"),
    key("Adyen", &["AQE"], &[(is_encoded, 60, 400)],
        "⟨alnum 80⟩", "AQEsomething"),
    key("age", &["AGE-SECRET-KEY-1"], &[(is_capital, 20, ANY)],
        "⟨caps 58⟩", "AGE-SECRET-KEY-1 is the prefix"),
    key("Airtable", &["pat"], &[(is_alphanumeric, 14, 14), (is_hex, 64, 64)],
        "⟨alnum 14⟩.⟨hex 64⟩", "patience.and.more"),
    key("Alibaba Cloud", &["LTAI"], &[(is_alphanumeric, 16, 24)],
        "⟨alnum 20⟩", "LTAI5"),
    key("Amazon Web Services", &["AKIA", "ASIA", "ABIA", "ACCA"], &[(is_capital, 16, ANY)],
        "⟨caps 16⟩", "ASIA and ACCAMANAGER"),
    key("Amazon Bedrock", &["ABSK"], &[(is_encoded, 60, ANY)],
        "⟨base64 128⟩", "ABSKIPPED"),
    key("Artifactory", &["AKCp", "cmVmdGtu"], &[(is_alphanumeric, 40, ANY)],
        "⟨alnum 69⟩", "AKCpath"),
    key("Atlassian", &["ATATT3", "ATCTT3", "ATBB", "ATOA", "ATSTT3"], &[(is_escaped, 16, ANY)],
        "⟨alnum 60⟩", "ATBBlock"),
    key("Authress", &["authress_", "scauth_"], &[(is_dotted, 40, ANY)],
        "⟨alnum 5⟩.⟨alnum 4⟩.acc_⟨alnum 20⟩.⟨alnum 40⟩", "authress_client"),
    key("Beamer", &["b_"], &[(is_alphanumeric, 44, 44)],
        "⟨alnum 44⟩", "b_side"),
    key("Brevo", &["xkeysib-", "xsmtpsib-"], &[(is_word, 20, ANY)],
        "⟨hex 64⟩-⟨alnum 16⟩", "xkeysib-key"),
    key("Buildkite", &["bkua_", "bkaj_", "bkct_", "bkpt_", "bkar_"], &[(is_hex, 40, 40)],
        "⟨hex 40⟩", "bkua_token"),
    key("ClickHouse Cloud", &["4b1d"], &[(is_alphanumeric, 38, 38)],
        "⟨alnum 38⟩", "4b1d is hex"),
    key("Cerebras", &["csk-"], &[(is_alphanumeric, 30, ANY)],
        "⟨alnum 48⟩", "csk-file"),
    key("CircleCI", &["CCIPAT_", "CCIPRJ_"], &[(is_word, 20, ANY)],
        "⟨alnum 22⟩_⟨hex 40⟩", "CCIPAT_TOKEN"),
    key("ClickUp", &["pk_"], &[(is_constant, 38, 46)],
        "⟨digits 8⟩_⟨caps 32⟩", "pk_1234_x"),
    key("Clojars", &["CLOJARS_"], &[(is_alphanumeric, 40, ANY)],
        "⟨hex 60⟩", "CLOJARS_USERNAME"),
    key("Cloudflare", &["cfut_", "cfat_", "cfk_", "cfoat_"], &[(is_word, 30, ANY)],
        "⟨alnum 40⟩", "cfut_name"),
    key("Cloudflare origin", &["v1.0-"], &[(is_word, 100, ANY)],
        "⟨hex 24⟩-⟨hex 146⟩", "v1.0-beta"),
    key("Cloudinary", &["cloudinary://"], &[(is_login, 20, ANY)],
        "⟨digits 15⟩:⟨alnum 27⟩@cloud", "cloudinary://cloud"),
    key("Windsurf", &["sk-ws-01-"], &[(is_word, 20, ANY)],
        "⟨alnum 60⟩", "sk-ws-01-"),
    key("Cohere", &["co_"], &[(is_alphanumeric, 38, ANY)],
        "⟨alnum 40⟩", "co_authored_by"),
    key("Contentful", &["CFPAT-"], &[(is_word, 30, ANY)],
        "⟨alnum 43⟩", "CFPAT-token"),
    key("crates.io", &["cio"], &[(is_alphanumeric, 32, 32)],
        "⟨alnum 32⟩", "ciocarlia"),
    key("Databricks", &["dapi", "dkea", "dose"], &[(is_hex, 32, 32)],
        "⟨hex 32⟩", "dapirouter"),
    key("Datadog app", &["ddapp_", "ddpat_"], &[(is_alphanumeric, 30, ANY)],
        "⟨alnum 34⟩", "ddapp_name"),
    key("Helicone", &["sk-helicone-", "pk-helicone-"], &[(is_word, 20, ANY)],
        "⟨alnum 30⟩", "sk-helicone-"),
    key("Defined Networking", &["dnkey-"], &[(is_word, 40, ANY)],
        "⟨alnum 26⟩-⟨alnum 52⟩", "dnkey-name"),
    key("DigitalOcean", &["dop_v1_", "doo_v1_", "dor_v1_"], &[(is_alphanumeric, 20, ANY)],
        "⟨hex 64⟩", "dop_v1_token"),
    key("Discord", &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT", "Oj", "Oz"], &[(is_word, 18, 28), (is_word, 5, 7), (is_word, 25, 50)],
        "k4NjIy⟨alnum 16⟩.⟨word 6⟩.⟨word 27⟩", "MTU.and.NTP"),
    key("Docker", &["dckr_pat_", "dckr_oat_"], &[(is_word, 16, ANY)],
        "⟨alnum 27⟩", "dckr_pat_name"),
    key("Docker Swarm", &["SWMTKN-1-", "SWMKEY-1-"], &[(is_word, 40, ANY)],
        "⟨alnum 50⟩-⟨alnum 25⟩", "SWMTKN-1-"),
    key("Doppler", &["dp.st.", "dp.pt.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], &[(is_dotted, 16, ANY)],
        "⟨alnum 43⟩", "dp.st.x"),
    key("Dropbox", &["sl."], &[(is_word, 60, ANY)],
        "⟨alnum 135⟩", "sl.example.com"),
    key("Duffel", &["duffel_test_", "duffel_live_"], &[(is_word, 30, ANY)],
        "⟨alnum 43⟩", "duffel_test_mode"),
    key("Dynatrace", &["dt0c01.", "dt0s01.", "dt0s16."], &[(is_dotted, 40, ANY)],
        "⟨caps 24⟩.⟨caps 64⟩", "dt0c01.token"),
    key("E2B", &["e2b_"], &[(is_hex, 40, 40)],
        "⟨hex 40⟩", "e2b_sandbox"),
    key("EasyPost", &["EZAK", "EZTK"], &[(is_alphanumeric, 50, ANY)],
        "⟨alnum 54⟩", "EZAKMI"),
    key("ElevenLabs and others", &["sk_"], &[(is_alphanumeric, 32, ANY)],
        "⟨hex 48⟩", "sk_buff_head"),
    key("Expo", &["expo_"], &[(is_word, 30, ANY)],
        "⟨alnum 40⟩", "expo_updates"),
    key("Figma", &["figd_", "figo_", "figoh_", "figu_"], &[(is_word, 20, ANY)],
        "⟨alnum 40⟩", "figd_token"),
    key("Firecrawl", &["fc-"], &[(is_hex, 32, 32)],
        "⟨hex 32⟩", "fc-match"),
    key("Fireworks", &["fw_"], &[(is_alphanumeric, 20, ANY)],
        "⟨alnum 24⟩", "fw_version_of_the_bootloader"),
    key("Flutterwave", &["FLWSECK-", "FLWSECK_TEST-"], &[(is_word, 12, ANY)],
        "⟨hex 32⟩-X", "FLWSECK-KEY"),
    key("Fly.io", &["fo1_"], &[(is_word, 40, ANY)],
        "⟨alnum 43⟩", "fo1_token"),
    key("Fly.io", &["fm1a_", "fm1r_", "fm2_"], &[(is_encoded, 60, ANY)],
        "⟨base64 120⟩", "fm2_macaroon"),
    key("Frame.io", &["fio-u-"], &[(is_word, 40, ANY)],
        "⟨alnum 64⟩", "fio-u-name"),
    key("GitHub", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], &[(is_dotted, 16, ANY)],
        "⟨alnum 36⟩", "ghp_token"),
    key("GitHub", &["github_pat_"], &[(is_word, 16, ANY)],
        "⟨alnum 22⟩_⟨alnum 59⟩", "github_pat_name"),
    key("GitLab", &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glagent-", "glimt-", "glffct-", "GR1348941"], &[(is_dotted, 16, ANY)],
        "⟨alnum 20⟩", "glpat-name"),
    key("Google", &["AIza"], &[(is_word, 30, ANY)],
        "⟨alnum 35⟩", "AIzaSy"),
    key("Google", &["GOCSPX-"], &[(is_word, 20, ANY)],
        "⟨alnum 28⟩", "GOCSPX-id"),
    key("Google", &["ya29.", "1//0"], &[(is_dotted, 16, ANY)],
        "⟨alnum 60⟩", "ya29.a0"),
    key("Grafana", &["glsa_", "glc_"], &[(is_escaped, 16, ANY)],
        "⟨alnum 32⟩_⟨hex 8⟩", "glsa_name"),
    key("Groq, Supabase, RubyGems", &["gsk_", "sbp_", "rubygems_"], &[(is_alphanumeric, 20, ANY)],
        "⟨hex 48⟩", "gsk_test"),
    key("Harness", &["pat.", "sat."], &[(is_word, 22, 22), (is_alphanumeric, 24, 24), (is_alphanumeric, 20, 20)],
        "⟨alnum 22⟩.⟨hex 24⟩.⟨alnum 20⟩", "pat.name.x.y"),
    key("HashiCorp Vault", &["hvs.", "hvb.", "hvr."], &[(is_dotted, 16, ANY)],
        "⟨alnum 24⟩", "hvs.token"),
    key("Heroku", &["HRKU-"], &[(is_word, 30, ANY)],
        "⟨hex 8⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 12⟩", "HRKU-key"),
    key("HubSpot", &["pat-na1-", "pat-na2-", "pat-eu1-"], &[(is_uuid, 36, 36)],
        "⟨hex 8⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 12⟩", "pat-na1-"),
    key("Hugging Face, Replicate", &["hf_", "r8_", "api_org_"], &[(is_alphanumeric, 20, ANY)],
        "⟨alnum 34⟩", "hf_hub_download"),
    key("Infracost", &["ico-"], &[(is_alphanumeric, 32, 32)],
        "⟨alnum 32⟩", "ico-file"),
    key("Intra42", &["s-s4t2ud-", "s-s4t2af-"], &[(is_hex, 40, ANY)],
        "⟨hex 64⟩", "s-s4t2ud-"),
    key("Jina", &["jina_"], &[(is_alphanumeric, 40, ANY)],
        "⟨alnum 60⟩", "jina_embeddings"),
    key("JSON web token", &["eyJ"], &[(is_word, 7, 512), (is_word, 6, ANY)],
        "⟨alnum 33⟩.eyJ⟨alnum 60⟩.⟨alnum 43⟩", "eyJ and more"),
    key("k3s, RKE2", &["K10"], &[(is_path, 60, ANY)],
        "⟨hex 64⟩::server:⟨hex 32⟩", "K1000"),
    key("LangSmith", &["lsv2_"], &[(is_word, 32, ANY)],
        "pt_⟨hex 32⟩_⟨hex 10⟩", "lsv2_pt"),
    key("Langfuse", &["sk-lf-", "pk-lf-"], &[(is_uuid, 36, 36)],
        "⟨hex 8⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 12⟩", "pk-lf-"),
    key("LaunchDarkly", &["sdk-", "mob-"], &[(is_uuid, 36, 36)],
        "⟨hex 8⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 12⟩", "agent-sdk-11111111-0000-4000-8000-00000000000a"),
    key("Linear", &["lin_api_", "lin_oauth_"], &[(is_alphanumeric, 20, ANY)],
        "⟨alnum 40⟩", "lin_api_key"),
    key("Lob", &["live_", "test_"], &[(is_hex, 35, 35)],
        "⟨hex 35⟩", "live_reload"),
    key("Mailgun", &["key-"], &[(is_hex, 32, 32)],
        "⟨hex 32⟩", "key-value"),
    key("Mapbox", &["sk.eyJ", "tk.eyJ"], &[(is_dotted, 40, ANY)],
        "⟨alnum 60⟩.⟨alnum 22⟩", "sk.eyJ"),
    key("Mercado Pago", &["APP_USR-"], &[(is_word, 40, ANY)],
        "⟨digits 16⟩-⟨digits 6⟩-⟨hex 32⟩-⟨digits 9⟩", "APP_USR-ID"),
    key("MongoDB Atlas", &["mdb_sa_sk_"], &[(is_word, 20, ANY)],
        "⟨alnum 40⟩", "mdb_sa_sk_"),
    key("Meta", &["EAA"], &[(is_alphanumeric, 80, ANY)],
        "⟨alnum 120⟩", "EAA is the European Economic Area"),
    key("Modal", &["ak-", "as-"], &[(is_alphanumeric, 22, 22)],
        "⟨alnum 22⟩", "as-is"),
    key("n8n", &["n8n_api_"], &[(is_alphanumeric, 30, ANY)],
        "⟨alnum 40⟩", "n8n_api_key"),
    key("Neon", &["napi_"], &[(is_alphanumeric, 30, ANY)],
        "⟨alnum 64⟩", "napi_create_function"),
    key("Netlify", &["nfp_", "nfc_", "nfo_", "nfu_"], &[(is_alphanumeric, 30, ANY)],
        "⟨alnum 36⟩", "nfp_token_name"),
    key("New Relic, Postman", &["NRAK-", "NRII-", "NRJS-", "PMAK-"], &[(is_word, 19, ANY)],
        "⟨hex 40⟩", "NRAK-key"),
    key("Notion", &["ntn_", "secret_"], &[(is_alphanumeric, 20, ANY)],
        "⟨alnum 46⟩", "secret_santa"),
    key("npm", &["npm_"], &[(is_alphanumeric, 20, ANY)],
        "⟨alnum 36⟩", "npm_config_registry"),
    key("NuGet", &["oy2"], &[(is_alphanumeric, 43, 43)],
        "⟨alnum 43⟩", "oy2k"),
    key("NVIDIA, Perplexity, Tavily", &["nvapi-", "pplx-", "tvly-"], &[(is_word, 20, ANY)],
        "⟨alnum 64⟩", "nvapi-key"),
    key("Octopus Deploy", &["API-"], &[(is_capital, 24, 30)],
        "⟨caps 26⟩", "API-FIRST"),
    key("OpenAI, Anthropic", &["sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-"], &[(is_word, 6, ANY)],
        "⟨alnum 48⟩", "sk-proj-"),
    key("OpenAI and many more", &["sk-"], &[(is_word, 6, ANY)],
        "⟨alnum 48⟩", "sk-estimator-doc-link"),
    key("OpenPipe", &["opk_"], &[(is_alphanumeric, 30, ANY)],
        "⟨hex 40⟩", "opk_name"),
    key("OpenShift", &["sha256~"], &[(is_word, 40, ANY)],
        "⟨alnum 43⟩", "sha256~x"),
    key("Pinecone, Resend", &["pcsk_", "re_"], &[(is_word, 24, ANY)],
        "⟨alnum 8⟩_⟨alnum 24⟩", "re_export_of_everything_else"),
    key("PlanetScale", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], &[(is_dotted, 20, ANY)],
        "⟨alnum 43⟩", "pscale_tkn_id"),
    key("Plaid", &["access-sandbox-", "access-development-", "access-production-"], &[(is_uuid, 36, 36)],
        "⟨hex 8⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 12⟩", "access-sandbox-"),
    key("PostHog", &["phx_", "phs_"], &[(is_alphanumeric, 30, ANY)],
        "⟨alnum 43⟩", "phx_name"),
    key("Prefect", &["pnu_", "pnb_"], &[(is_alphanumeric, 30, ANY)],
        "⟨alnum 36⟩", "pnu_key"),
    key("Paddle", &["pdl_live_apikey_", "pdl_sdbx_apikey_"], &[(is_word, 20, ANY)],
        "⟨alnum 26⟩_⟨alnum 22⟩_⟨alnum 3⟩", "pdl_live_apikey_"),
    key("Pulumi", &["pul-"], &[(is_hex, 40, 40)],
        "⟨hex 40⟩", "pul-stack"),
    key("PyPI", &["pypi-AgE"], &[(is_word, 16, ANY)],
        "⟨alnum 120⟩", "pypi-AgE"),
    key("Razorpay", &["rzp_live_", "rzp_test_"], &[(is_alphanumeric, 14, ANY)],
        "⟨alnum 14⟩", "rzp_test_id"),
    key("ReadMe", &["rdme_"], &[(is_alphanumeric, 40, ANY)],
        "⟨hex 70⟩", "rdme_docs"),
    key("Render", &["rnd_"], &[(is_alphanumeric, 24, ANY)],
        "⟨alnum 28⟩", "rnd_seed_for_the_generator"),
    key("Roboflow, RunPod", &["rf_", "rpa_"], &[(is_alphanumeric, 20, ANY)],
        "⟨caps 40⟩", "rpa_robot"),
    key("Scalingo", &["tk-us-"], &[(is_word, 40, ANY)],
        "⟨alnum 48⟩", "tk-us-east"),
    key("SendGrid", &["SG."], &[(is_dotted, 20, ANY)],
        "⟨alnum 22⟩.⟨alnum 43⟩", "SG.name"),
    key("Sentry", &["sntrys_", "sntryu_", "sntrya_", "sntryi_"], &[(is_escaped, 16, ANY)],
        "⟨alnum 60⟩", "sntrys_id"),
    key("SettleMint", &["sm_aat_", "sm_pat_", "sm_sat_"], &[(is_alphanumeric, 16, ANY)],
        "⟨alnum 16⟩", "sm_pat_name"),
    key("Shippo", &["shippo_live_", "shippo_test_"], &[(is_hex, 40, 40)],
        "⟨hex 40⟩", "shippo_test_key"),
    key("Shopify", &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"], &[(is_alphanumeric, 20, ANY)],
        "⟨hex 32⟩", "shpat_token"),
    key("Slack", &["xapp-", "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-"], &[(is_escaped, 8, ANY)],
        "⟨digits 12⟩-⟨digits 13⟩-⟨alnum 24⟩", "xoxb-"),
    key("Snyk", &["snyk_uat.", "snyk_sat."], &[(is_dotted, 20, ANY)],
        "⟨hex 8⟩.⟨alnum 40⟩", "snyk_uat.x"),
    key("SonarQube", &["squ_", "sqp_", "sqa_", "sqb_"], &[(is_hex, 40, 40)],
        "⟨hex 40⟩", "sqp_name"),
    key("Sourcegraph", &["sgp_", "slk_", "sgd_"], &[(is_word, 40, ANY)],
        "⟨hex 40⟩", "sgp_local"),
    key("Square", &["EAAA"], &[(is_word, 60, 60)],
        "⟨alnum 60⟩", "EAAAgain"),
    key("Square", &["sq0atp-", "sq0csp-", "sq0idp-"], &[(is_word, 20, ANY)],
        "⟨alnum 22⟩", "sq0atp-id"),
    key("Stripe", &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_"], &[(is_alphanumeric, 10, ANY)],
        "⟨alnum 24⟩", "sk_test_key"),
    key("Stripe, Svix", &["whsec_"], &[(is_encoded, 10, ANY)],
        "⟨alnum 32⟩", "whsec_id"),
    key("Supabase", &["sb_secret_"], &[(is_word, 10, ANY)],
        "⟨alnum 31⟩", "sb_secret_x"),
    key("Tailscale", &["tskey-"], &[(is_word, 16, ANY)],
        "auth-⟨alnum 12⟩-⟨alnum 32⟩", "tskey-auth"),
    key("Together", &["tgp_v1_"], &[(is_word, 30, ANY)],
        "⟨alnum 43⟩", "tgp_v1_key"),
    key("Typeform", &["tfp_"], &[(is_dotted, 40, ANY)],
        "⟨alnum 59⟩", "tfp_name"),
    key("Trigger.dev", &["tr_dev_", "tr_prod_", "tr_pat_"], &[(is_alphanumeric, 20, ANY)],
        "⟨alnum 24⟩", "tr_dev_mode"),
    key("Twilio", &["AC", "SK"], &[(is_hex, 32, 32)],
        "⟨hex 32⟩", "ACCOUNT and SKELETON"),
    key("Vercel", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], &[(is_alphanumeric, 24, ANY)],
        "⟨alnum 56⟩", "vcp_name"),
    key("Voyage", &["pa-"], &[(is_word, 43, 43)],
        "⟨alnum 43⟩", "pa-rameter"),
    key("Weights & Biases", &["wandb_v1_"], &[(is_word, 30, ANY)],
        "⟨alnum 70⟩", "wandb_v1_key"),
    key("xAI", &["xai-"], &[(is_alphanumeric, 20, ANY)],
        "⟨alnum 80⟩", "xai-grok"),
    key("Yandex", &["AQVN", "t1.9eu"], &[(is_dotted, 35, ANY)],
        "⟨alnum 38⟩", "AQVNext"),
    key("Zuplo", &["zpka_"], &[(is_word, 30, ANY)],
        "⟨alnum 40⟩", "zpka_x"),
    block("PuTTY", &["Private-Lines: "], &[(is_digit, 1, 2)],
        "1\n⟨base64 48⟩", "Private-Lines: many"),
    block("OpenSSH, without its first line", &["b3BlbnNzaC1rZXktdjE"], &[(is_encoded, 16, ANY)],
        "AAAAA⟨base64 60⟩", "b3BlbnNzaC1rZXktdjE"),
    block("PKCS keys, without their first line", &["MIIEvQIBADAN", "MIIEvgIBADAN", "MIIEvAIBADAN", "MIIEpAIBAAKC", "MIIEowIBAAKC", "MIIEpQIBAAKC", "MIIEogIBAAKC", "MIIJKQIBAAKC", "MIIJQgIBADAN", "MIICXAIBAAKB", "MIICXQIBAAKB", "MHcCAQEEI", "MIGHAgEAMBMG", "MC4CAQAwBQYDK2Vw"], &[(is_encoded, 30, ANY)],
        "⟨base64 64⟩", "MHcCAQEEI"),
    block("private keys, encoded once more", &["LS0tLS1CRUdJTiBSU0EgUFJJVkFURS", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS", "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg", "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS", "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURS", "LS0tLS1CRUdJTiBQR1AgUFJJVkFURS"], &[(is_encoded, 16, ANY)],
        "⟨base64 100⟩", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t⟨base64 60⟩"),
    marked("Asana", (is_path, 18, 36), &[":"], &[(is_hex, 32, 32)], "1/⟨digits 16⟩~⟨hex 32⟩", "src/main.rs:⟨hex 7⟩"),
    marked("Azure", (is_dotted, 3, 3), &["6Q~", "7Q~", "8Q~", "9Q~"], &[(is_word, 8, 40)], "⟨alnum 3⟩~⟨alnum 34⟩", "8Q~"),
    marked("Azure DevOps", (is_alphanumeric, 70, 80), &["AZDO"], &[(is_alphanumeric, 4, 4)], "⟨alnum 76⟩~⟨alnum 4⟩", "AZDO and ⟨alnum 10⟩AZDO1234"),
    marked("Azure Storage, Cosmos, Functions", (is_encoded, 40, 80), &["+ASt", "AzFu", "ACDb", "AzSe", "+AEh", "+ARm", "AIoT"], &[(is_encoded, 6, 12)], "⟨alnum 76⟩~⟨alnum 6⟩==", "x+AStar"),
    marked("HashiCorp Terraform", (is_dotted, 15, 15), &["atlasv1."], &[(is_word, 60, ANY)], "⟨alnum 14⟩.~⟨alnum 67⟩", "x.atlasv1.y"),
    marked("Mailchimp", (is_hex, 32, 32), &["-us"], &[(is_digit, 1, 2)], "⟨hex 32⟩~12", "eu-us12"),
    marked("Mailgun", (is_hex, 32, 32), &["-"], &[(is_word, 17, 17)], "⟨hex 32⟩~⟨hex 8⟩-⟨hex 8⟩", "⟨hex 8⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 4⟩-⟨hex 12⟩"),
    marked("MaxMind", (is_word, 36, 36), &["_mmk"], &[(is_word, 0, 0)], "⟨alnum 6⟩_⟨alnum 29⟩~", "the_mmk"),
    marked("New Relic license", (is_hex, 36, 36), &["NRAL"], &[(is_word, 0, 0)], "⟨hex 36⟩~", "the NRAL mark"),
    marked("Telegram", (is_digit, 8, 10), &[":AA"], &[(is_word, 30, 36)], "⟨digits 10⟩~⟨alnum 33⟩", "12345678:AAA"),
    secret_after("a JSON web key", &["\"d\":\"", "\"d\": \"", "\"k\":\"", "\"k\": \""], &[(is_word, 40, ANY)], "⟨word 80⟩", "\"d\": \"2024-01-01\""),
    secret_after("Azure, in an address", &["sig=", "sig%3D", "sig%3d"], &[(is_encoded, 30, ANY)], "⟨alnum 43⟩", "sig=abc"),
    secret_after("signed addresses", &["X-Amz-Signature=", "X-Goog-Signature=", "&Signature=", "X-Amz-Security-Token="], &[(is_encoded, 20, ANY)], "⟨hex 64⟩", "X-Amz-Signature=abc"),
    secret_after("a scheme in a header", &["Bearer ", "bearer ", "BEARER "], &[(is_encoded, 6, ANY)], "⟨alnum 32⟩", "Bearer authentication"),
    secret_after("a scheme in a header", &["FlyV1 "], &[(is_encoded, 20, ANY)], "⟨alnum 60⟩", "FlyV1 tokens"),
    secret_after("webhooks", &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/", "hooks.zapier.com/hooks/catch/"], &[(is_path, 8, ANY)], "T⟨caps 8⟩/B⟨caps 8⟩/⟨alnum 24⟩", "hooks.slack.com/services/x"),
    secret_after("webhooks", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "api.telegram.org/bot"], &[(is_path, 8, ANY)], "⟨digits 18⟩/⟨alnum 68⟩", "discord.com/api/webhooks/x"),
    secret_after("webhooks", &["office.com/webhook/", "office.com/webhookb2/", "logic.azure.com/workflows/"], &[(is_login, 30, ANY)], "⟨hex 8⟩-⟨hex 4⟩@⟨hex 32⟩/IncomingWebhook/⟨hex 32⟩", "office.com/webhook/x"),
];

// ------------------------------------------------------------------------------------------ names

/// How sure a name is.
#[derive(Clone, Copy, PartialEq)]
pub enum Sure {
    /// Its value is a secret, and what follows it without more ado may be one: `password hunter2`.
    Password,
    /// Its value is a secret, unless it is plainly a word of code: `token: Comma`.
    Secret,
    /// Its value is a secret if it looks random.
    Maybe,
    /// The same; and it may be a user and a password: `credentials: bob / X`.
    Login,
    /// A maker whose keys have no prefix: its value is a key if it is as long as one.
    Vendor,
}
use Sure::{Login, Maybe, Password, Secret, Vendor};

impl Sure {
    /// Whether a value must look random.
    pub fn is_doubtful(self) -> bool {
        matches!(self, Maybe | Login | Vendor)
    }
}

/// Names of one kind, the longer first.
pub struct NameKind {
    /// A blank stands for `_`, `-`, `.`, a blank, or nothing; anything may stand before a name: `DB_PASSWORD`,
    /// `Datenbankpasswort`. They are in small letters; ASCII is compared in whatever
    /// case, other letters as they are.
    pub names: &'static [&'static str],
    pub sure: Sure,
    #[cfg(test)]
    pub proof: Proof,
}

#[cfg_attr(not(test), expect(unused_variables, reason = "the texts are left out of the programs"))]
const fn names(
    _language: &str,
    sure: Sure,
    names: &'static [&'static str],
    hides: &'static str,
    keeps: &'static str,
) -> NameKind {
    NameKind {
        names,
        sure,
        #[cfg(test)]
        proof: Proof { hides, keeps },
    }
}

/// The name whose value is a list of pairs.
pub const COOKIE: &str = "cookie";
/// The name whose value begins with a scheme.
pub const AUTHORIZATION: &str = "authorization";
/// The name that is also said of other things.
pub const IDENTIFIED: &str = "identified by";
/// The name that is also a parser's word.
pub const TOKEN: &str = "token";
/// The name that needs a user before it if its value is a word.
pub const PASS: &str = "pass";

#[rustfmt::skip]
pub const NAMES: &[NameKind] = &[
    names("SQL", Password, &[IDENTIFIED, "password by"], "CREATE USER a ~ '⟦swordfish⟧'", "a row ~ its name"),
    names("English", Password, &["password", "passphrase", "passcode", "pass word"], "~: ⟦swordfish⟧", "the ~ field is empty"),
    names("English", Password, &["requirepass", "masterauth", "convertto securestring", "community string"], "~ \"⟦swordfish⟧\"", "~ is an option"),
    names("English", Password, &["pw"], "~: ⟦swordfish⟧", "~ is short for it"),
    names("German", Password, &["passwort", "kennwort", "paßwort"], "das ~ lautet ⟦Sommer2024⟧", "das ~ ist falsch"),
    names("French", Password, &["mot de passe", "mdp"], "~ : ⟦soleil⟧", "le ~ est vide"),
    names("Spanish", Password, &["contraseña", "contrasena"], "la ~ es ⟦Verano2024⟧", "la ~ es incorrecta"),
    names("Portuguese", Password, &["palavra passe", "senha"], "a ~ é ⟦Praia2024⟧", "a ~ está errada"),
    names("Italian", Password, &["parola d'ordine", "parola chiave"], "la ~ è ⟦Estate2024⟧", "la ~ è sbagliata"),
    names("Dutch", Password, &["wachtwoord"], "het ~ is ⟦Zomer2024⟧", "het ~ is verkeerd"),
    names("Polish", Password, &["hasło to", "hasło", "hasŁo", "haslo"], "~: ⟦kotek⟧", "~ jest złe"),
    names("Russian", Password, &["пароль", "Пароль", "ПАРОЛЬ", "пароля", "паролем"], "~: ⟦Leto2024⟧", "~ не подходит"),
    names("Japanese", Password, &["パスワード", "暗証番号", "パスフレーズ"], "~は ⟦Natsu2024⟧ です", "~が間違っています"),
    names("Chinese", Password, &["密码", "密碼", "口令"], "~是⟦Xia12345⟧", "~错误"),
    names("Korean", Password, &["비밀번호", "암호"], "~: ⟦Yeoreum24⟧", "~ 오류"),
    names("Turkish", Password, &["şifre", "Şifre", "parola"], "~: ⟦Yaz2024x⟧", "~ yanlış"),
    names("Scandinavian, Czech, Finnish, Hungarian", Password, &["lösenord", "adgangskode", "passord", "heslo", "salasana", "jelszó"], "~: ⟦Sommar24⟧", "~ on väärä"),

    names("English", Secret, &["passwd", "pwd"], "~: ⟦swordfish⟧", "~ is a command"),
    names("English", Secret, &[TOKEN, "secret"], "~: ⟦⟨alnum 20⟩⟧", "~: Comma"),
    names("English", Secret, &["bearer"], "~: ⟦⟨hex 20⟩⟧", "the ~ of news"),
    names("English", Secret, &[AUTHORIZATION], "~: ⟦⟨hex 20⟩⟧", "~: admins only"),
    names("English", Secret, &["recovery code", "backup code", "recovery phrase", "seed phrase", "mnemonic"], "~: \"⟦ab12c-de34f⟧\"", "the ~: see below"),
    names("English", Secret, &["access key", "secret key", "private key", "account key", "auth key", "signing key", "encryption key", "master key", "preshared key", "psk"], "~ = \"⟦⟨alnum 40⟩⟧\"", "~ rotation"),
    names("English", Secret, &["api key"], "~: ⟦⟨alnum 24⟩⟧", "~: process.env.X"),
    names("Java", Secret, &["storepass", "keypass"], "-~ ⟦changeit⟧", "the ~ option"),
    names("English", Secret, &["db pass", "user pass", "admin pass", "root pass", "smtp pass", "mail pass", "redis pass", "mysql pass", "ssh pass", "ftp pass", "become pass", "sudo pass"], "~=⟦swordfish⟧", "~ is unset"),
    names("English", Secret, &["sonar login"], "~=⟦⟨hex 40⟩⟧", "~ is old"),
    names("German", Secret, &["geheimnis", "api schlüssel", "zugangsschlüssel", "geheimschlüssel", "zugangscode"], "~: ⟦⟨hex 32⟩⟧", "~ fehlt"),
    names("French", Secret, &["clé api", "clé secrète", "clé d'api", "code secret"], "~ : ⟦⟨hex 32⟩⟧", "~ absente"),
    names("Spanish", Secret, &["clave api", "clave de api", "clave secreta", "secreto", "clave"], "~: ⟦⟨hex 32⟩⟧", "la ~ del éxito"),
    names("Portuguese", Secret, &["chave api", "chave de api", "chave secreta", "segredo"], "~: ⟦⟨hex 32⟩⟧", "~ do sucesso"),
    names("Italian", Secret, &["chiave api", "chiave segreta", "segreto"], "~: ⟦⟨hex 32⟩⟧", "~ del successo"),
    names("Dutch", Secret, &["api sleutel", "geheime sleutel"], "~: ⟦⟨hex 32⟩⟧", "~ van het huis"),
    names("Polish", Secret, &["klucz api", "sekret"], "~: ⟦⟨hex 32⟩⟧", "~ do sukcesu"),
    names("Russian", Secret, &["токен", "Токен", "секрет", "Секрет"], "~: ⟦⟨hex 32⟩⟧", "~ успеха"),
    names("Japanese", Secret, &["トークン", "シークレット", "秘密鍵", "apiキー"], "~は⟦⟨hex 32⟩⟧", "~の更新"),
    names("Chinese", Secret, &["密钥", "密鑰", "令牌", "私钥"], "~：⟦⟨alnum 30⟩⟧", "~已过期"),

    names("English", Maybe, &["key", PASS, "auth", "signature", "salt", "connection string", "private mac", "client key data"], "~ = ⟦⟨hex 32⟩⟧", "~: value"),
    names("English", Login, &["credentials", "credential", "creds", "logins", "login"], "~: bob / ⟦Winter2025⟧", "~: read from env"),
    names("English", Maybe, &["session id", "session", "sessid", "sid"], "~=⟦⟨hex 32⟩⟧", "~: resumed"),
    names("English", Maybe, &[COOKIE], "~: sid=⟦⟨alnum 32⟩⟧", "~: SameSite=Lax"),
    names("users", Login, &["administrator", "admin"], "~:⟦Ch4ngeMe!⟧ works", "~: everybody"),
    names("makers", Vendor, &["adafruit", "airtable", "alchemy", "algolia", "asana", "atlas", "bitbucket", "bittrex", "cloudflare", "codecov", "cohere", "coinbase", "confluent", "contentful", "datadog", "deepl", "digitalocean", "droneci", "dropbox", "etherscan", "etsy", "fastly"], "~ ⟦⟨hex 32⟩⟧", "~ ⟨hex 12⟩"),
    names("makers", Vendor, &["finnhub", "flickr", "freshbooks", "infura", "kraken", "kucoin", "launchdarkly", "linode", "mailgun", "mapbox", "mattermost", "meraki", "messagebird", "mistral", "mixpanel", "netlify", "new relic", "ngrok", "nytimes", "okta", "openweather", "plaid"], "~: ⟦⟨hex 32⟩⟧", "~: v2beta12"),
    names("makers", Vendor, &["pusher", "rapidapi", "sendbird", "shodan", "snyk", "squarespace", "sumologic", "together", "travis", "twilio", "twitch", "twitter", "vercel", "virustotal", "vultr", "yandex", "zendesk"], "~ key is ⟦⟨hex 32⟩⟧", "~ build7f3a2b"),
    names("addresses", Maybe, &["appid"], "?~=⟦⟨hex 32⟩⟧", "~=com.example.app"),
    names("German", Maybe, &["schlüssel"], "~: ⟦⟨hex 32⟩⟧", "~ fehlen"),
    names("German", Login, &["zugangsdaten", "anmeldedaten"], "~: bob / ⟦Winter2025⟧", "~ fehlen"),
    names("French", Maybe, &["clé", "jeton"], "~ : ⟦⟨hex 32⟩⟧", "~ du succès"),
    names("French", Login, &["identifiants"], "~ : bob / ⟦Winter2025⟧", "~ absents"),
    names("Spanish", Login, &["credenciales"], "~: bob / ⟦Winter2025⟧", "~ del éxito"),
    names("Portuguese", Maybe, &["chave"], "~: ⟦⟨hex 32⟩⟧", "~ do sucesso"),
    names("Portuguese", Login, &["credenciais"], "~: bob / ⟦Winter2025⟧", "~ do sucesso"),
    names("Italian", Maybe, &["chiave"], "~: ⟦⟨hex 32⟩⟧", "~ del successo"),
    names("Italian", Login, &["credenziali"], "~: bob / ⟦Winter2025⟧", "~ del successo"),
    names("Dutch", Maybe, &["sleutel"], "~: ⟦⟨hex 32⟩⟧", "~ van het huis"),
    names("Dutch", Login, &["inloggegevens"], "~: bob / ⟦Winter2025⟧", "~ van het huis"),
    names("Polish", Maybe, &["klucz"], "~: ⟦⟨hex 32⟩⟧", "~ do sukcesu"),
    names("Polish", Login, &["dane logowania"], "~: bob / ⟦Winter2025⟧", "~ do sukcesu"),
    names("Russian", Maybe, &["ключ", "Ключ"], "~: ⟦⟨hex 32⟩⟧", "~ к успеху"),
    names("Russian", Login, &["доступы", "Доступы", "логин", "Логин"], "~: bob / ⟦Winter2025⟧", "~ к успеху"),
    names("Japanese", Maybe, &["キー"], "~は⟦⟨hex 32⟩⟧", "~を押す"),
    names("Japanese", Login, &["認証情報", "ログイン情報"], "~: bob / ⟦Winter2025⟧", "~を押す"),
    names("Chinese", Login, &["凭据", "凭证", "账号"], "~：bob / ⟦Winter2025⟧", "~已过期"),
];

// ------------------------------------------------------------------------------------------ options of programs

/// How a program takes its password.
pub enum Form {
    /// `-pPASSWORD`, for `-p` alone asks.
    Attached,
    /// `-p PASSWORD`, and also attached.
    Argument,
    /// `-k PASSWORD`, never attached.
    Next,
    /// After this mark in the argument: `-U user%PASSWORD`.
    After(&'static str),
}
use Form::{After, Argument, Attached, Next};

/// Programs that take a password, their flags for it, and how.
pub struct ProgramKind {
    /// One of several words has all of them.
    pub programs: Words,
    /// Split at blanks.
    pub flags: &'static str,
    /// A bit for the first letter of each flag.
    pub letters: u128,
    pub form: Form,
    #[cfg(test)]
    pub proof: Proof,
}

#[cfg_attr(not(test), expect(unused_variables, reason = "the texts are left out of the programs"))]
const fn flag(
    programs: &'static str,
    flags: &'static str,
    form: Form,
    hides: &'static str,
    keeps: &'static str,
) -> ProgramKind {
    ProgramKind {
        programs: Words::new(programs),
        flags,
        letters: letters(flags),
        form,
        #[cfg(test)]
        proof: Proof { hides, keeps },
    }
}

const fn letters(flags: &str) -> u128 {
    let (mut letters, mut at, flags) = (0, 1, flags.as_bytes());
    while at < flags.len() {
        if matches!(flags[at - 1], b'-' | b'/') {
            letters |= 1 << flags[at];
        }
        at += 1;
    }
    letters
}

#[rustfmt::skip]
pub const PROGRAMS: &[ProgramKind] = &[
    flag("mysql;mysqldump;mysqladmin;mysqlimport;mysqlsh;mysqlcheck;mysqlslap;mariadb;mariadb-dump;mariadb-admin;mycli;7z;7za;7zz;rar;unrar", "-p", Attached, "~ -p⟦swordfish⟧ x", "~ -p3306"),
    flag("rar;unrar", "-hp", Attached, "~ a -hp⟦swordfish⟧ x", "~ a -hp"),
    flag("sshpass;mongo;mongosh;mongodump;mongorestore;mongoexport;mongoimport;mongostat;cqlsh;rdesktop;evil-winrm;twine;usermod;useradd;crackmapexec;netexec;smbmap;influx;arangosh;couchbase-cli;cbq;dsconf;odoo;impacket;vncviewer;sfdx;jfrog;jf;argocd;rabbitmqadmin;nxc", "-p", Argument, "~ -u me -p ⟦swordfish⟧ x", "~ -u me"),
    flag("docker login;podman login;helm login;skopeo login;buildah login;nerdctl login;oras login;crane login;regctl login;az login;oc login;cf login;ibmcloud login;bw login;faas-cli login;harbor login", "-p", Argument, "~ -u me -p ⟦swordfish⟧ x", "~ -p"),
    flag("security unlock-keychain;security create-keychain;security set-keychain-password;security import", "-p -P", Argument, "~ -p ⟦swordfish⟧ x", "~ -p"),
    flag("security add-generic-password;security add-internet-password", "-w", Argument, "~ -a me -w ⟦swordfish⟧", "~ -w"),
    flag("sqlcmd;bcp;zip;unzip;mosquitto_pub;mosquitto_sub;ipmitool;isql;tsql;osql;racadm;ncrack", "-P", Argument, "~ -P ⟦swordfish⟧ x", "~ -P"),
    flag("redis-cli;valkey-cli;keydb-cli;redis-benchmark", "-a --pass", Argument, "~ -a ⟦swordfish⟧ ping", "~ -p 6380 ping"),
    flag("ldapsearch;ldapadd;ldapmodify;ldapdelete;ldappasswd;ldapwhoami;ldapcompare", "-w", Argument, "~ -x -w ⟦swordfish⟧", "~ -x -W"),
    flag("kinit;net ads;adcli", "--password", Argument, "~ --password ⟦swordfish⟧", "~ --password"),
    flag("plink;pscp;psftp", "-pw", Argument, "~ -pw ⟦swordfish⟧ me@h", "~ -P 22 me@h"),
    flag("pdftotext;pdftoppm;pdfinfo;pdfimages", "-upw -opw", Argument, "~ -upw ⟦swordfish⟧ a.pdf", "~ -layout a.pdf"),
    flag("openssl", "-passin -passout -pass", After("pass:"), "~ rsa -passin pass:⟦swordfish⟧", "~ rsa -passin env:PASS"),
    flag("openssl enc;openssl aes-256-cbc", "-k -K", Next, "~ -d -in a -k ⟦swordfish⟧", "~ -d -in a -kfile b"),
    flag("apksigner", "--ks-pass --key-pass", After("pass:"), "~ sign --ks-pass pass:⟦swordfish⟧ a", "~ sign --ks-pass env:PASS a"),
    flag("snmpget;snmpwalk;snmpset;snmpbulkwalk;snmptrap", "-c -A -X", Argument, "~ -v2c -c ⟦swordfish⟧ h", "~ -v2c h"),
    flag("smbclient;rpcclient;smbget;net;winexe;wmic", "-U --user", After("%"), "~ -U me%⟦swordfish⟧", "~ -U me"),
    flag("lftp", "-u --user", After(","), "~ -u me,⟦swordfish⟧ h", "~ -u me h"),
    flag("http;https;xh;xhs;httpie;hey;wrk;ab;siege;grpcurl;newman;k6;artillery;vegeta;oha;bombardier", "-a --auth -A", After(":"), "~ -a bob:⟦swordfish⟧ x", "~ -a x"),
    flag("curl;wget", "-b --cookie", After("="), "~ -b 'sid=⟦⟨alnum 32⟩⟧' x", "~ -b jar.txt x"),
    flag("gh secret;gh variable", "--body -b", Argument, "~ set X --body ⟦swordfish⟧", "~ set X --env prod"),
    flag("secretsmanager;secretsmanager create-secret", "--secret-string", Argument, "aws ~ put --secret-string '⟦swordfish⟧'", "aws ~ list"),
    flag("ssm SecureString;keyvault secret;appconfig kv", "--value", Argument, "x ~ put --value ⟦swordfish⟧", "x ~ --name n"),
    flag("xfreerdp;xfreerdp3;wfreerdp;sdl-freerdp;cmdkey;mstsc;psexec;rdesktop;schtasks", "/p: /pass: /password: /gp: /rp", Argument, "~ /u:bob /p:⟦swordfish⟧ /v:h", "~ /u:bob /v:h"),
    flag("psexec;PsExec64;wmiexec", "-p", Argument, "~ -u bob -p ⟦swordfish⟧ cmd", "~ -u bob cmd"),
    flag("snowsql;bq;trino;presto;beeline", "-p", Argument, "~ -n me -p ⟦swordfish⟧", "~ -n me"),
    flag("create-secret;secret put;secrets put;parameter put;op item;bw create;chamber write", "--value --secret", Argument, "x ~ x --value ⟦swordfish⟧", "x ~ --name n"),
];

// ------------------------------------------------------------------------------------------ arguments without a flag

/// A program whose argument of this number is a password.
pub struct OperandKind {
    /// What the command begins with.
    pub start: &'static str,
    /// A letter that one of its flags must have.
    pub wants_flag: Option<u8>,
    /// Which argument, flags not counted, from one on; a flag with an `n` takes one away.
    pub number: usize,
    /// What stands before it in the argument, and what after.
    pub between: (&'static str, &'static str),
    /// It must look random, for the words may mean something else.
    pub is_doubtful: bool,
    #[cfg(test)]
    pub proof: Proof,
}

#[cfg_attr(not(test), expect(unused_variables, reason = "the texts are left out of the programs"))]
const fn operand(
    start: &'static str,
    wants_flag: Option<u8>,
    number: usize,
    between: (&'static str, &'static str),
    is_doubtful: bool,
    hides: &'static str,
    keeps: &'static str,
) -> OperandKind {
    OperandKind {
        start,
        wants_flag,
        number,
        between,
        is_doubtful,
        #[cfg(test)]
        proof: Proof { hides, keeps },
    }
}

#[rustfmt::skip]
pub const OPERANDS: &[OperandKind] = &[
    operand("htpasswd ", Some(b'b'), 3, ("", ""), false, "~-b .htpasswd bob ⟦swordfish⟧", "~-c .htpasswd bob"),
    operand("sqlplus ", None, 1, ("/", "@"), false, "~scott/⟦tiger⟧@orcl", "~/nolog"),
    operand("rman ", None, 2, ("/", "@"), false, "~target sys/⟦swordfish⟧@orcl", "~target /"),
    operand("expdp ", None, 1, ("/", "@"), false, "~system/⟦swordfish⟧ x", "~help=y"),
    operand("impdp ", None, 1, ("/", "@"), false, "~system/⟦swordfish⟧ x", "~help=y"),
    operand("sqlldr ", None, 1, ("/", "@"), false, "~scott/⟦tiger⟧@orcl", "~help=y"),
    operand("jdbc:oracle:thin:", None, 1, ("/", "@"), false, "~scott/⟦tiger⟧@//db:1521/orcl", "~@//db:1521/orcl"),
    operand("wpa_passphrase ", None, 2, ("", ""), false, "~Home ⟦swordfish⟧", "~Home"),
    operand("poetry config http-basic.", None, 3, ("", ""), false, "~corp bob ⟦swordfish⟧", "~corp bob"),
    operand("net user ", None, 2, ("", ""), true, "~bob ⟦Passw0rd!⟧ /add", "~experience survey"),
    operand("net use ", None, 3, ("", ""), true, "~Z: \\\\srv\\share ⟦Passw0rd!⟧ /user:bob", "~of the word"),
    operand("mosquitto_passwd ", Some(b'b'), 3, ("", ""), false, "~-b file bob ⟦swordfish⟧", "~-c file bob"),
    operand("rabbitmqctl add_user ", None, 2, ("", ""), false, "~bob ⟦swordfish⟧", "~bob"),
    operand("rabbitmqctl change_password ", None, 2, ("", ""), false, "~bob ⟦swordfish⟧", "~bob"),
    operand("etcdctl user add ", None, 1, (":", ""), false, "~bob:⟦swordfish⟧", "~bob"),
    operand("mc alias set ", None, 4, ("", ""), false, "~s3 https://h me ⟦swordfish⟧", "~s3 https://h"),
    operand("reset-admin-password ", None, 1, ("", ""), true, "grafana-cli admin ~⟦swordf1sh⟧", "~and log in"),
    operand("bw unlock ", None, 1, ("", ""), true, "~⟦swordf1sh⟧", "~first"),
    operand("rclone obscure ", None, 1, ("", ""), true, "~⟦swordf1sh⟧", "~first"),
    operand("mysqli(", None, 3, ("", ""), true, "new ~\"h\", \"root\", \"⟦swordf1sh⟧\", \"shop\")", "new ~$host, $user, $pass, $db)"),
    operand("mysqli_connect(", None, 3, ("", ""), true, "~\"h\", \"root\", \"⟦swordf1sh⟧\")", "~$host, $user, $pass)"),
    operand("PDO(", None, 3, ("", ""), true, "new ~'mysql:host=h', 'root', '⟦swordf1sh⟧')", "new ~$dsn, $user, $pass)"),
    operand("getConnection(", None, 3, ("", ""), true, "~\"jdbc:x\", \"root\", \"⟦swordf1sh⟧\")", "~url, user, pass)"),
    operand("AUTH ", None, 1, ("", ""), true, "~⟦swordfish1⟧", "~required"),
    operand("cargo login ", None, 1, ("", ""), true, "~⟦⟨alnum 36⟩⟧", "~and publish"),
    operand("vault login ", None, 1, ("", ""), true, "~⟦⟨alnum 26⟩⟧", "~first"),
    operand("vncpasswd ", None, 1, ("", ""), true, "~⟦s3cretpw⟧", "~first"),
];

// ------------------------------------------------------------------------------------------ input of programs

/// Programs that read a password from their input.
pub struct ReaderKind {
    pub programs: Words,
    /// What stands before it there.
    pub mark: &'static str,
    #[cfg(test)]
    pub proof: Proof,
}

#[cfg_attr(not(test), expect(unused_variables, reason = "the texts are left out of the programs"))]
const fn reader(programs: &'static str, mark: &'static str, hides: &'static str, keeps: &'static str) -> ReaderKind {
    ReaderKind {
        programs: Words::new(programs),
        mark,
        #[cfg(test)]
        proof: Proof { hides, keeps },
    }
}

#[rustfmt::skip]
pub const READERS: &[ReaderKind] = &[
    reader("sudo -S;sudo --stdin", "", "echo ⟦swordfish⟧ | ~ id", "echo \"$PASS\" | ~ id"),
    reader("chpasswd", ":", "echo 'root:⟦swordfish⟧' | ~", "cat users | ~"),
    reader("passwd --stdin;--password-stdin;--with-token;--passphrase-fd;smbpasswd -s;cryptsetup;kinit;vncpasswd;gpg --passphrase-fd", "", "echo ⟦swordfish⟧ | x ~", "cat token | x ~"),
    reader("secret set;secret put;secrets set;secrets create;secret create", "", "echo ⟦swordfish⟧ | x ~ N", "x ~ N < file"),
];

// ------------------------------------------------------------------------------------------ calls in code

/// Calls that take a name in quotes and then its value, or a user and then a password.
pub struct CallKind {
    pub calls: Words,
    #[cfg(test)]
    pub proof: Proof,
}

#[cfg_attr(not(test), expect(unused_variables, reason = "the texts are left out of the programs"))]
const fn call(calls: &'static str, hides: &'static str, keeps: &'static str) -> CallKind {
    CallKind {
        calls: Words::new(calls),
        #[cfg(test)]
        proof: Proof { hides, keeps },
    }
}

/// `define('DB_PASSWORD', 'x')`
#[rustfmt::skip]
pub const CALLS: &[CallKind] = &[
    call("define setdefault setenv putenv SetEnvironmentVariable env getenv fill fill_in type setItem addHeader setHeader set_header setProperty put addProperty setSecret set_secret", "~('DB_PASSWORD', '⟦swordfish⟧')", "~('DB_PASSWORD', getPassword())"),
];
/// `.setPassword("x")`: what stands before the name of a secret in the name of a call.
#[rustfmt::skip]
pub const SETTERS: &[CallKind] = &[
    call("set with use add", "x.~Password(\"⟦swordfish⟧\")", "x.~Password(\"password\")"),
];
/// `find("password").send_keys("x")`: what is called on a field that the name finds.
#[rustfmt::skip]
pub const ENTERING: &[CallKind] = &[
    call(".send_keys( .sendKeys( .type( .fill( .set( .setValue( .pressSequentially( .clear().type( .typeText(", "find('#password')~'⟦swordfish⟧')", "find('#password')~password)"),
];
/// `HTTPBasicAuth('bob', 'x')`
#[rustfmt::skip]
pub const LOGINS: &[CallKind] = &[
    call("auth basicauth HTTPBasicAuth basic_auth credential credentials NetworkCredential PSCredential", "~('bob', '⟦swordfish⟧')", "~('bob', password)"),
];

#[cfg(test)]
mod tests {
    use super::super::made_up::made_up;
    use super::super::{REDACTED, redact};
    use super::*;

    /// What is wrong with a row whose `~` is this, if anything.
    fn wrong(proof: &Proof, hides: &str, meant: &str) -> Vec<String> {
        let made = made_up(&hides.replace('~', meant));
        let (text, keeps) = (made.replace(['⟦', '⟧'], ""), made_up(&proof.keeps.replace('~', meant)));
        let shown = made.split('⟦').map(|part| part.split_once('⟧').map_or(part, |(_, after)| after));
        let expected = shown.collect::<Vec<_>>().join(REDACTED);
        let mut wrong = Vec::new();
        if !made.contains('⟦') || redact(&text) != expected {
            wrong.push(format!("{text}\n   is {}", redact(&text)));
        }
        if keeps.is_empty() || redact(&keeps) != keeps {
            wrong.push(format!("{keeps}\n   is {}", redact(&keeps)));
        }
        wrong
    }

    #[test]
    fn every_row_hides_its_secret_and_leaves_its_near_miss() {
        let mut all = Vec::new();
        for kind in KINDS {
            let is_marked = kind.before.2 > 0;
            assert!(kind.prefixes.iter().all(|prefix| !prefix.is_empty()));
            for prefix in kind.prefixes {
                let hides = match (is_marked, kind.shows_prefix) {
                    (true, _) => format!("x ⟦{}⟧ y", kind.proof.hides),
                    (_, true) => format!("x {prefix}⟦{}⟧ y", kind.proof.hides),
                    _ => format!("x ⟦{prefix}{}⟧ y", kind.proof.hides),
                };
                all.extend(wrong(&kind.proof, &hides, if is_marked { prefix } else { "~" }));
            }
        }
        for kind in NAMES {
            for name in kind.names {
                all.extend(wrong(&kind.proof, kind.proof.hides, name));
            }
        }
        for kind in PROGRAMS {
            for program in kind.programs.text.split(';') {
                all.extend(wrong(&kind.proof, kind.proof.hides, program));
            }
        }
        for kind in OPERANDS {
            all.extend(wrong(&kind.proof, kind.proof.hides, kind.start));
        }
        for kind in READERS {
            for program in kind.programs.text.split(';') {
                all.extend(wrong(&kind.proof, kind.proof.hides, program));
            }
        }
        for kind in [CALLS, SETTERS, ENTERING, LOGINS].into_iter().flatten() {
            for call in kind.calls.text.split(' ') {
                all.extend(wrong(&kind.proof, kind.proof.hides, call));
            }
        }
        assert!(all.is_empty(), "{} are wrong:\n{}", all.len(), all.join("\n"));
    }

    #[test]
    fn there_are_many_kinds() {
        let prefixes = KINDS.iter().map(|kind| kind.prefixes.len()).sum::<usize>();
        let names = NAMES.iter().map(|kind| kind.names.len()).sum::<usize>();
        assert!(KINDS.len() >= 120 && prefixes >= 200 && names >= 120);
    }
}
