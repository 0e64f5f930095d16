import { asGatewayError } from "../../canon/error.ts";
import { JsonDocument } from "../../guards/json-document.ts";
import { stringifyInOrder } from "../../wire/ordered-json.ts";
import { RelayError } from "../answer/relay-error.ts";
import { CallEndedError, type CausingCall, type IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { SeenTexts } from "../guard/guard-run.ts";
import { type OwnWork, workFor } from "./derive.ts";
import { requireRunning } from "./while-running.ts";

/** Work that the gateway does for a call, one call after another. It holds the client's connection until `release`. */
export class Work {
  /** The gateway with the configuration that the call began with. */
  readonly gateway: Gateway;
  readonly seen: SeenTexts;
  readonly #call: CausingCall;

  constructor(call: CausingCall, gateway: Gateway) {
    const { snapshot } = gateway;
    this.gateway = new Proxy(gateway, {
      get: (target, name) => (name === "snapshot" ? snapshot : Reflect.get(target, name)),
    });
    this.seen = call.guards?.seen ?? new SeenTexts();
    this.#call = call;
  }

  /** The next call. Throws if the first has ended meanwhile. */
  next(
    name: Parameters<typeof workFor>[0],
    body: object | string,
    { naming, modelInPath }: Omit<OwnWork, "request">,
  ): IncomingRequest {
    this.requireRunning();
    // The call before it has released the connection.
    this.#call.incoming.connection.hold();
    const request = requestWith(this.#call.incoming.request, body);
    return workFor(name, this.#call, this.seen, { request, naming, modelInPath });
  }

  /** Throws if nothing more is to be done. */
  requireRunning(): void {
    requireRunning(this.#call, this.gateway.clock);
  }

  /** What a call has said and the next one repeats. Guards on responses have seen it. */
  passed(said: object): void {
    const guards = this.#call.guards?.inForce.response ?? [];
    if (guards.length === 0) return;
    for (const { value } of new JsonDocument(JSON.stringify(said)).texts)
      for (const { settings } of guards) this.seen.add(settings.name, value, value);
  }

  /** Whether the failure of one of its calls ends all of it. */
  isEndedBy(thrown: unknown): boolean {
    const { client } = this.#call;
    const isRefused = !(thrown instanceof RelayError);
    const error = asGatewayError(isRefused ? thrown : thrown.error);
    if (error instanceof CallEndedError || client.stopped !== undefined || client.disconnected) return true;
    // A provider's rate limit has a receipt, and another model may be within its limit (H58).
    return isRefused && !error.isOfModel && (error.kind === "budget_exhausted" || error.kind === "rate_limited");
  }

  /** The client reads no further. */
  end(): void {
    this.#call.client.markDisconnected();
  }

  /** Nothing more follows. */
  release(): void {
    this.#call.incoming.connection.rest();
  }
}

/** A request like the client's, with another body: an object, or its JSON text. */
function requestWith({ url, headers: given, signal }: Request, body: object | string): Request {
  const headers = new Headers(given);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  headers.set("content-type", "application/json");
  const text = typeof body === "string" ? body : stringifyInOrder(body);
  return new Request(url, { method: "POST", headers, signal, body: text });
}
