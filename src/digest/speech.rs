//! What the words of a prompt tell: the language it is written in, what it asks for, whose project it says it is.
//!
//! Code, paths, addresses and names with signs in them are no words; of a long text the beginning counts, because what
//! follows was pasted.

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
        match self {
            Language::English => "English",
            Language::French => "French",
            Language::German => "German",
            Language::Spanish => "Spanish",
            Language::Italian => "Italian",
            Language::Portuguese => "Portuguese",
            Language::Dutch => "Dutch",
            Language::Russian => "Russian",
            Language::Chinese => "Chinese",
            Language::Japanese => "Japanese",
            Language::Korean => "Korean",
        }
    }

    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::French => "fr",
            Language::German => "de",
            Language::Spanish => "es",
            Language::Italian => "it",
            Language::Portuguese => "pt",
            Language::Dutch => "nl",
            Language::Russian => "ru",
            Language::Chinese => "zh",
            Language::Japanese => "ja",
            Language::Korean => "ko",
        }
    }

    /// The language that most small words of a prompt belong to, unless two have as many.
    pub fn of(prompt: &Prompt) -> Option<Language> {
        if let Some(language) = prompt.script {
            return Some(language);
        }
        let hits = |stop_words: &str| {
            let is_one = |word: &&String| stop_words.split_ascii_whitespace().any(|stop| stop == **word);
            prompt.words().filter(is_one).count()
        };
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

/// What a prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    Fix,
    Add,
    Change,
    Refactor,
    Remove,
    Explain,
    Review,
    Test,
    Document,
    Find,
    Run,
    Commit,
    Deploy,
}

impl Task {
    pub fn name(self) -> &'static str {
        match self {
            Task::Fix => "fix",
            Task::Add => "add",
            Task::Change => "change",
            Task::Refactor => "refactor",
            Task::Remove => "remove",
            Task::Explain => "explain",
            Task::Review => "review",
            Task::Test => "test",
            Task::Document => "document",
            Task::Find => "find",
            Task::Run => "run",
            Task::Commit => "commit",
            Task::Deploy => "deploy",
        }
    }

    /// What the first sentence that asks for something asks for.
    pub fn of(prompt: &Prompt) -> Option<Task> {
        const SENTENCES: usize = 6;
        prompt.sentences.iter().take(SENTENCES).find_map(|sentence| Task::of_sentence(sentence))
    }

    fn of_sentence(sentence: &[String]) -> Option<Task> {
        let start = sentence.iter().position(|word| !is_one_of(LEAD, word))?;
        let task = Task::of_verb(&sentence[start]).or_else(|| {
            // A German verb comes last.
            sentence[start..]
                .iter()
                .find_map(|word| VERBS.iter().find(|(_, _, last)| is_one_of(last, word)).map(|(task, ..)| *task))
        })?;
        let about = |words: &str| sentence[start + 1..].iter().take(6).any(|word| is_one_of(words, word));
        match task {
            Task::Add | Task::Run if about("test tests testing spec specs tester prueba pruebas") => Some(Task::Test),
            Task::Add if about("doc docs documentation readme changelog dokumentation documentación") => {
                Some(Task::Document)
            }
            task => Some(task),
        }
    }

    fn of_verb(word: &str) -> Option<Task> {
        VERBS.iter().find(|(_, first, last)| is_one_of(first, word) || is_one_of(last, word)).map(|(task, ..)| *task)
    }
}

