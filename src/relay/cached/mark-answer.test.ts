import { describe, expect, test } from "bun:test";
import { system } from "../../base/system.ts";
import { BUILT_IN } from "../../providers/index.ts";
import { freshText } from "./fresh-text.ts";
import { markAnswer } from "./mark-answer.ts";

const AT = Date.UTC(2027, 0, 1);
const sources = {
  clock: { ...system.clock, wallMs: () => AT },
  random: { ...system.random, id: () => "NEW" },
};

function fresh(dialect: "chat" | "messages" | "genai" | "responses", text: string): string | undefined {
  const { cached } = BUILT_IN.dialects.get(dialect);
  const marks = cached && markAnswer(text, cached);
  return marks && freshText({ text, marks }, sources);
}

describe("decision 0128: ids and times of a stored response", () => {
  test("only the id and the times of the response are replaced, not what a model wrote", () => {
    const text = JSON.stringify({
      id: "chatcmpl-old",
      created: 1_700_000_000,
      choices: [{ message: { content: '{"id":"chatcmpl-old","created":1700000000}', tool_calls: [{ id: "call_1" }] } }],
      usage: { created: 5 },
    });
    expect(fresh("chat", text)).toBe(
      text.replace('{"id":"chatcmpl-old","created":1700000000', `{"id":"chatcmpl-NEW","created":${AT / 1000}`),
    );
  });

  test("arguments in the form of an object keep a member with the same name", () => {
    const parts = [{ functionCall: { name: "f", args: { createTime: "2026-05-05T00:00:00Z", responseId: "mine" } } }];
    const text = JSON.stringify({
      candidates: [{ content: { parts } }],
      createTime: "2026-01-01T00:00:00Z",
      responseId: "r1",
    });
    const left = JSON.parse(fresh("genai", text) ?? "") as Record<string, unknown>;
    expect(left).toEqual({
      candidates: [{ content: { parts } }],
      createTime: "2027-01-01T00:00:00.000Z",
      responseId: "NEW",
    });
  });

  test("all events of a stream get the same id", () => {
    const event = (type: string) =>
      `event: ${type}\ndata: {"type":"${type}","response":{"id": "resp_old", "created_at" :1700000000,"completed_at":null}}\n\n`;
    const text = event("response.created") + event("response.completed");
    expect(fresh("responses", text)).toBe(
      text.replaceAll("resp_old", "resp_NEW").replaceAll("1700000000", String(AT / 1000)),
    );
  });

  test("a text in no known form cannot be used again", () => {
    expect(fresh("chat", "{not json")).toBeUndefined();
    expect(fresh("messages", 'data: {"id":"x"\n\ndata: {bad}\n\n')).toBeUndefined();
  });
});
