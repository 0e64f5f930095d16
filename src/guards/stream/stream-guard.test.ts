import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../base/cpu-time.sample.ts";
import type { GuardSettings } from "../../canon/guard/guard-settings.ts";
import { type Guard, makeGuard } from "../guard.ts";
import { GuardTally } from "../guard-tally.ts";
import type { HookQuestion, TextHook } from "../text-hook.ts";
import { StreamGuard } from "./stream-guard.ts";

const settings = (more: Partial<GuardSettings>): GuardSettings => ({
  name: "guard",
  on: ["response"],
  use: "secrets",
  action: "redact",
  onFailure: "block",
  timeoutMs: 1000,
  window: 200,
  ...more,
});
const guardOf = (more: Partial<GuardSettings>, hook?: TextHook): Guard =>
  makeGuard(settings(more), () => hook ?? (() => Promise.reject(new Error("no hook"))));

const PLACES = {
  repeats: false,
  pieces: (event: object) =>
    Object.keys(event).flatMap((key) => (key === "end" ? [] : [{ path: key, block: `${key}.` }])),
  ends: (event: object) => ("end" in event ? [`${String(event.end)}.`] : []),
};

/** What leaves of a text that arrives in these pieces, and the most that was held. */
async function through(guards: readonly Guard[], pieces: readonly (string | object)[]) {
  const tally = new GuardTally("response", ["guard"], "");
  const guard = new StreamGuard(guards, PLACES, { tally, nowMs: () => 0, asker: undefined });
  let left = "";
  let sent = 0;
  let mostHeld = 0;
  const release = () => {
    for (const event of guard.release()) left += (JSON.parse(event) as { text?: string }).text ?? "";
  };
  for (const piece of pieces) {
    const data = JSON.stringify(typeof piece === "string" ? { text: piece } : piece);
    guard.push({ raw: data, data, write: (changed) => changed });
    sent += data.length;
    guard.check();
    await guard.pending;
    release();
    mostHeld = Math.max(mostHeld, sent - left.length);
  }
  guard.end();
  guard.check();
  await guard.pending;
  release();
  return { left, mostHeld, verdicts: tally.verdicts };
}

const cut = (text: string, size: number): string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));

const HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString("base64url");
const longToken = `${HEADER}.${"aB3_".repeat(3000)}.${"xY9-".repeat(20)}`;
const PEM = `-----BEGIN PRIVATE KEY-----\n${`${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj".slice(0, 64)}\n`.repeat(26)}abcd==\n-----END PRIVATE KEY-----`;

describe("decision 0123: a stream is held back so that no match leaks", () => {
  test.each([
    ["a token that is longer than any window", longToken, "[redacted:jwt]"],
    ["a private key", PEM, "[redacted:private_key]"],
  ])("%s, in pieces of any size", async (_name, secret, mark) => {
    const text = `${"Some words before. ".repeat(20)}${secret} ${"and some after. ".repeat(20)}`;
    for (const size of [1, 3, 7, 64, 1000, text.length]) {
      const { left } = await through([guardOf({})], cut(text, size));
      expect(left).toBe(text.replace(secret, mark));
    }
  });

  test("a text that does not continue is not awaited", async () => {
    const other = cut("x ".repeat(300), 10).map((more) => ({ other: more }));
    const tally = new GuardTally("response", ["guard"], "");
    const guard = new StreamGuard([guardOf({})], PLACES, { tally, nowMs: () => 0, asker: undefined });
    let left = "";
    for (const piece of [{ text: "said first" }, ...other]) {
      const data = JSON.stringify(piece);
      guard.push({ raw: data, data, write: (changed) => changed });
      guard.check();
      for (const event of guard.release()) left += event;
    }
    expect(left).toContain("said first");
    expect(left.length).toBeGreaterThan(600);
  });

  test("S18: one long token in small pieces takes linear time", async () => {
    const time = async (length: number) => {
      const pieces = cut("a".repeat(length), 4);
      const startedMs = cpuMs();
      const { left } = await through([guardOf({}), guardOf({ use: "pii" })], pieces);
      expect(left.length).toBe(length);
      return cpuMs() - startedMs;
    };
    await time(20_000);
    const [short, long] = [await time(50_000), await time(200_000)];
    expect(long).toBeLessThan(10 * short + 200);
  });

  test("words are found across pieces, with what separates them", async () => {
    const text = `${"Nothing. ".repeat(40)}Acme  Corp is here. ${"Nothing. ".repeat(40)}`;
    for (const size of [1, 5]) {
      const { left, verdicts } = await through([guardOf({ use: "words", words: ["acme corp"] })], cut(text, size));
      expect(left).toBe(text.replace("Acme  Corp", "[redacted:word]"));
      expect(verdicts).toMatchObject([{ verdict: "redacted", paths: ["text"] }]);
    }
  });
});

test("S28: invisible characters in a word do not outlast the window", async () => {
  const guard = guardOf({ use: "words", words: ["bluebird"] });
  const word = `b${"\u200b".repeat(700)}lue\u034fbird`;
  const text = `${"Nothing. ".repeat(40)}A ${word} is here. ${"Nothing. ".repeat(40)}`;
  for (const size of [1, 7, 64, text.length]) {
    const { left } = await through([guard], cut(text, size));
    expect(left).toBe(text.replace(word, "[redacted:word]"));
  }
});

describe("decision 0123: windows of a webhook", () => {
  test("overlap by a window, and each sees what the one before left", async () => {
    const asked: HookQuestion[] = [];
    const hook: TextHook = async (question) => {
      asked.push(question);
      const replacements = new Map(
        question.texts.flatMap(({ text }, place) =>
          text.includes("secret word") ? [[place, text.replaceAll("secret word", "***")] as const] : [],
        ),
      );
      return { verdict: replacements.size > 0 ? "replace" : "allow", replacements };
    };
    const text = cut("All is well here, it seems. ".repeat(60), 280).join("secret word ");
    const { left, verdicts } = await through([guardOf({ use: "webhook" }, hook)], cut(text, 9));
    expect(left).toBe(text.replaceAll("secret word", "***"));
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThan(5);
    expect(verdicts[0]).toMatchObject({ verdict: "redacted" });
  });
});
