import { beforeEach, describe, expect, test } from "bun:test";
import { subjectId } from "../../src/access/people/subject-id.ts";
import { revokeSubject } from "../../src/access/people/subjects.ts";
import { createProject, updateProject } from "../../src/access/projects.ts";
import { asGatewayError } from "../../src/canon/error.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type ClaimChanges, TokenIssuer } from "../../testing/token-issuer.ts";

const ACTOR = { who: "test" };
const HERE = { address: "127.0.0.1" };
const DIALECTS = ["chat", "messages", "genai", "responses", "interactions"] as const;

let machine: Machine;
let issuer: TokenIssuer;
let harness: Harness;

const sections = (entry: Record<string, unknown> = {}) => ({
  ...modelsOfEveryDialect(UPSTREAM_URL),
  auth: { jwt: [{ issuer: issuer.url, audience: "trivium", project: "default", ...entry }] },
});
const start = (entry?: Record<string, unknown>): Promise<Harness> =>
  Harness.start({ machine, config: sections(entry), fetchIssuer: issuer.fetch });

beforeEach(async () => {
  machine = await makeMachine();
  issuer = await TokenIssuer.start(machine.clock.wallMs);
  harness = await start();
});

/** Signatures are checked in another thread, which a virtual clock takes for idle: each token is checked before it is used. */
async function signed(claims: ClaimChanges = {}, at = harness): Promise<string> {
  const token = await issuer.sign(claims);
  await checked(token, at);
  return token;
}

async function checked(token: string, at = harness): Promise<string> {
  try {
    await at.gateway.keys.identify(token, HERE);
    return "accepted";
  } catch (thrown) {
    const { kind, message } = asGatewayError(thrown);
    return `${kind}: ${message}`;
  }
}

const answers = (dialect: (typeof DIALECTS)[number] = "chat", at = harness) =>
  at.upstream.play(at.upstream.json(plainAnswer(dialect, { text: "hi", usage: plainUsage(dialect, 10, 20) })));
const call = async (token: string, at = harness): Promise<number> => {
  answers("chat", at);
  return (await at.call("chat", { key: token })).status;
};

