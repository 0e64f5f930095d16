import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { materials } from "../scripts/build/materials.ts";
import { readMp4 } from "../simulator/media-maker/read-mp4.sample.ts";
import { eventually } from "../testing/eventually.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { listeningAt } from "./support/program.ts";
import { TEST_ADMIN_SECRET } from "./support/test-gateway.ts";

const root = new URL("..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "trivium-compiled-"));
let program: Bun.Subprocess | undefined;
afterAll(() => {
  program?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** As `npm run build:binary` does it, for this machine. */
function build(name: string): string {
  const out = join(folder, name);
  const command = [process.execPath, join(root, "scripts/build/binary.ts"), "--out", out];
  const built = Bun.spawnSync(command, { cwd: folder, stdout: "pipe", stderr: "pipe" });
  expect([built.exitCode, built.exitCode === 0 ? "" : built.stderr.toString()]).toEqual([0, ""]);
  const [program = ""] = readdirSync(out).filter((file) => file.startsWith("trivium-"));
  return join(out, program);
}

const built = build("one");

const digest = (content: Uint8Array | string): string => new Bun.CryptoHasher("sha256").update(content).digest("hex");

/** Digests of a program that was built a second time: by `npm test` for all tests, else here. */
function sumsOfAnother(): string {
  const made = process.env["TRIVIUM_TEST_PROGRAM"] ?? "";
  const another = basename(made) === basename(built) ? made : build("two");
  return `${digest(readFileSync(another))}  ${basename(built)}\n${digest(materials(root))}  sbom.cdx.json\n`;
}

test("docs/deploy.md, One file: two builds are identical, with checksums and a list of contents", () => {
  const one = readFileSync(join(dirname(built), "SHA256SUMS"), "utf8");
  expect(one).toMatch(/^[0-9a-f]{64} {2}trivium-[\d.]+-\w+-\w+\n[0-9a-f]{64} {2}sbom\.cdx\.json\n$/);
  expect(sumsOfAnother()).toBe(one);
  const { components } = JSON.parse(readFileSync(join(dirname(built), "sbom.cdx.json"), "utf8")) as {
    components: { name: string; version: string; hashes: unknown[] }[];
  };
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const [name, version] of Object.entries(dependencies))
    expect(components).toContainEqual(expect.objectContaining({ name, version, hashes: [expect.anything()] }));
  expect(components.map(({ name }) => name)).not.toContain("typescript");
});

test("the compiled program behaves like the program of the repository", () => {
  const run = (program: string, ...args: string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args], {
      cwd: folder,
      env: { PATH: "/usr/bin:/bin" },
    });
    return { exitCode, stdout: `${stdout}`, stderr: `${stderr}` };
  };
  for (const args of [["--version"], ["models", "--json"], ["no-such-command"]]) {
    expect(run(built, ...args)).toEqual(run(join(root, "bin/trivium"), ...args));
  }
});

test("choices 7: compiled to one file, with no others next to it, the program answers, shows its console and makes simulated videos", async () => {
  const config = {
    server: { host: "127.0.0.1", port: 0 },
    admin: { host: "127.0.0.1", port: 0, secret: TEST_ADMIN_SECRET },
    simulator: true,
    keys: [{ name: "tests", key: TEST_KEY }],
  };
  writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(config));
  const started = Bun.spawn([built, "serve"], { cwd: folder, env: {}, stdout: "pipe", stderr: "ignore" });
  program = started;
  const { url, adminUrl } = await listeningAt(started.stdout);

  const call = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" };
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, unknown>;
  };
  const messages = [{ role: "user", content: "Hello" }];
  expect(await call("/api/v1/chat/completions", { model: "sim/standard", messages })).toHaveProperty("choices");

  const page = await (await fetch(adminUrl)).text();
  const [script = ""] = /\/assets\/main-\w+\.js/.exec(page) ?? [];
  const code = await (await fetch(adminUrl + script)).text();
  expect([code.length > 10_000, code.includes("x-trivium-csrf")]).toEqual([true, true]);

  const model = "/api/genai/v1/publishers/sim/models/video";
  const parameters = { durationSeconds: 4, resolution: "480p" };
  const { name } = await call(`${model}:predictLongRunning`, { instances: [{ prompt: "a fox" }], parameters });
  let operation: Record<string, unknown> = {};
  await eventually("the video", async () => {
    operation = await call(`${model}:fetchPredictOperation`, { operationName: name });
    return operation["done"];
  });
  expect(operation["error"]).toBeUndefined();
  const { videos } = operation["response"] as { videos: { gcsUri: string }[] };
  const video = await fetch(videos[0]?.gcsUri ?? "");
  const facts = await readMp4(new Uint8Array(await video.arrayBuffer()));
  expect(facts).toMatchObject({ seconds: 4 });
});
