import { describe, expect, test } from "bun:test";
import { Glob } from "bun";

/**
 * Time, chance and the network are handed down from the program's start (`src/base/clock.ts`, `sources.ts`, `src/wire/send.ts`),
 * so that everything can be run in memory and without waiting. These are the ways around that.
 */
const DIRECT: readonly [what: string, pattern: RegExp][] = [
  ["a timer", /\b(setTimeout|setInterval|Bun\.sleep|Bun\.sleepSync|AbortSignal\.timeout)\b|"(node:)?timers/],
  ["the next turn of the event loop", /\bsetImmediate\b/],
  [
    "the time",
    /\b(Date\.now|performance\.now|performance\.timeOrigin|Bun\.nanoseconds|process\.hrtime)\b|new Date\(\)/,
  ],
  ["chance", /\b(Math\.random|crypto\.(random|getRandom)\w*|random(UUID|Bytes|Int|FillSync))\b/],
  ["the network", /import \{[^}]*\b(streamMedia|fetchMedia|createSend)\b[^}]*\} from/],
  ["the machine's own sources", /from "[^"]*\/base\/system\.ts"/],
];

/** Process-wide state, where a test could not replace it. */
const MODULE_STATE = /^(export )?(let |var |const \w+(: [^=]+)? = new (?!TextEncoder|TextDecoder)\w+(<.*>)?\(\))/;

/** The program's start and the commands are where all of it comes from. */
const OUTSIDE = ["app", "cli", "main", "version"];

/** Each with its reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  "base/system.ts": "it is the one real implementation",
  "base/next-turn.ts": "a pause in long work, which waits for nothing",
};
const ALLOWED_STATE: Readonly<Record<string, string>> = {
  "base/timed-id.ts": "the last result of a pure function",
  "observe/format.ts": "results of a pure function, of a bounded number",
  "relay/answer/identity-headers.ts": "results of a pure function, of a bounded number",
  "server/openapi.ts": "the result of a pure function",
  "dialects/answer/model-json.ts": "results of a pure function, of a bounded number",
  "wire/edit-body.ts": "results of a pure function, of a bounded number",
  "wire/http/socket-exchange.ts": "no headers, which nothing changes",
  "wire/http/request-url.ts": "results of a pure function, of a bounded number",
  "wire/http/response-head.ts": "results of a pure function, of a bounded number",
  "wire/http/request-head.ts": "results of a pure function, kept as long as their arguments",
  "access/scopes.ts": "results of a pure function, kept as long as their arguments",
  "dialects/answer/unknown-counters.ts": "results of a pure function, kept as long as their arguments",
  "catalogue/price-table.ts": "results of a pure function, kept as long as their arguments",
  "catalogue/pricing.ts": "results of a pure function, kept as long as their arguments",
  "catalogue/kept-prices.ts": "results of a pure function, kept as long as their arguments",
  "catalogue/worst-prices.ts": "results of a pure function, kept as long as their arguments",
  "storage/tables/prices.ts": "what a store is known to hold, kept as long as that store's connection",
  "storage/receipts/receipt-kinds.ts": "what a store is known to hold, kept as long as that store's connection",
  "telemetry/sampling.ts": "results of a pure function, one for each ratio of the configuration",
  "telemetry/otlp/nanoseconds.ts": "the last result of a pure function",
  "wire/public-address.ts": "tables, filled once",
  "server/request-handler.ts": "an empty query, which is never changed",
  "media/decode-slots.ts": "the processor is one for all: what decodes images at once is bounded for the process",
};

const root = new URL("../src/", import.meta.url).pathname;
const files = [...new Glob("**/*.ts").scanSync(root)]
  .filter((file) => !/\.(test|sample|child|contract)\.ts$/.test(file))
  .filter((file) => !OUTSIDE.includes(file.split(/[/.]/)[0] ?? ""));

const codeOf = async (file: string) =>
  (await Bun.file(root + file).text()).replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");

async function linesWith(pattern: RegExp, allowed: Readonly<Record<string, string>>): Promise<string[]> {
  const found: string[] = [];
  for (const file of files.filter((one) => allowed[one] === undefined)) {
    const lines = (await codeOf(file)).split("\n").filter((line) => pattern.test(line));
    found.push(...lines.map((line) => `${file}: ${line.trim()}`));
  }
  return found;
}

describe("time, randomness and the network are injected", () => {
  for (const [what, pattern] of DIRECT) {
    test(`nothing beyond the program's start takes ${what}`, async () => {
      expect(files.length).toBeGreaterThan(300);
      expect(await linesWith(pattern, ALLOWED)).toEqual([]);
    });
  }

  test("modules hold no state", async () => {
    expect(await linesWith(MODULE_STATE, ALLOWED_STATE)).toEqual([]);
  });

  test("every exception is one", async () => {
    const direct = new RegExp(DIRECT.map(([, { source }]) => source).join("|"));
    for (const file of Object.keys(ALLOWED)) expect([file, direct.test(await codeOf(file))]).toEqual([file, true]);
    for (const file of Object.keys(ALLOWED_STATE)) {
      const lines = (await codeOf(file)).split("\n");
      expect([file, lines.some((line) => MODULE_STATE.test(line))]).toEqual([file, true]);
    }
  });
});
