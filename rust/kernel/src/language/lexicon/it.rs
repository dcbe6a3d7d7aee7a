//! Italian.

use super::Lexicon;
use super::claims::Claims;

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
    conditions: "before: prima_di prima_del prima_della poco_prima_di poco_prima_del | until: fino_a fino_al \
        fino_alla | since: da dal | after: dopo | between: tra fra | and: e | beginning: inizio \
        primi_giorni_di | middle: metà | end: fine | in: a in durante | newest: ultima_volta per_ultimo \
        più_recente | oldest: all_inizio inizialmente per_primo originariamente originalmente | what: che cosa \
        cos quale quali qual | follows: ha_sostituito sostituisce venuto_dopo viene_dopo | precedes: \
        sostituito_da sostituita_da | while: ai_tempi_di | when: quando mentre | decides: scelto deciso \
        adottato | cuts: abbiamo avevamo eravamo era erano è come quale dove | past: era erano avevamo aveva | \
        units: giorno giorni settimana settimane mese mesi anno anni notte",
    claims: Claims {
        now: "da_oggi da_ieri ora adesso ormai attualmente d_ora_in_poi da_ora da_oggi oggigiorno al_momento da_adesso",
        ends: "non…più mai_più ha_smesso_di ho_smesso_di hanno_smesso_di smesso_di smette_di \
            ha_rinunciato_a rinunciato_a",
        disposes: "venduto venduta venduti vendette perso persa buttato buttata cancellato \
            cancellata annullato annullata eliminato eliminata morto morta regalato regalata \
            restituito restituita rubato rubata rottamato rottamata disdetto disdetta",
        closes: "finito finita concluso conclusa terminato terminata chiuso chiusa riparato riparata \
            risolto risolta aggiustato aggiustata guarito guarita divorziato divorziata laureato \
            laureata in_pensione completato completata corretto corretta",
        changes: "trasferito trasferita trasferiti trasloc* passato passata passati spostato \
            spostata spostati cambiato cambiata cambiati rinviato rinviata posticipato posticipata \
            anticipato anticipata aumentato aumentata salito salita sceso scesa ridotto ridotta \
            abbassato abbassata alzato alzata migrato migrata sostituito sostituita aggiornato \
            aggiornata rinominato rinominata diventato diventata promosso promossa prorogato \
            prorogata portato_a portata_a raddoppiato raddoppiata convertito convertita",
        begins: "iniziato iniziata cominciato cominciata comprato comprata acquistato acquistata \
            assunto assunta sposato sposata fidanzato_con fidanzata_con nuovo nuova adottato",
        leaves: "lasciato lascia licenziato licenziata dimesso dimessa si_è_dimesso si_è_dimessa \
            ha_lasciato se_n_è_andato se_n_è_andata",
        corrects: "in_realtà correzione rettifica mi_sono_sbagliato mi_sono_sbagliata mi_sbagliavo \
            errore per_errore a_dire_il_vero anzi volevo_dire",
        replaces: "invece_di invece_del invece_della invece_dello invece_che al_posto_di \
            al_posto_del al_posto_della anziché piuttosto_che",
        contrasts: "ma bensì",
        adds: "anche pure inoltre altro altra altri altre secondo seconda terzo terza entrambi \
            entrambe in_più oltre_a non_solo ancora_un ancora_una",
        hedges: "forse se_fosse se_avesse se_potesse come_se magari potrebbe potrebbero vorrebbe vorrebbero probabilmente \
            possibilmente pensa pensano pensava crede credono dice dicono detto secondo_me sembra \
            sembrerebbe pare considera valuta spera sperano sogna pianifica progetta intende \
            dovrebbe suppone immagina racconta afferma sostiene presumibilmente può_darsi vuole \
            voleva avrebbe sarebbe quasi chissà propone",
        temporary: "oggi domani ieri stasera stamattina questa_settimana questo_mese questo_weekend \
            la_prossima_settimana la_settimana_scorsa settimana_prossima settimana_scorsa \
            temporaneamente provvisoriamente per_ora per_una_settimana per_un_mese per_qualche \
            fino_a fino_al fino_alla in_vacanza in_ferie in_trasferta in_visita ospite",
        partly: "solo soltanto a_volte talvolta spesso di_solito solitamente raramente quando \
            tranne eccetto soprattutto principalmente in_parte qualche_volta durante",
        denies: "non né senza mai nessun nessuno nessuna niente nulla",
        from: "da dal dalla dallo dai dalle",
        to: "a al alla allo ai agli alle in",
        user: "utente",
        be: "è sono era erano sarà",
        have: "ha hanno possiede possiedono tiene",
        prepositions: "di a da in con su per tra fra del dello della dei degli delle dell al allo \
            alla ai agli alle all dal dallo dalla dai dalle nel nello nella nei nelle sul sulla sui \
            presso verso sotto sopra prima dopo circa come",
        function: "e ed o oppure che cui si ci ne lo gli le mi ti vi molto molta così proprio qui qua \
            lì là stato stata stati state essere viene vengono venne",
        owners: "suo sua suoi sue mio mia miei mie tuo tua nostro nostra vostro vostra loro questo \
            questa questi queste quello quella quel",
        indefinite: "un uno una alcuni alcune diversi diverse vari varie molti molte",
        kin: "cane cani gatto gatta gatti coniglio cavallo cliente clienti inquilino inquilina \
            ospite ospiti gemello gemella bambino figlio",
        not_kin: "capo squadra professore dottoressa medico mentore",
        many: "consegna_in consegna…in ama amano adora parla parlano conosce legge ascolta guarda mangia beve bevono \
            colleziona suona odia detesta sostiene visita impara sa allergico allergica colleziona \
            possiede possiedono gioca raccomanda consiglia apprezza",
        one: "abita abitano vive vivono risiede lavora lavorano studia usa usano utilizza gira \
            preferisce preferiscono guida si_chiama chiama inizia comincia finisce apre chiude \
            parte arriva frequenta dirige gestisce ascolta_su risponde dura durano scade ospitato \
            scritto scritta distribuito affittato \
            affittata assicurato assicurata",
        measures: "costa costano pesa pesano guadagna paga dura durano misura impiega \
            limitato limitata limitati limitate conservato conservata conservati conservate",
        uses: "usa usano utilizza utilizzano guida",
        attributes: "timeout limite porta budget prezzo costo stipendio affitto indirizzo telefono \
            numero versione età altezza peso password scadenza data riunione appuntamento capo \
            direttore direttrice responsabile allenatore medico dentista lingua database framework \
            editor ramo licenza tariffa velocità intervallo dimensione colore nome cognome città \
            ufficio banca temperatura capacità coda compleanno orario tempo_di_attesa targa \
            professione lavoro frequenza soglia",
        personal: "stipendio età altezza peso compleanno",
        of_things: "prezzo dimensione peso colore nome numero capacità temperatura",
        unique: "ultimo ultima attuale principale predefinito predefinita ufficiale preferito \
            preferita",
        former: "ex precedente precedenti vecchio vecchia prima_di primo prima",
        several: "tra_gli tra_i tra_le fra_gli fra_i fra_le passaporto abbonamento biglietto certificato include \
            includono amico amica riunione corso libro film canzone lezione treno volo gatto cane figlio \
            figlia fratello sorella collega pacco ordine fattura ricetta",
        states: "aperto aperta chiuso chiusa | acceso accesa spento spenta attivo attiva attivato \
            disattivato inattivo | pronto pronta in_corso | celibe nubile sposato sposata divorziato \
            divorziata single | rotto rotta guasto guasta riparato riparata funzionante | \
            disoccupato disoccupata pensionato pensionata | pubblico privato",
        units: "secondo secondi minuto minuti ora ore giorno giorni settimana settimane mese mesi \
            anno anni euro dollari kg chili grammi km metri cm mb gb tb ms percento litri gradi \
            persone dipendenti pagine volte punti richieste",
        days: "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        seasons: "primavera estate autunno inverno",
        past: "visitato incontrato letto visto scritto mangiato giocato vinto partecipato \
            andato andata viaggiato fatto andò visitò",
        qualifiers: "mattina mattino sera pomeriggio notte estate inverno produzione test collaudo \
            sviluppo destra sinistra destro sinistro feriali weekend",
        regions: "italia francia germania spagna svizzera austria europa lombardia piemonte toscana \
            sicilia sardegna puglia lazio veneto liguria campagna estero",
        verbs: "va viene mette dorme corre arriva serve sta dipende appartiene fuma fumano nuota \
            cucina canta invia contiene",
        titles: "dott dottor signor signora sig",
        idioms: "non_male senza_dubbio prima_o_poi",
        home: "abita abitano vive vivono risiede trasferito trasferita casa appartamento",
        work: "lavora lavorano assunto assunta licenziato licenziata dimesso dimessa impiego",
        marriage: "celibe nubile sposato sposata divorziato divorziata single fidanzato fidanzata",
        counting: "_ due tre quattro cinque sei sette otto nove dieci",
        past_endings: "ò",
        auxiliaries: "ha hanno è sono",
        participles: "*ato *ata *uto *uta *ito *ita",
        articles: "il lo la i gli le l un uno una",
        finite: "è sono era ha hanno aveva",
        joins: "e ed o ma perché che",
        numbered: "versione release ticket sprint capitolo pr rfc piano passo fase episodio lezione \
            iterazione sezione pagina volume parte stagione settimana trimestre livello turno sala \
            fattura ordine caso articolo lotto migrazione note issue",
        renames: "rinominato rinominata ribattezzato ribattezzata",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
