import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_OVERLAP_SECONDS } from "../src/access/keys.ts";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { programsPresent } from "../testing/is-present.ts";
import { callGateway } from "./support/client-calls.ts";
import { bareEnvironment, TRIVIUM } from "./support/program.ts";

const root = new URL("..", import.meta.url).pathname;
const workFolder = mkdtempSync(join(tmpdir(), "trivium-cli-"));
const running = new Set<Child>();
const canPaste = programsPresent("the curl line of the first start", "curl");

afterAll(async () => {
  for (const child of running) await child.end("SIGKILL");
  rmSync(workFolder, { recursive: true, force: true });
});

/** A program that runs until it is stopped. */
class Child {
  stdout = "";
  stderr = "";
  readonly #process: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly #read: Promise<unknown>;

  constructor(command: string[], cwd: string, env = bareEnvironment()) {
    this.#process = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    running.add(this);
    const collect = async (stream: ReadableStream<Uint8Array>, take: (text: string) => void) => {
      const decoder = new TextDecoder();
      for await (const part of stream) take(decoder.decode(part, { stream: true }));
    };
    this.#read = Promise.all([
      collect(this.#process.stdout, (text) => {
        this.stdout += text;
      }),
      collect(this.#process.stderr, (text) => {
        this.stderr += text;
      }),
    ]);
  }

  tell(signal: "SIGTERM" | "SIGHUP" | "SIGKILL"): void {
    this.#process.kill(signal);
  }

  /** The exit code, once it has exited and all of its output is read. */
  async ended(): Promise<number> {
    const code = await this.#process.exited;
    await this.#read;
    running.delete(this);
    return code;
  }

  async end(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number> {
    this.tell(signal);
    return this.ended();
  }
}

interface Workspace {
  folder: string;
  configFile: string;
  url: string;
  adminUrl: string;
}

