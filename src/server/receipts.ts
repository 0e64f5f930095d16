import { GatewayError } from "../canon/error.ts";
import { findReceipt } from "../ledger/queries.ts";
import { receiptView } from "../ledger/receipt-view.ts";
import { countedCaller } from "./counted-caller.ts";
import type { Handler } from "./routed-request.ts";

/** `GET /api/v1/generation?id=`: what happened to a call. Only the project that made it can see it. */
export const showReceipt: Handler = async (routed, { gateway, storage }) => {
  const principal = await countedCaller(routed, gateway);
  const id = routed.query.get("id");
  if (!id) {
    const message = "The query parameter id is missing; it is the value of the header x-trivium-receipt of an answer.";
    throw new GatewayError("invalid_request", message, { path: "id" });
  }
  const receipt = await findReceipt(storage, principal.project, id);
  if (!receipt)
    throw new GatewayError("not_found", `There is no receipt "${id.slice(0, 80)}".`, { code: "receipt_not_found" });
  return Response.json(receiptView(receipt));
};
