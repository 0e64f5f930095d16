import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { parse } from "yaml";
import { findNginx } from "../bench/nginx.ts";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { isPresent, programsPresent } from "../testing/is-present.ts";
import { startPostgres, type TemporaryPostgres } from "../testing/postgres.ts";
import { nginxPresent } from "./support/nginx.ts";
import { bareEnvironment, runProgram, TRIVIUM } from "./support/program.ts";

const deploy = new URL("../deploy/compose/", import.meta.url).pathname;
const read = (name: string): string => readFileSync(join(deploy, name), "utf8");
const compose = parse(read("compose.yaml"), { merge: true }) as {
  services: Record<string, { command?: string[]; healthcheck?: { test: string[] }; volumes?: string[] }>;
};
const valkey = Bun.which("valkey-server") ?? Bun.which("redis-server");
const hasPrograms = nginxPresent("the compose file") && programsPresent("the compose file", "redis-server");
const postgres = hasPrograms ? await startPostgres() : undefined;
if (hasPrograms) isPresent(postgres !== undefined, "the compose file: PostgreSQL not installed");

/** As .env.example names them. */
const ENVIRONMENT = {
  POSTGRES_PASSWORD: "password-of-postgres",
  VALKEY_PASSWORD: "password-of-valkey",
  TRIVIUM_ADMIN_SECRET: "trv-admin-secret-of-the-compose-file-0123456789",
  TRIVIUM_PUBLIC_URL: "http://127.0.0.1:8787",
  OPENAI_API_KEY: "",
};
const admin = { authorization: `Bearer ${ENVIRONMENT.TRIVIUM_ADMIN_SECRET}`, "content-type": "application/json" };

/** Replaces text that occurs exactly once: container addresses, which are loopback ports here. */
function replaced(text: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((changed, [from, to]) => {
    if (changed.split(from).length !== 2) throw new Error(`${from} is there ${changed.split(from).length - 1} times`);
    return changed.replace(from, () => to);
  }, text);
}

/**
 * What the compose file describes, by its own files, as processes of this machine: two gateways, PostgreSQL, Valkey with the file's
 * command, and nginx. Only addresses differ. Where Docker is at hand, `docker compose up` does the rest.
 */
class Composed {
  readonly folder = mkdtempSync(join(tmpdir(), "trivium-compose-"));
  readonly #children: Bun.Subprocess[] = [];
  readonly gateways: { url: string; adminUrl: string }[] = [];
  url = "";

