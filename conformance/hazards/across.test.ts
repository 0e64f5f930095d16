import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { ResponsesScript, responsesAnswer, responsesUsage } from "../../testing/wires/responses-wire.ts";
import { type Answer, type ProtocolClient, protocolClients } from "../support/protocol-clients.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { READERS } from "../support/sdk-meaning.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** Opaque values, calls and bytes between protocols, with an upstream that sends exactly what a test specifies. */

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let clients: ProtocolClient[];

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await startTestGateway({ config: modelsOfEveryDialect(upstream.url) });
  clients = protocolClients(gateway.url, gateway.key);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

type Json = Record<string, unknown>;

const others = (own: ScriptedDialect) => SCRIPTED_DIALECTS.filter((dialect) => dialect !== own);
const events = (list: readonly Json[]) =>
  list.map((event) => `${event["type"] ? `event: ${event["type"]}\n` : ""}data: ${JSON.stringify(event)}\n\n`).join("");
const question = (model: string, stream: boolean) => ({ model, text: "hello", stream, tools: true, thinking: true });
const bodyOf = (position: number) => JSON.parse(upstream.seen[position]?.body ?? "{}") as Record<string, Json[]>;

function ask(dialect: ScriptedDialect, model: string, stream: boolean): Promise<Answer> {
  const client = clients.find((one) => one.dialect === dialect);
  if (client === undefined) throw new Error(`no client for ${dialect}`);
  return client.ask(question(model, stream));
}

/** Every request gets the same response, streamed or not. */
function play(whole: Json, streamed: readonly Json[]): void {
  upstream.play((request, response) => {
    const stream = request.path.includes(":streamGenerateContent") || request.body.includes('"stream":true');
    response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
    response.end(stream ? events(streamed) : JSON.stringify(whole));
  });
}

const genaiAnswer = (parts: readonly Json[], finishReason = "STOP"): Json => ({
  candidates: [{ content: { role: "model", parts }, finishReason, index: 0 }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 4, totalTokenCount: 9 },
});

describe("signatures of calls and texts, from a genai host", () => {
  const TEXT = "dGV4dC1zaWduYXR1cmU=";
  const CALL = "Y2FsbC1zaWduYXR1cmU=";
  const call = (city: string) => ({ functionCall: { name: "get_weather", args: { city } } });
  const parts: Json[] = [
    { text: "hm", thought: true },
    { text: "Let me see.", thoughtSignature: TEXT },
    { ...call("Oslo"), thoughtSignature: CALL },
    call("Rome"),
  ];

  for (const client of others("genai")) {
    test.each([false, true])(
      `H01: each is returned on its own part, from a ${client} client, streamed: %p`,
      async (stream) => {
        const chunks = parts.map((part, at) => {
          const { candidates } = genaiAnswer([part]) as { candidates: Json[] };
          return at < parts.length - 1
            ? { candidates: [{ ...candidates[0], finishReason: undefined }] }
            : genaiAnswer([part]);
        });
        play(genaiAnswer(parts), chunks);
        const first = await ask(client, "test/genai", stream);
        expect(first.calls.map(({ input }) => input)).toEqual([{ city: "Oslo" }, { city: "Rome" }]);
        await first.followUp("rain");
        const turn = bodyOf(1)["contents"]?.find(({ role }) => role === "model");
        const sent = ((turn?.["parts"] ?? []) as Json[]).filter(({ thought }) => !thought);
        expect(sent.map(({ thoughtSignature }) => thoughtSignature)).toEqual([TEXT, CALL, undefined]);
        expect(sent).toMatchObject([{ text: "Let me see." }, call("Oslo"), call("Rome")]);
      },
    );

    test(`H03: two streamed calls of one function, without ids, are two for a ${client} client`, async () => {
      const chunks = [call("Oslo"), call("Oslo")].map((part) => genaiAnswer([part]));
      delete (chunks[0] as { candidates: Json[] }).candidates[0]?.["finishReason"];
      play({}, chunks);
      const first = await ask(client, "test/genai", true);
      expect(first.calls).toHaveLength(2);
      await first.followUp("rain");
      const answered = bodyOf(1)["contents"]?.flatMap(({ parts: all }) => (all ?? []) as Json[]);
      const ids = (member: string) =>
        (answered ?? []).flatMap((part) => (member in part ? [(part[member] as Json)["id"]] : []));
      expect(new Set(ids("functionCall")).size).toBe(2);
      expect(ids("functionResponse")).toEqual(ids("functionCall"));
    });
  }
});

