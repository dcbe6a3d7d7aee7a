"""Words for days and periods, in the ten languages whose dates are read.

They are compared without case and accents; Chinese, Japanese and Korean ones are found anywhere.
"""

from __future__ import annotations

from typing import Final

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
        "오늘", "今天", "今晚", "今早",
    ),
    1: (
        "yesterday", "last night", "gestern", "ayer", "anoche", "d'hier", "ieri", "gisteren",
        "gisteravond", "ontem", "昨日", "きのう", "昨夜", "어제", "昨天", "昨晚",
    ),
    2: (
        "day before yesterday", "vorgestern", "anteayer", "antes de ayer", "avant-hier",
        "l'altro ieri", "altro ieri", "eergisteren", "anteontem", "一昨日", "おととい", "그저께",
        "그제", "前天",
    ),
}  # fmt: skip
"""Phrases for a day that is over or today, by the number of days since."""

FRENCH: Final = "que qu quoi qui le les est ai avons je il elle nous vous du fait dit quand comment"
"""Words of a French question, in which ``hier`` is yesterday."""

AGO_BEFORE: Final = ("vor", "hace", "il y a", "há", "fa")
"""Words before the number of days that have passed."""
AGO_AFTER: Final = ("ago", "fa", "atrás", "geleden", "earlier")
"""Words after it."""
LAST: Final = (
    "last", "letzten", "letzte", "letzter", "vergangenen", "pasado", "dernier", "scorso",
    "afgelopen", "passado", "passada",
)  # fmt: skip
"""Words for the weekday that was last."""

PAST_HINTS: Final = (
    "yesterday today tonight night morning afternoon evening ago earlier last heute gestern "
    "vorgestern vor letzten letzte letzter vergangenen hoy ayer anteayer anoche esta hace pasado "
    "aujourd hier matin soir il dernier oggi ieri stamattina stasera fa scorso vandaag gisteren "
    "gisteravond eergisteren vanavond vanmorgen geleden afgelopen hoje ontem anteontem atrás há "
    "passado passada 今 昨 前 本日 きょう きのう おととい 오늘 어제 그저께 그제 전"
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

UNITS: Final = {
    1: "day days tag tage tagen día días dia dias jour jours giorno giorni dag dagen",
    7: "week weeks woche wochen semana semanas semaine semaines settimana settimane weken",
    30: "month months monat monate monaten mes meses mois mês mese mesi maand maanden",
}
"""Units of a period, by their days."""

NUMBERS: Final = {
    1: "a an one ein eine einem einer un una une uno um uma een",
    2: "two zwei dos deux due twee dois duas",
    3: "three drei tres trois tre drie três",
    4: "four vier cuatro quatre quattro quatro",
}

BEFORE_PERIOD: Final = "in within innerhalb en dentro dans tra fra entro over binnen em"
"""Words before a period that begins now: ``in 3 days``."""

UNSPACED_UNITS: Final = {
    1: "日 天 일",
    7: "週間 周 週 星期 주",
    30: "か月 ヶ月 个月 個月 개월 달",
}
UNSPACED_AFTER: Final = "後 后 以内 以內 之内 之內 内 內 후 뒤 이내"
"""Words after a period that begins now: ``3日後``."""