describe("decision 0121: a token in place of a key", () => {
  test.each(DIALECTS)("calls models in %s, streamed or not, and the receipt names the subject", async (dialect) => {
    const token = await signed();
    answers(dialect);
    const whole = await harness.call(dialect, { key: token, model: `test/${dialect}` });
    expect(whole.status).toBe(200);
    harness.upstream.play(harness.upstream.stream(plainStream(dialect, ["h", "i"], plainUsage(dialect, 10, 20))));
    const streamed = await harness.call(dialect, { key: token, model: `test/${dialect}`, stream: true });
    expect(streamed.status).toBe(200);
    const rows = await harness.storage.query("SELECT * FROM receipts");
    expect(rows.map((row) => row["key_id"])).toEqual([subjectId(issuer.url, "alice"), subjectId(issuer.url, "alice")]);
    const written = JSON.stringify(rows) + JSON.stringify(await harness.storage.query("SELECT * FROM token_subjects"));
    for (const part of token.split(".")) expect(written).not.toContain(part);
    for (const { headers } of harness.upstream.requests)
      expect(JSON.stringify(headers)).not.toContain(token.slice(-20));
  });

  const BODY = { model: "test/chat", messages: [{ role: "user", content: "hi" }] };
  const REQUESTS: readonly [method: string, path: string, body?: object][] = [
    ["POST", "/api/v1/chat/completions", BODY],
    ["POST", "/v1/chat/completions", BODY],
    ["GET", "/v1/chat/completions"],
    ["GET", "/v1/models"],
    ["GET", "/api/v1/models"],
    ["GET", "/v1beta/models"],
    [
      "POST",
      "/api/genai/v1beta/models/test/genai:countTokens",
      { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    ],
    ["POST", "/v1/responses", { model: "test/responses", input: "hi" }],
    ["POST", "/v1/embeddings", { model: "test/chat", input: "hi" }],
    ["POST", "/v1/moderations", { input: "hi" }],
    ["POST", "/v1/completions", { model: "test/chat", prompt: "hi" }],
    ["POST", "/v1/images/generations", { model: "test/chat", prompt: "hi" }],
    ["GET", "/v1/responses/resp_none"],
    ["GET", "/v1/files"],
    ["GET", "/v1/files/file-none"],
    ["GET", "/v1beta/files"],
    ["GET", "/v1/batches"],
    ["GET", "/v1/messages/batches"],
    ["POST", "/v1/batches", { input_file_id: "file-none", endpoint: "/v1/chat/completions", completion_window: "24h" }],
    ["GET", "/v1beta/cachedContents"],
    ["GET", "/v1/videos"],
    ["POST", "/v1/conversations", {}],
    ["GET", "/api/v1/generation?id=rcp_none"],
    ["POST", "/v1/uploads", { purpose: "batch", filename: "a", bytes: 1, mime_type: "text/plain" }],
  ];
  for (const [method, path, body] of REQUESTS) {
    test(`is accepted wherever a key is: ${method} ${path}`, async () => {
      const token = await signed();
      answers();
      const statusWith = async (key: string) => (await harness.ask(method, path, key, body)).status;
      const withKey = await statusWith(TEST_KEY);
      answers();
      expect([await statusWith(token), withKey === 401]).toEqual([withKey, false]);
      expect(await statusWith(`${token}!`)).toBe(401);
    });
  }

  test.each(["authorization", "x-api-key", "x-goog-api-key"])("is accepted in the header %s", async (header) => {
    const token = await signed();
    const value = header === "authorization" ? `Bearer ${token}` : token;
    expect((await harness.get("/v1/files", { [header]: value })).status).toBe(200);
  });

  test("S06: its signature is checked once, and again for a token that differs in one character", async () => {
    const token = await signed();
    const asked = issuer.asked.length;
    for (let index = 0; index < 5; index++) expect(await call(token)).toBe(200);
    expect(issuer.asked.length).toBe(asked);
    expect(harness.gateway.keys.tokens.tracked).toEqual({ subjects: 1, tokens: 1 });
    const [head, payload, signature = ""] = token.split(".");
    const changed = `${head}.${payload}.${signature.slice(0, -2)}${signature.endsWith("AA") ? "BB" : "AA"}`;
    expect(await checked(changed)).toContain("unauthenticated");
    expect(await call(token)).toBe(200);
  });

  test("ends with its time, to the millisecond", async () => {
    const token = await signed({ exp: Math.floor(harness.clock.wallMs() / 1000) + 60 });
    await harness.clock.pass(89_000);
    expect(await call(token)).toBe(200);
    await harness.clock.pass(1_000);
    const answer = await harness.call("chat", { key: token });
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining("This token expired on 2026-")]);
  });

  test("may only use the models of its issuer, and its errors are in the caller's protocol", async () => {
    harness = await start({ models: ["test/messages"] });
    const token = await signed();
    const refused = await harness.call("chat", { key: token });
    expect([refused.status, JSON.parse(refused.text).error.type]).toEqual([403, "permission_error"]);
    const wrong = await harness.call("messages", { key: `eyJ${"a".repeat(20_000)}.x` });
    expect([wrong.status, JSON.parse(wrong.text)]).toMatchObject([401, { type: "error" }]);
  });

  test("of a project that does not exist, or is suspended or deleted, is refused with 403, and none is created", async () => {
    harness = await start({ project: undefined, project_claim: "team" });
    const token = await issuer.sign({ team: "blue" });
    expect(await checked(token)).toBe(
      'forbidden: The project "blue" of this token does not exist. The operator of this gateway creates projects with `trivium projects create`.',
    );
    expect(await harness.storage.query("SELECT id FROM projects WHERE id = 'blue'")).toEqual([]);
    const sources = { clock: harness.clock, random: machine.random };
    await createProject(harness.storage, { id: "blue" }, sources, ACTOR);
    await harness.gateway.keys.refresh();
    expect(await checked(token)).toBe("accepted");
    expect(await call(token)).toBe(200);
    await updateProject(harness.storage, "blue", { status: "suspended" }, sources, ACTOR);
    await harness.gateway.keys.refresh();
    expect(await call(token)).toBe(403);
    await updateProject(harness.storage, "blue", { status: "active" }, sources, ACTOR);
    await harness.gateway.keys.refresh();
    expect(await call(token)).toBe(200);
  });

  test("cannot make keys", async () => {
    const answer = await harness.post("/api/v1/keys", { name: "child" }, await signed());
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("A token cannot create keys")]);
  });

  test("a configured key that looks like a token is still that key", async () => {
    const key = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.x";
    harness = await Harness.start({ machine, config: { ...sections(), keys: [{ name: "odd", key }] } });
    expect(await call(key)).toBe(200);
  });

  test("without configured issuers is an unknown key", async () => {
    harness = await Harness.start({ machine, config: modelsOfEveryDialect(UPSTREAM_URL) });
    const answer = await harness.call("chat", { key: await issuer.sign() });
    expect([answer.status, issuer.asked]).toEqual([401, []]);
  });

  test("S17: a huge token is refused before it is read", async () => {
    const refused = await harness.ask("GET", "/v1/files", `eyJ.${"a".repeat(200_000)}.x`);
    expect([refused.status, refused.text]).toEqual([401, expect.stringContaining("more than 16384 characters")]);
    expect(issuer.asked).toEqual([]);
  });
});

