// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is a reference of the configuration file
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { YAML } from "bun";
import { freePort } from "../testing/free-port.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const page = readFileSync(new URL("../docs/guards.md", import.meta.url), "utf8");
const fence = (language: string) => new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? "";
const SECRET = "a-secret-of-the-policy-service";

describe("docs/guards.md", () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-guards-"));
  let receiver: Bun.Subprocess<"ignore", "pipe", "inherit">;
  let gateway: TestGateway;

  beforeAll(async () => {
    const port = await freePort();
    writeFileSync(join(folder, "receiver.ts"), fence("ts"));
    receiver = Bun.spawn([process.execPath, join(folder, "receiver.ts")], {
      env: { ...process.env, POLICY_SECRET: SECRET, PORT: String(port) },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    await receiver.stdout.getReader().read();
    const written = fence("yaml").replace("${POLICY_SECRET}", SECRET).replace("127.0.0.1:9000", `127.0.0.1:${port}`);
    const { guards } = YAML.parse(written) as { guards: object[] };
    expect(guards).toHaveLength(4);
    gateway = await startTestGateway({ config: { simulator: true, guards } });
  });
  afterAll(async () => {
    await gateway?.stop();
    receiver?.kill();
    await receiver?.exited;
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (content: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sim/standard", messages: [{ role: "user", content }] }),
    });

  test("its example redacts, asks the receiver, and shows the verdicts", async () => {
    const answer = await ask("Write to Heron at alice@example.com with AKIAIOSFODNN7EXAMPLE.");
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toContain("the project");
    expect(text).not.toMatch(/Heron|alice|AKIA/);
    const id = answer.headers.get("x-trivium-receipt") ?? "";
    const headers = { authorization: `Bearer ${gateway.key}` };
    const receipt = await fetch(`${gateway.url}/api/v1/generation?id=${id}`, { headers });
    const { data } = (await receipt.json()) as { data: { guards: { name: string; on: string; verdict: string }[] } };
    expect(data.guards.map(({ name, on, verdict }) => `${name} ${on} ${verdict}`)).toEqual([
      "keys request redacted",
      "people request redacted",
      "policy request redacted",
      "keys response passed",
      "policy response passed",
    ]);
  });

  test("its receiver blocks, with a reason for the client", async () => {
    const answer = await ask("What is the launch date?");
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("the launch date is not public");
  });

  test("operators see the guards and count their verdicts", async () => {
    const headers = { authorization: `Bearer ${gateway.adminSecret}` };
    const listed = await fetch(`${gateway.adminUrl}/api/guards`, { headers });
    const { data } = (await listed.json()) as { data: { name: string; verdicts: object[] }[] };
    expect(data.map(({ name }) => name)).toEqual(["keys", "people", "codenames", "policy"]);
    expect(data[1]?.verdicts).toContainEqual({ on: "request", verdict: "redacted", calls: 1 });
    expect(JSON.stringify(data)).not.toContain(SECRET);
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`, { headers })).text();
    expect(metrics).toContain('trivium_guard_verdicts_total{guard="policy",on="request",verdict="blocked"} 1');
    expect(metrics).toContain('trivium_guard_duration_seconds_count{guard="people",on="request"}');
  });
});