fn is_one_of(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// What stands before the verb of somebody who asks for something.
const LEAD: &str = "ok okay yes so now then next first also and please pls can could would will you we i let lets s us want \
     need to should must just help me go ahead d like ll try hey hi hello great good thanks alors bon maintenant oui merci \
     peux tu pouvez vous il faut on va je veux voudrais de stp s'il plaît bitte kannst du könntest jetzt wir sollten ich \
     möchte puedes podrías por favor ahora hay que quiero";

/// A task, the verbs that a request begins with, and those that may end one.
const VERBS: [(Task, &str, &str); 13] = [
    (
        Task::Fix,
        "fix debug repair solve resolve correct troubleshoot unbreak patch corrige corriger corrigez répare réparer \
         résous débogue arregla corregir repara soluciona repariere fixe behebe",
        "beheben reparieren fixen",
    ),
    (
        Task::Add,
        "add implement create write build make generate scaffold introduce develop set setup ajoute ajouter ajoutez crée \
         créer créez implémente implémenter écris écrire añade agrega crea implementa escribe füge erstelle schreibe \
         implementiere baue",
        "hinzufügen erstellen schreiben implementieren einbauen",
    ),
    (
        Task::Change,
        "change update modify improve upgrade bump adjust replace switch convert use optimize optimise increase reduce \
         extend edit modifie modifier améliore améliorer change mets remplace cambia actualiza mejora ändere verbessere \
         ersetze aktualisiere",
        "ändern verbessern ersetzen aktualisieren",
    ),
    (
        Task::Refactor,
        "refactor rename restructure reorganize reorganise simplify extract move split clean cleanup deduplicate \
         refactorise refactoriser renomme simplifie déplace nettoie refactoriza renombra simplifica vereinfache",
        "umbenennen vereinfachen aufräumen refaktorieren",
    ),
    (
        Task::Remove,
        "remove delete drop strip revert undo disable supprime supprimer enlève retire elimina borra quita lösche \
         entferne",
        "löschen entfernen",
    ),
    (
        Task::Explain,
        "explain why what how describe tell summarize summarise which who when is are does do did explique expliquer \
         expliquez pourquoi décris résume explica qué cómo cuál describe resume erkläre warum wieso was wie",
        "erklären zusammenfassen",
    ),
    (
        Task::Review,
        "review check verify audit inspect examine analyze analyse compare evaluate investigate vérifie vérifier revois \
         relis analyse examine revisa verifica analiza compara prüfe überprüfe",
        "prüfen überprüfen ansehen",
    ),
    (Task::Test, "test teste tester testez prueba", "testen"),
    (Task::Document, "document documente documenter documenta dokumentiere", "dokumentieren"),
    (
        Task::Find,
        "find search look locate list show read see where get cherche chercher trouve trouver liste montre busca \
         encuentra muestra suche finde zeige wo",
        "suchen finden zeigen",
    ),
    (Task::Run, "run execute start launch rerun lance lancer exécute ejecuta corre starte", "ausführen starten"),
    (Task::Commit, "commit push merge rebase squash cherry", "committen pushen mergen"),
    (
        Task::Deploy,
        "deploy release publish ship déploie déployer publie despliega publica veröffentliche",
        "deployen veröffentlichen",
    ),
];

/// The words of a prompt, lower-case, sentence by sentence.
#[derive(Debug, Default)]
pub struct Prompt {
    sentences: Vec<Vec<String>>,
    /// A language that its letters alone tell.
    script: Option<Language>,
    /// How many words it has that count for a language.
    pub count: u64,
}

impl Prompt {
    /// More than that was pasted.
    const WORDS: usize = 400;

    pub fn of(text: &str) -> Prompt {
        let mut prompt = Prompt::default();
        let mut fenced = false;
        let mut left = Prompt::WORDS;
        let mut script = Script::default();
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
                continue;
            }
            if fenced || left == 0 {
                continue;
            }
            let mut sentence = Vec::new();
            for (index, part) in line.split('`').enumerate() {
                // Every other part is code.
                for token in part.split_whitespace().filter(|_| index % 2 == 0).take(left) {
                    left -= 1;
                    script.add(token);
                    sentence.extend(words(token));
                    if token.ends_with(['.', '!', '?', ':', ';']) {
                        prompt.sentences.push(std::mem::take(&mut sentence));
                    }
                }
            }
            prompt.sentences.push(sentence);
        }
        let count = prompt.words().count() as u64;
        prompt.script = script.language(count);
        // Languages without blanks: two signs are a word or so.
        prompt.count = if prompt.script.is_some() { count + script.signs() / 2 } else { count };
        prompt
    }

    fn words(&self) -> impl Iterator<Item = &String> {
        self.sentences.iter().flatten()
    }

    /// Whether whoever wrote it says that the project is theirs.
    pub fn claims(&self) -> bool {
        const THINGS: &str = "project repo repository app library package crate tool site website game codebase";
        const CLAIMS: [(&[&str], &str); 8] = [
            (&["my"], THINGS),
            (&["our"], "project repo repository codebase"),
            (&["i"], "created built wrote authored maintain"),
            (&["mon"], "projet dépôt application app site outil"),
            (&["j"], "maintiens"),
            (&["j", "ai"], "créé écrit développé"),
            (&["mein"], "projekt repo"),
            (&["mi"], "proyecto repositorio"),
        ];
        self.sentences.iter().any(|sentence| {
            CLAIMS.iter().any(|(start, ends)| {
                sentence.windows(start.len() + 1).any(|window| {
                    let (before, end) = window.split_at(start.len());
                    before.iter().zip(*start).all(|(word, start)| word == start) && is_one_of(ends, &end[0])
                })
            })
        })
    }
}

