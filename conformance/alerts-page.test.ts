import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programsPresent } from "../testing/is-present.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const page = readFileSync(new URL("../docs/alerts.md", import.meta.url), "utf8");
const fence = (language: string) => new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? "";
const SECRET = "a-secret-of-the-receiver";

interface Received {
  body: string;
  signature: string;
  id: string;
}

describe("docs/alerts.md", () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-alerts-"));
  const received: Received[] = [];
  let gateway: TestGateway;
  let receiver: ReturnType<typeof Bun.serve>;

  beforeAll(async () => {
    receiver = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const { headers } = request;
        const signature = headers.get("x-trivium-signature") ?? "";
        received.push({ body: await request.text(), signature, id: headers.get("x-trivium-id") ?? "" });
        return new Response("taken");
      },
    });
    const webhooks = [{ name: "hook", url: `http://127.0.0.1:${receiver.port}/`, secret: SECRET }];
    gateway = await startTestGateway({ config: { alerts: { webhooks } } });
    const headers = { authorization: `Bearer ${gateway.adminSecret}`, "content-type": "application/json" };
    const answer = await fetch(`${gateway.adminUrl}/api/alerts/test`, { method: "POST", headers, body: "{}" });
    const { data } = (await answer.json()) as { data: { ok: boolean; answer: string }[] };
    expect(data).toMatchObject([{ webhook: "hook", ok: true, status: 200, answer: "taken" }]);
  });
  afterAll(async () => {
    await gateway?.stop();
    await receiver?.stop(true);
    rmSync(folder, { recursive: true, force: true });
  });

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

  const run = (command: string[], input: unknown): unknown => {
    const { stdout, stderr } = Bun.spawnSync(command, { stdin: Buffer.from(JSON.stringify(input)) });
    if (stdout.length === 0) throw new Error(stderr.toString());
    return JSON.parse(stdout.toString());
  };

  test("the body of a message has the fields shown on the page", () => {
    const shown = JSON.parse(fence("json")) as object;
    const sent = JSON.parse(received[0]?.body ?? "{}") as { id: string };
    expect(Object.keys(sent)).toEqual(Object.keys(shown));
    expect(sent.id).toBe(received[0]?.id ?? "");
  });

  test("its TypeScript distinguishes genuine messages from forged ones", () => {
    const file = join(folder, "verify.ts");
    const rest = `
const { default: given } = await import(process.argv[2] ?? "", { with: { type: "json" } });
console.log(JSON.stringify(given.map((one) => verify(new TextEncoder().encode(one.body), one.signature, one.secret))));
`;
    writeFileSync(file, fence("ts") + rest);
    const input = join(folder, "cases.json");
    writeFileSync(input, JSON.stringify(cases()));
    expect(run([process.execPath, file, input], "")).toEqual(cases().map(({ expected }) => expected));
  });

  test.skipIf(!programsPresent("the Python example of docs/alerts.md", "python3"))(
    "its Python distinguishes genuine messages from forged ones",
    () => {
      const file = join(folder, "verify.py");
      const rest = `
import json, sys
print(json.dumps([verify(one["body"].encode(), one["signature"], one["secret"]) for one in json.load(sys.stdin)]))
`;
      writeFileSync(file, fence("python") + rest);
      expect(run(["python3", file], cases())).toEqual(cases().map(({ expected }) => expected));
    },
  );
});
