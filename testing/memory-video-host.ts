import type { Clock } from "../src/base/clock.ts";
import type { Reply } from "./memory-exchange.ts";
import type { Script, SentRequest } from "./memory-network.ts";

/** What the host knows of a job. */
export interface HostJob {
  id: string;
  /** The body of its submit. */
  request: Record<string, unknown>;
  authorization: string;
  takenAtMs: number;
  /** How many videos it makes. */
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
 * A host of videos in memory. It speaks three APIs: tasks whose video is at a link; jobs whose video is at the API itself,
 * behind its key; and operations of up to four videos that the answer holds. Tests say what it does next.
 */
export class MemoryVideoHost {
  readonly jobs: HostJob[] = [];
  /** How long a job takes. */
  takesMs = 25_000;
  /** What the next submits come to, one after the other; those that follow are accepted. */
  readonly nextSubmits: Script[] = [];
  /** What the next polls come to. */
  readonly nextPolls: Script[] = [];
  /** What the next downloads come to. */
  readonly nextFetches: Script[] = [];
  /** How a job stands; by its time unless a test says otherwise. */
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

  /** Accepts a submit, and gives its job; for scripts of a test's own. */
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
