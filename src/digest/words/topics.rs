//! What a session is about: the words that were said and the files that were edited, and which of them tell it from
//! others.
//!
//! A topic was said twice or is the name of a file, and the same counts always give the same order. Words that every
//! session is full of are no topics. Which of them a prompt mentions is for `hint`.

use std::collections::{BTreeMap, BTreeSet};

use super::identifier::{is_identifier, names};
use super::keyword::STOP;
use super::prose::{is_said, lines};
use super::word::{in_full, words};
use crate::digest::lexicon::Lexicon;

/// The words that a session is about, with how often they were said.
#[derive(Debug, Clone, Default)]
pub struct Topics(BTreeMap<String, Count>);

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    weight: u32,
    times: u32,
    /// It is the name of a file or directory.
    file: bool,
    /// The line of the transcript where it came up last.
    line: u64,
}

impl Topics {
    const CODE: u32 = 2;
    const FILE: u32 = 3;

    /// Adds what was said on a line; names in back-ticks count twice.
    pub fn add(&mut self, text: &str, place: u64) {
        for line in lines(text).into_iter().filter(|line| is_said(line.text)) {
            let ticks = line.text.matches('`').count();
            for (at, piece) in line.text.split('`').enumerate() {
                let code = at % 2 == 1 && at < ticks;
                let weight = if code { Topics::CODE } else { 1 };
                for word in words(piece) {
                    let original = &piece[word.at..];
                    if code || is_identifier(original) {
                        names(original).iter().for_each(|name| self.count(name, weight, false, place));
                    } else {
                        in_full(&word.text).into_iter().for_each(|name| self.count(name, weight, false, place));
                    }
                }
            }
        }
    }

    /// Adds a file that was edited: its stem, and the directories that it is in.
    pub fn add_file(&mut self, path: &str, place: u64) {
        let mut parts = path.rsplit(['/', '\\']).filter(|part| !part.is_empty());
        let Some(name) = parts.next() else { return };
        let stem = name.trim_start_matches('.').split('.').next().unwrap_or_default();
        let mut seen = BTreeSet::new();
        for part in std::iter::once(stem).chain(parts.take(2)) {
            for word in words(part) {
                seen.extend(names(&part[word.at..]));
            }
        }
        seen.iter().for_each(|name| self.count(name, Topics::FILE, true, place));
    }

    fn count(&mut self, name: &str, weight: u32, file: bool, line: u64) {
        let length = name.chars().take(41).count();
        if !(3..=40).contains(&length) || !name.contains(char::is_alphabetic) || STOP.has(name) || HOST.has(name) {
            return;
        }
        let count = self.0.entry(name.to_owned()).or_default();
        count.weight = count.weight.saturating_add(weight);
        count.times = count.times.saturating_add(1);
        count.file |= file;
        count.line = line;
    }

    /// The line where a topic came up last.
    pub fn line(&self, topic: &str) -> u64 {
        self.0.get(topic).map_or(0, |count| count.line)
    }

    /// The words that tell this session from the others, best first; equal ones by their letters.
    pub fn top(&self, others: &[&Topics], count: usize) -> Vec<String> {
        let all = (others.len() + 2) as f64;
        let mut scored: Vec<(f64, &String)> = Vec::new();
        for (name, said) in self.0.iter().filter(|(_, said)| said.file || said.times >= 2) {
            let with = others.iter().filter(|other| other.0.contains_key(name)).count() + 2;
            scored.push((f64::from(said.weight) * (1.0 + (all / with as f64).ln()), name));
        }
        scored.sort_by(|(a, name), (b, other)| b.total_cmp(a).then(name.cmp(other)));
        scored.into_iter().take(count).map(|(_, name)| name.clone()).collect()
    }
}

/// Words that every session is full of, so that they are no topic.
static HOST: Lexicon = Lexicon::of(
    "add added agent agents ajoute ajouter answer app assistant branch change changed changes chat check class claude
     code codex com command commands commit context copilot create created data dir directory doc docs edit edits
     erreur erreurs error errors etape etapes feature fichier fichiers file files fix folder fonction fonctions
     format function functions gemini git github home html http https implement implementation index info init input
     issue issues js json key lib libs ligne lignes line lines list local main make master md message messages mod
     model module modules name nouveau nouvelle org output package packages path paths plan please private problem
     probleme project projet prompt pull push py question read readme redacted remove repo repository request
     reste result results root rs run running script scripts section session sessions set source spec src start state step steps
     string support sure system tache taches task tasks test tests text title tmp todo toml tool tools travail ts tsx
     txt type types update updated user users util utils value values var version work working write www yaml yml",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_what_tells_a_session_from_others() {
        let mut one = Topics::default();
        one.add("The solana wallet is slow. Why is the Solana wallet slow? `retryPolicy` of l’API", 1);
        one.add("```\nwallet wallet wallet\n```\nbanana `retryPolicy`", 2);
        one.add_file("/home/me/app/src/billing/invoice_store.rs", 3);
        let mut other = Topics::default();
        other.add("wallet wallet banana", 1);
        assert_eq!(one.top(&[], 9), ["policy", "retry", "billing", "invoice", "store", "slow", "solana", "wallet"]);
        assert_eq!(one.top(&[&other, &other], 7), ["policy", "retry", "billing", "invoice", "store", "slow", "solana"]);
        assert_eq!(one.top(&[], 1), ["policy"]);
        assert_eq!(["solana", "policy", "invoice", "nothing"].map(|topic| one.line(topic)), [1, 2, 3, 0]);
        assert_eq!(Topics::default().top(&[&one], 4), [""; 0]);
    }
}
