import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DIALECT_NAMES, type DialectName } from "../../src/canon/dialect-name.ts";
import { bytesOf, everyRecording, nameOf, present, type Recording, textOf } from "../support/recordings.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type Meaning, READERS } from "../support/sdk-meaning.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/**
 * Every recorded answer, rendered by the gateway to each of the three client protocols and read there by the vendor's own
 * SDK, says what the SDK of the recorded protocol reads from the recording itself, without any gateway between.
 */

const HOSTS = {
  "openai-chat": { kind: "openai-compatible", suffix: "/v1", dialect: "chat" },
  "anthropic-messages": { kind: "anthropic", suffix: "", dialect: "messages" },
  "gemini-generate": { kind: "gemini", suffix: "", dialect: "genai" },
  bedrock: { kind: "bedrock", suffix: "", dialect: undefined },
} as const;

type Recorded = keyof typeof HOSTS;
const hostOf = (recording: Recording) => HOSTS[recording.dialect as Recorded];

/** Recordings that no client of the contract can ask for, each with its reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "otel.chat-completion-multiple-choices-streaming": "two choices; contract 2.12 allows one",
  "envoy-aigw.chat-text-to-audio": "an answer in sound, which contract 2.12 does not accept",
  "weave.openai-function-call-async-stream":
    "function_call, the form before tools, which contract 2.12 does not accept",
  "firebase-mock.streaming-failure-prompt-blocked-safety":
    "the vendor's own SDK cannot read it: the file's last event has no blank line behind it",
  "vercel-ai.cererebras-structured-output-tools-1": "the file holds two answers, one after the other",
};

const left = (recording: Recording) => Object.keys(LEFT_OUT).some((name) => recording.case.startsWith(name));
const invoked = (recording: Recording) => recording.dialect === "bedrock" && /\/invoke/.test(recording.http);

const cases = everyRecording
  .filter(
    (recording) => recording.dialect in HOSTS && recording.status === 200 && !left(recording) && !invoked(recording),
  )
  // One recording was made without alt=sse, which the gateway never asks for.
  .filter(({ stream, response_file }) => !(stream && response_file.endsWith(".json")))
  .map((recording, index) => ({ recording, id: `case-${index}` }));

let upstream: ScriptedUpstream;
let gateway: TestGateway;
const table = new Map<string, { equal: number; total: number }>();

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.play(async ({ path }, response) => {
    const { recording } = cases[Number(/case-(\d+)/.exec(path)?.[1])] ?? {};
    if (!recording) return;
    const streamed = recording.dialect === "bedrock" ? "application/vnd.amazon.eventstream" : "text/event-stream";
    response.writeHead(recording.status, { "content-type": recording.stream ? streamed : "application/json" });
    const bytes = bytesOf(recording);
    for (let at = 0; at < bytes.length; at += 977) {
      response.write(bytes.slice(at, at + 977));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  gateway = await startTestGateway({
    config: {
      providers: Object.fromEntries(
        cases.map(({ id, recording }) => {
          const { kind, suffix } = hostOf(recording);
          return [id, { kind, base_url: `${upstream.url}/${id}${suffix}`, api_key: `upstream-key-${id}` }];
        }),
      ),
      models: cases.map(({ id, recording }) => ({
        id: `recorded/${id}`,
        reasoning: true,
        max_output_tokens: 64_000,
        offers: [
          {
            provider: id,
            model: recording.model || "recorded-model",
            ...(hostOf(recording).dialect ? { dialect: hostOf(recording).dialect } : {}),
          },
        ],
      })),
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  if (table.size === 0) return;
  console.log("\nrecorded answers read by the SDKs of the three protocols: equal / all");
  console.log(["recorded as".padEnd(22), ...DIALECT_NAMES.map((name) => name.padEnd(12))].join(""));
  for (const dialect of Object.keys(HOSTS)) {
    const cells = DIALECT_NAMES.map((name) => {
      const { equal, total } = table.get(`${dialect} ${name}`) ?? { equal: 0, total: 0 };
      return `${equal}/${total}`.padEnd(12);
    });
    console.log([dialect.padEnd(22), ...cells].join(""));
  }
});

const ADDRESS: Record<DialectName, string> = { chat: "/api/v1", messages: "/api/msg", genai: "/api/genai" };
const DIRECT: Record<DialectName, string> = { chat: "/v1", messages: "", genai: "" };

async function recordedMeaning({ recording, id }: (typeof cases)[number]): Promise<Meaning> {
  const { dialect } = hostOf(recording);
  if (dialect === undefined) return converseMeaning(recording);
  return READERS[dialect]({
    baseUrl: `${upstream.url}/${id}${DIRECT[dialect]}`,
    apiKey: "nobody",
    model: recording.model || "recorded-model",
    stream: recording.stream,
  });
}

/** Words for an end that a protocol does not have are told by the nearest that it has. */
function toldAs({ stop, calls, refused }: Meaning, client: DialectName): readonly Meaning["stop"][] {
  // Only one of the protocols has a field for a refusal; in the others the end says it.
  if (refused) return [stop, "filter"];
  const tool: Meaning["stop"][] = calls.length > 0 && stop === "stop" ? ["tool"] : [];
  if (stop === "pause") return client === "messages" ? ["pause"] : ["stop"];
  if (stop === "other") return ["other", "stop", "tool", "filter", "length"];
  return [stop, ...tool];
}

