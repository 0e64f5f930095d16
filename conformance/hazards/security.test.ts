import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { inspect } from "node:util";
import { readConfig } from "../../src/app/read-config.ts";
import { ADMIN_ROUTES } from "../../src/server/admin/routes.ts";
import { ROUTES } from "../../src/server/routes.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript } from "../../testing/wires/responses-wire.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import {
  type ScriptedUpstream,
  type SeenRequest,
  sendJson,
  startEvents,
  startScriptedUpstream,
} from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: TestGateway;
/** A gateway that sends a stream's headers before any upstream here has sent content. */
let hasty: TestGateway;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await startTestGateway({ config: modelsOfEveryDialect(upstream.url) });
  hasty = await startTestGateway({ config: modelsOfEveryDialect(upstream.url), timings: { commitDeadlineMs: 0 } });
});
afterAll(async () => {
  await hasty.stop();
  await gateway.stop();
  await upstream.stop();
});

describe("S04: one route table, access on every route, default deny", () => {
  test("every route that costs money or shows data needs a key, every admin route the secret", () => {
    const open = ROUTES.filter(({ access }) => access === "open").map(({ path }) => String(path));
    for (const path of open) expect(path).toMatch(/models|healthz|readyz|openapi|^\/$/);
    const ofAdmin = ADMIN_ROUTES.filter(({ roles }) => roles === "open").map(({ method, path }) => `${method} ${path}`);
    // Without a session nobody could log in: at an issuer by the last three, which show only whether one is configured.
    const login = [
      "POST /api/session",
      "GET /api/session/ways",
      "GET /api/session/oidc",
      "GET /api/session/oidc/callback",
    ];
    expect(ofAdmin.toSorted()).toEqual(["GET /healthz", "GET /readyz", "GET /openapi.json", ...login].toSorted());
  });

  test("no spelling of a path reaches a handler without its check", async () => {
    for (const path of [
      "/api/v1/chat/completions",
      "//api/v1/chat/completions",
      "/api/v1/chat/completions/",
      "/api/v1/../v1/chat/completions",
      "/api/v1/chat%2Fcompletions",
      "/API/V1/chat/completions",
      "/api/v1/chat/completions;a=b",
      "/api/v1/responses",
      "//v1/responses",
      "/v1/responses/",
      "/api/v1/responses/input_tokens",
      "/v1/responses/compact",
      "/v1/responses/resp_1/cancel",
      "/api/msg/v1/messages",
      "/api/genai/v1/publishers/test/models/genai:generateContent",
      "/v1beta/models/test/genai:streamGenerateContent",
      "/api/v1/generation?id=x",
    ]) {
      const method = path.includes("generation") ? "GET" : "POST";
      const response = await fetch(gateway.url + path, {
        method,
        headers: { "content-type": "application/json", "partner-version": "2023-06-01" },
        ...(method === "POST"
          ? {
              body: '{"model":"test/chat","messages":[{"role":"user","content":"x"}],"contents":[{"parts":[{"text":"x"}]}],"input":"x","max_tokens":1}',
            }
          : {}),
      });
      expect([401, 404]).toContain(response.status);
      await response.body?.cancel();
    }
    expect(upstream.seen.length).toBe(0);
  });
});

describe("S04: the path is served exactly as written", () => {
  /** The status of the response to bytes that no HTTP client would send. */
  const statusOf = async (head: string): Promise<number> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const { hostname, port } = new URL(gateway.url);
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: { data: (_, bytes) => resolve(`${bytes}`) },
    });
    socket.write(`${head}\r\n\r\n`);
    const status = Number((await promise).split(" ")[1]);
    socket.end();
    return status;
  };

  test.each([
    ["GET /healthz HTTP/1.0", 200],
    ["GET /healthz?deep=//x/y HTTP/1.0", 200],
    ["GET /x/healthz HTTP/1.0", 404],
    ["GET //x/healthz HTTP/1.0", 404],
    ["GET /x/api/v1/models HTTP/1.0", 404],
    ["GET /healthz HTTP/1.1\r\nHost: ", 200],
    ["GET /x/healthz HTTP/1.1\r\nHost: ", 404],
    ["GET /x/healthz HTTP/1.1\r\nHost: 127.0.0.1", 404],
    ["GET /healthz HTTP/1.1\r\nHost: 127.0.0.1", 200],
  ])("%p returns %d", async (head, status) => {
    expect(await statusOf(head)).toBe(status);
  });
});

