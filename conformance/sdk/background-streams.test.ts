import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAi from "openai";
import { eventually } from "../../testing/eventually.ts";
import { failureOf, type Kind, type SimulatedGateway, startSimulatedGateway } from "./support.ts";

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway({ tokenDelayMs: 5 });
});
afterAll(() => harness.stop());

type Event = OpenAi.Responses.ResponseStreamEvent;

const open = () => new OpenAi({ baseURL: `${harness.gateway.url}/v1`, apiKey: harness.gateway.key, maxRetries: 0 });
const begin = (model: string, input = "Tell me about the three roads.") =>
  open().responses.create({ model, input, background: true, stream: true });

/** All events, or as many as requested; the connection is then dropped. */
async function take(stream: AsyncIterable<Event>, most = Number.POSITIVE_INFINITY): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of stream) {
    events.push(event);
    if (events.length >= most) break;
  }
  return events;
}

const resume = (id: string, after: number) => open().responses.retrieve(id, { stream: true, starting_after: after });
const idOf = (events: readonly Event[]): string => {
  const [first] = events;
  return first?.type === "response.created" ? first.response.id : "";
};

describe.each<Kind>(["openai-compatible", "anthropic", "gemini", "bedrock", "simulator"])(
  "a streamed background response of %s",
  (kind) => {
    test("arrives as it is made, and is stored", async () => {
      const events = await take(await begin(`${kind}/standard`));
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
      const last = events.at(-1);
      if (last?.type !== "response.completed") throw new Error(`it ends in ${last?.type}`);
      expect(last.response.background).toBe(true);
      const kept = await open().responses.retrieve(idOf(events));
      expect(kept.output).toEqual(last.response.output);
      expect(kept.status).toBe("completed");
    });

    test("continues without its reader, who resumes at the same place", async () => {
      const seen = await take(await begin(`${kind}/standard`), 5);
      const rest = await take(await resume(idOf(seen), 4));
      expect(rest[0]?.sequence_number).toBe(5);
      expect(rest.at(-1)?.type).toBe("response.completed");
      const again = await take(await open().responses.retrieve(idOf(seen), { stream: true }));
      expect(again).toEqual([...seen, ...rest]);
      const text = again.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
      const { output_text } = await open().responses.retrieve(idOf(seen));
      expect(text).toBe(output_text);
    });

    test("R1: breaks off: the stream says so, and so does the stored response", async () => {
      const events: Event[] = [];
      const failure = await failureOf(
        (async () => {
          for await (const event of await begin(`${kind}/cut-mid-stream`)) events.push(event);
        })(),
      );
      expect(failure).toBeInstanceOf(OpenAi.APIError);
      const id = idOf(events);
      await eventually("the end", async () => (await open().responses.retrieve(id)).status !== "in_progress");
      expect(await open().responses.retrieve(id)).toMatchObject({ id, status: "failed" });
    });

    test("R1: fails before its first word: both say so", async () => {
      const failure = await failureOf((async () => take(await begin(`${kind}/fail-500`)))());
      expect(failure).toBeInstanceOf(OpenAi.APIError);
    });
  },
);

test("a cancelled one ends its stream with an error", async () => {
  const events: Event[] = [];
  let cancelled = false;
  const failure = await failureOf(
    (async () => {
      for await (const event of await begin("openai-compatible/stall-mid-stream")) {
        events.push(event);
        if (cancelled || event.type !== "response.output_text.delta") continue;
        cancelled = true;
        await open().responses.cancel(idOf(events));
      }
    })(),
  );
  expect(failure).toBeInstanceOf(OpenAi.APIError);
  expect((await open().responses.retrieve(idOf(events))).status).toBe("cancelled");
});

test("S09: another project does not find the stream, and one that was never streamed has none", async () => {
  const plain = await open().responses.create({ model: "openai-compatible/standard", input: "Hi." });
  expect(await failureOf(resume(plain.id, 0))).toMatchObject({ status: 400, param: "stream" });
  expect(await failureOf(resume("resp_unknown", 0))).toMatchObject({ status: 404 });
  const odd = fetch(`${harness.gateway.url}/v1/responses/${plain.id}?stream=true&starting_after=x`, {
    headers: { authorization: `Bearer ${harness.gateway.key}` },
  });
  expect((await odd).status).toBe(400);
});
