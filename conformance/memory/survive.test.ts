import { beforeAll, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { DIALECT_OF, everyRecording, nameOf, present, textOf } from "../../testing/recordings.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { type ReadStream, readClientStream } from "../support/client-stream.ts";
import { continuingHost, MANNERS, type Manner } from "../support/continuing-host.ts";
import { reasonToLeaveOut } from "../support/recorded-harness.ts";

/**
 * H16, H17: a stream that breaks off at any event either continues at the next offer, so that the client reads exactly
 * the response it would have read, or ends in its protocol's error. `TRIVIUM_SURVIVE=all` plays every event of every
 * recording on all pairs in all manners; without it, a different part of them for each.
 */
const ALL = process.env["TRIVIUM_SURVIVE"] === "all";

/** An upstream's stream, event by event. */
interface Transcript {
  name: string;
  dialect: ScriptedDialect;
  events: string[];
}

const eventsOf = (stream: string): string[] =>
  stream.match(/[\s\S]*?(?:\r\n\r\n|\n\n|$)/g)?.filter((event) => event !== "") ?? [];

const LONG_ANSWER = [
  "The Seine rises in Burgundy, passes through Paris ",
  "and reaches the Channel at Le Havre; barges carry grain down",
] as const;

/** What every checkout has. */
const SAMPLES: readonly Transcript[] = SCRIPTED_DIALECTS.map((dialect) => ({
  name: `a sample of ${dialect}`,
  dialect,
  events: eventsOf(plainStream(dialect, LONG_ANSWER, plainUsage(dialect, 10, 20))),
}));

const HOSTS: Readonly<Record<string, ScriptedDialect>> = { ...DIALECT_OF, "openai-responses": "responses" };

/** Recordings whose response is text, with or without thoughts before it, as read by the client below. */
const RECORDED: readonly Transcript[] = everyRecording
  .filter(({ dialect }) => dialect in HOSTS)
  .filter((recording) => recording.stream && recording.status === 200 && reasonToLeaveOut(recording) === undefined)
  // Each of its chunks marks the response as finished, so no cut breaks it.
  .filter((recording) => !recording.case.startsWith("firebase-mock.streaming-failure-recitation"))
  .map((recording) => ({
    name: nameOf(recording),
    dialect: HOSTS[recording.dialect] ?? "chat",
    events: eventsOf(textOf(recording)),
  }));
if (!present) console.log("skipped: streams cut at every event of a recording, because there are no recordings here");

const KINDS = {
  chat: "openai-compatible",
  messages: "anthropic",
  genai: "gemini",
  responses: "openai-compatible",
} as const;

let harness: Harness;
beforeAll(async () => {
  const base = (place: string, dialect: ScriptedDialect) =>
    `${UPSTREAM_URL}/${place}-${dialect}${KINDS[dialect] === "openai-compatible" ? "/v1" : ""}`;
  const provider = (place: string, dialect: ScriptedDialect) => ({
    kind: KINDS[dialect],
    base_url: base(place, dialect),
    api_key: "key-of-the-host",
    timeout_ms: { first_byte: 3_000, idle: 1_500 },
  });
  const prices = {
    prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }],
    completion: [{ value: 2, unit: "perMTokens", currency: "USD" }],
  };
  harness = await Harness.start({
    config: {
      // The first host of each pair breaks all the time, and must stay the first.
      routing: { survive: true, sticky: "off", breaker: { failures: 100_000, window_ms: 1 } },
      providers: Object.fromEntries(
        SCRIPTED_DIALECTS.flatMap((dialect) =>
          ["first", "second"].map((place) => [`${place}-${dialect}`, provider(place, dialect)]),
        ),
      ),
      models: SCRIPTED_DIALECTS.flatMap((first) =>
        SCRIPTED_DIALECTS.map((second) => ({
          id: `test/${first}-${second}`,
          reasoning: true,
          max_output_tokens: 64_000,
          pricings: prices,
          offers: [
            { provider: `first-${first}`, model: "upstream-model", dialect: first, prefill: false },
            { provider: `second-${second}`, model: "upstream-model", dialect: second, prefill: true },
          ],
        })),
      ),
    },
  });
});

interface Cut {
  client: ScriptedDialect;
  second: ScriptedDialect;
  transcript: Transcript;
  /** How many events the first host sends before its connection breaks. */
  at: number;
  whole: string;
  manner: Manner;
}

async function play({ client, second, transcript, at, whole, manner }: Cut) {
  const goesOn = continuingHost(second, whole, manner);
  harness.upstream.play(async (reply, request) => {
    if (request.url.includes("/second-")) return goesOn(reply, request);
    reply.head(200, { "content-type": "text/event-stream" });
    const sent = transcript.events.slice(0, at).join("");
    if (sent !== "") await reply.write(sent);
    if (at >= transcript.events.length) reply.end();
    else reply.fail("broken");
  });
  const answer = await harness.call(client, {
    stream: true,
    model: `test/${transcript.dialect}-${second}`,
    body: {
      ...(client === "chat" ? { stream_options: { include_usage: true } } : {}),
      ...(client === "messages" ? { max_tokens: 64_000 } : {}),
    },
  });
  const asked = harness.upstream.requests.filter(({ url }) => url.includes("/second-")).length;
  const read = answer.status === 200 ? readClientStream(client, answer.text) : undefined;
  return { answer, read, asked };
}

