import { providerStates } from "../../../routing/health/provider-states.ts";
import type { UnpricedUse } from "../../../storage/receipts/unpriced-uses.ts";
import { sumRefusals } from "../../../storage/tables/refusals.ts";
import type { ServerContext } from "../../routed-request.ts";
import type { AdminParts } from "../define-route.ts";
import type { Finding } from "../schemas/attention.ts";
import { budgetFindings } from "./budget-findings.ts";
import { providerFindings } from "./provider-findings.ts";

type Context = Pick<ServerContext, "gateway" | "storage" | "condition">;
type Parts = Pick<AdminParts, "alerts" | "budgets" | "exports" | "config" | "overviews">;

const HOUR_MS = 3_600_000;
/** Fewer refusals an hour are ordinary mistakes of clients. */
const MANY_REFUSALS = 20;
const MAX_OF_A_KIND = 5;
const MAX_NAMES = 5;

/** What an operator should look at now, the most urgent first. All of it is in memory or found by an index. */
export async function attention(
  { gateway, storage, condition }: Context,
  parts: Parts,
  unpriced: readonly UnpricedUse[],
): Promise<Finding[]> {
  const { clock, snapshot, health } = gateway;
  const wallMs = clock.wallMs();
  const found: Finding[] = [
    ...conditionFindings(condition()),
    ...providerFindings(providerStates(snapshot, health, { nowMs: clock.nowMs(), wallMs })),
    ...budgetFindings(parts.budgets(), wallMs),
    ...exportFindings(parts.exports),
    ...(await alertFindings(parts.alerts)),
    ...reloadFindings(parts.config),
    ...unpricedFindings(unpriced),
    ...(await refusalFindings(storage, wallMs)),
    ...[parts.overviews.oldPrices.find(snapshot.catalogue, () => parts.config.overlays(), wallMs)].filter(
      (one) => one !== undefined,
    ),
  ];
  const counts = new Map<Finding["kind"], number>();
  const bounded = found.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= MAX_OF_A_KIND;
  });
  return [
    ...bounded.filter(({ severity }) => severity === "bad"),
    ...bounded.filter(({ severity }) => severity === "warn"),
  ];
}

function conditionFindings({ status, reasons }: ReturnType<Context["condition"]>): Finding[] {
  if (status === "not ready")
    return reasons.map((reason) => ({ kind: "not_ready", severity: "bad", since: null, reason }));
  return reasons.map((reason) => ({ kind: "degraded", severity: "warn", since: null, reason }));
}

const moment = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

const exportFindings = (exports: Parts["exports"]): Finding[] =>
  exports.states().flatMap(({ name, stored }) =>
    stored === undefined || stored.failures === 0
      ? []
      : [
          {
            kind: "export_failing",
            severity: "warn",
            since: moment(stored.failingSinceMs),
            name,
            failures: stored.failures,
            error: stored.error ?? null,
          },
        ],
  );

async function alertFindings(alerts: Parts["alerts"]): Promise<Finding[]> {
  const tried = alerts.settings.webhooks.map(async ({ name }): Promise<Finding[]> => {
    const last = await alerts.lastTry(name);
    if (last === undefined || last.state === "delivered") return [];
    const { tries, triedAtMs, status, error } = last;
    return [
      {
        kind: "alert_failing",
        severity: "warn",
        since: null,
        webhook: name,
        tries,
        tried_at: moment(triedAtMs),
        status: status ?? null,
        error: error ?? null,
      },
    ];
  });
  return (await Promise.all(tried)).flat();
}

/** The last change of the configuration file was not applied. */
function reloadFindings({ lastReload }: Parts["config"]): Finding[] {
  if (lastReload === undefined || lastReload.ok) return [];
  const [problem] = lastReload.problems;
  const { file = null, line = null, message = "The configuration could not be read." } = problem ?? {};
  return [{ kind: "config_refused", severity: "warn", since: lastReload.at, file, line, message }];
}

function unpricedFindings(uses: readonly UnpricedUse[]): Finding[] {
  const [last] = uses;
  if (last === undefined) return [];
  const names = [...new Set(uses.map(({ name }) => name))];
  return [
    {
      kind: "unpriced",
      severity: "warn",
      since: new Date(Math.min(...uses.map(({ firstAtMs }) => firstAtMs))).toISOString(),
      names: names.slice(0, MAX_NAMES),
      more: Math.max(0, names.length - MAX_NAMES),
      model: last.model,
      provider: last.provider,
      key: last.keyId,
      receipt: last.receiptId,
      last_at: new Date(last.lastAtMs).toISOString(),
    },
  ];
}

async function refusalFindings(storage: Context["storage"], wallMs: number): Promise<Finding[]> {
  const range = { fromMs: wallMs - HOUR_MS, toMs: wallMs + 1 };
  const byReason = await sumRefusals(storage, { ...range, by: ["reason"] }, MAX_OF_A_KIND * 10);
  const requests = byReason.reduce((sum, one) => sum + one.requests, 0);
  const [most] = byReason;
  if (most === undefined || requests < MANY_REFUSALS) return [];
  const reason = most.groups[0] ?? "";
  const [key] = await sumRefusals(storage, { ...range, by: ["key"], reason }, 1);
  return [
    {
      kind: "refusals",
      severity: "warn",
      since: new Date(range.fromMs).toISOString(),
      requests,
      reason,
      reason_requests: most.requests,
      key: key?.groups[0] || null,
      key_requests: key?.requests ?? 0,
    },
  ];
}
