//! German. Nouns have a capital letter, so names cannot be told from them.

use super::Lexicon;
use super::claims::Claims;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "de",
    common: "der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine \
        keinen ist sind war waren sein bin bist hat haben hatte hatten habe hast wird werden \
        wurde wurden würde kann können konnte muss müssen musste soll sollte will wollen wollte \
        mag möchte ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein meine \
        meinen meinem meiner dein deine deinen seine seinen seinem seiner ihre ihren ihrem ihrer \
        unser unsere zu zum zur von vom mit für auf an am im in aus bei beim nach über unter vor \
        um bis durch gegen ohne als wie wenn dass ob weil denn auch noch schon nur sehr mehr \
        viel viele hier da dort so sich man doch mal ja nein etwas nichts alles gern gerne immer \
        oft dann zwischen jeder jede jedes dieser diese dieses macht geht gibt",
    stop_words: "ab als am an auf aus bei beim bis da das dass dein deine dem den denn der des die \
        dir du durch ein eine einem einen einer eines er es euch für hat hatte hatten haben hast \
        ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ist kann können man mein meine meinen \
        meiner mich mir mit nach oder ob seit sein seine seinem seinen seiner sich sie sind so \
        über um und uns unser unsere unter viel viele vom von vor wann war waren warum was wegen \
        weil welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wieso wir \
        wird wo woher wohin wurde wurden zu zum zur",
    time: "gestern heute morgen übermorgen vorgestern abend abends morgens nachts nacht mittag \
        mittags nachmittag nachmittags vormittag vormittags tag tage tagen täglich woche wochen \
        wöchentlich wochenende monat monate monaten monatlich jahr jahre jahren jährlich montag \
        montags dienstag dienstags mittwoch mittwochs donnerstag donnerstags freitag freitags \
        samstag samstags sonnabend sonntag sonntags stunde stunden minute minuten uhr letzte \
        letzten letztes letzter letztem nächste nächsten nächstes nächster nächstem seit \
        kürzlich neulich vorhin bald damals frühling frühjahr sommer herbst winter weihnachten \
        ostern silvester jahrhundert jahrzehnt später früher",
    kin: "mutter mama mutti vater papa vati schwester schwestern bruder brüder geschwister sohn \
        söhne tochter töchter frau ehefrau mann ehemann freund freunde freunden freundin \
        freundinnen familie eltern kind kinder kindern oma großmutter opa großvater großeltern \
        enkel enkelin tante onkel cousin cousine neffe nichte partner partnerin verlobter \
        verlobte kollege kollegen kollegin kolleginnen chef chefin mentor mentorin team nachbar \
        nachbarn nachbarin mitbewohner mitbewohnerin schwager schwägerin schwiegermutter \
        schwiegervater lehrer lehrerin arzt ärztin vermieter",
    months: [
        "januar jänner #jan",
        "februar #feb",
        "märz #mrz",
        "april #apr",
        "*mai",
        "juni #jun",
        "juli #jul",
        "august #aug",
        "september #sep #sept",
        "oktober #okt",
        "november #nov",
        "dezember #dez",
    ],
    in_month: "im in seit bis anfang mitte ende ab nach vor letzten nächsten",
    asks: "warum wieso weshalb weswegen wozu womit wofür worüber worauf woran wovon wodurch ist \
        sind war waren hat haben hatte hatten kann können konnte muss soll sollte wird werden \
        wurde würde will wollte mag möchte gibt gab",
    when: "wann",
    place: "wo wohin woher",
    who: "wer wen wem wessen",
    which: "welche welcher welches welchen welchem was",
    how: "wie wieviel wieviele",
    named: "stadt städte städten buch bücher name namen land länder ort orte lied lieder film filme \
        spiel firma unternehmen band künstler künstlerin schule universität restaurant hotel \
        straße verein sprache",
    called: "heißt heißen hieß hießen nennt genannt",
    times: "lange oft alt spät tag tage tagen woche wochen monat monate monaten jahr jahre jahren \
        stunde stunden minuten datum zeit uhrzeit uhr wochentag",
    articles: "der die das den dem des ein eine einen einem einer eines kein keine keinen keinem \
        keiner mein meine meinen meinem meiner dein deine deinen deinem deiner sein seine seinen \
        seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren unserem unserer euer eure \
        dieser diese dieses diesen diesem jeder jede jedes jeden jedem welcher welche welches \
        welchen welchem alle allen viele vielen mehr im am zum zur vom beim ins ans",
    numbers: "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend beide beiden",
    conditions: "before: vor bevor kurz_vor kurz_bevor | until: bis | since: seit ab | after: nach \
        | from: von | to: bis | between: zwischen | and: und | beginning: anfang beginn \
        ersten_tagen_des ~anfing ~begann ~begonnen_hatte ersten_tag_des | middle: mitte | end: ende \
        letzten_tagen_des ~endete ~zu_ende_ging letzten_tag_des | back: damals_im | in: im während_des \
        während | newest: zuletzt letzte_stand letzten_stand neueste neuesten zum_letzten_mal \
        das_letzte_mal letztes_mal letzte_änderung zuletzt_geändert zuletzt_angefasst \
        zuletzt_bearbeitet neuester_stand aktueller_stand aktuelle_stand aktuellen_stand | oldest: \
        zuerst als_erste als_erster als_erstes erste anfangs ursprünglich ganz_am_anfang am_anfang \
        angefangen am_allerersten | what: was welche welcher welches welchen wodurch womit wovon | \
        follows: kam_nach folgte_auf nachfolger_von nachfolgerin_von wodurch_wurde ersetzte ersetzt | \
        precedes: wurde_durch vorgänger_von vorgängerin_von ersetzt_durch abgelöst_durch abgelöst_von \
        | while: zur_zeit_von zu_zeiten_von in_der_zeit_von zu_der_zeit_als zur_zeit_als damals_als | \
        when: während als solange an_dem_tag_als in_dem_moment_als | decides: entschieden entschied \
        wählten gewählt einigten eingeführt wechselten umstiegen umgestiegen | we: wir | cuts: nehmen \
        nimmt nutzen nutzten verwenden verwendeten benutzen benutzten ersetzt nahmen kam kamen war \
        waren wurde hatten noch als wer was welche welcher welches wo wie | past: war waren hatte \
        hatten galt galten wurde lief liefen | states: galt gilt galten gelten | units: tag tage woche \
        wochen wochenende monat monate jahr jahre nacht abend",
    claims: Claims {
        now: "seit_heute seit_gestern seit_heute_morgen seit_dieser_woche von_jetzt_an von_heute_an seit_kurzem zurzeit momentan gegenwärtig jetzt nun \
            inzwischen mittlerweile ab_jetzt ab_sofort künftig neuerdings derzeit aktuell \
            von_nun_an ab_heute heutzutage seit_neuestem nunmehr fortan seit",
        ends: "ist_geschichte hat_ausgedient ist_lahmgelegt drangegeben dran_gegeben gibt…dran \
            nicht_mehr nicht…mehr kein…mehr keine…mehr keinen…mehr keinem…mehr keiner…mehr \
            nie_mehr nie_wieder aufgehört hört…auf hörte…auf aufgegeben gibt…auf gab…auf \
            nicht_länger mit_dem…aufgehört hat…aufgehört hörte_auf hat_aufgegeben gab_auf \
            abgewöhnt sich…abgewöhnt nie_mehr…seit gar_nicht_mehr gar_kein…mehr \
            überhaupt_nicht_mehr überhaupt_kein…mehr ist…kein…mehr eingestellt_worden \
            damit_aufgehört verzichtet_auf verzichtet_inzwischen nicht_weiter rührt…nicht_mehr \
            rührt…keinen…mehr die_finger_von lässt_die_finger aufgehört_mit schluss_mit \
            hat_schluss_mit macht_schluss keine_lust_mehr genug_von beiseitegelegt ließ_es_sein \
            lässt_es_sein abgeschworen losgekommen_von weg_vom abgesetzt abgelegt auf_eis_gelegt \
            eingestellt_wird abgeschaltet schaltet…ab schaltete…ab wird_nicht_mehr entfällt \
            entfallen fällt_aus fällt_weg weggefallen ausgesetzt",
        disposes: "verkauft verkaufte storniert abgesagt gestorben verstorben abgegeben \
            verschenkt gekündigt weggeworfen verloren entfernt gelöscht abgeschafft zurückgegeben \
            abbestellt starb veräußert versteigert verpfändet entsorgt verschrottet \
            eingeschläfert weggegeben weggelaufen gestohlen_worden geklaut gestohlen \
            verloren_gegangen kaputtgegangen zurückgeschickt abbestellte kündigte_das \
            auslaufen_lassen losgeworden getrennt_von abgemeldet_von hergegeben ausrangiert \
            abgerissen widerrufen aufgekündigt loswerden weggetan abgestoßen ist_weg sind_weg \
            auf_dem_schrott zum_schrott zum_sperrmüll in_den_müll weggeschmissen eingetauscht \
            in_zahlung_gegeben abgegeben_an ins_tierheim über_die_regenbogenbrücke \
            verabschiedet_von hat_sich_von…getrennt gab…ab schaffte…ab schafft…ab gaben…ab \
            verkauften verkaufe verschenkte kündigten kündige stornierte stornierten cancelte \
            gecancelt nicht_verlängert ließ…auslaufen lassen_auslaufen einschläfern_lassen \
            geht_an_den_nagel an_den_nagel_gehängt hängte…an_den_nagel in_die_tonne eingestampft \
            gelöscht_worden den_geist_aufgegeben totalschaden überlassen vermacht abgeklemmt",
        closes: "ist_raus sind_raus wiedereröffnet wiedereröffnete wieder_geöffnet hat_wieder_auf \
            beendet abgeschlossen behoben repariert erledigt gelöst abgebrochen zurückgetreten \
            ausgetreten ausgezogen abgemeldet aufgelöst bestanden funktioniert_wieder wieder \
            genesen gesund geschieden getrennt scheiden_lassen fertiggestellt eingestellt gefunden \
            erreicht stillgelegt abgelaufen zurück in_rente im_ruhestand entbunden \
            zur_welt_gebracht geheilt geschlossen gemergt veröffentlicht vorbei tot falsch ehemals \
            hinfällig fertig beendete schloss_ab abgehakt zugemacht dichtgemacht dicht_gemacht \
            aus_dem_verkehr außer_betrieb ausgelaufen abgeheilt verheilt auskuriert überstanden \
            wieder_gesund entlassen_aus aus_dem_krankenhaus wieder_da wieder_zurück wieder_im \
            wieder_online läuft_wieder geht_wieder klappt_wieder gelandet heimgekehrt pensioniert \
            berentet emeritiert verabschiedet freigesprochen niedergelegt niederlegte trat_zurück \
            schied_aus verließ_den getrennte aus_und_vorbei schluss_gemacht auseinandergegangen \
            auseinander verwitwet ausgebucht abgelehnt angenommen_worden bestand durchgefallen \
            abgegeben_worden nachgereicht freigegeben freigeschaltet entsperrt gesperrt_worden \
            aufgehoben zur_welt geboren bekam_ein hat_entbunden beglichen abbezahlt getilgt \
            bezahlt nachgeholt ausgeheilt gips_ist_ab abgenommen gehen_getrennte_wege \
            getrennte_wege geht_eigene_wege hat_bestanden wieder_zu_hause ist_zurück sind_zurück \
            heimgekommen zurückgekommen wieder_fit wieder_auf_den_beinen ist_durch wurde_genehmigt \
            wurde_bewilligt bewilligt zugestimmt abgesegnet unterzeichnet gemerged wurde_behoben \
            ist_behoben aufgegangen zu_ende endete endet_im ist_vorbei sind_vorbei ausgestanden \
            aufgeklärt beigelegt begraben versöhnt hat_sich_gelegt schulden_los abgestottert",
        changes: "aufgerüstet wurde_abgelöst heißt_jetzt aufgestockt_auf gesenkt_auf erhöht_auf \
            verlegt_auf verschoben_auf vertagt_auf umgelegt skaliert hochskaliert degradiert \
            versetzt versetzte umziehen verdoppelte halbierte verlängerte verkürzte hob…an \
            setzte…herab gezogen umgezogen zog zieht gewechselt wechselte wechselt umgestellt \
            umgestiegen migriert ersetzt ersetzte aktualisiert befördert erhöht gesenkt gestiegen \
            gesunken gewachsen geschrumpft verlegt verschoben verlängert verkürzt umbenannt \
            geworden wurde…zu umgeschrieben umlackiert gestrichen angehoben reduziert halbiert \
            verdoppelt vorverlegt vorgezogen umgebucht übergeben übernommen ausgetauscht getauscht \
            geändert ändert angepasst stieg sank umgeschult stattdessen hochgesetzt herabgesetzt \
            heraufgesetzt abgelöst portiert verlagert umgeschwenkt angeboten weggezogen \
            gewechselt_zu wechselten umgerüstet umgestaltet umgeleitet umgebaut umgeschaltet \
            umgetauscht umgezogen_nach übergesiedelt hingezogen zog_um zieht_um zog_nach zog_in \
            zieht_nach herabgestuft heraufgestuft hochgestuft aufgestockt gekürzt verringert \
            vermindert gestiegen_auf stieg_auf sank_auf fiel_auf gefallen verdreifacht ausgeweitet \
            ausgebaut eingeschränkt vorgerückt nach_hinten_verschoben hinausgezögert verzögert \
            vertagt aufgeschoben verschob verlegte erhöhte senkte reduzierte wechselt_auf ersetzen \
            abgelöst_durch tritt_an_die_stelle aufgestiegen befördert_zur befördert_zum ernannt \
            gewählt wurde_zum wurde_zur wird_jetzt umgetauft umformatiert umgemeldet umgesattelt \
            umgelernt neu_vergeben übernahm übernimmt übergab abgetreten weitergegeben gestaffelt \
            aktualisierte upgegradet geupdatet migrierte portierte verkleinert vergrößert \
            verbreitert verengt geändert_auf geändert_in getauft neu_gestrichen lackiert gefärbt \
            geschnitten geht_jetzt nimmt_jetzt stellt_um stellte_um steigt_um stieg_um \
            stieg_auf_um rüstete_um zurückgekehrt zurückgegangen zurückgewechselt lieber \
            doch_lieber neuerdings_nicht entschied_sich_für wechselte_von tauschte gegen_einen \
            gegen_eine gegen_ein_anderes gehoben hochgezogen umgehängt umgesattelt_auf \
            wechselte…zu wechselt…zu wechselten…zu stieg…um steigt…um stellte…um stellt…um \
            stellten…um zog…um zieht…um zogen…um zog…nach tauschte…gegen getauscht_gegen \
            ersetzte…durch wurde…verlegt hochgegangen runtergegangen rauf runter hochgesetzt_auf \
            nunmehriger neuer_chef neue_chefin neue_stelle neue_adresse neue_nummer neue_wohnung \
            neues_auto neues_handy neuer_termin neuer_name statt_dessen anstelle_dessen \
            übernommen_von geht_an_den übergeben_an abgelöst_von nachfolger nachfolgerin folgt_auf \
            an_die_stelle umgeschult_zum umgeschult_zur avancierte aufgerückt angeboten_das_du \
            das_du_angeboten wurde_ersetzt wird_ersetzt umentschieden anders_entschieden \
            wechselt_in in_die_tagschicht",
        begins: "noch_einmal nochmals angefangen begonnen gekauft geheiratet verheiratet fing…an \
            begann kaufte heiratete angenommen eingestellt_worden neue neuen neuer neues bekommen \
            verlobt angeschafft beigetreten adoptiert eröffnet gestartet neu eingestiegen \
            eingetreten anfängt beginnt_bei fängt_bei fing_bei startete startet_bei angestellt_bei \
            eingestellt_bei arbeitet_seit zugesagt unterschrieben immatrikuliert eingeschrieben \
            gegründet gründete zog_ein eingezogen zusammengezogen verlobte_sich sich_verlobt \
            trauten_sich getraut gelassen_trauen übernommen_hat geerbt gemietet geleast zugelegt \
            erworben adoptierte bezogen hat_eine_neue hat_einen_neuen hat_ein_neues fing_an \
            fange_an fängt_an hat_angefangen neu_bei anfing gönnte_sich sich…gegönnt holte_sich \
            sich…geholt sich…zugelegt legte_sich…zu schaffte_sich…an angelegt eröffnete \
            eröffnet_bei trat…bei tritt…bei stieg…ein steigt…ein bezog bezieht unterschrieb \
            zog_mit…zusammen hat_den_zuschlag hat_die_stelle hat_den_job eingestellt_als",
        leaves: "gekündigt verlassen verließ ausgeschieden entlassen abgebrochen kündigte \
            verlässt weggezogen ausgezogen verzogen hat…verlassen gefeuert wurde_entlassen \
            gekündigt_worden ausgestiegen ausgestiegen_bei aufgehört_bei abgebrochen_hat \
            exmatrikuliert schmiss hingeschmissen geschmissen gegangen_bei wechselt_von hört_bei \
            weg_von abgegangen ausgetreten schmiss…hin wirft…hin warf…hin hörte_bei \
            ausgeschieden_aus ausgetreten_aus trat…aus tritt…aus stieg…aus steigt…aus zog…aus \
            zieht…aus wurde_gekündigt wurde_rausgeworfen rausgeflogen hat…hingeworfen abgeworben",
        corrects: "kommando_zurück mein_fehler muss_mich_korrigieren ich_korrigiere ist_falsch \
            war_ein_irrtum eigentlich tatsächlich korrektur in_wahrheit falsch richtigstellung \
            in_wirklichkeit berichtigung genauer_gesagt irrtum missverständnis versehentlich \
            ich_meinte ich_habe_mich_geirrt hat_sich_geirrt habe_mich_geirrt geirrt vertan \
            verwechselt stimmt_nicht stimmte_nicht stimmt_doch_nicht kleine_korrektur sorry \
            entschuldigung ach_nein nein_doch stellte_sich_heraus stellt_sich_heraus \
            hat_sich_herausgestellt herausgestellt doch_nicht war_falsch meinung_geändert \
            anders_überlegt",
        replaces: "statt anstatt anstelle_von anstelle",
        contrasts: "sondern",
        adds: "auch zudem außerdem zusätzlich weitere weiterer weiteres weiteren weiterem \
            nicht_nur noch_ein noch_eine noch_einen ebenfalls ebenso daneben darüber_hinaus \
            obendrein andere anderer anderes anderen anderem beide beides sowohl neben ferner \
            noch_dazu dazu_noch nebenbei nebenher parallel gleichzeitig sowie plus mehr_als_eine \
            sowohl…als weiterhin überdies obendrauf zweitwohnung zweitwagen ersatz extra \
            zusätzliche zusätzlicher zusätzliches zusätzlichen zweite zweiter zweites zweiten \
            zweitem dritte dritter drittes dritten",
        hedges: "wenn falls ob würde würden vielleicht überlegt überlegen erwägt erwägen könnte \
            könnten angeblich sagt sagte sagen behauptet behauptete meint meinte glaubt glaubte \
            denkt dachte laut anscheinend wohl unklar träumt hofft plant planen möglicherweise \
            eventuell wird…wollen möchte…werden zufolge vermutlich wahrscheinlich sollte soll \
            dürfte vorhat hat_vor scheint scheinbar offenbar gern…arbeiten wünscht wünscht_sich \
            fragt_sich mutmaßlich zweifelt gerüchte gerücht unsicher es_heißt erzählt erzählte \
            findet hört_man vorschlägt vorgeschlagen sofern angenommen beinahe fast bewirbt_sich \
            beworben versucht will_*en wollte_*en will…*en würd wär wäre wären hätte hätten käme \
            müsste müssten dürften möchte_gern möchte_gerne gern_hätte gerne_hätte überlege erwog \
            nachdenkt denkt_darüber denkt_über spielt_mit_dem_gedanken liebäugelt träumte hoffte \
            plante geplant_sein beabsichtigt vorhaben will_vielleicht soll_angeblich vermutet \
            vermutete mutmaßt spekuliert schätzt schätzungsweise womöglich gegebenenfalls notfalls \
            unter_umständen je_nachdem vorausgesetzt angenommen_dass unbestätigt fraglich \
            zweifelhaft ungewiss unbekannt_ob strittig erzählen berichtet berichtete gehört_dass \
            habe_gehört hörensagen versprach verspricht scherzt scherzhaft schlug_vor schlägt_vor \
            empfiehlt empfahl rät wollte…werden fragt fragte fragten im_gespräch steht_zur_debatte \
            im_raum soweit theoretisch hypothetisch irgendwann eines_tages",
        temporary: "diese_woche heute gestern im_urlaub zu_besuch momentan vorübergehend zurzeit \
            diesen_monat dieses_wochenende heute_abend heute_morgen dieses_jahr diesen_sommer \
            für_eine_woche für_ein_paar_tage bis_montag bis_dienstag bis_mittwoch bis_donnerstag \
            bis_freitag bis_samstag bis_sonntag bis_morgen bis_ende bis_nächste bis_auf_weiteres \
            bis_zum ausnahmsweise einmal auf_dienstreise auf_reisen morgen im_moment vorerst \
            zeitweise letzte_woche diesmal diesen_montag diesen_freitag übergangsweise \
            interimsweise kurzfristig aushilfsweise vertretungsweise zwischenzeitlich solange \
            bis_zur bis_zu_den bis_zum_ende bis_märz bis_april bis_mai bis_juni bis_juli \
            bis_august bis_september bis_oktober bis_november bis_dezember bis_januar bis_februar \
            für_zwei_wochen für_drei_wochen für_einen_monat für_zwei_monate für_drei_monate \
            für_ein_jahr für_den_sommer für_ein_wochenende für_einen_tag übers_wochenende \
            kommende_woche nächste_woche nächsten_monat auf_zeit auf_durchreise gerade_in \
            heute_nacht letzten_samstag dieses_mal nur_heute vorgestern übermorgen \
            aktuell_zu_besuch zur_probe probeweise versuchsweise",
        partly: "während nur nur_noch bloß teilweise manchmal oft meist meistens in_den_meisten_fällen \
            hauptsächlich gelegentlich selten ausschließlich direkt außer zeitweilig fast_nur \
            zum_teil wenn_er falls_nötig bei_bedarf höchstens mindestens lediglich größtenteils \
            überwiegend vorwiegend meistens_nur sofern_möglich ab_und_zu_nur jedes_zweite \
            an_manchen hin_und_wieder_nur sonst sonntags_nur im_notfall nur_wenn kaum solange_er",
        denies: "nicht kein keine keinen keinem keiner keines nie niemals weder ohne",
        from: "von vom",
        to: "ins ans auf zu zur zum nach in",
        user: "nutzer nutzers nutzerin benutzer benutzers benutzerin anwender",
        be: "ist sind war waren bin : =",
        have: "hat habe haben hatte hatten besitz+t+en besaß",
        prepositions: "ab auf aus außer bei beim bis durch für gegen hinter im in ins mit nach \
            neben ohne pro seit trotz über um unter von vom vor wegen zu zum zur zwischen an am \
            als per",
        function: "der die das den dem des ein eine einen einem einer eines und oder sich er sie \
            es kann können hat haben wird werden wurde wurden worden gern gerne schon sein seine \
            seinen seinem seiner ihr ihre ihren ihrem ihrer immer noch so sehr dass dort da",
        owners: "sein seine seinen seinem seiner seines ihr ihre ihren ihrem ihrer ihres dies \
            dieser diese dieses diesen diesem jener jene jenes mein meine meinen meiner unser \
            unsere",
        indefinite: "ein eine einen einem einer eines einige mehrere viele manche zwei_der",
        kin: "mieter mieterin mieters kunde kundin kunden hund hunde hundes katze katzen kater \
            schwiegersohn schwiegertochter stiefsohn stieftochter patenkind patensohn zwilling \
            zwillinge haustier pferd kaninchen baby ex-frau ex-mann schwiegereltern schwester \
            schwägerin tanten enkelkind kumpel gast gäste",
        not_kin: "familie chef chefin mentor mentorin team lehrer lehrerin arzt ärztin vermieter",
        many: "liefert_nach liefern_nach liefert…nach liefern…nach mag mögen liebt hasst kennt spielt spielen liest hört isst trinkt schreibt \
            unterstützt mitglied spricht sprechen allergisch verfügbar kompatibel erwähnt sammelt \
            verträgt braucht möchte glaubt hofft findet besucht schaut guckt kocht backt singt \
            lernt reist fan interessiert kann können beherrscht verkauft kaufte gekauft gern gerne \
            empfiehlt wünscht nimmt züchtet malt tanzt bietet nutzt_auch enthält pflegt angst",
        one: "findet…statt fand…statt stattfindet wohn+t+en+te leb+t+en+te arbeit+et+en+ete heißt \
            lautet schließt öffnet beginnt endet fährt bevorzug+t+en läuft kostet wiegt dauert \
            beträgt verdien+t+en studier+t+en nutz+t+en verwende+t+n benutz+t+en startet geht_um \
            steht_um lauscht unterrichtet mietet geschrieben gehostet gespeichert betrieben \
            geleitet gehört trainiert spielt_bei pendelt schläft probt findet_statt tagt speichert \
            basiert verwaltet betreut geplant eingestellt vorgesehen angesetzt festgelegt begrenzt \
            erlaubt verwendet setzt nutzt wohnhaft sitzt_in ansässig tätig jobbt schafft_bei lehrt \
            lernt_bei trinkt_morgens geht_ins_bett wacht_auf frühstückt trägt kauft_bei \
            spart_bei versichert_bei pendelt_mit fährt_mit reist_mit gehostet_bei liegt_bei \
            läuft_unter läuft_auf läuft_mit hört_auf_den_namen nennt_sich schreibt_mit \
            programmiert_mit turnt trainiert_bei spielt_für spielt_in unterrichtet_an parkt \
            dient_als trifft_sich tagt_in findet_in erscheint schaltet kostet_jetzt zahlt_für \
            gemietet versichert verschlüsselt gerundet abgerechnet überwacht \
            indexiert",
        measures: "zählt zählen umfassen beträgt kostet wiegt dauert fasst verdient zahlt braucht \
            misst hat umfasst besteht raucht trinkt erlaubt versucht_es wiederholt \
            begrenzt beschränkt limitiert aufbewahrt fällig gültig gelöscht archiviert aufgehoben",
        attributes: "kassenwart kassenwartin schatzmeister schatzmeisterin schriftführer \
            schriftführerin ruhepuls geburtstag alter adresse gehalt miete budget frist zeitlimit \
            limit preis größe gewicht version status lieblingsfarbe lieblings* stelle chef chefin \
            lehrer lehrerin arzt ärztin hausarzt hausärztin zahnarzt zahnärztin treffen \
            wochentreffen termin abgabe auto telefonnummer passwort lizenz abgabetermin name \
            wohnort anschrift beruf position vermieter vermieterin mail e-mail handynummer nummer \
            port sprache server datenbank editor browser betriebssystem handy telefon smartphone \
            laptop farbe motto konto bank versicherung tarif abo kapitän trainer trainerin leiter \
            leiterin vorsitzende vorsitzender direktor direktorin schule universität hochschule \
            studienfach hauptfach klasse note kurs standard rechner framework bibliothek werkzeug \
            ziel rekord temperatur dauer länge breite höhe kapazität quote schwelle abteilung büro \
            hauptsitz sitz veranstaltungsort ort treffpunkt zeitzone währung betreuer betreuerin \
            ansprechpartner ansprechpartnerin steuerberater friseur dosis medikament schriftart \
            tastatur kennwort zugangscode kennzeichen stammlokal haarfarbe hochzeit umzugstermin \
            prüfung standup besprechung sitzung mietpreis warmmiete kaltmiete stundenlohn lohn \
            monatsgehalt jahresgehalt taschengeld beitrag mitgliedsbeitrag gebühr zinssatz rate \
            taktung takt intervall timeout arbeitsspeicher speicherplatz speicher festplatte \
            schriftgröße lautstärke helligkeit auflösung rufnummer durchwahl hausnummer \
            postleitzahl plz wlan-passwort pin iban steuernummer kundennummer geburtsdatum \
            geburtsort staatsangehörigkeit nationalität konfession religion muttersprache \
            spitzname nachname vorname mädchenname familienname künstlername benutzername standort \
            filiale abteilungsleiter abteilungsleiterin teamleiter teamleiterin vorgesetzter \
            vorgesetzte geschäftsführer geschäftsführerin projektleiter projektleiterin \
            klassenlehrer klassenlehrerin bürgermeister bürgermeisterin rektor rektorin dirigent \
            dirigentin pfarrer pfarrerin hausmeister hausmeisterin tierarzt tierärztin kinderarzt \
            kinderärztin frauenarzt frauenärztin physiotherapeut physiotherapeutin therapeut \
            therapeutin anwalt anwältin notar babysitter nachhilfelehrer fahrlehrer krankenkasse \
            hausbank stromanbieter anbieter lieferant mobilfunkanbieter internetanbieter vertrag \
            laufzeit kündigungsfrist öffnungszeit öffnungszeiten schließzeit abfahrt ankunft \
            anpfiff probe training übungsstunde unterricht kurs_ist stammtisch sprechstunde \
            jour_fixe retro veröffentlichung erscheinungstermin liefertermin starttermin start \
            hochzeitstermin feier party lieblingsessen lieblingsfilm lieblingsbuch lieblingsband \
            lieblingsverein standardbrowser texteditor programmiersprache paketmanager \
            testframework build-system hauptbranch standardbranch datenbanksystem zielumgebung \
            rechenzentrum hoster domain subdomain protokoll lizenzmodell maximalgröße mindestalter \
            wasserstand blutdruck puls blutgruppe schuhgröße konfektionsgröße brille sehstärke \
            haare frisur bart wagen dienstwagen fahrrad roller motorrad kaffee frühstück \
            schichtplan schicht arbeitszeit arbeitsbeginn feierabend weckzeit wecker bettzeit \
            zimmer zimmernummer raum stockwerk etage platz sitzplatz gleis bahnsteig gate \
            treffpunkt_ist tagungsort spielort urlaubsziel reiseziel ziel_ist beraterin berater \
            sachbearbeiter sachbearbeiterin betreuung",
        personal: "geburtstag gehalt miete gewicht körpergröße alter wohnort stundenlohn \
            jahresgehalt monatsgehalt taschengeld spitzname geburtsdatum schuhgröße",
        of_things: "preis größe gewicht alter name farbe länge breite höhe nummer klasse status \
            dauer rate gebühr raum platz modell marke",
        unique: "neueste neuester neuestes neuesten aktuelle aktueller aktuelles aktuellen \
            standardmäßige einzige hauptsächliche offizielle letzter lieblings*",
        former: "erste erster erstes ersten frühere früherer früheres früheren ehemalige \
            ehemaliger vorherige vorheriger damalige ex- zweite zweiter zweiten dritte dritter \
            dritten zweites drittes",
        several: "port teil_von zu…gehört zu…gehören pass reisepass fahrkarte eintrittskarte zertifikat tasche abonnement zu_den bruder schwester sohn tochter kind freund freundin kollege kollegin nichte neffe \
            katze hund kunde kundin mitglied nachbar nachbarin mitbewohner enkel enkelin tante \
            onkel gast autor autorin lieferant schwager schwägerin teilnehmer teilnehmerin \
            sprecher stunde vorlesung schicht zug bus paket film buch lied flug reise besuch anruf \
            rechnung bestellung konzert spiel rezept eine_der einer_der eines_der eine_ihrer \
            eines_ihrer einer_ihrer eine_seiner eines_seiner einer_seiner einen_der stiefsohn \
            stieftochter patenkind mitautor mitautorin schwippschwager",
        states: "offen geschlossen erledigt | defekt kaputt repariert intakt heil | aktiv inaktiv \
            aktiviert deaktiviert an aus | fertig unfertig | gesperrt entsperrt frei | ledig \
            verlobt verheiratet geschieden getrennt verwitwet | arbeitslos angestellt \
            selbstständig selbständig rentner | krank gesund | voll leer | grün rot | öffentlich \
            privat | schwanger | vegetarier vegan vegetarisch | lebendig tot | verfügbar \
            ausverkauft | bezahlt unbezahlt überfällig | geplant abgesagt verschoben | genehmigt \
            abgelehnt ausstehend | laut leise | nass trocken | besetzt belegt | lang kurz | \
            automatisch manuell händisch | veröffentlicht unveröffentlicht entwurf | bestanden \
            durchgefallen | wach schlafend | online offline | entworfen gemergt gemerged | \
            erlaubt verboten | verschlüsselt unverschlüsselt | glücklich unglücklich | \
            schreibgeschützt beschreibbar | besetzt unbesetzt | pünktlich verspätet | vollzeit \
            teilzeit | eigentümer mieter eigentümerin mieterin | pflicht freiwillig | tagschicht \
            nachtschicht frühschicht spätschicht",
        units: "sekunde sekunden minute minuten stunde stunden tag tage tagen woche wochen monat \
            monate monaten jahr jahre jahren prozent zeichen zeilen mitglieder mitgliedern uhr \
            euro franken kilo kg g km m cm gb mb tb ms liter grad anfragen personen leute leuten \
            mitarbeiter mitarbeitern kilometer meter punkte punkten seiten mal",
        days: "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags \
            dienstags mittwochs donnerstags freitags samstags sonntags",
        seasons: "frühling frühjahr sommer herbst winter ostern weihnachten q1 q2 q3 q4",
        past: "war waren hatte hatten traf ging sah hielt fiel stieg kam gab wurde wurden fuhr \
            flog kaufte besuchte machte spielte las schrieb aß trank fand verlor gefahren geflogen \
            gegangen gelaufen gekommen gereist geblieben geboren gewandert geschwommen",
        qualifiers: "morgens abends nachts mittags vormittags nachmittags werktags wochenende \
            sommer winter frühling herbst testumgebung produktion entwicklung arbeit zuhause gäste \
            links rechts oben unten innen außen wochenenden feiertage feiertagen urlaub \
            teilzeit vollzeit elternzeit kurzarbeit schichten miete untermiete eile ruhe freude \
            kerzenlicht wg",
        regions: "deutschland österreich schweiz frankreich spanien italien polen niederlande \
            belgien bayern sachsen hessen europa thüringen brandenburg schleswig-holstein \
            niedersachsen baden-württemberg nordrhein-westfalen dänemark schweden norwegen \
            portugal griechenland türkei kroatien ungarn stadt dorf land ausland",
        verbs: "rauch+t+en schwimm+t+en steht liegt gehört besteht geht kommt zahlt raucht \
            arbeitet kündig+t+te funktionier+t+en fliegt reist trainiert geduzt gesiezt wird \
            werden machen macht ruft schickt dreht zieht sitzt gefragt hängt",
        titles: "dr herr frau herrn prof",
        idioms: "kein_wunder kein_zweifel nicht_schlecht nicht_zuletzt nicht_un* am_leben \
            mehr_oder_weniger immer_wieder nach_wie_vor hin_und_wieder ab_und_zu",
        home: "wohn+t+en+te+haft+ort leb+t+en+te gezogen umgezogen zog ansässig adresse wohnung \
            anschrift eingezogen ausgezogen umzug daheim zieht weggezogen gemietet mietet miete_in \
            lebt_jetzt zuhause untermiete wg wohngemeinschaft reihenhaus haus_in eigenheim \
            bauernhof studentenwohnheim wohnheim zimmer_in hausboot umgesiedelt übergesiedelt \
            wohnsitz meldeadresse heimgekehrt",
        work: "arbeit+et+en+ete gekündigt angestellt beschäftigt stelle studiert studium student \
            studentin beruf arbeitslos arbeitgeber job azubi ausbildung lehre lehrling ingenieur \
            ingenieurin entwickler entwicklerin leiter leiterin assistenzarzt assistenzärztin \
            oberarzt oberärztin befördert rente rentner rentnerin praktikant praktikantin firma \
            selbstständig selbständig freiberuflich schüler schülerin pfleger pflegerin \
            krankenpfleger krankenschwester erzieher erzieherin lehrerin lehrer verkäufer \
            verkäuferin koch köchin kellner kellnerin bäcker bäckerin tischler tischlerin \
            schreiner schreinerin elektriker elektrikerin mechaniker mechanikerin maurer maler \
            malerin friseurin friseur anwalt anwältin richter richterin polizist polizistin \
            beamter beamtin buchhalter buchhalterin sekretärin sekretär programmierer \
            programmiererin informatiker informatikerin architekt architektin designer designerin \
            journalist journalistin redakteur redakteurin professor professorin dozent dozentin \
            doktorand doktorandin forscher forscherin wissenschaftler wissenschaftlerin \
            werkstudent werkstudentin volontär volontärin referendar referendarin trainee geselle \
            gesellin meister meisterin abteilungsleiter abteilungsleiterin geschäftsführer \
            geschäftsführerin projektleiter projektleiterin berater beraterin vertrieb taxifahrer \
            busfahrer busfahrerin landwirt landwirtin gärtner gärtnerin hausmann hausfrau \
            elternzeit teilzeit vollzeit arbeitssuchend arbeitgeberin klinikum kanzlei abitur uni \
            universität hochschule semester klasse tätig jobbt beschäftigung anstellung \
            festanstellung kündigung pensioniert",
        marriage: "ledig verlobt verheiratet geheiratet geschieden scheiden_lassen getrennt single \
            heiratete hochzeit verwitwet ehe partnerin partner freundin_ist scheidung trennte \
            verlobte verlobter liiert vergeben zusammen_mit trauung geehelicht ehemann ehefrau \
            freund_von beziehung verwitwete witwe witwer trennung verpartnert getraut \
            schluss_gemacht alleinstehend",
        diet: "isst_fleisch vegetarier vegetarierin vegan veganer veganerin vegetarisch fleisch \
            glutenfrei laktosefrei diät fleischlos pescetarisch allesesser trinkt_keinen_alkohol \
            alkohol abstinent nüchtern koscher halal low-carb pflanzlich rohkost fastet raucht \
            rauchen raucher raucherin zigaretten nichtraucher isst_alles isst_einfach_alles",
        health: "schwanger entbunden krankgeschrieben krank gesund genesen verletzt gips \
            krankenhaus krankenstand krankgeschrieben_bis reha operiert operation gebrochen \
            bein_gebrochen verstaucht gehirnerschütterung grippe corona lungenentzündung erkältet \
            erkältung fieber krebs diagnose remission chemo krücken rollstuhl elternzeit \
            mutterschutz niederkunft geheilt bettlägerig quarantäne kreißsaal",
        auxiliaries: "hat haben wurde wurden",
        participle_last: true,
        participles: "ge*t ge*en be*t be*en ver*t ver*en er*t er*en zer*t zer*en über*t *iert \
            *geholt *gerufen *gefahren *geflogen *gekauft einge*t einge*en ausge*t ausge*en ange*t \
            ange*en aufge*t aufge*en abge*t abge*en zuge*t vorge*t nachge*t mitge*t umge*t \
            teilge*en überw*en",
        counting: "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        age: "jahre_alt alter jahre_alt_geworden geworden",
        uses: "nutz+t+en verwende+t+n benutz+t+en läuft fährt setzt",
        feels: "leidenschaft begeistert begeisterung motiviert motivation stolz dankbar freude \
            freut träumt traum hofft glaubt schätzt genießt inspiriert inspiration",
        awaits: "wartet_auf warte_auf warten_auf sucht suche suchen spart_auf spart_für spart \
            spare bereitet bereite trainiert_für noch noch_nicht noch_kein noch_keine noch_keinen \
            kämpft_mit tut_sich_schwer hat_mühe erwartet übt_für krankgeschrieben im_krankenhaus",
        at_last: "endlich schließlich letztendlich letztlich am_ende mittlerweile inzwischen \
            seitdem seither neuerdings ein_für_alle_mal geschichte gehört_der_vergangenheit_an \
            ist_geschichte grünes_licht doch_noch lange_her damit_ist_schluss damit_ist_es_vorbei \
            wird_nichts daraus_wird_nichts macht_nicht_mit von_allein hat_sich_erledigt nun_doch \
            jetzt_doch nur_noch versteht_alles problemlos ohne_probleme keine_angst_mehr",
        recent: "gestern vorgestern letzte_woche letzten_monat letztes_jahr \
            letztes_wochenende am_wochenende übers_wochenende heute_morgen \
              über_weihnachten über_ostern in_den_ferien letzten_samstag \
            letzten_montag letzten_freitag vor_kurzem kürzlich neulich",
        articles: "der die das den dem des ein eine einen einem einer eines im am zum zur vom beim ins",
        finite: "ist sind war waren bin hat haben hatte hatten wird werden wurde wurden worden kann soll muss",
        joins: "und oder aber sondern weil dass",
        families: "vehicle: auto autos wagen pkw motorrad roller moped mofa golf passat polo fiat \
            punto panda ford fiesta opel corsa astra toyota yaris volvo saab seat ibiza skoda \
            octavia fabia bmw audi mercedes renault clio peugeot citroën dacia tesla hyundai kia \
            mazda nissan smart lastwagen kombi cabrio elektroauto diesel benziner wohnmobil \
            transporter dienstwagen fährt_einen fährt_ein schrottplatz garage führerschein | \
            commute: pendel+t+n arbeitsweg bus bahn s-bahn u-bahn straßenbahn tram zug fahrrad \
            rad radelt ebike e-bike zur_arbeit ins_büro homeoffice fährt_mit zu_fuß fähre \
            mitfahrgelegenheit bahncard deutschlandticket monatskarte | phone: handy handys \
            smartphone iphone android pixel galaxy samsung fairphone telefon nokia xiaomi | \
            computer: laptop macbook thinkpad rechner pc computer notebook tablet ipad imac | \
            sleep: schläft schlafen schlaf geschlafen wecker aufstehen steht_auf stehe_auf \
            wacht_auf bett insomnie schlafstörungen schlaflos mittagsschlaf frühaufsteher \
            nachteule ausschlafen gitterbett kinderbett matratze nächte durchschlafen | study: \
            studiert studium studentin student uni universität hochschule schule klasse semester \
            bachelor master doktorarbeit promotion abitur abi ausbildung lehre examen prüfung \
            prüfungen note noten zeugnis fünf_in gymnasium grundschule realschule kita \
            kindergarten studienfach exmatrikuliert immatrikuliert abschluss erste_klasse \
            zweite_klasse dritte_klasse vierte_klasse fünfte_klasse schulkind | tongue: spanisch \
            französisch englisch italienisch japanisch portugiesisch griechisch koreanisch \
            chinesisch arabisch russisch niederländisch schwedisch norwegisch dänisch polnisch \
            türkisch lernt_deutsch sprachkurs vokabeln | child: schwanger schwangerschaft baby \
            entbunden geboren geburt elternzeit mutterschutz nachwuchs kind_erwartet erwartet_ein \
            zwillinge entbindung adoption | pet: hund hunde hündin katze katzen kater kätzchen \
            welpe kaninchen hamster papagei wellensittich pferd pony meerschweinchen schildkröte \
            dackel labrador pudel tierarzt tierheim haustier haustiere leine trockenfutter \
            nassfutter eingeschläfert einschläfern | allergy: allergisch allergie allergien \
            verträgt unverträglichkeit laktoseintolerant laktose heuschnupfen penicillin erdnüsse \
            nussallergie desensibilisierung | medicine: tabletten tablette medikament medikamente \
            blutdrucksenker blutdrucktabletten antidepressivum antidepressiva dosis mg insulin \
            antibiotikum antibiotika schmerzmittel spritze spritzen verschrieben abgesetzt pille \
            pillen therapie kortison rezept | smoking: raucht rauche rauchen raucher raucherin \
            zigarette zigaretten zigarre tabak nikotin nichtraucher nichtraucherin dampft vapen \
            qualmt | alcohol: alkohol bier wein schnaps whisky trinkt_keinen trocken abstinent \
            alkoholfrei sekt gin | drink: kaffee tee espresso cappuccino hafermilch cola \
            schwarztee grüntee kräutertee milchkaffee entkoffeiniert zucker milch limo | sport: \
            fußball handball volleyball tennis basketball hockey verein mannschaft turnverein \
            fitnessstudio studio_fit schwimmt schwimmen joggt joggen läuft_marathon marathon \
            halbmarathon triathlon yoga pilates boxen karate judo klettern klettert bouldern \
            rudern ski badminton tanzen training trainiert torwart stürmer turnt reitet reiten \
            sportverein | music: klavier gitarre geige cello flöte klarinette trompete saxophon \
            saxofon schlagzeug oboe fagott bratsche harfe akkordeon ukulele bass chor orchester \
            band singt_im posaune blaskapelle keyboard | hair: haare bart schnurrbart glatze \
            frisur locken zopf pony_frisur glattrasiert rasiert blond brünett dutt gefärbt \
            kurze_haare lange_haare dreadlocks | sight: brille kontaktlinsen linsen sehstärke \
            augen-op augen_lasern gelasert | bank: bank konto girokonto sparkasse volksbank \
            commerzbank ing dkb n26 comdirect hausbank kreditkarte postbank deutsche_bank \
            sparkonto depot kontowechsel | insurance: versichert versicherung krankenkasse aok tk \
            barmer dak allianz huk haftpflicht hausrat privatversichert gesetzlich_versichert \
            police techniker | provider: anbieter stromanbieter internetanbieter vodafone telekom \
            o2 1&1 tarif vertrag strom glasfaser dsl handyvertrag ökostrom stadtwerke congstar \
            heizen heizung heizt gas wärmepumpe solaranlage fernwärme ölheizung | media: netflix \
            spotify disney+ abo abonnement abonniert zeitung taz faz spiegel newsletter streaming \
            sky dazn magazin zeitschrift zusammenfassung digest | contact: adresse anschrift \
            e-mail mailadresse telefonnummer handynummer postleitzahl nummer durchwahl \
            wohnt_in_der postfach benutzername | money: gehalt lohn miete kaltmiete warmmiete \
            budget preis kostet verdient kredit schulden schuldet darlehen taschengeld gebühr \
            beitrag ratenzahlung raten abbezahlt rente sparen spart sparvertrag zinsen \
            stundenlohn beglichen quitt | appointment: termin besprechung meeting sitzung frist \
            abgabe deadline stand-up standup jour_fixe hochzeit feier probe chorprobe unterricht \
            training_ist kurs sprechstunde prüfungstermin notar arzttermin umzug umzugstermin \
            release_termin start eröffnung premiere konzert konferenz workshop stammtisch messe \
            verlegt vertagt verschoben elternabend | travel: reise urlaub flug fliegt hotel \
            gebucht visum radtour tour kreuzfahrt flitterwochen zugfahrt ferienwohnung flugticket \
            ausflug nach_italien wanderung camping | charge: leitet leitung geleitet leiter \
            leiterin verantwortlich zuständig zuständigkeit betreut betreuer betreuerin \
            rufbereitschaft bereitschaft vorsitz vorsitzende vorsitzender stellvertretender \
            teamleiter teamleiterin teamleitung projektleiter projektleiterin chef chefin kapitän \
            ansprechpartner ansprechpartnerin alarme gehen_an gehört_dem_team verwaltet \
            kümmert_sich übernommen übernimmt vertretung federführung geschäftsführer \
            geschäftsführerin kassenwart kassenwartin klassensprecher klassensprecherin trainer \
            trainerin coacht kapitänin vorstand | progress: entwurf in_arbeit in_prüfung \
            blockiert wartet freigabe freigegeben genehmigt abgelehnt offen geschlossen erledigt \
            fertig veröffentlicht live abgenommen pausiert eingestellt gestoppt geplant stürzt_ab \
            abgestürzt fehler störung ausfall kaputt rot grün läuft_stabil in_produktion \
            testphase beta | database: datenbank mysql postgres postgresql sqlite mariadb mongodb \
            redis oracle sql_server clickhouse elasticsearch | code: python java javascript \
            typescript ruby rust kotlin php perl scala c# c++ geschrieben_in programmiersprache \
            neu_geschrieben umgeschrieben cobol zsh bash fish shell | framework: framework react \
            vue angular svelte django flask rails laravel magento shopware wordpress typo3 drupal \
            joomla pytest webpack vite | editor: editor vim neovim emacs vscode pycharm intellij \
            sublime zed | hosting: gehostet hoster hosting hetzner aws azure strato ionos server \
            cluster kubernetes docker cloud rechenzentrum läuft_auf läuft_bei vps netcup \
            serverraum | pipeline: ci pipeline jenkins gitlab_ci github_actions build cronjob \
            cronjobs terraform ansible nachts_läuft | system: linux ubuntu debian fedora windows \
            macos betriebssystem arch | chat: slack teams discord whatsapp telegram zoom skype \
            mattermost threema | tracker: jira trello asana linear redmine tickets github_issues \
            aufgabenliste kanban | notes: notion obsidian evernote onenote confluence wiki \
            notizen tagebuch excel tabelle notizbuch buchhaltung datev lexoffice papier digital | \
            repository: branch hauptbranch github gitlab gitea bitbucket svn squash rebase merge \
            monorepo commits release | license: lizenz lizenziert gpl agpl mit apache quelloffen \
            proprietär open_source | format: tabs leerzeichen einrückung stichpunkte stichpunkten \
            fließtext aufzählungen knapp ausführlich kurze_antworten förmlich markdown emojis \
            black ruff prettier eslint dunkelmodus dark_mode hell dunkel antworte auf_deutsch \
            auf_englisch celsius formatierung schriftart | greeting: gesiezt geduzt siezen duzen \
            sie_angesprochen angesprochen angeredet das_du per_du per_sie spitzname heißt \
            nennt_sich nachname genannt mit_sie | staff: mitarbeiter mitarbeitern \
            mitarbeiterinnen angestellte mitglieder leute köpfe kollegium teamgröße belegschaft \
            entwickler filialen filiale | friendship: freunde befreundet zerstritten verkracht \
            versöhnt versöhnung streit kontakt_abgebrochen redet_nicht sprechen_nicht \
            ausgesprochen vertragen kriegsfuß | injury: gips gipsbein krücken gebrochen \
            verstaucht knie knöchel handgelenk physiotherapie schiene verletzt verletzung \
            operiert bandage rollstuhl rückenschmerzen verheilt bänderriss reha hört_schlecht \
            hörgerät krankenhaus klinik entlassen lungenentzündung | reading: liest buch roman \
            hörbuch kapitel serie staffel folge gelesen schaut | furniture: sofa schreibtisch \
            kühlschrank waschmaschine spülmaschine herd fernseher regal sessel schrank trockner \
            staubsauger | permit: führerschein fahrprüfung fahrschule fahrstunden visum \
            aufenthaltserlaubnis staatsbürgerschaft einbürgerung pass zertifikat zulassung | \
            housing: wohnung wg haus zimmer einzimmerwohnung reihenhaus eigentumswohnung \
            mietwohnung vermieter mitbewohner mitbewohnerin mieterin mieter eltern bei_den_eltern \
            eigene_wohnung wohnt wohne wohnen gezogen ausgezogen eingezogen umgezogen zieht zog \
            miete untermiete eigenheim wohnheim mietvertrag schlüssel | food: vegetarier \
            vegetarierin vegan vegetarisch veganer veganerin fleisch fisch schweinefleisch isst \
            diät fasten fastet zucker süßigkeiten glutenfrei käse milchprodukte eier frühstück \
            frühstückt wurst | shift: nachtschicht frühschicht spätschicht tagschicht schicht \
            schichten vollzeit teilzeit wochenstunden halbtags ganztags überstunden \
            vier-tage-woche gleitzeit nachtdienst tagdienst | files: csv json xml yaml toml \
            parquet avro protobuf pdf html docx xlsx jpeg png latex | secret: passwort passwörter \
            kennwort pin passkey passkeys zwei-faktor anmeldung token zertifikat wlan-passwort \
            schlüssel_api sso ldap | fear: angst fürchtet fürchten panik scheu höhenangst \
            flugangst spinnen_angst lampenfieber überwunden ängstlich | workplace: büro \
            firmensitz hauptsitz standort stockwerk etage schreibtisch_im großraumbüro \
            arbeitsplatz coworking werkstatt erdgeschoss zentrale",
        numbered: "release version ticket sprint kapitel pr rfc etage stock stockwerk schritt \
            phase meilenstein folge lektion iteration build abschnitt seite band teil staffel \
            woche quartal stufe runde gate raum zimmer rechnung bestellung fall artikel los \
            charge migration notes versionshinweise issue absatz paragraph",
        renames: "umbenannt umgetauft",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