  async start(database: TemporaryPostgres): Promise<void> {
    const valkeyPort = freePort();
    const [, ...flags] = compose.services["valkey"]?.command ?? [];
    const command = flags.map((flag) => (flag.startsWith("${VALKEY_PASSWORD") ? ENVIRONMENT.VALKEY_PASSWORD : flag));
    this.#spawn([valkey ?? "", "--port", String(valkeyPort), "--dir", this.folder, ...command], "valkey");
    const own = new URL(database.url);
    await using sql = new SQL(database.url);
    await sql.unsafe("CREATE DATABASE trivium");
    const key = `${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}\n`;
    for (const name of ["gateway-1", "gateway-2"]) {
      const [port, adminPort] = [freePort(), freePort()];
      const place = join(this.folder, name);
      mkdirSync(place);
      writeFileSync(join(place, "responses.key"), key);
      chmodSync(join(place, "responses.key"), 0o400);
      const config = replaced(read("trivium.yaml"), [
        ["port: 8787", `port: ${port}`],
        ["port: 8788", `port: ${adminPort}`],
        ["data_dir: /data", `data_dir: ${place}`],
        ["files: /files", `files: ${join(this.folder, "files")}`],
        ["@postgres:5432", `@${own.host}`],
        ["@valkey:6379", `@127.0.0.1:${valkeyPort}`],
      ]);
      writeFileSync(join(place, "trivium.yaml"), config);
      const env = { ...ENVIRONMENT, TRIVIUM_CONFIG: join(place, "trivium.yaml") };
      this.#spawn([TRIVIUM, "serve"], name, bareEnvironment(env));
      this.gateways.push({ url: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` });
    }
    for (const { url } of this.gateways) await this.answers(`${url}/readyz`);
    const port = freePort();
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    const [one, two] = this.gateways.map(({ url }) => new URL(url).host);
    const nginx = replaced(read("nginx.conf"), [
      ["gateway-1:8787", one ?? ""],
      ["gateway-2:8787", two ?? ""],
      ["listen 8080", `listen 127.0.0.1:${port}`],
      ["http {", `http { access_log off; ${temporary.map((name) => `${name}_temp_path ${name};`).join(" ")}`],
    ]);
    const file = join(this.folder, "nginx.conf");
    writeFileSync(file, nginx);
    const globals = "daemon off; pid nginx.pid; error_log stderr crit;";
    this.#spawn([findNginx() ?? "", "-p", this.folder, "-c", file, "-g", globals], "nginx");
    this.url = `http://127.0.0.1:${port}`;
    await this.answers(`${this.url}/readyz`);
  }

  #spawn(command: string[], name: string, env?: Record<string, string>): void {
    const said = Bun.file(join(this.folder, `${name}.log`));
    const options = { cwd: this.folder, stdin: "ignore" as const, stdout: said, stderr: said };
    this.#children.push(Bun.spawn(command, env === undefined ? options : { ...options, env }));
  }

  async answers(url: string, headers: Record<string, string> = {}, expected = 200): Promise<void> {
    const isThere = () =>
      fetch(url, { headers }).then(
        ({ status }) => status === expected,
        () => false,
      );
    if (await eventually(url, isThere).catch(() => false)) return;
    const said = ["gateway-1", "gateway-2", "nginx", "valkey"].map((name) => {
      const text = readFileSync(join(this.folder, `${name}.log`), "utf8");
      return `${name}: ${text.slice(-600)}`;
    });
    throw new Error(`${url} does not answer: ${said.join("\n")}`);
  }

  async stop(): Promise<void> {
    for (const child of this.#children.reverse()) {
      child.kill("SIGTERM");
      await child.exited;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe.skipIf(postgres === undefined)("issue 15: the compose file", () => {
  const composed = new Composed();
  let key: { id: string; key: string };
  beforeAll(async () => {
    if (postgres !== undefined) await composed.start(postgres);
  }, 180_000);
  afterAll(async () => {
    await composed.stop();
    await postgres?.stop();
  }, 180_000);

  const call = (stream: boolean) =>
    fetch(`${composed.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sim/standard", stream, messages: [{ role: "user", content: "Hello" }] }),
    });
  const receiptsAt = async (adminUrl: string) => {
    const answer = await fetch(`${adminUrl}/api/receipts?limit=100`, { headers: admin });
    return ((await answer.json()) as { data: { id: string; instance?: string | null }[] }).data;
  };

  test("its health check finds each gateway ready", async () => {
    for (const [at, { url }] of composed.gateways.entries()) {
      const [, program, ...args] = compose.services[`gateway-${at + 1}`]?.healthcheck?.test ?? [];
      expect(program).toBe("/app/trivium");
      const own = args.map((arg) => (arg === "http://127.0.0.1:8787" ? url : arg));
      expect(await runProgram(own, { cwd: composed.folder })).toMatchObject({ code: 0 });
    }
  });

  test("the first key is made by the command of the file's first lines, and a file uploaded with it is at both gateways", async () => {
    const [, service = "", program, words = ""] =
      /docker compose exec (\S+) (\/app\/trivium) (.+)/.exec(read("compose.yaml")) ?? [];
    expect([Object.keys(compose.services).includes(service), program]).toEqual([true, "/app/trivium"]);
    const env = { ...ENVIRONMENT, TRIVIUM_CONFIG: join(composed.folder, service, "trivium.yaml") };
    const made = await runProgram([...words.trim().split(" "), "--json"], { cwd: composed.folder, env });
    expect([made.code, made.stderr]).toEqual([0, ""]);
    const headers = { authorization: `Bearer ${(JSON.parse(made.stdout) as { key: string }).key}` };
    for (const gateway of ["gateway-1", "gateway-2"])
      expect(compose.services[gateway]?.volumes).toContain("files:/files");
    const [first, second] = composed.gateways;
    await composed.answers(`${second?.url}/v1/files`, headers);
    await composed.answers(`${first?.url}/v1/files`, headers);
    const body = new FormData();
    body.set("purpose", "user_data");
    body.set("file", new File(["shared"], "notes.txt"));
    const uploaded = await fetch(`${first?.url}/v1/files`, { method: "POST", headers, body });
    const { id } = (await uploaded.json()) as { id: string };
    expect(await (await fetch(`${second?.url}/v1/files/${id}/content`, { headers })).text()).toBe("shared");
  });

  test("a key created at one gateway works through nginx, streamed or not, at both; the ledger is shared", async () => {
    const [first] = composed.gateways;
    const made = await fetch(`${first?.adminUrl}/api/keys`, {
      method: "POST",
      headers: admin,
      body: JSON.stringify({ name: "composed" }),
    });
    expect(made.status).toBe(201);
    key = ((await made.json()) as { data: typeof key }).data;
    // The other one learns of it a moment later.
    const headers = { authorization: `Bearer ${key.key}` };
    for (const { url } of composed.gateways)
      await composed.answers(`${url}/api/v1/generation?id=rcp_none`, headers, 404);
    const ids: (string | null)[] = [];
    for (let at = 0; at < 12; at++) {
      const answer = await call(at % 3 === 0);
      const text = await answer.text();
      expect([answer.status, answer.status === 200 ? "" : text]).toEqual([200, ""]);
      if (at % 3 === 0) expect(text.trimEnd()).toEndWith("[DONE]");
      ids.push(answer.headers.get("x-trivium-receipt"));
    }
    const seen = await Promise.all(composed.gateways.map(({ adminUrl }) => receiptsAt(adminUrl)));
    for (const receipts of seen) expect(receipts.map(({ id }) => id).sort()).toEqual(ids.map(String).sort());
    const counts = await Promise.all(
      composed.gateways.map(async ({ adminUrl }) => {
        const text = await (await fetch(`${adminUrl}/metrics`, { headers: admin })).text();
        const lines = [...text.matchAll(/^trivium_calls_total\{[^}]*\} (\d+)/gm)];
        return lines.reduce((sum, [, count]) => sum + Number(count), 0);
      }),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(12);
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });

  test("a key revoked at one gateway is refused by both, through Valkey", async () => {
    const [, second] = composed.gateways;
    const gone = await fetch(`${second?.adminUrl}/api/keys/${key.id}`, { method: "DELETE", headers: admin });
    expect(gone.ok).toBe(true);
    await eventually("both to refuse the key", async () => {
      const statuses = await Promise.all([call(false), call(false), call(false), call(false)]);
      for (const one of statuses) await one.text();
      return statuses.every(({ status }) => status === 401);
    });
  });
});
