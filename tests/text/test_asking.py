"""Requests, by which somebody asks to be told something without a question, and orders."""

import pytest
from benches.finding import requests as labelled
from hypothesis import given
from hypothesis import strategies as st

from memstore.telling.bearing import Prompt
from memstore.text import asking

TOPICS = {
    "Remind me of the payment term.": "the payment term.",
    "Could you tell me the staging URL": "the staging URL",
    "Somebody from legal wants our log retention": "our log retention",
    "The customer asks for the payment term.": "the payment term.",
    "I keep mixing up the login and the hosting": "the login and the hosting",
    "Put the hosting provider on the slide for Monday.": "the hosting provider for Monday.",
    "We need a paragraph on the backup plan": "the backup plan",
    "For the new colleague: the job queue": "the job queue",
    "I need the payment term for the handover.": "the payment term.",
    "the release day, please": "the release day",
    "Tell the new colleague the payment term.": "the payment term.",
    "The log retention escapes me": "The log retention",
    "Redis was slow. Tell me the job queue.": "Redis was slow. the job queue.",
    "Remind me of the discount for customer Meyer": "the discount for customer Meyer",
    "I need the warranty in the Falcon contract": "the warranty in the Falcon contract",
    "Put our prices in the offer for Meyer from March": "our prices for Meyer from March",
    "Remind me of the backups, and of Hetzner too": "the backups, and of Hetzner too",
    "напомни срок для клиента Ромашка": "срок для клиента Ромашка",
    "Ich weiß nicht mehr den Port von Falcon": "den Port von Falcon",
    "Let Anna know the deadline": "Anna the deadline",
    "For the handover of Meyer, the deadline": "of Meyer, the deadline",
    "Ich brauche das Zahlungsziel für die Übergabe": "das Zahlungsziel",
    "Le client demande le délai de paiement": "le délai de paiement",
    "Necesito el plazo de pago": "el plazo de pago",
    "Ricordami il termine di pagamento": "il termine di pagamento",
    "Diga-me o prazo de pagamento": "o prazo de pagamento",
    "Geef me de betaaltermijn": "de betaaltermijn",
    "Przypomnij mi termin płatności": "termin płatności",
    "Напомни срок оплаты": "срок оплаты",
}
ORDERS = (
    "explain this regex",
    "explain what the function does",
    "beschreibe die Schnittstelle",
    "list the files you changed",
    "show me the diff",
    "write the commit message",
    "add a test to the docs",
    "I need a test for the empty list",
    "I forgot to add the import",
    "do what we said",
    "tell the linter to ignore this line",
    "look at the header again",
    "make useToggle async",
    "undo that please",
    "Anna wants the window seat",
    "Is it Anna who wants the window seat?",
    "Does anybody know whether Falcon needs the key?",
    "The build needs the new compiler",
    "Confirm the order",
    "Set the timer to 5 minutes",
    "Find the shortest release name",
    "提醒间隔是多少?",
    "보내는 사람은 누구?",
    "give useToggle the name that fits",
    "thanks, that is it for today",
)


@pytest.mark.parametrize("text", TOPICS)
def test_what_a_request_is_about(text: str) -> None:
    assert asking.topic(text) == asking.requested(text) == TOPICS[text]


@pytest.mark.parametrize("text", ORDERS)
def test_what_is_at_hand_is_not_asked_of_a_memory(text: str) -> None:
    assert asking.topic(text) is None
    assert asking.requested(text) == text


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("why is useToggle so slow?", False),
        ("did you run the tests?", False),
        ("what is the payment term?", True),
        ("why did we leave Redis?", True),
        ("the log retention", False),
        ("the log retention, please", True),
    ],
)
def test_which_prompts_ask(text: str, is_question: bool) -> None:
    assert Prompt.read(text).is_question is is_question


def test_requests_in_twelve_languages_are_told_from_orders() -> None:
    prompts = labelled.read()
    assert {one.label for one in prompts} == {*labelled.LABELS}
    read = {one.text for one in prompts if one.is_asked}
    requests, orders = ([one for one in prompts if one.label == label] for label in labelled.LABELS)
    assert sum(one.text in read for one in requests) >= 0.6 * len(requests)
    assert sum(one.text in read for one in orders) <= 0.06 * len(orders)


WORDS = st.sampled_from(
    """tell me remind us of the our a slide on for put into readme wiki please which what we i need
    explain this , . : ? ! that it customer asks erinnere mich an das le client demande 提醒 教えて
    useToggle parse_args again legal wants * | don't l'offre let know send summary handover report
    team new colleague from mail für den Kunden im Vertrag pour cliente en срок клиента""".split()
)


NAMES = ("Meyer", "Falcon", "17", "Ромашка", "Zürich", "SHOP-42")


@given(st.lists(WORDS, max_size=14), st.sampled_from(NAMES), st.integers(0, 14))
def test_no_name_is_left_out(words: list[str], name: str, place: int) -> None:
    text = " ".join([*words[:place], name, *words[place:]])
    assert name in asking.requested(text)


@given(st.lists(WORDS, max_size=60).map(" ".join) | st.text(max_size=600))
def test_any_text_has_a_topic_of_its_own_words(text: str) -> None:
    topic = asking.requested(text)
    assert topic == text or any(map(str.isalnum, topic))
    assert {*"".join(topic.split())} <= {*"".join(text.split())}
