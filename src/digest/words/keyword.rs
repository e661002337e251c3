//! The words of a text that say something: no stop words, no numbers.
//!
//! How many there are tells whether a sentence can be understood on its own; which ones, what it is about.

use std::collections::BTreeSet;

use super::word::{in_full, words};
use crate::digest::lexicon::Lexicon;

/// The words that say something, each once.
pub fn keywords(text: &str) -> BTreeSet<String> {
    let all = words(text);
    let whole = all.iter().flat_map(|word| in_full(&word.text));
    let meant =
        whole.filter(|word| word.chars().nth(1).is_some() && word.contains(char::is_alphabetic) && !STOP.has(word));
    meant.map(str::to_owned).collect()
}

/// Words without content, English and French.
pub static STOP: Lexicon = Lexicon::of(
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
);
