import { beforeAll, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { SAMPLED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { ResponsesScript, responsesUsage } from "../../testing/wires/responses-wire.ts";
import { continuingHost, MANNERS, type Manner } from "../support/continuing-host.ts";

const WORDS = ["The Seine rises in Burgundy, passes through Paris ", "and reaches the Channel ", "at Le Havre."];
const WHOLE = WORDS.join("");

/** The events of a host that speaks the client's own protocol: a thought, then a message, under its own ids. */
function nativeEvents(thought: "none" | "empty" | "sealed"): string[] {
  const script = new ResponsesScript();
  const place = thought === "none" ? 0 : 1;
  const moved = (text: string) => text.replaceAll('"output_index":0', `"output_index":${place}`);
  const [created = "", inProgress = "", ...opened] = split(script.begin());
  const rest = [...opened, ...WORDS.map((word) => script.delta(word)), ...split(script.close())].map(moved);
  const item = {
    id: "rs_host",
    type: "reasoning",
    summary: [],
    ...(thought === "sealed" && { encrypted_content: "x" }),
  };
  const thoughts =
    thought === "none"
      ? []
      : [
          script.event("output_item.added", { output_index: 0, item }),
          script.event("output_item.done", { output_index: 0, item }),
        ];
  const all = [created, inProgress, ...thoughts, ...rest, script.completed(responsesUsage(10, 20))];
  return all.map((text, number) => text.replace(/"sequence_number":\d+/, `"sequence_number":${number}`));
}

const split = (stream: string): string[] => stream.match(/[\s\S]*?\n\n/g) ?? [];

interface StreamEvent {
  type: string;
  sequence_number: number;
  output_index?: number;
  item_id?: string;
  delta?: string;
  item?: { id: string };
  response?: { output: { id: string; type: string; content?: { text: string }[] }[] };
}

let harness: Harness;
beforeAll(async () => {
  const scripted = scriptedModels(UPSTREAM_URL);
  const [model] = scripted["models"] as object[];
  harness = await Harness.start({
    config: {
      ...scripted,
      routing: { survive: true, sticky: "off", breaker: { failures: 100_000, window_ms: 1 } },
      models: SAMPLED_DIALECTS.map((second) => ({
        ...model,
        id: `test/${second}`,
        offers: [
          { provider: "first", model: "upstream-model", dialect: "responses", prefill: false },
          { provider: `up-${second}`, model: "upstream-model", prefill: true },
        ],
      })),
      providers: {
        ...(scripted["providers"] as object),
        first: { kind: "openai-compatible", base_url: `${UPSTREAM_URL}/first/v1`, api_key: "key-of-the-host" },
      },
    },
  });
});

/** What is wrong with a stream as read by a client that relies on numbers, positions and ids. */
function faultsOf(events: readonly StreamEvent[]): string[] {
  const faults: string[] = [];
  const items = new Map<number, { id: string; done: boolean }>();
  for (const [number, event] of events.entries()) {
    const { type, output_index: place = -1 } = event;
    if (event.sequence_number !== number) faults.push(`${type} is number ${event.sequence_number}, not ${number}`);
    const known = items.get(place);
    if (type === "response.output_item.added") {
      if (known !== undefined) faults.push(`the item ${place} is there already`);
      items.set(place, { id: event.item?.id ?? "", done: false });
    } else if (place >= 0) {
      const id = event.item_id ?? event.item?.id;
      if (known === undefined || known.done || known.id !== id)
        faults.push(`${type} of ${id}, after ${JSON.stringify(known)}`);
      if (known !== undefined && type === "response.output_item.done") known.done = true;
    }
  }
  const told = [...items.values()].map(({ id }) => id);
  const last = events.at(-1)?.response?.output ?? [];
  for (const { id } of last) if (!told.includes(id)) faults.push(`${id} is in the answer, and was never told`);
  if ([...items.values()].some(({ done }) => !done)) faults.push("an item has no end");
  return faults;
}

describe.each(["none", "empty", "sealed"] as const)(
  "R20, R29: a host of the protocol that breaks off (thought: %s)",
  (thought) => {
    const cuts = nativeEvents(thought);
    test.each(SAMPLED_DIALECTS)(
      "continues at %s as one stream, with one count and the announced ids",
      async (second) => {
        let wentOn = 0;
        for (let at = 0; at < cuts.length; at++) {
          for (const manner of Object.keys(MANNERS) as Manner[]) {
            const goesOn = continuingHost(second, WHOLE, manner);
            harness.upstream.play(async (reply, request) => {
              if (!request.url.includes("/first/")) return goesOn(reply, request);
              reply.head(200, { "content-type": "text/event-stream" });
              if (at > 0) await reply.write(cuts.slice(0, at).join(""));
              reply.fail("broken");
            });
            const answer = await harness.call("responses", { stream: true, model: `test/${second}` });
            if (answer.status !== 200) continue;
            const events = split(answer.text).flatMap((frame): StreamEvent[] => {
              const data = /^data: (.*)$/m.exec(frame)?.[1];
              return data === undefined ? [] : [JSON.parse(data) as StreamEvent];
            });
            const where = { at, manner };
            if (events.at(-1)?.type !== "response.completed") {
              expect({ where, end: events.at(-1)?.type }).toEqual({ where, end: "response.failed" });
              continue;
            }
            const text = events.map(({ delta = "" }) => delta).join("");
            const kept = events
              .at(-1)
              ?.response?.output.flatMap(({ content = [] }) => content)
              .map((part) => part.text);
            expect({ where, faults: faultsOf(events), text, kept: kept?.join("") }).toEqual({
              where,
              faults: [],
              text: WHOLE,
              kept: WHOLE,
            });
            if (at > 5) wentOn++;
          }
        }
        expect(wentOn).toBeGreaterThan(5);
      },
    );
  },
);
