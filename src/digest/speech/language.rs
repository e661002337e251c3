//! The language that a prompt is written in.
//!
//! Its letters tell, or else its small words, which hardly any sentence is without; where two languages have as many of
//! them, nothing is told. What counts as a word is for `prompt`.

use std::ops::RangeInclusive;

use super::Prompt;
use crate::digest::lexicon::one_of;

/// A language that people write in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    English,
    French,
    German,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Russian,
    Chinese,
    Japanese,
    Korean,
}

impl Language {
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// As of ISO 639-1.
    pub fn code(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Language::English => ("English", "en"),
            Language::French => ("French", "fr"),
            Language::German => ("German", "de"),
            Language::Spanish => ("Spanish", "es"),
            Language::Italian => ("Italian", "it"),
            Language::Portuguese => ("Portuguese", "pt"),
            Language::Dutch => ("Dutch", "nl"),
            Language::Russian => ("Russian", "ru"),
            Language::Chinese => ("Chinese", "zh"),
            Language::Japanese => ("Japanese", "ja"),
            Language::Korean => ("Korean", "ko"),
        }
    }

    /// The language that most small words of a prompt belong to, unless two have as many.
    pub fn of(prompt: &Prompt) -> Option<Language> {
        if let Some(language) = prompt.script {
            return Some(language);
        }
        let hits = |stop_words: &str| prompt.words().filter(|word| one_of(stop_words, word)).count();
        let mut votes = STOP_WORDS.map(|(language, stop_words)| (hits(stop_words), language));
        votes.sort_unstable_by_key(|(hits, _)| std::cmp::Reverse(*hits));
        (votes[0].0 > votes[1].0).then_some(votes[0].1)
    }
}

/// Small words that hardly any sentence of a language is without.
const STOP_WORDS: [(Language, &str); 7] = [
    (
        Language::English,
        "the a an and or but of to in on at is are was were be been it this that these those with for from by as not \
         don i you we they my your our its can could would should will what why how when where which there have has had \
         do does did if then so please all any some now just into up out t s let me make also",
    ),
    (
        Language::French,
        "le la les un une des du de et ou mais à au aux en dans sur est sont était être ce cet cette ces avec pour par \
         pas ne que qui quoi je tu il elle on nous vous ils mon ton son notre votre peux peut faut fait comme si plus \
         tout tous j l d c n qu y ça pourquoi comment où quand merci alors",
    ),
    (
        Language::German,
        "der die das den dem des ein eine einen einem einer und oder aber von zu zum zur in im an am auf ist sind war \
         sein nicht kein keine mit für aus bei nach ich du er sie es wir ihr mein dein kannst kann bitte warum wie was \
         wo wenn dann so auch noch nur alle hat haben wird werden dass mir mich",
    ),
    (
        Language::Spanish,
        "el la los las un una unos unas y o pero de del al en es son está están era ser esto este esta estos con para \
         por no que qué quién yo tú él ella nosotros mi tu su puedes puede hay como cómo si más todo todos me se lo le \
         porque cuando dónde favor también ya",
    ),
    (
        Language::Italian,
        "il lo la i gli le un uno una e o ma di del della dei delle da dal in nel nella è sono era essere questo questa \
         con per non che chi io tu lui lei noi mio tuo suo puoi può come se più tutto tutti mi si ci anche perché \
         quando dove grazie",
    ),
    (
        Language::Portuguese,
        "o a os as um uma e ou mas de do da dos das em no na nos nas é são era ser isto este esta isso com para por não \
         que quem eu tu você ele ela nós meu seu pode como se mais tudo todos me também porque quando onde já foi",
    ),
    (
        Language::Dutch,
        "de het een en of maar van naar in op aan is zijn was niet geen met voor uit bij ik je jij u hij zij wij we \
         mijn jouw kan kun kunt waarom hoe wat waar als dan dus ook nog alle heeft hebben wordt worden dat dit deze die",
    ),
];

const KANA: RangeInclusive<char> = '\u{3040}'..='\u{30ff}';
const HAN: RangeInclusive<char> = '\u{3400}'..='\u{9fff}';
const HANGUL: RangeInclusive<char> = '\u{ac00}'..='\u{d7af}';
const CYRILLIC: RangeInclusive<char> = '\u{400}'..='\u{4ff}';

/// Whether a character is one of those that stand for a syllable or a word.
pub fn is_sign(char: char) -> bool {
    KANA.contains(&char) || HAN.contains(&char) || HANGUL.contains(&char)
}

/// Letters of languages that are known by them.
#[derive(Default)]
pub struct Script {
    kana: u64,
    han: u64,
    hangul: u64,
    cyrillic: u64,
}

impl Script {
    pub fn add(&mut self, token: &str) {
        let count = |script: RangeInclusive<char>| token.chars().filter(|char| script.contains(char)).count() as u64;
        self.kana += count(KANA);
        self.han += count(HAN);
        self.hangul += count(HANGUL);
        self.cyrillic += count(CYRILLIC);
    }

    pub fn signs(&self) -> u64 {
        self.kana + self.han + self.hangul
    }

    /// The language, if its letters are more than the words in others could be.
    pub fn language(&self, words: u64) -> Option<Language> {
        match () {
            () if self.signs() / 2 <= words && self.cyrillic <= 3 * words => None,
            () if self.cyrillic > self.signs() => Some(Language::Russian),
            () if self.hangul > self.kana + self.han => Some(Language::Korean),
            () if self.kana > 0 => Some(Language::Japanese),
            () => Some(Language::Chinese),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str) -> Option<&'static str> {
        Language::of(&Prompt::of(text)).map(Language::code)
    }

    #[test]
    fn small_words_tell_the_language() {
        for (text, expected) in [
            ("fix the login bug", Some("en")),
            ("Why is it slow? I don't know.", Some("en")),
            ("corrige le bug de connexion dans la page", Some("fr")),
            ("j'ai créé un module, peux-tu l'ajouter ?", Some("fr")),
            ("kannst du den Fehler im Login beheben?", Some("de")),
            ("por qué falla el inicio de sesión en la página", Some("es")),
            ("perché non funziona il login della pagina", Some("it")),
            ("por que não funciona o login da página? você pode ver", Some("pt")),
            ("waarom werkt het inloggen niet op deze pagina", Some("nl")),
            ("ログインのバグを直してください", Some("ja")),
            ("请修复登录页面的错误", Some("zh")),
            ("로그인 오류를 고쳐 주세요", Some("ko")),
            ("исправь ошибку входа на странице", Some("ru")),
            ("修复 the login of the page and then run it again please", Some("en")),
            ("ok", None),
            ("", None),
            ("refactor parser", None),
            ("```\nthe the the the\n```", None),
            ("`for the in` src/the/and.rs https://the.and/or the_and", None),
            ("on", None),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
    }
}
