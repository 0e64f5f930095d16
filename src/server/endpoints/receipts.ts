import { GatewayError } from "../../canon/error.ts";
import { findReceipt } from "../../ledger/queries.ts";
import { receiptView } from "../../ledger/receipt-view.ts";
import { countedCaller } from "../counted-caller.ts";
import { json } from "../openapi/operation.ts";
import { ReceiptAnswer } from "../openapi/receipt.ts";
import type { Handler } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { chatPaths } from "./paths.ts";

/** `GET /api/v1/generation?id=`: the receipt of a call. Only its project can see it. */
const show: Handler = async (routed, { gateway, storage }) => {
  const principal = await countedCaller(routed, gateway);
  const id = routed.query.get("id");
  if (!id) {
    const message =
      "The query parameter id is missing. Set it to the value of the header x-trivium-receipt of a response.";
    throw new GatewayError("invalid_request", message, { path: "id" });
  }
  // Before the store, which takes a row before it leaves the queue.
  const waiting = gateway.ledger.waiting(id);
  const receipt = waiting?.project === principal.project ? waiting : await findReceipt(storage, principal.project, id);
  if (!receipt)
    throw new GatewayError("not_found", `There is no receipt "${id.slice(0, 80)}".`, { code: "receipt_not_found" });
  return Response.json(receiptView(receipt));
};

export const getReceipt: ClientEndpoint = {
  method: "GET",
  paths: chatPaths("/generation"),
  id: "getReceipt",
  summary: "Show the receipt of a call",
  dialect: "chat",
  parameters: ["receipt-id"],
  answers: [json(ReceiptAnswer, "The receipt.")],
  handle: show,
};
