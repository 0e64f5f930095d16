import { afterAll, expect, test } from "bun:test";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../testing/eventually.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { PRICED } from "./support/priced-model.ts";
import { bareEnvironment, runProgram, TRIVIUM } from "./support/program.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-backup-"));
const running = new Set<Bun.Subprocess>();
afterAll(async () => {
  for (const program of running) {
    program.kill("SIGKILL");
    await program.exited;
  }
  rmSync(folder, { recursive: true, force: true });
});

interface Place {
  cwd: string;
  url: string;
  program: Bun.Subprocess;
}

async function start(name: string): Promise<Place> {
  const cwd = join(folder, name);
  mkdirSync(cwd, { recursive: true });
  const config = {
    server: { host: "127.0.0.1", port: 0, drain_seconds: 1 },
    admin: { host: "127.0.0.1", port: 0 },
    simulator: true,
    models: [PRICED],
    log: { calls: "off" },
    keys: [{ name: "tests", key: TEST_KEY, limits: { budget_usd_total: 100 } }],
  };
  writeFileSync(join(cwd, "trivium.yaml"), JSON.stringify(config));
  const program = Bun.spawn([TRIVIUM, "serve", "--workers", "1", "--json"], {
    cwd,
    env: bareEnvironment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  running.add(program);
  let shown = "";
  for await (const chunk of program.stdout) {
    shown += new TextDecoder().decode(chunk);
    if (shown.trimEnd().endsWith("\n}")) break;
  }
  return { cwd, url: (JSON.parse(shown) as { url: string }).url, program };
}

async function stop({ program }: Place): Promise<void> {
  program.kill("SIGTERM");
  expect(await program.exited).toBe(0);
  running.delete(program);
}

const call = async ({ url }: Place): Promise<string> => {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/priced", messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.text();
  if (answer.status !== 200) throw new Error(String(answer.status));
  return answer.headers.get("x-trivium-receipt") ?? "";
};

const usage = async (cwd: string) => {
  const { code, stdout, stderr } = await runProgram(["usage", "--by", "key", "--json"], { cwd });
  if (code !== 0) throw new Error(stderr);
  return stdout;
};
const check = async (cwd: string) => (await runProgram(["usage", "check"], { cwd })).code;

test("a backup under load has equal receipts and budgets when restored", async () => {
  const place = await start("one");
  const answered: string[] = [];
  let isOver = false;
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) answered.push(await call(place));
  });
  await eventually("twenty answers", () => answered.length >= 20);
  const before = [...answered];
  const copy = join(folder, "copy");
  const made = await runProgram(["backup", copy], { cwd: place.cwd });
  expect([made.code, made.stderr]).toEqual([0, ""]);
  isOver = true;
  await Promise.all(clients);
  expect(answered.length).toBeGreaterThan(before.length);
  for (const file of readdirSync(copy)) expect((statSync(join(copy, file)).mode & 0o077).toString(8)).toBe("0");

  // A running gateway is not replaced.
  const refused = await runProgram(["restore", copy], { cwd: place.cwd });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("Stop it first")]);
  const calledTwice = await runProgram(["backup", copy], { cwd: place.cwd });
  expect([calledTwice.code, calledTwice.stderr]).toEqual([2, expect.stringContaining("is not empty")]);

  await stop(place);
  const restored = await runProgram(["restore", copy, "--json"], { cwd: place.cwd });
  expect([restored.code, restored.stderr]).toEqual([0, ""]);
  expect((JSON.parse(restored.stdout) as { kept: string[] }).kept.length).toBeGreaterThan(0);

  // The restored gateway has exactly the ledger and totals of the copy.
  expect(await check(place.cwd)).toBe(0);
  const again = await start("one");
  const receipt = (id: string) =>
    fetch(`${again.url}/api/v1/generation?id=${id}`, { headers: { authorization: `Bearer ${TEST_KEY}` } });
  for (const id of before) expect((await receipt(id)).status).toBe(200);
  const present = (await Promise.all(answered.map(receipt))).filter(({ status }) => status === 200).length;
  const spent = JSON.parse(await usage(again.cwd)) as { calls: number; cost_nano_usd: number }[] | { data: unknown };
  expect(JSON.stringify(spent)).toContain(`"calls":${present}`);
  await stop(again);

  // The same backup restored into an empty location is the same.
  const other = join(folder, "two");
  const fresh = await start("two");
  await stop(fresh);
  rmSync(join(other, "data"), { recursive: true, force: true });
  expect((await runProgram(["restore", copy], { cwd: other })).code).toBe(0);
  expect(await usage(other)).toBe(await usage(place.cwd));
});

