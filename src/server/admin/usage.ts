import { GatewayError } from "../../canon/error.ts";
import { summariseUsage } from "../../ledger/queries.ts";
import type { UsageGroup } from "../../storage/usage-sums.ts";
import type { Handler } from "../routed-request.ts";

const USAGE_GROUPS: readonly UsageGroup[] = ["model", "key", "day", "provider", "project"];
const DAY_MS = 86_400_000;

export const showUsage: Handler = async ({ query }, { storage, gateway }) => {
  const groupBy = (query.get("by") ?? "model") as UsageGroup;
  if (!USAGE_GROUPS.includes(groupBy)) {
    throw new GatewayError("invalid_request", `by must be one of ${USAGE_GROUPS.join(", ")}.`, { path: "by" });
  }
  const days = Number(query.get("days") ?? 30);
  if (!(days > 0 && days <= 3660)) {
    throw new GatewayError("invalid_request", "days must be a number from 1 to 3660.", { path: "days" });
  }
  const untilMs = gateway.clock.wallMs() + 1;
  const project = query.get("project");
  const data = await summariseUsage(storage, {
    ...(project === null ? {} : { project }),
    sinceMs: untilMs - Math.round(days * DAY_MS),
    untilMs,
    groupBy,
  });
  return Response.json({ data });
};
