import { inputLines } from "../../batches/input-lines.ts";
import { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { BatchHost } from "../../providers/batches/batch-api.ts";
import type { ProviderBatches } from "../../providers/batches/provider-batches.ts";
import {
  type ExchangeOptions,
  isSuccess,
  openExchange,
  type ProviderExchange,
  readAnswer,
} from "../attempt/provider-exchange.ts";
import type { Gateway } from "../gateway.ts";
import { type BatchTarget, isForService } from "./target-by-id.ts";

/** For requests that carry a whole batch, and for responses that do. */
const LARGE_MS = 600_000;
const SMALL_MS = 30_000;
const IDLE_MS = 60_000;
/** Results of a batch whose requests were sent inline come in one response. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
/** As for the response to a call. */
const MAX_RESULT_BYTES = 32 * 1024 * 1024;

/** The host of a target's batch API. */
export class TargetBatchHost implements BatchHost {
  readonly #target: BatchTarget;
  readonly #batches: ProviderBatches;
  readonly #gateway: Pick<Gateway, "clock" | "send">;

  constructor(target: BatchTarget, batches: ProviderBatches, gateway: Pick<Gateway, "clock" | "send">) {
    this.#target = target;
    this.#batches = batches;
    this.#gateway = gateway;
  }

  async ask(request: MediaRequest): Promise<MediaAnswer> {
    const { clock } = this.#gateway;
    const isLarge = request.body !== undefined && !("json" in request.body);
    const options = this.#options(isLarge ? LARGE_MS : SMALL_MS);
    const exchange = await openExchange(this.#batches, request, options);
    const answer = await readAnswer(exchange, { clock }, { maxBytes: MAX_ANSWER_BYTES });
    if (!isSuccess(answer)) throw this.#refusal(answer);
    return answer;
  }

  async *lines(request: MediaRequest): AsyncGenerator<string> {
    const { clock } = this.#gateway;
    const exchange = await openExchange(this.#batches, request, { ...this.#options(SMALL_MS), idleMs: IDLE_MS });
    try {
      if (!isSuccess(exchange)) throw this.#refusal(await readAnswer(exchange, { clock }));
      for await (const line of inputLines(bytesOf(exchange), MAX_RESULT_BYTES)) {
        if (line === undefined) {
          const message = `A result of the provider's batch is larger than ${MAX_RESULT_BYTES} bytes.`;
          throw new GatewayError("upstream_failed", message);
        }
        yield line.bytes.toString();
      }
    } finally {
      exchange.close();
    }
  }

  #options(timeoutMs: number): ExchangeOptions {
    const { clock, send } = this.#gateway;
    return { clock, send, timeoutMs, signal: new AbortController().signal };
  }

  #refusal(answer: MediaAnswer): GatewayError {
    const target = this.#target;
    const { status, text: body, retryAfterSeconds } = answer;
    if (isForService(target)) return target.adapter.error(answer).withFailure({ status });
    const { codec, quirks } = target;
    return codec.decodeError({ status, body, retryAfterSeconds }, quirks).withFailure({ status });
  }
}

async function* bytesOf(exchange: ProviderExchange): AsyncGenerator<Uint8Array> {
  for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) yield chunk;
}
