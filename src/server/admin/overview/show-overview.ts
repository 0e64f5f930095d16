import { OVERVIEW_WINDOWS, type OverviewPart, overviewOf, type TopGroup } from "../../../ledger/overview.ts";
import { selectUnpricedUses, type UnpricedUse } from "../../../storage/receipts/unpriced-uses.ts";
import { json } from "../../openapi/operation.ts";
import { adminRoute } from "../define-route.ts";
import { oneOfField } from "../query-fields.ts";
import { OverviewAnswer } from "../schemas/overview.ts";
import { attention } from "./attention.ts";

const MINUTE_MS = 60_000;

export const showOverview = adminRoute({
  method: "GET",
  path: "/api/overview",
  id: "showOverview",
  summary: "Show calls, failures, cost, tokens and latency as series for charts.",
  roles: ["admin", "viewer"],
  query: { window: oneOfField("How far back. Default: `1h`.", OVERVIEW_WINDOWS) },
  answers: [json(OverviewAnswer, "Sums of the ledger; the last interval is not complete yet.")],
  handle: async ({ query }, context, parts) => {
    const { storage, gateway, condition } = context;
    const elsewhere = parts.others();
    const found = await overviewOf(storage, query.window ?? "1h", gateway.clock.wallMs(), parts.overviews.previous);
    const { status, reasons } = condition();
    const unpriced = await selectUnpricedUses(storage, { sinceMs: found.sinceMs, limit: MAX_UNPRICED });
    const minutes = (found.untilMs - found.sinceMs) / MINUTE_MS;
    return {
      data: {
        from: moment(found.sinceMs),
        to: moment(found.untilMs),
        every_ms: found.everyMs,
        status,
        reasons,
        running_calls: gateway.runningCalls + elsewhere.runningCalls,
        instances: 1 + elsewhere.instances,
        calls_per_minute: Math.round((found.total.calls / minutes) * 1e6) / 1e6,
        total: amountsView(found.total),
        previous: found.previous && {
          from: moment(found.previous.sinceMs),
          to: moment(found.sinceMs),
          complete: found.previous.isComplete,
          ...amountsView(found.previous),
        },
        attention: await attention(context, parts, unpriced),
        series: found.parts.map((part) => ({ at: moment(part.startMs), ...amountsView(part) })),
        top: {
          models: found.top.models.map(topView),
          providers: found.top.providers.map(topView),
          keys: found.top.keys.map(topView),
        },
        unpriced: unpriced.map(unpricedView),
      },
    };
  },
});

/** The latest ones; the receipts have all of them. */
const MAX_UNPRICED = 20;

const unpricedView = ({
  name,
  keyId,
  project,
  model,
  provider,
  receiptId,
  calls,
  lastAtMs,
  producedBy,
}: UnpricedUse) => ({
  name,
  produced_by: producedBy === "" ? null : producedBy,
  key: keyId,
  project,
  model,
  provider,
  receipt: receiptId,
  calls,
  last_at: moment(lastAtMs),
});

const moment = (ms: number): string => new Date(ms).toISOString();

const amountsView = (part: Omit<OverviewPart, "startMs">) => ({
  calls: part.calls,
  failures: part.failures,
  cost_nano_usd: part.costNanoUsd,
  input_tokens: part.inputTokens,
  cached_tokens: part.cachedTokens,
  output_tokens: part.outputTokens,
  first_content_ms: part.firstContentMs,
  total_ms: part.totalMs,
});

const topView = ({ name, calls, failures, costNanoUsd }: TopGroup) => ({
  name,
  calls,
  failures,
  cost_nano_usd: costNanoUsd,
});
