import { recordAct } from "../../access/audit.ts";
import { GatewayError } from "../../canon/error.ts";
import { UnreadableCapture } from "../../capture/captures.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { projectOf } from "./project-scope.ts";
import { BodiesAnswer } from "./schemas/bodies.ts";

/** Every access to what people have sent to models is recorded. */
export const showBodiesRoute = adminRoute({
  method: "GET",
  path: "/api/receipts/{id}/bodies",
  id: "showBodies",
  summary: "Show the bodies of a call whose key has `capture` enabled. Each view is recorded in the audit log.",
  roles: ["admin", "project"],
  answers: [json(BodiesAnswer, "Requests and responses, redacted; null if there was none.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }) => {
    const id = parameters["id"] ?? "";
    const { captures } = gateway;
    const found = await captures.read(id).catch((thrown: unknown) => {
      throw thrown instanceof UnreadableCapture ? unreadable(id) : thrown;
    });
    const own = projectOf(operator, undefined);
    // For an operator of one project, another project's bodies do not exist (S09).
    if (found === undefined || (own !== undefined && found.project !== own)) throw notKept(id);
    const { project, keyId, createdAtMs } = found;
    const about = { act: "receipt.bodies", target: id, project };
    await recordAct(storage, { ...actorOf(operator, connection), ...about }, gateway);
    return {
      data: {
        receipt: id,
        project,
        key: keyId,
        created_at: new Date(createdAtMs).toISOString(),
        expires_at: new Date(createdAtMs + captures.limits.retentionMs).toISOString(),
        ...found.bodies,
        media: found.bodies.media ?? [],
      },
    };
  },
});

const unreadable = (id: string): GatewayError =>
  new GatewayError(
    "not_found",
    `The bodies of ${JSON.stringify(id.slice(0, 80))} were sealed with a different \`responses.key\` from this gateway's.`,
    { code: "bodies_unreadable" },
  );

const notKept = (id: string): GatewayError =>
  new GatewayError(
    "not_found",
    `No bodies of ${JSON.stringify(id.slice(0, 80))} are stored: \`capture\` is off for its key, or they have expired.`,
    { code: "bodies_not_kept" },
  );
