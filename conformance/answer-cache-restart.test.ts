import { expect, test } from "bun:test";
import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { callGateway } from "./support/client-calls.ts";
import { startTestGateway } from "./support/test-gateway.ts";

test("decision 0128: a gateway that restarts on its SQLite file still has the response that it sent last", async () => {
  let asked = 0;
  const provider = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      asked++;
      return Response.json(plainAnswer("chat", { text: "yes", usage: plainUsage("chat", 10, 5) }));
    },
  });
  const config = {
    ...scriptedModels(`http://127.0.0.1:${provider.port}`),
    keys: [{ name: "tests", key: TEST_KEY, cache: { ttl_seconds: 600, max_mb: 1 } }],
  };
  const first = await startTestGateway({ config });
  const data = { data_dir: `${first.folder}/data` };
  try {
    const made = await callGateway(first.url, "chat", TEST_KEY, {});
    expect([made.status, made.headers.get("x-trivium-cached")]).toEqual([200, null]);
    await made.text();
    // Stopping waits for responses that are not stored yet.
    await first.app.stop();
    const second = await startTestGateway({ config: { ...config, ...data } });
    try {
      const hit = await callGateway(second.url, "chat", TEST_KEY, {});
      expect(hit.headers.get("x-trivium-cached")).toMatch(/^\d+$/);
      expect(await hit.text()).toContain("yes");
      expect(asked).toBe(1);
    } finally {
      await second.stop();
    }
  } finally {
    await first.stop();
    await provider.stop(true);
  }
});
