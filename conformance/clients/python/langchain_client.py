import os

from report import HELLO, KEY, MODEL, URL, WEATHER, Report, get_weather


def client():
    match os.environ["LANGCHAIN_PROVIDER"]:
        case "openai":
            from langchain_openai import ChatOpenAI

            return ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key=KEY, max_tokens=400, stream_usage=True)
        case "anthropic":
            from langchain_anthropic import ChatAnthropic

            return ChatAnthropic(model=MODEL, base_url=URL, api_key=KEY, max_tokens=400)
        case "google":
            from langchain_google_genai import ChatGoogleGenerativeAI

            return ChatGoogleGenerativeAI(model=MODEL, base_url=URL, google_api_key=KEY, max_output_tokens=400)


report = Report()
model = client()
whole = None
for chunk in model.stream(HELLO):
    report.chunk(chunk.text)
    whole = chunk if whole is None else whole + chunk
answer = model.bind_tools([get_weather]).invoke(WEATHER)
for call in answer.tool_calls:
    report.tool(call["name"])
for message in (whole, answer):
    report.tokens(message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"])
report.show()
