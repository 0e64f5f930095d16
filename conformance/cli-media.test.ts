import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Canvas } from "../simulator/media-maker/canvas.ts";
import { encodePng } from "../simulator/media-maker/png.ts";
import { readMp4 } from "../simulator/media-maker/read-mp4.sample.ts";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { eventually } from "../testing/eventually.ts";
import { TRIVIUM } from "./support/program.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

// Each test starts the program several times, possibly on a slow machine.

const workFolder = mkdtempSync(join(tmpdir(), "trivium-cli-media-"));
const running = new Set<Bun.Subprocess>();
/** Long enough for something to happen meanwhile. */
const VIDEO_MS = 5000;

let gateway: TestGateway;
/** Host of the videos that report their progress. */
let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ mediaJobMs: VIDEO_MS });
  gateway = await startTestGateway({
    config: {
      simulator: true,
      providers: { studio: { kind: "openai", base_url: `${simulator.url}/openai/v1`, api_key: "upstream-secret" } },
      models: [{ id: "openai/sora-2", offers: [{ provider: "studio", model: "sora-2" }] }],
    },
    timings: { mediaPollFactor: 0.02 },
  });
});
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  await gateway.stop();
  await simulator.stop();
  rmSync(workFolder, { recursive: true, force: true });
});

const newFolder = () => mkdtempSync(join(workFolder, "workspace-"));

const environment = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: `${dirname(TRIVIUM)}${delimiter}${process.env["PATH"] ?? ""}`,
  TRIVIUM_CONFIG: gateway.configFile,
  TRIVIUM_URL: gateway.url,
  TRIVIUM_API_KEY: gateway.key,
  ...more,
});

interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

