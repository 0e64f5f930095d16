import type { Clock } from "../../src/base/clock.ts";
import type { Reply } from "../memory-exchange.ts";
import type { Script, SentRequest } from "../memory-network.ts";

/** A job at the host. */
export interface HostJob {
  id: string;
  /** The body of its submit. */
  request: Record<string, unknown>;
  authorization: string;
  takenAtMs: number;
  /** The number of its videos. */
  count: number;
  polledAtMs: number[];
  fetches: number;
}

/** A job's state, whatever the API's words for it. */
export type HostState =
  | { state: "running"; progress?: number }
  | { state: "done"; seconds?: number; resolution?: string; audio?: boolean }
  | { state: "blocked"; reason: string }
  | { state: "failed"; reason: string };

/** The bytes of every video. */
export const VIDEO_BYTES = new TextEncoder().encode("the bytes of a video");
const VIDEO = Buffer.from(VIDEO_BYTES);

type Answer = { json: unknown; status?: number };

/**
 * An in-memory video host with three APIs: tasks whose video is at a link; jobs whose video needs the API key; and operations
 * that return up to four videos inline. Tests script its next responses.
 */
export class MemoryVideoHost {
  readonly jobs: HostJob[] = [];
  /** How long a job takes. */
  takesMs = 25_000;
  /** The results of the next submits, in order; later ones are accepted. */
  readonly nextSubmits: Script[] = [];
  /** The results of the next polls. */
  readonly nextPolls: Script[] = [];
  /** The results of the next downloads. */
  readonly nextFetches: Script[] = [];
  /** The state of a job; by elapsed time unless a test overrides it. */
  stateOf: (job: HostJob) => HostState = (job) =>
    this.#clock.nowMs() - job.takenAtMs >= this.takesMs ? { state: "done" } : { state: "running" };
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Answers everything that a gateway sends. */
  readonly script: Script = async (reply, request) => {
    const { pathname } = new URL(request.url);
    const [queue, answer] = this.#find(pathname, request);
    const next = queue.shift();
    if (next) return await next(reply, request);
    answer(reply);
  };

  /** Accepts a submit and returns its job, for custom scripts. */
  take({ body, headers }: SentRequest): HostJob {
    const request = JSON.parse(body) as Record<string, unknown>;
    const { sampleCount } = (request["parameters"] ?? {}) as { sampleCount?: number };
    const job = {
      id: `job-${this.jobs.length + 1}`,
      request,
      authorization: headers["authorization"] ?? "",
      takenAtMs: this.#clock.nowMs(),
      count: sampleCount ?? 1,
      polledAtMs: [],
      fetches: 0,
    };
    this.jobs.push(job);
    return job;
  }

  #find(path: string, request: SentRequest): [Script[], (reply: Reply) => void] {
    if (path.endsWith("/video.mp4") || path.endsWith("/content")) {
      return [this.nextFetches, (reply) => this.#sendVideo(reply, this.#jobIn(path.split("/").at(-2)))];
    }
    if (path.endsWith(":fetchPredictOperation")) {
      const { operationName } = JSON.parse(request.body) as { operationName: string };
      return [this.nextPolls, (reply) => sendJson(reply, this.#operation(this.#polled(operationName)))];
    }
    if (path.endsWith(":predictLongRunning")) {
      return [this.nextSubmits, (reply) => sendJson(reply, { json: { name: this.take(request).id } })];
    }
    if (request.method !== "GET") {
      return [this.nextSubmits, (reply) => sendJson(reply, { json: { id: this.take(request).id, status: "queued" } })];
    }
    const read = path.includes("/videos/") ? this.#apiVideo : this.#task;
    const { origin } = new URL(request.url);
    return [this.nextPolls, (reply) => sendJson(reply, read.call(this, this.#polled(path.split("/").at(-1)), origin))];
  }

  #jobIn(id: string | undefined): HostJob {
    const job = this.jobs.find((one) => one.id === id);
    if (job === undefined) throw new Error(`the host has no job ${id}`);
    return job;
  }

  #polled(id: string | undefined): HostJob {
    const job = this.#jobIn(id);
    job.polledAtMs.push(this.#clock.nowMs());
    return job;
  }

  #sendVideo(reply: Reply, job: HostJob): void {
    job.fetches += 1;
    reply.head(200, { "content-type": "video/mp4" });
    void reply.write(VIDEO);
    reply.end();
  }

  #task(job: HostJob, origin: string): Answer {
    const { id } = job;
    const now = this.stateOf(job);
    switch (now.state) {
      case "running":
        return { json: { id, status: "running" } };
      case "done": {
        const { seconds: duration, resolution, audio: generate_audio } = now;
        const content = { video_url: `${origin}/results/${id}/video.mp4` };
        return { json: { id, status: "succeeded", content, duration, resolution, generate_audio } };
      }
      case "blocked":
        return {
          json: { id, status: "failed", error: { code: "OutputVideoSensitiveContentDetected", message: now.reason } },
        };
      case "failed":
        return { json: { id, status: "failed", error: { code: "InternalServiceError", message: now.reason } } };
    }
  }

  #apiVideo(job: HostJob): Answer {
    const { id } = job;
    const now = this.stateOf(job);
    switch (now.state) {
      case "running":
        return { json: { id, status: "in_progress", progress: now.progress ?? 0 } };
      case "done":
        return { json: { id, status: "completed", seconds: now.seconds === undefined ? undefined : `${now.seconds}` } };
      case "blocked":
        return { json: { id, status: "failed", error: { code: "moderation_blocked", message: now.reason } } };
      case "failed":
        return { json: { id, status: "failed", error: { code: "server_error", message: now.reason } } };
    }
  }

  #operation(job: HostJob): Answer {
    const name = job.id;
    const now = this.stateOf(job);
    switch (now.state) {
      case "running":
        return { json: { name } };
      case "done": {
        const video = { bytesBase64Encoded: VIDEO.toString("base64"), mimeType: "video/mp4" };
        return { json: { name, done: true, response: { videos: Array.from({ length: job.count }, () => video) } } };
      }
      case "blocked":
        return {
          json: {
            name,
            done: true,
            response: { raiMediaFilteredCount: job.count, raiMediaFilteredReasons: [now.reason] },
          },
        };
      case "failed":
        return { json: { name, done: true, error: { code: 13, message: now.reason } } };
    }
  }
}

function sendJson(reply: Reply, { json, status = 200 }: Answer): void {
  reply.head(status);
  void reply.write(JSON.stringify(json));
  reply.end();
}
