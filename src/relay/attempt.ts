import { GatewayError } from "../canon/error.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import { post, postFailure } from "../wire/post.ts";
import { type Call, ClientGoneError } from "./call.ts";
import type { Gateway } from "./gateway.ts";

/** Bodies of failed answers are read up to here: only their error object matters. */
const MAX_ERROR_BYTES = 256 * 1024;

/** One try of one offer: an upstream request that the client's leaving, a deadline or the end of the call stops. */
export class Attempt {
  readonly planned: PlannedOffer<Provider>;
  readonly startedAtMs: number;
  readonly #call: Call;
  readonly #gateway: Gateway;
  readonly #controller = new AbortController();
  #timedOut = false;
  #unwatch: () => void;
  /** When the upstream was last heard of; the next wait is measured from here. */
  #heardAtMs: number;
  #heard = false;
  /** While the gateway waits for its client, the upstream's silence is not its fault. */
  #paused = false;

  constructor(call: Call, gateway: Gateway, planned: PlannedOffer<Provider>) {
    this.#call = call;
    this.#gateway = gateway;
    this.planned = planned;
    this.startedAtMs = gateway.nowMs();
    this.#heardAtMs = this.startedAtMs;
    const { firstByte, idle } = planned.provider.timeoutMs;
    this.#unwatch = gateway.watchdog.watch((now) => {
      if (this.#paused || now - this.#heardAtMs <= (this.#heard ? idle : firstByte)) return;
      this.#timedOut = true;
      this.close();
    });
    call.client.stopWhenGone(() => this.close());
  }

  get msSoFar(): number {
    return Math.round(this.#gateway.nowMs() - this.startedAtMs);
  }

  /** Sends the request; resolves with a successful answer's headers, or throws what the failure means. */
  async open(): Promise<Response> {
    const { incoming, model } = this.#call;
    const { provider, offer, dialect } = this.planned;
    if (!this.#call.received) throw new Error("the request was let go before the last attempt");
    const prepared = incoming.dialect.prepareRequest(this.#call.received, {
      upstreamModel: offer.upstreamModel,
      stream: this.#call.stream,
      door: incoming.door,
      maxOutputTokens: offer.maxOutputTokens ?? model.maxOutputTokens,
      quirks: provider.quirks,
    });
    const betas = provider.quirks.forwardBetas ? incoming.betas : [];
    this.#call.notes = prepared.notes;
    if (betas !== incoming.betas) {
      const reason = "this provider knows no betas";
      for (const beta of incoming.betas) prepared.notes.push({ path: `beta ${beta}`, action: "dropped", reason });
    }
    const { stream } = this.#call;
    const place = provider.address({ dialect, verb: incoming.verb, model: offer.upstreamModel, stream, betas });
    const { url, headers } = place instanceof Promise ? await place : place;
    let response: Response;
    try {
      response = await post(url, headers, prepared.payload, this.#controller.signal);
    } catch (error) {
      throw this.explain(error);
    }
    this.hear();
    this.#heard = false;
    if (response.status !== 200) throw await this.#refusal(response);
    return response;
  }

  async #refusal(response: Response): Promise<GatewayError> {
    const retryAfter = response.headers.get("retry-after");
    const body = await this.readText(response, MAX_ERROR_BYTES);
    const error = this.#call.incoming.dialect.decodeError({ status: response.status, body, retryAfter });
    return error.withMessage(this.planned.provider.redact(error.message));
  }

  /** The whole body as text, within a bound. */
  async readText(response: Response, maxBytes: number): Promise<string> {
    const parts: Uint8Array[] = [];
    let size = 0;
    try {
      const length = Number(response.headers.get("content-length") ?? Number.NaN);
      if (length <= maxBytes) return await response.text();
      for await (const part of response.body ?? []) {
        this.hear();
        size += part.length;
        if (size > maxBytes) break;
        parts.push(part);
      }
    } catch (error) {
      throw this.explain(error);
    }
    if (size > maxBytes) {
      this.close();
      throw new GatewayError("upstream_failed", `The provider's answer is larger than ${maxBytes} bytes.`);
    }
    return new TextDecoder().decode(Buffer.concat(parts, size));
  }

  /** The upstream gave a sign of life. */
  hear(): void {
    this.#heard = true;
    this.#heardAtMs = this.#gateway.nowMs();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#heardAtMs = this.#gateway.nowMs();
  }

  /** What a broken upstream connection means for this call. */
  explain(thrown: unknown): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    if (this.#call.client.gone) return new ClientGoneError();
    if (this.#timedOut) {
      const { firstByte, idle } = this.planned.provider.timeoutMs;
      const what = this.#heard ? `fell silent for ${idle} ms` : `sent nothing for ${firstByte} ms`;
      return new GatewayError("upstream_timeout", `The provider ${what}.`, { cause: thrown });
    }
    const connected = postFailure(thrown) !== "connect";
    const message = connected ? "The connection to the provider broke." : "The provider could not be reached.";
    return new GatewayError("upstream_failed", message, { cause: thrown });
  }

  /** Ends the upstream request, finished or not. */
  close(): void {
    this.#unwatch();
    this.#controller.abort();
  }

  /** The answer was read to its end: nothing is left to stop. */
  finish(): void {
    this.#unwatch();
  }
}