test("S07: nothing in a call changes where the provider's key goes", async () => {
  upstream.play(
    (_request, response) =>
      void sendJson(response, {
        id: "x",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
      }),
  );
  let stolen = 0;
  const thief = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      stolen++;
      return new Response("{}");
    },
  });
  const thiefUrl = `http://127.0.0.1:${thief.port}`;
  await callGateway(gateway.url, "chat", gateway.key, {
    body: {
      base_url: thiefUrl,
      api_base: thiefUrl,
      provider: { base_url: thiefUrl, api_key: "x" },
      extra_body: { base_url: thiefUrl },
    },
    headers: {
      "x-base-url": thiefUrl,
      "x-portkey-custom-host": thiefUrl,
      "helicone-target-url": thiefUrl,
      "x-forwarded-host": thiefUrl,
    },
  });
  expect(stolen).toBe(0);
  expect(upstream.seen[0]?.headers["authorization"]).toBe("Bearer upstream-secret-chat");
  expect(JSON.stringify(upstream.seen[0]?.headers)).not.toContain(gateway.key);
  // A redirect of the upstream is not followed with the key either.
  upstream.play((_request, response) => void response.writeHead(307, { location: thiefUrl }).end());
  expect((await callGateway(gateway.url, "chat", gateway.key)).status).toBe(502);
  expect(stolen).toBe(0);
  await thief.stop(true);
});

describe("S08: the admin listener is closed without the secret", () => {
  test("every admin endpoint refuses strangers and API keys, and accepts the secret", async () => {
    for (const [method, path] of [
      ["GET", "/api/keys"],
      ["POST", "/api/keys"],
      ["DELETE", "/api/keys/x"],
      ["GET", "/api/providers"],
      ["GET", "/api/usage"],
      ["GET", "/readyz?detail"],
      ["GET", "/readyz?verbose"],
    ] as const) {
      for (const authorization of [
        undefined,
        "",
        "Bearer ",
        "Bearer wrong",
        `Bearer ${gateway.key}`,
        gateway.adminSecret,
      ]) {
        const response = await fetch(gateway.adminUrl + path, {
          method,
          ...(authorization === undefined ? {} : { headers: { authorization } }),
        });
        expect(response.status).toBe(401);
      }
    }
    const response = await fetch(`${gateway.adminUrl}/api/keys`, {
      headers: { authorization: `Bearer ${gateway.adminSecret}` },
    });
    expect(response.status).toBe(200);
    expect(
      (await fetch(`${gateway.url}/api/keys`, { headers: { authorization: `Bearer ${gateway.adminSecret}` } })).status,
    ).toBe(404);
  });

  test("S21: wrong credentials are slowed down, but right ones from the same address are not", async () => {
    const fresh = await startTestGateway();
    const ask = (base: string, path: string, key: string) =>
      fetch(base + path, { headers: { authorization: `Bearer ${key}` } });
    for (const [base, path, right] of [
      [fresh.url, "/api/v1/generation?id=none", fresh.key],
      [fresh.adminUrl, "/api/keys", fresh.adminSecret],
    ] as const) {
      const wrong = Array.from({ length: 100 }, () => ask(base, path, "a-guess-at-the-secret"));
      for (const response of await Promise.all(wrong)) expect(response.status).toBe(401);
      const order: string[] = [];
      const guess = ask(base, path, "a-guess-at-the-secret").then(() => order.push("wrong"));
      expect((await ask(base, path, right)).status).not.toBe(401);
      order.push("right");
      await guess;
      expect(order).toEqual(["right", "wrong"]);
    }
    await fresh.stop();
  });

  test("a first start without a secret creates one, prints it once, and stores only its digest", async () => {
    const fresh = await startTestGateway({ config: { admin: { host: "127.0.0.1", port: 0 }, keys: [] } });
    const { adminSecret = "", apiKey = "" } = fresh.app.firstStart;
    expect(adminSecret.length).toBeGreaterThan(40);
    expect(apiKey).toMatch(/^sk-trv-.{43}$/);
    expect((await fetch(`${fresh.adminUrl}/api/keys`)).status).toBe(401);
    expect(
      (await fetch(`${fresh.adminUrl}/api/keys`, { headers: { authorization: `Bearer ${adminSecret}` } })).status,
    ).toBe(200);
    const entries = readdirSync(`${fresh.folder}/data`, { recursive: true, withFileTypes: true });
    for (const { parentPath, name } of entries.filter((entry) => entry.isFile())) {
      const bytes = readFileSync(`${parentPath}/${name}`, "latin1");
      expect(bytes).not.toContain(adminSecret);
      expect(bytes).not.toContain(apiKey);
    }
    await fresh.stop();
  });
});

