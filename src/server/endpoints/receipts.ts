import { GatewayError } from "../../canon/error.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { findReceipt } from "../../ledger/queries.ts";
import { receiptView } from "../../ledger/receipt-view.ts";
import { batchIdFor } from "../../objects/object-id.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { Storage } from "../../storage/storage.ts";
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
  const receipt = await find(id, principal.project, gateway.ledger, storage);
  if (!receipt)
    throw new GatewayError("not_found", `There is no receipt "${id.slice(0, 80)}".`, { code: "receipt_not_found" });
  const { batch, clientDialect } = receipt;
  const named = batch && { ...receipt, batch: { ...batch, id: batchIdFor(batch.id, clientDialect) } };
  return Response.json(receiptView(named ?? receipt));
};

/** A row is in the store before it leaves a queue or a journal. */
async function find(
  id: string,
  project: string,
  ledger: Pick<Gateway["ledger"], "waiting" | "waitingElsewhere">,
  storage: Storage,
): Promise<Receipt | undefined> {
  const waiting = ledger.waiting(id);
  if (waiting?.project === project) return waiting;
  const stored = await findReceipt(storage, project, id);
  if (stored !== undefined) return stored;
  const journaled = await ledger.waitingElsewhere(id);
  return journaled?.project === project ? journaled : await findReceipt(storage, project, id);
}

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
