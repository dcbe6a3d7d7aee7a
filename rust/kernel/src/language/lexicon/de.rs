use super::Lexicon;
pub(super) const LEXICON: Lexicon = Lexicon {
    common: "",
    time: "",
    kin: "",
    months: [""; 12],
    in_month: "",
    asks: "",
    when: "",
    place: "",
    who: "",
    which: "",
    how: "",
    named: "",
    called: "",
    times: "",
};
