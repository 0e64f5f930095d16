import type { GatewayProcess } from "./gateways.ts";

const PURSE_PAUSE_MS = 250;
const CLIENTS = 3;

type Key = "open" | "limited" | "purse";

export interface Failure {
  at: string;
  key: Key;
  why: string;
}

/** Steady load on gateways, and its outcome. Calls ended by a kill are not failures. */
export class Clients {
  asked = 0;
  /** Responses that arrived whole, by their receipts. */
  readonly answered: { id: string; key: Key; at: string }[] = [];
  readonly failures: Failure[] = [];
  slowestMs = 0;
  #isOver = false;
  readonly #loops: Promise<void>[] = [];

  /**
   * At most this many calls of each gateway use the budget of the key `purse`; `pauseMs` is between two calls of each
   * other client.
   */
  constructor(gateways: readonly GatewayProcess[], { purseCalls, pauseMs }: { purseCalls: number; pauseMs: number }) {
    for (const gateway of gateways) {
      for (let client = 0; client < CLIENTS; client += 1) {
        this.#loops.push(this.#load(gateway, client % 2 === 0 ? "open" : "limited", pauseMs));
      }
      this.#loops.push(this.#load(gateway, "purse", PURSE_PAUSE_MS, purseCalls));
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  async #load(gateway: GatewayProcess, key: Key, pauseMs: number, calls = Number.POSITIVE_INFINITY): Promise<void> {
    for (let call = 0; !this.#isOver && call < calls; call += 1) {
      if (!gateway.isDown) await this.ask(gateway, key, call % 3 === 0);
      await Bun.sleep(pauseMs);
    }
  }

  /** The status of the response; 0 if there was none. */
  async ask(gateway: GatewayProcess, key: Key, stream = false): Promise<number> {
    this.asked += 1;
    const startedMs = performance.now();
    try {
      const answer = await gateway.call(key, stream);
      const text = await answer.text();
      const isWhole = answer.status === 200 && (!stream || text.includes("[DONE]"));
      if (isWhole) {
        this.answered.push({ id: answer.headers.get("x-trivium-receipt") ?? "", key, at: gateway.name });
        this.slowestMs = Math.max(this.slowestMs, performance.now() - startedMs);
      } else this.#fail(gateway, key, `${answer.status} ${text.slice(-300)}`);
      return answer.status;
    } catch (thrown) {
      if (!gateway.isDown) this.#fail(gateway, key, String(thrown));
      return 0;
    }
  }

  #fail({ name: at }: GatewayProcess, key: Key, why: string): void {
    this.failures.push({ at, key, why });
  }
}
