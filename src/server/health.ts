import type { Handler } from "./routed-request.ts";

/** The process is up. */
export const sendHealth: Handler = () => Response.json({ status: "ok" });

/** Whether calls should be sent here: not while it drains, nor when no more receipts can be kept. */
export const sendReadiness: Handler = (_routed, { condition }) => {
  const { status, reasons } = condition();
  return Response.json(
    { status, ...(reasons.length === 0 ? {} : { reason: reasons.join("; ") }) },
    { status: status === "not ready" ? 503 : 200 },
  );
};
