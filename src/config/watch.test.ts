// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../testing/eventually.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { Config } from "./config.ts";
import { ConfigError, loadConfig } from "./load.ts";
import { type ConfigWatch, watchConfig } from "./watch.ts";

let folder: string;
let file: string;
let watch: ConfigWatch | undefined;
let changes: Config[];
let problems: ConfigError[];
let clock: VirtualClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trivium-watch-"));
  file = join(folder, "trivium.yaml");
  changes = [];
  problems = [];
  clock = new VirtualClock();
});

afterEach(() => {
  watch?.close();
  rmSync(folder, { recursive: true, force: true });
});

const load = () =>
  loadConfig({
    cwd: folder,
    environment: {},
    kinds: new Map([["mine", { mistakes: () => [], dialects: ["chat"], required: [], optional: [] }]]),
    prices: { has: () => true, near: () => undefined },
    models: { has: () => true, near: () => undefined },
  });

function start(signal?: AbortSignal): ConfigWatch {
  watch = watchConfig(
    load,
    (config) => changes.push(config),
    (error) => problems.push(error),
    { clock, ...(signal ? { signal } : {}) },
  );
  return watch;
}

/** Two changes within the resolution of file times look the same. */
async function fileTimesMoveOn(): Promise<void> {
  const probe = join(folder, "probe");
  const touch = () => {
    writeFileSync(probe, "");
    return statSync(probe, { bigint: true }).mtimeNs;
  };
  const from = touch();
  await eventually("the file times to move on", () => touch() > from);
}

async function until(condition: () => boolean): Promise<void> {
  await fileTimesMoveOn();
  for (let look = 0; !condition() && look < 100; look++) await clock.pass(100);
  expect(condition()).toBe(true);
}

const SETTLE_MS = 2_000;
/** Longer than a change takes to be noticed. */
const awhile = () => clock.pass(3 * SETTLE_MS);

test("choices 9: a changed file is applied at once if another process has seen that it is whole", () => {
  writeFileSync(file, "server: { port: 1001 }\n");
  const watching = start();
  watching.applyChanged();
  expect(changes).toEqual([]);
  writeFileSync(file, "server: { port: 100002 }\n");
  watching.applyChanged();
  writeFileSync(file, "server: { port: 1002 }\n\n");
  watching.applyChanged();
  expect([problems.length, changes.map(({ server }) => server.port)]).toEqual([1, [1002]]);
});

test("H25: a change is applied whole, a bad file keeps the old one, a repaired file is applied", async () => {
  writeFileSync(file, "server: { port: 1001 }\n");
  start();
  writeFileSync(file, "server: { port: 1002 }\n");
  await until(() => changes.length === 1);
  expect(changes[0]?.server.port).toBe(1002);

  writeFileSync(file, "server: { port: 1003 }\nsimulatr: false\n");
  await until(() => problems.length === 1);
  expect(problems[0]?.message).toBe("trivium.yaml:2:1: simulatr is not a known field; did you mean simulator?");
  await awhile();
  expect(changes).toHaveLength(1);
  expect(problems).toHaveLength(1);

  writeFileSync(file, "server: { port: 1003 }\nsimulator: false\n");
  await until(() => changes.length === 2);
  expect(changes[1]).toMatchObject({ simulator: false, server: { port: 1003 } });
});

test("a file replaced by rename, and one whose symbolic link was swapped, are changes too", async () => {
  mkdirSync(join(folder, "one"));
  mkdirSync(join(folder, "two"));
  writeFileSync(join(folder, "one", "trivium.yaml"), "server: { port: 1001 }\n");
  writeFileSync(join(folder, "two", "trivium.yaml"), "server: { port: 1002 }\n");
  symlinkSync("one", join(folder, "current"));
  symlinkSync(join("current", "trivium.yaml"), file);
  start();
  symlinkSync("two", join(folder, "next"));
  renameSync(join(folder, "next"), join(folder, "current"));
  await until(() => changes.length === 1);
  expect(changes[0]?.server.port).toBe(1002);

  writeFileSync(join(folder, "draft"), "server: { port: 1003 }\n");
  renameSync(join(folder, "draft"), file);
  await until(() => changes.length === 2);
  expect(changes[1]?.server.port).toBe(1003);
});

test("docs/configuration.md, Variables: a secret that was replaced in its file is read again", async () => {
  const secret = join(folder, "secret");
  writeFileSync(secret, "the-first-of-two-secrets");
  writeFileSync(file, 'admin: { secret: "${file:secret}" }\n');
  start();
  await awhile();
  expect(changes).toEqual([]);
  writeFileSync(secret, "the-second-of-two-secrets");
  await until(() => changes.length === 1);
  expect(changes[0]?.admin.secret?.reveal()).toBe("the-second-of-two-secrets");
  rmSync(secret);
  await until(() => problems.length === 1);
  expect(problems[0]?.message).toContain("admin.secret refers to the file secret, which cannot be read");
});

