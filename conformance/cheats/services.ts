import { DEAR_MODEL } from "./billing-host.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";
import type { Purse } from "./purses.ts";
import { statusesOf, visit } from "./rude-client.ts";
import { recordingOf, type ServicePerformance } from "./service-host.ts";
import { ServicesHarness } from "./services-harness.ts";

const TEXT = "word ".repeat(1_000);
const CHINESE = "更多的话".repeat(200);
/** Letters that look like an image but are text to an embedding model. */
const DISGUISED = `data:image/png;base64,${"QUJD".repeat(50_000)}`;
/** So that no byte of a header is beyond ASCII, which a text would not carry. */
const SECONDS = 512;
const RATE = 256;

type Request = [string, RequestInit];
type MakeRequest = (purse: Purse) => Request;

/** A file whose header claims this many bytes per second and this many bytes of samples. */
function wav(purse: Purse, seconds: number, bytesPerSecond: number, samples?: number): string {
  const body = recordingOf(seconds, purse.name).padEnd(seconds * RATE, "s");
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + body.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(bytesPerSecond, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples ?? body.length, 40);
  return head.toString("latin1") + body;
}

/** No service gets cheaper by disconnecting, by false reports, by disguise or by concurrency. */
export async function openServices(): Promise<CheatGroup> {
  const harness = await ServicesHarness.open();
  const poor = await ServicesHarness.open({ budget_usd_per_day: BUDGET_USD });
  const requests = requestsOf(harness);
  return {
    cheats: [...lies(harness, requests), ...disconnects(harness, requests), ...doubles(harness), ...budgets(poor)],
    atOnce: true,
    close: async () => {
      await harness.close();
      await poor.close();
    },
  };
}

/** One request for each service, in ways that make it look small. */
function requestsOf(harness: ServicesHarness): Record<string, MakeRequest> {
  const json =
    (path: string, body: (text: string) => object): MakeRequest =>
    (purse) =>
      harness.post(purse, path, body(` ${purse.name}`));
  const ear =
    (model: string, file: (purse: Purse) => string, ...fields: (readonly [string, string])[]): MakeRequest =>
    (purse) =>
      harness.form(purse, "/v1/audio/transcriptions", [["model", model], ...fields], file(purse));
  const honest = (purse: Purse) => wav(purse, SECONDS, RATE);
  return {
    embeddings: json("/v1/embeddings", (name) => ({ model: "test/vectors", input: TEXT + name })),
    "embeddings of a text that looks like an image": json("/v1/embeddings", (name) => ({
      model: "test/vectors",
      input: [DISGUISED, name],
    })),
    "embeddings of Chinese": json("/v1/embeddings", (name) => ({ model: "test/vectors", input: CHINESE + name })),
    "embeddings of 2,000 inputs in several requests": json("/v1/embeddings", (name) => ({
      model: "test/many-vectors",
      input: Array.from({ length: 2_000 }, (_, index) => `${index} of many${name}`),
    })),
    "embeddings (genai)": json("/v1beta/models/test/vectors:embedContent", (name) => ({
      content: { parts: [{ text: TEXT + name }] },
    })),
    ranking: json("/v1/rerank", (name) => ({
      model: "test/ranker",
      query: name,
      documents: Array.from({ length: 250 }, (_, index) => `document ${index}`),
    })),
    "speech by the character": json("/v1/audio/speech", (name) => ({
      model: "test/voice",
      voice: "alloy",
      input: TEXT.slice(0, 4_000) + name,
    })),
    "speech by the token": json("/v1/audio/speech", (name) => ({
      model: "test/token-voice",
      voice: "alloy",
      input: TEXT.slice(0, 1_000) + name,
    })),
    "speech by the token with long instructions": json("/v1/audio/speech", (name) => ({
      model: "test/token-voice",
      voice: "alloy",
      input: `Hello.${name}`,
      instructions: TEXT,
    })),
    "a transcript by the second": ear("test/ear", honest),
    "a transcript of a file whose head tells of many bytes a second": ear("test/ear", (purse) =>
      wav(purse, SECONDS, 0x7f7f7f7f),
    ),
    "a transcript of a file whose head tells of few samples": ear("test/ear", (purse) => wav(purse, SECONDS, RATE, 4)),
    "a transcript by the token": ear("test/token-ear", honest),
    "a transcript by the token, streamed": ear("test/token-ear", honest, ["stream", "true"]),
    "a translation": (purse) => harness.form(purse, "/v1/audio/translations", [["model", "test/ear"]], honest(purse)),
    moderation: json("/v1/moderations", (name) => ({ model: "test/moderator", input: TEXT + name })),
    "moderation of a text that looks like an image": json("/v1/moderations", (name) => ({
      model: "test/moderator",
      input: [DISGUISED, name],
    })),
    completion: json("/v1/completions", (name) => ({ model: "test/writer", prompt: TEXT + name, max_tokens: 200 })),
    "completion, streamed": json("/v1/completions", (name) => ({
      model: "test/writer",
      prompt: TEXT + name,
      max_tokens: 200,
      stream: true,
    })),
    "completion of a prompt that looks like an image": json("/v1/completions", (name) => ({
      model: "test/writer",
      prompt: [DISGUISED, name],
      max_tokens: 200,
    })),
    "completion of 4,000 tokens": json("/v1/completions", (name) => ({
      model: "test/writer",
      prompt: Array.from({ length: 4_000 }, (_, index) => index),
      user: name,
      max_tokens: 200,
    })),
    "completion in eight choices": json("/v1/completions", (name) => ({
      model: "test/writer",
      prompt: name,
      max_tokens: 200,
      n: 2,
      best_of: 8,
    })),
    "completion in Chinese, streamed": json("/v1/completions", (name) => ({
      model: "test/writer",
      prompt: name,
      max_tokens: 400,
      stream: true,
    })),
  };
}

