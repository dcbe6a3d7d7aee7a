//! French.

use super::Lexicon;
use super::claims::Claims;

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
    claims: Claims {
        now: "maintenant désormais dorénavant à_présent actuellement à_partir_de_maintenant \
            dès_maintenant aujourd_hui_même à_l_avenir depuis_peu à_ce_jour",
        ends: "ne…plus n…plus a_arrêté arrêté_de a_cessé cessé_de plus_jamais a_renoncé \
            a_abandonné a_arrêté_de a_cessé_de a_arrêté_le a_arrêté_la arrête_de",
        disposes: "a_vendu vendu vendue annulé annulée annulés a_annulé mort morte décédé décédée \
            a_donné rendu jeté perdu supprimé supprimée supprimés résilié résiliée résilier \
            s_est_débarrassé s_est_désabonné s_est_désabonnée",
        closes: "terminé terminée réparé réparée résolu résolue corrigé corrigée rompu séparé \
            séparée séparés divorcé divorcée divorcés accouché fermé fermée a_réussi s_est_retiré \
            s_est_retirée retraite à_la_retraite démissionné fini finie achevé achevée guéri \
            guérie rétabli rétablie trouvé remarche fonctionne_à_nouveau à_nouveau de_nouveau \
            expiré fusionné fusionnée désactivé désactivée licencié diplômé ont_rompu",
        changes: "déménagé emménagé changé est_passé est_passée passé_à passée_à passé_au \
            passée_au passé_en passée_en migré migrée remplacé remplacée mis_à_jour mise_à_jour \
            promu promue augmenté augmentée baissé réduit réduite déplacé déplacée reporté \
            reportée repoussé repoussée avancé avancée prolongé prolongée devenu devenue renommé \
            renommée converti convertie porté portée relevé relevée abaissé remplace muté mutée \
            transféré transférée repeint_en grimpé doublé raccourci raccourcie s_est_installé \
            s_est_installée à_la_place modifié modifiée agrandi confié confiée cédé cédée cède \
            laissé_la_place",
        begins: "marié mariée mariés acheté commencé nouveau nouvelle nouvel adopté adoptée \
            accepté rejoint embauché embauchée fiancé_à s_est_fiancé s_est_fiancée s_est_mariée \
            s_est_marié pris décroché entré intégré",
        leaves: "quitté a_quitté démissionné_de démissionné licencié licenciée renvoyé quitte",
        corrects: "en_fait en_réalité correction rectification erreur par_erreur plus_exactement \
            en_vérité malentendu",
        replaces: "au_lieu_de au_lieu_du au_lieu_d plutôt_que à_la_place_de à_la_place_du",
        contrasts: "mais",
        adds: "aussi également en_plus autre autres non_seulement pas_seulement deuxième second \
            seconde troisième par_ailleurs de_plus ainsi_que en_outre une_des un_des l_un_des \
            l_une_des aussi_bien supplémentaire les_deux tous_les_deux ne…que n…que même",
        hedges: "si aimerait pourrait pourraient peut-être peut_être envisage envisagent voudrait \
            souhaite souhaiterait dit dit_que disent affirme selon croit semble pense rêve espère \
            réfléchit prétend prétendument apparemment probablement sans_doute_que il_paraît \
            paraît serait aurait vivrait travaillerait hésite compte va_peut-être doute \
            éventuellement suppose suppose_que raconte rumeur d_après devrait presque prévoit \
            projette suggère propose tente essaie imagine s_il veut_*er veut_*ir veut_*re",
        temporary: "cette_semaine la_semaine aujourd_hui hier en_vacances en_visite en_ce_moment \
            ce_mois ce_matin ce_soir temporairement pour_l_instant pour_le_moment ce_week-end \
            cette_année cet_été jusqu_à_lundi jusqu_à_mardi jusqu_à_mercredi jusqu_à_jeudi \
            jusqu_à_vendredi jusqu_à_samedi jusqu_à_dimanche jusqu_à_nouvel jusqu_au \
            jusqu_à_demain pendant_une_semaine en_voyage_d_affaires une_fois de_passage demain \
            la_semaine_dernière ce_lundi ce_vendredi provisoirement",
        partly: "quand lorsque pendant_que seulement uniquement parfois souvent \
            dans_la_plupart_des_cas en_partie principalement surtout sauf généralement \
            habituellement directement partiellement rarement la_plupart",
        denies: "ne n pas jamais aucun aucune sans ni non rien personne",
        from: "de du d depuis",
        to: "à au aux vers en chez",
        user: "utilisateur utilisatrice utilisateurs",
        be: "est sont était étaient être : =",
        have: "a ont avait possède possèdent",
        prepositions: "à au aux avant après avec chez contre dans de du d des depuis dès derrière \
            devant en entre jusqu jusque malgré par pendant pour sous sur vers comme",
        function: "le la les l un une et ou été il elle son sa ses ce c qu que qui s se lui leur y \
            cette très toujours encore déjà j m t",
        owners: "son sa ses ce cet cette ces leur leurs mon ma mes notre votre",
        indefinite: "un une des quelques plusieurs autre",
        kin: "locataire locataires client clients cliente chien chienne chiens chat chats chatte \
            belle-mère beau-père belle-fille gendre filleul filleule jumeau jumelle jumeaux \
            propriétaire colocataire animal bébé cheval lapin beau-frère belle-sœur invité invités \
            ex-mari ex-femme",
        not_kin: "famille patron patronne chef cheffe équipe mentor professeur médecin",
        many: "parle parlent aime aiment joue lit écoute mange boit connaît écrit visité acheté \
            adore adorent déteste sait cuisine collectionne voyage membre allergique compatible \
            disponible mentionne chante danse peint regarde veut croit espère trouve pratique fan \
            peut propose recommande supporte exporte peur apprécie intéressé intéressée contient \
            soutient apprend",
        one: "habite habitait vit vivait travaille travaillait préfère préfèrent ferme ouvre \
            commence finit appelle coûte pèse dure utilise utilisent gagne paie paye conduit roule \
            étudie réside tourne part arrive héberge hébergé hébergée basé basée écrit_en \
            écrite_en dirigé dirigée loue dort se_lève enseigne stocké stockée stocke répète \
            emploie a_lieu s_entraîne fonctionne fixé fixée prévu prévue programmé programmée \
            planifié planifiée",
        measures: "coûte pèse dure gagne paie paye mesure contient prend fume accueille compte est \
            a vaut",
        attributes: "anniversaire âge adresse salaire loyer budget délai limite prix taille poids \
            version statut réunion date médecin chef cheffe nom prénom voiture échéance téléphone \
            portable mot_de_passe numéro port couleur favori favorite préféré préférée langue \
            branche licence poste emploi métier profession entreprise employeur propriétaire \
            dentiste avocat avocate entraîneur entraîneuse professeur directeur directrice \
            président présidente capitaine banque assurance forfait abonnement université école \
            filière ordinateur éditeur navigateur serveur base_de_données framework monnaie fuseau \
            température capacité durée hauteur objectif record note dose médicament coiffeur \
            coiffeuse bureau siège mariage rendez-vous examen lieu surnom pointure contact \
            responsable fournisseur sponsor parrain kiné psy hébergeur classe patron patronne",
        personal: "anniversaire âge salaire loyer poids surnom",
        of_things: "prix taille poids âge nom couleur date statut numéro capacité durée hauteur",
        unique: "dernière dernier actuelle actuel officiel officielle principal principale unique \
            favori favorite préféré préférée stable",
        former: "ancien ancienne premier première précédent précédente ex deuxième second seconde \
            troisième",
        several: "frère sœur fils fille ami amie cousin cousine neveu nièce chat chien client \
            cliente voisin voisine collègue oncle tante cours train bus vol voyage livre film \
            chanson colis facture commande concert recette enfant",
        states: "ouvert ouverte fermé fermée | cassé cassée réparé réparée en_panne | actif active \
            inactif inactive activé désactivé allumé éteint | terminé en_cours | célibataire marié \
            mariée divorcé divorcée fiancé fiancée veuf veuve séparé séparée | chômage employé \
            employée retraité retraitée | malade guéri guérie | plein vide | vivant mort | public \
            privé | enceinte | végétarien végétarienne végan végane | vert rouge | disponible \
            épuisé",
        units: "seconde secondes minute minutes heure heures jour jours semaine semaines mois an \
            ans année années euros dollars francs pour_cent kilos kg g km m cm go mo to ms litres \
            degrés membres personnes employés kilomètres mètres points pages fois requêtes h",
        days: "lundi mardi mercredi jeudi vendredi samedi dimanche",
        seasons: "printemps été automne hiver noël t1 t2 t3 t4 q1 q2 q3 q4",
        past: "était étaient avait avaient allé allée allés visité fut a_acheté a_visité a_vu a_lu \
            a_mangé a_joué a_fait a_gagné a_payé a_repeint a_réparé a_pris a_écrit a_cuisiné \
            a_couru a_assisté a_participé a_étudié a_vécu a_travaillé est_parti est_partie \
            est_venu est_venue venu venue parti partie arrivé arrivée né née resté restée tombé \
            tombée",
        qualifiers: "matin soir midi nuit été hiver production test développement invités gauche \
            droite semaine",
        regions: "france allemagne espagne italie suisse belgique suède norvège bretagne normandie \
            provence alsace bourgogne luxembourg portugal canada québec angleterre europe maroc \
            tunisie algérie ville village campagne étranger",
        verbs: "fum+e+ait dépend va vient met fait dort nage court arrive part sert tombe \
            appartient passe marche",
        titles: "dr m mme mlle docteur",
        idioms: "pas_mal sans_doute pas_grave de_temps_en_temps plus_près plus_ou_moins \
            de_plus_en_plus non_plus",
        home: "habite habitait vit vivait réside résidait déménagé emménagé installé installée \
            domicile adresse appartement maison loge",
        work: "travaille travaillait quitté emploi étudiant étudiante étudie poste métier employé \
            employée ingénieur ingénieure avocat avocate professeur infirmier infirmière chômage \
            retraite retraité directeur directrice stagiaire apprenti apprentie serveur \
            développeur développeuse démissionné embauché embauchée licencié licenciée entreprise \
            promu promue",
        marriage: "célibataire marié mariée divorcé divorcée fiancé fiancée copine copain séparé \
            séparée veuf veuve épouse mari conjoint mariage divorce",
        diet: "viande végétarien végétarienne végan végane mange_de_la_viande régime",
        health: "enceinte accouché malade guéri guérie arrêt_maladie blessé blessée plâtre hôpital \
            rétabli",
        auxiliaries: "a ont",
        participles: "*é *ée *és *ées *i *it *is *u",
        counting: "_ deux trois quatre cinq six sept huit neuf dix onze douze",
        age: "ans âge",
        uses: "utilise utilisent emploie conduit tourne roule",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
