import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { makeStillVideo } from "../../simulator/media-maker/make-still-video.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { freePort } from "../../testing/free-port.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";

/** A model for each way to get a job and its video, with the price of the video here. */
export const VIDEO_MODELS = [
  { id: "volcengine/video", model: "doubao-seedance-1-5-pro-251215", seconds: 4, audio: false },
  { id: "kling/video", model: "kling-v2-6", seconds: 5, audio: false },
  { id: "z-ai/video", model: "cogvideox-3", seconds: 5, audio: true },
  { id: "gemini/video", model: "veo-3.1-generate-preview", seconds: 4, audio: true },
] as const;

export type VideoModel = (typeof VIDEO_MODELS)[number];

const SILENT_NANO_USD = 10_000_000;
const SOUND_NANO_USD = 20_000_000;

export const videoCostNanoUsd = ({ seconds, audio }: VideoModel): number =>
  seconds * (audio ? SOUND_NANO_USD : SILENT_NANO_USD);

/** The requests to the simulated hosts, with their times. */
export interface Question {
  method: string;
  path: string;
  atMs: number;
}

const PATHS = {
  volcengine: "/hosts/volcengine/api/v3",
  kling: "/hosts/kling",
  "z-ai": "/hosts/z-ai",
  gemini: "/gemini",
};
/** One and a half megabytes, so that a download may be cut in the middle. */
const VIDEO = { prompt: "a fox", width: 1280, height: 720, seconds: 4, fps: 24, seed: 1, audio: false };
const GATEWAY = new URL("gateway.child.ts", import.meta.url).pathname;
const READY_MS = 20_000;
const MOMENT_MS = 2_000;

/** What a gateway may be doing, inferred from its requests to the simulator. */
export type Moment = "submit" | "question" | "fetch";

function momentOf({ method, path }: Pick<Question, "method" | "path">): Moment {
  if (method === "POST") return "submit";
  return path.includes("/results/") ? "fetch" : "question";
}

/** One gateway slot: a URL and the process that listens there now, with another one ready to follow. */
class GatewaySlot {
  readonly url: string;
  readonly #command: string[];
  readonly #said: string[];
  readonly #mayDie: boolean;
  #next: Subprocess<"pipe", "pipe", "pipe"> | undefined;
  #current: Subprocess<"pipe", "pipe", "pipe"> | undefined;

  constructor(url: string, command: string[], said: string[], mayDie: boolean) {
    this.url = url;
    this.#command = command;
    this.#said = said;
    this.#mayDie = mayDie;
    this.#next = this.#load();
  }

  async start(): Promise<void> {
    const child = this.#next ?? this.#load();
    this.#current = child;
    this.#next = this.#mayDie ? this.#load() : undefined;
    child.stdin.write("start\n");
    await child.stdin.flush();
    const timer = setTimeout(() => child.kill("SIGKILL"), READY_MS);
    let output = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += chunk;
      if (output.includes("ready")) break;
    }
    clearTimeout(timer);
    if (!output.includes("ready")) throw new Error(`the gateway did not start: ${this.#said.join("\n")}`);
  }

  async kill(): Promise<void> {
    this.#current?.kill("SIGKILL");
    await this.#current?.exited;
  }

  /** From here on the process does nothing, and is not aware of it afterwards. */
  freeze(): void {
    this.#current?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#current?.kill("SIGCONT");
  }

  async close(): Promise<void> {
    await this.kill();
    this.#next?.kill("SIGKILL");
    await this.#next?.exited;
  }

  #load(): Subprocess<"pipe", "pipe", "pipe"> {
    const child = Bun.spawn(this.#command, { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
    void new Response(child.stderr).text().then((text) => text === "" || this.#said.push(text));
    return child;
  }
}

export interface CrashHarness {
  slots: readonly GatewaySlot[];
  simulator: Simulator;
  questions: readonly Question[];
  /** Resolves as soon as a gateway is doing this, before it is answered. */
  moment(wanted: Moment): Promise<void>;
  /** The problems in the gateways' logs; complete once they are closed. */
  said: readonly string[];
  storage: string;
  filesFolder: string;
  close(): Promise<void>;
}

