import type { Admission, CallEstimate, Entry, Release } from "../../access/admit.ts";
import type { Principal } from "../../access/principal.ts";
import { parseObject } from "../../base/json.ts";
import type { LineOutcome, LineToRun, LineWork } from "../../batches/line-work.ts";
import type {
  BatchPayer,
  NativeLine,
  NativeLines,
  NativeResponse,
  OwnedBatch,
  PreparedRequest,
} from "../../batches/native-work.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { anyForm } from "../../objects/object-id.ts";
import { RelayError } from "../../relay/answer/relay-error.ts";
import { NO_CONNECTION } from "../../relay/background.ts";
import { billUnread } from "../../relay/batch/bill-unread.ts";
import { UnfitLineError, unfitLine } from "../../relay/batch/plan-native.ts";
import { targetById } from "../../relay/batch/target-by-id.ts";
import type { BatchLine, KeptResponse, PreparingPass } from "../../relay/call.ts";
import type { KeptHeaders } from "../../relay/derived/kept-headers.ts";
import type { LineResult } from "../../storage/tables/batch-lines.ts";
import type { OpenBatch } from "../../storage/tables/batches.ts";
import type { Route } from "../route-table.ts";
import { RouteTable } from "../route-table.ts";
import type { Handler, RoutedRequest, ServerContext } from "../routed-request.ts";
import { BATCH_FORMS } from "./batch-forms.ts";

interface LineWorkOptions {
  context: ServerContext;
  /** What is reserved for the response of a line that sets no limit. */
  assumedOutputTokens: number;
  routes: readonly Route<Handler>[];
}

/** Refusals that time cures. */
const CURED_BY_TIME: ReadonlySet<GatewayError["kind"]> = new Set(["rate_limited", "overloaded"]);
/** When a line is run again that was refused without a time. */
const RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 60;

/** Runs the lines of batches through the same handlers as the requests of clients. */
export class BatchLineWork implements LineWork, NativeLines {
  readonly #context: ServerContext;
  readonly #table: RouteTable<Handler>;
  readonly #assumedOutputTokens: number;
  /** What is held for batches. */
  readonly #holds = new Map<string, { costNanoUsd: number; release: Release }>();

  constructor({ context, routes, assumedOutputTokens }: LineWorkOptions) {
    this.#context = context;
    this.#assumedOutputTokens = assumedOutputTokens;
    this.#table = new RouteTable(routes);
  }

