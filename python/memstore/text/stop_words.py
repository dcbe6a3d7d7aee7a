"""Stop words: words in nearly every question of a language, which do not distinguish facts."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

ENGLISH: Final = frozenset(
    """a an and any are as at be been being but by can could did do does doing for from had has have
    having he her hers him his how i if in into is it its me my of on or our ours she should so such
    than that the their theirs them then there these they this those to was we were what when where
    which while who whom whose why will with would you your yours""".split()
)

OTHERS: Final = (
    # German
    """ab als am an auf aus bei beim bis da das dass dein deine dem den denn der des die dir du
    durch ein eine einem einen einer eines er es euch für hat hatte hatten haben hast ich ihm ihn
    ihnen ihr ihre ihrem ihren ihrer im in ist kann können man mein meine meinen meiner mich mir
    mit nach oder ob seit sein seine seinem seinen seiner sich sie sind so über um und uns unser
    unsere unter viel viele vom von vor wann war waren warum was wegen weil welche welchem welchen
    welcher welches wem wen wenn wer werden wessen wie wieso wir wird wo woher wohin wurde wurden
    zu zum zur""",
    # Spanish
    """a al como con cuál cuáles cuándo cuánta cuántas cuánto cuántos de del desde donde dónde e el
    ella ellas ellos en entre era eran es esa ese eso esta está están este esto estos fue fueron ha
    han hasta hay la las le les lo los me mi mis nos nuestra nuestro o para pero por porque que qué
    quién quiénes se ser si sobre son su sus te tiene tienen tu tus un una unas unos y ya yo""",
    # French
    """à au aux avec ce ces cet cette chez comment combien dans de depuis des du elle elles en es
    est et être eu fait fut il ils je la le les leur leurs lui ma mais me mes moi mon nos notre
    nous on ont où ou par pas pour pourquoi quand que quel quelle quelles quels qui quoi sa se ses
    son sont sur ta te tes toi ton tu un une vos votre vous y a as""",
    # Italian
    """a ad agli ai al alla alle allo che chi ci come con cosa da dagli dai dal dalla dei degli del
    della delle dello di dove e è ed era erano fra gli ha hanno ho i il in io la le lei lo loro lui
    ma mi mia mie miei mio ne nei nel nella nelle noi non nostra nostro o per perché qual quale
    quali quando quanta quante quanti quanto questa queste questi questo se si sono su sua sue sui
    sul sulla suo suoi te ti tra tu tua tuo un una uno vi voi""",
    # Portuguese
    """a ao aos as à às com como da das de dela dele do dos e é ela elas ele eles em entre era eram
    esse essa está estão este esta eu foi foram há isso isto já lhe mas me meu meus minha minhas na
    nas no nos nós nossa nosso num numa o onde os ou para pela pelo por porque quais qual quando
    quanta quantas quanto quantos que quem se sem ser seu seus sua suas são te tem têm tu um uma
    umas uns você vocês""",
    # Dutch
    """aan als bij daar dan dat de deze die dit door een en er haar had hadden heb hebben heeft hem
    hen het hij hoe hoeveel hun ik in is je jij jou jouw jullie kan kunnen me men met mij mijn na
    naar of om onder ons onze ook op te toen tot u uit van vanaf voor waar waarom wanneer want
    waren was wat we welk welke werd wie wij worden wordt ze zich zij zijn zo""",
)


def stop_words(words: list[str]) -> frozenset[str]:
    """Return the stop words of a question's language; ``words`` is the question in lower case.

    The language is the one with the most stop words in the question; another one than English
    needs more of them than English, and at least two. Accents may be left out.
    """
    languages = _languages()
    found = [0] * len(OTHERS)
    for word in words:
        for place in languages.get(word, ()):
            found[place] += 1
    most = max(found)
    if most < 2 or most <= sum(word in ENGLISH for word in words):
        return ENGLISH
    return _forms(found.index(most))


@cache
def _languages() -> dict[str, tuple[int, ...]]:
    """Return the languages of each stop word, as indexes into ``OTHERS``."""
    of: dict[str, tuple[int, ...]] = {}
    for place in range(len(OTHERS)):
        for word in _forms(place):
            of[word] = (*of.get(word, ()), place)
    return of


@cache
def _forms(place: int) -> frozenset[str]:
    """Return a language's stop words, with and without their accents."""
    written = OTHERS[place].split()
    return frozenset(written) | {_bare(word) for word in written if not word.isascii()}


def _bare(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