describe("S09, decision 0121: what a subject stores", () => {
  const store = async (token: string) => {
    harness.upstream.play(
      harness.upstream.json(plainAnswer("responses", { text: "hi", usage: plainUsage("responses", 10, 20) })),
    );
    const made = await harness.post("/v1/responses", { model: "test/responses", input: "hi" }, token);
    return (JSON.parse(made.text) as { id: string }).id;
  };
  const read = async (id: string, token: string) => (await harness.ask("GET", `/v1/responses/${id}`, token)).status;

  test("belongs to the subject alone, whatever token it sends", async () => {
    const [alice, bob] = [await signed(), await signed({ sub: "bob" })];
    const id = await store(alice);
    expect([await read(id, alice), await read(id, await signed({ jti: "2" }))]).toEqual([200, 200]);
    expect([await read(id, bob), await read(id, TEST_KEY)]).toEqual([404, 404]);
  });

  test("belongs to the project if the configuration says so", async () => {
    harness = await start({ objects: "project" });
    const [alice, bob] = [await signed(), await signed({ sub: "bob" })];
    const id = await store(alice);
    expect([await read(id, bob), await read(id, TEST_KEY)]).toEqual([200, 200]);
  });
});

describe("H23, decision 0121: limits hold for each subject", () => {
  test("whatever token it sends, and other subjects have their own", async () => {
    harness = await start({ limits: { requests_per_minute: 3 } });
    const statuses: number[] = [];
    for (let index = 0; index < 5; index++) statuses.push(await call(await signed({ jti: String(index) })));
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect(await call(await signed({ sub: "bob" }))).toBe(200);
    const refused = await harness.call("chat", { key: await signed() });
    expect(refused.text).toContain('The key \\"alice\\"');
  });

  test("budgets survive a restart, and a race of a hundred calls with different tokens stays within them", async () => {
    // One call is 10 tokens at $1 and 20 at $2 per million.
    const limits = { budget_usd_total: 0.000_5 };
    harness = await start({ limits });
    harness.upstream.play(async (reply, request) => {
      await harness.clock.sleep(300);
      await harness.upstream.json(plainAnswer("chat", { text: "hi", usage: plainUsage("chat", 10, 20) }))(
        reply,
        request,
      );
    });
    const tokens = await Promise.all(Array.from({ length: 100 }, (_, index) => signed({ jti: String(index) })));
    const raced = tokens.map((key) => harness.send("chat", { key, body: { max_completion_tokens: 20 } }).answer);
    const ok = (await harness.clock.until(Promise.all(raced))).filter(({ status }) => status === 200).length;
    expect(ok).toBeGreaterThan(0);
    expect(ok * 50_000).toBeLessThanOrEqual(500_000);
    const left = 500_000 - ok * 50_000;
    harness = await start({ limits });
    const [row] = await harness.storage.query("SELECT SUM(cost_nano_usd) AS spent FROM receipts");
    expect(Number(row?.["spent"])).toBe(500_000 - left);
    await signed();
    const { meter } = harness.gateway.admissions.account("key", subjectId(issuer.url, "alice"));
    expect(meter.spent("total", harness.clock.wallMs())).toBe(ok * 50_000);
  });

  test("also count for the project and the gateway", async () => {
    const config = { ...sections(), limits: { requests_per_minute: 2 } };
    harness = await Harness.start({ machine, config, fetchIssuer: issuer.fetch });
    const statuses = [];
    for (const sub of ["a", "b", "c"]) statuses.push(await call(await signed({ sub })));
    expect(statuses).toEqual([200, 200, 429]);
  });
});

