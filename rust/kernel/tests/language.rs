//! Features of texts and questions: tables for each language, and random texts.

use memstore_kernel::language::{
    ASKS, Calendar, KIN, NO_NAME, Named, QUOTE, Question, TIME, Wanted, conditions, features,
    name_hash,
};
use proptest::prelude::*;

fn flags(text: &str) -> u8 {
    features(text, None).flags
}

#[track_caller]
fn assert_flag(flag: u8, with: &[&str], without: &[&str]) {
    for text in with {
        assert_ne!(flags(text) & flag, 0, "{text:?} has not the flag {flag}");
    }
    for text in without {
        assert_eq!(flags(text) & flag, 0, "{text:?} has the flag {flag}");
    }
}

#[track_caller]
fn assert_names(text: &str, speaker: Option<&str>, expected: &[&str]) {
    let mut hashes = [NO_NAME; 4];
    for (hash, name) in hashes.iter_mut().zip(expected) {
        *hash = name_hash(name);
    }
    assert_eq!(
        features(text, speaker).names,
        hashes,
        "{text:?} by {speaker:?}"
    );
}

#[track_caller]
fn assert_wants(wanted: Option<Wanted>, queries: &[&str]) {
    for query in queries {
        assert_eq!(Question::read(query).wants, wanted, "{query:?}");
    }
}

#[track_caller]
fn assert_date(query: &str, years: &[u16], months: &[u8], days: &[u8]) {
    let named = Named {
        years: years.to_vec(),
        months: months.to_vec(),
        days: days.to_vec(),
    };
    assert_eq!(Question::read(query).date, named, "{query:?}");
}

#[track_caller]
fn assert_subjects(query: &str, named: &[&str], others: &[&str]) {
    let question = Question::read(query);
    for name in named {
        assert!(
            question.names(name_hash(name)),
            "{query:?} does not name {name:?}"
        );
    }
    for name in others {
        assert!(!question.names(name_hash(name)), "{query:?} names {name:?}");
    }
}

#[test]
fn name_hash_folds_case_accents_width_and_gaps() {
    let same = [
        ["Mary Ann", "mary_ann", "MARY-ANN"],
        ["José", "jose", "Jose\u{301}"],
        ["Weiß", "WEISS", "weiss"],
        ["ＡＬＩＣＥ", "alice", "Alice's"],
        ["민수", "\u{1106}\u{1175}\u{11ab}\u{1109}\u{116e}", "민수"],
        ["Łukasz", "lukasz", "LUKASZ"],
        ["Алёна", "алена", "АЛЁНА"],
    ];
    for [name, second, third] in same {
        assert_eq!(name_hash(name), name_hash(second), "{name} and {second}");
        assert_eq!(name_hash(name), name_hash(third), "{name} and {third}");
    }
    assert_ne!(name_hash("Mary Ann"), name_hash("Ann Mary"));
    assert_ne!(name_hash("Anna"), name_hash("Anne"));
    assert_ne!(name_hash("user"), name_hash("assistant"));
    for none in ["", " ", "!?", "note", "TODO"] {
        assert_eq!(name_hash(none), NO_NAME, "{none:?}");
    }
}

#[test]
fn a_query_names_subjects_of_one_to_three_words() {
    let query = "What did Mary Ann say about Melanie?";
    assert_subjects(
        query,
        &["Mary Ann", "melanie", "Mary"],
        &["what", "Ann Mary", "user"],
    );
    assert_subjects("Melanie's garden", &["Melanie", "garden"], &["s"]);
    assert_subjects("Melanies Garten", &["Melanie", "Melanies"], &[]);
    assert_subjects("where does J. R. Smith live", &["J R Smith"], &[]);
    assert_subjects(
        "what did the user and the assistant note?",
        &[],
        &["user", "assistant", "note"],
    );
}

#[test]
fn a_function_word_is_a_name_only_with_a_capital_letter_inside_a_sentence() {
    assert_subjects("What does Will like?", &["Will"], &["what", "does"]);
    assert_subjects("Will it rain?", &[], &["Will"]);
    assert_subjects("what will it be", &[], &["Will"]);
}

