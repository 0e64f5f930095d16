import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SIMULATED_TEXT_MODELS } from "../src/catalogue/simulated-models.ts";
import { eventually } from "../testing/eventually.ts";
import { programsPresent } from "../testing/is-present.ts";
import { SCRIPTED_DIALECTS } from "../testing/sampled-dialects.ts";
import { callGateway } from "./support/client-calls.ts";
import { ANSWER, ExampleFolder, Page, root } from "./support/doc-examples.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

// Examples start programs, possibly on a slow machine.

const readme = new Page("README.md");
const started = new Page("docs/getting-started.md");
const operating = new Page("docs/operating.md");
const receipts = new Page("docs/receipts.md");
const keys = new Page("docs/keys.md");
const budgets = new Page("docs/budgets.md");
const usage = new Page("docs/usage.md");
const endUsers = new Page("docs/end-users.md");
const security = new Page("docs/security.md");
const media = new Page("docs/media.md");
const failures = new Page("docs/testing-with-the-simulator.md");
const deploy = new Page("docs/deploy.md");

const canPaste = programsPresent("shell examples of the documents", "curl", "sed");

let gateway: TestGateway;
let folder: ExampleFolder;

beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true } });
  folder = new ExampleFolder({
    TRIVIUM_URL: gateway.url,
    TRIVIUM_API_KEY: gateway.key,
    TRIVIUM_ADMIN_URL: gateway.adminUrl,
    TRIVIUM_ADMIN_SECRET: gateway.adminSecret,
    TRIVIUM_CONFIG: gateway.configFile,
  });
});
afterAll(async () => {
  await gateway.stop();
  folder.remove();
});

test("every block of these documents is run, loaded or compared here or in scripts/docs.test.ts", () => {
  expect(readme.counts()).toEqual({ sh: 7, text: 1, ts: 4, yaml: 1 });
  expect(started.counts()).toEqual({ sh: 5 });
  expect(operating.counts()).toEqual({ sh: 2 });
  expect(receipts.counts()).toEqual({ sh: 4, json: 1 });
  expect(keys.counts()).toEqual({ sh: 4 });
  expect(budgets.counts()).toEqual({ sh: 1, yaml: 1 });
  expect(usage.counts()).toEqual({ sh: 2, yaml: 1 });
  expect(security.counts()).toEqual({ sh: 1 });
  expect(media.counts()).toEqual({ sh: 2, ts: 4 });
  expect(failures.counts()).toEqual({ sh: 1 });
  expect(deploy.counts()).toEqual({ sh: 8, yaml: 1, nginx: 1 });
});

