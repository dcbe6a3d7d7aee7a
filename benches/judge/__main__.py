"""The judge over labelled pairs, spoilt pairs and the facts of conversations.

    python -m benches.judge [DIR] [--facts FILE] [--rules] [--list missed,wrong,idle]

DIR may hold further pairs (`*.jsonl`), such as `benches/judge/told`: slots with attributes of any
name, tails, several values in a clause, and what one may have several of, half of them held out.
FILE is `units.jsonl` of a set of facts with their speakers; each fact is judged against the ten
nearest earlier ones of its speaker, as in learning, and so are the facts of half a year
(`benches.finding.halfyear`) in each of its projects. `--rules`
prints how often each rule decided, `--list` the pairs of a kind with the rule that decided each:
`missed` (left standing), `asked`, `wrong` (retired though both are true) and `idle` questions.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import pairwise, takewhile
from pathlib import Path
from statistics import median

import numpy as np
from tests.support import labelled
from tests.support.attack import attacks
from tests.support.spoiling import Pair, spoilt

from benches.finding.halfyear import stock
from memstore import LocalEmbedder
from memstore.text.judging import slots as kept
from memstore.text.judging.judge import Claim, Judgement, Rule, Slots, Verdict, judge

PAIRS = Path(__file__).parents[2] / "tests" / "text" / "judged"
PUBLISHED = tuple(PAIRS / f"{name}pairs.jsonl" for name in ("", "more_", "further_", "unseen_"))
"""The last were written after the rules, by somebody who had not seen them."""

MAX_CANDIDATES = 10
WRONG_SLOTS = 0.2
"""The share of pairs whose newer claim gets a wrong slot, half of them the older one's attribute.

