// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the page's configuration names variables so
import { afterAll, expect } from "bun:test";
import { join } from "node:path";
import { Page } from "../../scripts/markdown-page.ts";
import { freePort } from "../../testing/free-port.ts";
import type { Reader } from "./reader.ts";
import { testPage } from "./test-page.ts";

const SECRET = "a-secret-of-the-receiver";

/** Calls the Admin API of the reader's gateway. */
async function callAdmin({ gateway }: Reader, path: string, method = "GET"): Promise<unknown> {
  const headers = { authorization: `Bearer ${gateway.adminSecret}`, "content-type": "application/json" };
  const answer = await fetch(gateway.adminUrl + path, {
    method,
    headers,
    ...(method === "POST" ? { body: "{}" } : {}),
  });
  return path === "/metrics" ? answer.text() : answer.json();
}

interface Received {
  body: string;
  signature: string;
  id: string;
}

const received: Received[] = [];
const receiver = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const of = (name: string) => request.headers.get(name) ?? "";
    received.push({ body: await request.text(), signature: of("x-trivium-signature"), id: of("x-trivium-id") });
    return new Response("taken");
  },
});
afterAll(() => receiver.stop(true));

/** A genuine message, and forgeries of it. */
function cases(): { body: string; signature: string; secret: string; expected: boolean }[] {
  const [{ body, signature } = { body: "", signature: "" }] = received;
  const older = signature.replace(/t=(\d+)/, (_, seconds: string) => `t=${Number(seconds) - 301}`);
  return [
    { body, signature, secret: SECRET, expected: true },
    { body: `${body} `, signature, secret: SECRET, expected: false },
    { body, signature, secret: `${SECRET}x`, expected: false },
    { body, signature: older, secret: SECRET, expected: false },
    { body, signature: signature.slice(0, -1), secret: SECRET, expected: false },
    { body, signature: "", secret: SECRET, expected: false },
    { body, signature: "t=,v1=", secret: SECRET, expected: false },
  ];
}

testPage("docs/alerts.md", {
  config: () => ({
    alerts: { webhooks: [{ name: "hook", url: `http://127.0.0.1:${receiver.port}/`, secret: SECRET }] },
  }),
  expected: {
    "alerts test": /hook.*200/,
    json: (code) => {
      const [message] = received;
      const sent = JSON.parse(message?.body ?? "{}") as { id: string };
      expect(Object.keys(sent)).toEqual(Object.keys(JSON.parse(code) as object));
      expect(sent.id).toBe(message?.id ?? "");
    },
    "ts receiver": async (code, reader) => {
      reader.write("verify.ts", code);
      const { verify } = (await import(join(reader.folder, "verify.ts"))) as {
        verify: (body: Uint8Array, signature: string, secret: string) => boolean;
      };
      for (const { body, signature, secret, expected } of cases())
        expect(verify(new TextEncoder().encode(body), signature, secret)).toBe(expected);
    },
  },
});

let policy: Bun.Subprocess<"ignore", "pipe", "inherit"> | undefined;
const policyPort = freePort();
afterAll(async () => {
  policy?.kill();
  await policy?.exited;
});

async function ask({ gateway }: Reader, content: string): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sim/standard", messages: [{ role: "user", content }] }),
  });
}

testPage("docs/guards.md", {
  config: (page) => {
    const written = page.one("yaml").replace("${POLICY_SECRET}", SECRET).replace(":9000", `:${policyPort}`);
    return Bun.YAML.parse(written) as object;
  },
  before: async (reader) => {
    reader.write("receiver.ts", new Page("docs/guards.md").one("ts receiver"));
    policy = Bun.spawn([process.execPath, join(reader.folder, "receiver.ts")], {
      env: { ...process.env, POLICY_SECRET: SECRET, PORT: String(policyPort) },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    await policy.stdout.getReader().read();
  },
  expected: {
    "json question": '"guard": "policy"',
    "ts receiver": async (_code, reader) => {
      const passed = await ask(reader, "Write to Heron at alice@example.com with AKIAIOSFODNN7EXAMPLE.");
      expect(passed.status).toBe(200);
      const text = await passed.text();
      expect(text).toContain("the project");
      expect(text).not.toMatch(/Heron|alice|AKIA/);
      const blocked = await ask(reader, "What is the launch date?");
      expect(blocked.status).toBe(400);
      expect(await blocked.text()).toContain("the launch date is not public");
    },
    "json verdict": async (code, reader) => {
      const { data: guards } = (await callAdmin(reader, "/api/guards")) as {
        data: { name: string; verdicts: object[] }[];
      };
      expect(guards.map(({ name }) => name)).toEqual(["keys", "people", "codenames", "policy"]);
      expect(guards[1]?.verdicts).toContainEqual({ on: "request", verdict: "redacted", calls: 1 });
      expect(JSON.stringify(guards)).not.toContain(SECRET);
      const metrics = await callAdmin(reader, "/metrics");
      expect(metrics).toContain('trivium_guard_verdicts_total{guard="policy",on="request",verdict="blocked"} 1');
      expect(metrics).toContain('trivium_guard_duration_seconds_count{guard="people",on="request"}');
      const answer = await ask(reader, "Write to Heron at alice@example.com with AKIAIOSFODNN7EXAMPLE.");
      await answer.text();
      const id = answer.headers.get("x-trivium-receipt") ?? "";
      const headers = { authorization: `Bearer ${reader.gateway.key}` };
      const receipt = await fetch(`${reader.gateway.url}/api/v1/generation?id=${id}`, { headers });
      const { data } = (await receipt.json()) as { data: { guards: { name: string; on: string; verdict: string }[] } };
      expect(data.guards.map(({ name, on, verdict }) => `${name} ${on} ${verdict}`)).toEqual([
        "keys request redacted",
        "people request redacted",
        "policy request redacted",
        "keys response passed",
        "policy response passed",
      ]);
      expect(Object.keys(data.guards[0] ?? {})).toEqual(Object.keys(JSON.parse(code) as object));
    },
  },
});