/** The key that a request of the gateway carried, and its dialect. */
function echoed({ headers, path }: SeenRequest): { key: string; dialect: ScriptedDialect } {
  if (headers["x-api-key"] !== undefined) return { key: String(headers["x-api-key"]), dialect: "messages" };
  if (headers["x-goog-api-key"] !== undefined) return { key: String(headers["x-goog-api-key"]), dialect: "genai" };
  const key = String(headers["authorization"]).replace("Bearer ", "");
  return { key, dialect: path.endsWith("/responses") ? "responses" : "chat" };
}

const errorObject = (message: string, more: object = {}) => ({
  type: "error",
  error: { type: "invalid_request_error", code: 400, message, ...more },
});

const errorEvent = (message: string) => wire.event(errorObject(message));

function sendEvents(response: ServerResponse, text: string): void {
  startEvents(response);
  response.end(text);
}

const script = new ResponsesScript();
const firstContent = {
  chat: wire.chatChunk({ role: "assistant", content: "hello" }),
  messages: wire.messageStart() + wire.textBlock("hello"),
  genai: wire.genaiChunk("hello"),
  responses: script.begin() + script.delta("hello"),
};

interface Echo {
  way: string;
  /** `begun`: the clients have the head of their response. */
  play: (response: ServerResponse, key: string, dialect: ScriptedDialect, begun: Promise<void>) => unknown;
  stream?: true;
  /** The gateway has committed to a stream before the upstream fails. */
  late?: true;
  /** If the key was in fields that clients of another dialect do not get. */
  reported?: RegExp;
}

const echoes: readonly Echo[] = [
  { way: "a key in an error", play: (response, key) => sendJson(response, errorObject(`not ${key}`), 400) },
  { way: "a key in an error under HTTP 200", play: (response, key) => sendJson(response, errorObject(`not ${key}`)) },
  {
    way: "a key in an error's code, field and details",
    play: (response, key) =>
      sendJson(
        response,
        errorObject("mind", { code: `c-${key}`, param: key, details: { [key]: [{ deep: `not ${key}` }] } }),
        400,
      ),
    reported: /error/,
  },
  {
    way: "what a cut at 2000 characters leaves of a key",
    play: (response, key) => sendJson(response, errorObject("x".repeat(1985) + key), 400),
    reported: /x{1985}\[secret\]"/,
  },
  {
    way: "a key in the JSON that answers for a stream",
    play: (response, key) => sendJson(response, errorObject(`not ${key}`)),
    stream: true,
  },
  {
    way: "a key in a stream's first event",
    play: (response, key) => sendEvents(response, errorEvent(`not ${key}`)),
    stream: true,
  },
  {
    way: "a key in a stream's first event, after the commit",
    play: async (response, key, _dialect, begun) => {
      startEvents(response);
      await begun;
      response.end(errorEvent(`not ${key}`));
    },
    stream: true,
    late: true,
  },
  {
    way: "a key in an event after the first content",
    play: async (response, key, dialect, begun) => {
      startEvents(response);
      response.write(firstContent[dialect]);
      await begun;
      response.end(errorEvent(`not ${key}`));
    },
    stream: true,
  },
];