The value of a wrong slot is a word of the text."""


def pairs_of(files: Iterable[Path]) -> list[Pair]:
    """Return the labelled pairs of files."""
    return [
        json.loads(line)
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]


def claims(pair: Pair, slots: Sequence[Slots | None] = (None, None)) -> tuple[Claim, Claim]:
    """Return both sides of a pair."""
    subject = pair["subject"]
    return Claim(pair["older"], subject, slots[0]), Claim(pair["newer"], subject, slots[1])


def judged(pair: Pair, slots: Sequence[Slots | None] = (None, None)) -> Judgement:
    """Judge a pair; no rule depends on its cosine."""
    old, new = claims(pair, slots)
    return judge(old, new)


def class_of(pair: Pair) -> str:
    """Return whether a pair must be retired or asked about, must stay, is hostile, or any of it."""
    if pair["kind"] == "hostile" or pair.get("hostile"):
        return "hostile"
    labels = {"supersedes": "must", "coexists": "stay", "unrelated": "stay", "asks": "ask"}
    return labels.get(pair["label"], "either")


def slots_of(pair: Pair) -> tuple[Slots | None, Slots | None]:
    """Return the slots that an extractor which makes no mistake finds in a pair."""
    if "slots_old" in pair:
        old, new = (pair[side] and Slots(**pair[side]) for side in ("slots_old", "slots_new"))
        return old, new
    holder, slot = pair["subject"], str(pair.get("slot", "other"))
    number, _, attribute = slot.partition(":")
    if number in ("one", "many"):
        before, after = differing(pair)
        return (
            Slots(holder, attribute, before, number),  # type: ignore[arg-type]
            Slots(holder, attribute, after, number),  # type: ignore[arg-type]
        )
    if slot in ("end", "same"):
        until = "now" if slot == "end" else None
        return Slots(holder, "it", "", "one"), Slots(holder, "it", "", "one", None, until)
    return Slots(holder, "it", "", "one"), Slots(holder, "another", "", "one")


def kept_slots(pair: Pair) -> tuple[Slots | None, Slots | None]:
    """Return the slots of a pair that learning keeps, from an extractor that makes no mistake."""
    old, new = (
        kept.slots_of(kept.found(asdict(slots), pair[side], pair["subject"])) if slots else None
        for slots, side in zip(slots_of(pair), ("older", "newer"), strict=True)
    )
    return old, new


def a_word(text: str, chance: random.Random) -> str:
    """Return any word of a text; in a script without blanks, any two characters."""
    words = text.strip(".。").split() if " " in text else [a + b for a, b in pairwise(text)]
    return chance.choice(words).strip(".,:;!?")


def differing(pair: Pair) -> list[str]:
    """Return what is left of both texts without their equal beginning and ending."""
    texts = [pair["older"].rstrip(".。"), pair["newer"].rstrip(".。")]
    start = alike(*texts)
    rest = [text[start:] for text in texts]
    end = alike(*(text[::-1] for text in rest))
    return [text[: len(text) - end] for text in rest]


def alike(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    same = takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


def with_slots(pairs: Sequence[Pair], rounds: int = 5) -> Counter[tuple[str, Verdict]]:
    """Count the verdicts with slots of which a fifth are wrong, over several rounds."""
    attributes = [s.attribute for pair in pairs if (s := slots_of(pair)[0]) and s.attribute]
    found: Counter[tuple[str, Verdict]] = Counter()
    for seed in range(rounds):
        chance = random.Random(seed)
        for pair in pairs:
            old, new = slots_of(pair)
            if chance.random() < WRONG_SLOTS:
                before, after = (a_word(pair[side], chance) for side in ("older", "newer"))
                new = Slots(pair["subject"], chance.choice(attributes), after, "one")
                if chance.random() < 0.5:
                    old = Slots(pair["subject"], new.attribute, before, "one")
            found[class_of(pair), judged(pair, (old, new)).verdict] += 1
    return found


def share(part: int, whole: int) -> str:
    """Return a share as a percentage with its parts."""
    return f"{part / whole:6.1%} ({part} of {whole})" if whole else "     –"


def table(pairs: Sequence[Pair]) -> list[str]:
    """Return the lines of the table of verdicts."""
    found = Counter((class_of(pair), judged(pair).verdict) for pair in pairs)
    slots = with_slots(pairs)
    total = {c: sum(found[c, v] for v in Verdict) for c in ("must", "stay", "hostile")}
    asked = found["must", Verdict.ASK]
    idle = found["stay", Verdict.ASK]
    hostile = found["hostile", Verdict.ASK]
    caught = found["must", Verdict.RETIRE] + asked
    slotted = sum(slots["must", v] for v in Verdict)
    wrong = found["hostile", Verdict.RETIRE]
    return [
        f"coexisting facts retired      {share(found['stay', Verdict.RETIRE], total['stay'])}",
        f"corrections retired           {share(found['must', Verdict.RETIRE], total['must'])}",
        f"retired or asked              {share(caught, total['must'])}",
        f"questions that are right      {share(asked, asked + idle)}",
        f"  with hostile pairs          {share(asked, asked + idle + hostile)}",
        f"hostile pairs retired         {share(wrong, total['hostile'])}",
        f"hostile pairs asked           {share(hostile, total['hostile'])}",
        f"retired with slots            {share(slots['must', Verdict.RETIRE], slotted)}",
        "coexisting or hostile with slots, retired  "
        f"{slots['stay', Verdict.RETIRE] + slots['hostile', Verdict.RETIRE]}",
        *undecided(pairs),
        *with_kept_slots(pairs),
    ]


def undecided(pairs: Sequence[Pair]) -> list[str]:
    """Return how many of the pairs that a person has to decide are asked about, and retired."""
    found = Counter(judged(pair).verdict for pair in pairs if class_of(pair) == "ask")
    if not found:
        return []
    asked, retired = (share(found[v], found.total()) for v in (Verdict.ASK, Verdict.RETIRE))
    return [f"pairs to ask about, asked     {asked}", f"pairs to ask about, retired   {retired}"]


def with_kept_slots(pairs: Sequence[Pair]) -> list[str]:
    """Return the verdicts with the slots that learning keeps, of pairs that come with slots."""
    some = [pair for pair in pairs if "slots_old" in pair]
    if not some:
        return []
    found = Counter((class_of(pair), judged(pair, kept_slots(pair)).verdict) for pair in some)
    total = {c: sum(found[c, v] for v in Verdict) for c in ("must", "stay", "hostile")}
    still = {c: f"{found[c, Verdict.ASK]} asked" for c in total}
    return ["with the right slots, as learning keeps them:"] + [
        f"  {name:10} retired {share(found[c, Verdict.RETIRE], total[c])}, {still[c]}"
        for c, name in (("must", "corrections"), ("stay", "coexisting"), ("hostile", "hostile"))
        if total[c]
    ]


def spoiling(pairs: Sequence[Pair]) -> list[str]:
    """Return how many spoilt pairs are still retired, by the way of spoiling."""
    done: Counter[str] = Counter()
    retired: Counter[str] = Counter()
    for pair in pairs:
        if judged(pair).verdict is not Verdict.RETIRE:
            continue
        for case in spoilt(pair):
            changed = {**pair, "older": case.older, "newer": case.newer}
            done[case.how] += 1
            retired[case.how] += judged(changed).verdict is Verdict.RETIRE
    lines = [f"  {how:16} {retired[how]:3} of {done[how]}" for how in done]
    return [f"spoilt pairs still retired: {retired.total()} of {done.total()}", *lines]


def attacked(pairs: Sequence[Pair], rounds: int = 20) -> str:
    """Return how many random pairs, one step from one that is retired, are retired."""
    retired = [
        pair
        for pair in pairs
        if pair["label"] == "supersedes" and judged(pair).verdict is Verdict.RETIRE
    ]
    done: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for pair, case in attacks(retired, pairs, random.Random(0), rounds):
        done[case.how] += 1
        changed = {**pair, "older": case.older, "newer": case.newer}
        wrong[case.how] += judged(changed).verdict is Verdict.RETIRE
    kinds = ", ".join(f"{how} {wrong[how]} of {done[how]}" for how in done)
    return f"random pairs one step from a correction, retired: {kinds}"


def by_language(pairs: Sequence[Pair]) -> list[str]:
    """Return for each language how many corrections were noticed, and what else was not kept."""
    found = Counter((pair["lang"], class_of(pair), judged(pair).verdict) for pair in pairs)
    lines = []
    for language in sorted({pair["lang"] for pair in pairs}):
        counts = {c: [found[language, c, v] for v in Verdict] for c in ("must", "stay", "hostile")}
        shares = [
            f"{name} retired {share(retired, retired + asked + kept)}, asked {asked}"
            for name, (retired, asked, kept) in counts.items()
        ]
        lines.append(f"  {language}  " + "; ".join(shares))
    return lines


def by_rule(pairs: Sequence[Pair]) -> list[str]:
    """Return how often each rule decided, by class."""
    found: dict[tuple[Verdict, Rule], Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        verdict = judged(pair)
        found[verdict.verdict, verdict.rule][class_of(pair)] += 1
    return [
        f"  {verdict:7}{rule:38}" + "  ".join(f"{c} {n}" for c, n in sorted(counts.items()))
        for (verdict, rule), counts in sorted(found.items())
    ]


def listed(pairs: Sequence[Pair], kinds: Sequence[str]) -> list[str]:
    """Return the pairs of these kinds, each with the rule that decided."""
    names = {
        ("must", Verdict.KEEP): "missed",
        ("must", Verdict.ASK): "asked",
        ("stay", Verdict.RETIRE): "wrong",
        ("hostile", Verdict.RETIRE): "wrong",
        ("stay", Verdict.ASK): "idle",
        ("hostile", Verdict.ASK): "idle",
    }
    lines = []
    for pair in pairs:
        found = judged(pair)
        name = names.get((class_of(pair), found.verdict))
        if name in kinds:
            lines.append(f"{name}: {found.rule}: {pair['older']} -> {pair['newer']}")
    return lines


def worst(old: Iterable[Claim], new: Claim) -> Verdict:
    """Return the strongest verdict of a newer claim about older ones."""
    verdicts = {judge(one, new).verdict for one in old}
    return next((v for v in (Verdict.RETIRE, Verdict.ASK) if v in verdicts), Verdict.KEEP)


def streamed(claims: Sequence[Claim], groups: Sequence[object]) -> Counter[Verdict]:
    """Judge each claim against the ten nearest earlier ones of its group; count the strongest."""
    vectors = np.asarray(LocalEmbedder().embed([claim.text for claim in claims]))
    earlier: dict[object, list[int]] = defaultdict(list)
    found: Counter[Verdict] = Counter()
    for place, (claim, group) in enumerate(zip(claims, groups, strict=True)):
        known = earlier[group]
        cosines = vectors[known] @ vectors[place] if known else np.zeros(0)
        nearest = [known[i] for i in np.argsort(-cosines)[:MAX_CANDIDATES]]
        found[worst((claims[old] for old in nearest), claim)] += 1
        known.append(place)
    return found


def conversations(file: Path) -> list[str]:
    """Return how many questions the facts of conversations raise, one after the other."""
    units = pairs_of([file])
    found = streamed(
        [Claim(unit["text"], unit["speaker"]) for unit in units],
        [(unit["store"], unit["speaker"]) for unit in units],
    )
    return [
        f"{len(units)} facts of conversations: {found[Verdict.ASK]} questions, "
        f"{found[Verdict.RETIRE]} retired"
    ]


def half_a_year(*, slots: bool) -> str:
    """Return how many questions the decisions of half a year raise, each stored as a fact."""
    told = [
        (place, topic, decision.noted, decision.key.partition("+")[0])
        for topic in stock.topics()
        for place, decision in enumerate(topic.decisions)
    ]
    told.sort(key=lambda one: one[0])
    claims = []
    for _, topic, text, value in told:
        found = {"attribute": topic.name, "value": value, "cardinality": "one"}
        named = kept.slots_of(kept.found(found, text, topic.project)) if slots else None
        claims.append(Claim(text, topic.project, named))
    verdicts = streamed(claims, [topic.project for _, topic, _, _ in told])
    return (
        f"{len(told)} facts of half a year{', with slots' * slots}: "
        f"{verdicts[Verdict.ASK]} questions, {verdicts[Verdict.RETIRE]} retired"
    )


def price(pairs: Sequence[Pair], rounds: int = 30) -> list[str]:
    """Return what comparing ten hits with ten later facts each costs, reading included."""
    texts = [(pair[side], pair["subject"]) for pair in pairs for side in ("older", "newer")]
    chance = random.Random(0)
    spent = []
    for _ in range(rounds):
        sample = [Claim(*text) for text in chance.sample(texts, 110)]
        start = time.perf_counter()
        for place, hit in enumerate(sample[:10]):
            for later in sample[10 + 10 * place : 20 + 10 * place]:
                judge(hit, later)
        spent.append(1000 * (time.perf_counter() - start))
    return [f"110 texts read, 100 pairs judged: {min(spent):.1f} ms, median {median(spent):.1f} ms"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="benches.judge", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--facts", type=Path)
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--list", default="")
    options = parser.parse_args(arguments)
    files = [*PUBLISHED, *(sorted(options.folder.glob("*.jsonl")) if options.folder else ())]
    for file in files:
        pairs = pairs_of([file])
        print(f"{file.name}: {len(pairs)} pairs", *table(pairs), *spoiling(pairs), sep="\n")
        if options.rules:
            print(*by_rule(pairs), sep="\n")
        print(*listed(pairs, options.list.split(",")), sep="\n")
    further = [pair for language in labelled.LANGUAGES for pair in labelled.of(language)]
    print("by language:", *by_language([*pairs_of(files), *further]), sep="\n")
    print("everyday corrections:", *by_language(labelled.everyday()), sep="\n")
    if options.facts:
        print(*conversations(options.facts), sep="\n")
    print(attacked([*pairs_of(files), *further, *labelled.everyday()]))
    print(half_a_year(slots=False), half_a_year(slots=True), sep="\n")
    print(*price(pairs_of(files)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