interface CrashOptions {
  gateways: number;
  /** SQLite if absent. */
  storageUrl?: string | undefined;
  /** Set if several gateways share their limits. */
  redis?: string;
  /** How long the hosts take for a video. */
  jobMs?: number;
  /** What starts a gateway. */
  program: readonly string[];
  /** They are killed, so the next process must be ready beforehand. */
  mayDie: boolean;
}

/** Gateways on one database and one folder of files. Their simulator is in this process, so that jobs outlive them. */
export async function startCrashHarness({
  gateways,
  storageUrl,
  redis,
  jobMs = 300,
  program,
  mayDie,
}: CrashOptions): Promise<CrashHarness> {
  const folder = mkdtempSync(join(tmpdir(), "trivium-crash-"));
  const storage = storageUrl ?? `sqlite:${join(folder, "trivium.db")}`;
  const filesFolder = join(folder, "files");
  const questions: Question[] = [];
  const said: string[] = [];
  const waiters = new Set<{ wanted: Moment; resolve: () => void }>();
  // One for all: they are not watched.
  const video = await makeStillVideo(VIDEO);
  const simulator = await startSimulator({
    mediaJobMs: jobMs,
    makeVideo: async () => video,
    onRequest: ({ method, path }) => {
      questions.push({ method, path, atMs: performance.now() });
      const moment = momentOf({ method, path });
      for (const waiter of waiters) if (waiter.wanted === moment) waiter.resolve();
    },
  });
  const slots: GatewaySlot[] = [];
  for (let index = 0; index < gateways; index += 1) {
    const [port, adminPort] = [freePort(), freePort()];
    const configFile = join(folder, `trivium-${index}.yaml`);
    const config = {
      server: { host: "127.0.0.1", port, public_url: `http://127.0.0.1:${port}` },
      admin: { host: "127.0.0.1", port: adminPort, secret: TEST_ADMIN_SECRET },
      data_dir: folder,
      storage,
      files: filesFolder,
      simulator: false,
      redis,
      keys: [{ name: "tests", key: TEST_KEY }],
      ...videosFrom(simulator.url),
    };
    writeFileSync(configFile, JSON.stringify(config));
    slots.push(new GatewaySlot(`http://127.0.0.1:${port}`, [...program, configFile, folder], said, mayDie));
  }
  const closeGateways = () => Promise.all(slots.map((slot) => slot.close()));
  try {
    // One after another: the first creates the tables.
    for (const slot of slots) await slot.start();
  } catch (thrown) {
    await closeGateways();
    throw thrown;
  }
  return {
    slots,
    simulator,
    questions,
    moment: async (wanted) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter = { wanted, resolve };
      const timer = setTimeout(resolve, MOMENT_MS);
      waiters.add(waiter);
      await promise;
      waiters.delete(waiter);
      clearTimeout(timer);
    },
    said,
    storage,
    filesFolder,
    close: async () => {
      await closeGateways();
      await simulator.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As one file the gateway loads in half the time. */
export async function bundleGateway(folder: string): Promise<string[]> {
  const { outputs } = await Bun.build({ entrypoints: [GATEWAY], target: "bun", outdir: folder });
  const [output] = outputs;
  if (output === undefined) throw new Error("the gateway could not be bundled");
  return [process.execPath, output.path];
}

/** The gateway as a bundle that loads in a third of the time. Building it takes as long as a dozen loads. */
export async function compileGateway(folder: string): Promise<string[]> {
  const outfile = join(folder, "gateway");
  const { success } = await Bun.build({
    entrypoints: [GATEWAY],
    target: "bun",
    format: "esm",
    bytecode: true,
    compile: { outfile },
  });
  if (!success) throw new Error("the gateway could not be compiled");
  return [outfile];
}

function videosFrom(simulatorUrl: string): Record<string, unknown> {
  const price = (value: number) => [{ value: value / 1e9, unit: "perSecond", currency: "USD" }];
  const providers = Object.entries(PATHS).map(([kind, path]) => [
    kind,
    { kind, base_url: simulatorUrl + path, api_key: "upstream-secret-of-the-suite" },
  ]);
  const models = VIDEO_MODELS.map(({ id, model }) => ({
    id,
    output_modalities: ["video"],
    pricings: { video: price(SILENT_NANO_USD), audio_and_video: price(SOUND_NANO_USD) },
    offers: [{ provider: id.split("/")[0], model }],
  }));
  return { providers: Object.fromEntries(providers), models };
}