describe.skipIf(!present)("every recorded answer in every protocol", () => {
  for (const client of DIALECT_NAMES) {
    test.each(cases.map((one) => [nameOf(one.recording), one] as const))(`${client} ← %s`, async (_name, one) => {
      const { recording, id } = one;
      const read = READERS[client]({
        baseUrl: `${gateway.url}${ADDRESS[client]}`,
        apiKey: gateway.key,
        model: `recorded/${id}`,
        stream: recording.stream,
      });
      const cell = `${recording.dialect} ${client}`;
      const count = table.get(cell) ?? { equal: 0, total: 0 };
      table.set(cell, count);
      count.total++;
      if (recording.features.includes("mid-stream-error")) {
        await expect(read).rejects.toThrow();
        count.equal++;
        return;
      }
      const want = await recordedMeaning(one);
      const got = await read;
      const whole = want.calls.map(({ args }) => typeof args === "object");
      expect(got.text).toBe(want.text);
      expect(got.reasoning).toBe(want.reasoning);
      expect(got.calls.map(({ name }) => name)).toEqual(want.calls.map(({ name }) => name));
      // Arguments that the model broke have no place in protocols that carry objects.
      for (const [index, call] of want.calls.entries())
        if (whole[index]) expect(got.calls[index]?.args).toEqual(call.args);
      expect(toldAs(want, client)).toContain(got.stop);
      if (want.usage) expect(got.usage).toEqual(want.usage);
      count.equal++;
    });
  }
});

const CONVERSE_STOPS: Record<string, Meaning["stop"]> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool",
  content_filtered: "filter",
  guardrail_intervened: "filter",
};

// biome-ignore lint/suspicious/noExplicitAny: the wire as it is
type Json = any;

/** The recording read by hand: there is no SDK of that vendor here. */
function converseMeaning(recording: Recording): Meaning {
  const blocks: Json[] = [];
  let stop = "";
  let usage: Json;
  if (!recording.stream) {
    const body: Json = JSON.parse(textOf(recording));
    for (const block of body.output.message.content) {
      const input = block.toolUse
        ? { toolUse: { name: block.toolUse.name, input: JSON.stringify(block.toolUse.input) } }
        : {};
      blocks.push({ text: block.text ?? "", thought: block.reasoningContent?.reasoningText?.text ?? "", ...input });
    }
    stop = body.stopReason;
    usage = body.usage;
  } else {
    const bytes = Buffer.from(bytesOf(recording));
    for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at)) {
      const headers = bytes.readUInt32BE(at + 4);
      const payload: Json = JSON.parse(
        bytes.subarray(at + 12 + headers, at + bytes.readUInt32BE(at) - 4).toString() || "{}",
      );
      const index = payload.contentBlockIndex;
      if (index !== undefined) blocks[index] ??= { text: "", thought: "" };
      if (payload.start?.toolUse) blocks[index].toolUse = { name: payload.start.toolUse.name, input: "" };
      blocks[index] && Object.assign(blocks[index], added(blocks[index], payload.delta ?? {}));
      stop = payload.stopReason ?? stop;
      usage = payload.usage ?? usage;
    }
  }
  return {
    text: blocks.map(({ text }) => text).join(""),
    reasoning: blocks.map(({ thought }) => thought).join(""),
    calls: blocks.flatMap(({ toolUse }) =>
      toolUse ? [{ name: toolUse.name, args: JSON.parse(toolUse.input || "{}") }] : [],
    ),
    stop: CONVERSE_STOPS[stop] ?? "other",
    refused: false,
    usage: usage && {
      input: usage.inputTokens + (usage.cacheReadInputTokens ?? 0) + (usage.cacheWriteInputTokens ?? 0),
      cached: usage.cacheReadInputTokens ?? 0,
      output: usage.outputTokens,
    },
  };
}

const added = (block: Json, delta: Json): Json => ({
  text: block.text + (delta.text ?? ""),
  thought: block.thought + (delta.reasoningContent?.text ?? ""),
  ...(delta.toolUse ? { toolUse: { ...block.toolUse, input: block.toolUse.input + delta.toolUse.input } } : {}),
});
