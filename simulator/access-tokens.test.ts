import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSign, generateKeyPairSync } from "node:crypto";
import { type Simulator, startSimulator } from "./simulator.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const stranger = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;

let simulator: Simulator;
let nowMs = 1_800_000_000_000;

beforeAll(async () => {
  const tokenPublicKey = publicKey.export({ type: "spki", format: "pem" }).toString();
  simulator = await startSimulator({ tokenDelayMs: 0, tokenPublicKey, nowMs: () => nowMs });
});
afterAll(() => simulator.stop());

function assertion(
  change: Record<string, unknown> = {},
  header: object = { alg: "RS256", typ: "JWT" },
  key = privateKey,
): string {
  const now = Math.floor(nowMs / 1_000);
  const claims = {
    iss: "robot@project.iam.gserviceaccount.com",
    scope: "https://www.googleapis.com/auth/cloud-platform",
    aud: "https://oauth2.googleapis.com/token",
    iat: now,
    exp: now + 3_600,
    ...change,
  };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign(key, "base64url")}`;
}

async function grant(form: Record<string, string>): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${simulator.url}/vertex/token`, { method: "POST", body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer";

function post(token: string, verb: string, body: object): Promise<Response> {
  return fetch(`${simulator.url}/vertex/v1/projects/p/locations/global/publishers/google/models/standard:${verb}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
const generate = (token: string): Promise<Response> =>
  post(token, "generateContent", { contents: [{ role: "user", parts: [{ text: "hi" }] }] });
const predict = (token: string): Promise<Response> => post(token, "predict", { instances: [{ prompt: "a cat" }] });

describe("providers 1.4: service accounts on Vertex", () => {
  test("a good assertion gives a token that works for an hour and no longer", async () => {
    const { status, body } = await grant({ grant_type: grantType, assertion: assertion() });
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: "Bearer" });
    const token = String(body.access_token);
    for (const call of [generate, predict]) {
      expect((await call(token)).status).toBe(200);
      expect((await call("ya29.simulated-made-up")).status).toBe(401);
    }
    nowMs += 3_601_000;
    for (const call of [generate, predict]) expect((await call(token)).status).toBe(401);
  });

  test("each flaw of an assertion is refused", async () => {
    const now = Math.floor(nowMs / 1_000);
    const refusals: [string, string][] = [
      ["invalid_grant", assertion({}, { alg: "RS256" }, stranger)],
      ["invalid_grant", assertion({}, { alg: "HS256" })],
      ["invalid_grant", assertion({ iss: undefined })],
      ["invalid_grant", assertion({ aud: "https://example.org/" })],
      ["invalid_grant", assertion({ exp: now + 3_700 })],
      ["invalid_grant", assertion({ iat: now - 7_200, exp: now - 3_600 })],
      ["invalid_scope", assertion({ scope: "" })],
      ["invalid_grant", "not.a-jwt"],
      ["invalid_grant", "a.b.c"],
    ];
    for (const [error, text] of refusals) {
      expect(await grant({ grant_type: grantType, assertion: text })).toMatchObject({ status: 400, body: { error } });
    }
    expect(await grant({ grant_type: "password", assertion: assertion() })).toMatchObject({
      status: 400,
      body: { error: "unsupported_grant_type" },
    });
  });
});
