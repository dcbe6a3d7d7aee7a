//! English.

use super::Lexicon;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "en",
    common: "a an the and or but if of to in on at by for with from into about as than then so not no \
        is are was were be been being am has have had having do does did done doing can could will \
        would shall should may might must i you he she it we they me him her us them my your his its \
        our their mine yours this that these those there here who whom whose what which when where \
        why how all any some more most very too just also only up out over after before because \
        while during don didn doesn isn wasn aren t m d ll ve re get got like want wants likes went go \
        really think know let",
    stop_words: "a an and any are as at be been being but by can could did do does doing for from \
        had has have having he her hers him his how i if in into is it its me my of on or our ours \
        she should so such than that the their theirs them then there these they this those to was \
        we were what when where which while who whom whose why will with would you your yours",
    time: "yesterday today tomorrow tonight ago last next week weeks weekend weekends month months \
        year years day days monday tuesday wednesday thursday friday saturday sunday morning mornings \
        evening evenings afternoon noon midnight night hour hours minute minutes second recently lately \
        since summer winter spring fall autumn decade decades century oclock pm fortnight christmas \
        easter halloween thanksgiving earlier later soon",
    kin: "mother mom mum mommy father dad daddy sister sisters brother brothers sibling siblings son \
        sons daughter daughters wife husband spouse fiance fiancee friend friends family parent parents \
        kid kids child children grandma grandmother granny grandpa grandfather grandparents grandson \
        granddaughter aunt uncle cousin cousins nephew niece partner boyfriend girlfriend ex colleague \
        colleagues coworker coworkers boss manager mentor team teammate roommate flatmate neighbor \
        neighbour neighbors neighbours teacher doctor landlord",
    months: [
        "january #jan",
        "february feb",
        "*march *mar",
        "april apr",
        "*may",
        "june jun",
        "july jul",
        "august aug",
        "september sept sep",
        "october oct",
        "november nov",
        "december dec",
    ],
    in_month: "in of since until till last next early late mid by during",
    asks: "why did do does is are was were am has have had can could would will should shall may might \
        isn aren wasn weren didn doesn don hasn haven",
    when: "when",
    place: "where",
    who: "who whom whose",
    which: "which what whats",
    how: "how",
    named: "city book name country place song movie game company town band artist state school names \
        cities books countries places songs movies games companies bands restaurant hotel street \
        university film airline",
    called: "called named",
    times: "long date day days time month months week weeks year years hour hours minute minutes \
        weekday often old dates soon",
    numbers: "one two three four five six seven eight nine ten eleven twelve hundred thousand",
    ..Lexicon::NOTHING
};
