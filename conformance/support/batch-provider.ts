import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";

/** A provider of chat completions that counts what reaches it, and by whom. */
export class BatchProvider {
  /** How often each text has arrived. */
  readonly arrived = new Map<string, number>();
  /** In order of arrival. */
  readonly order: string[] = [];
  /** Requests by the API key that they came with. */
  readonly byKey = new Map<string, number>();
  open = 0;
  most = 0;
  delayMs = 5;
  /** Responses wait for it. */
  gate: Promise<unknown> = Promise.resolve();
  /** Refuses a request that it returns a response for. */
  refuse: (text: string) => Response | undefined = () => undefined;
  readonly #server = Bun.serve({
    port: 0,
    idleTimeout: 120,
    fetch: (request) => this.#answer(request),
  });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  get asked(): number {
    return this.order.length;
  }

  forget(): void {
    this.arrived.clear();
    this.byKey.clear();
    this.order.length = 0;
    this.most = 0;
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { messages } = (await request.json()) as { messages: { content: string }[] };
    const text = messages[0]?.content ?? "";
    const refusal = this.refuse(text);
    if (refusal !== undefined) return refusal;
    const key = request.headers.get("authorization") ?? "";
    this.byKey.set(key, (this.byKey.get(key) ?? 0) + 1);
    this.arrived.set(text, (this.arrived.get(text) ?? 0) + 1);
    this.order.push(text);
    this.open++;
    this.most = Math.max(this.most, this.open);
    await Bun.sleep(this.delayMs);
    await this.gate;
    this.open--;
    return Response.json(plainAnswer("chat", { text: `seen ${text}`, usage: plainUsage("chat", 10, 10) }));
  }
}
