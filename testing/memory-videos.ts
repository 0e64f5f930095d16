import type { Operation } from "../src/canon/operation.ts";
import type { Parameter } from "../src/storage/storage.ts";
import { selectOperation } from "../src/storage/tables/operations.ts";
import { Harness, type HarnessOptions, type Machine, makeMachine, UPSTREAM_URL } from "./harness.ts";
import { MemoryVideoHost } from "./hosts/memory-video-host.ts";
import type { ReceiptData } from "./receipt-data.ts";
import type { ReadAnswer, SentCall } from "./sent-call.ts";
import { TEST_KEY } from "./test-key.ts";

/** A model at the host's tasks, one job for each video. */
export const TASK_MODEL = "doubao-seedance-1-5-pro-251215";
/** At its API of one job for each video, which reports progress. */
export const API_MODEL = "sora-2-pro";
/** At its operations of up to four videos. */
export const BATCH_MODEL = "veo-3.1-generate-001";

export const SILENT_NANO_USD = 10_000_001;
export const SOUND_NANO_USD = 20_000_003;

export const KEYS = {
  stranger: `sk-trv-${"KeyOfAnotherProject".padEnd(43, "x")}`,
  strict: `sk-trv-${"KeyThatIsStrict".padEnd(43, "x")}`,
  frugal: `sk-trv-${"KeyWithASmallBudget".padEnd(43, "x")}`,
};

const perSecond = (nanoUsd: number) => [{ value: nanoUsd / 1e9, unit: "perSecond", currency: "USD" }];

export const videoPrices = (silent = SILENT_NANO_USD, sound = SOUND_NANO_USD) => ({
  video: perSecond(silent),
  audio_and_video: perSecond(sound),
});

export const videoModel = (id: string, ...offers: object[]) => ({
  id,
  output_modalities: ["video"],
  pricings: videoPrices(),
  offers,
});

/** Providers of each of the host's APIs, and a model for each. */
export const VIDEO_CONFIG = {
  providers: {
    one: { kind: "volcengine", base_url: `${UPSTREAM_URL}/one`, api_key: "secret-of-one" },
    two: { kind: "volcengine", base_url: `${UPSTREAM_URL}/two`, api_key: "secret-of-two" },
    api: { kind: "openai", base_url: `${UPSTREAM_URL}/api`, api_key: "secret-of-api" },
    batch: { kind: "vertex", base_url: `${UPSTREAM_URL}/batch`, api_key: "secret-of-batch", project: "p" },
  },
  models: [
    videoModel("test/video", { provider: "one", model: TASK_MODEL }),
    videoModel("test/two", { provider: "one", model: TASK_MODEL }, { provider: "two", model: TASK_MODEL }),
    videoModel("test/api", { provider: "api", model: API_MODEL }),
    videoModel("test/batch", { provider: "batch", model: BATCH_MODEL }),
  ],
  keys: [
    { name: "tests", key: TEST_KEY },
    { name: "stranger", key: KEYS.stranger, project: "elsewhere" },
    { name: "strict", key: KEYS.strict, strict: true },
    { name: "frugal", key: KEYS.frugal, limits: { budget_usd_per_day: 0.15 } },
  ],
};

/** A submitted video; default: four silent seconds. */
export interface AskedVideo {
  model?: string;
  prompt?: string;
  image?: object;
  parameters?: object;
  key?: string;
  headers?: Record<string, string>;
}

export interface PolledVideo {
  name?: string;
  done?: boolean;
  metadata?: { progressPercent?: number; failures?: { code: number; message: string }[] };
  error?: { code: number; message: string };
  response?: {
    videos: { gcsUri?: string; bytesBase64Encoded?: string; mimeType: string }[];
    raiMediaFilteredCount?: number;
    raiMediaFilteredReasons?: string[];
  };
}

export interface SubmittedVideo extends ReadAnswer {
  name: string;
  /** The operation's id; empty if it was rejected. */
  id: string;
}

const verbOf = (model: string, verb: string) => `/api/genai/v1/publishers/${model.replace("/", "/models/")}:${verb}`;
const STEP_MS = 1_000;
const MAX_STEPS = 20_000;

