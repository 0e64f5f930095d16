import { describe, expect, test } from "bun:test";
import type { Turn } from "../../../canon/call.ts";
import type { Part } from "../../../canon/part.ts";
import { assistant, callOf, encode, messagesOf, resultOf, say, TOOL, user } from "../call.sample.ts";

describe("turns", () => {
  test("system text in the middle becomes user text in tags; at the beginning it becomes the system prompt", () => {
    const system = (text: string, path: string): Turn => ({ role: "system", parts: [say(text, path)], path });
    const result = encode({
      system: [{ type: "text", text: "First." }],
      turns: [system("Second.", "messages[0]"), user(say("hi")), system("Third.", "messages[2]")],
    });
    expect(result.body["system"]).toEqual([
      { type: "text", text: "First." },
      { type: "text", text: "Second." },
    ]);
    expect(messagesOf(result)).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "hi" },
          { type: "text", text: "<system>\nThird.\n</system>" },
        ],
      },
    ]);
    expect(result.notes).toEqual(["approximated messages[2]"]);
  });

  test("choices 3: system messages are kept where the host and the model accept them", () => {
    const system = (text: string, path: string): Turn => ({ role: "system", parts: [say(text, path)], path });
    const roles = (turns: Turn[], { model = true, host = true } = {}) => {
      const result = encode({ turns }, { systemMessages: model }, { systemMessages: host });
      return { said: messagesOf(result).map(({ role, content }) => [role, content.map(({ text }) => text)]), result };
    };
    const last = roles([user(say("hi")), system("One.", "a"), system("Two.", "b")]);
    expect(last.said).toEqual([
      ["user", ["hi"]],
      ["system", ["One.", "Two."]],
    ]);
    expect(last.result.notes).toEqual([]);
    const amid = roles([user(say("hi")), system("One.", "a"), assistant(say("yes")), user(say("and?"))]);
    expect(amid.said.map(([role]) => role)).toEqual(["user", "system", "assistant", "user"]);
    // No host accepts it after an assistant message, or before another user message.
    const misplaced = roles([user(say("hi")), assistant(say("yes")), system("One.", "a"), user(say("and?"))]);
    expect(misplaced.said.at(-1)).toEqual(["user", ["<system>\nOne.\n</system>", "and?"]]);
    expect(misplaced.result.notes).toEqual(["approximated a"]);
    for (const lacking of [{ host: false }, { model: false }])
      expect(roles([user(say("hi")), system("One.", "a")], lacking).said).toEqual([
        ["user", ["hi", "<system>\nOne.\n</system>"]],
      ]);
  });

  test("the first turn is a user turn, and there is at least one", () => {
    const first = encode({ turns: [assistant(say("I begin.")), user(say("go on"))] });
    expect(messagesOf(first)[0]).toEqual({ role: "user", content: [{ type: "text", text: "." }] });
    expect(first.notes).toEqual(["approximated messages[1]"]);
    expect(messagesOf(encode({ turns: [], system: [{ type: "text", text: "x" }] }))).toHaveLength(1);
  });

  test("results of one turn's calls come first in one user turn, in the order of the calls and with the same ids", () => {
    const id = "call/1";
    const result = encode({
      turns: [
        user(say("hi")),
        assistant(callOf(id), callOf("b")),
        user(resultOf("b")),
        { role: "system", parts: [say("note")], path: "messages[3]" },
        user(say("and?"), resultOf(id), resultOf("stray")),
      ],
      tools: [TOOL],
    });
    const [, calls, results] = messagesOf(result);
    const fitted = calls?.content[0]?.["id"];
    expect(String(fitted)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(messagesOf(result)).toHaveLength(3);
    expect(results?.content.map((block) => block["tool_use_id"] ?? block["text"])).toEqual([
      fitted,
      "b",
      "stray",
      "<system>\nnote\n</system>",
      "and?",
    ]);
  });

  test("arguments are sent as an object, blank text is not sent, and a prefill loses its trailing white space", () => {
    const result = encode({
      turns: [
        user(say("hi"), say(""), say("  \n", "blank")),
        assistant(callOf("a", "broken {"), callOf("b", "")),
        user(resultOf("a", ""), resultOf("b"), say(" ", "lone")),
        assistant(say("It is \n", "last")),
      ],
      tools: [TOOL],
    });
    expect(messagesOf(result)).toEqual([
      { role: "user", content: [{ type: "text", text: "hi  \n" }] },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "a", name: "f", input: {} },
          { type: "tool_use", id: "b", name: "f", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a" },
          { type: "tool_result", tool_use_id: "b", content: "ok" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "It is" }] },
    ]);
    expect(result.notes.toSorted()).toEqual(["approximated calls.a", "approximated last", "dropped lone"]);
  });

  test("H01: reasoning and signatures of other origins are dropped, each with a note", () => {
    const foreign = { origin: "genai", kind: "signature", value: "g" } as const;
    const own = { origin: "messages", kind: "redacted", value: "r" } as const;
    const result = encode({
      dialect: "genai",
      turns: [
        user(say("hi")),
        assistant(
          { type: "reasoning", text: "theirs", signature: foreign, path: "p0" },
          { type: "reasoning", text: "unsigned", path: "p1" },
          { type: "reasoning", text: "", signature: own, path: "p2" },
          { type: "text", text: "said", signature: foreign, path: "p3" },
          { type: "tool-call", id: "a", name: "f", input: "{}", signature: foreign, path: "p4" },
        ),
      ],
    });
    expect(messagesOf(result)[1]?.content.map(({ type }) => type)).toEqual(["redacted_thinking", "text", "tool_use"]);
    expect(result.notes).toEqual([
      "dropped p0",
      "dropped p1",
      "dropped p3.thoughtSignature",
      "dropped p4.thoughtSignature",
    ]);
  });

  test("searches and citations of other providers are dropped, those of the target are sent back", () => {
    const page = (origin: string) => ({
      url: "https://a.example",
      title: "A",
      content: { origin, kind: "encrypted", value: "e" } as const,
    });
    const search = (id: string, origin: string): Part[] => [
      { type: "server-tool-call", id, name: "web_search", input: '{"query":"q"}', path: `${id}.call` },
      {
        type: "server-tool-result",
        callId: id,
        name: "web_search",
        result: { pages: [page(origin)] },
        path: `${id}.result`,
      },
    ];
    const result = encode({
      dialect: "messages",
      turns: [
        user(say("hi")),
        assistant(...search("srvtoolu_1", "messages"), ...search("srvtoolu_2", "genai"), {
          type: "text",
          text: "x",
          citations: [{ type: "web", url: "https://a.example" }],
          path: "t",
        }),
      ],
    });
    expect(messagesOf(result)[1]?.content).toMatchObject([
      { type: "server_tool_use", id: "srvtoolu_1", input: { query: "q" } },
      { type: "web_search_tool_result", content: [{ encrypted_content: "e" }] },
      { type: "text", text: "x" },
    ]);
    expect(result.notes).toEqual(["dropped srvtoolu_2.call", "dropped srvtoolu_2.result", "dropped t.citations"]);
  });
});

