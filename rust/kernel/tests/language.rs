//! What words tell: tables for each language, and texts that nobody wrote.

use memstore_kernel::language::{
    ASKS, KIN, NO_NAME, Named, QUOTE, Question, TIME, Wanted, features, name_hash,
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
    for none in ["", " ", "!?", "user", "Assistant", "note", "TODO"] {
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
fn a_date_that_can_be_read_in_two_ways_names_both() {
    assert_date("What was on 8/5/2023?", &[2023], &[5, 8], &[8, 5]);
    assert_date("What was on 8.5.2023?", &[2023], &[5], &[8]);
    assert_date("What was on 8/5/23?", &[2023], &[5, 8], &[8, 5]);
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
fn the_share_is_of_what_is_named() {
    let date = Question::read("on 8 May 2023?").date;
    assert_eq!(date.share(2023, 5, 8), 1.0);
    assert_eq!(date.share(2023, 5, 9), 2.0 / 3.0);
    assert_eq!(date.share(2020, 1, 1), 0.0);
    let none = Question::read("when?").date;
    assert!(none.is_empty());
    assert_eq!(none.share(2023, 5, 8), 0.0);
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

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>(), speaker in any::<Option<String>>()) {
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
    fn a_name_is_found_in_a_query_whatever_its_case(name in "[a-zà-öø-ÿ]{3,9}( [a-z]{4,9}){0,2}") {
        prop_assume!(name_hash(&name) != NO_NAME);
        let query = format!("so: what of X{}'s house", name.to_uppercase());
        let hash = name_hash(&format!("x{name}"));
        prop_assert!(Question::read(&query).names(hash));
    }
}

#[test]
fn a_megabyte_of_anything_is_read_in_one_pass() {
    for unit in ["a ", "A b", "1-", "5 May ", "?", "東京", "민", "e\u{301}"] {
        let text = unit.repeat(1_000_000 / unit.len());
        let _ = features(&text, Some(&text));
        assert!(Question::read(&text).phrases.len() < 20_000);
        let _ = name_hash(&text);
    }
}