/// The words in what stands between two blanks: `j'ai` and `peux-tu` are two, a path or a name in code is none.
fn words(token: &str) -> impl Iterator<Item = String> {
    let bare = token.trim_matches(|char: char| !char.is_alphanumeric());
    let is_prose = |char: char| char.is_alphabetic() && !is_sign(char) || matches!(char, '\'' | '’' | '-' | ',');
    let prose = bare.chars().all(is_prose) && bare.len() < 40;
    let parts = bare.split(['\'', '’', '-', ',']).filter(move |part| prose && !part.is_empty());
    parts.map(str::to_lowercase)
}

/// Letters of a language that is known by them.
#[derive(Default)]
struct Script {
    kana: u64,
    han: u64,
    hangul: u64,
    cyrillic: u64,
}

fn is_sign(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

impl Script {
    fn add(&mut self, token: &str) {
        for char in token.chars() {
            match char {
                '\u{3040}'..='\u{30ff}' => self.kana += 1,
                '\u{3400}'..='\u{9fff}' => self.han += 1,
                '\u{ac00}'..='\u{d7af}' => self.hangul += 1,
                '\u{400}'..='\u{4ff}' => self.cyrillic += 1,
                _ => {}
            }
        }
    }

    fn signs(&self) -> u64 {
        self.kana + self.han + self.hangul
    }

    /// The language, if its letters are more than the words in others could be.
    fn language(&self, words: u64) -> Option<Language> {
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

    #[test]
    fn code_and_paths_are_no_words() {
        assert_eq!(Prompt::of("fix `a b c` in src/a.rs, it's broken: see x_y and 12 items").count, 8);
        assert_eq!(Prompt::of(&"word ".repeat(5000)).count, 400);
        assert_eq!(Prompt::of("日本語のテスト").count, 3);
    }

    #[test]
    fn verbs_tell_the_task() {
        for (text, expected) in [
            ("Fix the login bug", "fix"),
            ("ok, now please fix it", "fix"),
            ("Can you add a button?", "add"),
            ("add tests for the parser", "test"),
            ("write a unit test", "test"),
            ("write the documentation of it", "document"),
            ("Let's refactor this", "refactor"),
            ("I want you to remove the flag", "remove"),
            ("why is it slow?", "explain"),
            ("how do I deploy this?", "explain"),
            ("Deploy the billing service", "deploy"),
            ("review my changes", "review"),
            ("Here is the log.\nerror: x\nfix it", "fix"),
            ("run the tests", "test"),
            ("corrige le bug", "fix"),
            ("peux-tu ajouter un bouton", "add"),
            ("il faut supprimer ça", "remove"),
            ("Kannst du den Fehler beheben?", "fix"),
            ("Bitte erkläre das", "explain"),
            ("arregla el error", "fix"),
            ("commit and push", "commit"),
            ("the latest contest", ""),
            ("yes", ""),
            ("", ""),
        ] {
            let task = Task::of(&Prompt::of(text)).map_or("", Task::name);
            assert_eq!(task, expected, "{text}");
        }
    }

    /// 001-20
    #[test]
    fn some_say_whose_project_it_is() {
        for text in ["In my project the tests fail", "I created this crate", "dans mon projet", "j'ai créé un outil"]
        {
            assert!(Prompt::of(text).claims(), "{text}");
        }
        for text in ["the project", "in your project", "my test fails", "I think", "`my project`", "who created this"] {
            assert!(!Prompt::of(text).claims(), "{text}");
        }
    }
}
