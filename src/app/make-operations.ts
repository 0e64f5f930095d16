import { expectedCostOf } from "../operations/bill.ts";
import { Operations } from "../operations/operations.ts";
import { OperationPoller } from "../operations/poller.ts";
import { Reservations } from "../operations/reservations.ts";
import { Settlement } from "../operations/settlement.ts";
import type { Gateway } from "../relay/gateway.ts";
import { FULL_STORE_CURE } from "../relay/media/require-file-space.ts";
import { traceOperation } from "../relay/media/trace-operation.ts";
import { VideoJobs } from "../relay/media/video-jobs.ts";
import { logCall } from "../relay/settle/log-call.ts";
import { publishCallEnded, publishOperation } from "../relay/settle/publish-events.ts";
import type { Storage } from "../storage/storage.ts";

/** Asynchronous jobs: open ones continue, and their possible cost is reserved again. */
export async function makeOperations(
  gateway: Gateway,
  storage: Storage,
  keptMs: number,
): Promise<{ operations: Operations; poller: OperationPoller }> {
  const { clock, timings, log } = gateway;
  const owner = `process-${gateway.random.id()}`;
  const reservations = new Reservations(({ keyId, project, model, tags, endUser }, costNanoUsd) =>
    gateway.admissions.hold(
      {
        keyId,
        project,
        maker: gateway.keys.makerOf(keyId),
        call: { principal: gateway.keys.ownerOf(keyId), model, tags, endUser },
      },
      costNanoUsd,
    ),
  );
  const settlement = new Settlement({
    instance: gateway.instance,
    storage,
    nowMs: clock.nowMs,
    keptMs,
    // Processes that share budgets each count what they have settled themselves.
    onSettled: (operation, costNanoUsd, isHere) => {
      const isCounted = isHere || gateway.sharedLimits === undefined;
      reservations.settle(operation, isCounted ? costNanoUsd : 0, isCounted);
    },
    onEnded: (receipt, operation) => {
      const { request } = operation.job;
      logCall(gateway, receipt, request?.id, request?.trace);
      gateway.metrics.settled(receipt);
      traceOperation(operation, receipt, gateway);
      if (!gateway.events.watched) return;
      publishOperation(operation, operation.state === "failed" ? "failed" : "done", gateway);
      publishCallEnded(receipt, gateway);
    },
    held: () => reservations.held,
  });
  const poller = new OperationPoller({
    storage,
    runner: new VideoJobs(gateway),
    settlement,
    owner,
    clock,
    leaseMs: timings.operationLeaseMs,
    onProblem: (error) => log.error({ err: error }, "failed to poll an operation"),
    onUnkept: ({ id, project }, error) =>
      log.error(
        { err: error.cause ?? error, operation: id, project },
        `failed to store a finished video, retrying: ${FULL_STORE_CURE}`,
      ),
  });
  const operations = new Operations({
    storage,
    settlement,
    poller,
    owner,
    clock,
    leaseMs: timings.operationLeaseMs,
    keptMs,
    reserve: (operation, costNanoUsd) => reservations.add(operation, costNanoUsd),
  });
  for (const operation of await operations.open()) reservations.add(operation, expectedCostOf(operation));
  return { operations, poller };
}
