import { Type } from "../../base/type.ts";
import { json } from "../openapi/operation.ts";
import type { ServerContext } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { ownPath } from "./paths.ts";

/** The process is up. */
export const healthAnswer = (): Response => Response.json({ status: "ok" });

/** Whether calls should be sent here: not while it drains, nor when no more receipts can be kept. */
export function readinessAnswer({ condition }: Pick<ServerContext, "condition">): Response {
  const { status, reasons } = condition();
  return Response.json(
    { status, ...(reasons.length === 0 ? {} : { reason: reasons.join("; ") }) },
    { status: status === "not ready" ? 503 : 200 },
  );
}

const Status = Type.Object({ status: Type.String(), reason: Type.Optional(Type.String()) }, { title: "Status" });

export const getHealth: ClientEndpoint = {
  method: "GET",
  paths: ownPath("/healthz"),
  id: "getHealth",
  summary: "Whether the process is up",
  dialect: "chat",
  access: "open",
  answers: [json(Status, "It is up.")],
  handle: () => healthAnswer(),
};

export const getReadiness: ClientEndpoint = {
  ...getHealth,
  paths: ownPath("/readyz"),
  id: "getReadiness",
  summary: "Whether the gateway takes calls",
  answers: [
    json(Status, "It takes calls: ready, or degraded for the reason given."),
    { ...json(Status, "It does not, for the reason given."), status: 503 },
  ],
  handle: (_routed, context) => readinessAnswer(context),
};
