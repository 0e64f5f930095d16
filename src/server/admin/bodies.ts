import { recordAct } from "../../access/audit.ts";
import { GatewayError } from "../../canon/error.ts";
import { UnreadableCapture } from "../../capture/captures.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { projectOf } from "./project-scope.ts";
import { BodiesAnswer } from "./schemas/bodies.ts";

/** Whoever reads what people have written to models is on record for it. */
export const showBodiesRoute = adminRoute({
  method: "GET",
  path: "/api/receipts/{id}/bodies",
  id: "showBodies",
  summary: "Show the bodies of a call whose key has them kept. Each view is in the audit log.",
  roles: ["admin", "project"],
  answers: [json(BodiesAnswer, "What came and went, redacted; null where there was nothing.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }) => {
    const id = parameters["id"] ?? "";
    const { captures } = gateway;
    const found = await captures.read(id).catch((thrown: unknown) => {
      throw thrown instanceof UnreadableCapture ? unreadable(id) : thrown;
    });
    const own = projectOf(operator, undefined);
    // Another project's does not exist for an operator of one (S09).
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
    `The bodies of ${JSON.stringify(id.slice(0, 80))} were sealed with another \`responses.key\` than this gateway's.`,
    { code: "bodies_unreadable" },
  );

const notKept = (id: string): GatewayError =>
  new GatewayError(
    "not_found",
    `No bodies of ${JSON.stringify(id.slice(0, 80))} are kept: its key does not have them kept, or their time is over.`,
    { code: "bodies_not_kept" },
  );