describe("H44, decision 0121: revocation of a subject", () => {
  const revoke = (untilMs = harness.clock.wallMs()) =>
    revokeSubject(
      harness.storage,
      { issuer: issuer.url, subject: "alice" },
      Math.floor(untilMs),
      { clock: harness.clock, random: machine.random },
      ACTOR,
    );

  test("refuses all tokens issued until then, and none that were issued later, at every instance", async () => {
    const other = await start();
    const [first, second, bob] = [await signed(), await signed({ jti: "2" }), await signed({ sub: "bob" })];
    await checked(first, other);
    await revoke();
    await harness.gateway.keys.refresh();
    await other.gateway.keys.refresh();
    for (const at of [harness, other]) {
      expect(await checked(first, at)).toContain("unauthenticated: This token has been revoked");
      expect(await checked(second, at)).toContain("has been revoked");
      expect(await checked(bob, at)).toBe("accepted");
    }
    expect(await call(first)).toBe(401);
    await harness.clock.pass(1_000);
    const later = await signed();
    expect(await call(later)).toBe(200);
    expect([await checked(later, other), await call(first)]).toEqual(["accepted", 401]);
  });

  test("is read at the start, and an earlier one cannot undo it", async () => {
    const token = await signed();
    await revoke();
    await revoke(harness.clock.wallMs() - 60_000);
    const restarted = await start();
    expect(await checked(token, restarted)).toContain("has been revoked");
  });

  test("reaches a running instance within a fifth of a second", async () => {
    const token = await signed();
    const stop = harness.gateway.changes.start();
    await revoke();
    await harness.clock.pass(201);
    expect(await checked(token)).toContain("has been revoked");
    stop();
  });

  test("cannot be evaded with a token without a time of issue, or with one from the future", async () => {
    const nowSeconds = Math.floor(harness.clock.wallMs() / 1000);
    const [timeless, early] = [await signed({ iat: undefined }), await signed({ iat: nowSeconds + 25 })];
    await harness.clock.pass(10_000);
    await revoke();
    await harness.gateway.keys.refresh();
    expect(await checked(timeless)).toContain("has been revoked");
    expect(await checked(early)).toContain("has been revoked");
    await harness.clock.pass(20_000);
    expect(await checked(await issuer.sign({ iat: undefined }))).toContain("has been revoked");
  });

  test("works at once in this process while the storage is unavailable, and is written once it is back", async () => {
    const token = await signed();
    const { tokens } = harness.gateway.keys;
    const heard: string[] = [];
    tokens.onRevokedHere = (id) => heard.push(id);
    const alice = { issuer: issuer.url, subject: "alice" };
    tokens.revokeHere(alice, harness.clock.wallMs());
    tokens.writeLater(alice, harness.clock.wallMs(), ACTOR);
    expect(await checked(token)).toContain("has been revoked");
    expect(heard).toEqual([subjectId(issuer.url, "alice")]);
    await tokens.look();
    const restarted = await start();
    expect(await checked(token, restarted)).toContain("has been revoked");
  });
});