const performanceOf = (what: string): ServicePerformance => ({
  words: 40,
  ...(what.includes("in Chinese") ? { word: "更多的话" } : {}),
});

/** The usage that hosts report, per service. */
const LIES: Readonly<Record<string, object | "nothing">> = {
  "nothing at all": "nothing",
  "all zero": {
    prompt_tokens: 0,
    total_tokens: 0,
    completion_tokens: 0,
    input_tokens: 0,
    output_tokens: 0,
    seconds: 0,
    billed_units: { search_units: 0 },
  },
  "negative figures": {
    prompt_tokens: -500,
    total_tokens: -500,
    completion_tokens: -5,
    input_tokens: -500,
    output_tokens: -5,
    seconds: -10,
    billed_units: { search_units: -1 },
  },
  "one of each": {
    prompt_tokens: 1,
    total_tokens: 2,
    completion_tokens: 1,
    input_tokens: 1,
    output_tokens: 1,
    seconds: 1,
    billed_units: { search_units: 1 },
  },
};

/** H27: the caller of a careless host pays for what passed through. */
function lies(harness: ServicesHarness, requests: Record<string, MakeRequest>): Cheat[] {
  return Object.entries(requests).flatMap(([what, request]) =>
    Object.entries(LIES).map(([lie, tells]) => ({
      id: "H27",
      tries: `a host tells of its ${what} ${lie}`,
      run: async () => {
        const purse = harness.purse({ ...performanceOf(what), tells });
        const response = await fetch(...request(purse));
        const text = await response.text();
        return harness.purses.outcome(purse, `${response.status}, ${text.length} bytes`);
      },
    })),
  );
}

type DisconnectWhen = (text: string, isAsked: boolean) => boolean;

const MOMENTS: Readonly<Record<string, DisconnectWhen>> = {
  "while it is worked on": (_, isAsked) => isAsked,
  "at its first part": (text) => text.includes("\r\n\r\n") && (text.split("\r\n\r\n")[1]?.length ?? 0) > 4,
};

/** H26: disconnecting does not change the price. */
function disconnects(harness: ServicesHarness, requests: Record<string, MakeRequest>): Cheat[] {
  return Object.entries(requests).flatMap(([what, request]) =>
    Object.entries(MOMENTS).map(([moment, disconnectWhen]) => ({
      id: "H26",
      tries: `asks for ${what}, disconnects ${moment}`,
      run: async () => {
        const slow = moment.includes("worked") ? { workMs: 1_500 } : { everyMs: 60 };
        const purse = harness.purse({ ...performanceOf(what), ...slow });
        const isAsked = () => harness.host.requests(purse.name) > 0;
        const { text } = await visit(request(purse), (seen) => disconnectWhen(seen, isAsked()), "resets");
        return harness.purses.outcome(purse, `${statusesOf(text)}, ${text.length} bytes`);
      },
    })),
  );
}