/** A folder with a trivium.yaml on free ports. */
async function newWorkspace(drainSeconds = 0.5): Promise<Workspace> {
  const folder = mkdtempSync(join(workFolder, "workspace-"));
  const port = freePort();
  const adminPort = freePort();
  const configFile = join(folder, "trivium.yaml");
  writeConfig(configFile, { server: { port, drain_seconds: drainSeconds }, admin: { port: adminPort } });
  return { folder, configFile, url: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` };
}

/** JSON is YAML too. */
const writeConfig = (file: string, sections: object) => writeFileSync(file, JSON.stringify(sections, null, 1));
const readSections = ({ configFile }: Workspace) =>
  JSON.parse(readFileSync(configFile, "utf8")) as Record<string, unknown>;

/** Resolves when everything is printed and calls are accepted. */
async function serve(workspace: Workspace, ...args: string[]): Promise<Child> {
  const child = new Child([TRIVIUM, "serve", ...args], workspace.folder);
  await eventually("the program", () => child.stdout.endsWith("\n"));
  expect((await fetch(`${workspace.url}/readyz`)).status).toBe(200);
  return child;
}

interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command that runs to completion. */
async function command(folder: string, ...args: string[]): Promise<Finished> {
  const child = new Child([TRIVIUM, ...args], folder);
  return { code: await child.ended(), stdout: child.stdout, stderr: child.stderr };
}

async function jsonOf<T>(folder: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await command(folder, ...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as T;
}

const usageOf = (workspace: Workspace) =>
  jsonOf<{ group: string; calls: number; costNanoUsd: number }[]>(workspace.folder, "usage");

const ask = (workspace: Workspace, key: string, model = "sim/standard", stream = false) =>
  callGateway(workspace.url, "chat", key, { model, stream });

describe("the first start", () => {
  test("choices 7: prints a key, a secret and a curl command that works when pasted; the second start prints none", async () => {
    const workspace = await newWorkspace();
    const first = await serve(workspace);
    const key = /^ *API key \(shown once\) +(sk-trv-[\w-]{43})$/m.exec(first.stdout)?.[1] ?? "";
    const secret = /^ *Admin secret \(shown once\) +(\S{20,})$/m.exec(first.stdout)?.[1] ?? "";
    expect(key).not.toBe("");
    const { url, adminUrl } = workspace;
    expect(first.stdout).toMatch(new RegExp(`^Trivium \\d+\\.\\d+\\.\\d+ is listening on ${url}\n\n`));
    for (const [label, value] of [
      ["OpenAI base URL", `${url}/v1`],
      ["Anthropic base URL", url],
      ["Google base URL", url],
      ["Strict API base URLs", `${url}/api/v1, ${url}/api/msg, ${url}/api/genai`],
      ["Admin API", adminUrl],
      ["Models", "\\d+ available; run `\\S*trivium models` to list them"],
      ["Providers", "simulator"],
      [
        "Not connected",
        "openai \\(set OPENAI_API_KEY\\), anthropic \\(set ANTHROPIC_API_KEY\\), gemini \\(set GEMINI_API_KEY\\) and \\d+ more; run `\\S*trivium init` to set them up",
      ],
    ]) {
      expect(first.stdout).toMatch(new RegExp(`^  ${label} +${value}$`, "m"));
    }
    expect(first.stdout).not.toContain("\u001b");

    const line = /^curl .*$/m.exec(first.stdout)?.[0] ?? "";
    expect(line).not.toBe("");
    if (canPaste) {
      const pasted = new Child(["sh", "-c", line], workspace.folder);
      expect(await pasted.ended()).toBe(0);
      const chunks = [...pasted.stdout.matchAll(/^data: (\{.*)$/gm)].map(
        ([, json = ""]) => JSON.parse(json) as { choices: { delta: { content?: string } }[] },
      );
      expect(chunks.length).toBeGreaterThan(2);
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
      expect(text).toContain("Hello, who are you?");
    }

    const withSecret = { headers: { authorization: `Bearer ${secret}` } };
    expect((await fetch(`${workspace.adminUrl}/api/keys`, withSecret)).status).toBe(200);
    expect((await fetch(`${workspace.adminUrl}/api/keys`)).status).toBe(401);
    expect(await first.end()).toBe(0);

    const second = await serve(workspace);
    expect(second.stdout).toContain(workspace.url);
    expect(second.stdout).not.toMatch(/sk-trv-|trv-admin-|once|curl/i);
    expect((await ask(workspace, key)).status).toBe(200);
    expect((await fetch(`${workspace.adminUrl}/api/keys`, withSecret)).status).toBe(200);
    await second.end("SIGKILL");
  });

  test("serve --json prints the same as JSON", async () => {
    const workspace = await newWorkspace();
    const child = await serve(workspace, "--json");
    const said = JSON.parse(child.stdout) as { first_start: Record<string, string>; missing_providers: object[] };
    expect(said).toMatchObject({
      url: workspace.url,
      admin_url: workspace.adminUrl,
      base_urls: { openai: `${workspace.url}/v1`, anthropic: workspace.url, google: workspace.url },
      providers: ["simulator"],
      first_start: { admin_secret: expect.stringMatching(/^trv-admin-/) },
    });
    expect(said.missing_providers).toContainEqual({ kind: "openai", variables: ["OPENAI_API_KEY"] });
    expect((await ask(workspace, said.first_start["api_key"] ?? "")).status).toBe(200);
    await child.end("SIGKILL");
  });

  test("serve --port, --host and --admin-port override the file; each call and the exit are logged", async () => {
    const workspace = await newWorkspace();
    const [port, adminPort] = [freePort(), freePort()];
    const moved = { ...workspace, url: `http://localhost:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` };
    const args = ["--port", String(port), "--host", "localhost", "--admin-port", String(adminPort)];
    const child = await serve(moved, ...args, "--json");
    const said = JSON.parse(child.stdout) as { url: string; first_start: Record<string, string> };
    expect(said).toMatchObject({ url: moved.url, admin_url: moved.adminUrl });
    expect((await ask(moved, said.first_start["api_key"] ?? "")).status).toBe(200);
    expect(await child.end()).toBe(0);
    const lines = child.stderr.trimEnd().split("\n");
    const [start, call, end] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const reason = "no provider is configured besides the simulator";
    expect(start).toMatchObject({ level: "info", workers: 1, msg: `1 process serves calls: ${reason}` });
    expect(call).toMatchObject({ level: "info", msg: "call", model: "sim/standard", outcome: "ok" });
    expect(end).toMatchObject({ level: "info", msg: "shutting down" });

    const same = await command(workspace.folder, "serve", "--port", "4000", "--admin-port", "4000");
    expect(same.code).toBe(1);
    expect(same.stderr).toContain("server.port and admin.port must be different");
    const bare = mkdtempSync(join(workFolder, "bare-"));
    const clash = await command(bare, "serve", "--port", "4000", "--admin-port", "4000");
    expect(clash.code).toBe(2);
    expect(clash.stderr).toStartWith(
      "Port 4000 is also the port of the Admin API. Choose another one with --admin-port.\n",
    );
  });

  test("log: level and format of the file apply, and flags override them", async () => {
    const workspace = await newWorkspace();
    writeConfig(workspace.configFile, { ...readSections(workspace), log: { level: "error", format: "text" } });
    const quiet = await serve(workspace);
    const key = /sk-trv-[\w-]{43}/.exec(quiet.stdout)?.[0] ?? "";
    expect((await ask(workspace, key)).status).toBe(200);
    expect(await quiet.end()).toBe(0);
    expect(quiet.stderr).toBe("");
    const loud = await serve(workspace, "--log-level", "info");
    expect((await ask(workspace, key)).status).toBe(200);
    expect(await loud.end()).toBe(0);
    expect(loud.stderr).toMatch(
      /^\S+ info {2}1 process serves calls: .*\n\S+ info {2}sim\/standard {2}\d+ ms .*\n\S+ info {2}shutting down active=0\n$/,
    );
  });
});