describe("live connections", () => {
  const create = {
    type: "response.create",
    model: "test/responses",
    input: "hi",
    max_output_tokens: 100,
    store: false,
  };
  const turn = async (client: Awaited<ReturnType<Harness["openLive"]>>) => {
    harness.upstream.play(
      harness.upstream.stream(plainStream("responses", ["h", "i"], plainUsage("responses", 10, 20))),
    );
    client.say(create);
    await client.hears("response.completed");
  };
  const watch = () => harness.context.live;

  test("open with a token, and end when it expires, after the turn in progress", async () => {
    const key = await signed({ exp: Math.floor(harness.clock.wallMs() / 1000) + 60 });
    const client = await harness.openLive("/v1/responses", { key });
    await turn(client);
    expect(watch().open).toBe(1);
    await harness.clock.pass(88_000);
    expect(client.closed).toBeUndefined();
    await harness.clock.pass(3_000);
    expect(client.closed).toEqual({ code: 1008, reason: expect.stringContaining("has been revoked or has expired") });
  });

  test("end within a second when the subject is revoked", async () => {
    const client = await harness.openLive("/v1/responses", { key: await signed() });
    await turn(client);
    harness.gateway.keys.tokens.hearRevoked(subjectId(issuer.url, "alice"), harness.clock.wallMs());
    await harness.clock.pass(1_100);
    expect(client.closed?.code).toBe(1008);
  });

  test("end when the configuration accepts the issuer no longer", async () => {
    const client = await harness.openLive("/v1/responses", { key: await signed() });
    harness.gateway.keys.reconfigure(harness.gateway.keys.configured, {}, []);
    await harness.clock.pass(1_100);
    expect(client.closed?.code).toBe(1008);
  });

  test("continue although the token has left the memory", async () => {
    const client = await harness.openLive("/v1/responses", { key: await signed() });
    harness.gateway.keys.reconfigure(harness.gateway.keys.configured, {}, [
      { issuer: issuer.url, audience: "trivium", project: "default", models: ["*"], limits: {} },
    ]);
    expect(harness.gateway.keys.tokens.tracked.tokens).toBe(0);
    await harness.clock.pass(2_000);
    expect(client.closed).toBeUndefined();
  });
});

describe("H20: tokens in memory", () => {
  test("is forgotten when it is idle, but not while something of the subject is reserved", async () => {
    const { keys, admissions } = harness.gateway;
    await signed();
    await signed({ sub: "bob" });
    const release = admissions.hold({ keyId: subjectId(issuer.url, "bob"), project: "default" }, 1);
    await keys.tokens.look();
    expect(keys.tokens.tracked).toEqual({ subjects: 2, tokens: 2 });
    await harness.clock.pass(16 * 60_000);
    await keys.tokens.look();
    expect(keys.tokens.tracked).toEqual({ subjects: 1, tokens: 0 });
    release(0, 0);
    await harness.clock.pass(60_000);
    await keys.tokens.look();
    expect(keys.tokens.tracked).toEqual({ subjects: 0, tokens: 0 });
  });

  test("work that a subject has started continues after a restart, and not after its revocation", async () => {
    await signed();
    await harness.gateway.keys.tokens.look();
    const id = subjectId(issuer.url, "alice");
    const payer = { keyId: id, project: "default" };
    const restarted = await start({ limits: { requests_per_minute: 7 } });
    const { keys } = restarted.gateway;
    expect(keys.current(payer)).toBeUndefined();
    expect(await keys.recall(payer)).toMatchObject({ keyId: id, project: "default", limits: { requestsPerMinute: 7 } });
    expect(keys.levels().some((level) => level.id === id)).toBe(true);
    keys.tokens.hearRevoked(id, restarted.clock.wallMs());
    expect(await keys.recall(payer)).toBeUndefined();
    expect(await keys.recall({ ...payer, keyId: subjectId(issuer.url, "nobody") })).toBeUndefined();
  });
});
