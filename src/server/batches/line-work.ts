import type { CallEstimate, Entry } from "../../access/admit.ts";
import { parseObject } from "../../base/json.ts";
import type { LineToRun, LineWork } from "../../batches/batch-runner.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { anyForm } from "../../objects/object-id.ts";
import { RelayError } from "../../relay/answer/relay-error.ts";
import { NO_CONNECTION } from "../../relay/background.ts";
import type { BatchLine } from "../../relay/call.ts";
import type { LineResult } from "../../storage/tables/batches.ts";
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

/** Refusals that time cures: the line is run again instead of failing. */
const CURED_BY_TIME: ReadonlySet<GatewayError["kind"]> = new Set(["rate_limited", "overloaded"]);

/** Runs the lines of batches through the same handlers as the requests of clients. */
export class BatchLineWork implements LineWork {
  readonly #context: ServerContext;
  readonly #table: RouteTable<Handler>;
  readonly #assumedOutputTokens: number;
  #releaseHeld: (() => void)[] = [];

  constructor({ context, routes, assumedOutputTokens }: LineWorkOptions) {
    this.#context = context;
    this.#assumedOutputTokens = assumedOutputTokens;
    this.#table = new RouteTable(routes);
  }

  async estimate(line: LineToRun): Promise<number> {
    const { gateway } = this.#context;
    const principal = gateway.keys.current(line.batch.keyId);
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

  requireBudget({ keyId }: LineToRun["batch"], costNanoUsd: number): void {
    const { gateway } = this.#context;
    const principal = gateway.keys.current(keyId);
    if (principal === undefined || costNanoUsd === 0) return;
    gateway.admissions.requireBudget(principal, costNanoUsd);
  }

  hold(held: Parameters<LineWork["hold"]>[0]): void {
    const { admissions, keys } = this.#context.gateway;
    for (const release of this.#releaseHeld) release();
    this.#releaseHeld = held.map(({ batch: { keyId, project }, costNanoUsd }) => {
      const release = admissions.hold({ keyId, project, maker: keys.makerOf(keyId) }, costNanoUsd);
      return () => release(0, 0);
    });
  }

  async run(line: LineToRun): Promise<LineResult | "later" | "revoked"> {
    const { gateway } = this.#context;
    const principal = gateway.keys.current(line.batch.keyId);
    if (principal === undefined) return "revoked";
    const receipts: Receipt[] = [];
    let isEnded = false;
    const running: BatchLine = {
      ...this.#terms(line),
      enter: () => gateway.admissions.enterLine(principal),
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
      if (receipts.length === 0 && CURED_BY_TIME.has(error.kind)) return "later";
      const response = this.#route(line).dialect.errors.encode(error, requestIdOf(line));
      return { status: response.status, result: response.body, receipts };
    } finally {
      isEnded = true;
    }
  }

  #terms({ batch, line, customId }: LineToRun): Pick<BatchLine, "batch" | "assumedOutputTokens"> {
    const id = anyForm("batch", batch.id);
    return { batch: { id, line, customId }, assumedOutputTokens: this.#assumedOutputTokens };
  }

  #handle(line: LineToRun, onBehalf: NonNullable<RoutedRequest["onBehalf"]>): Response | Promise<Response> {
    const { route, parameters, dialect, path, headers, body } = this.#route(line);
    const request = new Request(`${this.#context.publicUrl()}${path}`, { method: "POST", headers, body });
    const routed = {
      request,
      requestId: requestIdOf(line),
      connection: { ...NO_CONNECTION },
      operator: undefined,
      onBehalf,
      parameters,
      query: new URLSearchParams(),
      dialect,
      door: route.door,
    };
    return route.handle(routed, this.#context);
  }

  #route({ batch, text }: LineToRun) {
    const form = BATCH_FORMS[batch.form];
    const { path, headers, body } = form?.requestOf(parseObject(text) ?? {}, batch.endpoint) ?? NO_REQUEST;
    const match = this.#table.find("POST", path);
    if (match === undefined) throw new GatewayError("not_found", `Batches cannot have requests to ${path}.`);
    const { route, parameters } = match;
    const written = JSON.stringify(body);
    const length = String(Buffer.byteLength(written));
    const dialect = this.#context.dialects.get(batch.form === "messages" ? "messages" : route.dialect);
    return { route, parameters, dialect, path, headers: { ...headers, "content-length": length }, body: written };
  }
}

const NO_REQUEST = { path: "", headers: {}, body: {} };

const requestIdOf = ({ batch, line }: LineToRun): string => `req_batch_${batch.id}_${line}`;

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
