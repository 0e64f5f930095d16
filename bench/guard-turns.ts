/**
 * The longest turn of the event loop, in time and in CPU time of all threads, and the peak of memory while a guard searches one long text.
 *
 *     bin/bun bench/guard-turns.ts [megabytes...]
 */
import { cpuMs } from "../src/base/cpu-time.sample.ts";
import type { GuardSettings } from "../src/canon/guard/guard-settings.ts";
import { checkAll } from "../src/guards/answer-check.ts";
import type { CheckedText } from "../src/guards/checked-text.ts";
import { makeGuard } from "../src/guards/guard.ts";
import { GuardTally } from "../src/guards/guard-tally.ts";

type Use = "words" | "pii" | "secrets";

const CASES: readonly [name: string, use: Use, unit: string][] = [
  ["English", "words", "The quick brown fox jumps over the lazy dog, and nobody minds. "],
  ["English", "pii", "The quick brown fox jumps over the lazy dog, and nobody minds. "],
  ["English", "secrets", "The quick brown fox jumps over the lazy dog, and nobody minds. "],
  ["Japanese", "words", "本日は晴天なり。ガイドを読んでから、計画を始めましょう。"],
  ["Japanese", "secrets", "本日は晴天なり。ガイドを読んでから、計画を始めましょう。"],
  ["Korean", "words", "나는 오늘 학교에 갔다. "],
  ["matches", "words", "Der Blaumeisenplan, der Blåmeis, und bluebird. "],
  ["invisible", "words", "b\u034fl\u200bu\ufe0fe x "],
  ["numbers", "pii", "4111 1111 1111 1112 "],
  ["digits", "pii", "1 "],
  ["addresses", "pii", "alice@example.com "],
  ["octets", "pii", "192.168.1.10 "],
  ["colons", "pii", "::"],
  ["long forms", "pii", "\ufdfa1"],
  ["keys", "secrets", "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6 "],
  ["tokens", "secrets", "eyJ"],
  ["schemes", "secrets", "a://b:c"],
  ["headers", "secrets", "-----BEGIN PRIVATE KEY-----"],
];

const MEGABYTE = 1024 * 1024;

async function measure(unit: string, use: Use, characters: number): Promise<void> {
  const settings: GuardSettings = {
    name: use,
    use,
    action: "redact",
    on: ["request"],
    onFailure: "block",
    window: 200,
    timeoutMs: 1000,
    words: ["bluebird", "project heron", "計画書"],
  } as GuardSettings;
  const guard = makeGuard(settings, () => {
    throw new Error("nothing is asked");
  });
  const tally = new GuardTally("request", [use], "");
  const value = Buffer.from(unit.repeat(Math.ceil(characters / unit.length)).slice(0, characters), "utf16le").toString(
    "utf16le",
  );
  const text: CheckedText = { path: "", kind: "text", original: value, value };
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let longest = 0;
  let longestCpu = 0;
  let last = performance.now();
  let lastCpu = cpuMs();
  let isDone = false;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    const nowCpu = cpuMs();
    longestCpu = Math.max(longestCpu, nowCpu - lastCpu);
    lastCpu = nowCpu;
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  const started = performance.now();
  await checkAll([guard], [text], { tally, nowMs: () => performance.now(), asker: undefined });
  const total = performance.now() - started;
  isDone = true;
  await new Promise((resolve) => setImmediate(resolve));
  const grown = process.resourceUsage().maxRSS * (process.platform === "darwin" ? 1 : 1024) - before;
  process.stdout.write(
    `longest turn ${longest.toFixed(0).padStart(6)} ms, of CPU ${longestCpu.toFixed(0).padStart(6)} ms   all ${total.toFixed(0).padStart(6)} ms   memory ${(grown / MEGABYTE).toFixed(0).padStart(5)} MB   ${JSON.stringify(tally.verdicts[0]?.verdict)}\n`,
  );
}

const [first, ...rest] = process.argv.slice(2);
if (first === "one") {
  const [place = "0", characters = "0"] = rest;
  const [, use, unit] = CASES[Number(place)] ?? ["", "words" as const, " "];
  await measure(unit, use, Number(characters));
} else {
  for (const megabytes of (first === undefined ? ["8", "32"] : [first, ...rest]).map(Number)) {
    for (const [place, [name, use]] of CASES.entries()) {
      process.stdout.write(`${String(megabytes).padStart(3)} M characters  ${name.padEnd(11)} ${use.padEnd(8)} `);
      const child = Bun.spawnSync([process.execPath, import.meta.path, "one", String(place), String(megabytes * 1e6)]);
      process.stdout.write(child.success ? child.stdout : `failed: ${child.stderr.toString().slice(0, 200)}\n`);
    }
  }
}
