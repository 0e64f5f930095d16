import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Page } from "../../scripts/markdown-page.ts";
import { SIMULATED_TEXT_MODELS } from "../../src/catalogue/simulated-models.ts";
import { programsPresent } from "../../testing/is-present.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { callGateway } from "../support/client-calls.ts";
import { runProgram } from "../support/program.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { ROOT } from "./reader.ts";

// What pages state in words and tables about a running gateway. Numbers are compared in scripts/doc-numbers.test.ts.

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true } });
});
afterAll(() => gateway.stop());

const call = (model: string, stream = false) => callGateway(gateway.url, "chat", gateway.key, { model, stream });

describe("README.md", () => {
  test("choices 1: the base URLs adapt what the strict API refuses, and accept vendors' names", async () => {
    const body = { max_tokens: 5 };
    const strict = await callGateway(gateway.url, "chat", gateway.key, { model: "sim/standard", body });
    expect(strict.status).toBe(400);
    expect(await strict.text()).toContain("max_completion_tokens");
    for (const dialect of SCRIPTED_DIALECTS) {
      const answer = await callGateway(gateway.url, dialect, gateway.key, {
        model: "sim/standard",
        door: "dropin",
        body: dialect === "chat" || dialect === "messages" ? body : {},
      });
      expect(answer.status).toBe(200);
      await answer.text();
    }
  });
});

describe("docs/testing-with-the-simulator.md", () => {
  const page = new Page("docs/testing-with-the-simulator.md");
  const modelsIn = (cell = ""): string[] => cell.match(/sim\/[\w-]+/g) ?? [];
  const rows = page
    .rowsUnder("model", "your client sees")
    .map(([models, seen = ""]) => ({ models: modelsIn(models), seen }));
  const reported = (model: string) => rows.find(({ models }) => models.includes(model))?.seen ?? "";

  test("every model of its tables exists", async () => {
    const known = new Set(SIMULATED_TEXT_MODELS.map(({ name }) => `sim/${name}`));
    const named = rows.flatMap(({ models }) => models);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((id) => !known.has(id))).toEqual([]);
    const headers = { authorization: `Bearer ${gateway.key}` };
    const listed = (await (await fetch(`${gateway.url}/v1/models`, { headers })).json()) as { data: { id: string }[] };
    const others = page.rowsUnder("model", "what it does").flatMap(([cell]) => modelsIn(cell));
    expect(others.length).toBeGreaterThan(6);
    expect(listed.data.map(({ id }) => id)).toEqual(expect.arrayContaining(others));
  });

  test("its statuses are those that a client sees", async () => {
    for (const model of ["sim/fail-400", "sim/fail-404", "sim/fail-413"]) {
      expect(reported(model)).toStartWith("that status");
      expect((await call(model)).status).toBe(Number(model.slice(-3)));
    }
    for (const model of ["sim/fail-429", "sim/fail-401", "sim/fail-403", "sim/fail-500", "sim/fail-503"])
      expect(reported(model)).toContain(String((await call(model)).status));
    const messages = await callGateway(gateway.url, "messages", gateway.key, { model: "sim/fail-503" });
    expect(reported("sim/fail-503")).toContain(`${messages.status} in messages`);
    expect((await call("sim/flaky-1")).status).toBe(200);
  });

  test.each(["sim/error-in-stream", "sim/cut-mid-stream", "sim/close-mid-stream"])(
    "%s: an error event in the stream, and no terminal event",
    async (model) => {
      const text = await (await call(model, true)).text();
      expect(reported(model)).toContain("error event");
      expect(text).toContain('data: {"error":{"message"');
      expect(text).not.toContain("[DONE]");
    },
  );
});

describe("docs/keys.md and docs/budgets.md", () => {
  test("their options and limits are those of the command", async () => {
    const { stdout: help } = await runProgram(["keys", "create", "--help"], { cwd: ROOT });
    for (const [option = ""] of new Page("docs/keys.md").rowsUnder("option of keys create"))
      expect(help).toContain(option.split(" ")[0] ?? "");
    for (const [names = ""] of new Page("docs/budgets.md").rowsUnder("limit"))
      for (const name of names.split(", ")) expect(help).toContain(name);
  });
});

describe("docs/speech.md", () => {
  test("its table of endpoints lists paths of the API", async () => {
    const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: object };
    for (const [endpoint = ""] of new Page("docs/speech.md").rowsUnder("endpoint", "request")) {
      const path = endpoint.replace("POST ", "");
      expect(Object.keys(paths)).toEqual(expect.arrayContaining([path, `/api${path}`]));
    }
  });
});

describe("docs/deploy.md", () => {
  test("with its configuration, only the host of its proxy is accepted", async () => {
    const { server } = Bun.YAML.parse(new Page("docs/deploy.md").one("yaml")) as { server: { public_url: string } };
    const other = await startTestGateway({ config: { server: { port: 0, public_url: server.public_url } } });
    const statusFor = async (host: string) => (await fetch(`${other.url}/readyz`, { headers: { host } })).status;
    expect(await statusFor(new URL(server.public_url).host)).toBe(200);
    expect(await statusFor("other.example.com")).toBe(403);
    await other.stop();
  });

  test.skipIf(!programsPresent("the check of deploy/trivium.service", "systemd-analyze"))(
    "its unit is valid, and closed to all but what the gateway needs",
    () => {
      const folder = mkdtempSync(join(tmpdir(), "trivium-unit-"));
      const unit = readFileSync(join(ROOT, "deploy/trivium.service"), "utf8");
      writeFileSync(join(folder, "trivium.service"), unit.replace("/usr/local/bin/trivium", process.execPath));
      const analyze = (...args: string[]) => {
        const { stdout, stderr } = Bun.spawnSync(["systemd-analyze", ...args, "./trivium.service"], { cwd: folder });
        return stdout.toString() + stderr.toString();
      };
      expect(analyze("verify")).toBe("");
      const judged = analyze("security", "--offline=true");
      rmSync(folder, { recursive: true });
      const exposure = Number(/Overall exposure level for trivium\.service: ([\d.]+)/.exec(judged)?.[1]);
      expect(exposure).toBeLessThanOrEqual(1.5);
    },
  );
});