/** A gateway in memory and the host of its videos. */
export class MemoryVideos {
  readonly harness: Harness;
  readonly host: MemoryVideoHost;

  private constructor(harness: Harness, host: MemoryVideoHost) {
    this.harness = harness;
    this.host = host;
  }

  /** Whether the poller runs from the start; default: yes. */
  static async start(
    options: HarnessOptions & { host?: MemoryVideoHost; polls?: boolean } = {},
  ): Promise<MemoryVideos> {
    const { host: given, polls = true, ...rest } = options;
    const machine: Machine = rest.machine ?? (await makeMachine());
    const host = given ?? new MemoryVideoHost(machine.clock);
    if (!given) machine.upstream.play(host.script);
    const harness = await Harness.start({ ...rest, machine, config: { ...VIDEO_CONFIG, ...rest.config } });
    if (polls) harness.poller.start();
    return new MemoryVideos(harness, host);
  }

  get clock() {
    return this.harness.clock;
  }

  send({ model = "test/video", prompt = "a fox", image, parameters, key, headers }: AskedVideo = {}): SentCall {
    const body = {
      instances: [{ prompt, ...(image && { image }) }],
      parameters: { durationSeconds: 4, generateAudio: false, ...parameters },
    };
    return this.harness.sendPost(verbOf(model, "predictLongRunning"), body, key, headers);
  }

  /** Submits, and lets time pass until it is answered. */
  async submit(asked?: AskedVideo): Promise<SubmittedVideo> {
    const answer = await this.clock.until(this.send(asked).answer);
    const { name = "" } = JSON.parse(answer.text) as { name?: string };
    return { ...answer, name, id: name.split("/operations/")[1] ?? "" };
  }

  sendPoll(name: string, { key, headers }: Pick<AskedVideo, "key" | "headers"> = {}): SentCall {
    const model = (name.split("/operations/")[0] ?? "").replace("publishers/", "").replace("/models/", "/");
    return this.harness.sendPost(verbOf(model, "fetchPredictOperation"), { operationName: name }, key, headers);
  }

  async poll(name: string, options?: Pick<AskedVideo, "key" | "headers">): Promise<PolledVideo> {
    return JSON.parse((await this.clock.until(this.sendPoll(name, options).answer)).text) as PolledVideo;
  }

  /** The stored operation. */
  async stored(id: string, project = "default"): Promise<Operation> {
    const operation = await selectOperation(this.harness.storage, project, id);
    if (operation === undefined) throw new Error(`there is no operation ${id}`);
    return operation;
  }

  /** Advances time until the operation has ended, without a client polling. */
  async ended(id: string, project?: string): Promise<Operation> {
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const operation = await this.stored(id, project);
      if (operation.endedAtMs !== undefined) return operation;
      await this.clock.pass(STEP_MS);
    }
    throw new Error(`operation ${id} does not end`);
  }

  /** Submits, and lets time pass until everything has ended. */
  async made(asked?: AskedVideo): Promise<{ submitted: SubmittedVideo; operation: Operation; receipt: ReceiptData }> {
    const submitted = await this.submit(asked);
    if (submitted.status !== 200) throw new Error(`the request was rejected: ${submitted.text}`);
    const operation = await this.ended(submitted.id);
    return { submitted, operation, receipt: await this.harness.receipt(submitted) };
  }

  /** Resources that calls have not returned. */
  leftovers(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.harness.leftovers()).filter(([, count]) => count !== 0));
  }

  rows(statement: string, parameters: Parameter[] = []) {
    return this.harness.storage.query(statement, parameters);
  }

  /** The bytes that a project stores, apart from its videos. */
  async fillStore(bytes: number, { id = "other", project = "default" } = {}): Promise<() => Promise<void>> {
    await this.rows(
      "INSERT INTO files (id, project, owner_id, mime_type, size, created_at_ms, expires_at_ms) VALUES (?, ?, 'x', 'video/mp4', ?, 0, ?)",
      [id, project, bytes, this.clock.nowMs() + 1e9],
    );
    return async () => void (await this.rows("DELETE FROM files WHERE id = ?", [id]));
  }
}
