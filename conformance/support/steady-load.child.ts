/**
 * An upstream that gives one fixed answer, and clients that call a gateway at a steady rate, in one process apart from the gateway's. Both
 * write bytes that were made in advance to connections that stay open, so that little of the machine is spent on them.
 */
import type { Socket } from "bun";
import type { LoadJob, LoadResult } from "./steady-load.ts";

const TICK_MS = 5;
const answer = process.argv[2] ?? "";
const HEAD = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}\r\n\r\n`;
const ANSWER = Buffer.from(HEAD + answer);

/** Requests come one at a time on each connection; the end of one is the end of its JSON. */
const upstream = Bun.listen({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    data: (socket, chunk) => {
      if (chunk.at(-1) === "}".charCodeAt(0)) socket.write(ANSWER);
    },
  },
});

class Clients {
  readonly #request: Buffer;
  readonly #idle: Socket[] = [];
  #calls = 0;
  #failed = 0;
  #permits = 0;
  #startedAtMs = 0;
  #timer: Timer | undefined;

  constructor(readonly job: LoadJob) {
    const body = JSON.stringify(job.body);
    const head = [
      `POST ${job.path} HTTP/1.1`,
      `host: 127.0.0.1:${job.port}`,
      `authorization: Bearer ${job.key}`,
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`,
    ];
    this.#request = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
  }

  async start(): Promise<void> {
    const { port, connections, perSecond } = this.job;
    for (let count = 0; count < connections; count++) {
      const received: string[] = [];
      const data = (socket: Socket, chunk: Buffer) => {
        received.push(chunk.toString("latin1"));
        if (!isWhole(received.join(""))) return;
        if (received[0]?.startsWith("HTTP/1.1 200")) this.#calls++;
        else this.#failed++;
        received.length = 0;
        this.#idle.push(socket);
        this.#release();
      };
      this.#idle.push(await Bun.connect({ hostname: "127.0.0.1", port, socket: { data } }));
    }
    this.#startedAtMs = performance.now();
    let released = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - this.#startedAtMs) / 1_000) * perSecond);
      // What a busy machine could not send in time is not sent later in a burst.
      this.#permits = Math.min(this.#permits + due - released, connections);
      released = due;
      this.#release();
    }, TICK_MS);
  }

  /** Waits for the calls that are running: they have receipts too. */
  async stop(): Promise<LoadResult> {
    clearInterval(this.#timer);
    this.#permits = 0;
    const seconds = (performance.now() - this.#startedAtMs) / 1_000;
    while (this.#idle.length < this.job.connections) await Bun.sleep(TICK_MS);
    return { calls: this.#calls, failed: this.#failed, perSecond: Math.round(this.#calls / seconds) };
  }

  #release(): void {
    while (this.#permits > 0) {
      const socket = this.#idle.pop();
      if (socket === undefined) return;
      this.#permits--;
      socket.write(this.#request);
    }
  }
}

function isWhole(text: string): boolean {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1];
  return length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length >= headEnd + 4 + Number(length);
}

let clients: Clients | undefined;
process.on("message", async (job: LoadJob | "stop") => {
  if (job === "stop") process.send?.(await clients?.stop());
  else {
    clients = new Clients(job);
    await clients.start();
    process.send?.("started");
  }
});
process.send?.({ port: upstream.port });