describe("commands next to a running gateway", () => {
  const harness = (async () => {
    const workspace = await newWorkspace();
    return { workspace, child: await serve(workspace) };
  })();
  afterAll(async () => (await harness).child.end("SIGKILL"));

  test("keys: a created key works and a revoked one is refused, both within a second", async () => {
    const { workspace } = await harness;
    const created = await command(
      workspace.folder,
      "keys",
      "create",
      "--name",
      "ci",
      "--models",
      "sim/*",
      "--tag",
      "team-a",
    );
    expect(created.code).toBe(0);
    const [key = ""] = created.stdout.split("\n");
    await eventually("the program", async () => (await ask(workspace, key)).status === 200);

    const list = await command(workspace.folder, "keys", "list");
    expect(list.stdout).toMatch(
      /^id +name +project +key +models +tags +limits +today +month +total +made +used +state$/m,
    );
    const cost = (await usageOf(workspace)).find(({ group }) => group === "sim/standard")?.costNanoUsd ?? 0;
    const spent = (cost / 1e9).toFixed(4);
    const row = `^key_\\w+ +ci +default +…${key.slice(-4)} +sim/\\* +team-a +none +${spent} +${spent} +${spent} +\\S+ +\\S+ +valid$`;
    expect(list.stdout).toMatch(new RegExp(row, "m"));
    expect(list.stdout).not.toContain(key);

    const revoked = await command(workspace.folder, "keys", "revoke", "ci");
    expect(revoked.code).toBe(0);
    await eventually("the program", async () => (await ask(workspace, key)).status === 401);
    expect((await command(workspace.folder, "keys", "list")).stdout).toMatch(/ ci .* revoked$/m);
  });

  test("docs/cli.md: health exits with 0 for a healthy gateway, and with 1 if none answers", async () => {
    const { workspace } = await harness;
    const at = ["--url", workspace.url];
    expect(await command(workspace.folder, "health", ...at)).toEqual({ code: 0, stdout: "ok\n", stderr: "" });
    expect(await command(workspace.folder, "health", "--ready", ...at)).toMatchObject({ code: 0, stdout: "ready\n" });
    expect(await jsonOf(workspace.folder, "health", "--ready", "--config", workspace.configFile)).toEqual({
      healthy: true,
      status: "ready",
    });
    const away = await command(workspace.folder, "health", "--url", "http://127.0.0.1:1");
    expect(away).toMatchObject({ code: 1, stdout: "away: cannot connect to http://127.0.0.1:1/healthz\n" });
  });

  test("choices 10: providers shows their health to holders of the admin secret", async () => {
    const { workspace, child } = await harness;
    const secret = /^ *Admin secret \(shown once\) +(\S{20,})$/m.exec(child.stdout)?.[1] ?? "";
    const at = ["--url", workspace.adminUrl];
    const created = await command(workspace.folder, "keys", "create", "--name", "prober");
    const [key = ""] = created.stdout.split("\n");
    await eventually("the program", async () => (await ask(workspace, key)).status === 200);

    const shown = await command(workspace.folder, "providers", ...at, "--secret", secret);
    expect(shown.stdout).toMatch(/^provider +credential +model +state +first content +p95 +tokens\/s +paused for$/m);
    expect(shown.stdout).toMatch(/^simulator +- +\S+ +healthy +\d+ ms +- +\S+ +-$/m);
    const json = await command(workspace.folder, "providers", "--json", ...at, "--secret", secret);
    const healthy = [
      { provider: "simulator", credentials: [{ label: null, weight: 1, models: [{ state: "closed", quiet_ms: 0 }] }] },
    ];
    expect(JSON.parse(json.stdout)).toMatchObject(healthy);
    const detail = { headers: { authorization: `Bearer ${secret}` } };
    const ready = await fetch(`${workspace.adminUrl}/readyz?detail`, detail);
    expect(await ready.json()).toMatchObject({ status: "ready", providers: healthy });
    // Strangers see no more than before, and clients see nothing of the provider accounts.
    expect(await (await fetch(`${workspace.adminUrl}/readyz`)).json()).toEqual({ status: "ready" });
    expect(await (await fetch(`${workspace.url}/readyz?detail`, detail)).json()).toEqual({ status: "ready" });

    const without = await command(workspace.folder, "providers", ...at);
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("TRIVIUM_ADMIN_SECRET")]);
    const wrong = await command(workspace.folder, "providers", ...at, "--secret", "a-wrong-secret");
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("requires an operator's secret")]);
    const unreachable = await command(workspace.folder, "providers", "--url", "http://127.0.0.1:1", "--secret", "s");
    expect([unreachable.code, unreachable.stderr]).toEqual([1, expect.stringContaining("trivium serve")]);
  });

  test("choices 10: keys rotate uses the Admin API's default overlap, 24 hours", async () => {
    const { workspace } = await harness;
    const made = await jsonOf<{ id: string }>(workspace.folder, "keys", "create", "--name", "default-overlap");
    const beforeMs = Date.now();
    const rotated = await jsonOf<{ previous_until: string }>(workspace.folder, "keys", "rotate", made.id);
    const overlapMs = Date.parse(rotated.previous_until) - beforeMs;
    expect(overlapMs).toBeGreaterThanOrEqual(DEFAULT_OVERLAP_SECONDS * 1_000);
    expect(overlapMs).toBeLessThan((DEFAULT_OVERLAP_SECONDS + 60) * 1_000);
  });

  test("projects: created, listed, changed, suspended and deleted; keys rotate with an overlap", async () => {
    const { workspace } = await harness;
    const run = (...args: string[]) => command(workspace.folder, ...args);
    const created = await jsonOf<object>(workspace.folder, "projects", "create", "team-x", "--limit", "concurrent=3");
    expect(created).toMatchObject({ id: "team-x", name: "team-x", limits: { concurrent: 3 }, status: "active" });
    const twice = await run("projects", "create", "team-x");
    expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining("already exists")]);
    const wrong = await run("projects", "create", "Team X");
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("lowercase letters")]);
    const options = [
      "--name",
      "rotated",
      "--project",
      "team-x",
      "--networks",
      "127.0.0.0/8",
      "--scopes",
      "keys:create",
    ];
    const { id, key } = await jsonOf<{ id: string; key: string }>(workspace.folder, "keys", "create", ...options);
    await eventually("the program", async () => (await ask(workspace, key)).status === 200);
    const rotated = await jsonOf<{ key: string }>(workspace.folder, "keys", "rotate", id, "--overlap", "600");
    await eventually("the program", async () => (await ask(workspace, rotated.key)).status === 200);
    expect((await ask(workspace, key)).status).toBe(200);
    expect((await run("projects", "update", "team-x", "--suspend")).code).toBe(0);
    await eventually("the program", async () => (await ask(workspace, key)).status === 403);
    const changed = ["--activate", "--name", "Team X", "--limit", "concurrent=none"];
    expect(await jsonOf<object>(workspace.folder, "projects", "update", "team-x", ...changed)).toMatchObject({
      name: "Team X",
      limits: {},
      status: "active",
    });
    const busy = await run("projects", "delete", "team-x");
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining("1 keys that are not revoked")]);
    const list = await run("projects");
    expect(list.stdout).toMatch(/^team-x +Team X +none +0\.\d{4} /m);
    await run("keys", "revoke", id);
    expect((await run("projects", "delete", "team-x")).code).toBe(0);
    expect((await run("projects", "list")).stdout).not.toContain("team-x");
  });

  test("keys --json: create, list, revoke; limits and scopes apply", async () => {
    const { workspace } = await harness;
    const limits = ["--limit", "concurrent=3", "--limit", "budget_usd_per_day=0.5"];
    const options = ["--project", "team", "--protocols", "chat", "--expires", "2099-01-31", ...limits];
    const { id, key } = await jsonOf<{ id: string; key: string }>(
      workspace.folder,
      "keys",
      "create",
      "--name",
      "narrow",
      ...options,
    );
    const listed = await jsonOf<{ id: string }[]>(workspace.folder, "keys", "list", "--project", "team");
    expect(JSON.stringify(listed)).not.toContain(key);
    expect(listed).toEqual([
      expect.objectContaining({
        id,
        name: "narrow",
        protocols: ["chat"],
        limits: { concurrent: 3, budget_usd_per_day: 0.5 },
        expires_at: "2099-01-31T00:00:00.000Z",
        spent_usd: { day: 0, week: 0, month: 0, quarter: 0, total: 0 },
      }),
    ]);
    await eventually("the program", async () => (await ask(workspace, key)).status === 200);
    const other = await callGateway(workspace.url, "messages", key, { model: "sim/standard" });
    expect(other.status).toBe(403);
    const revoked = await jsonOf<object>(workspace.folder, "keys", "revoke", id);
    expect(revoked).toMatchObject({ id, name: "narrow", revoked_at: expect.any(String) });
  });

  test("choices 9: keys update changes the named fields, keeps the rest, and applies within a second", async () => {
    const { workspace } = await harness;
    const update = (...args: string[]) => jsonOf<Record<string, unknown>>(workspace.folder, "keys", "update", ...args);
    const created = await jsonOf<{ id: string; key: string }>(
      workspace.folder,
      ...["keys", "create", "--name", "changed", "--models", "openai/*", "--limit", "requests_per_minute=900"],
      ...["--limit", "concurrent=5", "--protocols", "chat"],
      ...["--routing", "type=round_robin", "--routing", "fallback=false", "--routing", "deadline_ms=60000"],
    );
    const { id, key } = created;
    expect((await ask(workspace, key)).status).toBe(403);
    const wider = await update(
      id,
      "--models",
      "sim/*",
      "--limit",
      "concurrent=none",
      "--limit",
      "budget_usd_total=0",
      "--routing",
      "deadline_ms=none",
      "--routing",
      "survive=true",
    );
    expect(wider).toMatchObject({
      name: "changed",
      models: ["sim/*"],
      protocols: ["chat"],
      limits: { requests_per_minute: 900, budget_usd_total: 0 },
      routing: { type: "round_robin", fallback: "false", survive: true },
    });
    await eventually("the program", async () => (await ask(workspace, key)).status === 402);
    await update("changed", "--limit", "budget_usd_total=none", "--protocols", "all", "--name", "renamed", "--strict");
    await eventually("the program", async () => (await ask(workspace, key)).status === 200);
    expect((await callGateway(workspace.url, "messages", key, { model: "sim/standard" })).status).toBe(200);
    const listed = await jsonOf<{ id: string }[]>(workspace.folder, "keys", "list");
    expect(listed.find((one) => one.id === id)).toMatchObject({ name: "renamed", strict: true, protocols: null });

    const mistakes: [number, RegExp, string[]][] = [
      [
        1,
        /limits\.speed is not a limit; expected one of requests_per_minute, tokens_per_minute,/,
        [id, "--limit", "speed=none"],
      ],
      [1, /limits\.concurrent must be a whole number from 1 to 9007199254740991/, [id, "--limit", "concurrent=0.5"]],
      [1, /`expires_at` must be in the future/, [id, "--expires", "2020-01-01"]],
      [1, /No key has the id or name "nobody"/, ["nobody", "--name", "x"]],
      [2, /--limit: "concurrent" does not have the form NAME=NUMBER or NAME=none/, [id, "--limit", "concurrent"]],
      [
        2,
        /--limit: concurrent is specified more than once/,
        [id, "--limit", "concurrent=1", "--limit", "concurrent=2"],
      ],
      [1, /routing\.type must be one of priority, round_robin, least_latency/, [id, "--routing", "type=random"]],
      [2, /--routing: "type" does not have the form NAME=VALUE or NAME=none/, [id, "--routing", "type"]],
      [2, /Nothing to update/, [id]],
    ];
    const ended = await Promise.all(mistakes.map(([, , args]) => command(workspace.folder, "keys", "update", ...args)));
    ended.forEach(({ code, stderr }, index) => {
      const [expected, message] = mistakes[index] ?? [];
      expect(code).toBe(expected ?? -1);
      expect(stderr).toMatch(message ?? "");
    });
    await command(workspace.folder, "keys", "revoke", id);
    const late = await command(workspace.folder, "keys", "update", id, "--name", "x");
    expect(late).toMatchObject({ code: 1, stderr: `The key renamed (${id}) is revoked and cannot be changed.\n` });
  });

  test("models and usage, human-readable and as JSON", async () => {
    const { workspace, child } = await harness;
    const key = /sk-trv-[\w-]{43}/.exec(child.stdout)?.[0] ?? "";
    expect((await ask(workspace, key, "sim/max-tokens")).status).toBe(200);
    expect((await ask(workspace, key, "sim/fail-400")).status).toBe(400);

    const models = await command(workspace.folder, "models", "sim/thinker");
    expect(models.stdout).toMatch(
      /^model +context +prompt +completion +offers\nsim\/thinker +200k +\$1\/M +\$2\/M +simulator\n$/,
    );
    const entries = await jsonOf<{ id: string; object: string }[]>(workspace.folder, "models", "sim/thinker");
    expect(entries).toEqual([expect.objectContaining({ id: "sim/thinker", object: "model" })]);

    const usage = await command(workspace.folder, "usage", "--days", "1");
    expect(usage.stdout).toMatch(/^model +calls +failed +input +cached +output +reasoning +images +seconds +USD$/m);
    expect(usage.stdout).toMatch(/^sim\/fail-400 +1 +1 +0 +0 +0 +0 +0 +0 +0\.000000$/m);
    const sums = await jsonOf<{ group: string; calls: number; failures: number; costNanoUsd: number }[]>(
      workspace.folder,
      "usage",
      "--by",
      "provider",
    );
    expect(sums).toEqual([expect.objectContaining({ group: "simulator" })]);
    expect(sums[0]?.failures).toBe(1);
    expect(sums[0]?.costNanoUsd).toBeGreaterThan(0);
    const callsOf = async (...flags: string[]) => {
      const found = await jsonOf<{ group: string; calls: number }[]>(
        workspace.folder,
        "usage",
        "--by",
        "dialect",
        ...flags,
      );
      return found.map(({ group }) => group);
    };
    expect(await callsOf("--dialect", "chat")).toEqual(["chat"]);
    expect(await callsOf("--dialect", "genai")).toEqual([]);
    const exported = await command(workspace.folder, "usage", "export", "--dialect", "genai", "--format", "jsonl");
    expect(exported).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

describe("commands without a gateway", () => {
  test("check: 0 for a good file, 1 with the position of every mistake, 2 for wrong usage", async () => {
    const { folder } = await newWorkspace();
    const good = await command(folder, "check");
    expect({ code: good.code, stderr: good.stderr }).toEqual({ code: 0, stderr: "" });
    expect(good.stdout).toMatch(/trivium\.yaml: OK \(\d+ models from simulator\)\n$/);
    expect(await jsonOf<object>(folder, "check")).toMatchObject({ ok: true, providers: ["simulator"] });

    writeFileSync(join(folder, "bad.yaml"), "server:\n  port: eight\nsimulater: true\n");
    const bad = await command(folder, "check", "--config", "bad.yaml");
    expect(bad).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "bad.yaml:2:9: server.port must be a whole number from 0 to 65535\n" +
        "bad.yaml:3:1: simulater is not a known field; did you mean simulator?\n",
    });
    const serving = await command(folder, "serve", "--config", "bad.yaml");
    expect({ code: serving.code, stderr: serving.stderr }).toEqual({ code: 1, stderr: bad.stderr });
    const missing = await command(folder, "check", "--config", "nowhere.yaml");
    expect(missing).toEqual({ code: 1, stdout: "", stderr: "nowhere.yaml:1:1: the file does not exist\n" });

    const wrong = await command(folder, "check", "--strict");
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("Usage: trivium check");
  });

  test("check: a model without a price is a warning, and the file is valid", async () => {
    const { folder } = await newWorkspace();
    const models = [{ id: "anthropic/claude-sonnet-4.5", offers: [{ provider: "simulator", model: "standard" }] }];
    writeConfig(join(folder, "unpriced.yaml"), { models });
    const message =
      "models[0] has no price, so its calls are refused or not billed; did you mean anthropic/claude-sonnet-4-5? Otherwise set its pricings, or write pricings: {} if it is free";
    const reported = await command(folder, "check", "--config", "unpriced.yaml");
    expect(reported).toMatchObject({ code: 0, stderr: `unpriced.yaml:4:10: ${message}\n` });
    expect(reported.stdout).toMatch(/unpriced\.yaml: OK \(\d+ models from simulator\)\n$/);
    expect(await jsonOf<object>(folder, "check", "--config", "unpriced.yaml")).toMatchObject({
      ok: true,
      warnings: [{ file: "unpriced.yaml", line: 4, column: 10, message }],
    });
  });

  test("failures exit with 1, wrong usage with 2, and neither prints a stack", async () => {
    const { folder } = await newWorkspace();
    expect((await command(folder, "projects", "create", "team")).code).toBe(0);
    const cases: [number, RegExp, string[]][] = [
      [1, /No key has the id or name "nobody"/, ["keys", "revoke", "nobody"]],
      [1, /limits\.speed is not a limit/, ["keys", "create", "--name", "x", "--limit", "speed=9"]],
      [
        2,
        /^Unknown option --prot\. Did you mean --protocols\?\n\nUsage: trivium keys/,
        ["keys", "create", "--prot", "chat"],
      ],
      [2, /^Option --name requires a value: --name NAME\.\n/, ["keys", "create", "--name"]],
      [2, /^Option --strict does not take a value\.\n/, ["keys", "create", "--strict=yes"]],
      [2, /^Unknown client "emacs"\. Choose one of: .*claude-code.*opencode/, ["env", "emacs"]],
      [1, /^opencode reads its providers from opencode\.json, .*docs\/clients\/opencode\.md/, ["env", "opencode"]],
      [2, /Unknown command "sreve"\. Did you mean "serve"\?/, ["sreve"]],
      [2, /Missing name/, ["keys", "create"]],
      [
        2,
        /--by: "colour" is not one of model, key, day, hour, provider, project, dialect, outcome/,
        ["usage", "--by", "colour"],
      ],
      [2, /--dialect: "german" is not one of chat, messages, genai, responses/, ["usage", "--dialect", "german"]],
    ];
    const ended = await Promise.all(cases.map(([, , args]) => command(folder, ...args)));
    ended.forEach(({ code, stdout, stderr }, index) => {
      const [expectedCode, message] = cases[index] ?? [];
      expect({ code, stdout }).toEqual({ code: expectedCode ?? -1, stdout: "" });
      expect(stderr).toMatch(message ?? "");
      expect(stderr).not.toMatch(/^\s+at /m);
    });
    for (const words of [["--version"], ["version"]]) {
      const version = await command(folder, ...words);
      expect(version.code).toBe(0);
      expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    }
    expect(await jsonOf<object>(folder, "version")).toMatchObject({ version: expect.any(String), bun: Bun.version });
  });

  test("openapi prints the document of this configuration", async () => {
    const { folder, configFile } = await newWorkspace();
    writeConfig(configFile, { server: { public_url: "https://models.example" } });
    for (const args of [["openapi"], ["openapi", "--json"]]) {
      const { code, stdout } = await command(folder, ...args);
      expect(code).toBe(0);
      const document = JSON.parse(stdout) as { openapi: string; paths: object };
      expect(document).toMatchObject({ openapi: "3.1.0", servers: [{ url: "https://models.example" }] });
      expect(Object.keys(document.paths)).toContain("/api/v1/chat/completions");
    }
  });

  test("sim runs only the simulator", async () => {
    const { folder } = await newWorkspace();
    for (const json of [false, true]) {
      const port = freePort();
      const child = new Child([TRIVIUM, "sim", "--port", String(port), ...(json ? ["--json"] : [])], folder);
      const url = `http://127.0.0.1:${port}`;
      await eventually("the program", () => child.stdout.includes(url) && child.stdout.endsWith("\n"));
      if (json) expect(JSON.parse(child.stdout)).toEqual({ url });
      const list = await fetch(`${url}/openai/v1/models`, { headers: { authorization: "Bearer any" } });
      expect(list.status).toBe(200);
      expect(await list.text()).toContain('"standard"');
      expect(await child.end()).toBe(0);
    }
  });
});