#[test]
fn dates_are_named_in_digits_and_in_words() {
    assert_date("What happened on 8 May 2023?", &[2023], &[5], &[8]);
    assert_date("What happened on May 7th, 2023?", &[2023], &[5], &[7]);
    assert_date("on the 7th of July", &[], &[7], &[7]);
    assert_date("What did she do in june or july?", &[], &[6, 7], &[]);
    assert_date("2023-05-08", &[2023], &[5], &[8]);
    assert_date("before 2023/05/08 or so", &[2023], &[5], &[8]);
    assert_date("in 2023-05", &[2023], &[5], &[]);
    assert_date("13/5/2023", &[2023], &[5], &[13]);
    assert_date("5/13/2023", &[2023], &[5], &[13]);
    assert_date("Which 12 facts of 1850 are there?", &[], &[], &[]);
    assert_date("31 books in 2024", &[2024], &[], &[]);
    assert_date("the 3 cats of 7 people", &[], &[], &[]);
}

#[test]
fn an_ambiguous_date_names_both_readings() {
    assert_date("What was on 8/5/2023?", &[2023], &[5, 8], &[8, 5]);
    assert_date("What was on 8.5.2023?", &[2023], &[5], &[8]);
    assert_date("What was on 8/5/23?", &[2023], &[5, 8], &[8, 5]);
    assert_date("Was war am 8.5.23 in der Stadt?", &[2023], &[5], &[8]);
    assert_date("What is new in version 1.2.24?", &[], &[], &[]);
}

#[test]
fn months_that_are_other_words_need_a_capital_letter() {
    assert_date("What happened in May?", &[], &[5], &[]);
    assert_date("What may happen?", &[], &[], &[]);
    assert_date("May I ask what happened?", &[], &[], &[]);
    assert_date("May 2023", &[2023], &[5], &[]);
    assert_date("did they march in March?", &[], &[3], &[]);
    assert_date("did they march?", &[], &[], &[]);
}

#[test]
fn matched_share_counts_the_named_parts() {
    let utc = Calendar::default();
    let date = Question::read("on 8 May 2023?").date;
    assert_eq!(date.share(&utc, (2023, 5, 8)), 1.0);
    assert_eq!(date.share(&utc, (2023, 5, 9)), 2.0 / 3.0);
    assert_eq!(date.share(&utc, (2020, 1, 1)), 0.0);
    assert_eq!(
        date.share(&utc, (2020, 1, 8)),
        0.0,
        "the 8th of another month"
    );
    let none = Question::read("when?").date;
    assert_eq!(none, Named::default());
    assert_eq!(none.share(&utc, (2023, 5, 8)), 0.0);
    let yesterday = Calendar {
        days: vec![((2023, 5, 7), (2023, 5, 7))],
        ..Calendar::default()
    };
    assert_eq!(none.share(&yesterday, (2023, 5, 7)), 1.0);
    assert_eq!(none.share(&yesterday, (2023, 5, 8)), 0.0);
}