describe("README.md", () => {
  test("it can be read in ten minutes", () => {
    expect(readme.text.split("\n").length).toBeLessThanOrEqual(201);
  });

  test("the npm commands are scripts of package.json, and it exports the variables that the examples use", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
    const named = [...readme.text.matchAll(/npm (?:run )?(start|test|bench)\b/g)].map(([, name]) => name ?? "");
    expect([...new Set(named)].sort()).toEqual(["bench", "start", "test"]);
    for (const name of named) expect(scripts).toHaveProperty(name);
    const exported = readme
      .in("sh")
      .join("")
      .matchAll(/^export (\w+)=/gm);
    expect([...exported].map(([, name]) => name)).toEqual(["TRIVIUM_URL", "TRIVIUM_API_KEY"]);
  });

  test("the first response in the terminal is the text shown", async () => {
    // Readers run the program of the repository; the other examples use the one that all tests use.
    const answer = await folder.shell(readme.one("sh", "bin/trivium chat"), join(root, "bin/trivium"));
    const shown = readme.in("text")[0]?.trim().replace(/ …$/, "") ?? "";
    expect(shown).toMatch(ANSWER);
    expect(answer).toStartWith(shown);
  });

  test.each(["client.chat.completions", "client.responses", "client.messages", "client.models"])(
    "the example with %s prints an answer",
    async (call) => expect(await folder.typescript(readme.one("ts", call))).toMatch(ANSWER),
  );

  test.skipIf(!canPaste)("the curl command works", async () => {
    expect(await folder.shell(readme.one("sh", '"Hello, who are you?"}'))).toMatch(ANSWER);
  });

  test("the table of providers has their variables and models", async () => {
    const rows = readme.rowsUnder("provider", "variable", "a model").filter(([, variable]) => variable !== "");
    const cell = (text = "") => text.replaceAll("`", "");
    const environment = Object.fromEntries(rows.map(([, variable]) => [cell(variable), "a-key"]));
    const other = await startTestGateway({ config: {}, environment });
    const listed = await fetch(`${other.url}/v1/models`, { headers: { authorization: `Bearer ${other.key}` } });
    const ids = ((await listed.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    await other.stop();
    expect(rows.length).toBe(3);
    for (const [, , model] of rows) expect(ids).toContain(cell(model));
  });

  test("the commands about keys create one that is listed", async () => {
    const said = await folder.shell(readme.one("sh", "keys create"));
    expect(said).toMatch(/^sk-trv-[\w-]{43}$/m);
    expect(said).toMatch(/ci +default .*requests_per_minute=60.*budget_usd_per_day=5/);
    await folder.shell("bin/trivium keys revoke ci");
  });

  test("the commands make an image and a video", async () => {
    expect(await folder.shell(readme.one("sh", "bin/trivium image"))).toBe("owl.png\nowl.mp4\n");
    const { width, height } = await new Bun.Image(folder.read("owl.png")).metadata();
    expect([width, height]).toEqual([1536, 1024]);
    expect(folder.read("owl.mp4").toString("latin1", 4, 8)).toBe("ftyp");
  });

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

  test.each(["realtime/sessions"])("endpoints listed as missing are missing: /v1/%s", async (path) => {
    const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
    const answer = await fetch(`${gateway.url}/v1/${path}`, { method: "POST", headers, body: "{}" });
    expect(answer.status).toBe(404);
  });
});

describe("docs/getting-started.md and docs/operating.md", () => {
  test("the first lines are a script of package.json and the variables of the examples", () => {
    const [start = "", variables = ""] = started.in("sh");
    expect(start).toBe("npm ci && npm start\n");
    expect([...variables.matchAll(/^export (\w+)=/gm)].map(([, name]) => name)).toEqual([
      "TRIVIUM_URL",
      "TRIVIUM_API_KEY",
    ]);
  });

  test.skipIf(!canPaste)("the first call gets an answer, and the lines about keys create one", async () => {
    expect(await folder.shell(started.one("sh", "curl"))).toMatch(ANSWER);
    expect(await folder.shell(started.one("sh", "keys create"))).toMatch(/^sk-trv-[\w-]{43}$/m);
  });

  test("the lines to watch a gateway show its state, its providers and what it refused", async () => {
    expect(await folder.shell(operating.one("sh", "health --ready"))).toMatch(/^ready$[\s\S]*simulator/m);
  });

  test("the line that lists calls in flight accepts its filter", async () => {
    expect(await folder.shell(operating.one("sh", "calls list"))).toMatch(/^id +age_s +phase +model/m);
  });
});

describe("docs/receipts.md", () => {
  test.skipIf(!canPaste)("its command, and that of the README, show a receipt of the documented form", async () => {
    const shown = JSON.parse(receipts.in("json")[0] ?? "") as object;
    for (const page of [readme, receipts]) {
      const real = JSON.parse(await folder.shell(page.one("sh", "/generation?id="))) as { data: object };
      expect(formOf(real)).toEqual(formOf(shown));
      expect(real.data).toMatchObject({ model: "sim/standard", provider: "simulator", usage_source: "measured" });
    }
  });

  test.skipIf(!canPaste)(
    "its call to a model of another protocol is answered in the caller's protocol, and lists what was dropped",
    async () => {
      const line = receipts.one("sh", "sim/standard-chat");
      const output = await folder.shell(line);
      expect(output).toMatch(/^HTTP\/1\.1 200 /);
      expect(output).toMatch(/^x-trivium-dropped: top_k\r$/m);
      expect(output).toContain('"type":"message","role":"assistant","model":"sim/standard-chat"');
      const strict = await folder.shell(line.replace("curl -i", 'curl -i -H "x-trivium-strict: true"'));
      expect(strict).toMatch(/^HTTP\/1\.1 400 /);
      expect(strict).toContain("top_k");
    },
  );
});

describe("docs/receipts.md, bodies", () => {
  test("its commands create a captured key, show its bodies and find a text in them", async () => {
    const [create = "", read = ""] = receipts.one("sh", "--capture").trim().split("\n");
    const key = /^sk-trv-[\w-]{43}$/m.exec(await folder.shell(create))?.[0] ?? "";
    const body = { messages: [{ role: "user", content: "Where is order 4711-A?" }] };
    const call = { model: "sim/standard", body };
    // A running gateway sees keys of other processes within half a second.
    const answer = await eventually("the key to work", async () => {
      const tried = await callGateway(gateway.url, "chat", key, call);
      return tried.status === 401 ? undefined : tried;
    });
    expect(answer.status).toBe(200);
    const said = (await answer.json()) as { choices: { message: { content: string } }[] };
    const receipt = answer.headers.get("x-trivium-receipt") ?? "";
    const line = read.replace("rcp_…", receipt);
    const shown = await eventually("the bodies", () => folder.shell(line).catch(() => ""));
    expect(shown).toContain(said.choices[0]?.message.content.slice(0, 20) ?? "nothing was said");
    expect(await folder.shell(receipts.one("sh", "--body"))).toContain(receipt);
  });
});

describe("docs/usage.md, tags", () => {
  test.skipIf(!canPaste)("its commands tag a call and report usage by tag", async () => {
    const output = await folder.shell(usage.one("sh", "x-trivium-tags"));
    expect(output).toMatch(/^team-a +1 /m);
    expect(output).toMatch(/^feature=search +1 /m);
    expect(output).toMatch(/Total: \d+ calls, \d/);
    expect(output).toMatch(/^\d{4}-\d\d-\d\d +sim\/standard +1 /m);
  });
});

/** Names and nesting without values; numbers that may be unknown are treated alike. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf);
  if (typeof value !== "object" || value === null)
    return typeof value === "number" || value === null ? "n" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, formOf(item)]));
}

describe("docs/keys.md", () => {
  test("its commands create, list, change and revoke a key", async () => {
    const said = await folder.shell(keys.one("sh", "keys create"));
    expect(said).toMatch(/^sk-trv-[\w-]{43}$/m);
    expect(await folder.shell("bin/trivium keys list")).toMatch(/ci +default .*budget_usd_per_day=10 .*revoked/);
  });

  test("its commands create, list, change and delete a project", async () => {
    await folder.shell(keys.one("sh", "projects create"));
    const left = JSON.parse(await folder.shell("bin/trivium projects list --json")) as { id: string }[];
    expect(left.map(({ id }) => id)).toEqual(["default"]);
  });

  test("docs/security.md: its commands allow and disallow provider objects for a project", async () => {
    const shown = async () =>
      (JSON.parse(await folder.shell("bin/trivium projects list --json")) as { provider_objects: boolean }[])[0];
    const [open = "", close = ""] = security.one("sh", "--provider-objects").trim().split("\n");
    await folder.shell(open);
    expect(await shown()).toMatchObject({ provider_objects: true, objects: "project" });
    await folder.shell(close);
    expect(await shown()).toMatchObject({ provider_objects: false });
  });

  test.skipIf(!canPaste)("its call with a key that may create keys creates one", async () => {
    const [maker = ""] = (await folder.shell("bin/trivium keys create --name maker --scopes keys:create")).split("\n");
    // Running gateways see it within a second.
    const line = keys.one("sh", "api/v1/keys").replace("$TRIVIUM_API_KEY", maker);
    const made = await folder.shell(`sleep 1\n${line}`);
    expect(made).toMatch(/sk-trv-[\w-]{43}/);
  });

  test("docs/budgets.md: its commands limit a key and a project, and its configuration is valid", async () => {
    await folder.shell("bin/trivium keys create --name app\nbin/trivium projects create team-b");
    await folder.shell(budgets.one("sh", "keys update"));
    expect(await folder.shell("bin/trivium keys list")).toMatch(/app +default .*budget_usd_per_day=5/);
    const other = await startTestGateway({
      config: Bun.YAML.parse(budgets.in("yaml")[0] ?? "") as Record<string, unknown>,
    });
    await other.stop();
    await folder.shell("bin/trivium projects delete team-b");
  });

  test.skipIf(!canPaste)("docs/end-users.md: its commands limit end users and show them", async () => {
    await folder.shell("bin/trivium keys create --name members");
    const named = (words: string) => endUsers.one("sh", words).replaceAll(/\bapp\b/g, "members");
    const shown = await folder.shell(named("--end-user-limit"));
    expect(shown).toMatch(/^user-4711 +\d/m);
    expect(shown).toMatch(/^user-4711 +1 /m);
    const [limit = "", reset = ""] = named("end-users limit").trim().split("\n");
    await folder.shell(limit);
    expect(await folder.shell("bin/trivium end-users show user-4711")).toContain('"requests_per_day": 1000');
    await folder.shell(reset);
    expect(await folder.shell("bin/trivium end-users show user-4711")).toContain('"limits": []');
  });

  test("docs/end-users.md: its configuration is valid", async () => {
    const text = (endUsers.in("yaml")[0] ?? "").replace(/"\$\{APP_KEY\}"/, "a-key-of-the-example-page");
    const other = await startTestGateway({ config: Bun.YAML.parse(text) as Record<string, unknown> });
    await other.stop();
  });

  test("docs/usage.md: its configuration is valid", async () => {
    const config = Bun.YAML.parse(usage.in("yaml")[0] ?? "") as Record<string, unknown>;
    const other = await startTestGateway({ config });
    const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
    const inForce = await (await fetch(`${other.adminUrl}/api/config`, { headers })).text();
    await other.stop();
    expect(inForce).toMatch(/"intents": ?true/);
  });

  test("docs/usage.md: its commands work", async () => {
    expect(await folder.shell(usage.one("sh", "--zone"))).toContain("USD");
  });

  test.skipIf(!canPaste)("its Admin API call creates a key", async () => {
    const made = JSON.parse(await folder.shell(keys.one("sh", "TRIVIUM_ADMIN_URL"))) as object;
    expect(JSON.stringify(made)).toMatch(/sk-trv-[\w-]{43}/);
  });

  test("its options are those of the command", async () => {
    const help = await folder.shell("bin/trivium keys create --help");
    for (const [option = ""] of keys.rowsUnder("option of `keys create`"))
      expect(help).toContain(option.replaceAll("`", "").split(" ")[0] ?? "");
    for (const [names = ""] of budgets.rowsUnder("limit"))
      for (const [, name = ""] of names.matchAll(/`(\w+)`/g)) expect(help).toContain(name);
  });
});

describe("docs/media.md", () => {
  test.skipIf(!canPaste)("its curl command makes an image of the requested size", async () => {
    await folder.shell(media.one("sh", "/images/generations"));
    const { width, height, format } = await new Bun.Image(folder.read("fox.png")).metadata();
    expect({ width, height, format }).toEqual({ width: 1536, height: 1024, format: "png" });
  });

  test("its commands make images and a video", async () => {
    const output = await folder.shell(media.one("sh", "bin/trivium image"));
    expect(output).toBe("snow.png\nnight-1.jpg\nnight-2.jpg\nsnow.mp4\n");
    expect(folder.read("snow.mp4").toString("latin1", 4, 8)).toBe("ftyp");
  });

  test("its example with openai writes an image of the requested type", async () => {
    await folder.typescript(media.one("ts", "images.generate("));
    expect((await new Bun.Image(folder.read("fox.webp")).metadata()).format).toBe("webp");
  });

  test("its examples with an API key and with openai write videos", async () => {
    await folder.typescript(media.one("ts", "files.download(").replace("@google/genai", "genai-2"));
    await folder.typescript(media.one("ts", "videos.create("));
    for (const name of ["sleeping-fox.mp4", "looking-fox.mp4"]) {
      expect(folder.read(name).toString("latin1", 4, 8)).toBe("ftyp");
      expect(folder.read(name).length).toBeGreaterThan(10_000);
    }
  });

  test("its example with @google/genai writes a video", async () => {
    await folder.typescript(media.one("ts", "vertexai: true"));
    expect(folder.read("fox.mp4").toString("latin1", 4, 8)).toBe("ftyp");
    expect(folder.read("fox.mp4").length).toBeGreaterThan(10_000);
  });
});

describe("docs/testing-with-the-simulator.md", () => {
  const rows = failures.rowsUnder("model", "your client sees").map(([models = "", seen = ""]) => ({
    models: [...models.matchAll(/`(sim\/[\w-]+)`/g)].map(([, id]) => id ?? ""),
    seen,
  }));
  const call = (model: string, stream = false) => callGateway(gateway.url, "chat", gateway.key, { model, stream });
  const reported = (model: string) => rows.find(({ models }) => models.includes(model))?.seen ?? "";

  test.skipIf(!canPaste)("its command fails as described", async () => {
    const output = await folder.shell(failures.one("sh", "fail-429"));
    expect(output).toMatch(/^HTTP\/1\.1 429 /);
    expect(output).toMatch(/^retry-after: 1\r$/m);
    expect(output).toContain('"code":"rate_limit_exceeded"');
  });

  test("every model of its tables exists", async () => {
    const known = new Set(SIMULATED_TEXT_MODELS.map(({ name }) => `sim/${name}`));
    const named = rows.flatMap(({ models }) => models);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((id) => !known.has(id))).toEqual([]);
    const list = await folder.shell("bin/trivium models sim/");
    const others = failures
      .rowsUnder("model", "what it does")
      .flatMap(([cell = ""]) => cell.match(/sim\/[\w-]+/g) ?? []);
    expect(others.length).toBeGreaterThan(6);
    for (const id of others) expect(list).toMatch(new RegExp(`^${id} `, "m"));
  });

  test("its statuses are those that a client sees", async () => {
    for (const model of ["sim/fail-400", "sim/fail-404", "sim/fail-413"]) {
      expect(reported(model)).toStartWith("that status");
      expect((await call(model)).status).toBe(Number(model.slice(-3)));
    }
    for (const model of ["sim/fail-429", "sim/fail-401", "sim/fail-403", "sim/fail-500", "sim/fail-503"]) {
      expect(reported(model)).toContain(String((await call(model)).status));
    }
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

describe("docs/deploy.md", () => {
  test("its configuration is valid, and only the host of its proxy is accepted", async () => {
    const config = Bun.YAML.parse(deploy.in("yaml")[0] ?? "") as { server: { public_url: string } };
    const { public_url } = config.server;
    const other = await startTestGateway({ config: { server: { port: 0, public_url } } });
    const statusFor = async (host: string) => (await fetch(`${other.url}/readyz`, { headers: { host } })).status;
    expect(deploy.in("nginx")[0]).toContain(`server_name ${new URL(public_url).host};`);
    expect(await statusFor(new URL(public_url).host)).toBe(200);
    expect(await statusFor("other.example.com")).toBe(403);
    await other.stop();
  });

  test.skipIf(!programsPresent("the check of deploy/trivium.service", "systemd-analyze"))(
    "its unit is valid, and closed to all but what the gateway needs",
    async () => {
      const unit = readFileSync(join(root, "deploy/trivium.service"), "utf8");
      await Bun.write(join(folder.path, "trivium.service"), unit.replace("/usr/local/bin/trivium", process.execPath));
      expect(await folder.shell("systemd-analyze verify ./trivium.service 2>&1")).toBe("");
      const judged = await folder.shell("systemd-analyze security --offline=true ./trivium.service");
      const exposure = Number(/Overall exposure level for trivium\.service: ([\d.]+)/.exec(judged)?.[1]);
      expect(exposure).toBeLessThanOrEqual(1.5);
    },
  );

  test("its backup of a running gateway contains the keys", async () => {
    await folder.shell("bin/trivium keys create --name kept");
    const copy = join(folder.path, "copy");
    const snippet = deploy.one("sh", "bin/trivium backup").replace(/\/var\/backups\/\S+/, copy);
    expect(await folder.shell(snippet)).toContain("Backed up to");
    expect(deploy.one("sh", "bin/trivium restore")).toContain("/var/backups/");
    const database = new Database(join(copy, "trivium.db"), { readonly: true });
    expect(database.query("SELECT name FROM api_keys").all()).toContainEqual({ name: "kept" });
    database.close();
    expect(await folder.shell(`ls -l ${copy}/trivium.db`)).toStartWith("-rw-------");
  });
});
