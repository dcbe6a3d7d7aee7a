//! Dutch.

use super::Lexicon;

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
    ..Lexicon::NOTHING
};
