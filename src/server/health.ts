import type { Handler, ServerContext } from "./routed-request.ts";

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

export const sendHealth: Handler = () => healthAnswer();

export const sendReadiness: Handler = (_routed, context) => readinessAnswer(context);
