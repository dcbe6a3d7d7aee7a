"""Words for days and periods, in the ten languages whose dates are read.

They are compared without case and accents; Chinese, Japanese and Korean ones are found anywhere.
"""

from __future__ import annotations

from typing import Final

DAYS_AHEAD: Final = {
    0: (
        "today", "tonight", "heute", "hoy", "esta noche", "aujourd'hui", "ce soir", "oggi",
        "stasera", "vandaag", "vanavond", "hoje", "今日", "本日", "今夜", "きょう", "오늘",
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
