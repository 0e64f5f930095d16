import { afterAll, expect } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { DIALECTS } from "../../testing/build-call.ts";
import { eventually } from "../../testing/eventually.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { callGateway } from "./client-calls.ts";
import { type ScriptedUpstream, sendJson, startScriptedUpstream } from "./scripted-upstream.ts";
import type { TestGateway } from "./test-gateway.ts";

/** The program's own deadlines in `npm run faults`; short ones in the suite, where only their order matters. */
export const realTimes: boolean = process.env["TRIVIUM_FAULTS"] === "real";

/** An upstream that answers every call in its protocol, for all tests of a file. */
export async function answeringUpstream(): Promise<ScriptedUpstream> {
  const upstream = await startScriptedUpstream();
  upstream.play(({ path }, response) => {
    const dialect = SCRIPTED_DIALECTS.find((name) => path.includes(`/${name}`)) ?? "genai";
    // 20,000 nano-dollars at the prices of `scriptedModels`.
    sendJson(response, plainAnswer(dialect, { text: "Hello", usage: plainUsage(dialect, 10, 5) }));
  });
  afterAll(() => upstream.stop());
  return upstream;
}

export async function timed<Value>(work: Promise<Value>): Promise<[Value, number]> {
  const startedMs = performance.now();
  return [await work, performance.now() - startedMs];
}

/** Polls until the condition holds, and returns how long it took. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<number> {
  const [, ms] = await timed(eventually(what, holds));
  return ms;
}

/** The response of `/readyz`, and how soon it came. */
export async function readiness({ url }: Pick<TestGateway, "url">) {
  const [answer, ms] = await timed(fetch(`${url}/readyz`));
  return { status: answer.status, body: (await answer.json()) as { status: string; reason?: string }, ms };
}

export interface Called {
  /** Of receipts. */
  ids: string[];
  slowestMs: number;
}

/** One call of each protocol at a time, all of which are answered. */
export async function callAll(
  { url, key }: Pick<TestGateway, "url" | "key">,
  rounds: number,
  dialects: readonly DialectName[] = DIALECTS,
): Promise<Called> {
  const ids: string[] = [];
  let slowestMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    const answers = await Promise.all(dialects.map((dialect) => timed(callGateway(url, dialect, key))));
    for (const [answer, ms] of answers) {
      expect(answer.status).toBe(200);
      await answer.text();
      ids.push(answer.headers.get("x-trivium-receipt") ?? "");
      slowestMs = Math.max(slowestMs, ms);
    }
  }
  return { ids, slowestMs };
}

const admin = ({ adminUrl, adminSecret }: TestGateway, path: string, init: RequestInit = {}) =>
  fetch(adminUrl + path, {
    ...init,
    headers: { authorization: `Bearer ${adminSecret}`, "content-type": "application/json" },
  });

/** A key of the storage. */
export async function makeKey(gateway: TestGateway): Promise<{ id: string; key: string }> {
  const made = await admin(gateway, "/api/keys", { method: "POST", body: JSON.stringify({ name: "to be revoked" }) });
  const { data } = (await made.json()) as { data: { id: string; key: string } };
  expect((await callGateway(gateway.url, "chat", data.key)).status).toBe(200);
  return data;
}

/** How long a key keeps working after the Admin API is asked to revoke it. */
export async function revoke(gateway: TestGateway, { id, key }: { id: string; key: string }): Promise<number> {
  const revoking = admin(gateway, `/api/keys/${id}`, { method: "DELETE" });
  const isRefused = async () => (await callGateway(gateway.url, "chat", key)).status === 401;
  const ms = await until("a revoked key is refused", isRefused);
  // The storage may be unavailable; then it says so.
  expect([200, 503]).toContain((await revoking).status);
  return ms;
}
