//! How a sentence opens: the words that only lead to what it says, and the verbs that tell somebody what to do.
//!
//! Rules look at how a sentence begins, never at words anywhere in it. Here is where it may begin; what it then says is
//! for `goal`, `decision` and `correction`.

use super::word::Word;
use crate::digest::lexicon::{Lexicon, one_of};

/// Where what a sentence says may begin: after each of the words that lead to it.
pub fn starts(words: &[Word]) -> impl Iterator<Item = usize> {
    (0..words.len()).take_while(|at| *at == 0 || LEAD.has(&words[at - 1].text))
}

/// Whether words begin with a verb that tells what to do, not with a noun that looks like it.
pub fn is_imperative(words: &[Word]) -> bool {
    const AFTER_NOUN: &str = "is are was were has have had fails failed failing fail passes passed does do did error \
        errors succeeded results result crashes crashed works still seems of est";
    let Some(first) = words.first() else { return false };
    let verb = VERBS.has(&first.text) || is_french_verb(&first.text);
    verb && !words.get(1).is_some_and(|word| one_of(AFTER_NOUN, &word.text))
}

/// Whether a word is a French verb that tells what to do, as an imperative or an infinitive.
pub fn is_french_verb(word: &str) -> bool {
    let ends = ["e", "er", "ez", "ons"];
    let regular = ends.iter().filter_map(|end| word.strip_suffix(end)).any(|stem| FRENCH_STEMS.has(stem));
    regular || FRENCH_VERBS.has(word)
}

/// Words that a sentence may begin with before it says something.
pub static LEAD: Lexicon = Lexicon::of(
    "accord actually again ah aha alors alright also and anyway aussi awesome bien bon bonjour but claude codex cool
     d'accord donc encore enfin ensuite et euh exactly excellent finalement finally fine first gemini good great
     hello hey hi hmm however instead just lastly maintenant mais maybe merci next nice no non nope now oh ok okay
     ouais oui parfait perfect perhaps please plutot puis right salut secondly simply sinon so sounds super sure
     thank thanks then uh um wait well yeah yep yes you",
);

/// What people tell an agent to do.
static VERBS: Lexicon = Lexicon::of(
    "add address adjust analyse analyze apply avoid build bump change check clean commit compare complete configure
     continue convert copy create debug delete deploy design disable document drop enable ensure examine execute
     explain explore extend extract figure find finish fix format generate get give go handle implement improve
     include inspect install integrate investigate keep list look make merge migrate modify move optimize perform
     prepare push put read rebase refactor release remove rename reorganize replace research resolve restore revert
     review rewrite run search set setup show simplify skip split start stop summarize support switch take tell test
     track translate try turn undo update upgrade use validate verify wire wrap write",
);

/// The same in French: regular verbs without their ending.
static FRENCH_STEMS: Lexicon = Lexicon::of(
    "adapt affich ajout amelior analys appliqu arret chang cherch commenc compar complet configur continu corrig
     deplac document donn enlev expliqu explor gard gener implement install lanc list modifi montr nettoi optimis
     pouss prepar refactoris regard remplac renomm retir simplifi supprim termin test trouv utilis valid verifi",
);

/// The same in French: forms of the others.
static FRENCH_VERBS: Lexicon = Lexicon::of(
    "construire construis construisez cree creer creez creons decrire decris deploie deployer deployez ecrire ecris
     ecrivez essaie essayer essayez faire fais faisons faites lire lis lisez met mets mettez mettons mettre nettoie
     nettoyer nettoyez prendre prends prenez reecrire reecris resoudre resous",
);
