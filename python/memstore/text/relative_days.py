"""Days that are named relative to today: tomorrow, in two weeks, Friday, yesterday, 3 days ago."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

from memstore.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


DAYS_AHEAD: Final = {
    0: (
        "today", "tonight", "heute", "hoy", "esta noche", "aujourd'hui", "ce soir", "oggi",
        "stasera", "vandaag", "vanavond", "hoje", "end of day", "end of the day", "eod", "cob",
        "close of business", "feierabend", "今日", "本日", "今夜", "きょう", "오늘",
        "今天", "今晚",
    ),
    1: (
        "tomorrow", "morgen", "mañana", "demain", "domani", "amanhã", "明日", "あした", "내일",
        "明天",
    ),
    2: (
        "day after tomorrow", "übermorgen", "pasado mañana", "après-demain", "dopodomani",
        "overmorgen", "depois de amanhã", "明後日", "あさって", "모레", "后天", "後天",
    ),
    3: ("大后天", "大後天"),
    7: (
        "next week", "nächste woche", "nächster woche", "próxima semana", "semana que viene",
        "semaine prochaine", "prossima settimana", "settimana prossima", "volgende week",
        "semana que vem", "来週", "다음 주", "다음주", "下周", "下週", "下星期",
    ),
}  # fmt: skip
"""Phrases for a day, by the number of days until it."""

ENDS: Final = {
    "week": (
        "end of week", "end of the week", "end of this week", "eow", "this week", "weekend",
        "ende der woche", "diese woche", "dieser woche", "wochenende", "fin de semana",
        "esta semana", "fin de la semaine", "cette semaine", "fine settimana", "questa settimana",
        "eind van de week", "einde van de week", "deze week", "weekeinde", "fim de semana",
        "fim da semana",
        "今週", "週末", "이번 주", "이번주", "주말", "本周", "这周", "這週", "周末",
    ),
    "next week": (
        "end of next week", "ende nächster woche", "fin de la semaine prochaine",
        "fin de la próxima semana", "eind volgende week", "来週末", "下周末",
    ),
    "month": (
        "end of month", "end of the month", "end of this month", "eom", "month end", "this month",
        "monatsende", "ende des monats", "ende dieses monats", "diesen monat", "ende monat",
        "fin de mes", "final de mes", "finales de mes", "este mes", "fin du mois", "fin de mois",
        "ce mois", "fine mese", "fine del mese", "questo mese", "eind van de maand",
        "einde van de maand", "einde maand", "deze maand", "fim do mês", "final do mês",
        "este mês", "月末", "今月", "월말", "이번 달", "이달", "月底", "本月", "这个月", "這個月",
    ),
    "next month": (
        "next month", "end of next month", "nächsten monat", "nächster monat",
        "ende nächsten monats", "próximo mes", "mes que viene", "mois prochain", "prossimo mese",
        "mese prossimo", "volgende maand", "próximo mês", "mês que vem", "来月", "다음 달",
        "다음달", "下个月", "下個月", "下月",
    ),
    "quarter": (
        "end of quarter", "end of the quarter", "eoq", "this quarter", "quartalsende",
        "ende des quartals", "fin de trimestre", "fin del trimestre", "fin du trimestre",
        "fine trimestre", "eind van het kwartaal", "fim do trimestre",
        "季度末", "四半期末", "분기말",
    ),
    "year": (
        "end of year", "end of the year", "end of this year", "eoy", "year end", "this year",
        "jahresende", "ende des jahres", "dieses jahr", "fin de año", "final de año", "este año",
        "fin de l'année", "fin d'année", "cette année", "fine anno", "fine dell'anno",
        "quest'anno", "eind van het jaar", "einde van het jaar", "dit jaar", "fim do ano",
        "final do ano", "este ano", "年末", "今年", "연말", "올해", "年底",
    ),
    "next year": (
        "next year", "end of next year", "nächstes jahr", "próximo año", "año que viene",
        "l'année prochaine", "anno prossimo", "volgend jaar", "próximo ano", "ano que vem", "来年",
        "내년", "明年",
    ),
}  # fmt: skip
"""Phrases for the last day of a period."""

AT_ONCE: Final = (
    "asap", "as soon as possible", "immediately", "right away", "at once", "urgent", "urgently",
    "sofort", "umgehend", "so bald wie möglich", "sobald wie möglich", "schnellstmöglich",
    "dringend", "lo antes posible", "cuanto antes", "inmediatamente", "urgente", "dès que possible",
    "au plus vite", "immédiatement", "il prima possibile", "subito", "immediatamente",
    "zo snel mogelijk", "zsm", "z.s.m.", "onmiddellijk", "o mais rápido possível",
    "o quanto antes", "imediatamente", "至急", "できるだけ早く", "なるはや", "すぐに",
    "尽快", "盡快",
    "马上", "馬上", "立即", "立刻", "가능한 한 빨리", "즉시", "당장",
)  # fmt: skip
"""Phrases that name no day: as soon as possible."""

DAYS_AGO: Final = {
    0: (
        "today", "tonight", "this morning", "this afternoon", "this evening", "heute", "hoy",
        "esta noche", "esta mañana", "aujourd'hui", "ce matin", "ce soir", "oggi", "stamattina",
        "stasera", "vandaag", "vanavond", "vanmorgen", "hoje", "今日", "本日", "今夜", "きょう",
        "오늘", "今天", "今晚", "今早", "сегодня", "dzisiaj", "dziś", "bugün", "اليوم", "आज",
        "วันนี้",
    ),
    1: (
        "yesterday", "last night", "gestern", "ayer", "anoche", "d'hier", "ieri", "gisteren",
        "gisteravond", "ontem", "昨日", "きのう", "昨夜", "어제", "昨天", "昨晚",
        "вчера", "wczoraj", "dün", "أمس", "เมื่อวาน",
    ),
    2: (
        "day before yesterday", "vorgestern", "anteayer", "antes de ayer", "avant-hier",
        "l'altro ieri", "altro ieri", "eergisteren", "anteontem", "一昨日", "おととい", "그저께",
        "그제", "前天", "позавчера", "przedwczoraj", "evvelsi gün", "أول أمس", "เมื่อวานซืน",
    ),
}  # fmt: skip
"""Phrases for a day that is over or today, by the number of days since."""

FRENCH: Final = "que qu quoi qui le les est ai avons je il elle nous vous du fait dit quand comment"
"""Words of a French question, in which ``hier`` is yesterday."""

PAST_PERIODS: Final = {
    ("week", 0): (
        "this week", "diese woche", "dieser woche", "esta semana", "cette semaine",
        "questa settimana", "deze week", "今週", "이번 주", "이번주", "本周", "这周", "這週",
        "этой неделе", "tym tygodniu", "bu hafta", "هذا الأسبوع", "इस हफ्ते", "สัปดาห์นี้",
    ),
    ("week", 1): (
        "last week", "previous week", "letzte woche", "letzter woche", "letzten woche",
        "vergangene woche", "vergangenen woche", "vorige woche", "semana pasada",
        "semaine dernière", "semaine passée", "settimana scorsa", "scorsa settimana",
        "semana passada", "vorige week", "afgelopen week", "先週", "지난주", "지난 주", "上周",
        "上週", "上个星期", "прошлой неделе", "zeszłym tygodniu", "ubiegłym tygodniu",
        "geçen hafta",
        "الأسبوع الماضي", "पिछले हफ्ते", "สัปดาห์ที่แล้ว",
    ),
    ("month", 0): (
        "this month", "diesen monat", "diesem monat", "este mes", "ce mois", "questo mese",
        "este mês", "deze maand", "今月", "이번 달", "이달", "本月", "这个月", "這個月",
        "этом месяце", "tym miesiącu", "bu ay", "هذا الشهر", "इस महीने", "เดือนนี้",
    ),
    ("month", 1): (
        "last month", "previous month", "letzten monat", "letzter monat", "vergangenen monat",
        "vorigen monat", "mes pasado", "mois dernier", "mois passé", "mese scorso", "scorso mese",
        "mês passado", "vorige maand", "afgelopen maand", "先月", "지난달", "지난 달", "上个月",
        "上個月", "прошлом месяце", "zeszłym miesiącu", "ubiegłym miesiącu", "geçen ay",
        "الشهر الماضي", "पिछले महीने", "เดือนที่แล้ว",
    ),
    ("year", 0): (
        "this year", "dieses jahr", "diesem jahr", "este año", "cette année", "quest'anno",
        "este ano", "dit jaar", "今年", "올해", "этом году", "tym roku", "bu yıl",
        "the year", "des jahres", "del año", "de l'année", "dell'anno", "do ano", "het jaar",
    ),
    ("year", 1): (
        "last year", "letztes jahr", "letzten jahr", "vergangenen jahr", "año pasado",
        "année dernière", "anno scorso", "ano passado", "vorig jaar", "去年", "昨年", "작년",
        "прошлом году", "zeszłym roku", "geçen yıl",
    ),
    ("quarter", 0): ("the quarter", "this quarter", "dieses quartal", "diesem quartal"),
    ("quarter", 1): ("last quarter", "letztes quartal", "letzten quartal"),
}  # fmt: skip
"""Phrases for a period that is over or goes on, by its unit and how many of them ago it was."""

AGO_BEFORE: Final = ("vor", "hace", "il y a", "há", "fa", "قبل", "منذ")
"""Words before the number of days that have passed."""
AGO_AFTER: Final = ("ago", "fa", "atrás", "geleden", "earlier", "назад", "temu", "önce", "पहले")
"""Words after it."""
AGO_UNSPACED: Final = ("以前", "前", "전", "ก่อน", "ที่แล้ว")
"""Words after it, in scripts without spaces."""
LAST_OF_MONTH: Final = (
    "last", "letzten", "letzte", "letzter", "vergangenen", "pasado", "dernier", "scorso",
    "afgelopen", "passado", "passada", "прошлый", "прошлую", "прошлое", "zeszły", "zeszłą",
    "ostatni", "ostatnią", "geçen",
)  # fmt: skip
"""Words for the weekday that was last."""

PAST_HINTS: Final = (
    "yesterday today tonight night morning afternoon evening ago earlier last heute gestern "
    "vorgestern vor letzten letzte letzter vergangenen hoy ayer anteayer anoche esta hace "
    "pasado aujourd hier matin soir il dernier oggi ieri stamattina stasera fa scorso vandaag "
    "gisteren gisteravond eergisteren vanavond vanmorgen geleden afgelopen hoje ontem anteontem "
    "atrás há passado passada this diese dieser diesen diesem dieses pasada letztes vergangene "
    "vorige vorigen semana mes este cette ce dernière passée passé année questa questo scorsa "
    "settimana mese mês deze dit vorig previous quarter quartal 今 昨 前 本日 きょう きのう "
    "おととい 오늘 어제 그저께 그제 전 先 이번 이달 지난 올해 작년 本 这 這 上 去年 сегодня "
    "вчера позавчера этой этом прошлой прошлом прошлый прошлую прошлое назад dzisiaj dziś "
    "wczoraj przedwczoraj tym zeszłym ubiegłym zeszły zeszłą ostatni ostatnią temu bugün dün "
    "evvelsi bu geçen önce اليوم أمس هذا الماضي قبل منذ आज इस पिछले पहले วัน เดือน สัปดาห์"
)
"""Words of which one is in each of these phrases."""

WEEKDAYS: Final = (
    "monday montag lunes lundi lunedì maandag segunda-feira 月曜 월요일 周一 週一 星期一",
    "tuesday dienstag martes mardi martedì dinsdag terça-feira 火曜 화요일 周二 週二 星期二",
    "wednesday mittwoch miércoles mercredi mercoledì woensdag quarta-feira 水曜 수요일 周三 週三 "
    "星期三",
    "thursday donnerstag jueves jeudi giovedì donderdag quinta-feira 木曜 목요일 周四 週四 星期四",
    "friday freitag viernes vendredi venerdì vrijdag sexta-feira 金曜 금요일 周五 週五 星期五",
    "saturday samstag sonnabend sábado samedi sabato zaterdag 土曜 토요일 周六 週六 星期六",
    "sunday sonntag domingo dimanche domenica zondag 日曜 일요일 周日 週日 星期日 星期天",
)
"""Monday to Sunday."""

PAST_WEEKDAYS: Final = (
    "понедельник poniedziałek pazartesi", "вторник wtorek salı", "среду środę çarşamba",
    "четверг czwartek perşembe", "пятницу piątek cuma", "субботу sobotę cumartesi",
    "воскресенье niedzielę pazar",
)  # fmt: skip
"""Of further languages, as they follow a word for the last one."""

UNITS: Final = {
    1: "day days tag tage tagen día días dia dias jour jours giorno giorni dag dagen",
    7: "week weeks woche wochen semana semanas semaine semaines settimana settimane weken",
    30: "month months monat monate monaten mes meses mois mês mese mesi maand maanden",
}
"""Units of a period, by their days."""

PAST_UNITS: Final = {
    1: UNITS[1] + " день дня дней dzień dni gün يوم أيام दिन",
    7: UNITS[7] + " неделю недели недель tydzień tygodnie tygodni hafta أسبوع أسابيع हफ्ते",
    30: UNITS[30] + " месяц месяца месяцев miesiąc miesiące miesięcy ay شهر أشهر महीने",
    365: "year years jahr jahren año años an ans anno anni ano anos jaar год года лет rok lata lat "
    "yıl سنة سنوات साल",
}
"""Units of a time that has passed, by their days."""

NUMBERS: Final = {
    1: "a an one ein eine einem einer un una une uno um uma een",
    2: "two zwei dos deux due twee dois duas два две dwa dwie iki दो",
    3: "three drei tres trois tre drie três три trzy üç ثلاثة तीन",
    4: "four vier cuatro quatre quattro quatro четыре cztery dört أربعة चार",
    5: "five fünf cinco cinq cinque vijf пять pięć beş خمسة पाँच",
    6: "six sechs seis sei zes шесть sześć altı ستة छह",
    7: "seven sieben siete sept sette zeven sete семь siedem yedi سبعة सात",
    8: "eight acht ocho huit otto oito восемь osiem sekiz ثمانية आठ",
    9: "nine neun nueve neuf nove negen девять dziewięć dokuz تسعة नौ",
    10: "ten zehn diez dix dieci tien dez десять dziesięć on عشرة दस",
}

BEFORE_PERIOD: Final = "in within innerhalb en dentro dans tra fra entro over binnen em"
"""Words before a period that begins now: ``in 3 days``."""

UNSPACED_UNITS: Final = {
    1: "日 天 일",
    7: "週間 周 週 星期 주",
    30: "か月 ヶ月 个月 個月 개월 달",
}
PAST_UNSPACED: Final = {
    1: "日 天 일 วัน",
    7: "週間 周 週 星期 个星期 주 สัปดาห์",
    30: "か月 ヶ月 个月 個月 개월 달 เดือน",
    365: "年 년 ปี",
}
PAST_NUMBERS: Final = {
    1: "一 หนึ่ง",
    2: "二 两 兩 สอง",
    3: "三 สาม",
    4: "四 สี่",
    5: "五 ห้า",
    6: "六 หก",
    7: "七 เจ็ด",
    8: "八 แปด",
    9: "九 เก้า",
    10: "十 สิบ",
}
ABOUT: Final = {1: 0, 7: 2, 30: 7, 365: 30}
"""How many days around its day a time in such units may be, as people round them."""
MAX_DAYS_MEANT: Final = 31
"""A longer period is that of too many rows to be a day that a question is about."""
UNSPACED_AFTER: Final = "後 后 以内 以內 之内 之內 内 內 후 뒤 이내"
"""Words after a period that begins now: ``3日後``."""


UNSPACED: Final = (
    ("\u0e00", "\u0e7f"), ("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"),
)  # fmt: skip
"""The first and the last letters of scripts without spaces; a pattern takes 3 ms to compile."""
WORDS: Final = lazy_pattern(r"\w+")
DAY: Final = timedelta(days=1)
MAX_AGO: Final = 36_600
Days: TypeAlias = "tuple[date, date]"
"""The first and the last one."""
Place: TypeAlias = "tuple[int, int]"
"""Where an expression begins, and its negated length."""
MAX_CHARACTERS: Final = 2_000
"""Days are looked for at the beginning of a query; a longer one is a pasted text."""
LAST: Final = (date.max.year, date.max.month)


def ahead(text: str, today: date) -> date | None:
    """Return the day of the first expression for today or later, the longest that begins there."""
    found = min(_expressions(plain(text), today), default=None)
    return None if found is None else found[2]


def is_at_once(text: str) -> bool:
    """Return whether a text says as soon as possible."""
    words = f" {plain(text)} "
    return any(phrase in words for phrase in _at_once())


def names_past(text: str) -> bool:
    """Return whether a question may name a day relative to today; most do not, at little cost."""
    words = plain(text[:MAX_CHARACTERS])
    spaced, others = _hints()
    return not spaced.isdisjoint(words.split(" ")) or any(map(words.__contains__, others))


def past(text: str, today: date) -> tuple[int, list[Days]]:
    """Return the days that a question names relative to today, and by how many words.

    Only days that are over or today, and periods that have begun: ``yesterday``, ``3 days ago``,
    ``last Friday``, ``last week``, ``this month``. Weeks, months and years ago are about their day.
    """
    if not names_past(text):
        return 0, []
    words = plain(text[:MAX_CHARACTERS])
    kept = _kept(words, today)
    named = sum(words[begin : begin - length].count(" ") + 1 for begin, length, _ in kept)
    return named, [*dict.fromkeys(days for _, _, days in kept)]


def ends_of_past(text: str, today: date) -> Callable[[int], bool]:
    """Return whether the word that ends at a place of a text is in an expression for a past day."""
    kept = _kept(plain(text[:MAX_CHARACTERS]), today) if names_past(text) else []

    def is_inside(end: int) -> bool:
        place = len(plain(text[:end])) if kept else 0
        return any(begin < place <= begin - length for begin, length, _ in kept)

    return is_inside


def _kept(words: str, today: date) -> list[tuple[int, int, Days]]:
    """Return the expressions, the longest of those that begin at one place, without overlaps."""
    kept: list[tuple[int, int, Days]] = []
    for begin, length, days in sorted(_past(words, today)):
        if not kept or begin >= kept[-1][0] - kept[-1][1]:
            kept.append((begin, length, days))
    return kept


def _expressions(text: str, today: date) -> Iterator[tuple[int, int, date]]:
    """Yield the place of each expression, its negated length, and its day."""
    for begin, length, days in _counted(text, today.weekday()):
        try:
            yield begin, length, today + days * DAY
        except OverflowError:
            continue
    for phrase, period in _ends():
        for begin, length in _places(phrase, text):
            if (day := _end(period, today)) is not None:
                yield begin, length, day


def _counted(text: str, today: int) -> Iterator[tuple[int, int, int]]:
    for phrase, days in _ahead():
        for begin, length in _places(phrase, text):
            yield begin, length, days
    for phrase, weekday in _weekdays():
        for begin, length in _places(phrase, text):
            yield begin, length, (weekday - today - 1) % 7 + 1
    for pattern, numbers, units in _periods():
        for match in pattern.finditer(text):
            number = numbers.get(match["number"]) or int(match["number"])
            yield match.start(), match.start() - match.end(), number * units[match["unit"]]


def _end(period: str, today: date) -> date | None:
    """Return the last day of a period: of this week, or of the month, quarter or year."""
    year, month = today.year, today.month
    if period == "week":
        return _after(today, 6 - today.weekday())
    if period == "next week":
        return _after(today, 13 - today.weekday())
    if period == "quarter":
        month = (month + 2) // 3 * 3
    elif period == "next month":
        year, month = year + month // 12, month % 12 + 1
    elif period in ("year", "next year"):
        year, month = year + (period == "next year"), 12
    return last_of_month(year, month) if year <= date.max.year else None


def last_of_month(year: int, month: int) -> date:
    following = date(year + month // 12, month % 12 + 1, 1) if (year, month) < LAST else None
    return date.max if following is None else following - DAY


def _after(today: date, days: int) -> date | None:
    try:
        return today + days * DAY
    except OverflowError:
        return None


def _past(text: str, today: date) -> Iterator[tuple[int, int, Days]]:
    def at(place: Place, days: int, about: int = 0) -> Iterator[tuple[int, int, Days]]:
        if days + about < min(MAX_AGO, today.toordinal()):
            day = today - days * DAY
            last = min(today, day + about * DAY)
            yield *place, (day - about * DAY, last)

    for phrase, days in _days_ago():
        for place in _places(phrase, text):
            yield from at(place, days)
    if "hier" in text:
        for match in _french().finditer(text):
            yield from at(_place(match), 1)
    if any(word in f" {text} " for word in _ago_words()):
        for pattern, numbers, units in _ago():
            for match in pattern.finditer(text):
                number = numbers.get(match["number"]) or int(match["number"])
                unit = units[match["unit"]]
                yield from at(_place(match), number * unit, ABOUT[unit])
    for name, weekday in _past_weekdays():
        if name in text:
            for match in _last(name).finditer(text):
                yield from at(_place(match), (today.weekday() - weekday - 1) % 7 + 1)
    for phrase, unit_of, ago in _past_periods():
        for begin, length in _places(phrase, text):
            yield begin, length, _period(unit_of, ago, today)


def _place(match: re.Match[str]) -> Place:
    return match.start(), match.start() - match.end()


def _places(phrase: str, text: str) -> Iterator[Place]:
    """Yield where a phrase, as :func:`_phrase` makes them, stands in a plain text."""
    bound = phrase.startswith(" ")
    words, length = f" {text} ", len(phrase) - 2 * bound
    begin = words.find(phrase)
    while begin >= 0:
        yield begin - (not bound), -length
        begin = words.find(phrase, begin + bound + length)


def _period(unit: str, ago: int, today: date) -> Days:
    """Return the days of the period that goes on today, or of one before it."""
    if unit == "week":
        monday = today - (today.weekday() + 7 * ago) * DAY
        return monday, monday + 6 * DAY
    if unit == "year":
        return date(today.year - ago, 1, 1), date(today.year - ago, 12, 31)
    months = 3 if unit == "quarter" else 1
    of_first = (today.year * 12 + today.month - 1) // months * months - ago * months
    of_last = of_first + months - 1
    return date(of_first // 12, of_first % 12 + 1, 1), last_of_month(
        of_last // 12, of_last % 12 + 1
    )


@cache
def _hints() -> tuple[frozenset[str], list[str]]:
    """Words without one of which nothing in the past is named, and those of unspaced scripts."""
    phrases = [*map(_phrase, PAST_HINTS.split())]
    spaced = {phrase.strip(" ") for phrase in phrases if phrase.startswith(" ")}
    return frozenset(spaced), [phrase for phrase in phrases if not phrase.startswith(" ")]


@cache
def _days_ago() -> list[tuple[str, int]]:
    return [(_phrase(phrase), days) for days, phrases in DAYS_AGO.items() for phrase in phrases]


@cache
def _french() -> re.Pattern[str]:
    """``hier`` in a French question: in German and Dutch it means here."""
    words = _any(FRENCH.split())
    return re.compile(rf"(?:(?<=^)|\b)hier\b(?=.*\b(?:{words})\b)|\b(?:{words})\b.*?\bhier\b")


@cache
def _ago_words() -> list[str]:
    """Words of which one is in each expression for some time ago."""
    return [*map(_phrase, (*AGO_BEFORE, *AGO_AFTER, *AGO_UNSPACED))]


@cache
def _ago() -> list[tuple[re.Pattern[str], Mapping[str, int], Mapping[str, int]]]:
    numbers, units = _by_word(NUMBERS), _by_word(PAST_UNITS)
    number = rf"(?P<number>\d{{1,5}}|{_any(numbers)})"
    unit = rf"(?P<unit>{_any(units)})"
    before, after = _any(map(plain, AGO_BEFORE)), _any(map(plain, AGO_AFTER))
    of_signs, unspaced = _by_word(PAST_NUMBERS), _by_word(PAST_UNSPACED)
    signs = rf"(?P<number>\d{{1,5}}|{_any(of_signs)}) ?(?P<unit>{_any(unspaced)})"
    return [
        (re.compile(rf"\b(?:{before}) {number} {unit}\b"), numbers, units),
        (re.compile(rf"\b{number} {unit} (?:{after})\b"), numbers, units),
        (re.compile(rf"{signs} ?(?:{_any(map(plain, AGO_UNSPACED))})"), of_signs, unspaced),
    ]


@cache
def _past_periods() -> list[tuple[str, str, int]]:
    return [
        (_phrase(phrase), unit, ago)
        for (unit, ago), phrases in PAST_PERIODS.items()
        for phrase in phrases
    ]


@cache
def _past_weekdays() -> list[tuple[str, int]]:
    return [
        (name, weekday)
        for weekday, names in enumerate(map(" ".join, zip(WEEKDAYS, PAST_WEEKDAYS, strict=True)))
        for name in map(plain, names.split())
        if not _is_unspaced(name)
    ]


@cache
def _last(weekday: str) -> re.Pattern[str]:
    """The last Friday."""
    last = _any(map(plain, LAST_OF_MONTH))
    return re.compile(rf"\b(?:{last}) {weekday}\b|\b{weekday} (?:{last})\b")


@cache
def _ahead() -> list[tuple[str, int]]:
    return [(_phrase(phrase), days) for days, phrases in DAYS_AHEAD.items() for phrase in phrases]


@cache
def _ends() -> list[tuple[str, str]]:
    return [(_phrase(phrase), period) for period, phrases in ENDS.items() for phrase in phrases]


@cache
def _at_once() -> list[str]:
    return [*map(_phrase, AT_ONCE)]


@cache
def _weekdays() -> list[tuple[str, int]]:
    return [
        (_phrase(name), weekday) for weekday, names in enumerate(WEEKDAYS) for name in names.split()
    ]


@cache
def _periods() -> list[tuple[re.Pattern[str], Mapping[str, int], Mapping[str, int]]]:
    numbers, units = _by_word(NUMBERS), _by_word(UNITS)
    before = _any(BEFORE_PERIOD.split())
    spaced = (
        rf"\b(?:{before}) (?:(?:von|de|the) )?(?P<number>\d{{1,4}}|{_any(numbers)})"
        rf" (?P<unit>{_any(units)})\b"
    )
    unspaced_units = _by_word(UNSPACED_UNITS)
    after = _any(map(plain, UNSPACED_AFTER.split()))
    unspaced = rf"(?P<number>\d{{1,4}}) ?(?P<unit>{_any(unspaced_units)}) ?(?:{after})"
    return [(re.compile(spaced), numbers, units), (re.compile(unspaced), {}, unspaced_units)]


def _by_word(table: Mapping[int, str]) -> dict[str, int]:
    return {plain(word): number for number, words in table.items() for word in words.split()}


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _phrase(phrase: str) -> str:
    """Return a phrase as it stands in a plain text between two blanks."""
    return plain(phrase) if _is_unspaced(phrase) else f" {plain(phrase)} "


def _is_unspaced(text: str) -> bool:
    return not text.isascii() and any(
        first <= letter <= last for letter in text for first, last in UNSPACED
    )


def plain(text: str) -> str:
    """Return a text without case and accents, and with blanks for the signs between words."""
    if text.isascii():
        return " ".join(WORDS.findall(text.lower()))
    letters = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(one for one in letters if not unicodedata.combining(one))
    return " ".join(WORDS.findall(unicodedata.normalize("NFC", bare)))