test("a port in use is reported in one line, ends the program, and creates no key", async () => {
  const workspace = await newWorkspace();
  const blocker = Bun.serve({
    port: Number(new URL(workspace.url).port),
    hostname: "127.0.0.1",
    fetch: () => new Response(),
  });
  const failed = new Child([TRIVIUM, "serve"], workspace.folder);
  expect(await failed.ended()).toBe(1);
  expect(failed.stderr.trim()).toMatch(
    new RegExp(
      `^Port \\d+ on 127\\.0\\.0\\.1 is in use by process ${process.pid} [^\\n]*server\\.port or --port[^\\n]*$`,
    ),
  );
  await blocker.stop(true);
  const child = await serve(workspace);
  expect(child.stdout).toContain("API key (shown once)");
  expect(await child.end()).toBe(0);
});

describe("signals", () => {
  test("choices 7: SIGTERM lets a running stream finish and accepts no new call", async () => {
    const workspace = await newWorkspace(4);
    const child = await serve(workspace);
    const key = /sk-trv-[\w-]{43}/.exec(child.stdout)?.[0] ?? "";
    const stream = await ask(workspace, key, "sim/slow", true);
    const rest = stream.text();
    child.tell("SIGTERM");
    await eventually("the program", () =>
      child.stderr.includes("shutting down: waiting for 1 active request (Ctrl-C again to force)"),
    );
    const late = await ask(workspace, key).then(
      ({ status }) => status,
      (error: { code?: string }) => error.code,
    );
    expect(late).toBe(503);
    const readiness = await fetch(`${workspace.url}/readyz`);
    expect(await readiness.json()).toEqual({ status: "not ready", reason: "draining" });
    const text = await rest;
    expect(text).toContain("simulator");
    expect(text).toEndWith("data: [DONE]\n\n");
    expect(await child.ended()).toBe(0);

    const sums = await jsonOf<{ group: string; calls: number; failures: number }[]>(workspace.folder, "usage");
    expect(sums).toEqual([expect.objectContaining({ group: "sim/slow", calls: 1, failures: 0 })]);
  });

  test("choices 7: SIGHUP reloads the file; an invalid file keeps the old configuration", async () => {
    const workspace = await newWorkspace();
    const child = await serve(workspace);
    const sections = readSections(workspace);
    const key = `sk-trv-${"StaticKeyOfTheSuite".padEnd(43, "x")}`;
    const reloads = () => child.stderr.match(/configuration reloaded/g)?.length ?? 0;

    child.tell("SIGHUP");
    await eventually("the program", () => reloads() === 1);
    expect((await ask(workspace, key)).status).toBe(401);

    const other = { name: "other", key: "another-key-of-the-file-5678" };
    writeConfig(workspace.configFile, { ...sections, keys: [{ name: "static", key }, other] });
    child.tell("SIGHUP");
    await eventually("the program", () => reloads() >= 2);
    expect((await ask(workspace, key)).status).toBe(200);
    const listed = await command(workspace.folder, "keys", "list");
    expect(listed.stdout).toMatch(
      /^static:static +static +default +…xxxx +\* +none +[\d.]+ +[\d.]+ +[\d.]+ +configured +valid$/m,
    );
    expect(listed.stdout).not.toContain(key);
    expect(listed.stdout).toMatch(/^static:other .*…5678/m);
    expect(listed.stdout).not.toContain(other.key);
    const nobodys = await jsonOf<object[]>(workspace.folder, "keys", "list", "--project", "nobody");
    expect(nobodys).toEqual([]);

    writeFileSync(workspace.configFile, "keys: []\nserver:\n  prot: 1\n");
    child.tell("SIGHUP");
    await eventually("the program", () => child.stderr.includes("failed to reload the configuration"));
    expect(child.stderr).toContain("trivium.yaml:3:3: server.prot is not a known field; did you mean port?");
    expect((await ask(workspace, key)).status).toBe(200);

    // Also without a signal; but not if keys are missing, which may be an accident (H25).
    writeConfig(workspace.configFile, sections);
    await eventually("the program", () => child.stderr.includes("keys is missing, but had 2 before"));
    expect((await ask(workspace, key)).status).toBe(200);
    writeConfig(workspace.configFile, { ...sections, keys: [] });
    await eventually("the program", async () => (await ask(workspace, key)).status === 401);
    await child.end("SIGKILL");
  });
});