test("H25: a file that disappears keeps the old configuration, and is a problem only on a requested reload", async () => {
  writeFileSync(file, "server: { port: 1001 }\n");
  const { reload } = start();
  rmSync(file);
  await awhile();
  expect([changes, problems]).toEqual([[], []]);
  reload();
  expect(changes).toEqual([]);
  expect(problems[0]?.message).toContain("the file no longer exists");
  writeFileSync(file, "server: { port: 1001 }\n");
  await until(() => changes.length === 1);
});

test("README, Configuration: a file made after a start without one is taken over, and may go and come again", async () => {
  const { reload } = start();
  reload();
  expect(changes.map((config) => config.file)).toEqual([undefined]);
  writeFileSync(file, "server: { prot: 1001 }\n");
  await until(() => problems.length === 1);
  writeFileSync(file, "server: { port: 1001 }\n");
  await until(() => changes.length === 2);
  expect(changes[1]).toMatchObject({ file, server: { port: 1001 } });
  rmSync(file);
  reload();
  expect(problems[1]?.message).toContain("the file no longer exists");
  writeFileSync(file, "server: { port: 1002 }\n");
  await until(() => changes.length === 3);
});

test("H25: a file that is written slowly is read when it is whole, and never before", async () => {
  writeFileSync(file, "server: { port: 1001 }\n");
  start();
  const lines = ["server: { port: 1002 }", "simulator: false", "data_dir: ./elsewhere", "storage: sqlite:./x.db"];
  writeFileSync(file, "");
  for (const line of lines) {
    await clock.pass(SETTLE_MS / 2);
    appendFileSync(file, `${line}\n`);
  }
  await until(() => changes.length === 1);
  expect(changes[0]).toMatchObject({ simulator: false, storage: `sqlite:${join(folder, "x.db")}` });
  expect(problems).toEqual([]);
});

describe("H25: what an accident removes from a file stays in use, unless its removal is asked for", () => {
  const KEYS = "keys: [ { name: a, key: sk-one-of-the-configuration } ]\n";
  const PROVIDERS = "providers: { simulator-b: { kind: mine } }\n";
  const cases: [string, string, string][] = [
    ["an empty file", "", "the file is empty; if this is intended, send SIGHUP"],
    ["nothing but comments", "# to be written\n", "the file is empty; if this is intended, send SIGHUP"],
    ["every key", PROVIDERS, "keys is missing, but had 1 before; if this is intended, write keys: [] or send SIGHUP"],
    [
      "a section of keys cut after its name",
      `${PROVIDERS}keys:\n`,
      "keys is missing, but had 1 before; if this is intended, write keys: [] or send SIGHUP",
    ],
    [
      "every provider",
      KEYS,
      "providers is missing, but had 1 before; if this is intended, write providers: {} or send SIGHUP",
    ],
  ];
  test.each(cases)("%s", async (_, text, message) => {
    writeFileSync(file, PROVIDERS + KEYS);
    const { reload } = start();
    writeFileSync(file, text);
    await until(() => problems.length === 1);
    expect(problems[0]?.message).toBe(`trivium.yaml:1:1: ${message}`);
    expect(changes).toEqual([]);
    reload();
    expect(changes).toHaveLength(1);
    expect(problems).toHaveLength(1);
  });

  test("explicitly empty sections, and a removed key, are applied", async () => {
    writeFileSync(
      file,
      `${PROVIDERS}keys: [ { name: a, key: sk-the-first-key-of-the-file }, { name: b, key: sk-the-second-key-of-the-file } ]\n`,
    );
    start();
    writeFileSync(file, PROVIDERS + KEYS);
    await until(() => changes.length === 1);
    writeFileSync(file, "providers: {}\nkeys: []\n");
    await until(() => changes.length === 2);
    expect(changes[1]).toMatchObject({ providers: [], keys: [] });
    expect(problems).toEqual([]);
  });
});

test("a burst of writes is not read write by write, and its last is what stays", async () => {
  writeFileSync(file, "server: { port: 1001 }\n");
  start();
  for (let port = 2001; port <= 2020; port++) {
    writeFileSync(file, `server: { port: ${port} }\n`);
    await fileTimesMoveOn();
    await clock.pass(20);
  }
  await until(() => changes.at(-1)?.server.port === 2020);
  expect(changes.length).toBeLessThan(5);
});

test("reload reads at once, also what the receiver refuses; an aborted watch stays silent", async () => {
  writeFileSync(file, "server: { port: 1001 }\n");
  const stop = new AbortController();
  start(stop.signal).reload();
  expect(changes.map((config) => config.server.port)).toEqual([1001]);

  const refusal = new ConfigError([{ file, line: 1, column: 1, message: "refused" }]);
  const refusing = watchConfig(
    load,
    () => {
      throw refusal;
    },
    (error) => problems.push(error),
    { clock },
  );
  refusing.reload();
  refusing.close();
  expect(problems).toEqual([refusal]);

  stop.abort();
  writeFileSync(file, "server: { port: 1002 }\n");
  await awhile();
  expect(changes).toHaveLength(1);
});
