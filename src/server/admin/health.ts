import { Type } from "../../base/type.ts";
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
  summary: "Show that the process is up.",
  ignoresUnknownParameters: true,
  answers: [json(Health, "It is.")],
  handle: () => healthAnswer(),
});

/** With `?verbose` every part with the age of what is known of it; with it or `?detail` the health of the providers, too: for operators alone, since it tells of the accounts behind the gateway. */
export const readinessRoute = openRoute({
  method: "GET",
  path: "/readyz",
  id: "readiness",
  summary:
    "Show whether calls should be sent here; with `verbose`, for operators, the health of every part and provider.",
  ignoresUnknownParameters: true,
  query: {
    detail: { ...textField("Present: the providers are shown."), read: () => true },
    verbose: { ...textField("Present: the parts of the gateway and the providers are shown."), read: () => true },
  },
  answers: [json(Readiness, "They should."), { ...json(Readiness, "They should not."), status: 503 }],
  handle: async ({ request, connection, query }, context, admin) => {
    const plain = readinessAnswer(context);
    if (query.detail === undefined && query.verbose === undefined) return plain;
    await authorize(request, ["admin", "viewer"], connection, admin);
    const { gateway } = context;
    const providers = healthReport(gateway.snapshot, gateway.health, gateway.clock.nowMs());
    const body = (await plain.json()) as object;
    const shown = query.verbose === undefined ? {} : { parts: admin.parts() };
    return Response.json({ ...body, ...shown, providers }, { status: plain.status });
  },
});