#[test]
fn dates_that_are_conditions_match_nothing_but_the_days_meant() {
    let april = Question::read("at the end of April").date;
    let mut calendar = Calendar {
        days: vec![((2023, 4, 21), (2023, 4, 30))],
        ..Calendar::default()
    };
    assert_eq!(april.share(&calendar, (2023, 4, 3)), 1.0);
    calendar.are_conditions = true;
    let shares = [3, 20, 21, 30].map(|day| april.share(&calendar, (2023, 4, day)));
    assert_eq!(shares, [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(april.share(&calendar, (2023, 5, 1)), 0.0);
}

#[test]
fn months_of_languages_that_other_words_may_be_need_more_than_themselves() {
    for query in ["mart", "maja", "aralık"] {
        assert_date(query, &[], &[], &[]);
    }
    for (query, month) in [
        ("в марте", 3),
        ("w marcu", 3),
        ("martta", 3),
        ("أبريل", 4),
        ("मई", 5),
        ("июня", 6),
    ] {
        assert_date(query, &[], &[month], &[]);
    }
}

#[test]
fn each_word_of_a_condition_is_said_in_one_way_of_its_kind() {
    for code in [
        "en", "de", "es", "fr", "it", "pt", "nl", "zh", "ja", "ko", "ru", "ar", "hi", "tr", "pl",
        "th",
    ] {
        let kinds: Vec<_> = conditions(code).unwrap().collect();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.0).collect();
        for needed in ["before", "until", "since", "newest", "oldest"] {
            assert!(names.contains(&needed), "{code}: {needed}");
        }
        for (name, words) in kinds {
            let mut each = words.clone();
            each.sort_unstable();
            each.dedup();
            assert_eq!(each.len(), words.len(), "{code}: {name}");
        }
    }
    assert!(conditions("xx").is_none());
}

#[test]
fn english_texts() {
    assert_flag(
        TIME,
        &[
            "I went there yesterday",
            "We met two weeks ago.",
            "It was 1999",
            "See you in May",
            "The call is at 10:30",
            "at 5pm",
            "due 2023-05-08",
        ],
        &[
            "You may go",
            "I have 3 cats",
            "The ratio is 3/4",
            "A march of 5 miles",
        ],
    );
    assert_flag(
        KIN,
        &["My sister called", "her colleagues are nice"],
        &["I like my kitchen"],
    );
    assert_flag(
        QUOTE,
        &["She read \"Emma\"", "He said “no”"],
        &["It's hers"],
    );
    assert_flag(
        ASKS,
        &["How are you?", "Really? I see."],
        &["I see.", "https://example.com/search?q=a"],
    );
    assert_names("I went to Stockholm with Ann", None, &["Stockholm", "Ann"]);
    assert_names(
        "Hello. Then Alice, my friend, came",
        Some("Mel"),
        &["Alice"],
    );
    assert_names("I saw Alice Smith today", Some("Alice Smith"), &[]);
    assert_names("I think I'm late. OK", None, &[]);
    assert_names(
        "from Rome to Oslo, Bern, Wien, Paris",
        None,
        &["Rome", "Oslo", "Bern", "Wien"],
    );
}

#[test]
fn english_questions() {
    assert_wants(
        Some(Wanted::Time),
        &[
            "When did Caroline go?",
            "when was the meeting",
            "How long has she known him?",
            "What date is the party?",
            "what time does it start",
            "How many days did it take?",
            "Since when does she paint?",
        ],
    );
    assert_wants(
        Some(Wanted::Name),
        &[
            "Where does Alice live?",
            "In which city does she live?",
            "What book did he read",
            "What is the name of her dog?",
            "What is Melanie's favorite book?",
        ],
    );
    assert_wants(
        Some(Wanted::Person),
        &[
            "Who is Bob's boss?",
            "Whose car is it",
            "With whom did she go?",
        ],
    );
    assert_wants(
        None,
        &[
            "What did she say?",
            "Why did he leave?",
            "the day when he left",
            "dark mode",
            "Does Alice like tea?",
            "How many cats does she have?",
            "",
            "?",
        ],
    );
}

/// A query with the years, months and days that it names.
type Dated = (&'static str, &'static [u16], &'static [u8], &'static [u8]);

/// The expectations for one language.
struct Case {
    time: &'static [&'static str],
    no_time: &'static [&'static str],
    kin: &'static [&'static str],
    no_kin: &'static [&'static str],
    when: &'static [&'static str],
    place: &'static [&'static str],
    who: &'static [&'static str],
    nothing: &'static [&'static str],
    dates: &'static [Dated],
}

impl Case {
    #[track_caller]
    fn check(&self) {
        assert_flag(TIME, self.time, self.no_time);
        assert_flag(KIN, self.kin, self.no_kin);
        assert_wants(Some(Wanted::Time), self.when);
        assert_wants(Some(Wanted::Name), self.place);
        assert_wants(Some(Wanted::Person), self.who);
        assert_wants(None, self.nothing);
        for (query, years, months, days) in self.dates {
            assert_date(query, years, months, days);
        }
    }
}

