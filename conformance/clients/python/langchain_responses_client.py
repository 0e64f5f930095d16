from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from report import BROKEN_MODEL, HELLO, KEY, MODEL, UNKNOWN_MODEL, URL, WEATHER, Report, get_weather


def client(model: str, **more) -> ChatOpenAI:
    return ChatOpenAI(
        model=model,
        base_url=f"{URL}/v1",
        api_key=KEY,
        max_tokens=2000,
        max_retries=0,
        use_responses_api=True,
        **more,
    )


report = Report()
thinking = {"reasoning": {"effort": "low", "summary": "auto"}}
whole = None
for chunk in client(MODEL, **thinking).stream(HELLO):
    report.chunk(chunk.text)
    whole = chunk if whole is None else whole + chunk
tooled = client(MODEL, **thinking).bind_tools([get_weather])
question = HumanMessage(WEATHER)
answer = tooled.invoke([question])
results = []
for call in answer.tool_calls:
    report.tool(call["name"])
    results.append(ToolMessage(get_weather(**call["args"]), tool_call_id=call["id"]))
ended = tooled.invoke([question, answer, *results])
assert "Sunny in" in ended.text, ended
for message in (whole, answer, ended):
    report.tokens(message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"])
report.error("broken", lambda: list(client(BROKEN_MODEL).stream(HELLO)))
report.error("refused", lambda: client(UNKNOWN_MODEL).invoke(HELLO))
report.show()