function start(folder: string, command: string[], env = environment()) {
  const child = Bun.spawn(command, { cwd: folder, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  running.add(child);
  child.exited.then(() => running.delete(child));
  return child;
}

async function finish(child: ReturnType<typeof start>): Promise<Finished> {
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

const run = (folder: string, args: string[], env = environment()) => finish(start(folder, [TRIVIUM, ...args], env));

async function jsonOf<T>(folder: string, args: string[]): Promise<T> {
  const { code, stdout, stderr } = await run(folder, [...args, "--json"]);
  // If it takes long, the program says so every ten seconds.
  const complaints = stderr.replaceAll(/^(?:Operation .*|\S+ {2}(?:\d+ % {2})?\d+:\d\d)\n/gm, "");
  expect({ code, stderr: complaints }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as T;
}

/** What a person would see in the images. */
async function look(folder: string, name: string): Promise<{ width: number; height: number; format: string }> {
  const { width, height, format } = await new Bun.Image(readFileSync(join(folder, name))).metadata();
  return { width, height, format };
}

const lengthOf = (folder: string, name: string): number =>
  Math.round(readMp4(readFileSync(join(folder, name))).seconds);

const usageOf = async (receipt: string) =>
  (await gateway.receipt(new Response(null, { headers: { "x-trivium-receipt": receipt } }))).usage;

interface Reported {
  model: string;
  receipt: string;
  dropped: string[];
  operation?: string;
  files: { path: string; mime_type: string; bytes: number }[];
  not_made: { reason: string; moderated: boolean }[];
}

describe("trivium image", () => {
  test("makes an image of the requested size, with the simulator if no model is named, and does not overwrite a file", async () => {
    const folder = newFolder();
    const made = await run(folder, ["image", "a red fox", "-o", "fox.png", "--size", "1536x1024"]);
    expect(made).toEqual({ code: 0, stdout: "fox.png\n", stderr: "" });
    expect(await look(folder, "fox.png")).toEqual({ width: 1536, height: 1024, format: "png" });

    const before = readFileSync(join(folder, "fox.png"));
    const again = await run(folder, ["image", "a blue fox", "-o", "fox.png"]);
    expect(again.code).toBe(2);
    expect(again.stderr).toStartWith('"fox.png" already exists. Pass --force to overwrite it.\n');
    expect(readFileSync(join(folder, "fox.png"))).toEqual(before);
    expect((await run(folder, ["image", "a blue fox", "-o", "fox.png", "--force"])).code).toBe(0);
    expect(readFileSync(join(folder, "fox.png"))).not.toEqual(before);
    expect(readdirSync(folder)).toEqual(["fox.png"]);
  });

  test("choices 1: the simulator's media models keep answering under their old names", async () => {
    const folder = newFolder();
    const image = await jsonOf<Reported>(folder, ["image", "a fox", "-o", "fox.png", "--model", "sim/picture"]);
    const video = await jsonOf<Reported>(folder, ["video", "a fox", "-o", "fox.mp4", "--model", "sim/film:simulator"]);
    for (const [{ receipt }, model] of [
      [image, "sim/image"],
      [video, "sim/video"],
    ] as const) {
      const headers = { "x-trivium-receipt": receipt };
      expect((await gateway.receipt(new Response(null, { headers }))).model).toBe(model);
    }
    expect(readdirSync(folder).sort()).toEqual(["fox.mp4", "fox.png"]);
  });

  test("numbers several images, writes partial ones as they arrive, and takes the format from the name", async () => {
    const folder = newFolder();
    const reported = await jsonOf<Reported>(folder, ["image", "a fox", "-o", "fox.jpg", "--n", "2", "--partial", "1"]);
    expect(reported).toMatchObject({ model: "sim/image", dropped: [], not_made: [] });
    expect(reported.files.map(({ path, mime_type }) => [path, mime_type])).toEqual([
      ["fox-1.jpg", "image/jpeg"],
      ["fox-2.jpg", "image/jpeg"],
    ]);
    expect(reported.files[0]?.bytes).toBe(readFileSync(join(folder, "fox-1.jpg")).length);
    expect(await usageOf(reported.receipt)).toMatchObject({ images: 2 });
    expect(readdirSync(folder).sort()).toEqual(["fox-1.jpg", "fox-2.jpg", "fox.partial-0.jpg", "fox.partial-1.jpg"]);
    for (const name of readdirSync(folder)) expect((await look(folder, name)).format).toBe("jpeg");
  });

  test("edits one or several images, and where a mask is transparent; reports what is not honoured", async () => {
    const folder = newFolder();
    await jsonOf<Reported>(folder, ["image", "a fox", "-o", "a.png", "--ratio", "2:3"]);
    await jsonOf<Reported>(folder, ["image", "a cat", "-o", "b.webp", "--quality", "low"]);
    const { width, height } = await look(folder, "a.png");
    expect(width / height).toBeCloseTo(2 / 3, 1);
    writeFileSync(join(folder, "mask.png"), await encodePng(new Canvas(width, height), true));

    const both = await jsonOf<Reported>(folder, [
      "image",
      "at night",
      "--image",
      "a.png",
      "--image",
      "b.webp",
      "-o",
      "c.png",
    ]);
    expect(both.files).toHaveLength(1);
    await jsonOf<Reported>(folder, ["image", "at night", "--image", "a.png", "--mask", "mask.png", "-o", "d.webp"]);
    expect((await look(folder, "d.webp")).format).toBe("webp");

    const seeded = await run(folder, ["image", "a fox", "-o", "e.png", "--seed", "7"]);
    expect(seeded.code).toBe(0);
    expect(seeded.stderr).toMatch(/^Not applied exactly as requested: seed\. See receipt rcp_\S+ for the reasons\.\n$/);
  });

  test("exit codes: 3 for moderation, streamed or not; 1 for failures and for too few images", async () => {
    const folder = newFolder();
    const cases: [number, RegExp, string[]][] = [
      [3, /rejected by the safety system/, ["sim:moderated fox"]],
      [3, /Blocked by moderation: .*rejected by the safety system/, ["sim:moderated fox", "--partial", "1"]],
      [1, /overloaded/, ["sim:overloaded fox"]],
      [1, /^Provider `\S+` generated fewer images than requested/, ["sim:one-fails fox", "--n", "2"]],
      [1, /size must be "auto" or/, ["a fox", "--size", "huge"]],
      [1, /There is no model "sim\/pictrue"/, ["a fox", "--model", "sim/pictrue"]],
    ];
    const ended = await Promise.all(
      cases.map(([, , args], index) => run(folder, ["image", ...args, "-o", `${index}.png`])),
    );
    for (const [index, { code, stderr }] of ended.entries()) {
      const [expectedCode = -1, message = "", args] = cases[index] ?? [];
      expect({ code, args }).toEqual({ code: expectedCode, args });
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
    expect(readdirSync(folder).sort()).toEqual(["1.partial-0.png", "3-1.png"]);
  });
});

test("too few images are a failure even if the response does not say so", async () => {
  const folder = newFolder();
  const b64_json = Buffer.from(await encodePng(new Canvas(64, 64), false)).toString("base64");
  const host = startHost(() => Response.json({ data: [{ b64_json }, {}] }));
  const args = ["image", "a fox", "-o", "fox.png", "--n", "3", "--model", "acme/brush", "--url", host.url.origin];
  const { code, stdout, stderr } = await run(folder, args);
  await host.stop(true);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "fox-1.png\n" });
  expect(stderr).toBe(
    "The image was not generated. The provider gave no reason.\n" +
      "1 of 3 images was not generated. The provider gave no reason.\n",
  );
  expect(await look(folder, "fox-1.png")).toEqual({ width: 64, height: 64, format: "png" });
  expect(readdirSync(folder)).toEqual(["fox-1.png"]);
});

describe("trivium video", () => {
  const asked = ["video", "a cat looks up", "--model", "openai/sora-2", "--seconds", "4"];

  test("makes a video of the requested length, and several at once", async () => {
    const folder = newFolder();
    const args = ["video", "a cat", "-o", "cat.mp4", "--seconds", "5", "--resolution", "480p", "--no-audio"];
    const reported = await jsonOf<Reported>(folder, args);
    expect(reported).toMatchObject({
      model: "sim/video",
      dropped: [],
      files: [{ path: "cat.mp4", mime_type: "video/mp4" }],
    });
    expect(lengthOf(folder, "cat.mp4")).toBe(5);
    expect(await usageOf(reported.receipt)).toMatchObject({ seconds: 5 });

    await jsonOf<Reported>(folder, ["image", "a cat", "-o", "first.png"]);
    const two = await run(folder, ["video", "--image", "first.png", "-o", "cat.mp4", "--n", "2", "--ratio", "1:1"]);
    expect(two).toMatchObject({ code: 0, stdout: "cat-1.mp4\ncat-2.mp4\n" });
    expect(readdirSync(folder).sort()).toEqual(["cat-1.mp4", "cat-2.mp4", "cat.mp4", "first.png"]);
  });

  test("a killed process loses nothing: the printed name fetches the same video", async () => {
    const folder = newFolder();
    const jobsBefore = simulator.stats().mediaJobs;
    const child = start(folder, [TRIVIUM, ...asked, "-o", "cat.mp4"]);
    const name = await operationTold(child.stderr);
    child.kill("SIGKILL");
    await child.exited;
    expect(readdirSync(folder)).toEqual([]);

    const reported = await jsonOf<Reported>(folder, ["video", "--operation", name, "-o", "cat.mp4"]);
    expect(reported).toMatchObject({ model: "openai/sora-2", operation: name, files: [{ path: "cat.mp4" }] });
    expect(lengthOf(folder, "cat.mp4")).toBe(4);
    expect(simulator.stats().mediaJobs - jobsBefore).toBe(1);
    const over = await run(folder, ["video", "--operation", name, "-o", "cat.mp4"]);
    expect(over.code).toBe(2);
    expect(over.stderr).toContain("Pass --force to overwrite it");
  });

  test("on a terminal it shows progress, and Ctrl-C prints the command to resume", async () => {
    const folder = newFolder();
    const jobsBefore = simulator.stats().mediaJobs;
    let screen = "";
    const decoder = new TextDecoder();
    const child = Bun.spawn([TRIVIUM, ...asked, "-o", "my cat.mp4"], {
      cwd: folder,
      env: environment(),
      terminal: {
        cols: 200,
        rows: 24,
        data: (_, data) => {
          screen += decoder.decode(data, { stream: true });
        },
      },
    });
    running.add(child);
    const shown = () => Bun.stripANSI(screen);
    await eventually("the output", () => /\ropenai\/sora-2 {2}[1-9][0-9]? % {2}0:[0-9]{2}/.test(shown()));
    child.terminal?.write("\x03");
    expect(await child.exited).toBe(130);
    child.terminal?.close();
    const name = /^Operation (\S+)/m.exec(shown())?.[1] ?? "";
    const line =
      /Interrupted\. The video is still available\. Resume with:\r\n {2}(trivium [^\r\n]*)/.exec(shown())?.[1] ?? "";
    expect(line).toBe(`trivium video --operation ${name} -o 'my cat.mp4'`);
    expect(readdirSync(folder)).toEqual([]);

    expect(await finish(start(folder, ["sh", "-c", line]))).toMatchObject({ code: 0, stdout: "my cat.mp4\n" });
    expect(lengthOf(folder, "my cat.mp4")).toBe(4);
    expect(simulator.stats().mediaJobs - jobsBefore).toBe(1);
  });

  test("Ctrl-C before the name is known says that nothing is made twice", async () => {
    const folder = newFolder();
    const asked = Promise.withResolvers<void>();
    const host = startHost(() => {
      asked.resolve();
      return new Promise<Response>(() => {});
    });
    const args = ["video", "a cat", "-o", "cat.mp4", "--model", "acme/reel", "--url", host.url.origin];
    const child = start(folder, [TRIVIUM, ...args]);
    await asked.promise;
    child.kill("SIGINT");
    const { code, stdout, stderr } = await finish(child);
    await host.stop(true);
    expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
    expect(stderr).toMatch(
      /^Interrupted\. .* repeat the command within ten minutes without creating a second video\.\n$/,
    );
  });

  test("exit codes: 3 for moderation, before and after the job was accepted; 1 for failures", async () => {
    const folder = newFolder();
    const cases: [number, RegExp, string[]][] = [
      [3, /^instances\[0\]\.prompt: The request failed because the input text may contain/, ["sim:blocked cat"]],
      [3, /\nBlocked by moderation: The request failed because the output/, ["sim:moderated cat"]],
      [1, /\nProvider `\S+` could not finish the job/, ["sim:fails cat"]],
      [1, /No operation "xyz" was found/, ["--operation", "publishers/sim/models/video/operations/xyz"]],
    ];
    const ended = await Promise.all(
      cases.map(([, , args], index) => run(folder, ["video", ...args, "-o", `${index}.mp4`])),
    );
    for (const [index, { code, stdout, stderr }] of ended.entries()) {
      const [expectedCode = -1, message = ""] = cases[index] ?? [];
      expect({ code, stdout, stderr }).toMatchObject({ code: expectedCode, stdout: "" });
      expect(stderr).toMatch(message);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a gateway that fails briefly is retried; a video that breaks off leaves no file and can be resumed", async () => {
    const folder = newFolder();
    const name = "publishers/sim/models/video/operations/broken";
    let polls = 0;
    const broken = startBrokenHost();
    const host = startHost(() => {
      polls += 1;
      if (polls === 1) return Response.json({ error: { message: "Not now." } }, { status: 503 });
      const videos = [{ gcsUri: `http://127.0.0.1:${broken.port}/video`, mimeType: "video/mp4" }];
      return Response.json({ name, done: true, response: { videos } });
    });
    const url = host.url.origin;
    const ended = await run(folder, ["video", "--operation", name, "-o", "cat.mp4", "--url", url]);
    await host.stop(true);
    broken.stop(true);
    expect(ended.code).toBe(1);
    expect(polls).toBe(2);
    expect(ended.stderr).toBe(
      `Operation ${name}\nThe connection to the gateway was lost during the response.\n` +
        `The video is still available. Resume with:\n  trivium video --operation ${name} -o cat.mp4 --url ${url}\n`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("wrong usage exits with 2 and says what is right, before anything is requested", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "text.png"), "no image");
  const cases: [RegExp, string[]][] = [
    [/Missing prompt/, ["image", "-o", "a.png"]],
    [/Unexpected argument "fox"\. Quote an argument/, ["image", "a", "fox", "-o", "a.png"]],
    [/Missing output file\. .* such as -o fox\.png/, ["image", "a fox"]],
    [/"a\.tiff" does not end in \.png, \.jpg, \.jpeg, \.webp/, ["image", "a fox", "-o", "a.tiff"]],
    [
      /--format is png, but the extension of "a\.jpg" is for jpeg/,
      ["image", "a fox", "-o", "a.jpg", "--format", "png"],
    ],
    [/--n: "0" must be a whole number from 1 to 100/, ["image", "a fox", "-o", "a.png", "--n", "0"]],
    [/--image: "text\.png" is not an image/, ["image", "a fox", "-o", "a.png", "--image", "text.png"]],
    [/--image: cannot read "none\.png"/, ["image", "a fox", "-o", "a.png", "--image", "none.png"]],
    [/--mask requires --image/, ["image", "a fox", "-o", "a.png", "--mask", "text.png"]],
    [/cannot write to the folder "nowhere"/, ["image", "a fox", "-o", "nowhere/a.png"]],
    [
      /--model: "picture" does not have the form PROVIDER\/MODEL/,
      ["image", "a fox", "-o", "a.png", "--model", "picture"],
    ],
    [/Missing output file\. .* such as -o cat\.mp4/, ["video", "a cat"]],
    [/cannot be combined/, ["video", "a cat", "-o", "a.mp4", "--audio", "--no-audio"]],
    [/--operation: .* must be of the form publishers/, ["video", "--operation", "abc", "-o", "a.mp4"]],
    [/so --seconds cannot be passed/, ["video", "--operation", "abc", "-o", "a.mp4", "--seconds", "5"]],
    [/so a prompt cannot be passed/, ["video", "a cat", "--operation", "abc", "-o", "a.mp4"]],
  ];
  const ended = await Promise.all(cases.map(([, args]) => run(folder, args)));
  for (const [index, { code, stdout, stderr }] of ended.entries()) {
    const [message = "", args = []] = cases[index] ?? [];
    expect({ code, stdout, args }).toEqual({ code: 2, stdout: "", args });
    expect(stderr).toMatch(message);
    expect(stderr).toContain(`\n\nUsage: trivium ${args[0]} `);
  }
  expect(readdirSync(folder)).toEqual(["text.png"]);
});

test("S20: the key goes where the caller says, never where a file in the working directory says", async () => {
  const folder = newFolder();
  const asked: string[] = [];
  const trap = startHost((request) => {
    asked.push(request.headers.get("authorization") ?? "");
    return Response.json({ data: [] });
  });
  writeFileSync(join(folder, "trivium.yaml"), JSON.stringify({ server: { host: "127.0.0.1", port: trap.port } }));
  const args = ["image", "a fox", "-o", "fox.png", "--model", "sim/image"];
  const { TRIVIUM_CONFIG: _config, TRIVIUM_URL: _url, ...bare } = environment();
  const lured = await run(folder, args, { ...bare, TRIVIUM_URL: "http://127.0.0.1:1" });
  expect(lured).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("or set its address with --url or TRIVIUM_URL"),
  });
  expect(asked).toEqual([]);
  // The same file is used if the operator names it; TRIVIUM_URL, with or without a version, overrides it.
  await run(folder, args, { ...bare, TRIVIUM_CONFIG: join(folder, "trivium.yaml") });
  expect(asked).toEqual([`Bearer ${gateway.key}`]);
  const found = await run(folder, args, environment({ TRIVIUM_URL: `${gateway.url}/v1/` }));
  expect(found).toEqual({ code: 0, stdout: "fox.png\n", stderr: "" });
  const nonsense = await run(folder, [...args, "--force"], environment({ TRIVIUM_URL: "localhost" }));
  expect(nonsense.code).toBe(2);
  expect(nonsense.stderr).toStartWith(
    'TRIVIUM_URL: "localhost" is not a valid URL. Use a URL such as http://127.0.0.1:8787.\n',
  );
});

test("without a key, a gateway or a model it says how to get one", async () => {
  const folder = newFolder();
  const args = ["image", "a fox", "-o", "fox.png"];
  const keyless = await run(folder, args, environment({ TRIVIUM_API_KEY: "" }));
  expect(keyless.code).toBe(2);
  expect(keyless.stderr).toMatch(/No API key given\. Set TRIVIUM_API_KEY .*trivium keys create --name NAME/);
  const wrong = await run(folder, [...args, "--key", `sk-trv-${"x".repeat(43)}`]);
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain("trivium keys create --name NAME");
  const unreachable = await run(folder, [...args, "--url", "http://127.0.0.1:1"]);
  expect(unreachable.code).toBe(1);
  expect(unreachable.stderr).toMatch(
    /^Cannot connect to a gateway at \S+\. Start a gateway with `\S*trivium serve`, or set its address with --url [^\n]*\n$/,
  );

  const models = [
    { id: "acme/brush", output_modalities: ["image"] },
    { id: "acme/talker", output_modalities: ["text"] },
  ];
  const host = startHost(() => Response.json({ data: models }));
  const nameless = await run(folder, [...args, "--url", host.url.origin]);
  await host.stop(true);
  expect(nameless.code).toBe(2);
  expect(nameless.stderr).toContain("Missing --model. Available models: acme/brush.\n");
  expect(readdirSync(folder)).toEqual([]);
});

async function operationTold(stderr: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stderr) {
    text += decoder.decode(chunk, { stream: true });
    const name = /^Operation (\S+)\n/m.exec(text)?.[1];
    if (name !== undefined) return name;
  }
  throw new Error(`no operation was named: ${text}`);
}

/** A server that answers instead of a gateway. */
const startHost = (fetch: (request: Request) => Response | Promise<Response>) =>
  Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch });

/** A host that announces more bytes than it sends. */
function startBrokenHost() {
  const head = "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 9000\r\n\r\n";
  return Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket) => {
        socket.write(head + "x".repeat(4096));
        socket.end();
      },
    },
  });
}
