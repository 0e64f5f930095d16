import type { HttpRequest } from "../src/wire/http/http-exchange.ts";
import { MemoryExchange } from "../testing/memory-exchange.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import type { VideoFault, VideoPlan } from "./scenario.ts";
import type { Trace } from "./trace.ts";

/** What is known about one video outside the gateway. */
export interface VideoBook {
  readonly plan: VideoPlan;
  submits: number;
  polls: number;
  /** Jobs that hosts have accepted for it. */
  readonly jobs: VideoJob[];
  /** The name by which the client knows it. */
  name: string | undefined;
  /** The final result the client received; undefined if it gave up. */
  told: "done" | "failed" | undefined;
}

export interface VideoJob {
  readonly id: string;
  readonly takenAtMs: number;
}

interface VideoHostOptions {
  clock: VirtualClock;
  trace: Trace;
  bookOf: (id: number) => VideoBook | undefined;
  onViolation: (rule: string, what: string) => void;
}

const ANSWER_MS = 15;
const VIDEO = Buffer.from("the bytes of a video");

/** Video hosts: a task is submitted and polled, and its video is fetched from a link. */
export class SimulatedVideoHost {
  readonly #options: VideoHostOptions;
  readonly #open = new Set<MemoryExchange>();
  readonly #bookOfJob = new Map<string, { book: VideoBook; job: VideoJob }>();

  constructor(options: VideoHostOptions) {
    this.#options = options;
  }

  get open(): number {
    return this.#open.size;
  }

  cutAll(): void {
    for (const exchange of [...this.#open]) exchange.close();
  }

  send(request: HttpRequest): MemoryExchange {
    const { clock, onViolation } = this.#options;
    const exchange = new MemoryExchange(clock);
    this.#open.add(exchange);
    const end = () => void this.#open.delete(exchange);
    void exchange.closed.then(end);
    this.#answer(exchange, request).then(end, (error: unknown) => {
      onViolation("the simulation itself is sound", error instanceof Error ? (error.stack ?? "") : String(error));
    });
    return exchange;
  }

  async #answer(exchange: MemoryExchange, { url, body, method }: HttpRequest): Promise<void> {
    const { clock, trace, bookOf, onViolation } = this.#options;
    const { pathname, origin } = new URL(url);
    const last = pathname.split("/").at(-1) ?? "";
    if (last === "video.mp4") {
      await clock.sleep(ANSWER_MS);
      exchange.head(200, { "content-type": "video/mp4" });
      void exchange.write(VIDEO);
      return exchange.end();
    }
    if (method === "GET") {
      const known = this.#bookOfJob.get(last);
      if (known === undefined) {
        onViolation("a job is polled at its own host", `no host has the job ${last}`);
        return exchange.fail("connect");
      }
      const { book, job } = known;
      const fault = faultAt(book.plan.polls, book.polls++);
      trace.note(`video ${book.plan.id} is polled: ${fault ?? "well"}`);
      await clock.sleep(ANSWER_MS);
      if (fault !== undefined) return await fail(exchange, fault);
      return sendJson(exchange, stateOf(book, job, clock.nowMs(), origin));
    }
    const id = Number(/\bcall-(\d+)-/.exec(String(body))?.[1] ?? Number.NaN);
    const book = bookOf(id);
    if (book === undefined) return onViolation("every request belongs to a call", `${url} was sent ${String(body)}`);
    const fault = faultAt(book.plan.submits, book.submits++);
    trace.note(`video ${id} is submitted to ${origin}: ${fault ?? "well"}`);
    await clock.sleep(ANSWER_MS);
    // If the connection was cut, the host may still have read the request.
    if (fault !== undefined && fault !== "taken_and_broken") return await fail(exchange, fault);
    const job = { id: `job-${id}-${book.jobs.length + 1}`, takenAtMs: clock.nowMs() };
    book.jobs.push(job);
    this.#bookOfJob.set(job.id, { book, job });
    if (book.jobs.length > 1)
      onViolation("a job is submitted once", `hosts have ${book.jobs.length} jobs for video ${id}`);
    if (fault === "taken_and_broken") return exchange.fail("broken");
    sendJson(exchange, { id: job.id, status: "queued" });
  }
}

const faultAt = (faults: readonly (VideoFault | "well")[], index: number): VideoFault | undefined => {
  const fault = faults[index] ?? "well";
  return fault === "well" ? undefined : fault;
};

async function fail(exchange: MemoryExchange, fault: VideoFault): Promise<void> {
  switch (fault) {
    case "refused":
      return exchange.fail("connect");
    case "broken":
    case "taken_and_broken":
      return exchange.fail("broken");
    case "silent":
      return exchange.closed;
    case "busy":
      return sendJson(exchange, { error: { code: "ServerOverloaded", message: "busy" } }, 503);
    case "garbage":
      exchange.head();
      void exchange.write("<html>");
      return exchange.end();
  }
}

function sendJson(exchange: MemoryExchange, value: object, status = 200): void {
  exchange.head(status);
  void exchange.write(JSON.stringify(value));
  exchange.end();
}

/** Whether the host has finished the video by now. */
const isMade = ({ plan }: VideoBook, { takenAtMs }: VideoJob, nowMs: number): boolean =>
  !plan.fails && nowMs - takenAtMs >= plan.takesMs;

function stateOf(book: VideoBook, job: VideoJob, nowMs: number, origin: string): object {
  const { id } = job;
  if (isMade(book, job, nowMs))
    return { id, status: "succeeded", content: { video_url: `${origin}/results/${id}/video.mp4` } };
  if (book.plan.fails && nowMs - job.takenAtMs >= book.plan.takesMs)
    return { id, status: "failed", error: { code: "InternalServiceError", message: "it did not work out" } };
  return { id, status: "running" };
}
