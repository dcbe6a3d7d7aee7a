//! Polish. Its words are looked up by how they begin, for they are inflected.

use super::Lexicon;
use super::claims::Claims;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "pl",
    months: [
        "styczeń stycznia styczniu styczniem",
        "luty lutego lutym",
        "marzec marca marcu marcem",
        "kwiecień kwietnia kwietniu kwietniem",
        "*maj *maja maju majem",
        "czerwiec czerwca czerwcu czerwcem",
        "lipiec lipca lipcu lipcem",
        "sierpień sierpnia sierpniu sierpniem",
        "wrzesień września wrześniu wrześniem",
        "październik października październiku październikiem",
        "listopad listopada listopadzie listopadem",
        "grudzień grudnia grudniu grudniem",
    ],
    conditions: "before: przed | until: do | since: od | after: po | between: między pomiędzy | and: a i | \
        beginning: początku początek początkiem | middle: połowie połowy | end: końca końcu koniec | in: w we \
        | newest: ostatni_raz ostatnio | oldest: najpierw początkowo na_początku pierwotnie | what: co jaki \
        jaka jakie | follows: było_po zastąpiło zastąpił | while: za_czasów | when: gdy kiedy | decides: \
        wybraliśmy zdecydowaliśmy | cuts: był była było | past: był była było były | asks: co gdzie kto kiedy \
        jak przez się są był była było z w jaka jaki jakie na po gdy | units: dzień dni tydzień tygodnie \
        miesiąc rok",
    claims: Claims {
        now: "teraz obecnie już odtąd od_teraz od_dziś aktualnie",
        ends: "już_nie więcej_nie przestał* przestaje rzucił* zrezygnował*_z zaprzestał* \
            skończył*_z",
        disposes: "sprzedał* zgubił* wyrzucił* odwołał* odwołan* anulowa* zmarł* usunął usunęł* \
            usunięt* oddał* zwrócił* skasowa*",
        closes: "zakończon* zakończył* ukończył* zamknięt* naprawion* naprawił* rozwiązan* \
            wyzdrowiał* rozwiódł rozwiodł* zwolnion*",
        changes: "przeprowadził* przeniósł przeniosł* przeniesion* przeszedł przeszł* zmienił* \
            zmienion* zmiana podniósł podniosł* podniesion* podwyższ* obniżył* obniżon* zwiększ* \
            zmniejsz* wzrósł wzrosł* spadł* zaktualizowa* zastąpi* przełączył* przesunięt* \
            przesunął przesunęł* przemianowa* przejął przejęł* został* awansowa* odłożon* \
            przełożon* zmigrowa*",
        begins: "zaczął zaczęł* kupił* nabył* rozpoczął rozpoczęł* zatrudnił* ożenił* \
            wyszła_za_mąż nowy nowa nowe nową nowego",
        leaves: "odszedł_z odeszła_z opuścił* zwolnił*_się rzucił*_pracę",
        corrects: "właściwie tak_naprawdę w_rzeczywistości poprawka sprostowanie pomyłka pomylił* \
            korekta jednak błędnie",
        replaces: "zamiast",
        contrasts: "ale lecz tylko",
        adds: "także też również dodatkowo oprócz_tego ponadto jeszcze drugi druga drugie \
            drugiego oba obie",
        hedges: "może możliwe chyba prawdopodobnie jeśli jeżeli gdyby chce chciał* planuje \
            zamierza myśli uważa twierdzi mówi powiedział* podobno rzekomo ponoć wydaje rozważa \
            zastanawia czy ma_nadzieję marzy proponuje według",
        temporary: "dziś dzisiaj jutro wczoraj w_tym_tygodniu w_zeszłym_tygodniu \
            w_przyszłym_tygodniu w_tym_miesiącu tymczasowo chwilowo do_piątku do_poniedziałku \
            do_końca na_weekend na_urlopie w_delegacji na_razie na_tydzień na_miesiąc",
        partly: "tylko jedynie czasami czasem często zwykle zazwyczaj kiedy gdy oprócz głównie \
            częściowo rzadko podczas",
        denies: "nie bez nigdy nikt nic brak żaden żadn*",
        from: "z ze od",
        to: "na do ku",
        user: "użytkownik* użytkowniczk*",
        be: "jest są był była było były to wynosi wynoszą",
        have: "ma mają posiada posiadają",
        prepositions: "w we na z ze od do ku przy o po za pod nad dla bez przez między około \
            przed u",
        function: "i oraz lub albo on ona ono oni jego jej ich mu się że który która które aby \
            żeby ja ty my wy mój moja moje nasz wasz tak bardzo tam tu",
        owners: "jego jej ich mój moja moje nasz nasza nasze wasz twój swój swoja swoje ten ta te \
            tamten",
        kin: "brat brata bracia siostr* matk* mama ojciec ojca tata syn syna córk* mąż męża żona \
            żony żonę przyjaciel* przyjaciółk* kolega kolegi koleżank* sąsiad* wujek wujka ciotk* \
            babci* dziadek kuzyn* pies psa kot kota rodzic* dziec* klient* gość goście",
        many: "lubi kocha mówi_po zna gra czyta słucha ogląda je pije umie potrafi zbiera wspiera \
            odwiedza uczy_się boi_się alergi* uczulon* nienawidzi chodzi poleca",
        one: "mieszka mieszkają pracuje pracują używa używają korzysta nazywa zaczyna kończy \
            otwiera zamyka odpowiada studiuje zarządza kieruje prowadzi woli jeździ napisan* \
            działa hostowan* wdrażan* podlega trwa",
        measures: "kosztuje kosztują waży ważą trwa trwają zarabia płaci zajmuje",
        attributes: "limit* czas_oczekiwania port portu budżet* cen* koszt* pensj* wynagrodzen* \
            czynsz* adres* telefon* numer* wersj* wiek wzrost wag* hasł* termin* dat* spotkani* \
            zebrani* kierownik* szef* dyrektor* trener* lekarz* język* baza bazy framework* \
            edytor* gałąź licencj* taryf* prędkość interwał* rozmiar* kolor* imię nazw* \
            stanowisk* miast* biur* bank* temperatur* pojemność kolejk* urodziny timeout*",
        personal: "pensj* wiek wzrost",
        of_things: "cen* rozmiar* wag* kolor* nazw* numer*",
        unique: "ostatni* aktualn* główn* domyśln* oficjaln* ulubion*",
        former: "poprzedni* były była_żona dawn* wcześniej star*",
        states: "otwarty otwarta otwarte zamknięty zamknięta zamknięte | włączony włączona \
            włączone wyłączony wyłączona wyłączone | aktywny aktywna nieaktywny nieaktywna | \
            gotowy gotowa w_toku | żonaty zamężna singiel rozwiedziony rozwiedziona | zepsuty \
            zepsuta sprawny sprawna",
        units: "sekund* minut* godzin* dni dzień dnia tydzień tygodni* miesi* rok lat lata złot* \
            zł dolar* euro kilogram* kg gram* metr* km cm procent* osób osoby raz razy sztuk* gb \
            mb pracownik* uczestnik*",
        days: "poniedziałek poniedziałk* wtorek wtork* środ* czwartek czwartk* piątek piątk* \
            sobot* niedziel*",
        past: "odwiedził* kupił* widział* spotkał* przeczytał* napisał* obejrzał*",
        qualifiers: "rano wieczorem nocą weekend* latem zimą testow* produkcyjn* lew* praw*",
        regions: "polska polsce niemcy niemczech francja francji włochy włoszech hiszpania \
            hiszpanii europa europie śląsk śląsku",
        home: "mieszka mieszkają przeprowadził*",
        work: "pracuje pracują zwolnił* zatrudnił*",
        marriage: "żonaty zamężna singiel rozwiedziony rozwiedziona ożenił* rozwiódł rozwiodł*",
        counting: "_ dwa/dwie/dwóch trzy/trzech cztery pięć sześć siedem osiem dziewięć dziesięć",
        numbered: "pr mr rfc adr issue ticket wydani* wersj* zgłoszeni* zadani* sprint* rozdział* piętr* krok* faz* etap* \
            odcinek odcinka lekcj* sekcj* stron* tom część sezon* tydzień kwartał* faktur* \
            zamówieni* informacj* bilet*",
        renames: "przemianowa*",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
