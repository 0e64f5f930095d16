import { GatewayError } from "../../../canon/error.ts";
import { attemptsOverTime } from "../../../ledger/measured.ts";
import { OVERVIEW_WINDOWS } from "../../../ledger/overview.ts";
import { json } from "../../openapi/operation.ts";
import { adminRoute } from "../define-route.ts";
import { oneOfField } from "../query-fields.ts";
import { ProviderHistoryAnswer } from "../schemas/provider.ts";
import { measuredView } from "./measured-view.ts";

export const showProviderHistory = adminRoute({
  method: "GET",
  path: "/api/providers/{name}/history",
  id: "showProviderHistory",
  summary: "Show a provider's attempts, failures, first content and speed over time.",
  roles: ["admin", "viewer"],
  query: { window: oneOfField("How far back. Default: `24h`.", OVERVIEW_WINDOWS) },
  answers: [json(ProviderHistoryAnswer, "Attempts in the ledger, of all processes.")],
  handle: async ({ parameters, query }, { gateway, storage }) => {
    const name = parameters["name"] ?? "";
    if (!gateway.snapshot.providers.has(name)) {
      throw new GatewayError("not_found", `No provider "${name}" is configured. GET /api/providers lists them.`);
    }
    const found = await attemptsOverTime(storage, name, query.window ?? "24h", gateway.clock.wallMs());
    const moment = (ms: number) => new Date(ms).toISOString();
    return {
      data: {
        from: moment(found.sinceMs),
        to: moment(found.untilMs),
        every_ms: found.everyMs,
        most_receipts: found.mostOfPart,
        series: found.parts.map(({ startMs, isSampled, measured }) => ({
          at: moment(startMs),
          sampled: isSampled,
          measured: measuredView(measured),
        })),
      },
    };
  },
});
