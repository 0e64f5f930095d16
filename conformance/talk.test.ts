import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { listen } from "../simulator/voice/listen.ts";
import { sayAloud } from "../simulator/voice/say-aloud.ts";
import { wavHead } from "../src/wire/wav-head.ts";
import { eventually } from "../testing/eventually.ts";
import { TRIVIUM } from "./support/program.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

// Each test starts the program, possibly on a slow machine.

const workFolder = mkdtempSync(join(tmpdir(), "trivium-talk-"));
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true } });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(workFolder, { recursive: true, force: true });
});

const newFolder = () => mkdtempSync(join(workFolder, "workspace-"));

async function run(folder: string, command: string[]) {
  const env = {
    PATH: `${dirname(TRIVIUM)}${delimiter}${process.env["PATH"] ?? ""}`,
    TRIVIUM_CONFIG: gateway.configFile,
    TRIVIUM_URL: gateway.url,
    TRIVIUM_API_KEY: gateway.key,
  };
  const child = Bun.spawn(command, { cwd: folder, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

const talk = (folder: string, ...args: string[]) => run(folder, [TRIVIUM, "talk", ...args]);
const spokenIn = (path: string) => listen(readFileSync(path)).text;

/** The receipts of a session, as an operator finds them. */
async function receiptsOf(session: string): Promise<Record<string, unknown>[]> {
  const headers = { authorization: `Bearer ${gateway.adminSecret}` };
  return eventually("the receipts", async () => {
    const answer = await fetch(`${gateway.adminUrl}/api/receipts?limit=100`, { headers });
    const { data } = (await answer.json()) as { data: Record<string, unknown>[] };
    const found = data.filter((receipt) => receipt["session_id"] === session);
    return found.length > 0 ? found : undefined;
  });
}

/** A recording of two channels at another rate than any protocol has. */
function recording(text: string): Uint8Array {
  const { samples, rate } = sayAloud(text);
  const stereo = Int16Array.from({ length: samples.length * 2 }, (_, index) => samples[index >> 1] ?? 0);
  const head = wavHead(stereo.byteLength, rate);
  head.writeUInt16LE(2, 22);
  return Buffer.concat([head, Buffer.from(stereo.buffer)]);
}

describe("trivium talk", () => {
  test("docs/talk.md: the example greets the simulator, and writes what it answers", async () => {
    const folder = newFolder();
    const page = await Bun.file(new URL("../docs/talk.md", import.meta.url)).text();
    const example = (/```sh\n(.*?)```/s.exec(page)?.[1] ?? "").replaceAll("bin/trivium", TRIVIUM);
    const { code, stdout, stderr } = await run(folder, ["sh", "-c", example]);
    expect([code, stderr]).toEqual([0, stderr]);
    expect(stdout).toContain("you  Hello! Can you hear me?");
    expect(stdout).toContain("sim/realtime  This is Trivium's simulator. You said: “Hello! Can you hear me?”.");
    expect(spokenIn(join(folder, "answer.wav"))).toContain("Hello! Can you hear me?");
    expect(stderr).toMatch(/s of sound, the first after \d+ ms; \d+ tokens in, \d+ out/);
    expect(stderr).toMatch(/receipt \S+, \$0\.\d+/);
    expect(stderr).toContain("written to answer.wav");
  }, 60_000);

  for (const [protocol, model] of [
    ["realtime", "sim/realtime"],
    ["live", "sim/live"],
    ["realtime", "sim/live"],
    ["live", "sim/realtime"],
  ] as const) {
    test(`a recording is answered by ${model} in ${protocol}`, async () => {
      const folder = newFolder();
      writeFileSync(join(folder, "question.wav"), recording("What do you hear?"));
      const flags = ["--protocol", protocol, "--model", model, "--pace", "10", "-o", "a.wav", "--json"];
      const { code, stdout, stderr } = await talk(folder, "question.wav", ...flags);
      expect([code, stderr]).toEqual([0, ""]);
      const told = JSON.parse(stdout) as Record<string, unknown>;
      expect(told).toMatchObject({ model, heard: "What do you hear?", status: "completed", output: "a.wav" });
      expect(String(told["said"])).toContain("What do you hear?");
      expect(spokenIn(join(folder, "a.wav"))).toBe(String(told["said"]));
      const receipts = await receiptsOf(String(told["session"]));
      // At a host of Realtime another model writes down what is said.
      const verbs = model === "sim/realtime" ? ["generate", "transcriptions"] : ["generate"];
      expect(receipts.map(({ verb }) => String(verb)).sort()).toEqual(verbs);
      const cost = Number(receipts.find(({ verb }) => verb === "generate")?.["cost_nano_usd"]);
      expect(cost).toBeGreaterThan(0);
      // The messages of the other protocol have no field for a receipt.
      expect(told["cost_usd"]).toBe(protocol === "realtime" ? cost / 1e9 : null);
    }, 60_000);
  }

  test("mistakes and failures are reported in one line, and no file is written", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "notes.wav"), "not a recording");
    const problem = async (...args: string[]) => {
      const { code, stdout, stderr } = await talk(folder, ...args);
      return [code, stdout, stderr.split("\n")[0]] as const;
    };
    expect(await problem("notes.wav")).toEqual([2, "", expect.stringContaining('"notes.wav" is not a WAV file')]);
    expect(await problem("none.wav")).toEqual([2, "", expect.stringContaining('Cannot read "none.wav"')]);
    expect(await problem("notes.wav", "--text", "x")).toEqual([2, "", expect.stringContaining("not both")]);
    expect(await problem("--protocol", "sip")).toEqual([2, "", expect.stringContaining("realtime, live")]);
    expect(await problem("--pace", "fast")).toEqual([2, "", expect.stringContaining("--pace")]);
    expect(await problem("--text", "x", "--model", "sim/none")).toEqual([
      1,
      expect.any(String),
      expect.stringContaining("sim/none"),
    ]);
    expect(await problem("--text", "x", "--model", "sim/standard")).toEqual([
      1,
      expect.any(String),
      expect.stringContaining("sim/standard"),
    ]);
    expect((await problem("--text", "sim:fails", "-o", "b.wav"))[0]).toBe(1);
    expect(existsSync(join(folder, "b.wav"))).toBe(false);
  }, 120_000);
});
