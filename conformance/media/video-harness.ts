import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type GenerateVideosOperation, GoogleGenAI } from "@google/genai";
import { GoogleGenAI as OlderGenAI } from "genai-1";
import { KLING_SECRET } from "../../simulator/hosts/kling/authenticate.ts";
import { makeStillVideo } from "../../simulator/media-maker/make-still-video.ts";
import type { MakeVideo } from "../../simulator/media-maker/video-options.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import type { Timings } from "../../src/relay/settle/timings.ts";
import { eventually } from "../../testing/eventually.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

export const KEYS = {
  stranger: `sk-trv-${"KeyOfAnotherProject".padEnd(43, "x")}`,
  private: `sk-trv-${"KeyWithPrivateObjects".padEnd(43, "x")}`,
  strict: `sk-trv-${"KeyThatIsStrict".padEnd(43, "x")}`,
};

export interface VideoHarness {
  simulator: Simulator;
  gateway: TestGateway;
  database: Database;
  stop(): Promise<void>;
}

interface VideoHarnessOptions {
  timings?: Partial<Timings>;
  providers?: Record<string, object>;
  models?: object[];
  /** How long the hosts take for a video. */
  jobMs?: number;
  /** What the hosts make: still videos unless given. Those of the gateway's own simulator are encoded. */
  makeVideo?: MakeVideo;
}

/** A gateway with every provider that makes videos, each at its simulated host. */
export async function startVideoHarness(options: VideoHarnessOptions = {}): Promise<VideoHarness> {
  const { timings, providers, models = [], jobMs = 60, makeVideo = makeStillVideo } = options;
  const simulator = await startSimulator({ tokenDelayMs: 0, mediaJobMs: jobMs, makeVideo });
  const gateway = await startTestGateway({
    config: {
      simulator: true,
      providers: providers ?? videoProviders(simulator.url),
      models,
      // Some of the vendors' models have no price in the catalogue.
      billing: { unpriced: "mark" },
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "stranger", key: KEYS.stranger, project: "elsewhere" },
        { name: "private", key: KEYS.private, objects: "private" },
        { name: "strict", key: KEYS.strict, strict: true },
      ],
    },
    timings: { mediaPollFactor: 0.02, ...timings },
  });
  const database = new Database(join(gateway.folder, "data", "trivium.db"));
  database.run("PRAGMA busy_timeout = 5000");
  return {
    simulator,
    gateway,
    database,
    stop: async () => {
      database.close();
      await gateway.stop();
      await simulator.stop();
    },
  };
}

function videoProviders(url: string): Record<string, object> {
  const api_key = "upstream-secret-of-the-suite";
  const host = (kind: string, path: string) => ({ kind, base_url: `${url}${path}`, api_key });
  return {
    openai: host("openai", "/openai/v1"),
    gemini: host("gemini", "/gemini"),
    vertex: { ...host("vertex", "/vertex"), project: "p" },
    volcengine: host("volcengine", "/hosts/volcengine/api/v3"),
    qwen: host("qwen", "/hosts/qwen/compatible-mode/v1"),
    kling: { kind: "kling", base_url: `${url}/hosts/kling`, access_key: "access", secret_key: KLING_SECRET },
    minimax: host("minimax", "/hosts/minimax/v1"),
    "z-ai": host("z-ai", "/hosts/z-ai/api/paas/v4"),
    "x-ai": host("x-ai", "/hosts/x-ai/v1"),
    runway: host("runway", "/hosts/runway/v1"),
    luma: host("luma", "/hosts/luma/dream-machine/v1"),
  };
}

/** Both generations of the SDK, called the same way. */
export type VideoClient = Pick<GoogleGenAI, "models" | "operations">;

const optionsFor = (gateway: TestGateway, apiKey: string) => ({
  vertexai: true,
  apiKey,
  httpOptions: { baseUrl: `${gateway.url}/api/genai`, apiVersion: "v1" },
});

export const newerClient = (gateway: TestGateway, key = TEST_KEY): VideoClient =>
  new GoogleGenAI(optionsFor(gateway, key));

/** Answers of the older generation have the same fields; only its classes differ. */
export const olderClient = (gateway: TestGateway, key = TEST_KEY): VideoClient =>
  new OlderGenAI(optionsFor(gateway, key)) as unknown as VideoClient;

type Polled = Pick<GenerateVideosOperation, "name" | "done">;

/** What polling needs of a client, whatever its generation. */
interface Poller<Operation extends Polled> {
  operations: { getVideosOperation(asked: { operation: Operation }): Promise<Operation> };
}

/** Polls as a client does, until the operation is done. */
export async function followToEnd<Operation extends Polled>(
  client: Poller<Operation>,
  operation: Operation,
): Promise<Operation> {
  let latest = operation;
  await eventually(`the end of ${operation.name}`, async () => {
    if (!latest.done) latest = await client.operations.getVideosOperation({ operation: latest });
    return latest.done;
  });
  return latest;
}

export const idOf = (name: string | undefined): string => name?.split("/operations/")[1] ?? "";

/** The receipt of an operation, which the SDK does not show: its id is in the operation's row. */
export async function receiptOf({ gateway, database }: VideoHarness, name: string | undefined): Promise<ReceiptData> {
  const row = database.query("SELECT receipt_id FROM operations WHERE id = ?").get(idOf(name));
  const { receipt_id } = row as { receipt_id: string };
  return gateway.receipt(new Response(null, { headers: { "x-trivium-receipt": receipt_id } }));
}

/** Waits for a condition that no response shows. */
export const until = (holds: () => boolean | Promise<boolean>, what: string): Promise<unknown> =>
  eventually(what, holds);
