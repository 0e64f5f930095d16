import { Type } from "../../base/type.ts";
import { json } from "../openapi/operation.ts";
import type { ServerContext } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { ownPath } from "./paths.ts";

/** The process is up. */
export const healthAnswer = (): Response => Response.json({ status: "ok" });

/** Whether the gateway accepts calls: not while it drains, nor when no more receipts can be kept. */
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
  summary: "Check that the process is up",
  dialect: "chat",
  access: "open",
  answers: [json(Status, "The process is up.")],
  handle: () => healthAnswer(),
};

export const getReadiness: ClientEndpoint = {
  ...getHealth,
  paths: ownPath("/readyz"),
  id: "getReadiness",
  summary: "Check whether the gateway accepts calls",
  answers: [
    json(Status, "The gateway accepts calls: it is ready, or degraded for the given reason."),
    { ...json(Status, "The gateway does not accept calls, for the given reason."), status: 503 },
  ],
  handle: (_routed, context) => readinessAnswer(context),
};