/** S15 and S07: a host reads the same request that the gateway has read, allowed and priced. */
function doubles(harness: ServicesHarness): Cheat[] {
  const members = [
    `"Model":"${DEAR_MODEL}"`,
    `"\\u006dodel":"${DEAR_MODEL}"`,
    `"models":["${DEAR_MODEL}"]`,
    `"fallbacks":[{"model":"${DEAR_MODEL}"}]`,
    `"Models":["${DEAR_MODEL}"]`,
  ];
  const bodies: Record<string, [path: string, own: (name: string) => string]> = {
    embeddings: ["/v1/embeddings", (name) => `"model":"test/many-vectors","input":"${TEXT}${name}"`],
    ranking: ["/v1/rerank", (name) => `"model":"test/ranker","query":"${name}","documents":["a"]`],
    speech: ["/v1/audio/speech", (name) => `"model":"test/voice","voice":"alloy","input":"Hello ${name}"`],
    moderation: ["/v1/moderations", (name) => `"model":"test/moderator","input":"${name}"`],
    completion: ["/v1/completions", (name) => `"model":"test/writer","prompt":"${name}","max_tokens":50`],
  };
  const more: Record<string, readonly string[]> = {
    embeddings: ['"Input":["a","b","c"]'],
    speech: ['"Input":"something far longer than what was paid for"', '"Instructions":"long"'],
    completion: ['"N":50', '"Best_Of":50', '"MAX_TO\u212aENS":9999', '"n":1,"n":50'],
    moderation: ['"Input":"b"'],
  };
  const inJson = Object.entries(bodies).flatMap(([what, [path, own]]) =>
    [...members, ...(more[what] ?? [])].flatMap((member) =>
      ["", "/api"].map(
        (door): Cheat => ({
          id: member.includes("odels") || member.includes("fallbacks") ? "S07" : "S15",
          tries: `${what}: ${member} at ${door}${path}`,
          run: () => sendOnce(harness, (purse) => harness.post(purse, door + path, `{${own(purse.name)},${member}}`)),
        }),
      ),
    ),
  );
  const fields: readonly (readonly [string, string])[] = [
    ["Model", DEAR_MODEL],
    ["model", DEAR_MODEL],
    ["models[]", DEAR_MODEL],
    ["models", DEAR_MODEL],
    ["fallbacks", DEAR_MODEL],
  ];
  const inForms = fields.map(
    ([name, value]): Cheat => ({
      id: name.startsWith("model") && name !== "model" ? "S07" : "S15",
      tries: `a transcript: the form's field ${name} names a dear model`,
      run: () =>
        sendOnce(harness, (purse) =>
          harness.form(
            purse,
            "/v1/audio/transcriptions",
            [
              ["model", "test/ear"],
              [name, value],
            ],
            wav(purse, 16, RATE),
          ),
        ),
    }),
  );
  return [...inJson, ...inForms];
}

async function sendOnce(harness: ServicesHarness, request: MakeRequest): Promise<Outcome> {
  const purse = harness.purse({ words: 40 });
  const response = await fetch(...request(purse));
  await response.text();
  return harness.purses.outcome(purse, String(response.status), { rows: response.ok ? 1 : 0 });
}

const BUDGET_USD = 0.02;
const BUDGET_NANO = BUDGET_USD * 1e9;

/** H23: twenty concurrent requests, and one that is far too large, under a budget for a few. */
function budgets(poor: ServicesHarness): Cheat[] {
  const calls: Record<string, MakeRequest> = {
    "embeddings of 6,000 tokens each": (purse) =>
      poor.post(purse, "/v1/embeddings", {
        model: "test/vectors",
        input: Array.from({ length: 6 }, () => `${TEXT.repeat(1)}${purse.name}`),
      }),
    "embeddings of 50,000 tokens each that look like an image": (purse) =>
      poor.post(purse, "/v1/embeddings", { model: "test/vectors", input: [DISGUISED, purse.name] }),
    "speech of 4,000 characters each": (purse) =>
      poor.post(purse, "/v1/audio/speech", {
        model: "test/voice",
        voice: "alloy",
        input: TEXT.slice(0, 4_000) + purse.name,
      }),
    "speech by the token, with long instructions": (purse) =>
      poor.post(purse, "/v1/audio/speech", {
        model: "test/token-voice",
        voice: "alloy",
        input: purse.name,
        instructions: TEXT.repeat(10),
      }),
    "transcripts of eight minutes whose heads tell of less": (purse) =>
      poor.form(purse, "/v1/audio/transcriptions", [["model", "test/ear"]], wav(purse, SECONDS, 0x7f7f7f7f)),
    "rankings of 1,000 documents": (purse) =>
      poor.post(purse, "/v1/rerank", {
        model: "test/ranker",
        query: purse.name,
        documents: Array.from({ length: 1_000 }, () => "a"),
      }),
    "completions of 4,000 tokens in 64 choices": (purse) =>
      poor.post(purse, "/v1/completions", {
        model: "test/writer",
        prompt: purse.name,
        max_tokens: 40,
        best_of: 64,
        n: 1,
      }),
  };
  return Object.entries(calls).map(([what, request]) => ({
    id: "H23",
    tries: `twenty at once under a budget of ${BUDGET_USD} USD: ${what}`,
    run: async (): Promise<Outcome> => {
      const purse = poor.purse({ workMs: 300, words: 40 });
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const response = await fetch(...request(purse));
          await response.text();
          return response.status;
        }),
      );
      const letIn = statuses.filter((status) => status === 200).length;
      const outcome = await poor.purses.outcome(purse, `${letIn} of 20 were let in`, { rows: letIn });
      const over = (outcome.upstream ?? 0) / BUDGET_NANO;
      const figures = `${over.toFixed(1)} times the budget`;
      // An estimate may be low; it must not be possible to make it low.
      return over > 1.5 ? { ...outcome, figures, broken: "the budget is overdrawn" } : { ...outcome, figures };
    },
  }));
}
