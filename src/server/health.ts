import type { Handler } from "./routed-request.ts";

/** The process is up. */
export const sendHealth: Handler = () => Response.json({ status: "ok" });

/** The process takes calls: not while it drains, nor when its storage does not answer. */
export const sendReadiness: Handler = async (_routed, { accepting, healthy }) => {
  const problem = !accepting() ? "draining" : (await healthy()) ? undefined : "the storage does not answer";
  return problem === undefined
    ? Response.json({ status: "ready" })
    : Response.json({ status: "not ready", reason: problem }, { status: 503 });
};
