import { healthReport, type ProviderReport } from "../../routing/health/health-report.ts";
import { sendReadiness } from "../health.ts";
import { requireAdmin } from "../require-admin.ts";
import type { Handler, ServerContext } from "../routed-request.ts";

const reportOf = ({ gateway }: ServerContext): ProviderReport[] =>
  healthReport(gateway.snapshot, gateway.health, gateway.clock.nowMs());

/** The health of every provider's credentials and models. */
export const showProviders: Handler = (_routed, context) => Response.json({ data: reportOf(context) });

/** With `?detail` the health of the providers, too: for the operator alone, since it tells of the accounts behind the gateway. */
export const sendDetailedReadiness: Handler = async (routed, context) => {
  const plain = await sendReadiness(routed, context);
  if (!routed.query.has("detail")) return plain;
  requireAdmin(routed.request.headers, context);
  const body = (await plain.json()) as object;
  return Response.json({ ...body, providers: reportOf(context) }, { status: plain.status });
};
