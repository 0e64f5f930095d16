import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readMp4 } from "../simulator/media-maker/read-mp4.sample.ts";
import { eventually } from "../testing/eventually.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { callGateway } from "./support/client-calls.ts";
import { listeningAt } from "./support/program.ts";
import { TEST_ADMIN_SECRET } from "./support/test-gateway.ts";

const root = new URL("..", import.meta.url).pathname;
const workFolder = mkdtempSync(join(tmpdir(), "trivium-without-"));
const running = new Set<Bun.Subprocess>();
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(workFolder, { recursive: true, force: true });
});

/** The program with only these folders and the required packages, without the optional ones. */
function install(...folders: string[]): string {
  const checkout = mkdtempSync(join(workFolder, "checkout-"));
  for (const folder of ["bin", ...folders]) cpSync(join(root, folder), join(checkout, folder), { recursive: true });
  cpSync(join(root, "package.json"), join(checkout, "package.json"));
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  mkdirSync(join(checkout, "node_modules"));
  for (const name of ["@oven", ...Object.keys(dependencies)]) {
    mkdirSync(dirname(join(checkout, "node_modules", name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(checkout, "node_modules", name));
  }
  return checkout;
}

async function serve(checkout: string, settings: object): Promise<string> {
  const config = {
    server: { host: "127.0.0.1", port: 0 },
    admin: { host: "127.0.0.1", port: 0, secret: TEST_ADMIN_SECRET },
    keys: [{ name: "tests", key: TEST_KEY }],
    ...settings,
  };
  writeFileSync(join(checkout, "trivium.yaml"), JSON.stringify(config));
  const env = { PATH: "/usr/bin:/bin" };
  const child = Bun.spawn([join(checkout, "bin/trivium"), "serve", "--workers", "1"], {
    cwd: checkout,
    env,
    stdout: "pipe",
    stderr: "inherit",
  });
  running.add(child);
  return (await listeningAt(child.stdout)).url;
}

test("S01: with the simulator off, the gateway runs without its code and without the package that encodes its videos", async () => {
  const providers = { acme: { kind: "openai", api_key: "sk-acme" } };
  const url = await serve(install("src"), { simulator: false, providers });
  const list = await fetch(`${url}/api/v1/models`, { headers: { authorization: `Bearer ${TEST_KEY}` } });
  const { data } = (await list.json()) as { data: { id: string }[] };
  expect(data.length).toBeGreaterThan(3);
  expect(data.filter(({ id }) => id.startsWith("sim/"))).toEqual([]);
  expect((await callGateway(url, "chat", TEST_KEY, { model: "sim/standard" })).status).toBe(404);
});

test("choices 7: without the optional encoder the simulator answers, with still videos of the requested length", async () => {
  const url = await serve(install("src", "simulator"), { simulator: true });
  const call = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" };
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, unknown>;
  };
  expect((await callGateway(url, "chat", TEST_KEY, { model: "sim/standard" })).status).toBe(200);
  const model = "/api/genai/v1/publishers/sim/models/video";
  const parameters = { durationSeconds: 4, resolution: "480p", generateAudio: true };
  const { name } = await call(`${model}:predictLongRunning`, { instances: [{ prompt: "a fox" }], parameters });
  let operation: Record<string, unknown> = {};
  await eventually("the video", async () => {
    operation = await call(`${model}:fetchPredictOperation`, { operationName: name });
    return operation["done"];
  });
  const { videos } = operation["response"] as { videos: { gcsUri: string }[] };
  const video = new Uint8Array(await (await fetch(videos[0]?.gcsUri ?? "")).arrayBuffer());
  expect(readMp4(video)).toMatchObject({ seconds: 4, height: 480, keyFrames: [0] });
  expect(readMp4(video).codecs).toEqual(["avc1.42c033", "mp4a.40.2"]);
});
