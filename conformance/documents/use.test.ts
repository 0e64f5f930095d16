import { expect } from "bun:test";
import { Page } from "../../scripts/markdown-page.ts";
import { testPage } from "./test-page.ts";

/** Each line of output that is JSON. */
const answersIn = (text: string) =>
  text
    .split(/\n|(?<=\})(?=\{)/)
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

testPage("docs/receipts.md", {
  expected: {
    "/generation?id=": (output) => {
      const real = JSON.parse(output) as { data: object };
      const shown = JSON.parse(new Page("docs/receipts.md").one("json")) as object;
      expect(formOf(real)).toEqual(formOf(shown));
      expect(real.data).toMatchObject({ model: "sim/standard", provider: "simulator", usage_source: "measured" });
    },
    json: '"usage_source": "measured"',
    "sim/standard-chat": (output) => {
      expect(output).toMatch(/^HTTP\/1\.1 200 /);
      expect(output).toMatch(/^x-trivium-dropped: top_k\r$/m);
      expect(output).toContain('"type":"message","role":"assistant","model":"sim/standard-chat"');
    },
    "receipts bodies": "This is Trivium's simulator speaking",
    "receipts list --body": /^rcp_\S+/m,
  },
});

/** Names and nesting without values; numbers that may be unknown are treated alike. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf);
  if (typeof value !== "object" || value === null)
    return typeof value === "number" || value === null ? "n" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, formOf(item)]));
}

testPage("docs/errors.md", {
  // scripts/docs.test.ts compares them with what the program says.
  expected: { "json chat": "not_found_error", "json messages": "not_found_error", "json genai": "NOT_FOUND" },
});

testPage("docs/testing-with-the-simulator.md", {
  expected: {
    "fail-429": (output) => {
      expect(output).toMatch(/^HTTP\/1\.1 429 /);
      expect(output).toMatch(/^retry-after: 1\r$/m);
      expect(output).toContain('"code":"rate_limit_exceeded"');
    },
  },
});

testPage("docs/responses.md", {
  expected: {
    "first=": (output) =>
      expect(JSON.parse(output)).toMatchObject({
        object: "response",
        status: "completed",
        store: true,
        previous_response_id: expect.stringMatching(/^resp_/),
      }),
    "Take your time.": /"status": ?"completed"/,
    inputItems: /^3 \S/,
  },
});

testPage("docs/conversations.md", {
  expected: {
    "conversation=$": "My name is Ada.",
    "client.conversations.create": /^3 true$/m,
    "client.chat.completions.list": /^true Hello\.$/m,
  },
});

testPage("docs/messages.md", { expected: { fallbacks: /^1 / } });

testPage("docs/interactions.md", {
  expected: {
    previous_interaction_id: "What is my name?",
    curl: (output) =>
      expect(JSON.parse(output)).toMatchObject({ object: "interaction", status: "completed", model: "sim/standard" }),
  },
});

testPage("docs/files.md", { expected: { printf: "The harbour opens at nine.", anthropic: /^true true$/m } });

testPage("docs/batches.md", {
  expected: {
    "in.jsonl": (output) => expect(answersIn(output).map(({ custom_id }) => custom_id)).toEqual(["a", "b"]),
    "batches list": (output) => {
      expect(output).toMatch(/^batch_\w{22} .* completed +2 +0 +2 /m);
      expect(output).toContain('"state": "completed"');
      expect(output.match(/^rcp_\S+ /gm)).toHaveLength(2);
    },
    "messages.batches": "a succeeded\nb succeeded",
    "batches.get({": /^1$/m,
  },
});

testPage("docs/caches.md", { expected: { caches: /^true$/m } });

testPage("docs/answer-cache.md", { expected: { OpenAI: "null true\n" } });

testPage("docs/speech.md", {
  expected: {
    "/audio/speech": /^1\n00:00:00,150 --> 00:00:01,\d{3}\nHello from the simulator\.\n/,
    'from "openai"': /^The quick brown fox jumps over the lazy dog\.\nfalse /,
  },
});

testPage("docs/embeddings.md", {
  expected: {
    "/v1/embeddings": (output) => {
      const { model, data } = JSON.parse(output) as { model: string; data: { embedding: number[] }[] };
      expect([model, ...data.map(({ embedding }) => embedding.length)]).toEqual(["sim/embedding", 4, 4]);
    },
    "/v1/rerank": (output) =>
      expect(JSON.parse(output)).toMatchObject({ results: [{ index: 1, document: { text: "Foxes live in dens." } }] }),
    'from "openai"': /^0 \d+$/m,
    'from "@google/genai"': "[ 256, 256 ]",
  },
});

testPage("docs/talk.md", {
  expected: {
    "-o answer.wav": (output, reader) => {
      expect(output).toContain(new Page("docs/talk.md").one("text").trim());
      expect(reader.read("answer.wav").toString("latin1", 0, 4)).toBe("RIFF");
    },
    text: "simulator",
  },
});
