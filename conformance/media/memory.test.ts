import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../testing/eventually.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type LargeMediaHost, startLargeMediaHost } from "./large-media-host.ts";

const MEGABYTE = 1024 * 1024;
/**
 * Every bound below grows with what is in flight, so larger amounts show nothing more: the smaller the load, the more
 * a gateway's own growth matters. This is enough for that to be negligible.
 */
const CALLS = 25;
const IMAGE_BYTES = 20 * MEGABYTE;
const VIDEOS = 12;
const VIDEO_BYTES = 50 * MEGABYTE;
const NEEDED_BYTES = 3 * 1024 * MEGABYTE;

const bun = new URL("../../bin/bun", import.meta.url).pathname;
const child = new URL("memory.child.ts", import.meta.url).pathname;
const bearer = { authorization: `Bearer ${TEST_KEY}` };

const roomy = process.env["CI"] === "true" || freemem() >= NEEDED_BYTES;
if (!roomy) console.log("skipped: the memory of large images is measured where 3 GB are free");

let host: LargeMediaHost;
let folder: string;
let gateway: Bun.Subprocess<"ignore", "pipe", "inherit">;
let url: string;

/** A fresh process for each measurement: memory left by one must not hide what the next one takes. */
async function startGateway(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), "trivium-memory-"));
  const file = join(folder, "trivium.yaml");
  const sections = {
    // Uploads of one key may hold half of it (S17).
    server: { host: "127.0.0.1", port: 0, drain_seconds: 0, memory_mb: 2048 },
    admin: { host: "127.0.0.1", port: 0, secret: "memory-admin-secret-0123456789" },
    data_dir: join(folder, "data"),
    simulator: false,
    providers: { openai: { kind: "openai", base_url: host.url, api_key: "upstream-secret" } },
    // An offer of one's own does not end with the vendor's.
    models: [{ id: "openai/sora-2", offers: [{ provider: "openai", model: "sora-2" }] }],
    keys: [{ name: "tests", key: TEST_KEY }],
  };
  writeFileSync(file, JSON.stringify(sections));
  gateway = Bun.spawn([bun, child, file], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const { value } = await gateway.stdout.getReader().read();
  url = (JSON.parse(new TextDecoder().decode(value)) as { url: string }).url;
}

async function stopGateway(): Promise<void> {
  gateway.kill("SIGKILL");
  await gateway.exited;
  rmSync(folder, { recursive: true, force: true });
}

/** From /proc: the resident size now, or its highest so far. */
function residentBytes(of: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, "latin1");
  return Number(new RegExp(`^${of}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
}

/** The peak growth of the gateway during `work`. */
async function growthBy(what: string, inFlight: number, work: () => Promise<void>): Promise<number> {
  const idle = residentBytes("VmRSS");
  await work();
  const growth = residentBytes("VmHWM") - idle;
  const megabytes = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`;
  console.log(`${what}: ${megabytes(inFlight)} in flight, at most ${megabytes(growth)} more resident`);
  return growth;
}

/** Reads a response without keeping it. */
async function lengthOf(response: Response): Promise<number> {
  let length = 0;
  for await (const chunk of response.body ?? []) length += chunk.length;
  return length;
}

const all = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

describe.skipIf(!roomy)("H20: memory stays close to what is in flight", () => {
  beforeAll(async () => {
    host = await startLargeMediaHost(IMAGE_BYTES, VIDEO_BYTES);
  });
  afterAll(() => host.stop());
  beforeEach(startGateway);
  afterEach(stopGateway);

  const generate = (path: string, body: object): Promise<Response> =>
    fetch(url + path, {
      method: "POST",
      headers: { ...bearer, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  test(`contract 4: ${CALLS} concurrent responses with 20 MB images`, async () => {
    const body = { model: "openai/gpt-image-2", prompt: "a wide field" };
    const growth = await growthBy("answers", CALLS * IMAGE_BYTES, async () => {
      host.awaitCalls(CALLS);
      const lengths = await all(CALLS, async () => lengthOf(await generate("/api/v1/images/generations", body)));
      expect(Math.min(...lengths)).toBeGreaterThan((IMAGE_BYTES * 4) / 3);
    });
    expect(growth).toBeLessThan(2 * CALLS * IMAGE_BYTES);
    host.awaitCalls(1);
    const whole = (await (await generate("/api/v1/images/generations", body)).json()) as {
      data: { b64_json: string }[];
    };
    expect(Buffer.from(whole.data[0]?.b64_json ?? "", "base64").equals(host.image)).toBe(true);
  });

  test(`contract 4: ${CALLS} concurrent edits that upload 20 MB each`, async () => {
    const boundary = "memory-test";
    const field = (name: string, value: string) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const form = Buffer.concat([
      Buffer.from(field("model", "openai/gpt-image-2") + field("prompt", "more sky")),
      Buffer.from(
        `--${boundary}\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n`,
      ),
      host.image,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    host.uploadedBytes = 0;
    const growth = await growthBy("uploads", CALLS * IMAGE_BYTES, async () => {
      host.awaitCalls(CALLS);
      const headers = { ...bearer, "content-type": `multipart/form-data; boundary=${boundary}` };
      const edit = () => fetch(`${url}/api/v1/images/edits`, { method: "POST", headers, body: form });
      const statuses = await all(CALLS, async () => {
        const response = await edit();
        await lengthOf(response);
        return response.status;
      });
      expect(new Set(statuses)).toEqual(new Set([200]));
    });
    expect(host.uploadedBytes).toBeGreaterThan(CALLS * IMAGE_BYTES);
    expect(growth).toBeLessThan(4 * CALLS * IMAGE_BYTES);
  });

  test(`H22: ${VIDEOS} videos of 50 MB go to the file store in chunks`, async () => {
    const growth = await growthBy("videos", VIDEOS * VIDEO_BYTES, async () => {
      const path = "/api/genai/v1/publishers/openai/models/sora-2";
      const names = await all(VIDEOS, async (index) => {
        const submitted = await generate(`${path}:predictLongRunning`, { instances: [{ prompt: `video ${index}` }] });
        return ((await submitted.json()) as { name: string }).name;
      });
      await all(VIDEOS, async (index) => {
        await eventually("the end of a video", async () => {
          const polled = await generate(`${path}:fetchPredictOperation`, { operationName: names[index] });
          return ((await polled.json()) as { done?: boolean }).done;
        });
      });
    });
    const kept = join(folder, "data", "files");
    const videos = readdirSync(kept).filter((name) => !name.startsWith("."));
    const sizes = videos.map((name) => statSync(join(kept, name)).size);
    expect(sizes).toEqual(new Array<number>(VIDEOS).fill(VIDEO_BYTES));
    expect(growth).toBeLessThan((VIDEOS * VIDEO_BYTES) / 2);
  });
});
