//! Italian.

use super::Lexicon;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "it",
    common: "il lo la i gli le un uno una l di a da in con su per tra fra del dello della dei degli \
        delle dell al allo alla ai agli alle all dal dalla nel nella nei nelle sul sulla e ed o \
        ma non no sì né che è sono era erano essere stato stata ha hanno ho hai aveva avevano \
        avere fa fatto fare può possono vuole va io tu lui lei noi voi loro mi ti si ci vi ne \
        mio mia miei mie tuo tua suo sua suoi sue nostro nostra questo questa questi queste \
        quello quella quelli qui qua lì là come più meno molto molta molti anche ancora già \
        sempre mai niente nulla qualcosa qualcuno tutto tutta tutti altro altra se perché quando \
        dove piace piacciono",
    stop_words: "a ad agli ai al alla alle allo che chi ci come con cosa da dagli dai dal dalla \
        dei degli del della delle dello di dove e è ed era erano fra gli ha hanno ho i il in io la \
        le lei lo loro lui ma mi mia mie miei mio ne nei nel nella nelle noi non nostra nostro o \
        per perché qual quale quali quando quanta quante quanti quanto questa queste questi questo \
        se si sono su sua sue sui sul sulla suo suoi te ti tra tu tua tuo un una uno vi voi",
    time: "ieri oggi domani stasera stamattina stanotte dopodomani settimana settimane mese mesi \
        anno anni giorno giorni lunedì martedì mercoledì giovedì venerdì sabato domenica sera \
        mattina mattino pomeriggio notte mezzogiorno mezzanotte ora ore minuto minuti scorso \
        scorsa prossimo prossima recentemente presto prima dopo estate inverno primavera autunno \
        natale pasqua secolo weekend",
    kin: "madre mamma padre papà babbo sorella sorelle fratello fratelli figlio figlia figli \
        figlie moglie marito amico amica amici amiche famiglia genitori genitore bambino bambina \
        bambini nonna nonno nonni nipote nipoti zia zio cugino cugina compagno compagna \
        fidanzato fidanzata ragazzo ragazza collega colleghi capo mentore squadra vicino vicina \
        vicini suocera suocero cognato cognata coinquilino professore dottoressa medico",
    months: [
        "gennaio #gen",
        "febbraio #feb",
        "marzo #mar",
        "aprile #apr",
        "maggio #mag",
        "giugno #giu",
        "luglio #lug",
        "agosto #ago",
        "settembre #set #sett",
        "ottobre #ott",
        "novembre #nov",
        "dicembre #dic",
    ],
    in_month: "a in di da dal nel fino fine inizio del",
    asks: "perché è sono era ha hanno aveva può hai c",
    when: "quando",
    place: "dove dov",
    who: "chi",
    which: "quale quali qual che cosa cos",
    how: "come quanto quanta quanti quante com",
    named: "città libro libri nome nomi paese paesi luogo posto canzone canzoni film gioco azienda \
        società gruppo artista scuola università ristorante albergo hotel via lingua",
    called: "chiama chiamano chiamava",
    times: "tempo data giorno giorni mese mesi settimana settimane anno anni ora ore minuti",
    numbers: "due tre quattro cinque sei sette otto nove dieci undici dodici cento mille",
    ..Lexicon::NOTHING
};