describe("S10: the gateway's own secrets are never exposed", () => {
  test("an upstream that echoes the key in an error or a header does not expose it to the client", async () => {
    for (const status of [400, 401, 429, 500]) {
      upstream.play((request, response) => {
        const key = String(
          request.headers["authorization"] ?? request.headers["x-api-key"] ?? request.headers["x-goog-api-key"],
        ).replace("Bearer ", "");
        sendJson(
          response,
          {
            type: "error",
            error: { type: "invalid_request_error", code: status, message: `Incorrect key provided: ${key}` },
          },
          status,
          { "x-secret-echo": key, "set-cookie": "a=b", "openai-organization": "org-internal" },
        );
      });
      for (const dialect of SCRIPTED_DIALECTS) {
        const response = await callGateway(gateway.url, dialect, gateway.key);
        const everything = JSON.stringify([...response.headers]) + (await response.text());
        expect(everything).not.toContain("upstream-secret");
        expect(everything).not.toContain("org-internal");
        expect(response.headers.has("set-cookie")).toBe(false);
        expect(response.status).not.toBe(401);
      }
    }
  });

  test.each(echoes)("choices 4: $way does not reach a client, whichever protocol either side speaks", async (echo) => {
    const begun = Promise.withResolvers<void>();
    upstream.play(async (request, response) => {
      const { key, dialect } = echoed(request);
      await echo.play(response, key, dialect, begun.promise);
    });
    const at = echo.late ? hasty : gateway;
    const lanes = SCRIPTED_DIALECTS.flatMap((client) => SCRIPTED_DIALECTS.map((host) => [client, host] as const));
    const stream = echo.stream === true;
    const calls = lanes.map(([client, host]) => callGateway(at.url, client, at.key, { model: `test/${host}`, stream }));
    // The head of a Gemini stream leaves with its first event.
    await Promise.all(calls.filter((_, index) => lanes[index]?.[0] !== "genai"));
    begun.resolve();
    const responses = await Promise.all(calls);
    for (const [index, response] of responses.entries()) {
      const shown = `${lanes[index]?.join(" of ")}: ${await response.text()}`;
      expect(shown).not.toContain("upstream-sec");
      expect(shown).toMatch(echo.reported ?? /error.*\[secret\]/s);
    }
  });

  test("choices 4: a wrong key at the provider is never a 401 for the client", async () => {
    upstream.play(
      (_request, response) =>
        void sendJson(
          response,
          { error: { message: "Incorrect API key", type: "invalid_request_error", code: "invalid_api_key" } },
          401,
        ),
    );
    const error = await errorOf(await callGateway(gateway.url, "chat", gateway.key));
    expect(error).toMatchObject({ status: 502, type: "api_error" });
    expect(error.raw).toContain("upstream_credentials");
  });

  test("printing a configuration never shows its secrets", () => {
    const config = readConfig({ configPath: gateway.configFile, cwd: gateway.folder, environment: {} });
    for (const text of [JSON.stringify(config), inspect(config, { depth: 9 }), `${config.providers?.[0]?.apiKey}`]) {
      expect(text).not.toContain("upstream-secret");
      expect(text).not.toContain(gateway.key);
    }
  });
});

describe("S11: web pages cannot spend a local key", () => {
  test("a rebound host name and a foreign origin are rejected, and no CORS header is sent", async () => {
    const get = (headers: Record<string, string>) => fetch(`${gateway.url}/api/v1/models`, { headers });
    expect((await get({ host: "evil.example:80" })).status).toBe(403);
    expect((await get({ origin: "https://evil.example" })).status).toBe(403);
    expect((await get({ origin: "null" })).status).toBe(403);
    expect((await get({ origin: "http://localhost:3000" })).status).toBe(200);
    expect(
      (
        await fetch(`${gateway.adminUrl}/api/keys`, {
          headers: { origin: "https://evil.example", authorization: `Bearer ${gateway.adminSecret}` },
        })
      ).status,
    ).toBe(403);
    const preflight = await fetch(`${gateway.url}/api/v1/chat/completions`, {
      method: "OPTIONS",
      headers: { origin: "https://evil.example" },
    });
    for (const response of [preflight, await get({})]) {
      expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });
});
