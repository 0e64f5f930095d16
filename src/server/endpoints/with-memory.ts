import type { Principal } from "../../access/principal.ts";
import { checkProtocol } from "../../access/scopes.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { HeldMemory } from "../../relay/request/memory-budget.ts";
import { readBody } from "../../relay/request/read-body.ts";
import type { Handler, RoutedRequest } from "../routed-request.ts";
import { withCaller } from "./with-caller.ts";

/** A request about stored content, from a key that may use its protocol. */
export interface MemoryRequest {
  principal: Principal;
  routed: RoutedRequest;
  gateway: Gateway;
  /** What is read counts like the memory of any other call, until the response is made. */
  memory: HeldMemory;
  id: string;
}

/** A handler that reads stored content, or bodies of any size, within the memory of the gateway. */
export const withMemory = (handle: (request: MemoryRequest) => Promise<object>): Handler =>
  withCaller(async (principal, routed, { gateway }) => {
    checkProtocol(principal, routed.dialect.name);
    const memory = gateway.memory.open(principal);
    try {
      return Response.json(await handle({ principal, routed, gateway, memory, id: routed.parameters["id"] ?? "" }));
    } finally {
      memory.release();
    }
  });

/** The body of such a request. */
export async function bodyOf({ routed, gateway, memory }: MemoryRequest): Promise<JsonObject> {
  const { request } = routed;
  if (request.body === null) return {};
  return (await readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway)).body;
}
