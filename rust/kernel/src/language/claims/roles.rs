//! What a word may do in a claim, as bits of a number.

/// Declare the roles, each with a bit of its own.
macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident)*) => {
        #[repr(u8)]
        enum Bit { $($name),* }

        $($(#[$doc])* pub const $name: Roles = 1 << Bit::$name as u8;)*

        /// The roles by their names.
        pub const NAMES: &[(&str, Roles)] = &[$((stringify!($name), $name)),*];
    };
}

/// A set of roles, one bit each.
pub type Roles = u64;

#[allow(non_camel_case_types, clippy::upper_case_acronyms)]
mod bits {
    use super::Roles;

    roles! {
        /// Something holds from now on.
        NOW
        /// What it says holds no longer.
        ENDS
        /// Somebody no longer has a thing: sold, died.
        DISPOSES
        /// A state or a task is over: fixed, finished.
        CLOSES
        /// A value went from one to another: moved, switched, raised.
        CHANGES
        /// Something began, which may replace what was before: started, bought.
        BEGINS
        /// Somebody left a place of work or study.
        LEAVES
        /// The speaker takes something back: actually, correction.
        CORRECTS
        /// What follows it is not so: instead of, rather than.
        REPLACES
        /// Between what is not so and what is: but, sondern.
        CONTRASTS
        /// It adds to something: also, another.
        ADDS
        /// It may not be so, or somebody else says so.
        HEDGES
        /// For a time only.
        TEMPORARY
        /// Only partly, or under a condition: only, sometimes, when.
        PARTLY
        /// It denies.
        DENIES
        /// Before the old value: from.
        FROM
        /// Before the new value: to.
        TO
        /// Stands for the subject: user, Nutzer.
        USER
        /// "Is", and signs like it.
        BE
        /// "Has", "owns".
        HAVE
        /// A word that stands between others and binds them: in, of.
        PREPOSITION
        /// A word without a meaning of its own.
        FUNCTION
        /// Points at one of several: his, this.
        OWNER
        /// Before one of several: a, an.
        INDEFINITE
        /// A person by their relation to somebody; also an animal.
        KIN
        /// A verb that accumulates: likes, speaks, owns.
        MANY
        /// A verb that has one value at a time: lives, costs.
        ONE
        /// A verb before a number: weighs.
        MEASURES
        /// A verb that has one value for a thing, and often several for a person: uses.
        USES
        /// A noun that has one value: timeout, budget.
        ATTRIBUTE
        /// One that only a person has: birthday.
        PERSONAL
        /// One that each of many things has: price, size.
        OF_THINGS
        /// Says that there is one: latest, default.
        UNIQUE
        /// Says that it was before: first, old.
        FORMER
        /// A thing that one may have several of: meeting, friend.
        SEVERAL
        /// A state that excludes those of its group: open, closed.
        STATE
        /// After a number: seconds, euros.
        UNIT
        /// Monday.
        DAY
        /// January.
        MONTH
        /// Summer, a quarter.
        SEASON
        /// A verb in a tense of events.
        PAST
        /// Divides a thing into cases: morning, staging.
        QUALIFIER
        /// A region that has towns.
        REGION
        /// Any other verb.
        VERB
        /// Before a name: Dr.
        TITLE
        /// Turns of phrase whose words mean something else together.
        IDIOM
        /// Where somebody lives. This and the next four are families of attributes.
        HOME
        /// Work and study.
        WORK
        /// Living with somebody.
        MARRIAGE
        /// What somebody eats.
        DIET
        /// Illness, pregnancy.
        HEALTH
        /// How old somebody is.
        AGE
        /// A number as a word.
        NUMBER
        /// What somebody feels or thinks, which no event replaces: enjoys, is passionate about.
        FEELS
        /// Something that took a while is so: finally, in the end.
        AT_LAST
        /// When something happened, which may also say for how long it holds: last week, yesterday.
        RECENT
        /// Something that has not come about yet, or will not stay: waiting for, still, saving for.
        AWAITS
        /// Stands before a noun: the, a.
        ARTICLE
        /// A verb and nothing else: is, has, did.
        FINITE
        /// A thing that is known by its number: ticket 17, chapter 4.
        NUMBERED
        /// Something got another name.
        RENAMES
        /// Begins another clause, or another part of a list: and, which.
        JOINS
    }
}

pub use bits::*;

/// The families of attributes that a fact may be about without naming them.
pub const TOPICS: Roles = HOME | WORK | MARRIAGE | DIET | HEALTH | AGE;
/// Verbs, all of them.
pub const PREDICATE: Roles = BE
    | HAVE
    | MANY
    | ONE
    | MEASURES
    | VERB
    | PAST
    | CHANGES
    | BEGINS
    | LEAVES
    | CLOSES
    | DISPOSES
    | ENDS
    | FINITE;
/// Words that say how a claim relates to another one. A phrase with one of these roles hides what its
/// words say alone.
pub const MARKS: Roles = NOW
    | ENDS
    | DISPOSES
    | CLOSES
    | CHANGES
    | BEGINS
    | LEAVES
    | CORRECTS
    | REPLACES
    | CONTRASTS
    | ADDS
    | HEDGES
    | TEMPORARY
    | PARTLY
    | DENIES
    | AT_LAST
    | IDIOM;
