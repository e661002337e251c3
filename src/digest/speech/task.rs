//! What a prompt asks for: to fix, to add, to explain, …
//!
//! The verb tells that the first sentence with one begins with, after the words of courtesy; in German it may come
//! last. What is asked for in detail is for `words::goal`.

use super::Prompt;
use crate::digest::lexicon::one_of;

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
        let start = sentence.iter().position(|word| !one_of(LEAD, word))?;
        let (verb, rest) = sentence[start..].split_first()?;
        let begins = || VERBS.iter().find(|(_, first, last)| one_of(first, verb) || one_of(last, verb));
        let ends = || rest.iter().find_map(|word| VERBS.iter().find(|(.., last)| one_of(last, word)));
        let (task, ..) = begins().or_else(ends)?;
        let about = |words: &str| rest.iter().take(6).any(|word| one_of(words, word));
        Some(match task {
            Task::Add | Task::Run if about("test tests testing spec specs tester prueba pruebas") => Task::Test,
            Task::Add if about("doc docs documentation readme changelog dokumentation documentación") => {
                Task::Document
            }
            task => *task,
        })
    }
}

/// What stands before the verb of somebody who asks for something.
const LEAD: &str = "ok okay yes so now then next first also and please pls can could would will you we i let lets s us \
    want need to should must just help me go ahead d like ll try hey hi hello great good thanks alors bon maintenant \
    oui merci peux tu pouvez vous il faut on va je veux voudrais de stp s'il plaît bitte kannst du könntest jetzt wir \
    sollten ich möchte puedes podrías por favor ahora hay que quiero";

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
