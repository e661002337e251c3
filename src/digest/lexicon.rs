//! The words that rules know, lower-case and without accents.

use std::collections::HashSet;
use std::sync::LazyLock;

pub type Table = LazyLock<HashSet<&'static str>>;

/// Words without content, English and French.
pub static STOP: Table = LazyLock::new(|| {
    table(
        "a about above actually after again all almost alors already also although always am an and another any anybody
         anyone anything apres are around as assez at au aucun aucune aujourd aussi autre autres aux avais avait avant
         avec avez avoir avons away back bah be beaucoup because been before being below best better between bien bon
         bonjour both but by c ca came can cannot ce ceci cela celle celles celui ces cet cette ceux chaque chez chose
         choses ci come comme comment contre could d dans de deja dela depuis des dessous dessus deux devrait did dire
         dit do does doing doit doivent donc done donne dont down du during each either elle elles else en encore enfin
         enough ensuite entre es est et etaient etais etait etant etc ete etes etre eu eux even ever every everyone
         everything faire fais fait faites faut few first fois following font for from further gens get gets getting give
         given gives go goes going gone good got great had has have having he hello help her here hers hey hi hier him
         his how i ici if il ils in indeed instead into is it item items its itself j je jusqu jusque just keep kind know
         l la laisse last later le least les less let leur leurs like little look lors lorsque lot lui m ma made
         maintenant mais make makes making many may maybe me mean means meme memes merci mes met mets might mine moi
         moins mon more most much must my myself n ne need needed needs never new next ni no nor nos not nothing notre
         nous now of off ok okay old on once one ones only ont onto or other others ou oui our ours out over own par
         parce pareil parfait parmi pas pendant per perhaps peu peut peuvent peux please plus plutot point possible pour
         pourquoi pouvez pouvoir pretty puis puisque put qu quand que quel quelle quelles quelque quelques quels qui
         quite quoi rather really rien right s sa said sais salut same sans say se see seem seems sera ses seulement
         several shall she should show si sien since so soit some somebody someone something sometimes son sont soon sous
         still stuff such suis suivant suivante suivants super sur sure t ta take tant te tel tell telle tes than thank
         thanks that the their theirs them then there these they thing things think this those though through thus time
         to together toi ton too toujours tous tout toute toutes toward tres trop try trying tu two un under une until up
         upon us use used uses using usually va vais vas vers very veut veux via voici voila voir vont vos votre voudrais
         vous vraiment want wants was way we well were what whatever when where whether which while who whole whom whose
         why will with within without would y yeah yep yes yet you your yours yourself",
    )
});

/// Words of which an acknowledgement is made.
pub static ACK: Table = LazyLock::new(|| {
    table(
        "absolutely accord agreed ahead allez alright approve approved awesome bien bon c ca carry ce confirm confirmed
         continue continuer continuez cool correct d'accord do done ensuite entendu est exact exactly excellent fine
         follow go going good great is it job keep lgtm looks merci next nice now ok okay on ouais oui parfait perfect
         plait please poursuis poursuit proceed right s see seems si so sounds step super sure te thank thanks that thats
         the then this to top tres vas vous with work works y yeah yep yes you yup",
    )
});

/// Words that a sentence may begin with before it says something.
pub static LEAD: Table = LazyLock::new(|| {
    table(
        "accord actually again ah aha alors alright also and anyway aussi awesome bien bon bonjour but claude codex cool
         d'accord donc encore enfin ensuite et euh exactly excellent finalement finally fine first gemini good great
         hello hey hi hmm however instead just lastly maintenant mais maybe merci next nice no non nope now oh ok okay
         ouais oui parfait perfect perhaps please plutot puis right salut secondly simply sinon so sounds super sure
         thank thanks then uh um wait well yeah yep yes you",
    )
});

/// What people tell an agent to do.
pub static VERBS: Table = LazyLock::new(|| {
    table(
        "add address adjust analyse analyze apply avoid build bump change check clean commit compare complete configure
         continue convert copy create debug delete deploy design disable document drop enable ensure examine execute
         explain explore extend extract figure find finish fix format generate get give go handle implement improve
         include inspect install integrate investigate keep list look make merge migrate modify move optimize perform
         prepare push put read rebase refactor release remove rename reorganize replace research resolve restore revert
         review rewrite run search set setup show simplify skip split start stop summarize support switch take tell test
         track translate try turn undo update upgrade use validate verify wire wrap write",
    )
});

/// The same in French: regular verbs without their ending.
pub static FRENCH_STEMS: Table = LazyLock::new(|| {
    table(
        "adapt affich ajout amelior analys appliqu arret chang cherch commenc compar complet configur continu corrig
         deplac document donn enlev expliqu explor gard gener implement install lanc list modifi montr nettoi optimis
         pouss prepar refactoris regard remplac renomm retir simplifi supprim termin test trouv utilis valid verifi",
    )
});

/// The same in French: forms of the others.
pub static FRENCH_VERBS: Table = LazyLock::new(|| {
    table(
        "construire construis construisez cree creer creez creons decrire decris deploie deployer deployez ecrire ecris
         ecrivez essaie essayer essayez faire fais faisons faites lire lis lisez met mets mettez mettons mettre nettoie
         nettoyer nettoyez prendre prends prenez reecrire reecris resoudre resous",
    )
});

/// Words that every session is full of, so that they are no topic.
pub static HOST: Table = LazyLock::new(|| {
    table(
        "add added agent agents ajoute ajouter answer app assistant branch change changed changes chat check class claude
         code codex com command commands commit context copilot create created data dir directory doc docs edit edits
         erreur erreurs error errors etape etapes feature fichier fichiers file files fix folder fonction fonctions
         format function functions gemini git github home html http https implement implementation index info init input
         issue issues js json key lib libs ligne lignes line lines list local main make master md message messages mod
         model module modules name nouveau nouvelle org output package packages path paths plan please private problem
         probleme project projet prompt pull push py question read readme remove repo repository request reste result
         results root rs run running script scripts section session sessions set source spec src start state step steps
         string support sure system tache taches task tasks test tests text title tmp todo toml tool tools travail ts tsx
         txt type types update updated user users util utils value values var version work working write www yaml yml",
    )
});

fn table(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

/// Whether a table has a word.
pub fn has(table: &Table, word: &str) -> bool {
    table.contains(word)
}

/// Whether a list of words, separated by blanks, has a word.
pub fn one_of(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}
