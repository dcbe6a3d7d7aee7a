from smolagents import OpenAIServerModel, ToolCallingAgent, tool

import memstore

store = memstore.open("memory.db")


@tool
def memory_store(content: str, subject: str) -> str:
    """Keep a fact for later conversations.

    Args:
        content: The fact, one sentence.
        subject: Whom or what it is about.
    """
    return f"stored as #{store.add(content, subject=subject).id}"


@tool
def memory_search(query: str) -> str:
    """Return what is known about a question, with dates.

    Args:
        query: The question.
    """
    return store.recall(query, max_tokens=500).text or "nothing"


with store:
    agent = ToolCallingAgent(
        tools=[memory_store, memory_search],
        model=OpenAIServerModel("gpt-5-mini"),
        instructions="Look into your memory before you answer; keep what holds for long.",
    )
    print(agent.run("I have moved to Lisbon. Remember it."))
