import { Type } from "../../base/type.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { healthReport } from "../../routing/health/health-report.ts";
import { healthAnswer, readinessAnswer } from "../endpoints/health.ts";
import { json } from "../openapi/operation.ts";
import { authorize } from "./authorize.ts";
import { openRoute } from "./define-route.ts";
import { textField } from "./query-fields.ts";

const Health = Type.Object({ status: Type.String() }, { title: "Health" });
const Readiness = Type.Object(
  { status: Type.Enum(["ready", "degraded", "not ready"]), reason: Type.Optional(Type.String()) },
  { title: "Readiness" },
);

export const healthRoute = openRoute({
  method: "GET",
  path: "/healthz",
  id: "health",
  summary: "Check that the process is up.",
  ignoresUnknownParameters: true,
  answers: [json(Health, "The process is up.")],
  handle: () => healthAnswer(),
});

/**
 * With `?verbose` every dependency with the age of its state; with it or `?detail` also the health of the providers.
 * Only for operators, because it reveals the gateway's accounts.
 */
export const readinessRoute = openRoute({
  method: "GET",
  path: "/readyz",
  id: "readiness",
  summary:
    "Check whether the gateway accepts calls. With `verbose`, operators also see the health of every dependency and provider.",
  ignoresUnknownParameters: true,
  query: {
    detail: { ...textField("Present: include the providers."), read: () => true },
    verbose: { ...textField("Present: include the gateway's dependencies and the providers."), read: () => true },
  },
  answers: [
    json(Readiness, "The gateway accepts calls."),
    { ...json(Readiness, "The gateway does not accept calls."), status: 503 },
  ],
  handle: async ({ request, connection, query }, context, admin) => {
    const plain = readinessAnswer(context);
    if (query.detail === undefined && query.verbose === undefined) return plain;
    await authorize(request, ["admin", "viewer"], connection, admin);
    const { gateway } = context;
    const providers = healthReport(gateway.snapshot, gateway.health, gateway.clock.nowMs());
    const body = (await plain.json()) as object;
    const parts = query.verbose === undefined ? undefined : admin.parts();
    return Response.json(withoutAbsent({ ...body, parts, providers }), { status: plain.status });
  },
});