#[test]
fn german() {
    Case {
        time: &[
            "Wir waren gestern dort",
            "Das war im März",
            "Vor zwei Wochen fing es an",
            "Um 18:30 ist Schluss",
        ],
        no_time: &[
            "Das Haus ist am Ende der Straße",
            "Sie sollte an die Tür gehen",
            "Ich mag die Farbe",
        ],
        kin: &["Meine Schwester wohnt hier", "Sein Chef ist nett"],
        no_kin: &["Ich mag meine Küche"],
        when: &[
            "Wann hat Anna Geburtstag?",
            "wie lange kennt er sie",
            "Seit wann malt sie?",
            "Wie viele Tage hat es gedauert?",
            "Um wie viel Uhr ist der Termin?",
            "An welchem Tag kommt sie?",
            "In welchem Jahr war das?",
        ],
        place: &[
            "Wo wohnt Anna?",
            "Woher kommt er?",
            "In welcher Stadt lebt sie?",
            "Welches Buch liest er?",
            "wie heißt ihr Hund",
        ],
        who: &[
            "Wer ist Bobs Chefin?",
            "Mit wem ist er verheiratet?",
            "wessen Auto ist das",
        ],
        nothing: &[
            "Was mag Anna?",
            "Warum ist er gegangen?",
            "Der Tag, wann auch immer",
            "Mag Anna Tee?",
        ],
        dates: &[
            ("Was war am 8. Mai 2023?", &[2023], &[5], &[8]),
            ("Was war im März?", &[], &[3], &[]),
            ("Was war am 8.5.2023?", &[2023], &[5], &[8]),
            ("Was war am 8/5/2023 in der Stadt?", &[2023], &[5], &[8]),
            ("Was passierte im Dez. 2022?", &[2022], &[12], &[]),
            ("Was macht Jan?", &[], &[], &[]),
            ("Was war am 3. Jan in der Schule?", &[], &[1], &[3]),
        ],
    }
    .check();
    assert_names(
        "Ich war mit Anna in Hamburg und der Hund war auch da",
        None,
        &[],
    );
    assert_subjects(
        "Was sind Annas Pläne für Müllers Garten?",
        &["Anna", "müller"],
        &["was"],
    );
}

#[test]
fn spanish() {
    Case {
        time: &[
            "Fuimos ayer al cine",
            "La reunión es el martes",
            "Nació en 1990",
            "Hace dos años que vive aquí",
        ],
        no_time: &["Me gusta el café con leche", "Ella vive en una casa azul"],
        kin: &["Su hermana vive en Lima", "Mi jefa es amable"],
        no_kin: &["La cocina es grande"],
        when: &[
            "¿Cuándo nació Ana?",
            "¿cuánto tiempo lleva aquí?",
            "cuando es la boda",
            "¿Qué día es la cita?",
            "¿Desde cuándo pinta?",
        ],
        place: &[
            "¿Dónde vive Ana?",
            "¿En qué ciudad vive?",
            "que libro lee Ana?",
            "¿Cómo se llama su perro?",
        ],
        who: &["¿Quién es el jefe de Ana?", "¿Con quién vive?"],
        nothing: &[
            "¿Qué le gusta a Ana?",
            "¿Dijo Ana que cuando llueve lee?",
            "Ana vive donde quiere",
        ],
        dates: &[
            ("¿Qué pasó el 7 de mayo de 2023?", &[2023], &[5], &[7]),
            ("¿Qué pasó en marzo?", &[], &[3], &[]),
            ("¿Qué pasó el 8/5/2023?", &[2023], &[5], &[8]),
            ("put mayo on the sandwich", &[], &[], &[]),
        ],
    }
    .check();
    assert_names("Ana vive en Madrid con su perro", None, &["Madrid"]);
}

#[test]
fn french() {
    Case {
        time: &[
            "Nous y sommes allés hier",
            "Le rendez-vous est lundi",
            "Il y a deux ans, elle a déménagé",
        ],
        no_time: &[
            "Elle a été très contente de la maison",
            "J'aime le café avec du lait",
        ],
        kin: &["Sa sœur habite ici", "Mon collègue est parti"],
        no_kin: &["La cuisine est grande"],
        when: &[
            "Quand est née Anne ?",
            "Depuis quand peint-elle ?",
            "combien de temps ça dure",
            "À quelle heure est le train ?",
            "En quelle année ?",
        ],
        place: &[
            "Où habite Anne ?",
            "Dans quelle ville habite-t-elle ?",
            "ou habite anne ?",
            "Comment s'appelle son chien ?",
        ],
        who: &["Qui est le chef d'Anne ?", "Avec qui vit-elle ?"],
        nothing: &[
            "Qu'est-ce qu'Anne aime ?",
            "Veut-elle du thé ou du café ?",
            "Pourquoi est-il parti ?",
        ],
        dates: &[
            ("Que s'est-il passé le 7 mai 2023 ?", &[2023], &[5], &[7]),
            ("Que s'est-il passé le 1er mars ?", &[], &[3], &[1]),
            ("Que s'est-il passé en août ?", &[], &[8], &[]),
            ("a mission to mars", &[], &[], &[]),
        ],
    }
    .check();
    assert_names(
        "Elle habite à Lyon avec l'ami de Paul",
        None,
        &["Lyon", "Paul"],
    );
    assert_subjects("Quels sont les plans d'Anne ?", &["anne"], &["d"]);
}