describe("a prefill", () => {
  const turns = (...parts: Part[]) => [user(say("Write.")), assistant(...parts)];

  test("loses trailing white space, also of the texts before", () => {
    const { body, notes } = encode({ turns: turns(say("Autumn ", "said"), say(" ", "blank")) });
    expect(messagesOf({ body }).at(-1)?.content).toEqual([{ type: "text", text: "Autumn" }]);
    expect(notes).toEqual(["approximated said"]);
  });

  test("becomes an instruction for a model that does not continue it", () => {
    const { body, notes } = encode({ turns: turns(say("Autumn")) }, { prefill: false });
    expect(messagesOf({ body }).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(notes).toEqual(["approximated messages[1]"]);
    expect(messagesOf(encode({ turns: turns(say("Autumn")) }, { prefill: true }))).toHaveLength(2);
  });

  test("disables thinking for a model that continues it", () => {
    const reasoning = { amount: "low", path: "reasoning" } as const;
    const thought: Part = {
      type: "reasoning",
      text: "hm",
      signature: { origin: "messages", kind: "signature", value: "s" },
    };
    const { body, notes } = encode({ turns: turns(thought, say("Autumn")), reasoning });
    expect(body).not.toHaveProperty("thinking");
    expect(notes).toEqual(["dropped reasoning"]);
  });
});