test("a modified backup is refused, and existing data is kept", async () => {
  const copy = join(folder, "copy");
  await Bun.write(join(copy, "trivium.db"), "not a database");
  const { code, stderr } = await runProgram(["restore", copy], { cwd: join(folder, "two") });
  expect([code, stderr]).toEqual([2, expect.stringContaining("it is damaged or was modified")]);
  expect(await check(join(folder, "two"))).toBe(0);
  const none = await runProgram(["restore", folder], { cwd: join(folder, "two") });
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("is not a backup")]);
});

const files = (place: Place, path = "", init: RequestInit = {}) =>
  fetch(`${place.url}/v1/files${path}`, { ...init, headers: { authorization: `Bearer ${TEST_KEY}` } });

test("a restore needs nothing of the old database, and brings back the files that clients have uploaded", async () => {
  const place = await start("three");
  await call(place);
  const body = new FormData();
  body.set("purpose", "user_data");
  body.set("file", new File(["what a client has uploaded"], "notes.txt"));
  const { id } = (await (await files(place, "", { method: "POST", body })).json()) as { id: string };
  const copy = join(folder, "with files");
  expect(await runProgram(["backup", copy], { cwd: place.cwd })).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(join(copy, "files"))).toHaveLength(1);
  const without = join(folder, "without files");
  expect(await runProgram(["backup", without, "--without-files"], { cwd: place.cwd })).toMatchObject({ code: 0 });
  expect(readdirSync(without)).not.toContain("files");
  await stop(place);
  const expected = await usage(place.cwd);

  const database = join(place.cwd, "data/trivium.db");
  const damages: [name: string, damage: () => void][] = [
    [
      "its first page is overwritten",
      () => {
        const file = openSync(database, "r+");
        writeSync(file, Buffer.alloc(4096, "x"), 0, 4096, 0);
        closeSync(file);
      },
    ],
    ["another file is in its place", () => writeFileSync(database, "something else")],
    [
      "a folder is in its place",
      () => {
        rmSync(database);
        mkdirSync(database);
      },
    ],
    ["everything is missing", () => rmSync(join(place.cwd, "data"), { recursive: true })],
  ];
  for (const [name, damage] of damages) {
    damage();
    const { code, stderr } = await runProgram(["restore", copy], { cwd: place.cwd });
    const isSilent = stderr === "" || stderr.includes("not known whether a gateway elsewhere is using it");
    expect({ name, code, stderr, isSilent }).toEqual({ name, code: 0, stderr, isSilent: true });
    expect(await usage(place.cwd)).toBe(expected);
  }
  const again = await start("three");
  expect(await (await files(again, `/${id}/content`)).text()).toBe("what a client has uploaded");
  // Not even over a damaged file while a gateway has it open.
  writeFileSync(database, "overwritten while it runs");
  const refused = await runProgram(["restore", copy], { cwd: place.cwd });
  if (process.platform === "linux") {
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/process \d+ .*Stop it first/) });
  }
  again.program.kill("SIGKILL");
  await again.program.exited;
  running.delete(again.program);
  expect(await runProgram(["restore", copy], { cwd: place.cwd })).toMatchObject({ code: 0 });
  expect(await usage(place.cwd)).toBe(expected);
}, 180_000);

test("a backup without a database says so in one line", async () => {
  const cwd = join(folder, "empty");
  mkdirSync(cwd);
  const { code, stderr } = await runProgram(["backup", join(cwd, "copy")], { cwd });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^The database \S+trivium\.db does not exist\. [^\n]*\n$/)]);
  expect(readdirSync(cwd)).toEqual([]);
});