describe("thinking, from a messages host", () => {
  const blocks: Json[] = [
    { type: "thinking", thinking: "", signature: "c2lnbmVkIGJ1dCBlbXB0eQ==" },
    { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" },
    { type: "thinking", thinking: "hm", signature: "c2lnbmVk" },
    { type: "tool_use", id: "toolu_1", name: "get_weather", input: { city: "Oslo" } },
  ];
  const message = (content: readonly Json[], stop_reason: string): Json => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 4 },
  });

  function streamOf(content: readonly Json[]): Json[] {
    const events = content.flatMap((block, index): Json[] => {
      const delta = (value: Json) => ({ type: "content_block_delta", index, delta: value });
      const { thinking, signature, input, ...head } = block;
      const start =
        block["type"] === "thinking"
          ? { ...head, thinking: "", signature: "" }
          : { ...head, ...(input === undefined ? {} : { input: {} }) };
      return [
        { type: "content_block_start", index, content_block: start },
        ...(thinking ? [delta({ type: "thinking_delta", thinking })] : []),
        ...(signature ? [delta({ type: "signature_delta", signature })] : []),
        ...(input ? [delta({ type: "input_json_delta", partial_json: JSON.stringify(input) })] : []),
        { type: "content_block_stop", index },
      ];
    });
    return [
      { type: "message_start", message: { ...message([], "end_turn"), stop_reason: null } },
      ...events,
      { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 4 } },
      { type: "message_stop" },
    ];
  }

  for (const client of others("messages")) {
    test.each([false, true])(
      `H02: signed but empty, redacted and plain blocks are returned in order, from a ${client} client, streamed: %p`,
      async (stream) => {
        play(message(blocks, "tool_use"), streamOf(blocks));
        const first = await ask(client, "test/messages", stream);
        expect(first.thoughts).toBe("hm");
        await first.followUp("rain");
        expect(bodyOf(1)["messages"]?.find(({ role }) => role === "assistant")?.["content"] as unknown).toEqual(blocks);
      },
    );
  }
});

function responsesStream(text: string): string {
  const script = new ResponsesScript();
  return script.begin() + script.delta(text) + script.close() + script.completed(responsesUsage(5, 4));
}

describe("sealed reasoning, from a Responses host", () => {
  const call = { type: "function_call", name: "get_weather", arguments: '{"city":"Oslo"}', status: "completed" };
  const summary = [{ type: "summary_text", text: "hm" }];
  const items: Json[] = [
    { type: "reasoning", id: "rs_1", summary, encrypted_content: "c2VhbGVk" },
    { ...call, id: "fc_1", call_id: "call_1" },
    { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "c2VhbGVkIHR3byDDvA==" },
    { ...call, id: "fc_2", call_id: "call_2" },
  ];
  const answer = (status: string, output: readonly Json[]): Json => ({
    ...(responsesAnswer("", responsesUsage(5, 4)) as Json),
    status,
    output,
  });

  function streamOf(): Json[] {
    const events = items.flatMap((item, output_index): Json[] => [
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress" } },
      { type: "response.output_item.done", output_index, item },
    ]);
    const all: Json[] = [
      { type: "response.created", response: answer("in_progress", []) },
      ...events,
      { type: "response.completed", response: answer("completed", items) },
    ];
    return all.map((event, sequence_number) => ({ ...event, sequence_number }));
  }

  for (const client of others("responses")) {
    test.each([false, true])(
      `R10: each sealed value is returned with its item's id, before its call, from a ${client} client, streamed: %p`,
      async (stream) => {
        play(answer("completed", items), streamOf());
        const first = await ask(client, "test/responses", stream);
        expect(first.thoughts).toBe("hm");
        expect(first.calls).toHaveLength(2);
        await first.followUp("rain");
        const sent = bodyOf(1)["input"] ?? [];
        const kept = ({ type, id, encrypted_content, call_id }: Json) =>
          type === "reasoning" ? [id, encrypted_content] : [type, call_id];
        const one = ["rs_1", "c2VhbGVk"];
        const two = ["rs_2", "c2VhbGVkIHR3byDDvA=="];
        const called = (id: string) => ["function_call", id];
        const thoughtThenCall = [one, called("call_1"), two, called("call_2")];
        // A chat message has its thoughts in one place and its calls in another.
        const thoughtsThenCalls = [one, two, called("call_1"), called("call_2")];
        expect(sent.filter(({ type }) => type !== "message").map(kept)).toEqual([
          ...(client === "chat" ? thoughtsThenCalls : thoughtThenCall),
          ["function_call_output", "call_1"],
          ["function_call_output", "call_2"],
        ]);
      },
    );
  }
});

describe("streams cut at any byte", () => {
  const TEXT = "Ünïcode: \u2028 \u2029 \u0085 € 𝄞 and “quotes”";
  const STREAMS: Record<ScriptedDialect, Json[] | string> = {
    chat: [
      { choices: [{ index: 0, delta: { role: "assistant", content: TEXT }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    ],
    messages: [
      {
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 5, output_tokens: 1 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 4 } },
      { type: "message_stop" },
    ],
    genai: [genaiAnswer([{ text: TEXT }])],
    responses: responsesStream(TEXT),
  };
  const BASE_PATH: Record<ScriptedDialect, string> = {
    chat: "/api/v1",
    messages: "/api/msg",
    genai: "/api/genai",
    responses: "/api/v1",
  };

  for (const host of SCRIPTED_DIALECTS) {
    test.each([...SCRIPTED_DIALECTS])(
      `H07: a ${host} host that sends byte by byte, with unusual separators in its text, to a %s client`,
      async (client) => {
        upstream.play(async (_request, response) => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          const streamed = STREAMS[host];
          const text = typeof streamed === "string" ? streamed : events(streamed);
          for (const byte of Buffer.from(text + (host === "chat" ? "data: [DONE]\n\n" : ""))) {
            response.write(Buffer.from([byte]));
            await new Promise((resolve) => setImmediate(resolve));
          }
          response.end();
        });
        const { text } = await READERS[client]({
          baseUrl: `${gateway.url}${BASE_PATH[client]}`,
          apiKey: gateway.key,
          model: `test/${host}`,
          stream: true,
        });
        expect(text).toBe(TEXT);
      },
    );
  }
});