  async estimate(line: LineToRun): Promise<number> {
    const { gateway } = this.#context;
    const principal = await gateway.keys.recall(line.batch);
    if (principal === undefined) return 0;
    const entry = new EstimatingEntry();
    try {
      const estimating = { ...this.#terms(line), enter: () => entry, settle: () => Promise.resolve() };
      await this.#handle(line, { principal, line: estimating });
    } catch {
      // It is refused again when it is run, and then the client learns why.
    }
    return entry.costNanoUsd;
  }

  async reserve(batch: OpenBatch, costNanoUsd: number): Promise<void> {
    const { admissions, keys } = this.#context.gateway;
    const principal = await keys.recall(batch);
    if (principal === undefined || costNanoUsd === 0) return;
    this.hold(batch, 0);
    this.#holds.set(batch.id, { costNanoUsd, release: await admissions.reserve(principal, costNanoUsd) });
  }

  hold({ id, keyId, project }: OpenBatch, costNanoUsd: number): void {
    const { admissions, keys } = this.#context.gateway;
    const held = this.#holds.get(id);
    if (held?.costNanoUsd === costNanoUsd) return;
    held?.release(0, 0);
    this.#holds.delete(id);
    if (costNanoUsd === 0) return;
    const release = admissions.hold({ keyId, project, maker: keys.makerOf(keyId) }, costNanoUsd);
    this.#holds.set(id, { costNanoUsd, release });
  }

  async run(line: LineToRun, onAdmitted: () => void): Promise<LineOutcome> {
    const { gateway } = this.#context;
    const principal = await gateway.keys.recall(line.batch);
    if (principal === undefined) return "revoked";
    const receipts: Receipt[] = [];
    let isEnded = false;
    const running: BatchLine = {
      ...this.#terms(line),
      enter: () => new LineEntry(gateway.admissions.enterWork(principal), onAdmitted),
      settle: async (receipt) => {
        // What goes on after the response must not be lost with it.
        if (isEnded) await gateway.ledger.write(receipt);
        else receipts.push(receipt);
      },
    };
    try {
      const response = await this.#handle(line, { principal, line: running });
      return { status: response.status, result: await response.text(), receipts };
    } catch (thrown) {
      const error = asGatewayError(thrown instanceof RelayError ? thrown.error : thrown);
      const isFree = receipts.every(({ costNanoUsd }) => costNanoUsd === 0);
      if (isFree && isCuredByTime(error)) {
        const seconds = Math.min(MAX_RETRY_SECONDS, Math.max(1, error.retryAfterSeconds ?? RETRY_SECONDS));
        return { retryAfterMs: seconds * 1000 };
      }
      return { ...this.#encode(line.batch, error, requestIdOf(line)), receipts };
    } finally {
      isEnded = true;
    }
  }

  #terms({ batch, line, customId }: NativeLine): Pick<BatchLine, "batch" | "assumedOutputTokens"> {
    const id = anyForm("batch", batch.id);
    return { batch: { id, line, customId }, assumedOutputTokens: this.#assumedOutputTokens };
  }

  refused(batch: OpenBatch, error: GatewayError): Pick<LineResult, "status" | "result"> {
    return this.#encode(batch, error, `req_batch_${batch.id}`);
  }

  #encode({ form }: OpenBatch, error: GatewayError, requestId: string): Pick<LineResult, "status" | "result"> {
    const { status, body } = this.#context.dialects.get(form).errors.encode(error, requestId);
    return { status, result: body };
  }

  async mayRun(batch: BatchPayer): Promise<boolean> {
    return (await this.#context.gateway.keys.recall(batch)) !== undefined;
  }

  async prepare(line: NativeLine, target: string | undefined, isTrial = false): ReturnType<NativeLines["prepare"]> {
    const { keys, admissions } = this.#context.gateway;
    const principal = await keys.recall(line.batch);
    if (principal === undefined) return { refused: true };
    if (!isPrepared(line.batch)) return { unfit: `Its requests are sent to ${line.batch.endpoint}.` };
    let prepared: PreparedRequest | undefined;
    const native: PreparingPass = {
      target,
      isTrial,
      take: (request) => {
        prepared = request;
      },
    };
    // A provider runs all lines of a batch, whatever they have used of such a limit.
    const requireWhole = (call: CallEstimate) => {
      if (admissions.isLimitedInPart(principal, call)) throw unfitLine(LIMITED_IN_PART);
    };
    const preparing = {
      ...this.#terms(line),
      enter: () => new LineEntry(admissions.enterPrepared(principal), requireWhole),
      settle: () => Promise.resolve(),
      native,
    };
    try {
      await this.#handle(line, { principal, line: preparing });
    } catch (thrown) {
      if (thrown instanceof UnfitLineError) return { unfit: thrown.message };
    }
    return prepared ?? { refused: true };
  }

  async settle(line: NativeLine, target: string, given: NativeResponse | undefined): Promise<LineResult> {
    const { gateway } = this.#context;
    const { keyId, project } = line.batch;
    const { keys } = gateway;
    const principal = (await keys.recall(line.batch)) ?? keys.ownerOf(keyId) ?? forgottenKey(keyId, project);
    const receipts: Receipt[] = [];
    const response: KeptResponse = { ...(given ?? NO_RESPONSE), isRead: false };
    const settling: BatchLine = {
      ...this.#terms(line),
      enter: () => gateway.admissions.enterDone(principal),
      settle: async (receipt) => {
        receipts.push(receipt);
      },
      native: { target, response },
    };
    try {
      const answer = await this.#handle(line, { principal, line: settling });
      return { status: answer.status, result: await answer.text(), receipts };
    } catch (thrown) {
      const error =
        given === undefined ? noResult() : asGatewayError(thrown instanceof RelayError ? thrown.error : thrown);
      const { dialect } = this.#route(line);
      if (!response.isRead) {
        const known = targetById(gateway.snapshot, target);
        if (known === undefined || CURED_BY_TIME.has(error.kind)) throw error;
        receipts.length = 0;
        const incoming = { ...this.#incoming(line), dialect, line: settling };
        await billUnread({ target: known, response, principal, entry: settling.enter(), incoming, error }, gateway);
      }
      const encoded = dialect.errors.encode(error, requestIdOf(line));
      return { status: encoded.status, result: encoded.body, receipts };
    }
  }

  #incoming(line: NativeLine) {
    const { path, headers, body } = this.#route(line);
    const request = new Request(`${this.#context.publicUrl()}${path}`, { method: "POST", headers, body });
    return { request, requestId: requestIdOf(line), connection: { ...NO_CONNECTION } };
  }

  #handle(line: NativeLine, onBehalf: NonNullable<RoutedRequest["onBehalf"]>): Response | Promise<Response> {
    const { route, parameters, dialect } = this.#route(line);
    const routed = {
      ...this.#incoming(line),
      operator: undefined,
      onBehalf,
      parameters,
      query: new URLSearchParams(),
      dialect,
      door: route.door,
    };
    return route.handle(routed, this.#context);
  }

  #route({ batch, text, sent: left }: NativeLine) {
    const form = BATCH_FORMS[batch.form];
    const { path, headers, body } = form?.requestOf(parseObject(text) ?? {}, batch.endpoint) ?? NO_REQUEST;
    const match = this.#table.find("POST", path);
    if (match === undefined) throw new GatewayError("not_found", `Batches cannot have requests to ${path}.`);
    const { route, parameters } = match;
    const written = left ?? JSON.stringify(body);
    const length = String(Buffer.byteLength(written));
    const dialect = this.#context.dialects.get(batch.form === "messages" ? "messages" : route.dialect);
    const kept = batch.metadata["headers"] as KeptHeaders | undefined;
    const sent = { ...headers, ...kept, "content-length": length };
    return { route, parameters, dialect, path, headers: sent, body: written };
  }
}

/** The endpoints that only prepare a request if told so. The others would send it. */
const PREPARED = /^\/v1\/(chat\/completions|responses|embeddings|messages)$|^\/v1beta\/.*:generateContent$/;

const isPrepared = ({ endpoint }: OwnedBatch): boolean => PREPARED.test(endpoint);

/** A key that was removed from the configuration. What it has used is still billed to its project. */
const forgottenKey = (keyId: string, project: string): Principal => ({
  keyId,
  keyName: keyId,
  project,
  models: ["*"],
  limits: {},
  levels: [],
});

const NO_RESPONSE: NativeResponse = { status: 502, body: "{}" };

const noResult = (): GatewayError =>
  new GatewayError("upstream_failed", "The provider's batch has no result for this request.");

const NO_REQUEST = { path: "", headers: {}, body: {} };

const requestIdOf = ({ batch, line }: NativeLine): string => `req_batch_${batch.id}_${line}`;

/**
 * Refusals that time cures: the line is run again instead of failing. The cost of a batch is held before it begins, so a budget
 * that has too little left only for now is one that other calls hold.
 */
const isCuredByTime = ({ kind, retryAfterSeconds }: GatewayError): boolean =>
  kind === "rate_limited" || kind === "overloaded" || (kind === "budget_exhausted" && retryAfterSeconds !== undefined);

const LIMITED_IN_PART = "Its end user, model or tags have limits, which hold for each line.";

/**
 * Does something before a line is admitted: for example, gives back what the batch holds for it in the same turn in which it reserves
 * that itself.
 */
class LineEntry implements Entry {
  readonly #entry: Entry;
  readonly #before: (call: CallEstimate) => void;

  constructor(entry: Entry, before: (call: CallEstimate) => void) {
    this.#entry = entry;
    this.#before = before;
  }

  admit(call: CallEstimate): Admission {
    this.#before(call);
    return this.#entry.admit(call);
  }

  admitShared(call: CallEstimate): Admission | Promise<Admission> {
    this.#before(call);
    return this.#entry.admitShared(call);
  }

  leave(): void {
    this.#entry.leave();
  }
}

/** Learns what a call may cost, and ends it there. */
class EstimatingEntry implements Entry {
  costNanoUsd = 0;

  admit(call: CallEstimate): never {
    this.costNanoUsd = call.estimatedCostNanoUsd;
    throw new GatewayError("internal", "Only the cost was wanted.");
  }

  admitShared(call: CallEstimate): never {
    return this.admit(call);
  }

  leave(): void {}
}
