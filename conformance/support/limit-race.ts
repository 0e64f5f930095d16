import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const BODY = JSON.stringify({
  model: "test/chat",
  max_completion_tokens: 10,
  messages: [{ role: "user", content: "Is it so?" }],
});
const requestWith = (key: string): string =>
  [
    "POST /api/v1/chat/completions HTTP/1.1",
    "host: 127.0.0.1",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${BODY.length}`,
    "connection: close",
    "",
    BODY,
  ].join("\r\n");

/** A call over its own connection: the runtime's client sends no more than 256 concurrent requests. 0 if it is cut. */
export async function callOnce(url: string, key = TEST_KEY): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let answer = "";
  const connected = Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(url).port),
    socket: {
      open: (socket) => void socket.write(requestWith(key)),
      data: (socket, bytes) => {
        answer += bytes.toString();
        const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
        if (status === undefined) return;
        resolve(Number(status));
        socket.end();
      },
      close: () => resolve(0),
      error: () => resolve(0),
      connectError: () => resolve(0),
    },
  });
  connected.catch(() => resolve(0));
  return await promise;
}

/** A provider that answers when the test lets it. */
export class HoldingProvider {
  readonly #server = Bun.serve({
    port: 0,
    idleTimeout: 60,
    fetch: async () => {
      this.asked++;
      this.underWay++;
      this.most = Math.max(this.most, this.underWay);
      await this.#released.promise;
      this.underWay--;
      if (this.fails) return new Response("no", { status: 500 });
      return Response.json(plainAnswer("chat", { text: "yes", usage: plainUsage("chat", 10, 10) }));
    },
  });
  #released = Promise.withResolvers<void>();
  asked = 0;
  fails = false;
  underWay = 0;
  /** The most calls at one time. */
  most = 0;

  get url(): string {
    return this.#server.url.origin;
  }

  hold(): void {
    this.#released = Promise.withResolvers();
    this.asked = 0;
    this.most = 0;
  }

  release(): void {
    this.#released.resolve();
  }

  async stop(): Promise<void> {
    this.release();
    await this.#server.stop(true);
  }

  /** Sends all calls at once, evenly, and answers the admitted ones only when all others are refused. Returns how many those were. */
  async race(urls: readonly string[], calls: number, key = TEST_KEY): Promise<number> {
    this.hold();
    let refused = 0;
    const sent = Array.from({ length: calls }, async (_, at) => {
      const status = await callOnce(urls[at % urls.length] ?? "", key);
      if (status !== 200) refused++;
      return status;
    });
    while (this.asked + refused < calls) await Bun.sleep(20);
    this.release();
    const statuses = await Promise.all(sent);
    return statuses.filter((status) => status === 200).length;
  }
}

/** How much of what is allowed was refused while shares moved. */
export const raceLine = (what: string, one: number, many: number, who: string): string =>
  `${what}: one process admits ${one} of 2,000, ${who} ${many}: ${((100 * (one - many)) / one).toFixed(1)}% refused`;

/** What a key may use, of which each call needs the same; some 500 calls fit. */
export const RACED_LIMITS: readonly [what: string, limits: Readonly<Record<string, number>>][] = [
  ["requests a minute", { requests_per_minute: 500 }],
  ["tokens a minute", { tokens_per_minute: 12_000 }],
  ["concurrent calls", { concurrent: 500 }],
  ["money", { budget_usd_total: 0.016 }],
];
