import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { type App, startApp } from "../src/app/start-app.ts";
import { system } from "../src/base/system.ts";
import { createLog } from "../src/observe/log.ts";
import { freePort } from "../testing/free-port.ts";
import { SCRIPTED_DIALECTS } from "../testing/sampled-dialects.ts";
import { callGateway } from "./support/client-calls.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

describe("docs/configuration.md, Reload", () => {
  let folder: string;
  let app: App;
  const reported: string[] = [];
  const tell = (...said: unknown[]) => void reported.push(String(said.at(-1)));
  const log = {
    ...createLog({ clock: system.clock, level: "silent" }),
    debug: tell,
    info: tell,
    warn: tell,
    error: tell,
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "trivium-reload-"));
    const ports = { server: { port: freePort() }, admin: { port: freePort() } };
    writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(ports));
    app = await startApp({ cwd: folder, environment: {}, log });
  });
  afterAll(async () => {
    await app.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a field that needs a restart is logged on reload, without its value", () => {
    const ports = {
      server: { port: 1 },
      admin: { port: Number(new URL(app.adminUrl).port), secret: "hidden-hidden-hidden" },
    };
    writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(ports));
    reported.length = 0;
    app.reload();
    expect(reported).toEqual([
      "configuration reloaded",
      "server.port changed, but takes effect only after a restart",
      "admin.secret changed, but takes effect only after a restart",
    ]);
  });
});

test("docs/configuration.md, Prices: start and reload warn about a model without a price", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-unpriced-"));
  const write = (...ids: string[]) => {
    const models = ids.map((id) => ({ id, offers: [{ provider: "simulator", model: "standard" }] }));
    writeFileSync(
      join(folder, "trivium.yaml"),
      JSON.stringify({ server: { port: 0 }, admin: { port: 0 }, models }, null, 1),
    );
  };
  const warnings: string[] = [];
  const warn = (...said: unknown[]) => void warnings.push(String(said.at(-1)));
  const log = { ...createLog({ clock: system.clock, level: "silent" }), warn };
  write("acme/first");
  const app = await startApp({ cwd: folder, environment: {}, log });
  try {
    expect(warnings).toEqual([expect.stringMatching(/^trivium\.yaml:10:\d+: models\[0\] has no price, so /)]);
    write("sim/standard", "acme/second");
    warnings.length = 0;
    app.reload();
    expect(warnings).toEqual([expect.stringMatching(/^trivium\.yaml:\d+:\d+: models\[1\] has no price, so /)]);
  } finally {
    await app.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("docs/configuration.md, Reload: later calls follow the new `routing`", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-routing-"));
  const key = `sk-trv-${"reload".repeat(8).slice(0, 43)}`;
  const write = (fallback: boolean) => {
    const config = {
      server: { port: 0 },
      admin: { port: 0 },
      simulator: true,
      routing: { fallback },
      // A port on which nothing listens.
      providers: { away: { kind: "openai-compatible", base_url: "http://127.0.0.1:9/v1", api_key: "k" } },
      models: [
        {
          id: "acme/two",
          pricings: {},
          offers: [
            { provider: "away", model: "any" },
            { provider: "simulator", model: "standard" },
          ],
        },
      ],
      keys: [{ name: "caller", key }],
    };
    writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(config));
  };
  write(false);
  const app = await startApp({
    cwd: folder,
    environment: {},
    log: createLog({ clock: system.clock, level: "silent" }),
  });
  const status = async () => (await callGateway(app.url, "chat", key, { model: "acme/two" })).status;
  try {
    expect(await status()).toBe(502);
    write(true);
    app.reload();
    expect(await status()).toBe(200);
    write(false);
    app.reload();
    expect(await status()).toBe(502);
  } finally {
    await app.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

describe("docs/providers.md, Simulator", () => {
  let simulator: Simulator;
  let gateway: TestGateway;

  beforeAll(async () => {
    simulator = await startSimulator();
    gateway = await startTestGateway({
      config: {
        providers: { lab: { kind: "simulator", base_url: simulator.url } },
        models: [{ id: "lab/standard", pricings: {}, offers: [{ provider: "lab", model: "standard" }] }],
      },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await simulator.stop();
  });

  test.each([...SCRIPTED_DIALECTS])("without a key it answers a %s call", async (dialect) => {
    const response = await callGateway(gateway.url, dialect, gateway.key, { model: "lab/standard" });
    expect(response.status).toBe(200);
    expect((await gateway.receipt(response)).provider).toBe("lab");
  });
});

test("a port chosen by the system appears in the gateway's own URLs", async () => {
  const chosen = await startTestGateway({ config: { server: { host: "127.0.0.1", port: 0 }, simulator: true } });
  const document = (await (await fetch(`${chosen.url}/openapi.json`)).json()) as { servers: { url: string }[] };
  expect(chosen.url).not.toEndWith(":0");
  expect(document.servers.map(({ url }) => url)).toEqual([chosen.url]);
  await chosen.stop();
});
