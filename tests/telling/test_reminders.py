"""Reminders: what a memory has to say about a prompt that did not ask it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memstore
from memstore import EpisodeHit, LocalEmbedder, SearchHit
from memstore.domain.episodes import TRACE
from memstore.domain.results import ScoreParts
from memstore.providers.local import tokens_at_most
from memstore.telling import reminder
from memstore.text import utterances

Open = Callable[..., memstore.Store]

TALK = [
    ("user", "staging moves to port 5499, Marta owns the migration"),
    ("assistant", "Noted: staging listens on 5499 from now on."),
    ("user", "We decided to use httpx for the gateway"),
    ("user", "Mein Hund heißt Bello und wir wohnen in Hamburg"),
    ("user", "昨日、緑茶を飲みました"),
    ("user", "Nous avons choisi le fournisseur Lumière pour la facturation"),
]
FILLING = [
    "the build was slow again today",
    "please look at the tests of the parser",
    "the header is too large on small screens",
]


@pytest.fixture
def store(open_store: Open) -> memstore.Store:
    store = open_store()
    tell(store, *TALK)
    tell(store, *(("user", text) for text in FILLING), thread="other")
    return store


def tell(store: memstore.Store, *turns: tuple[str, str], thread: str = "first") -> None:
    store.episodes.add_many(
        {"content": content, "source": "host", "thread": thread, "speaker": speaker}
        for speaker, content in turns
    )


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("which port does staging use?", "5499"),
        ("who owns the migration", "Marta"),
        ("tell Marta that the migration is done", "Marta"),
        ("did we pick httpx?", "httpx"),
        ("is 5499 open in the firewall", "5499"),
        ("wie heißt mein Hund?", "Bello"),
        ("緑茶を飲んだのはいつ?", "緑茶"),
        ("quel fournisseur pour la facturation ?", "Lumière"),
        ("traceback follows\n" + "frame of a call\n" * 500 + "does staging use port 5499?", "5499"),
    ],
)
def test_prompt_gets_what_answers_it(store: memstore.Store, prompt: str, answer: str) -> None:
    found = store.remind(prompt)
    assert answer in found.text
    assert found.episodes
    assert tokens_at_most(found.text) <= 500


@pytest.mark.parametrize(
    "prompt",
    [
        "run the tests",
        "continue",
        "fix the typo in parse()",
        "commit and push",
        "look at the header again",
        "führe die Tests aus",
        "テストを実行して",
        "what does this function do?",
        "",
        "   ",
        "?",
        "Traceback (most recent call last):\n  File 'x.py', line 3\nValueError: too slow again",
    ],
)
def test_prompt_that_memory_does_not_bear_on_gets_nothing(
    store: memstore.Store, prompt: str
) -> None:
    assert store.remind(prompt).text == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "remind me of the port that staging uses",
        "I need the staging port for the handover",
        "erinnere mich an den Port von staging",
        "necesito el puerto de staging",
        "教えて staging port",
    ],
)
def test_a_request_is_answered_like_a_question(open_store: Open, prompt: str) -> None:
    store = open_store()
    tell(store, *(("user", text) for text in FILLING), ("user", "Staging listens on port 5499"))
    assert "5499" in store.remind(prompt).text


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [
        ("Remind me of the photographer.", True),
        ("Erinnere mich an the photographer", True),
        ("What was the photographer before May?", True),
        ("What is the latest on the photographer?", True),
        ("Is the photographer good?", False),
        ("Ask the photographer for another one", False),
        ("show me src/photographer.ts", False),
    ],
)
def test_who_asks_a_memory_is_told_what_a_search_finds(
    open_store: Open, prompt: str, is_told: bool
) -> None:
    store = open_store(embedder=LocalEmbedder())
    tell(store, *(("user", text) for text in (*FILLING, "Nora swims on Friday.")))
    tell(store, ("user", "Atelier Brix makes the photos of articles."), thread="other")
    store.file.embed_pending()
    assert ("Atelier Brix" in store.remind(prompt).text) == is_told


def test_an_echo_is_not_told(open_store: Open) -> None:
    store = open_store()
    tell(
        store,
        ("user", "which port does staging use?"),
        ("user", "Rename scan_pages to read_pages"),
        ("assistant", "Staging listens on port 5499"),
    )
    told = store.remind("which port does staging use").text
    assert "5499" in told
    assert "which port" not in told
    assert store.remind("rename scan_pages to read_pages").text == ""
    assert "5499" in store.remind("is it true that staging listens on port 5499?").text


@pytest.mark.parametrize(
    "prompt",
    [
        "remind me of the payment term",
        "put the payment term into the readme",
        "I need the payment term for the handover",
    ],
)
def test_the_words_of_a_request_are_not_what_it_is_about(open_store: Open, prompt: str) -> None:
    store = open_store()
    tell(
        store,
        *(("user", text) for text in FILLING),
        ("user", "the payment reminders went to all, put a readme into the handover folder"),
        ("user", "the payment term is thirty days"),
    )
    best = store.remind(prompt).episodes[0]
    assert "thirty days" in store.episodes.get(best).content


def test_an_order_that_was_carried_out_is_not_told(open_store: Open) -> None:
    store = open_store()
    tell(
        store,
        *(("user", text) for text in FILLING),
        ("user", "commit what there is and push it"),
        ("assistant", "Committed and pushed."),
        ("user", "never push to main without a review"),
    )
    assert store.remind("commit everything and push it").text == ""
    assert "without a review" in store.remind("push this to main").text


def test_another_path_does_not_bear_by_what_paths_share(open_store: Open) -> None:
    store = open_store()
    tell(
        store,
        *(("user", text) for text in FILLING),
        ("user", "the label printer of src/util/label.ts cuts off the last line"),
    )
    assert store.remind("simplify src/util/slug.ts").text == ""
    assert "printer" in store.remind("what was wrong with src/util/label.ts?").text


def test_a_short_turn_beside_one_that_bears_has_to_have_something_of_the_prompt(
    open_store: Open,
) -> None:
    store = open_store()
    tell(
        store,
        ("user", "Jobs of the billing service run in Celery."),
        ("user", "We have Ludovic to thank for that."),
        ("assistant", "All right."),
        thread="then",
    )
    told = store.remind("who brought Celery to the billing service?").text
    assert "Ludovic" in told
    assert "All right" not in told


NEWS = {
    "en": ("Alice moved to Lisbon in spring", "Where does Alice live?", "rename the class"),
    "de": ("Bernd ist nach Wien gezogen", "Wo wohnt Bernd jetzt?", "benenne die Klasse um"),
    "es": ("Lucía se mudó a Madrid", "¿Dónde vive ahora Lucía?", "cambia el nombre"),
    "fr": ("Chloé a déménagé à Lille", "Où habite Chloé ?", "renomme la classe"),
    "it": ("Giulia si è trasferita a Torino", "Dove abita adesso Giulia?", "rinomina la classe"),
    "pt": ("Beatriz mudou para Lisboa", "Onde a Beatriz mora agora?", "renomeie a classe"),
    "nl": ("Sanne is naar Utrecht verhuisd", "Waar woont Sanne nu?", "hernoem de klasse"),
    "zh": ("小明搬到了上海", "小明现在住在哪里", "把这个类重命名"),
    "ja": ("アリスは東京へ引っ越した", "アリスは今どこに住んでいますか", "クラスの名前を変えて"),
    "ko": ("민수는 서울로 이사했다", "민수는 지금 어디에 사나요", "클래스 이름을 바꿔 줘"),
}
"""What was said, a question with one name of it, and an order."""


@pytest.mark.parametrize("language", NEWS)
def test_name_bears_where_a_sentence_begins_with_it(open_store: Open, language: str) -> None:
    said, asked, order = NEWS[language]
    store = open_store()
    tell(store, *(("user", text) for text in FILLING), ("user", said))
    assert said in store.remind(asked).text
    assert store.remind(order).text == ""


@pytest.mark.parametrize(
    ("said", "prompt"),
    [
        ("Refactor the lexer before Tuesday", "Refactor this"),
        ("Die Schnittstelle ist jetzt fertig", "beschreibe die Schnittstelle"),
        ("the two halves of the index are merged", "merge these two"),
        ("les deux moitiés sont prêtes", "laquelle des deux est la plus rapide ?"),
        ("我们的房子在城里", "它们是在哪里定义的？"),
        ("パスワードは来月変わります", "いくつありますか？"),
    ],
)
def test_what_is_no_name_and_grammar_do_not_bear(open_store: Open, said: str, prompt: str) -> None:
    store = open_store()
    tell(store, ("user", said))
    assert store.remind(prompt).text == ""


def test_one_rare_word_is_enough_among_few_turns_and_not_among_many(open_store: Open) -> None:
    store, asked = open_store(), "what do we know of the landlord?"
    tell(store, ("user", "the landlord raised the rent"))
    assert "landlord" in store.remind(asked).text
    tell(store, *(("user", f"the landlord of number {n} sold it") for n in range(40)))
    tell(store, *(("user", f"nothing new on line {n}") for n in range(1200)), thread="long")
    assert store.remind("is a landlord a person in this schema and model?").text == ""


def test_question_about_a_day_gets_what_was_said_then(open_store: Open) -> None:
    store = open_store()
    store.episodes.add("we tried the new oven", source="host", valid_at="2024-01-19")
    store.episodes.add("the oven is too hot", source="host", valid_at="2024-03-02")
    assert "tried" in store.remind("What happened on 19 January 2024?").text
    assert store.remind("Archive what is from 19 January 2024").text == ""
    assert store.remind("2024-01-19 10:14:55 ERROR pool\nwhat is wrong here?").text == ""
    assert store.remind("What happened in 2024?").text == ""


def test_turns_of_the_thread_that_goes_on_are_left_out(store: memstore.Store) -> None:
    asked = "which port does staging use?"
    turn = store.episodes.get(1)
    assert store.remind(asked, thread="first").text == ""
    assert store.remind(asked, thread="second").text
    assert store.remind(asked, thread="first", thread_before=turn.created_at).text == ""
    later = store.episodes.add("and now?", source="host").created_at
    assert "5499" in store.remind(asked, thread="first", thread_before=later).text


def test_what_is_known_is_left_out_unless_the_prompt_names_it(store: memstore.Store) -> None:
    known = ["e1", "e2"]
    asked = "which port does staging use?"
    assert store.remind(asked, known=known).text == ""
    assert 2 not in store.remind(f"{asked} I mean e1", known=known).episodes
    assert store.remind(f"{asked} I mean e1", known=known).episodes[0] == 1
    fact = store.add("Marta leads the infrastructure group", subject="Marta")
    assert store.remind("what does Marta lead?", known=known).facts == (fact.id,)
    assert store.remind("what does Marta lead?", known=[*known, f"#{fact.id}"]).facts == ()


def test_superseded_turn_is_shown_with_what_superseded_it(store: memstore.Store) -> None:
    asked = "which port does staging use?"
    old = store.add("Staging uses port 5499", subject="staging", episode_id=1)
    new = store.add("Staging uses the socket /run/s", subject="staging", supersedes=old.id)
    found = store.remind(asked)
    assert 1 in found.episodes
    assert new.id in found.facts
    assert f"#{new.id}" in found.text
    store.delete(new.id)
    assert 1 not in store.remind(asked).episodes


def test_superseding_fact_of_another_owner_hides_the_turn(store: memstore.Store) -> None:
    old = store.add("Staging uses port 5499", subject="staging", episode_id=1)
    new = store.add("Ben moved it to 5600", subject="staging", user_id="ben")
    store.supersede(old.id, new.id, any_subject=True)
    found = store.remind("which port does staging use?")
    assert "5600" not in found.text
    assert 1 not in found.episodes


@pytest.mark.parametrize(
    "later",
    [
        "Correction: staging moves to port 5600",
        "actually, the staging port is 5600",
        "staging is no longer on that port, it is 5600",
    ],
)
def test_corrected_turn_is_shown_with_its_correction(open_store: Open, later: str) -> None:
    store = open_store()
    tell(store, TALK[0], *(("user", text) for text in FILLING), ("user", later))
    found = store.remind("what does Marta own with the migration?", max_tokens=60)
    assert TALK[0][1] in found.text
    assert later in found.text


def test_correction_that_does_not_fit_takes_its_turn_along(open_store: Open) -> None:
    store = open_store()
    tell(store, TALK[0], ("user", "Correction: staging moves to port 5600 " + "very " * 80))
    assert store.remind("what does Marta own with the migration?", max_tokens=60).text == ""


def test_correction_by_someone_else_is_no_correction(open_store: Open) -> None:
    store = open_store()
    tell(store, TALK[0], *(("user", text) for text in FILLING))
    tell(store, ("Ben", "Actually the migration of staging is done"))
    assert store.remind("what does Marta own?").episodes[0] == 1


def test_longer_text_makes_room_for_the_next(open_store: Open) -> None:
    store = open_store()
    tell(store, ("user", "The migration of billing belongs to Ines " + "and so on " * 60))
    tell(store, ("user", "The migration of billing is planned for May"), thread="b")
    found = store.remind("who owns the migration of billing?", max_tokens=50)
    assert found.episodes == (2,)
    assert found.left_out


def test_only_facts_and_turns_of_the_owners_and_namespace(store: memstore.Store) -> None:
    asked = "which port does staging use?"
    assert store.of(user_id="ben").remind(asked).text == ""
    assert store.within("elsewhere").remind(asked).text == ""


@pytest.mark.parametrize(
    "wrong", [{"max_tokens": 0}, {"thread_before": "noon"}, {"known": 7}, {"prompt": 7}]
)
def test_wrong_arguments_are_refused(store: memstore.Store, wrong: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        store.remind(**({"prompt": "staging?"} | wrong))  # type: ignore[arg-type]


def test_correction_of_long_afterwards_is_shown(open_store: Open) -> None:
    store = open_store()
    tell(store, TALK[0], *(("user", f"line {n} of the log is fine") for n in range(60)))
    tell(store, ("user", "Scratch that: Marta gave up the staging migration"))
    found = store.remind("what does Marta own with the migration?")
    assert found.episodes[:2] == (1, 62)
    tell(store, ("user", "Scratch that: Marta and the staging migration"), thread="other")
    assert 63 not in store.remind("what about staging?", max_tokens=40).episodes


TAKEN_BACK = {
    "en": ("The port of staging is 5499", "I take that back, the staging port is 5600"),
    "de": ("Der Port von Staging ist 5499", "Der Port von Staging ist doch nicht 5499"),
    "es": ("El puerto de pruebas es 5499", "Me equivoqué, el puerto de pruebas es 5600"),
    "fr": ("Le port de recette est 5499", "Je me suis trompé, le port de recette est 5600"),
    "it": ("La porta di prova è 5499", "Mi sono sbagliato, la porta di prova è 5600"),
    "pt": ("A porta de testes é 5499", "Me enganei, a porta de testes é 5600"),
    "nl": ("De poort van staging is 5499", "De poort van staging is toch niet 5499"),
    "zh": ("测试环境的端口是5499", "更正一下，测试环境的端口是5600"),
    "ja": ("検証環境のポートは5499です", "訂正します、検証環境のポートは5600です"),
    "ko": ("테스트 환경 포트는 5499입니다", "정정합니다, 테스트 환경 포트는 5600입니다"),
}


@pytest.mark.parametrize("language", TAKEN_BACK)
def test_phrases_by_which_people_take_back_what_they_said(language: str) -> None:
    earlier, later = TAKEN_BACK[language]
    other = TAKEN_BACK["en" if language != "en" else "de"][0].replace("5499", "").lower()
    assert utterances.corrects(later, earlier, follows=False)
    assert not utterances.corrects(earlier, earlier, follows=False)
    assert not utterances.corrects(later, other.replace("staging", ""), follows=False)


@pytest.mark.parametrize(
    "later", ["No worries, the staging port is open", "did you make that staging port work?"]
)
def test_phrases_that_take_nothing_back(later: str) -> None:
    assert not utterances.corrects(later, TAKEN_BACK["en"][0], follows=True)


@pytest.mark.model
@pytest.mark.parametrize(
    ("rule", "orders", "others"),
    [
        (
            "Never force-push to main; open a pull request",
            ["push this to main", "please push it to main now"],
            ["commit and push", "run the tests", "merge this into main"],
        ),
        (
            "Always run the migrations before you deploy to staging",
            ["deploy it to staging"],
            ["deploy", "write the release notes"],
        ),
        (
            "Auf den Hauptzweig darf nie ohne Freigabe gepusht werden",
            ["bitte ohne Freigabe auf den Hauptzweig"],
            ["schreib die Tests"],
        ),
    ],
)
def test_a_rule_bears_on_an_order_that_it_is_about(
    store: memstore.Store, rule: str, orders: list[str], others: list[str]
) -> None:
    store.add(rule, subject="git", category="decision")
    store.add_many(
        {
            "content": f"Module m{n} uses adapter a{n % 7} because of a budget of {n * 3} ms",
            "subject": f"module {n}",
        }
        for n in range(120)
    )
    assert [order for order in orders if rule not in store.remind(order).text] == []
    assert [order for order in others if store.remind(order).text] == []


def test_an_older_day_stands_below_a_later_one(store: memstore.Store) -> None:
    for day, text in (("03", "Parcels of staging leave by Borzoi"), ("07", "Borzoi was slow")):
        store.episodes.add(text, source="host", thread=day, valid_at=f"2024-{day}-01")
    told = store.remind("by whom do parcels of staging leave?")
    days = [line for line in told.text.split("\n") if line[:2] == "20"]
    assert days == sorted(days, reverse=True)
    assert "2024-03-01" in days


LITTLE = ScoreParts(words=0.05, meaning=0.05)
NOTHING = ScoreParts(thread=0.6, session=0.1)


def told(store: memstore.Store, *parts: ScoreParts) -> list[int]:
    """Return which turns are told of all, found in the order of their places from 0."""
    turns = sorted(store.episodes.list(limit=None), key=lambda turn: turn.id)
    hits = [
        EpisodeHit(turn, 0.9 - 0.02 * place, 0.5, None, 0, len(turn.content), own)
        for place, (turn, own) in enumerate(zip(turns, parts, strict=True))
    ]
    found = reminder.reminded([], hits, lambda turn: reminder.Afterwards(), 1000)
    return sorted(id_ - turns[0].id for id_ in found.episodes)


def test_the_further_down_a_line_stands_the_more_it_has_to_have_of_the_prompt(
    open_store: Open,
) -> None:
    store = open_store()
    texts = ("a chair of 1950", "this door squeaks at 9", "7 mm of rain", "2 soups", "3 long walks")
    for text in texts:
        tell(store, ("user", text), thread=text)
    much = LITTLE._replace(terms=0.4)
    assert told(store, *[NOTHING] * 5) == [0]
    assert told(store, *[LITTLE] * 5) == [0, 1]
    assert told(store, LITTLE, LITTLE, much, LITTLE, much) == [0, 1, 2, 4]
    of_the_day = LITTLE._replace(date=0.5)
    assert told(store, *[LITTLE] * 3, of_the_day, LITTLE._replace(date=-0.4)) == [0, 1, 3]


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("let people export the packing list", False),
        ("People export the packing list", False),  # "people" is no name elsewhere
        ("I want the packing list as a file", False),
        ("the packing list has 7 columns", True),
        ("packing lists go to Emeka", True),
        ("Emeka exports the packing list", True),
        ("the packing list is made by exportPdf", True),
        ("never export the packing list", True),
        ("людям нужен список", False),
        ("把装箱单导出", True),
    ],
)
def test_a_turn_that_names_nothing_has_to_have_more(
    open_store: Open, text: str, is_told: bool
) -> None:
    store = open_store()
    for one in ("Jobs run in Celery", "what people say", text):
        tell(store, ("user", one), thread=one)
    some = LITTLE._replace(terms=0.1)
    assert (2 in told(store, some, some, some)) == is_told
    assert 2 in told(store, some, some, some._replace(terms=0.4))
    assert 2 in told(store, some, some, some._replace(date=0.1))


def test_a_fact_need_name_nothing(open_store: Open) -> None:
    store = open_store()
    for text in ("Jobs run in Celery", "lists are packed", "doors squeak"):
        store.add(text, subject="shop")
    some = LITTLE._replace(terms=0.1)
    facts = sorted(store.list(limit=None), key=lambda fact: fact.id)
    hits = [
        SearchHit(fact, 0.9 - 0.02 * place, 0.5, 0.5, 1.0, some) for place, fact in enumerate(facts)
    ]
    found = reminder.reminded(hits, [], lambda turn: reminder.Afterwards(), 1000)
    assert len(found.facts) == len(facts)


@pytest.mark.parametrize(("tags", "places"), [((), [0, 1, 2]), ((TRACE,), [0, 2])])
def test_what_a_session_did_has_to_have_more_than_what_was_said(
    open_store: Open, tags: tuple[str, ...], places: list[int]
) -> None:
    store = open_store()
    for text in ("a chair of 1950", "this door squeaks at 9", "7 mm of rain"):
        store.episodes.add(text, source="host", thread=text, tags=tags)
    assert told(store, LITTLE, LITTLE._replace(terms=0.1), LITTLE._replace(terms=0.4)) == places


def test_the_turn_after_one_that_is_told_goes_with_it(open_store: Open) -> None:
    store = open_store()
    for text in ("jobs run in Celery", "a long walk", "the chair is red"):
        tell(
            store, ("user", text), ("user", f"it was Ludovic who wanted that: {text}"), thread=text
        )
    # The turns of a thread stand next to each other; of the last, the second one alone has much.
    assert told(store, *[NOTHING] * 6) == [0, 1]
    assert told(store, *[NOTHING] * 4, LITTLE, LITTLE._replace(terms=0.4)) == [0, 1, 5]


def test_a_fact_goes_with_the_turn_that_it_was_drawn_from_and_with_an_older_one(
    open_store: Open,
) -> None:
    store = open_store()
    tell(store, ("user", "We pay by invoice. Then there was cake."))
    turn = store.episodes.list(limit=1)[0]
    drawn = store.add("Payment is by invoice.", subject="shop", episode_id=turn.id).id
    older, newer, other = (
        store.add(f"{kind} matters", subject="diet").id for kind in ("rye", "oats", "wheat")
    )

    def hit(id_: int, score: float, *later: int) -> SearchHit:
        return SearchHit(store.get(id_), score, 0.0, 0.0, 1.0, NOTHING, newer=later)

    facts = [hit(drawn, 0.6), hit(older, 0.95, newer), hit(newer, 0.5), hit(other, 0.9)]
    heard = EpisodeHit(turn, 1.0, 0.5, None, 0, len(turn.content), LITTLE._replace(terms=0.4))
    found = reminder.reminded(facts, [heard], lambda turn: reminder.Afterwards(), 1000)
    assert {*found.facts} == {older, newer, drawn}
    assert found.episodes == (turn.id,)
