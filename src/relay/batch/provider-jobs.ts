import type { Payer } from "../../access/people/token-ring.ts";
import type { NativeJobs, NativeProgress, NativeResult } from "../../batches/native-work.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import { BATCH } from "../../canon/terms.ts";
import type { BatchApi } from "../../providers/batches/batch-api.ts";
import type { ProviderBatches } from "../../providers/batches/provider-batches.ts";
import type { Storage } from "../../storage/storage.ts";
import { belongsToOther, type NativeBatch } from "../../storage/tables/native-batches.ts";
import { UncertainError } from "../attempt/provider-exchange.ts";
import type { Gateway } from "../gateway.ts";
import { checkBilling } from "../request/check-billing.ts";
import { TargetBatchHost } from "./batch-host.ts";
import { type BatchTarget, contentOf, targetById } from "./target-by-id.ts";

interface Job {
  target: BatchTarget;
  batches: ProviderBatches;
  api: BatchApi;
  host: TargetBatchHost;
}

/** The batch APIs of the configured providers. */
export class ProviderJobs implements NativeJobs {
  readonly #gateway: Gateway;
  readonly #storage: Storage;

  constructor(gateway: Gateway, storage: Storage) {
    this.#gateway = gateway;
    this.#storage = storage;
  }

  hasAny(): boolean {
    for (const credentials of this.#gateway.snapshot.providers.values())
      if (credentials.some(({ batches }) => batches !== undefined)) return true;
    return false;
  }

  isConfigured({ target, credential }: NativeBatch): boolean {
    return targetById(this.#gateway.snapshot, target)?.provider.batches?.credential === credential;
  }

  limitsOf(target: string) {
    const { maxLines, maxBytes } = this.#job(target).api;
    return { maxLines, maxBytes };
  }

  requirePrice(target: string, payer: Payer): void {
    const { model, offer } = this.#job(target).target;
    const principal = this.#gateway.keys.current(payer);
    if (principal === undefined) return;
    const term = { kind: "term", name: BATCH, path: "batch" } as const;
    checkBilling([term], { principal, door: "dropin" }, [{ model, offer, sentAs: () => BATCH }], this.#gateway);
  }

  line(target: string, id: string, body: string): string {
    const { api, batches, target: found } = this.#job(target);
    return api.line(id, body, batches.endpointOf(contentOf(found)) ?? "");
  }

  async submit(batch: NativeBatch, lines: readonly Uint8Array[], beforeCreation: () => Promise<void>): Promise<string> {
    return this.#ask(batch, ({ api, host, target, batches }) => {
      const { marker, headers } = batch;
      const endpoint = batches.endpointOf(contentOf(target)) ?? "";
      return api.submit(host, { marker, headers, endpoint, lines, model: target.offer.upstreamModel }, beforeCreation);
    });
  }

  find(batch: NativeBatch): Promise<{ id: string } | "unclear" | undefined> {
    const { id, marker, headers, lineCount: count, sentAtMs } = batch;
    const isOther = (providerId: string) => belongsToOther(this.#storage, id, providerId);
    return this.#ask(batch, ({ api, host }) => api.find(host, { marker, headers, count, sentAtMs, isOther }));
  }

  async poll(batch: NativeBatch): Promise<NativeProgress> {
    const progress = await this.#ask(batch, ({ api, host }) => api.poll(host, idOf(batch)));
    if (progress.state !== "failed") return progress;
    const { provider } = this.#job(batch.target).target;
    return { ...progress, reasons: progress.reasons.map((reason) => provider.redact(reason)) };
  }

  cancel(batch: NativeBatch): Promise<void> {
    return this.#ask(batch, ({ api, host }) => api.cancel(host, idOf(batch)));
  }

  async *results(
    batch: NativeBatch,
    { results }: Extract<NativeProgress, { state: "ended" }>,
  ): AsyncGenerator<NativeResult> {
    const { api, host } = this.#jobOf(batch);
    yield* api.results(host, results);
  }

  isUncertain(error: GatewayError): boolean {
    return error instanceof UncertainError || (error.failure?.status ?? 0) >= 500;
  }

  async #ask<T>(batch: NativeBatch, ask: (job: Job) => Promise<T>): Promise<T> {
    const job = this.#jobOf(batch);
    try {
      return await ask(job);
    } catch (thrown) {
      throw job.target.provider.redactError(asGatewayError(thrown));
    }
  }

  /** Only the credential that created a batch can see it (H24). */
  #jobOf({ target, credential, provider }: NativeBatch): Job {
    const job = this.#job(target);
    if (job.batches.credential === credential) return job;
    throw new GatewayError(
      "internal",
      `The credential of the provider ${provider} has changed since a batch was submitted.`,
    );
  }

  #job(id: string): Job {
    const target = targetById(this.#gateway.snapshot, id);
    const batches = target?.provider.batches;
    if (target === undefined || batches === undefined)
      throw new GatewayError("internal", `The offer of a batch is not configured any more: ${id}.`);
    return { target, batches, api: batches.api, host: new TargetBatchHost(target, batches, this.#gateway) };
  }
}

function idOf({ providerId }: NativeBatch): string {
  if (providerId === undefined) throw new Error("a running batch has no id of its provider");
  return providerId;
}