describe("the launcher", () => {
  test("starts where node_modules/.bin/bun is only a stub and no Bun is on the path", async () => {
    const copy = mkdtempSync(join(workFolder, "launcher-"));
    cpSync(join(root, "bin"), join(copy, "bin"), { recursive: true });
    symlinkSync(join(root, "src"), join(copy, "src"));
    mkdirSync(join(copy, "node_modules/.bin"), { recursive: true });
    symlinkSync(join(root, "node_modules/@oven"), join(copy, "node_modules/@oven"));
    const message = join(copy, "node_modules/.bin/bun");
    writeFileSync(message, "#!/bin/sh\necho 'run the install script first' >&2\nexit 9\n");
    chmodSync(message, 0o755);
    // The two programs that the launchers call, and only the stub besides.
    const tools = join(copy, "tools");
    mkdirSync(tools);
    for (const tool of ["dirname", "readlink"]) symlinkSync(Bun.which(tool) ?? "", join(tools, tool));
    const env = { PATH: `${join(copy, "node_modules/.bin")}:${tools}` };
    const child = new Child([join(copy, "bin/trivium"), "check"], copy, env);
    expect(await child.ended()).toBe(0);
    expect(child.stdout).toMatch(/^defaults: OK /);

    // npm puts a link of that kind in place for the package's own program.
    symlinkSync(join(copy, "bin/trivium"), join(copy, "node_modules/.bin/trivium"));
    const linked = new Child([join(copy, "node_modules/.bin/trivium"), "--version"], copy, env);
    expect(await linked.ended()).toBe(0);

    rmSync(join(copy, "node_modules"), { recursive: true });
    const none = new Child([join(copy, "bin/trivium"), "check"], copy, { PATH: tools });
    expect(await none.ended()).toBe(127);
    expect(none.stderr).toContain("Run 'npm ci' first");
  });
});
