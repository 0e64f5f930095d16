import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { TEST_KEY } from "../testing/test-key.ts";
import { callGateway } from "./support/client-calls.ts";
import { StrictCollector } from "./support/strict-collector.ts";
import { startTestGateway } from "./support/test-gateway.ts";

const collectors: StrictCollector[] = [];
afterAll(() => Promise.all(collectors.map((collector) => collector.stop())));

/** The configuration of a recipe, with its host replaced by a collector on loopback. */
async function play(page: string, environment: Record<string, string>) {
  const text = readFileSync(join(import.meta.dir, "../docs/recipes", page), "utf8");
  const { telemetry } = parse(/```yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? "") as { telemetry: { endpoint: string } };
  const { pathname } = new URL(telemetry.endpoint);
  const collector = new StrictCollector();
  collectors.push(collector);
  const paths: string[] = [];
  const relay = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const url = new URL(request.url);
      paths.push(url.pathname);
      const { method, headers } = request;
      const below = url.pathname.slice(pathname === "/" ? 0 : pathname.length);
      return fetch(collector.url + below, { method, headers, body: await request.arrayBuffer() });
    },
  });
  const endpoint = `http://127.0.0.1:${relay.port}${pathname === "/" ? "" : pathname}`;
  const config = {
    simulator: true,
    telemetry: { ...telemetry, endpoint, sample_ratio: 1, metrics_interval_seconds: 1 },
  };
  const gateway = await startTestGateway({ config, environment });
  try {
    const body = { model: "sim/standard", messages: [{ role: "user", content: "Hi" }], max_completion_tokens: 5 };
    const answer = await callGateway(gateway.url, "chat", TEST_KEY, { body });
    await answer.text();
    expect(answer.status).toBe(200);
    await collector.until(() => collector.spans.some(({ name }) => name.startsWith("chat ")));
  } finally {
    await gateway.stop();
    await relay.stop(true);
  }
  expect(collector.complaints).toEqual([]);
  const span = collector.spans.find(({ name }) => name.startsWith("chat "));
  // Every attribute that the page names is sent.
  const named = [...text.matchAll(/`((?:gen_ai|trivium)\.[a-z_.]+)`/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(4);
  for (const name of named) expect(Object.keys(span?.attributes ?? {})).toContain(name);
  return { collector, paths };
}

test("docs/recipes/langfuse.md: traces go to its path with Basic authentication, and no metrics do", async () => {
  const { collector, paths } = await play("langfuse.md", { LANGFUSE_AUTH: btoa("pk-lf-1:sk-lf-2") });
  expect(new Set(paths)).toEqual(new Set(["/api/public/otel/v1/traces"]));
  for (const headers of collector.headers) {
    expect(headers.get("authorization")).toBe(`Basic ${btoa("pk-lf-1:sk-lf-2")}`);
    expect(headers.get("content-type")).toBe("application/json");
  }
}, 30_000);

test("docs/recipes/datadog.md: traces and metrics go to the paths of an agent, with the resource", async () => {
  const { collector, paths } = await play("datadog.md", {});
  expect(new Set(paths)).toEqual(new Set(["/v1/traces", "/v1/metrics"]));
  expect(collector.resource).toMatchObject({ "service.name": "trivium", "deployment.environment.name": "production" });
}, 30_000);
