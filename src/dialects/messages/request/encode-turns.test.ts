import { describe, expect, test } from "bun:test";
import type { Turn } from "../../../canon/call.ts";
import type { Part } from "../../../canon/part.ts";
import { assistant, callOf, encode, messagesOf, resultOf, say, TOOL, user } from "../call.sample.ts";

describe("turns", () => {
  test("system text in the middle is the user's in tags; at the beginning it is the system's", () => {
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

  test("choices 3: a host and a model that take system messages get them as such, where they may stand", () => {
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
    // Behind an answer, or before more of the user's words, no host takes it.
    const misplaced = roles([user(say("hi")), assistant(say("yes")), system("One.", "a"), user(say("and?"))]);
    expect(misplaced.said.at(-1)).toEqual(["user", ["<system>\nOne.\n</system>", "and?"]]);
    expect(misplaced.result.notes).toEqual(["approximated a"]);
    for (const lacking of [{ host: false }, { model: false }])
      expect(roles([user(say("hi")), system("One.", "a")], lacking).said).toEqual([
        ["user", ["hi", "<system>\nOne.\n</system>"]],
      ]);
  });

  test("the first turn is the user's, and there is at least one", () => {
    const first = encode({ turns: [assistant(say("I begin.")), user(say("go on"))] });
    expect(messagesOf(first)[0]).toEqual({ role: "user", content: [{ type: "text", text: "." }] });
    expect(first.notes).toEqual(["approximated messages[1]"]);
    expect(messagesOf(encode({ turns: [], system: [{ type: "text", text: "x" }] }))).toHaveLength(1);
  });

  test("results of one turn's calls: one user turn, first in it, in the order of the calls, ids alike on both", () => {
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

  test("arguments must be an object; empty text and lone white space are not sent; a beginning loses its white space", () => {
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

  test("H01: reasoning and signatures of other origins stay behind, with an entry each", () => {
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

  test("searches of another provider's leave whole, its own go back; foreign citations leave", () => {
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

describe("an answer's beginning", () => {
  const turns = (...parts: Part[]) => [user(say("Write.")), assistant(...parts)];

  test("white space at its end is cut off, that of further texts too", () => {
    const { body, notes } = encode({ turns: turns(say("Autumn ", "said"), say(" ", "blank")) });
    expect(messagesOf({ body }).at(-1)?.content).toEqual([{ type: "text", text: "Autumn" }]);
    expect(notes).toEqual(["approximated said"]);
  });

  test("a model that does not go on from one is asked to in words", () => {
    const { body, notes } = encode({ turns: turns(say("Autumn")) }, { prefill: false });
    expect(messagesOf({ body }).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(notes).toEqual(["approximated messages[1]"]);
    expect(messagesOf(encode({ turns: turns(say("Autumn")) }, { prefill: true }))).toHaveLength(2);
  });

  test("a model that goes on from one does not think before", () => {
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
