import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { scriptedModels } from "../testing/scripted-models.ts";
import { callGateway } from "./support/client-calls.ts";
import { type ScriptedUpstream, sendJson, startScriptedUpstream } from "./support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const APP = "https://app.example";
let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const server = { drain_seconds: 0, cors: [APP] };
  gateway = await startTestGateway({ config: { ...scriptedModels(upstream.url), server } });
  const message = { role: "assistant", content: "hello" };
  const answer = { id: "1", object: "chat.completion", choices: [{ index: 0, finish_reason: "stop", message }] };
  upstream.play((_request, response) => void sendJson(response, answer));
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const corsHeaders = (response: Response) =>
  [...response.headers.keys()].filter((name) => name.startsWith("access-control"));

describe("S11: server.cors", () => {
  const ask = (origin: string, path = "/v1/chat/completions") =>
    fetch(gateway.url + path, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,x-stainless-lang,anthropic-version",
      },
    });

  test("a page of a listed origin may send preflights, call, and read the headers of all protocols", async () => {
    for (const path of ["/v1/chat/completions", "/v1/messages", "/v1beta/models/test/genai:generateContent"]) {
      const preflight = await ask(APP, path);
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-origin")).toBe(APP);
      expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
      expect(preflight.headers.get("access-control-allow-headers")).toContain("x-stainless-lang");
      expect(preflight.headers.get("vary")).toContain("Origin");
    }
    const response = await callGateway(gateway.url, "chat", gateway.key, { headers: { origin: APP } });
    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBe(APP);
    for (const name of ["x-trivium-receipt", "x-request-id", "request-id", "retry-after"]) {
      expect(response.headers.get("access-control-expose-headers")).toContain(name);
    }
    const refused = await callGateway(gateway.url, "chat", "wrong", { headers: { origin: APP } });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, APP]);
  });

  test("a page of any other origin may not, and the error says what to configure; without an origin nothing changes", async () => {
    for (const origin of ["https://evil.example", "http://app.example", "https://app.example:444", "null"]) {
      const preflight = await ask(origin);
      expect([preflight.status, corsHeaders(preflight)]).toEqual([403, []]);
      expect(await preflight.text()).toContain("Add it to server.cors in trivium.yaml.");
      const call = await callGateway(gateway.url, "chat", gateway.key, { headers: { origin } });
      expect([call.status, corsHeaders(call)]).toEqual([403, []]);
    }
    expect(corsHeaders(await callGateway(gateway.url, "chat", gateway.key))).toEqual([]);
  });

  test("the Admin API is not affected", async () => {
    const headers = { origin: APP, authorization: `Bearer ${gateway.adminSecret}` };
    const response = await fetch(`${gateway.adminUrl}/api/keys`, { headers });
    expect([response.status, corsHeaders(response)]).toEqual([403, []]);
  });
});

test("S11: the error for a foreign Host names the field to set", async () => {
  const host = "host.docker.internal:8787";
  const server = await fetch(`${gateway.url}/v1/models`, { headers: { host } });
  expect([server.status, await server.text()]).toEqual([
    403,
    expect.stringContaining(
      'Host header \\"host.docker.internal:8787\\" is not allowed. Set server.public_url (or server.host) in trivium.yaml.',
    ),
  ]);
  const admin = await fetch(`${gateway.adminUrl}/api/keys`, { headers: { host } });
  expect(await admin.text()).toContain("Set admin.public_url (or admin.host) in trivium.yaml.");
});

describe("GET and HEAD /", () => {
  test("lists the base URLs for programs and for people", async () => {
    const json = await fetch(`${gateway.url}/`);
    expect([json.status, await json.json()]).toMatchObject([
      200,
      { name: "Trivium", base_urls: { openai: `${gateway.url}/v1`, anthropic: gateway.url, google: gateway.url } },
    ]);
    const page = await fetch(`${gateway.url}/`, { headers: { accept: "text/html,application/xhtml+xml" } });
    expect(page.headers.get("content-type")).toStartWith("text/html");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).toContain(`<code>${gateway.url}/v1</code>`);
  });

  test.each(["/", "/healthz", "/readyz", "/openapi.json", "/v1/models", "/v1beta/models"])(
    "HEAD %s returns no body",
    async (path) => {
      const response = await fetch(gateway.url + path, { method: "HEAD" });
      expect([response.status, await response.text()]).toEqual([200, ""]);
    },
  );
});