type Played = Awaited<ReturnType<typeof play>>;

/** What the client reads if nothing breaks; undefined if it has no text to continue, or is an error itself. */
async function uncut(client: ScriptedDialect, transcript: Transcript): Promise<ReadStream | undefined> {
  const at = transcript.events.length;
  const { read } = await play({ client, second: transcript.dialect, transcript, at, whole: "", manner: "honest" });
  return read !== undefined && read.text !== "" && read.errors.length === 0 && read.ends === 1 ? read : undefined;
}

type Verdict = "right" | "error" | "wrong";

/** The exact response, the protocol's error without an end, or neither. */
function judge({ read, asked }: Played, uncut: ReadStream): Verdict {
  if (read === undefined) return "error";
  const { faults, ids, ends, stops, errors, usages } = read;
  if (faults.length > 0 || ids.length > 1) return "wrong";
  if (errors.length > 0) return ends === 0 && stops.length === 0 ? "error" : "wrong";
  const isOne = ends === 1 && stops.length === 1;
  // If the response had ended, its usage may be what was lost.
  const isCounted = usages === 1 || asked === 0;
  const isSame = read.text === uncut.text && (read.thoughts === uncut.thoughts || read.thoughts === "");
  return isOne && isCounted && isSame ? "right" : "wrong";
}

/** A host of the client's protocol sent its text in a position where another host's rest would not fit. */
const ELSEWHERE = /"content_index":\s*[1-9]/;

/** No offer can continue if only a thought was sent, or if the next words are the ones just sent. */
function mayFail({ read, answer }: Played, whole: string): string | undefined {
  const said = read?.text ?? "";
  if (ELSEWHERE.test(answer.text)) return "parts that are counted from 1";
  if (said === "") return "cut in a thought";
  const rest = whole.slice(said.length);
  for (let length = 1; length <= rest.length && length <= said.length; length++) {
    const next = rest.slice(0, length);
    if (next.trim() !== "" && said.endsWith(next)) return "its own words stand twice around the cut";
  }
  return undefined;
}

const counts: Record<string, number> = {};
const count = (what: string) => {
  counts[what] = (counts[what] ?? 0) + 1;
};

/** All cuts of a transcript, or a part of them that begins elsewhere for each. */
function cutsOf(transcript: Transcript, index: number): number[] {
  const all = transcript.events.map((_, at) => at);
  if (ALL || all.length <= 8) return all;
  const step = Math.ceil(all.length / 8);
  return all.filter((at) => at % step === index % step || at >= all.length - 3);
}

const manners = Object.keys(MANNERS) as Manner[];

for (const [index, transcript] of [...SAMPLES, ...RECORDED].entries()) {
  const isSample = index < SAMPLES.length;
  const tests: [ScriptedDialect, ScriptedDialect][] = SCRIPTED_DIALECTS.flatMap((client) =>
    SCRIPTED_DIALECTS.map((second): [ScriptedDialect, ScriptedDialect] => [client, second]),
  );
  describe(`H17: ${transcript.name}, cut at its events`, () => {
    for (const [pair, [client, second]] of tests.entries()) {
      // Unless all are requested, each recording is played on four of the sixteen pairs, different from those of the
      // one before it.
      if (!ALL && !isSample && pair % 4 !== index % 4) continue;
      test(`for ${client}, continued in ${second}`, async () => {
        const reference = await uncut(client, transcript);
        if (reference === undefined) return count("not a text");
        const whole = reference.text;
        const isText = reference.calls.length + reference.others.length === 0;
        for (const at of cutsOf(transcript, index + pair)) {
          const cut = { client, second, transcript, at, whole };
          const played = await play({ ...cut, manner: "honest" });
          const verdict = judge(played, reference);
          const excuse =
            verdict === "error" ? (isText ? mayFail(played, whole) : "cut next to a tool's work") : undefined;
          const label = { at, manner: "honest", text: played.read?.text.slice(-80), faults: played.read?.faults };
          expect({ ...label, verdict: excuse ?? verdict }).toEqual({ ...label, verdict: excuse ?? "right" });
          count(`honest: ${excuse ?? (played.asked > 0 ? "gone on with, or begun anew" : "was whole")}`);
          const others = manners.slice(1);
          for (const manner of ALL || isSample ? others : [others[(at + index + pair) % others.length] ?? "restarts"]) {
            const bad = await play({ ...cut, manner });
            const outcome = judge(bad, reference);
            const told = { ...label, manner, text: bad.read?.text, faults: bad.read?.faults };
            expect({ ...told, outcome }).not.toEqual({ ...told, outcome: "wrong" });
            count(`${manner}: ${outcome}`);
          }
        }
        expect(harness.upstream.mistakes).toEqual([]);
        expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0, openUpstreams: 0 });
      }, 600_000);
    }
  });
}

test("what was played", () => {
  console.log(counts);
  expect(counts["honest: gone on with, or begun anew"]).toBeGreaterThan(50);
  for (const manner of ["repeats a word", "restarts", "calls a tool", "fails too"]) {
    const played = (counts[`${manner}: error`] ?? 0) + (counts[`${manner}: right`] ?? 0);
    expect(played).toBeGreaterThan(5);
    // Without the recordings no response has a beginning that is too short to be recognised.
    if (present || manner !== "restarts") expect(counts[`${manner}: error`]).toBeGreaterThan(5);
  }
});