#[test]
fn italian() {
    Case {
        time: &[
            "Ci siamo andati ieri",
            "La riunione è martedì",
            "Due anni fa si è trasferita",
        ],
        no_time: &[
            "Le piace il caffè con il latte",
            "Questo fa parte della casa",
        ],
        kin: &["Sua sorella vive qui", "Il mio capo è gentile"],
        no_kin: &["La cucina è grande"],
        when: &[
            "Quando è nata Anna?",
            "da quanto tempo dipinge?",
            "A che ora parte il treno?",
            "In quale anno?",
        ],
        place: &[
            "Dove vive Anna?",
            "Dov'è nata?",
            "In che città vive?",
            "Come si chiama il suo cane?",
        ],
        who: &["Chi è il capo di Anna?", "Con chi vive?"],
        nothing: &["Cosa piace ad Anna?", "Perché è andato via?"],
        dates: &[
            ("Cosa è successo il 7 maggio 2023?", &[2023], &[5], &[7]),
            ("Cosa è successo a marzo?", &[], &[3], &[]),
            ("Non mangia mai la carne", &[], &[], &[]),
        ],
    }
    .check();
    assert_names("Anna vive a Torino con il cane", None, &["Torino"]);
}

#[test]
fn portuguese() {
    Case {
        time: &[
            "Fomos lá ontem",
            "A reunião é na terça",
            "Ela mudou há dois anos",
        ],
        no_time: &["Ela gosta de café com leite", "A casa é azul"],
        kin: &["A irmã dela mora aqui", "Meu chefe é gentil"],
        no_kin: &["A cozinha é grande"],
        when: &[
            "Quando a Ana nasceu?",
            "há quanto tempo ela pinta?",
            "Que horas é a reunião?",
            "Em que ano foi?",
        ],
        place: &[
            "Onde a Ana mora?",
            "Em que cidade ela mora?",
            "Como se chama o cachorro dela?",
        ],
        who: &["Quem é o chefe da Ana?", "Com quem ela mora?"],
        nothing: &["O que a Ana gosta de comer?", "Por que ele saiu?"],
        dates: &[
            ("O que aconteceu em 7 de maio de 2023?", &[2023], &[5], &[7]),
            ("O que aconteceu em março?", &[], &[3], &[]),
            ("Where does Marco live?", &[], &[], &[]),
        ],
    }
    .check();
    assert_names("A Ana mora em Lisboa com o cachorro", None, &["Lisboa"]);
}

#[test]
fn dutch() {
    Case {
        time: &[
            "We waren er gisteren",
            "De afspraak is dinsdag",
            "Twee weken geleden begon het",
        ],
        no_time: &["Zij houdt van koffie met melk", "Het huis is blauw"],
        kin: &["Haar zus woont hier", "Mijn baas is aardig"],
        no_kin: &["De keuken is groot"],
        when: &[
            "Wanneer is Anna geboren?",
            "hoe lang kent hij haar",
            "Hoeveel dagen duurde het?",
            "Op welke dag komt ze?",
        ],
        place: &[
            "Waar woont Anna?",
            "In welke stad woont ze?",
            "Hoe heet haar hond?",
        ],
        who: &["Wie is de baas van Anna?", "Met wie woont ze?"],
        nothing: &["Wat vindt Anna lekker?", "Waarom is hij weggegaan?"],
        dates: &[
            ("Wat gebeurde er op 7 mei 2023?", &[2023], &[5], &[7]),
            ("Wat gebeurde er in maart?", &[], &[3], &[]),
            ("Wat doet Jan in de tuin?", &[], &[], &[]),
        ],
    }
    .check();
    assert_names("Anna woont in Utrecht met haar hond", None, &["Utrecht"]);
}

