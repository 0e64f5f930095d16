import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { eventFrame, exceptionFrame } from "../../simulator/hosts/bedrock/text/framing.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript } from "../../testing/wires/responses-wire.ts";
import { readClientStream } from "../support/client-stream.ts";

/**
 * An error that follows the finish reason: all text before it reaches the client, however the bytes are cut into
 * packets.
 */

type Host = ScriptedDialect | "converse";

let harness: Harness;
beforeAll(async () => {
  const { providers, models } = modelsOfEveryDialect(UPSTREAM_URL) as { providers: object; models: object[] };
  const bedrock = { kind: "bedrock", base_url: UPSTREAM_URL, api_key: "k" };
  const nova = {
    ...models[0],
    id: "test/converse",
    offers: [{ provider: "up-converse", model: "amazon.nova-pro-v1:0" }],
  };
  harness = await Harness.start({
    config: { providers: { ...providers, "up-converse": bedrock }, models: [...models, nova] },
  });
});

const TEXT = "Whole answer.";

const frame = (type: string, body: object) => eventFrame(type, JSON.stringify(body));
const converseDelta = (text: string) => frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text } });

function responsesEvents(): string[] {
  const script = new ResponsesScript();
  return [
    script.begin(),
    script.delta("Whole "),
    script.delta("answer."),
    script.close(),
    wire.event({ type: "error", error: { type: "server_error", code: null, message: "too late", param: null } }),
  ];
}

/**
 * The events of a response. The last text comes with the finish reason if the protocol allows it, and an error after
 * that.
 */
const EVENTS: Record<Host, readonly string[]> = {
  chat: [
    wire.chatChunk({ role: "assistant", content: "Whole " }),
    wire.chatChunk({ content: "answer." }, "stop"),
    wire.chatUsage({ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 }),
    'data: {"error":{"message":"too late","code":500}}\n\n',
  ],
  messages: [
    wire.messageStart(),
    wire.textBlock("Whole ", "answer."),
    wire.messageEnd().replace(wire.event({ type: "message_stop" }), ""),
    wire.event({ type: "error", error: { type: "api_error", message: "too late" } }),
  ],
  genai: [
    wire.genaiChunk("Whole "),
    wire.genaiChunk("answer.", "STOP"),
    'data: {"error":{"code":500,"message":"too late","status":"INTERNAL"}}\n\n',
  ],
  responses: responsesEvents(),
  converse: [
    frame("messageStart", { role: "assistant" }) + converseDelta("Whole "),
    converseDelta("answer.") + frame("contentBlockStop", { contentBlockIndex: 0 }),
    frame("messageStop", { stopReason: "end_turn" }),
    exceptionFrame("internalServerException", "too late"),
  ],
};

const bytesOf = (host: Host) => Buffer.from(EVENTS[host].join(""), host === "converse" ? "latin1" : "utf8");

/** A host that sends its response in packets which end at these bytes. */
const inPackets =
  (host: Host, ends: readonly number[]): Script =>
  async (reply) => {
    const type = host === "converse" ? "application/vnd.amazon.eventstream" : "text/event-stream";
    reply.head(200, { "content-type": type });
    let at = 0;
    const bytes = bytesOf(host);
    for (const end of [...ends, bytes.length]) {
      if (end <= at) continue;
      void reply.write(bytes.subarray(at, end));
      await harness.clock.sleep(1);
      at = end;
    }
    reply.end();
  };

async function readAnswer(client: ScriptedDialect, host: Host, ends: readonly number[]) {
  harness.upstream.play(inPackets(host, ends));
  const answer = await harness.call(client, { model: `test/${host}`, stream: true });
  const { text, errors, faults } = readClientStream(client, answer.text);
  const begins = answer.text.slice(0, answer.text.indexOf("\n"));
  return { status: answer.status, text, errors: errors.length, faults, begins };
}

/** Where each event ends, in bytes. */
function endsOf(host: Host): number[] {
  let at = 0;
  return EVENTS[host].map((event) => {
    at += Buffer.byteLength(event, host === "converse" ? "latin1" : "utf8");
    return at;
  });
}

describe.each(SCRIPTED_DIALECTS)(
  "H31: calls of a chat host that fails after its finish reason, and a %s client",
  (client) => {
    const call = (index: number, name: string, input: string) =>
      wire.chatChunk({
        tool_calls: [{ index, id: `call_${name}`, type: "function", function: { name, arguments: input } }],
      });

    /** The text of the response to a call whose upstream sends this, and then fails. */
    async function readCalls(...events: string[]): Promise<string> {
      const { upstream } = harness;
      const error = `data: ${JSON.stringify({ error: { message: "boom", type: "server_error", code: 500 } })}\n\n`;
      upstream.play(upstream.stream(events.join(""), 50, error));
      const { text } = await harness.call(client, { door: "dropin", model: "test/chat", stream: true });
      const { errors, faults } = readClientStream(client, text);
      expect([errors.length, faults]).toEqual([1, []]);
      return text;
    }

    test("complete calls reach the client", async () => {
      const text = await readCalls(call(0, "f", '{"a":1}'), call(1, "g", "{}"), wire.chatChunk({}, "tool_calls"));
      expect(readClientStream(client, text).calls.join()).toMatch(/"name":"f".*"name":"g"/);
    });

    test("a call truncated by the output limit is not shown as complete", async () => {
      const text = await readCalls(call(0, "f", '{"a":1}'), call(1, "g", '{"a'), wire.chatChunk({}, "length"));
      const ends = {
        chat: "[DONE]",
        messages: '"content_block_stop","index":1',
        genai: '"name":"g"',
        responses: '"arguments":"{\\"a"',
      };
      expect(text).not.toContain(ends[client]);
    });
  },
);

describe.each(Object.keys(EVENTS) as Host[])("H31: a %s host that fails after its finish reason", (host) => {
  describe.each(SCRIPTED_DIALECTS)("and a %s client", (client) => {
    const whole = {
      status: 200,
      text: TEXT,
      errors: 1,
      faults: [],
      begins: client === "responses" ? "event: response.created" : expect.any(String),
    };

    test("the client gets all text, then the error, when each event is a packet", async () => {
      expect(await readAnswer(client, host, endsOf(host))).toEqual(whole);
    });

    test("the same when the finish reason comes with the first text, and the error later", async () => {
      expect(await readAnswer(client, host, endsOf(host).slice(-2, -1))).toEqual(whole);
    });

    test("the same for any packets", async () => {
      const { length } = bytesOf(host);
      const cuts = fc.array(fc.integer({ min: 1, max: length - 1 }), { maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(cuts, async (ends) => {
          expect(
            await readAnswer(
              client,
              host,
              ends.toSorted((one, other) => one - other),
            ),
          ).toEqual(whole);
        }),
        { numRuns: 25 },
      );
    });
  });
});
