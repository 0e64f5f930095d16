import Type from "typebox";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { nullable } from "../../dialects/schema-builders.ts";
import { listReceipts, receiptById } from "../../ledger/receipt-pages.ts";
import { receiptView } from "../../ledger/receipt-view.ts";
import { json } from "../openapi/operation.ts";
import { adminRoute } from "./define-route.ts";
import { limitOf, PAGE_FIELDS } from "./query-fields.ts";
import { RECEIPT_FIELDS, receiptFilter } from "./receipt-filter.ts";
import { dataAnswer, pageAnswer } from "./schemas/answers.ts";
import { ReceiptItem } from "./schemas/receipt.ts";

export const listReceiptsRoute = adminRoute({
  method: "GET",
  path: "/api/receipts",
  id: "listReceipts",
  summary: "List receipts, newest first. What is read for a page is bounded: one may be short, and have a next.",
  roles: ["admin", "viewer"],
  query: { ...PAGE_FIELDS, ...RECEIPT_FIELDS },
  answers: [
    json(
      pageAnswer("ReceiptList", ReceiptItem, {
        searched_back_to: nullable(Type.String({ description: "Where a search with few results has stopped." })),
      }),
      "What happened to calls.",
    ),
  ],
  handle: async ({ query }, { storage }) => {
    const page = withoutAbsent({ limit: limitOf(query), after: query.after });
    const { receipts, next, searchedBackToMs } = await listReceipts(storage, receiptFilter(query), page);
    return {
      data: receipts.map(operatorView),
      next: next ?? null,
      searched_back_to: searchedBackToMs === undefined ? null : new Date(searchedBackToMs).toISOString(),
    };
  },
});

export const showReceiptRoute = adminRoute({
  method: "GET",
  path: "/api/receipts/{id}",
  id: "showReceipt",
  summary: "Show a receipt, with what providers said where they failed.",
  roles: ["admin", "viewer"],
  answers: [json(dataAnswer("ReceiptAnswer", ReceiptItem), "What happened to the call.")],
  handle: async ({ parameters }, { storage }) => {
    const id = parameters["id"] ?? "";
    const receipt = await receiptById(storage, id);
    if (receipt !== undefined) return { data: operatorView(receipt) };
    const message = `There is no receipt ${JSON.stringify(id.slice(0, 80))}.`;
    throw new GatewayError("not_found", message, { code: "receipt_not_found" });
  },
});

/** All that clients see, and what is for operators alone: whose call it was, and where failures came from. */
function operatorView(receipt: Receipt) {
  const { data } = receiptView(receipt);
  return {
    ...data,
    project: receipt.project,
    key: receipt.key,
    verb: receipt.verb,
    outcome: receipt.outcome,
    offers: data.offers.map((offer, index) => ({ ...offer, failure: receipt.offers[index]?.failure ?? null })),
    instance: receipt.instance ?? null,
    adjusts: receipt.adjusts ?? null,
  };
}