#[test]
fn chinese() {
    Case {
        time: &["我们昨天去了", "会议在2023年5月8日", "她上個月搬家了"],
        no_time: &["她喜欢喝茶", "他住在日本"],
        kin: &["她的姐姐住在这里", "我的老板很好"],
        no_kin: &["厨房很大"],
        when: &["小明什么时候生日？", "会议几点开始", "她畫畫多久了？"],
        place: &["小明住在哪里？", "她的狗叫什么名字？"],
        who: &["谁是小明的老板？", "她和誰一起住"],
        nothing: &["小明喜欢什么？", "他为什么走了？"],
        dates: &[
            ("2023年5月8日发生了什么？", &[2023], &[5], &[8]),
            ("5月发生了什么？", &[], &[5], &[]),
        ],
    }
    .check();
    assert_names("她在Google工作", None, &["Google"]);
    assert_subjects("小明住在哪里？", &["小明"], &["大明"]);
}

#[test]
fn japanese() {
    Case {
        time: &["昨日行きました", "会議は月曜です", "2023年5月8日に会った"],
        no_time: &["お茶が好きです", "日本に住んでいる"],
        kin: &["母は東京に住んでいます", "彼の上司は親切です"],
        no_kin: &["台所は広いです"],
        when: &["アリスの誕生日はいつですか？", "会議は何時から"],
        place: &["アリスはどこに住んでいますか？", "犬の名前は何ですか"],
        who: &["アリスの上司は誰ですか？"],
        nothing: &["アリスは何が好きですか？", "彼はいつも来ますか？"],
        dates: &[("2023年5月8日に何がありましたか？", &[2023], &[5], &[8])],
    }
    .check();
    assert_subjects("アリスはどこに住んでいますか？", &["アリス"], &["リサ"]);
}

#[test]
fn korean() {
    Case {
        time: &["어제 갔어요", "회의는 월요일에 있어요", "2023년에 이사했다"],
        no_time: &["차를 좋아해요"],
        kin: &["어머니는 서울에 살아요", "친구를 만났다"],
        no_kin: &["부엌이 넓어요"],
        when: &["민수의 생일은 언제예요?", "회의는 몇 시에 시작해요?"],
        place: &["민수는 어디에 살아요?", "어느 도시에 살아요?"],
        who: &["민수의 상사는 누구예요?"],
        nothing: &["민수는 차를 좋아해요?", "그는 왜 갔어요?"],
        dates: &[("2023년 5월 8일에 무슨 일이 있었어요?", &[2023], &[5], &[8])],
    }
    .check();
    assert_subjects("민수는 어디에 살아요?", &["민수"], &["어부"]);
}

#[test]
fn a_language_without_a_lexicon_still_has_dates_in_digits_and_names() {
    assert_date("Что было 2023-05-08?", &[2023], &[5], &[8]);
    assert_wants(None, &["Где живёт Анна?"]);
    assert_names("Анна живёт в Москве", None, &["Москве"]);
    assert_subjects("Где живёт Анна?", &["анна"], &["Анн"]);
}

proptest! {
    #[test]
    fn any_text_is_analysed(text in any::<String>(), speaker in any::<Option<String>>()) {
        let features = features(&text, speaker.as_deref());
        prop_assert!(features.flags < 16);
        let question = Question::read(&text);
        prop_assert!(question.phrases.is_sorted());
        prop_assert!(!question.names(NO_NAME));
        prop_assert!(question.date.months.iter().all(|month| (1..=12).contains(month)));
        prop_assert!(question.date.days.iter().all(|day| (1..=31).contains(day)));
        prop_assert!(question.date.years.iter().all(|year| (1900..=2099).contains(year)));
    }

    #[test]
    fn a_name_is_found_in_a_query_in_any_case(name in "[a-zà-öø-ÿ]{3,9}( [a-z]{4,9}){0,2}") {
        prop_assume!(name_hash(&name) != NO_NAME);
        let query = format!("so: what of X{}'s house", name.to_uppercase());
        let hash = name_hash(&format!("x{name}"));
        prop_assert!(Question::read(&query).names(hash));
    }
}

#[test]
fn a_megabyte_of_any_text_is_read() {
    for unit in ["a ", "A b", "1-", "5 May ", "?", "東京", "민", "e\u{301}"] {
        let text = unit.repeat(1_000_000 / unit.len());
        let _ = features(&text, Some(&text));
        assert!(Question::read(&text).phrases.len() < 20_000);
        let _ = name_hash(&text);
    }
}
