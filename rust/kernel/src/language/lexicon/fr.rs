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
    conditions: "before: avant juste_avant | until: jusqu jusque | since: depuis à_partir_de \
        à_partir_d | after: après | between: entre | and: et | beginning: début au_début_de \
        premiers_jours_de premiers_jours_d premier_jour_de premier_jour_d | middle: mi milieu | end: \
        fin derniers_jours_de derniers_jours_d dernier_jour_de dernier_jour_d | in: en au_mois_de \
        au_mois_d pendant_le_mois_de pendant_le_mois_d pendant | newest: en_dernier dernière_fois \
        plus_récent plus_récente dernière_modification pour_la_dernière_fois | oldest: au_début \
        au_départ d_abord en_premier initialement à_l_origine au_tout_début avons_nous_commencé | \
        what: que qu quoi quel quelle quels quelles | follows: remplacé remplacée a_remplacé remplace \
        remplacent venu_après venue_après vient_après vint_après succédé_à successeur_de | precedes: \
        remplacé_par remplacée_par prédécesseur_de précédé a_laissé_place_à laissé_la_place_à | while: \
        du_temps_de au_temps_de à_l_époque_de | when: quand lorsque lorsqu pendant_que tant_que \
        le_jour_où au_moment_où | decides: choisi choisissions adopté décidé retenu opté introduit | \
        we: nous | cuts: utilisons utilisions prenons prend pris avons avions étions sommes était \
        étaient est encore comme que quel quelle où comment | past: était étaient avait avions \
        avions_nous utilisions | states: en_vigueur | from: de | to: à | units: jour jours semaine \
        semaines week_end mois an ans année nuit",
    claims: Claims {
        now: "depuis_aujourd_hui depuis_hier dès_aujourd_hui à_partir_d_aujourd_hui depuis_ce_matin depuis_cette_semaine à_compter_de dès_à_présent ces_temps_ci en_ce_moment ces_jours_ci maintenant \
            désormais dorénavant à_présent actuellement à_partir_de_maintenant dès_maintenant \
            aujourd_hui_même à_l_avenir depuis_peu à_ce_jour depuis",
        ends: "s_est_lassé s_est_lassée s_est_lassé_de s_est_lassée_de s_est_lassé_des \
            s_est_lassée_des n_aime_plus ne…plus n…plus a_arrêté arrêté_de a_cessé cessé_de \
            plus_jamais a_renoncé a_abandonné a_arrêté_de a_cessé_de a_arrêté_le a_arrêté_la \
            arrête_de ne_fait_plus n_a_plus n_est_plus ne_va_plus s_est_arrêté_de s_est_arrêtée_de \
            a_laissé_tomber laisse_tomber a_mis_fin mis_fin cesse_de a_décroché_du sevré sevrée \
            plus_du_tout ne…plus_jamais a_lâché ne_touche_plus n_y_touche_plus a_arrêté_l \
            arrêté_le arrêté_la arrêté_les arrête_le stoppé a_stoppé raccroché a_raccroché \
            tourné_la_page fait_une_croix_sur en_a_fini_avec fini_avec mis_un_terme a_mis_un_terme \
            laissé_tomber renoncé_à supprimé_le ne_veut_plus ne_peut_plus ne_boit_plus \
            ne_fume_plus ne_mange_plus abandonné_le abandonné_la plus_besoin_de sans_plus \
            plus_question",
        disposes: "a_vendu vendu vendue annulé annulée annulés a_annulé mort morte décédé décédée \
            a_donné rendu jeté perdu supprimé supprimée supprimés résilié résiliée résilier \
            s_est_débarrassé s_est_désabonné s_est_désabonnée ont_vendu revendu revendue cédé_sa \
            bradé volé volée s_est_fait_voler perdu_son perdu_sa égaré égarée jetée donnée \
            offert_à rendue retourné_le abandonné_la résiliés annulées euthanasié euthanasiée \
            piqué disparu disparue liquidé démoli démolie détruit détruite désabonné désabonnée \
            débarrassé débarrassée retiré retirée enlevé enlevée désinstallé désinstallée \
            vendu_le vendu_la vendus vendues donné_le donné_la donnés parti_à_la_casse \
            partie_à_la_casse à_la_casse à_la_poubelle à_la_déchetterie mis_en_vente \
            s_en_est_séparé s_en_est_séparée débarrassés résilié_l résilié_le annulé_le annulé_la \
            perdus volés nous_a_quittés est_parti_au_paradis fait_piquer dû_faire_piquer jeté_le \
            jeté_la jetés rendus revendus cassé_pour_de_bon rendu_l_âme n_a_pas_renouvelé \
            pas_renouvelé non_renouvelé abattu incendié",
        closes: "a_pris_fin c_est_fini c_est_terminé rouvert rouverte a_rouvert ont_rouvert rouvre \
            sont_finis est_fini est_finie terminé terminée réparé réparée résolu résolue corrigé \
            corrigée rompu séparé séparée séparés divorcé divorcée divorcés accouché fermé fermée \
            a_réussi s_est_retiré s_est_retirée retraite à_la_retraite démissionné fini finie \
            achevé achevée guéri guérie rétabli rétablie trouvé remarche fonctionne_à_nouveau \
            à_nouveau de_nouveau expiré fusionné fusionnée désactivé désactivée licencié diplômé \
            ont_rompu a_terminé ont_terminé a_fini bouclé bouclée clos close clôturé clôturée \
            achevés livré livrée soldé soldée réglé réglée dépanné dépannée remis_en_marche \
            est_revenu est_revenue rentré rentrée de_retour a_repris_le_travail sorti_de_l_hôpital \
            sortie_de_l_hôpital guéris remis_de remise_de cicatrisé cicatrisée pris_sa_retraite \
            a_pris_sa_retraite parti_à_la_retraite partie_à_la_retraite en_retraite s_est_séparé \
            s_est_séparée se_sont_séparés se_sont_quittés ont_divorcé a_divorcé a_rompu veuve \
            né_le a_accouché est_né est_née a_obtenu diplômée a_échoué recalé a_démissionné \
            s_est_désisté s_est_retirés dissous dissoute fermés a_fermé débloqué débloquée levé \
            levée coupé coupée éteint arrêtée abandonnée abandonné expirée échu échue fusionnés \
            publié publiée se_sont_séparées séparées rompent ont_mis_fin mis_fin_à est_rentré \
            est_rentrée sommes_rentrés suis_rentré suis_rentrée a_eu_son a_décroché_son accordé \
            accordée accordés refusé refusée validé validée signé_le signée_la bail_est_signé \
            réconciliés se_sont_réconciliés ont_fait_la_paix fait_la_paix guérie_de retapé \
            remboursé remboursée a_fini_de terminés abouti aboutie enterré sorti_d_affaire \
            tiré_d_affaire reçu_au reçue_au a_eu_le",
        changes: "déprogrammé reprogrammés reportés reportées avancés avancées augmentés doublée \
            divisée déplacés déplacées prolongées rebaptisés relégué reléguée muté_à déménagé \
            emménagé changé est_passé est_passée passé_à passée_à passé_au passée_au passé_en \
            passée_en migré migrée remplacé remplacée mis_à_jour mise_à_jour promu promue augmenté \
            augmentée baissé réduit réduite déplacé déplacée reporté reportée repoussé repoussée \
            avancé avancée prolongé prolongée devenu devenue renommé renommée converti convertie \
            porté portée relevé relevée abaissé remplace muté mutée transféré transférée \
            repeint_en grimpé doublé raccourci raccourcie s_est_installé s_est_installée \
            à_la_place modifié modifiée agrandi confié confiée cédé cédée cède laissé_la_place \
            a_déménagé vient_de_passer a_basculé basculé basculée bascule a_changé changée changés \
            a_remplacé remplacés a_migré a_augmenté a_baissé a_diminué diminué diminuée a_réduit \
            réduits a_été_relevé a_été_abaissé a_été_porté a_été_déplacé a_été_reporté \
            a_été_avancé décalé décalée décalés retardé retardée différé différée prolongés \
            rallongé rallongée écourté écourtée rétrogradé nommé nommée élu élue succède succédé \
            a_succédé repris_la_direction a_repris prend_la_suite transmis transmise remis_à \
            rebaptisé rebaptisée réécrit réécrite réaménagé repeint repeinte teint \
            coupé_les_cheveux s_est_converti s_est_convertie s_est_tourné opté opté_pour \
            préfère_finalement est_remonté est_monté est_montée est_descendu est_descendue \
            est_tombé_à a_grimpé a_bondi monté_à montée_à descendu_à descendue_à s_élève_désormais \
            élargi élargie étendu étendue rétréci agrandie triplé divisé mis_à_niveau \
            mise_à_niveau passe_à passe_au est_devenu est_devenue échangé échangée troqué troquée \
            contre_une contre_un reconverti reconvertie reprogrammé reprogrammée replanifié \
            replanifiée réaffecté réaffectée redirigé redirigée transféré_à ajusté ajustée revu \
            revue fixé_désormais revient_à retourné retournée laissé_place relayé relayée \
            va_désormais prend_désormais roule_désormais j_ai_changé ai_changé avons_changé \
            a_changé_de changé_de change_de suis_passé suis_passée sommes_passés on_est_passé \
            passent_à passé_chez passée_chez est_parti_chez est_partie_chez parti_chez partie_chez \
            je_suis_chez me_suis_installé me_suis_installée s_est_mis s_est_mise me_suis_mis \
            me_suis_mise installé_à installée_à a_emménagé emménage emménagé_à déménage déménagé_à \
            ai_déménagé avons_déménagé a_migré_vers migré_vers troqué_contre a_troqué \
            échangé_contre remplacé_par remplacée_par repris_le repris_la a_repris_le qui_a_repris \
            prend_le_relais pris_le_relais a_pris_le_relais cède_sa_place laisse_sa_place \
            succède_à fixé_à ramenée_à passée_de passé_de nouveau_poste nouvelle_adresse \
            nouveau_numéro nouvel_appartement nouvelle_date nouveau_chef nouvelle_cheffe devient \
            tourné_vers s_est_reconverti s_est_reconvertie converti_à finalement_choisi \
            choisi_plutôt a_préféré part_avec passé_d",
        begins: "marié mariée mariés acheté commencé nouveau nouvelle nouvel adopté adoptée \
            accepté rejoint embauché embauchée fiancé_à s_est_fiancé s_est_fiancée s_est_mariée \
            s_est_marié pris décroché entré intégré a_acheté s_est_acheté s_est_achetée \
            a_commencé a_débuté débuté débute commence_chez a_rejoint rejoint_l a_intégré recruté \
            recrutée engagé engagée s_est_inscrit s_est_inscrite inscrit inscrite signé signée \
            créé_sa fondé fondée lancé lancée ouvert_sa s_est_pacsé s_est_pacsée pacsés \
            se_sont_mariés se_sont_fiancés a_épousé épousé épousée a_adopté hérité loué acquis \
            acquise s_est_offert a_pris_un a_pris_une décroche nouvelle_voiture nouveaux \
            nouvelles ai_acheté avons_acheté me_suis_acheté ai_commencé avons_commencé \
            s_est_lancé s_est_lancée me_suis_lancé a_pris_un_poste pris_un_poste a_trouvé_un \
            trouvé_un_poste trouvé_un_travail trouvé_du_travail embauché_chez embauchée_chez \
            a_été_embauché a_été_embauchée entre_chez est_entré_chez est_entrée_chez a_signé \
            a_signé_chez a_ouvert ouvert_un_compte vit_en_couple en_couple s_est_mis_en_couple \
            s_est_mise_en_couple emménagé_avec a_loué a_souscrit souscrit s_est_abonné \
            s_est_abonnée s_est_pris",
        leaves: "quitté a_quitté démissionné_de démissionné licencié licenciée renvoyé quitte \
            a_démissionné a_été_licencié a_été_licenciée s_est_fait_virer viré virée renvoyée \
            remercié remerciée est_parti_de est_partie_de a_claqué parti_de partie_de sorti_de \
            ne_travaille_plus décroché_de a_arrêté_ses_études ai_quitté avons_quitté \
            ai_démissionné est_parti est_partie a_plaqué plaqué a_rendu_son_tablier \
            rendu_son_tablier a_posé_sa_démission posé_sa_démission donné_sa_démission \
            a_donné_sa_démission claqué_la_porte a_lâché_son",
        corrects: "erreur_de_ma_part au_temps_pour_moi autant_pour_moi je_corrige c_est_faux \
            c_était_faux fausse_information en_fait en_réalité correction rectification erreur \
            par_erreur plus_exactement en_vérité malentendu je_me_suis_trompé je_me_suis_trompée \
            s_est_trompé s_est_trompée trompé je_voulais_dire voulait_dire pardon plutôt_dire \
            rectifie il_s_avère s_avère s_est_avéré s_est_avérée c_était_une_erreur j_avais_tort \
            avait_tort confondu j_ai_confondu changé_d_avis a_changé_d_avis en_fin_de_compte_non",
        replaces: "au_lieu_de au_lieu_du au_lieu_d plutôt_que à_la_place_de à_la_place_du",
        contrasts: "mais",
        adds: "aussi également en_plus autre autres non_seulement pas_seulement par_ailleurs \
            de_plus ainsi_que en_outre aussi_bien supplémentaire les_deux tous_les_deux ne…que \
            n…que même de_même en_parallèle parallèlement en_même_temps simultanément à_côté_de_ça \
            outre plus_d_un plus_d_une un_deuxième une_deuxième un_autre une_autre d_autres \
            supplémentaires en_supplément non_plus_seulement ainsi_qu de_surcroît également_ \
            deuxième second seconde troisième",
        hedges: "si aimerait pourrait pourraient peut-être peut_être envisage envisagent voudrait \
            souhaite souhaiterait dit dit_que disent affirme selon croit semble pense rêve espère \
            réfléchit prétend prétendument apparemment probablement sans_doute_que il_paraît \
            paraît serait aurait vivrait travaillerait hésite compte va_peut-être doute \
            éventuellement suppose suppose_que raconte rumeur d_après devrait presque prévoit \
            projette suggère propose tente essaie imagine s_il veut_*er veut_*ir veut_*re \
            voudraient souhaitent aimeraient devraient pourrait_bien il_se_peut se_pourrait on_dit \
            on_raconte paraît-il semble-t-il dirait on_dirait prétendent affirment assure assurent \
            soutient_que estime estiment suppose_qu soupçonne présumé présumée hypothétiquement \
            théoriquement en_théorie un_jour peut-être_que à_condition pourvu_que sauf_si \
            au_cas_où en_cas_de quand_même_si à_moins_que songe songent rêve_de rêvent espèrent \
            comptent réfléchissent hésitent envisagé envisageait prévoit_de prévoient projettent \
            propose_de proposait suggéré conseille recommande_de promet promis menace plaisante \
            blague jure demandé demande_si demande_à se_demande a_dit ont_dit disait a_entendu \
            entendu_dire rumeurs bruit_court non_confirmé à_confirmer incertain incertaine douteux \
            pas_sûr pas_sûre ignore_si on_ignore cherche_à cherche_un tenterait si_possible",
        temporary: "cette_semaine la_semaine aujourd_hui hier en_vacances en_visite en_ce_moment \
            ce_mois ce_matin ce_soir temporairement pour_l_instant pour_le_moment ce_week-end \
            cette_année cet_été jusqu_à_lundi jusqu_à_mardi jusqu_à_mercredi jusqu_à_jeudi \
            jusqu_à_vendredi jusqu_à_samedi jusqu_à_dimanche jusqu_à_nouvel jusqu_au \
            jusqu_à_demain pendant_une_semaine en_voyage_d_affaires une_fois de_passage demain \
            la_semaine_dernière ce_lundi ce_vendredi provisoirement en_voyage provisoire \
            temporaire par_intérim intérimaire le_temps_de le_temps_que en_attendant jusqu_à_ce \
            jusqu_à_fin jusqu_en jusqu_à_la jusqu_à_l jusqu_à_nouvel_ordre ce_mardi ce_mercredi \
            ce_jeudi ce_samedi ce_dimanche cet_hiver ce_printemps cet_automne \
            pendant_deux_semaines pendant_un_mois pour_une_semaine pour_deux_semaines pour_un_mois \
            pour_quelques_jours quelques_jours pour_la_journée avant-hier après-demain \
            la_semaine_prochaine le_mois_prochain le_week-end_dernier exceptionnellement \
            en_déplacement en_mission en_stage_jusqu de_passage_à à_titre_d_essai à_l_essai",
        partly: "quand lorsque pendant_que seulement uniquement parfois souvent \
            dans_la_plupart_des_cas en_partie principalement surtout sauf généralement \
            habituellement directement partiellement rarement la_plupart au_besoin si_besoin \
            en_cas_d_urgence au_plus au_maximum au_minimum au_moins à_peine presque_jamais \
            de_temps_à_autre occasionnellement majoritairement essentiellement pour_l_essentiel \
            un_sur_deux durant ne…que_le ne…que_la hormis en_dehors",
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
        many: "livre_en livre_au livre_aux livrent_en livre…en livre…au abonné abonnée parle parlent aime aiment joue lit écoute mange boit connaît écrit visité acheté \
            adore adorent déteste sait cuisine collectionne membre allergique compatible \
            disponible mentionne chante danse peint regarde veut croit espère trouve pratique fan \
            peut propose recommande supporte exporte peur apprécie intéressé intéressée contient \
            soutient apprend adore_les danse_dans court_des nage pêche chasse cultive élève \
            déteste_les savoure soutient_les suit_les entraîne_des assiste_à participe_à rêve_d \
            craint redoute admire partage",
        one: "habite habitait vit vivait travaille travaillait préfère préfèrent ferme ouvre \
            commence finit appelle coûte pèse dure utilise utilisent gagne paie paye conduit roule \
            étudie réside tourne part arrive héberge hébergé hébergée basé basée écrit_en \
            écrite_en dirigé dirigée loue dort se_lève enseigne stocké stockée stocke répète \
            emploie a_lieu s_entraîne fonctionne fixé fixée prévu prévue programmé programmée \
            planifié planifiée demeure_à situé située implanté implantée s_appelle se_nomme \
            prénommé exerce enseigne_à joue_dans joue_pour chante_dans se_couche se_réveille \
            déjeune_à dîne_à voyage_en se_déplace_en va_au_travail circule_en épargne_chez \
            répond_à appartient_à compte_sur se_tient se_réunit se_déroule ouvre_à ferme_à part_à \
            tourne_sous tourne_sur fonctionne_avec fonctionne_sous écoute_sur se_gare sert_de \
            est_au_poste dirige gère suit_un_cours loué facturé assuré \
            chiffré surveillé indexé",
        measures: "coûte pèse dure gagne paie paye mesure contient prend fume accueille compte est \
            a vaut \
            limité limitée limités limitées plafonné plafonnée conservé conservée conservés conservées \
            expire expirent archivé archivée archivés archivées",
        attributes: "trésorier trésorière anniversaire âge adresse salaire loyer budget délai \
            limite prix taille poids version statut réunion date médecin chef cheffe nom prénom \
            voiture échéance téléphone portable mot_de_passe numéro port couleur favori favorite \
            préféré préférée langue branche licence poste emploi métier profession entreprise \
            employeur propriétaire dentiste avocat avocate entraîneur entraîneuse professeur \
            directeur directrice président présidente capitaine banque assurance forfait \
            abonnement université école filière ordinateur éditeur navigateur serveur \
            base_de_données framework monnaie fuseau température capacité durée hauteur objectif \
            record note dose médicament coiffeur coiffeuse bureau siège mariage rendez-vous examen \
            surnom pointure contact responsable fournisseur sponsor parrain kiné psy hébergeur \
            classe patron patronne rémunération honoraires prime cotisation frais_de_scolarité \
            taux intervalle plafond seuil plancher quota mémoire ram disque stockage résolution \
            luminosité extension code_postal code pin iban matricule pseudonyme alias nationalité \
            langue_maternelle religion domicile agence département manager gérant gérante \
            coordinateur coordinatrice superviseur maire recteur rectrice proviseur principale \
            curé gardien gardienne vétérinaire pédiatre psychologue psychiatre thérapeute \
            ophtalmologue gynécologue cardiologue conseiller conseillère comptable notaire nounou \
            baby-sitter opérateur opérateur_mobile contrat horaire ouverture fermeture départ \
            arrivée répétition entraînement cours_est rétrospective lancement livraison sortie \
            fête vacances destination système_d_exploitation langage gestionnaire_de_paquets \
            branche_principale branche_par_défaut moteur fournisseur_cloud région domaine \
            sous-domaine protocole tension pouls groupe_sanguin lunettes cheveux coiffure barbe \
            vélo petit-déjeuner équipe_de_jour poste_de_nuit réveil salle étage siège_numéro quai \
            porte point_de_rendez-vous plat_préféré film_préféré livre_préféré équipe_préférée \
            chauffage loyer_mensuel mutuelle crèche bail échéance_est",
        personal: "anniversaire âge salaire loyer poids surnom nationalité rémunération",
        of_things: "prix taille poids âge nom couleur date statut numéro capacité durée hauteur \
            code modèle marque siège_numéro taux salle",
        unique: "dernière dernier actuelle actuel officiel officielle principal principale unique \
            favori favorite préféré préférée stable",
        former: "ancien ancienne premier première précédent précédente ex deuxième second seconde \
            troisième",
        several: "port parmi passeport billet certificat sac inclut incluent comptent_parmi frère sœur fils fille ami amie cousin cousine neveu nièce chat chien client \
            cliente voisin voisine collègue oncle tante cours train bus vol voyage livre film \
            chanson colis facture commande concert recette enfant l_un_des l_une_des une_des \
            un_des",
        states: "ouvert ouverte fermé fermée | cassé cassée réparé réparée en_panne | actif \
            active inactif inactive activé désactivé allumé éteint | terminé en_cours | \
            célibataire marié mariée divorcé divorcée fiancé fiancée veuf veuve séparé séparée | \
            chômage employé employée retraité retraitée | malade guéri guérie | plein vide | \
            vivant mort | public privé | enceinte | végétarien végétarienne végan végane | vert \
            rouge | disponible épuisé | payé payée impayé | programmé annulé reporté programmée \
            annulée reportée | accepté acceptée refusé refusée | occupé occupée libre | chiffré \
            chiffrée | manuel manuelle automatique | publié brouillon | réveillé endormi | court \
            long courte longue | mouillé sec | autorisé interdit autorisée interdite | en_ligne \
            hors_ligne | content triste | propre sale | temps_plein temps_partiel mi-temps | \
            obligatoire facultatif optionnel | propriétaire locataire",
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
            droite semaine week-end weekend week-ends",
        regions: "france allemagne espagne italie suisse belgique suède norvège bretagne normandie \
            provence alsace bourgogne luxembourg portugal canada québec angleterre europe maroc \
            tunisie algérie ville village campagne étranger",
        verbs: "fum+e+ait dépend va vient met fait dort nage court arrive part sert tombe \
            appartient passe marche",
        titles: "dr m mme mlle docteur",
        idioms: "pas_mal sans_doute pas_grave de_temps_en_temps plus_près plus_ou_moins \
            de_plus_en_plus non_plus",
        home: "habite habitait vit vivait réside résidait déménagé emménagé installé installée \
            domicile adresse appartement maison loge demeure loge_à logement studio colocation \
            chambre pavillon villa foyer résidence installés emménage déménage emménagée déménagée \
            locataire_à hlm",
        work: "travaille travaillait quitté emploi étudiant étudiante étudie poste métier employé \
            employée ingénieur ingénieure avocat avocate professeur infirmier infirmière chômage \
            retraite retraité directeur directrice stagiaire apprenti apprentie serveur \
            développeur développeuse démissionné embauché embauchée licencié licenciée entreprise \
            promu promue secrétaire comptable caissier caissière vendeur vendeuse cuisinier \
            cuisinière boulanger boulangère menuisier plombier électricien électricienne \
            mécanicien mécanicienne maçon coiffeur coiffeuse juge policier policière pompier \
            fonctionnaire programmeur programmeuse informaticien informaticienne architecte \
            graphiste designer journaliste rédacteur rédactrice chercheur chercheuse scientifique \
            alternant alternante aide-soignant aide-soignante sage-femme instituteur institutrice \
            enseignant enseignante chef_de_projet responsable consultant consultante commercial \
            commerciale taxi chauffeur agriculteur agricultrice jardinier jardinière fleuriste \
            libraire bibliothécaire traducteur traductrice photographe musicien musicienne cabinet \
            clinique usine magasin université lycée collège licence master doctorat doctorant \
            doctorante thèse fac prépa terminale cdi cdd indépendant indépendante \
            auto-entrepreneur freelance mi-temps temps_plein temps_partiel bénévole entrepreneuse \
            entrepreneur employeur chômeur chômeuse barista associé associée",
        marriage: "célibataire marié mariée divorcé divorcée fiancé fiancée copine copain séparé \
            séparée veuf veuve épouse mari conjoint mariage divorce s_est_marié s_est_mariée \
            se_sont_mariés pacsé pacsée pacs fiançailles fiancés couple en_couple ex-mari ex-femme \
            petit_ami petite_amie compagnon compagne séparation noces union_libre épousé a_épousé \
            divorcés ont_divorcé a_divorcé rompu",
        diet: "viande végétarien végétarienne végan végane mange_de_la_viande régime végétarisme \
            véganisme pescétarien pescétarienne sans_gluten sans_lactose sobre alcool jeûne halal \
            casher omnivore fume fumer fumeur fumeuse cigarettes tabac mange_de_tout",
        health: "enceinte accouché malade guéri guérie arrêt_maladie blessé blessée plâtre hôpital \
            rétabli grossesse accouchement opéré opérée opération chimio chimiothérapie cancer \
            rémission grippe covid pneumonie fièvre rhume entorse fracture cassé_la_jambe \
            béquilles fauteuil_roulant rééducation hospitalisé hospitalisée convalescence \
            quarantaine congé_maternité congé_maladie diagnostiqué diagnostiquée rechute",
        auxiliaries: "a ont",
        participles: "*é *ée *és *ées *i *it *is *u",
        counting: "_ deux trois quatre cinq six sept huit neuf dix onze douze",
        age: "ans âge",
        uses: "utilise utilisent emploie conduit tourne roule",
        feels: "passion passionné passionnée fier fière reconnaissant rêve motivé motivée inspire \
            apprécie joie",
        awaits: "attend attends cherche cherchons économise prépare préparer s_entraîne encore \
            toujours_pas pas_encore peine_à a_du_mal galère lutte redoute hospitalisé \
            hospitalisée en_arrêt",
        at_last: "enfin finalement au_final depuis_lors désormais ça_y_est une_fois_pour_toutes \
            en_fin_de_compte c_est_fini c_est_terminé c_est_du_passé feu_vert ces_temps-ci \
            ces_derniers_temps sans_problème plus_une_seule plus_un_seul tout_à_fait_bien \
            sans_souci",
        recent: "hier avant-hier la_semaine_dernière le_mois_dernier l_an_dernier \
            l_année_dernière ce_matin ce_week-end le_week-end_dernier \
            cette_année récemment pendant_les_vacances samedi_dernier cet_été",
        articles: "le la les l un une des du au aux",
        finite: "est sont était étaient a ont avait avaient",
        joins: "et ou mais car que qui",
        families: "vehicle: voiture voitures moto scooter camionnette fourgon auto clio twingo \
            zoé mégane renault peugeot citroën dacia volkswagen golf polo fiat panda ford fiesta \
            toyota yaris tesla bmw audi mercedes volvo opel corsa conduit roule électrique \
            hybride diesel essence casse garage permis vélomoteur | commute: bus métro train tram \
            tramway rer vélo pied au_travail au_bureau trajet covoiturage télétravail \
            télétravaille trottinette ter | phone: téléphone portable iphone android samsung \
            galaxy pixel smartphone fairphone mobile xiaomi | computer: ordinateur macbook pc \
            tablette ipad portable_pro thinkpad | sleep: dort dormir dors dormait nuits réveil \
            réveille lève lever couche coucher insomnie insomnies sieste lit matelas \
            grasse_matinée matinal berceau | study: étudie études étudiant étudiante fac \
            université lycée collège école master licence_de thèse doctorat bac terminale seconde \
            cm1 cm2 ce1 ce2 cp sixième cinquième examen concours diplôme classe apprentissage \
            alternance redouble médecine droit prépa note notes crèche maternelle stage \
            convention_de_stage | tongue: anglais français allemand italien japonais portugais \
            chinois arabe russe néerlandais suédois coréen grec apprend langue espagnol | child: \
            enceinte grossesse bébé accouché accouchement née né naissance congé_maternité \
            jumeaux attend_un attend_une premier_enfant adoption | pet: chien chienne chat chatte \
            chaton chiot lapin hamster perroquet cheval poney tortue animal vétérinaire refuge \
            croquettes pâtée laisse cochon_d_inde adopter | allergy: allergique allergie \
            allergies intolérant intolérante intolérance tolère lactose gluten pénicilline \
            arachides pollen fruits_de_mer | medicine: médicament médicaments comprimé comprimés \
            cachets traitement dose mg insuline antibiotique antibiotiques antidépresseur \
            antidépresseurs ordonnance prescrit thérapie psy sirop | smoking: fume fumer fumeur \
            fumeuse cigarette cigarettes tabac vapote clope clopes paquet_par_jour cigare | \
            alcohol: alcool bière bières vin sobre abstinent abstinente boit whisky apéro | \
            drink: café thé expresso déca décaféiné tisane lait sucre soda cola chocolat_chaud \
            noisette | sport: foot football tennis basket natation nage gym salle_de_sport court \
            courir marathon triathlon yoga pilates boxe judo karaté kimono escalade grimpe \
            vélo_club rugby handball équipe club entraîne entraînement ski gardien badminton \
            danse athlétisme équitation volley | music: piano guitare violon violoncelle flûte \
            clarinette trompette saxophone batterie chorale orchestre groupe accordéon basse \
            hautbois chante harpe alto conservatoire | hair: cheveux barbe moustache chauve \
            frange chignon tresses blond blonde brun brune roux rousse teint teinture coloration \
            rasé rasée coupe bouclés | sight: lunettes lentilles vue myopie opération_laser | \
            bank: banque compte crédit_agricole bnp société_générale boursorama lcl \
            caisse_d_épargne carte_bancaire livret crédit_mutuel fortuneo revolut n26 | \
            insurance: assurance assureur assuré assurée mutuelle maif macif axa matmut \
            contrat_d_assurance | provider: opérateur fournisseur orange free sfr bouygues \
            forfait edf engie électricité fibre abonnement_internet box internet sosh chauffage \
            chauffe gaz pompe_à_chaleur panneaux_solaires poêle | media: netflix spotify \
            abonnement abonné abonnée journal magazine newsletter podcast deezer canal \
            résumé_quotidien le_monde | contact: adresse courriel mail numéro téléphone_fixe \
            code_postal domicile boîte_aux_lettres identifiant pseudo | money: salaire loyer \
            budget prix coûte gagne dette dettes doit crédit prêt épargne argent_de_poche \
            cotisation mensualités euros_par_mois remboursé financement subvention remboursée \
            paie | appointment: réunion rendez-vous échéance rendu mariage fête répétition cours \
            examen_est entretien lancement atelier congrès cérémonie consultation match séance \
            concert livraison point_hebdo | travel: voyage vol hôtel réservé réservation visa \
            vacances croisière lune_de_miel billet billets randonnée excursion camping séjour \
            passeport consulat | charge: dirige dirigé dirigée géré gérée gère responsable chef \
            chargé chargée mène pilote pilotage piloté pilotée maintient maintenu mainteneur \
            coordonne coordinateur coordinatrice astreinte astreintes président présidente \
            capitaine trésorier trésorière assigné confié reprend repris à_la_tête patron \
            patronne relais entraîneur entraîneuse délégué déléguée | progress: brouillon \
            en_relecture en_cours bloqué bloquée attend attente validation validé validée \
            approuvé approuvée refusé refusée ouvert ouverte fermé fermée terminé publié publiée \
            en_pause annulé production bêta en_panne plante cassé réparé livré accordé accordée \
            panne pannes | database: base_de_données mysql postgres postgresql sqlite mariadb \
            mongodb redis oracle | code: python java javascript typescript ruby rust kotlin php \
            écrit_en écrite_en réécrit réécrite langage codé | framework: framework react vue \
            angular svelte django flask rails laravel symfony wordpress prestashop magento drupal \
            | editor: éditeur vim neovim emacs vscode pycharm sublime intellij | hosting: hébergé \
            hébergée hébergement hébergeur ovh scaleway aws azure hetzner gandi serveur serveurs \
            cloud kubernetes docker cluster déployé infogérance | pipeline: ci pipeline jenkins \
            github_actions gitlab_ci build déploiement cron intégration_continue | system: linux \
            ubuntu debian windows macos système_d_exploitation fedora | chat: slack teams discord \
            whatsapp telegram zoom skype mattermost | tracker: jira trello asana linear tickets \
            redmine taiga | notes: notion obsidian evernote onenote carnet cahier excel tableur \
            agenda papier wiki confluence tableau | repository: branche branche_principale github \
            gitlab bitbucket squash rebase monorepo commits dépôt | license: licence licencié gpl \
            mit apache open_source propriétaire | format: tabulations espaces puces listes \
            markdown réponses_courtes concis détaillées formel informel ton emojis mode_sombre \
            mode_clair prose format rédigé | greeting: tutoie tutoyer vouvoie vouvoyer \
            vouvoiement tutoiement appelle surnom prénom nom s_appelle | staff: employés salariés \
            effectif membres personnes équipe_de développeurs magasins boutiques succursales \
            bénévoles | friendship: amis amies fâché fâchée fâchés réconcilié réconciliée \
            réconciliés brouillé brouillés dispute se_parlent parle_plus | injury: plâtre attelle \
            béquilles cassé_le entorse genou cheville poignet bras jambe rééducation kiné \
            blessure blessé blessée opéré opérée fauteuil_roulant fracture hôpital hospitalisé \
            hospitalisée arrêt_maladie dos convalescence | reading: lit livre roman série saison \
            chapitre lecture | furniture: frigo réfrigérateur lave-linge lave-vaisselle \
            bureau_debout télé canapé four armoire platine vinyles disques | permit: permis visa \
            nationalité titre_de_séjour passeport auto-école code_de_la_route examen_du_permis | \
            housing: appartement maison chambre studio trois-pièces deux-pièces colocation coloc \
            colocataire colocataires parents loyer bail loue louer locataire propriétaire habite \
            habitait vit emménagé emménage déménagé déménage installé installée logement | food: \
            viande végétarien végétarienne végan végane poisson fruits_mer mange mangeait régime \
            sans_gluten sucre bonbons jeûne jeûner petit-déjeuner fromage porc œufs laitages | \
            shift: équipe_de_nuit équipe_de_jour équipe_du_matin de_nuit de_jour nuits_travail \
            horaires temps_plein temps_partiel mi-temps trois-huit heures_par_semaine | files: \
            csv json xml yaml toml parquet avro pdf html docx xlsx jpeg png latex | secret: \
            mot_de_passe mots_de_passe code_pin clé_d_accès double_authentification jeton \
            certificat wifi identification | fear: peur craint crainte phobie angoisse terrifié \
            terrifiée vertige trac panique surmonté | workplace: bureau bureaux siège étage \
            open_space locaux bâtiment coworking atelier_de rez-de-chaussée poste_de_travail",
        numbered: "version ticket sprint chapitre pr rfc étage étape phase jalon épisode leçon \
            itération section page volume partie saison semaine trimestre niveau manche porte \
            salle facture commande cas article lot migration notes",
        renames: "renommé renommée rebaptisé rebaptisée renomme",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
