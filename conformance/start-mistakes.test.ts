import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../testing/free-port.ts";
import { bareEnvironment, TRIVIUM } from "./support/program.ts";
import { startTestGateway } from "./support/test-gateway.ts";

// Each test starts the program several times, possibly on a slow machine.

const workFolder = mkdtempSync(join(tmpdir(), "trivium-mistakes-"));
afterAll(() => rmSync(workFolder, { recursive: true, force: true }));

/** A folder with this trivium.yaml; JSON is YAML too. */
function newFolder(sections: object = {}): string {
  const folder = mkdtempSync(join(workFolder, "workspace-"));
  writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(sections));
  return folder;
}

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A process that keeps running because its mistake went unnoticed is killed. */
const run = (folder: string, ...args: string[]) => runWith({}, folder, ...args);

async function runWith(variables: Record<string, string>, folder: string, ...args: string[]): Promise<Ended> {
  const env = bareEnvironment({ TRIVIUM_API_KEY: "sk-any", ...variables });
  const child = Bun.spawn([TRIVIUM, ...args], {
    cwd: folder,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 20_000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

const oneLine = ({ code, stderr }: Ended) => ({ code, line: stderr.trimEnd() });
/** The mistake, without the line on usage below it. */
const firstLine = ({ code, stdout, stderr }: Ended) => ({ code, stdout, line: stderr.split("\n")[0] });

describe("choices 7: commands that only need the storage", () => {
  const file = (folder: string) => join(folder, "data/trivium.db");

  test("run without the keys of the configured providers", async () => {
    const reference = `\${${"OPENAI_API_KEY"}}`;
    const folder = newFolder({ providers: { openai: { kind: "openai", api_key: reference } } });
    const created = await run(folder, "keys", "create", "--name", "first", "--json");
    expect({ code: created.code, stderr: created.stderr }).toEqual({ code: 0, stderr: "" });
    for (const words of [["keys", "list"], ["usage"], ["projects", "list"], ["operators", "list"]]) {
      const { code, stderr } = await run(folder, ...words);
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: "" });
    }
    expect(oneLine(await run(folder, "check"))).toMatchObject({
      code: 1,
      line: expect.stringContaining("OPENAI_API_KEY"),
    });
  });

  test("say that there is no database, instead of showing an empty table and creating a file", async () => {
    const folder = mkdtempSync(join(workFolder, "elsewhere-"));
    for (const words of [["keys", "list"], ["keys", "revoke", "mine"], ["usage"], ["projects", "list"]]) {
      const { code, line } = oneLine(await run(folder, ...words));
      expect({ words, code }).toEqual({ words, code: 1 });
      expect(line).toBe(
        `The database ${file(folder)} does not exist. Run this command in the gateway's folder, or pass its configuration with --config.`,
      );
    }
    expect(existsSync(file(folder))).toBe(false);
  });
});

test("choices 7: --port alone moves the Admin API next to it, so that two gateways can run on one machine", async () => {
  const folder = newFolder({ storage: "sqlite::memory:" });
  const checked = (...args: string[]) => run(folder, "serve", "--json", ...args);
  const port = freePort();
  const blocker = Bun.listen({ hostname: "127.0.0.1", port: port + 1, socket: { data: () => undefined } });
  try {
    expect(oneLine(await checked("--port", String(port)))).toMatchObject({
      code: 1,
      line: expect.stringContaining(String(port + 1)),
    });
  } finally {
    blocker.stop(true);
  }
});

test("init in a read-only directory says so, without a stack", async () => {
  const folder = mkdtempSync(join(workFolder, "taken-"));
  // A folder in place of the file: file permissions would not stop root.
  mkdirSync(join(folder, "trivium.yaml"));
  const { code, line } = oneLine(await run(folder, "init", "--yes", "--force", "--no-check"));
  expect(code).toBe(1);
  expect(line).toMatch(/^Cannot write \S+trivium\.yaml: .*\. Run this command in a folder that you can write to\.$/);
});

test("the help lists every command in two columns", async () => {
  const { code, stdout } = await run(newFolder(), "--help");
  expect(code).toBe(0);
  const rows = stdout.split("\n").filter((line) => line.startsWith("  "));
  expect(rows.length).toBeGreaterThan(20);
  const column = rows[0]?.search(/(?<= {2})\S+(?: \S+)*$/);
  for (const row of rows)
    expect({ row, column: row.search(/(?<=^ {2}\S+ {2,})\S/) }).toEqual({ row, column: column ?? 0 });
});

describe("choices 7: a gateway that cannot start says in one line how to fix it", () => {
  test("an address of another machine, for clients and for operators", async () => {
    const port = freePort();
    for (const host of ["1.2.3.4", "nohost.invalid"]) {
      const serving = await run(newFolder({ server: { host, port }, admin: { port: 0 } }), "serve");
      expect(oneLine(serving)).toEqual({ code: 1, line: `server.host: this machine has no address ${host}.` });
    }
    const admin = await run(newFolder({ server: { port }, admin: { host: "1.2.3.4", port: 0 } }), "serve");
    expect(oneLine(admin)).toEqual({ code: 1, line: "admin.host: this machine has no address 1.2.3.4." });
  });

  test("a dialect that its host only speaks elsewhere", async () => {
    const provider = { kind: "deepseek", api_key: "k", base_url: "http://127.0.0.1:9/v1", dialects: ["messages"] };
    const checked = await run(newFolder({ providers: { mine: provider } }), "check");
    expect(oneLine(checked)).toEqual({
      code: 1,
      line: expect.stringMatching(
        /:\d+:\d+: providers\.mine: with a base_url this provider supports only chat and responses, not messages$/,
      ),
    });
  });

  test("files names a file", async () => {
    const folder = newFolder({ server: { port: 0 }, admin: { port: 0 }, files: "./notes.txt" });
    const path = join(folder, "notes.txt");
    writeFileSync(path, "mine");
    const line = `The folder ${path} of the file store cannot be used: EEXIST.`;
    expect(oneLine(await run(folder, "serve"))).toEqual({ code: 1, line });
  });
});

describe("choices 7: an unreadable storage is reported in one line with its name", () => {
  test("a damaged SQLite file, by the start and by the commands that read it", async () => {
    const folder = newFolder({ server: { port: 0 }, admin: { port: 0 } });
    expect((await run(folder, "keys", "create", "--name", "a")).code).toBe(0);
    const path = join(folder, "data/trivium.db");
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 8192);
    writeFileSync(path, bytes);
    // Which part is damaged decides whether it opens at all.
    const problem = `the SQLite file ${RegExp.escape(path)}: database disk image is malformed\\.`;
    const line = expect.stringMatching(new RegExp(`^The storage cannot be (?:opened|used): ${problem}$`));
    for (const args of [["serve"], ["usage"], ["keys", "list"]]) {
      expect(oneLine(await run(folder, ...args))).toEqual({ code: 1, line });
    }
  });
});

