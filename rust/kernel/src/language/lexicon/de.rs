//! German. Nouns have a capital letter, so names cannot be told from them.

use super::Lexicon;

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
    ..Lexicon::NOTHING
};
