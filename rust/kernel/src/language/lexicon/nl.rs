//! Dutch.

use super::Lexicon;
use super::claims::Claims;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "nl",
    common: "de het een en of maar niet geen is zijn was waren ben bent heeft hebben had hadden heb \
        wordt worden werd kan kunnen kon moet moeten zal zou wil willen wilde mag ik jij je u \
        hij zij ze wij we jullie mij me jou hem haar hen hun ons mijn jouw uw onze dit dat deze \
        die er hier daar van voor met op aan in uit bij naar over onder om tot door tegen zonder \
        als dan toen omdat ook nog al alleen heel erg zeer meer veel zo zich men wel eens ja nee \
        iets niets alles altijd nooit vaak te doet gaat houdt",
    stop_words: "aan als bij daar dan dat de deze die dit door een en er haar had hadden heb \
        hebben heeft hem hen het hij hoe hoeveel hun ik in is je jij jou jouw jullie kan kunnen me \
        men met mij mijn na naar of om onder ons onze ook op te toen tot u uit van vanaf voor waar \
        waarom wanneer want waren was wat we welk welke werd wie wij worden wordt ze zich zij zijn \
        zo",
    time: "gisteren eergisteren vandaag morgen overmorgen vanavond avond avonds ochtend ochtends \
        middag nacht vannacht dag dagen week weken weekend weekeinde maand maanden jaar jaren \
        maandag dinsdag woensdag donderdag vrijdag zaterdag zondag uur uren minuut minuten \
        vorige vorig volgende volgend afgelopen geleden sinds onlangs binnenkort later eerder \
        lente voorjaar zomer herfst winter kerst pasen eeuw",
    kin: "moeder mama vader papa zus zussen zuster broer broers zoon zonen dochter dochters vrouw \
        echtgenote man echtgenoot vriend vrienden vriendin vriendinnen familie gezin ouders \
        ouder kind kinderen oma grootmoeder opa grootvader kleinkind tante oom neef nicht \
        partner verloofde collega baas mentor team buurman buurvrouw buren huisgenoot \
        schoonmoeder schoonvader zwager schoonzus leraar lerares dokter huisarts",
    months: [
        "januari #jan",
        "februari #feb",
        "*maart #mrt",
        "april #apr",
        "*mei",
        "juni #jun",
        "juli #jul",
        "augustus #aug",
        "september #sep #sept",
        "oktober #okt",
        "november #nov",
        "december #dec",
    ],
    in_month: "in sinds tot begin eind half van vanaf",
    asks: "waarom waarmee waarover waaraan waarop hoezo is zijn was waren heeft hebben had kan \
        kunnen kon moet zal zou wil mag doet gaat houdt",
    when: "wanneer hoelang",
    place: "waar waarheen waarvandaan",
    who: "wie wiens",
    which: "welke welk wat",
    how: "hoe hoeveel",
    named: "stad steden boek boeken naam namen land landen plaats plek lied liedje film films spel \
        bedrijf band artiest school universiteit restaurant hotel straat taal",
    called: "heet heten heette genoemd",
    times: "lang vaak oud laat dag dagen week weken maand maanden jaar jaren uur uren minuten datum \
        tijd",
    numbers: "twee drie vier vijf zes zeven acht negen tien elf twaalf honderd duizend beide",
    conditions: "before: voor voordat vlak_voor kort_voor | until: tot tot_en_met | since: sinds vanaf | \
        after: na | between: tussen | and: en | beginning: begin eerste_dagen_van | middle: midden half | end: \
        eind einde | in: in tijdens | newest: laatst voor_het_laatst meest_recente nieuwste | oldest: \
        het_eerst eerst aanvankelijk oorspronkelijk | what: wat welk welke | follows: kwam_er_na kwam_na \
        verving opvolger_van | precedes: vervangen_door voorganger_van | while: ten_tijde_van in_de_tijd_van | \
        when: toen terwijl zolang | decides: kozen gekozen besloten overgingen | we: we wij | cuts: was waren \
        is als wat welke waar | past: was waren had hadden | units: dag dagen week weken weekend maand maanden \
        jaar jaren nacht",
    claims: Claims {
        now: "sinds_vandaag vanaf_vandaag sinds_gisteren nu voortaan tegenwoordig inmiddels momenteel vanaf_nu sinds_kort vanaf_vandaag",
        ends: "niet…meer geen…meer nooit_meer gestopt_met stopte_met opgehouden_met is_gestopt \
            niet_langer opgegeven",
        disposes: "verkocht verkopen weggegooid weggedaan geannuleerd afgezegd opgezegd overleden \
            gestorven verloren verwijderd geschrapt weggegeven teruggegeven gestolen ingeruild \
            afgelast",
        closes: "afgerond afgesloten gesloten beëindigd gerepareerd hersteld opgelost genezen \
            gescheiden afgestudeerd met_pensioen voltooid klaar gemaakt",
        changes: "verhuisd verhuisde verplaatst verplaatste verzet verschoven uitgesteld vervroegd \
            verhoogd verlaagd gestegen gedaald overgestapt overgeschakeld overgegaan gemigreerd \
            veranderd gewijzigd vervangen bijgewerkt hernoemd omgedoopt geworden bevorderd \
            gepromoveerd verlengd verkort verdubbeld omgezet overgenomen aangepast ging_naar",
        begins: "begonnen gekocht kocht begon gestart getrouwd aangenomen nieuw nieuwe geadopteerd \
            in_dienst",
        leaves: "ontslagen ontslag_genomen vertrokken weggegaan opgestapt verliet verlaten",
        corrects: "eigenlijk correctie rectificatie vergissing vergist ik_vergiste fout foutje \
            in_werkelijkheid ik_bedoel",
        replaces: "in_plaats_van",
        contrasts: "maar",
        adds: "ook tevens bovendien daarnaast nog_een andere ander tweede derde beide allebei naast \
            niet_alleen eveneens",
        hedges: "misschien als zou zouden wellicht mogelijk waarschijnlijk denkt dacht denken vindt \
            zegt zeggen zei volgens overweegt hoopt droomt plant wil willen wilde lijkt schijnt \
            blijkbaar vermoedelijk vermoedt gelooft overwegen beweert kan kunnen bijna stelt_voor",
        temporary: "vandaag morgen gisteren vanavond deze_week deze_maand dit_weekend volgende_week \
            vorige_week tijdelijk voorlopig een_week_lang op_vakantie op_bezoek op_reis \
            voor_een_week voor_een_maand logeert",
        partly: "alleen slechts soms af_en_toe vaak meestal doorgaans zelden wanneer behalve \
            vooral voornamelijk deels tijdens",
        denies: "niet geen nooit zonder niemand niets noch",
        from: "van vanuit uit",
        to: "naar tot",
        user: "gebruiker gebruikster",
        be: "is zijn was waren bedraagt bedragen luidt",
        have: "heeft hebben bezit bezitten",
        prepositions: "van voor met op aan in uit bij naar over onder om tot door tegen zonder tussen \
            rond vanaf sinds vanuit per als",
        function: "en die dat er zich zo heel erg zeer hier daar te wordt worden werd werden al",
        owners: "zijn haar hun mijn jouw je onze ons uw dit deze die dat",
        indefinite: "een enkele sommige verschillende meerdere diverse veel",
        kin: "hond honden kat katten poes konijn paard klant klanten huurder huurders gast gasten \
            tweeling",
        not_kin: "baas team leraar lerares dokter huisarts mentor man vrouw",
        many: "levert_aan levert…aan houdt_van spreekt spreken kent leest luistert kijkt eet drinkt drinken verzamelt \
            speelt haat steunt bezoekt leert kan_goed allergisch bezit bezitten vindt_leuk",
        one: "woont wonen werkt werken studeert gebruikt gebruiken verkiest rijdt heet heten begint \
            eindigt opent sluit vertrekt komt_aan leidt beheert antwoordt duurt draait luistert_op \
            verloopt gehost geschreven gehuurd opgeslagen verzekerd",
        measures: "kost kosten weegt wegen verdient betaalt duurt meet beperkt bewaard geldig",
        uses: "gebruikt gebruiken rijdt",
        attributes: "time-out limiet poort budget prijs kosten salaris huur adres telefoon \
            telefoonnummer nummer versie leeftijd lengte gewicht wachtwoord deadline datum overleg \
            vergadering afspraak baas teamleider projectleider directeur trainer dokter huisarts \
            tandarts taal database framework editor tak licentie tarief snelheid interval grootte \
            kleur naam stad kantoor bank temperatuur capaciteit wachtrij verjaardag tijdstip functie \
            beroep leider",
        personal: "salaris leeftijd lengte gewicht verjaardag",
        of_things: "prijs grootte gewicht kleur naam nummer capaciteit temperatuur",
        unique: "laatste huidige belangrijkste standaard officiële favoriete",
        former: "ex vorige voormalige oude eerdere vroeger eerst eerste",
        several: "tot…behoort tot…behoren paspoort abonnement ticket certificaat omvat omvatten vriend vriendin vergadering cursus boek film lied les trein vlucht kat hond zoon \
            dochter broer zus collega pakket bestelling factuur recept",
        states: "open geopend dicht gesloten | aan uit actief inactief ingeschakeld uitgeschakeld | \
            klaar bezig | vrijgezel getrouwd gescheiden verloofd | kapot stuk gerepareerd | \
            werkloos gepensioneerd | openbaar privé",
        units: "seconde seconden minuut minuten uur uren dag dagen week weken maand maanden jaar \
            jaren euro dollar kg kilo gram km meter cm mb gb tb ms procent liter graden personen \
            medewerkers pagina keer punten verzoeken",
        days: "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
        seasons: "lente voorjaar zomer herfst najaar winter",
        past: "bezocht ontmoette zag schreef speelde won liep ging reisde deed ontmoet",
        qualifiers: "ochtend ochtends avond avonds middag nacht zomers winters productie test staging \
            links rechts linker rechter",
        regions: "nederland belgië vlaanderen duitsland frankrijk spanje italië europa holland \
            friesland limburg zeeland brabant gelderland platteland buitenland",
        verbs: "gaat komt zet slaapt loopt staat ligt hangt hoort rookt roken zwemt kookt zingt \
            stuurt bevat",
        titles: "dr mevrouw meneer",
        idioms: "niet_slecht zonder_twijfel niet_gek",
        home: "woont wonen verhuisd verhuisde huis appartement",
        work: "werkt werken ontslagen aangenomen baan",
        marriage: "vrijgezel getrouwd gescheiden verloofd",
        counting: "_ twee drie vier vijf zes zeven acht negen tien",
        auxiliaries: "heeft hebben is zijn werd werden",
        participle_last: true,
        participles: "ge*d ge*t ge*en ver*d ver*t be*d be*t",
        articles: "de het een",
        finite: "is was waren heeft hebben had",
        joins: "en of maar omdat dat",
        numbered: "versie release ticket sprint hoofdstuk pr rfc verdieping stap fase aflevering les \
            iteratie sectie pagina deel seizoen week kwartaal niveau ronde kamer factuur bestelling \
            zaak artikel partij migratie notes release-notes issue",
        renames: "hernoemd omgedoopt",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
