import { Type } from "../../base/type.ts";
import { healthReport } from "../../routing/health/health-report.ts";
import { json } from "../openapi/operation.ts";
import { adminRoute } from "./define-route.ts";
import { dataAnswer } from "./schemas/answers.ts";
import { ProviderHealth } from "./schemas/provider.ts";

export const listProviders = adminRoute({
  method: "GET",
  path: "/api/providers",
  id: "listProviders",
  summary: "Show the health of every provider's credentials and models.",
  roles: ["admin", "viewer"],
  answers: [json(dataAnswer("ProviderList", Type.Array(ProviderHealth)), "The configured providers.")],
  handle: (_call, { gateway }) => ({
    data: healthReport(gateway.snapshot, gateway.health, gateway.clock.nowMs()),
  }),
});
