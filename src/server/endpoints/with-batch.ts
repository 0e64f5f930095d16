import type { Principal } from "../../access/principal.ts";
import type { Batch } from "../../batches/batch.ts";
import { noSuchObject } from "../no-such-object.ts";
import type { Handler, RoutedRequest, ServerContext } from "../routed-request.ts";
import { withCaller } from "./with-caller.ts";

type BatchHandler = (
  batch: Batch,
  routed: RoutedRequest,
  context: ServerContext,
  principal: Principal,
) => Response | Promise<Response>;

/** A batch that the caller may not see looks as if it did not exist (S09). */
export function withBatch(handle: BatchHandler): Handler {
  return withCaller(async (principal, routed, context) => {
    const batch = await context.gateway.batches.find(principal, batchIdOf(routed));
    if (batch === undefined) throw noSuchObject("batch", batchIdOf(routed));
    return handle(batch, routed, context, principal);
  });
}

/** Clients of one protocol have the prefix of the id in the path. */
export function batchIdOf({ parameters, dialect }: RoutedRequest): string {
  const id = parameters["id"] ?? "";
  return dialect.name === "genai" ? `batches/${id}` : id;
}
