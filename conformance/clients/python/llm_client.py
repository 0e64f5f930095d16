"""The program `llm`, as its users start it: what it prints comes in pieces, and its sums are on its second output."""

import os
import re
import subprocess
import sys
import tempfile

from report import HELLO, KEY, MODEL, URL, WEATHER, Report

FUNCTIONS = '''
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return f"Sunny in {city}"
'''
protocol = os.environ["LLM_PROTOCOL"]
report = Report()


def run(folder: str, *arguments: str, see=lambda text: None) -> str:
    """What it printed and what it told about it. Its tokens are added up."""
    command = [sys.executable, "-m", "llm", *arguments]
    told_path = os.path.join(folder, "told")
    with open(told_path, "wb") as told:
        child = subprocess.Popen(
            command,
            env={**os.environ, "LLM_USER_PATH": folder, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=told,
        )
        printed = b""
        while piece := os.read(child.stdout.fileno(), 65536):
            printed += piece
            see(piece.decode(errors="ignore"))
        code = child.wait()
    with open(told_path, encoding="utf-8") as told:
        words = told.read()
    assert code == 0, words
    for sent, received in re.findall(r"Token usage: ([\d,]+) input, ([\d,]+) output", words):
        report.tokens(int(sent.replace(",", "")), int(received.replace(",", "")))
    return printed.decode() + words


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "extra-openai-models.yaml"), "w", encoding="utf-8") as file:
        file.write(
            f"- model_id: trivium\n  model_name: {MODEL}\n  api_base: {URL}/v1\n  api_key_name: trivium\n"
            f"  supports_tools: true\n  supports_schema: true\n  vision: true\n"
            + ("  responses: true\n" if protocol == "responses" else "")
        )
    run(folder, "keys", "set", "trivium", "--value", KEY)
    run(folder, "-m", "trivium", "-u", HELLO, see=report.chunk)
    said = run(folder, "-m", "trivium", "-u", "--td", "--functions", FUNCTIONS, WEATHER)
    for name in re.findall(r"Tool call: (\w+)\(", said):
        report.tool(name)
    assert "Sunny in Paris" in said, said
report.show()
