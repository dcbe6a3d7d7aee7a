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
    claims: Claims {
        now: "jetzt nun inzwischen mittlerweile ab_jetzt ab_sofort künftig neuerdings derzeit \
            aktuell von_nun_an ab_heute heutzutage seit_neuestem nunmehr fortan",
        ends: "nicht_mehr nicht…mehr kein…mehr keine…mehr keinen…mehr keinem…mehr keiner…mehr \
            nie_mehr nie_wieder aufgehört hört…auf hörte…auf aufgegeben gibt…auf gab…auf \
            nicht_länger mit_dem…aufgehört",
        disposes: "verkauft verkaufte storniert abgesagt gestorben verstorben abgegeben verschenkt \
            gekündigt weggeworfen verloren entfernt gelöscht abgeschafft zurückgegeben abbestellt \
            starb",
        closes: "beendet abgeschlossen behoben repariert erledigt gelöst abgebrochen \
            zurückgetreten ausgetreten ausgezogen abgemeldet aufgelöst bestanden \
            funktioniert_wieder wieder genesen gesund geschieden getrennt scheiden_lassen \
            fertiggestellt eingestellt gefunden erreicht stillgelegt abgelaufen zurück in_rente \
            im_ruhestand entbunden zur_welt_gebracht geheilt geschlossen gemergt veröffentlicht \
            vorbei tot falsch ehemals hinfällig",
        changes: "gezogen umgezogen zog zieht gewechselt wechselte wechselt umgestellt umgestiegen \
            migriert ersetzt ersetzte aktualisiert befördert erhöht gesenkt gestiegen gesunken \
            gewachsen geschrumpft verlegt verschoben verlängert verkürzt umbenannt geworden \
            wurde…zu umgeschrieben umlackiert gestrichen angehoben reduziert halbiert verdoppelt \
            vorverlegt vorgezogen umgebucht übergeben übernommen ausgetauscht getauscht geändert \
            ändert angepasst stieg sank umgeschult stattdessen hochgesetzt herabgesetzt \
            heraufgesetzt abgelöst portiert verlagert umgeschwenkt angeboten weggezogen",
        begins: "angefangen begonnen gekauft geheiratet verheiratet fing…an begann kaufte \
            heiratete angenommen eingestellt_worden neue neuen neuer neues bekommen verlobt \
            angeschafft beigetreten adoptiert eröffnet",
        leaves: "gekündigt verlassen verließ ausgeschieden entlassen abgebrochen kündigte verlässt \
            weggezogen ausgezogen verzogen",
        corrects: "eigentlich tatsächlich korrektur in_wahrheit falsch richtigstellung \
            in_wirklichkeit berichtigung genauer_gesagt irrtum missverständnis versehentlich",
        replaces: "statt anstatt anstelle_von anstelle",
        contrasts: "sondern",
        adds: "auch zudem außerdem zusätzlich weitere weiterer weiteres weiteren weiterem \
            nicht_nur noch_ein noch_eine noch_einen zweite zweiter zweites zweiten zweitem dritte \
            dritter drittes dritten ebenfalls ebenso daneben darüber_hinaus obendrein andere \
            anderer anderes anderen anderem beide beides eine_der einer_der eines_der sowohl neben \
            ferner erst",
        hedges: "wenn falls ob würde würden vielleicht überlegt überlegen erwägt erwägen könnte \
            könnten angeblich sagt sagte sagen behauptet behauptete meint meinte glaubt glaubte \
            denkt dachte laut anscheinend wohl unklar träumt hofft plant planen möglicherweise \
            eventuell wird…wollen möchte…werden zufolge vermutlich wahrscheinlich sollte soll \
            dürfte vorhat hat_vor scheint scheinbar offenbar gern…arbeiten wünscht wünscht_sich \
            fragt_sich mutmaßlich zweifelt gerüchte gerücht unsicher es_heißt erzählt erzählte \
            findet hört_man vorschlägt vorgeschlagen sofern angenommen beinahe fast bewirbt_sich \
            beworben versucht will_*en wollte_*en will…*en",
        temporary: "diese_woche heute gestern im_urlaub zu_besuch momentan vorübergehend zurzeit \
            diesen_monat dieses_wochenende heute_abend heute_morgen dieses_jahr diesen_sommer \
            für_eine_woche für_ein_paar_tage bis_montag bis_dienstag bis_mittwoch bis_donnerstag \
            bis_freitag bis_samstag bis_sonntag bis_morgen bis_ende bis_nächste bis_auf_weiteres \
            bis_zum ausnahmsweise einmal auf_dienstreise auf_reisen morgen im_moment vorerst \
            zeitweise letzte_woche diesmal diesen_montag diesen_freitag",
        partly: "während nur bloß teilweise manchmal oft meist meistens in_den_meisten_fällen \
            hauptsächlich gelegentlich selten ausschließlich direkt außer zeitweilig fast_nur \
            zum_teil wenn_er",
        denies: "nicht kein keine keinen keinem keiner keines nie niemals weder ohne",
        from: "von vom",
        to: "auf zu zur zum nach in",
        user: "nutzer nutzers nutzerin benutzer benutzers benutzerin anwender",
        be: "ist sind war waren bin sein : =",
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
        many: "mag mögen liebt hasst kennt spielt spielen liest hört isst trinkt schreibt \
            unterstützt mitglied spricht sprechen allergisch verfügbar kompatibel erwähnt sammelt \
            verträgt braucht möchte glaubt hofft findet besucht schaut guckt kocht backt singt \
            lernt reist fan interessiert kann können beherrscht verkauft kaufte gekauft gern gerne \
            empfiehlt wünscht nimmt züchtet malt tanzt bietet nutzt_auch enthält pflegt angst",
        one: "wohn+t+en+te leb+t+en+te arbeit+et+en+ete heißt lautet schließt öffnet beginnt endet \
            fährt bevorzug+t+en läuft kostet wiegt dauert beträgt verdien+t+en studier+t+en \
            nutz+t+en verwende+t+n benutz+t+en startet geht_um steht_um lauscht unterrichtet \
            mietet geschrieben gehostet gespeichert betrieben geleitet gehört trainiert spielt_bei \
            pendelt schläft probt findet_statt tagt speichert basiert verwaltet betreut geplant \
            eingestellt vorgesehen angesetzt festgelegt begrenzt erlaubt verwendet setzt nutzt",
        measures: "beträgt kostet wiegt dauert fasst verdient zahlt braucht misst hat umfasst \
            besteht raucht trinkt erlaubt versucht_es wiederholt",
        attributes: "geburtstag alter adresse gehalt miete budget frist zeitlimit limit preis \
            größe gewicht version status lieblingsfarbe lieblings* stelle chef chefin lehrer \
            lehrerin arzt ärztin hausarzt hausärztin zahnarzt zahnärztin treffen wochentreffen \
            termin abgabe auto telefonnummer passwort lizenz abgabetermin name wohnort anschrift \
            beruf position vermieter vermieterin mail e-mail handynummer nummer port sprache \
            server datenbank editor browser betriebssystem handy telefon smartphone laptop farbe \
            motto konto bank versicherung tarif abo kapitän trainer trainerin leiter leiterin \
            vorsitzende vorsitzender direktor direktorin schule universität hochschule studienfach \
            hauptfach klasse note kurs standard rechner framework bibliothek werkzeug ziel rekord \
            temperatur dauer länge breite höhe kapazität quote schwelle abteilung büro hauptsitz \
            sitz veranstaltungsort ort treffpunkt zeitzone währung betreuer betreuerin \
            ansprechpartner ansprechpartnerin steuerberater friseur dosis medikament schriftart \
            tastatur kennwort zugangscode kennzeichen stammlokal haarfarbe hochzeit umzugstermin \
            prüfung standup besprechung sitzung",
        personal: "geburtstag gehalt miete gewicht körpergröße alter wohnort",
        of_things: "preis größe gewicht alter name farbe länge breite höhe nummer klasse status \
            dauer",
        unique: "neueste neuester neuestes neuesten aktuelle aktueller aktuelles aktuellen \
            standardmäßige einzige hauptsächliche offizielle letzter lieblings*",
        former: "erste erster erstes ersten frühere früherer früheres früheren ehemalige \
            ehemaliger vorherige vorheriger damalige ex- zweite zweiter zweiten dritte dritter \
            dritten",
        several: "bruder schwester sohn tochter kind freund freundin kollege kollegin nichte neffe \
            katze hund kunde kundin mitglied nachbar nachbarin mitbewohner enkel enkelin tante \
            onkel gast autor autorin lieferant schwager schwägerin teilnehmer teilnehmerin \
            sprecher stunde vorlesung schicht zug bus paket film buch lied flug reise besuch anruf \
            rechnung bestellung konzert spiel rezept",
        states: "offen geschlossen erledigt | defekt kaputt repariert intakt heil | aktiv inaktiv \
            aktiviert deaktiviert an aus ein | fertig unfertig | gesperrt entsperrt frei | ledig \
            verlobt verheiratet geschieden getrennt verwitwet | arbeitslos angestellt \
            selbstständig selbständig rentner | krank gesund | voll leer | grün rot | öffentlich \
            privat | schwanger | vegetarier vegan vegetarisch | lebendig tot | verfügbar \
            ausverkauft",
        units: "sekunde sekunden minute minuten stunde stunden tag tage tagen woche wochen monat \
            monate monaten jahr jahre jahren prozent zeichen zeilen mitglieder mitgliedern uhr \
            euro franken kilo kg g km m cm gb mb tb ms liter grad anfragen personen leute leuten \
            mitarbeiter mitarbeitern kilometer meter punkte punkten seiten mal",
        days: "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags \
            dienstags mittwochs donnerstags freitags samstags sonntags",
        seasons: "frühling frühjahr sommer herbst winter ostern weihnachten q1 q2 q3 q4",
        past: "war waren hatte hatten traf ging sah hielt fiel stieg kam gab wurde wurden fuhr \
            flog kaufte besuchte machte spielte las schrieb aß trank fand verlor",
        qualifiers: "morgens abends nachts mittags vormittags nachmittags werktags wochenende \
            sommer winter frühling herbst testumgebung produktion entwicklung arbeit zuhause gäste \
            links rechts oben unten innen außen",
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
            anschrift eingezogen ausgezogen umzug daheim zieht weggezogen",
        work: "arbeit+et+en+ete gekündigt angestellt beschäftigt stelle studiert studium student \
            studentin beruf arbeitslos arbeitgeber job azubi ausbildung lehre lehrling ingenieur \
            ingenieurin entwickler entwicklerin leiter leiterin assistenzarzt assistenzärztin \
            oberarzt oberärztin befördert rente rentner rentnerin praktikant praktikantin firma \
            selbstständig selbständig freiberuflich schüler schülerin pfleger pflegerin \
            krankenpfleger",
        marriage: "ledig verlobt verheiratet geheiratet geschieden scheiden_lassen getrennt single \
            heiratete hochzeit verwitwet ehe partnerin partner freundin_ist scheidung trennte",
        diet: "isst_fleisch vegetarier vegetarierin vegan veganer veganerin vegetarisch fleisch \
            glutenfrei laktosefrei diät",
        health: "schwanger entbunden krankgeschrieben krank gesund genesen verletzt gips \
            krankenhaus",
        auxiliaries: "hat haben ist sind wurde wurden",
        participle_last: true,
        participles: "ge*t ge*en be*t be*en ver*t ver*en er*t er*en zer*t zer*en über*t *iert *geholt *gerufen *gefahren *geflogen *gekauft",
        counting: "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        age: "jahre_alt alter jahre_alt_geworden geworden",
        uses: "nutz+t+en verwende+t+n benutz+t+en läuft fährt setzt",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
