//! French.

use super::Lexicon;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "fr",
    common: "le la les un une des du de d l et ou mais ne pas non oui ni que qu en à au aux avec pour \
        par sans sur sous dans chez entre vers est sont était étaient être été suis es sommes a \
        ai as ont avait avaient avoir eu fait font faire peut peuvent veut va vont je j tu il \
        elle on nous vous ils elles me m te t se s lui leur leurs mon ma mes ton ta tes son sa \
        ses notre nos votre vos ce c cet cette ces ça cela ici là y comme plus moins très aussi \
        encore déjà toujours jamais rien quelque tout toute tous toutes autre autres beaucoup si \
        parce car aime aiment depuis qui n",
    stop_words: "à au aux avec ce ces cet cette chez comment combien dans de depuis des du elle \
        elles en es est et être eu fait fut il ils je la le les leur leurs lui ma mais me mes moi \
        mon nos notre nous on ont où ou par pas pour pourquoi quand que quel quelle quelles quels \
        qui quoi sa se ses son sont sur ta te tes toi ton tu un une vos votre vous y a as",
    time: "hier demain aujourd hui soir soirs matin matins nuit midi minuit jour jours journée \
        semaine semaines mois an ans année années lundi mardi mercredi jeudi vendredi samedi \
        dimanche heure heures minute minutes dernier dernière derniers prochain prochaine depuis \
        récemment bientôt tard tôt avant printemps automne hiver noël pâques siècle weekend",
    kin: "mère maman père papa sœur sœurs frère frères fils fille filles femme épouse mari époux \
        ami amie amis amies famille parent parents enfant enfants mamie papi tante oncle cousin \
        cousine neveu nièce copain copine fiancé fiancée partenaire conjoint collègue collègues \
        patron patronne chef cheffe mentor équipe voisin voisine voisins professeur médecin",
    months: [
        "janvier #janv",
        "février #févr #fév",
        "*mars",
        "avril #avr",
        "*mai",
        "juin",
        "juillet #juil",
        "août",
        "septembre #sept",
        "octobre #oct",
        "novembre #nov",
        "décembre #déc",
    ],
    in_month: "en de d depuis au mois début fin mi jusqu avant",
    asks: "pourquoi est sont était a ont avait peut as es",
    when: "quand",
    place: "où",
    who: "qui",
    which: "quel quelle quels quelles que qu quoi",
    how: "comment combien",
    named: "ville villes livre livres nom noms pays endroit lieu chanson film films jeu entreprise \
        société groupe artiste école université restaurant hôtel rue langue",
    called: "appelle appellent appelait nomme",
    times: "temps date jour jours mois semaine semaines année années an ans heure heures minutes âge",
    numbers: "deux trois quatre cinq six sept huit neuf dix onze douze cent mille",
    ..Lexicon::NOTHING
};