describe("choices 7: check finds what otherwise only a start would find", () => {
  test("a budget beyond the supported range, and two listeners on one port", async () => {
    const keys = [{ name: "a", key: "a-key-of-the-configuration", limits: { budget_usd_total: 90_000_000 } }];
    const budget = newFolder({ keys });
    const port = newFolder({ server: { port: 9000 }, admin: { port: 9000 } });
    const reported = [
      [budget, /^trivium\.yaml:1:\d+: keys\[0\]\.limits\.budget_usd_total must be a number from 0 to 9000000$/],
      [port, /^trivium\.yaml:1:41: server\.port and admin\.port must be different when both listen on the same host$/],
    ] as const;
    for (const [folder, line] of reported) {
      const checked = await run(folder, "check");
      expect(oneLine(checked)).toEqual({ code: 1, line: expect.stringMatching(line) });
      expect(oneLine(await run(folder, "serve"))).toEqual(oneLine(checked));
    }
  });

  test("a well-known variable with an unusable value; a trailing line break is ignored", async () => {
    const folder = mkdtempSync(join(workFolder, "bare-"));
    const check = (environment: Record<string, string>) => runWith(environment, folder, "check");
    const azure = { AZURE_OPENAI_API_KEY: "sk-ok", AZURE_OPENAI_ENDPOINT: "my-res.openai.azure.com" };
    expect(oneLine(await check({ ...azure, OPENAI_API_KEY: "sk-hidden\u00a0key" }))).toEqual({
      code: 1,
      line:
        "environment:1:1: OPENAI_API_KEY must be visible ASCII characters without spaces\n" +
        "environment:1:1: AZURE_OPENAI_ENDPOINT must be an http or https URL without query, fragment or credentials",
    });
    expect(await check({ OPENAI_API_KEY: "sk-ok\r" })).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("choices 7: exit codes that scripts can use", () => {
  test.each([
    [["serve", "--log-level", "foo"], '--log-level: "foo" is not one of debug, info, warn, error, silent.'],
    [["serve", "extra"], 'Unexpected argument "extra".'],
    [["check", "bad.yaml"], 'Unexpected argument "bad.yaml".'],
    [["keys", "create", "--name", "a", "bb"], 'Unexpected argument "bb".'],
    [["keys", "list", "team"], 'Unexpected argument "team".'],
    [["keys", "revoke", "A", "B"], 'Unexpected argument "B". Quote an argument that contains spaces.'],
    [["models", "a", "b"], 'Unexpected argument "b". Quote an argument that contains spaces.'],
    [["image", "a", "fox", "-o", "fox.png"], 'Unexpected argument "fox". Quote an argument that contains spaces.'],
    [["video", "a", "fox", "-o", "fox.mp4"], 'Unexpected argument "fox". Quote an argument that contains spaces.'],
    [["usage", "extra"], 'Unknown command "usage extra".'],
    [["sim", "extra"], 'Unexpected argument "extra".'],
    [["openapi", "x"], 'Unexpected argument "x".'],
    [["check", "--config", ""], "--config is empty. Pass the path of a configuration file."],
    [["usage", "--config="], "--config is empty. Pass the path of a configuration file."],
    [["sim", "--port", "abc"], '--port: "abc" must be a whole number from 0 to 65535.'],
    [["sim", "--port", "99999"], '--port: "99999" must be a whole number from 0 to 65535.'],
    [["sim", "--port", "0", "--host", "nohost.invalid"], "--host: this machine has no address nohost.invalid."],
    [
      ["image", "a fox", "-o", "fox.png", "--n", "5000000000"],
      '--n: "5000000000" must be a whole number from 1 to 100.',
    ],
    [
      ["image", "a fox", "-o", "a.png", "--partial", "5000000000"],
      '--partial: "5000000000" must be a whole number from 0 to 3.',
    ],
    [["video", "a fox", "-o", "fox.mp4", "--n", "101"], '--n: "101" must be a whole number from 1 to 100.'],
    [
      ["keys", "create", "--name", "x", "--expires", "2027-02-31"],
      '--expires: "2027-02-31" is not a valid date. Use a date such as 2027-01-31.',
    ],
  ])("wrong usage exits with 2, without a stack: %j", async (args, line) => {
    const ended = await run(newFolder(), ...args);
    expect(firstLine(ended)).toEqual({ code: 2, stdout: "", line });
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });

  test("sim on a port in use prints the same as serve", async () => {
    const blocker = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const { port } = blocker;
    const ended = await run(newFolder(), "sim", "--port", String(port));
    await blocker.stop(true);
    expect(oneLine(ended)).toEqual({
      code: 1,
      line: expect.stringMatching(
        new RegExp(
          `^Port ${port} on 127.0.0.1 is in use by process ${process.pid} .*Stop it, or set --port to a free port.$`,
        ),
      ),
    });
  });

  test("a configured key is not revoked by its name, nor by that of a revoked stored key", async () => {
    const folder = newFolder({ keys: [{ name: "ci", key: `sk-trv-${"StaticKey".padEnd(43, "x")}` }] });
    const refused = { code: 1, line: "The key ci is defined in the configuration; remove it there." };
    expect((await run(folder, "projects", "create", "team")).code).toBe(0);
    expect(oneLine(await run(folder, "keys", "revoke", "ci"))).toEqual(refused);
    expect(oneLine(await run(folder, "keys", "revoke", "static:ci"))).toEqual(refused);

    expect((await run(folder, "keys", "create", "--name", "ci")).code).toBe(0);
    expect((await run(folder, "keys", "revoke", "ci")).stdout).toMatch(/^Revoked ci \(key_\w+\)\./);
    expect(oneLine(await run(folder, "keys", "revoke", "ci"))).toEqual(refused);
  });
});

describe("choices 7: --help lists the options of every command", () => {
  test.each([
    [["serve"], ["--log-level LEVEL"]],
    [["check"], []],
    [["keys"], ["create --name NAME", "list [--project P]", "revoke ID"]],
    [
      ["keys", "create"],
      ["--name NAME", "--expires DATE", "--limit NAME=NUMBER", "--strict"],
    ],
    [["keys", "list"], ["--project P"]],
    [["keys", "revoke"], ["trivium keys revoke ID"]],
    [["models"], ["trivium models [TEXT]"]],
    [["image"], ["-o, --output FILE", "--n N", "--key KEY"]],
    [["video"], ["--last-frame FILE", "--operation NAME"]],
    [["usage"], ["--by GROUP", "(default: 30)"]],
    [["sim"], ["--port PORT", "--host HOST"]],
    [["openapi"], []],
  ])("%j", async (command, reported) => {
    const folder = newFolder();
    const { code, stdout, stderr } = await run(folder, ...command, "--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toStartWith(`Usage: trivium ${command.join(" ")}`);
    for (const words of [...reported, "--config FILE", "--json", "-h, --help"]) expect(stdout).toContain(words);
    expect(await run(folder, ...command, "-h", "--bogus")).toEqual({ code: 0, stdout, stderr: "" });
  });
});

test("choices 5: the operator's listener has its own message for unknown endpoints", async () => {
  const gateway = await startTestGateway();
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${gateway.adminSecret}`, "content-type": "application/json" };
    const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
    const response = await fetch(gateway.adminUrl + path, init);
    const { error } = (await response.json()) as { error: { code: string; message: string; param: string } };
    return { status: response.status, ...error };
  };
  try {
    expect(await call("DELETE", "/api/keys/nope")).toMatchObject({
      status: 404,
      code: "key_not_found",
      message: 'No key has the id or name "nope".',
    });
    expect(await call("GET", "/v1/models")).toMatchObject({
      status: 404,
      code: "unknown_address",
      message:
        "Unknown endpoint GET /v1/models. This is the Admin API: GET /openapi.json lists its endpoints. Call models at the gateway's other port.",
    });
    expect(await call("POST", "/api/keys", { name: "x", expires_at: "2027-02-31" })).toMatchObject({
      status: 400,
      param: "expires_at",
      message: "`expires_at` must be a date such as 2027-01-31.",
    });
    // H25: an ignored field would have restricted the key.
    for (const [field, value] of Object.entries({
      expires: "2027-01-31",
      model: ["sim/*"],
      limit: { concurrent: 1 },
    })) {
      expect(await call("POST", "/api/keys", { name: "narrow", [field]: value })).toMatchObject({
        status: 400,
        param: field,
        message: expect.stringContaining(`${field} is not a field here; expected one of name, project, models, `),
      });
    }
    expect(await call("POST", "/api/keys", { name: "narrow", limits: { concurent: 1 } })).toMatchObject({
      status: 400,
      param: "limits.concurent",
    });
  } finally {
    await gateway.stop();
  }
});

test("a proxy for the outside is not asked for this machine: the simulator and the commands answer", async () => {
  // Nothing listens there, so every request sent to it fails.
  const proxy = `http://127.0.0.1:${freePort()}`;
  const proxies = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, no_proxy: "internal.example" };
  const folder = newFolder({ storage: "sqlite::memory:" });
  const child = Bun.spawn([TRIVIUM, "serve", "--json", "--port", "0", "--admin-port", "0"], {
    cwd: folder,
    env: bareEnvironment(proxies),
    stdout: "pipe",
    stderr: "ignore",
  });
  try {
    let shown = "";
    for await (const chunk of child.stdout) {
      shown += new TextDecoder().decode(chunk);
      if (shown.trimEnd().endsWith("\n}")) break;
    }
    const { url, first_start } = JSON.parse(shown) as { url: string; first_start: { api_key: string } };
    const variables = { ...proxies, TRIVIUM_URL: url, TRIVIUM_API_KEY: first_start.api_key };
    expect(await runWith(variables, folder, "health", "--url", url)).toMatchObject({ code: 0 });
    const said = await runWith(variables, folder, "image", "a fox", "-o", "fox.png");
    expect({ code: said.code, stderr: said.stderr }).toMatchObject({ code: 0 });
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
});

test("workers, which share their ports, do not share those of another gateway; its first process is named", async () => {
  const port = freePort();
  const serve = ["serve", "--workers", "2", "--port", String(port), "--admin-port", "0"];
  const options = { env: bareEnvironment(), stdout: "pipe", stderr: "ignore" } as const;
  const first = Bun.spawn([TRIVIUM, ...serve], { cwd: newFolder({ storage: "sqlite:./one.db" }), ...options });
  try {
    for await (const chunk of first.stdout) if (new TextDecoder().decode(chunk).includes("listening")) break;
    const { code, line } = oneLine(await run(newFolder({ storage: "sqlite:./two.db" }), ...serve));
    expect({ code, line }).toEqual({
      code: 1,
      line: expect.stringContaining(`Port ${port} on 127.0.0.1 is in use by process ${first.pid} (`),
    });
  } finally {
    first.kill("SIGTERM");
    await first.exited;
  }
});
