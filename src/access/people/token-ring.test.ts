import { beforeEach, describe, expect, test } from "bun:test";
import { openMemoryStorage } from "../../../testing/memory-storage.ts";
import { VirtualClock } from "../../../testing/virtual-clock.ts";
import { system } from "../../base/system.ts";
import { asGatewayError } from "../../canon/error.ts";
import type { Storage } from "../../storage/storage.ts";
import { KeyRing } from "../key-ring.ts";
import type { TokenIssuerSettings, TokenVerifier, VerifiedToken } from "./verified-token.ts";

const HERE = { address: "127.0.0.1" };
const ISSUER = "https://issuer.test";

let clock: VirtualClock;
let storage: Storage;
let terms: TokenIssuerSettings;
let checks: string[];
/** What a check waits for. */
let gate: Promise<void> | undefined;
let ring: KeyRing;

/** Takes any token, whose second part is the subject. */
const verifier: TokenVerifier = {
  isConfigured: true,
  issuers: [ISSUER],
  termsOf: (issuer) => (issuer === terms.issuer ? terms : undefined),
  reconfigure: ([first]) => {
    if (first !== undefined) terms = first;
  },
  verify: async (token): Promise<VerifiedToken> => {
    const then = terms;
    checks.push(token);
    await gate;
    const subject = token.split(".")[1] ?? "";
    const nowMs = clock.wallMs();
    const times = { issuedAtMs: nowMs, expiresAtMs: nowMs + 3_600_000 };
    return { subject, project: then.project ?? "", name: subject, user: undefined, ...times, terms: then };
  },
};

const settings = (changes: Partial<TokenIssuerSettings> = {}): TokenIssuerSettings => ({
  issuer: ISSUER,
  audience: "trivium",
  project: "red",
  models: ["*"],
  limits: {},
  ...changes,
});

beforeEach(async () => {
  clock = new VirtualClock();
  storage = await openMemoryStorage(system.clock);
  terms = settings();
  checks = [];
  gate = undefined;
  const staticKeys = ["red", "blue"].map((project) => ({
    name: project,
    project,
    models: ["*"],
    key: `key-of-${project}`,
  }));
  ring = await KeyRing.open({ ...system, clock, storage, staticKeys, verifier });
});

const identify = async (token: string) => ring.identify(token, HERE);

describe("H20, S18: tokens in memory", () => {
  test("are at most twenty thousand; the least recently used are checked again, without much work for each", async () => {
    const began = process.cpuUsage();
    for (let index = 0; index < 40_000; index++) await identify(`ey.alice.${index}`);
    const { user, system: kernel } = process.cpuUsage(began);
    expect((user + kernel) / 40_000).toBeLessThan(500);
    const { subjects, tokens } = ring.tokens.tracked;
    expect([subjects, tokens > 10_000, tokens <= 20_000]).toEqual([1, true, true]);
    checks.length = 0;
    await identify("ey.alice.39999");
    expect(checks).toEqual([]);
    await identify("ey.alice.0");
    expect(checks).toEqual(["ey.alice.0"]);
  });

  test("that are in use stay, however many others come", async () => {
    await identify("ey.alice.busy");
    for (let index = 0; index < 30_000; index++) {
      await identify(`ey.bob.${index}`);
      if (index % 5_000 === 0) await identify("ey.alice.busy");
    }
    expect(checks.filter((token) => token === "ey.alice.busy").length).toBe(1);
  });
});

describe("decision 0121: checks of signatures", () => {
  test("of one token at the same time are one check", async () => {
    const principals = await Promise.all(Array.from({ length: 50 }, () => identify("ey.alice.1")));
    expect([checks.length, new Set(principals).size]).toEqual([1, 1]);
    expect(ring.identify("ey.alice.1", HERE)).not.toBeInstanceOf(Promise);
  });

  test("are at most a thousand at a time; more tokens get 503, and known ones and keys are not affected", async () => {
    await identify("ey.known.1");
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    const waiting = Array.from({ length: 1_000 }, (_, index) => identify(`ey.alice.${index}`));
    const refused = await identify("ey.alice.more").catch(asGatewayError);
    expect(refused).toMatchObject({ kind: "overloaded", retryAfterSeconds: 1 });
    expect(await identify("ey.known.1")).toMatchObject({ keyName: "known" });
    expect(await identify("key-of-red")).toMatchObject({ keyName: "red" });
    resolve();
    expect((await Promise.all(waiting)).length).toBe(1_000);
    expect(await identify("ey.alice.more")).toMatchObject({ keyName: "alice" });
  });

  test("that a reload overtakes are repeated under the new configuration", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    const checked = identify("ey.alice.1");
    ring.reconfigure(ring.configured, {}, [settings({ project: "blue", limits: { requestsPerMinute: 5 } })]);
    resolve();
    expect(await checked).toMatchObject({ project: "blue", limits: { requestsPerMinute: 5 } });
    expect(checks.length).toBe(2);
  });

  test("that fail are not remembered, and what they leave behind is nothing", async () => {
    gate = Promise.reject(new Error("down"));
    await expect(identify("ey.alice.1")).rejects.toThrow("down");
    gate = undefined;
    expect(await identify("ey.alice.1")).toMatchObject({ keyName: "alice" });
  });
});

test("H21: many new subjects are written in pieces, so that no write keeps calls waiting for long", async () => {
  for (let index = 0; index < 1_200; index++) await identify(`ey.user-${index}.1`);
  const count = async () => Number((await storage.query("SELECT COUNT(*) AS n FROM token_subjects"))[0]?.["n"]);
  const counts: number[] = [];
  for (let look = 0; look < 4; look++) {
    await ring.tokens.look();
    counts.push(await count());
  }
  expect(counts).toEqual([500, 1_000, 1_200, 1_200]);
});

test("H21, H29: a subject is admitted while the storage is unavailable, and written when it is back", async () => {
  const away: Storage = {
    engine: storage.engine,
    query: (...statement) => storage.query(...statement),
    transaction: (work, limitMs) => storage.transaction(work, limitMs),
    runForEach: () => Promise.reject(new Error("away")),
    changeStamp: () => storage.changeStamp(),
    close: () => storage.close(),
  };
  const staticKeys = [{ name: "red", project: "red", models: ["*"], key: "key-of-red" }];
  const alone = await KeyRing.open({ ...system, clock, storage: away, staticKeys, verifier });
  expect(await alone.identify("ey.alice.1", HERE)).toMatchObject({ keyName: "alice" });
  await expect(alone.tokens.writeUsed()).rejects.toThrow("away");
  expect(await storage.query("SELECT id FROM token_subjects")).toEqual([]);
  await identify("ey.bob.1");
  await ring.tokens.look();
  expect(await storage.query("SELECT subject, project FROM token_subjects")).toEqual([
    { subject: "bob", project: "red" },
  ]);
});
