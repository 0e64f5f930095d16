import { recordAct } from "../../../access/audit.ts";
import type { Operator } from "../../../access/people/operator.ts";
import { Type } from "../../../base/type.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { Receipt } from "../../../canon/receipt.ts";
import { billOf } from "../../../catalogue/price-lines.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { listReceipts, receiptById } from "../../../ledger/receipt-pages.ts";
import { receiptView } from "../../../ledger/receipt-view.ts";
import type { Storage } from "../../../storage/storage.ts";
import { hasCapture } from "../../../storage/tables/captures.ts";
import { selectPrices } from "../../../storage/tables/prices.ts";
import { json } from "../../openapi/operation.ts";
import { wrongField } from "../../wrong-field.ts";
import { actorOf } from "../actor.ts";
import { adminRoute } from "../define-route.ts";
import { checkText, limitOf, PAGE_FIELDS, type QueryField, textField } from "../query-fields.ts";
import { dataAnswer, pageAnswer } from "../schemas/answers.ts";
import { ReceiptDetail, ReceiptItem } from "../schemas/receipt.ts";
import { RECEIPT_FIELDS, receiptFilter } from "./receipt-filter.ts";
import { type BodySearch, searchBodies } from "./search-bodies.ts";

const MIN_BODY_LENGTH = 4;

/** Shorter texts are in nearly every body. */
const bodyField: QueryField<string> = {
  ...textField(
    "Only calls whose captured bodies contain exactly this text, in 4 or more characters. Only for admins; each search is recorded in the audit log.",
  ),
  read: (text, name) => {
    if (checkText(text, name).trim().length >= MIN_BODY_LENGTH) return text;
    throw wrongField(name, `must have at least ${MIN_BODY_LENGTH} characters`);
  },
};

export const listReceiptsRoute = adminRoute({
  method: "GET",
  path: "/api/receipts",
  id: "listReceipts",
  summary:
    "List receipts, newest first. The search for a page is bounded, so a page may be short and still have a next.",
  roles: ["admin", "viewer"],
  query: { ...PAGE_FIELDS, ...RECEIPT_FIELDS, body: bodyField },
  answers: [
    json(
      pageAnswer("ReceiptList", ReceiptItem, {
        searched_back_to: nullable(Type.String({ description: "Where a search with few results stopped." })),
        bodies: nullable(
          Type.Object(
            {
              searched: Type.Integer({ description: "Calls whose captured bodies were read; 0: none are kept." }),
              unreadable: Type.Integer({ description: "Calls whose bodies were sealed with another key, or deleted." }),
            },
            { description: "Of a search with `body`; otherwise null." },
          ),
        ),
      }),
      "The receipts.",
    ),
  ],
  handle: async ({ query, operator, connection }, { storage, gateway }) => {
    if (query.body !== undefined) {
      const { body, after, project } = query;
      refuseReaders(operator);
      const about = withoutAbsent({ act: "receipt.search", target: body, project });
      await recordAct(storage, { ...actorOf(operator, connection), ...about }, gateway);
      const page = { limit: limitOf(query), after };
      return searchView(await searchBodies({ storage, gateway }, receiptFilter(query), body, page));
    }
    const page = withoutAbsent({ limit: limitOf(query), after: query.after });
    const { receipts, next, searchedBackToMs } = await listReceipts(storage, receiptFilter(query), page);
    return {
      data: receipts.map(operatorView),
      next: next ?? null,
      searched_back_to: momentOf(searchedBackToMs),
      bodies: null,
    };
  },
});

const momentOf = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

const searchView = ({ receipts, next, searchedBackToMs, searched, unreadable }: BodySearch) => ({
  data: receipts.map(operatorView),
  next: next ?? null,
  searched_back_to: momentOf(searchedBackToMs),
  bodies: { searched, unreadable },
});

/** A search tells what bodies contain, so that it needs what reading them needs. */
function refuseReaders({ role }: Operator): void {
  if (role === "admin") return;
  throw new GatewayError("forbidden", `The role ${role} cannot search bodies; it requires admin.`, {
    path: "body",
    code: "role_not_allowed",
  });
}

export const showReceiptRoute = adminRoute({
  method: "GET",
  path: "/api/receipts/{id}",
  id: "showReceipt",
  summary: "Show a receipt, including providers' error messages.",
  roles: ["admin", "viewer"],
  answers: [json(dataAnswer("ReceiptAnswer", ReceiptDetail), "The receipt.")],
  handle: async ({ parameters }, { storage, gateway }) => {
    const id = parameters["id"] ?? "";
    const receipt = await receiptById(storage, id);
    if (receipt !== undefined) {
      const captured = await hasCapture(storage, id, gateway.captures.keptSinceMs);
      return { data: { ...operatorView(receipt), priced: await pricedView(receipt, storage), captured } };
    }
    const message = `There is no receipt ${JSON.stringify(id.slice(0, 80))}.`;
    throw new GatewayError("not_found", message, { code: "receipt_not_found" });
  },
});

/** The names of counters in the API's spelling. */
const snake = (name: string): string => name.replaceAll(/[A-Z]|(?<=[a-z])\d/g, (sign) => `_${sign.toLowerCase()}`);

async function pricedView(receipt: Receipt, storage: Storage) {
  const { pricedBy } = receipt;
  if (pricedBy === undefined) return null;
  const ids = "id" in pricedBy ? [pricedBy.id] : pricedBy.map(({ prices }) => prices.id);
  const texts = new Map<string, string | undefined>();
  for (const id of new Set(ids)) texts.set(id, await selectPrices(storage, id));
  const parts = billOf(receipt, (id) => texts.get(id));
  return (
    parts?.map(({ lines, terms, multiple, discountBasisPoints, costNanoUsd }) => ({
      lines: lines.map((line) => ({
        counter: snake(line.counter),
        amount: line.amount,
        price_usd: line.priceUsd,
        unit: line.unit,
        cost_nano_usd: line.costNanoUsd,
      })),
      terms,
      multiple,
      discount_basis_points: discountBasisPoints,
      cost_nano_usd: costNanoUsd,
    })) ?? null
  );
}

/** What clients see, and what only operators see: the owner of the call, and the sources of failures. */
function operatorView(receipt: Receipt) {
  const { data } = receiptView(receipt);
  return {
    ...data,
    project: receipt.project,
    key: receipt.key,
    verb: receipt.verb,
    outcome: receipt.outcome,
    offers: data.offers.map((offer, index) => ({ ...offer, failure: receipt.offers[index]?.failure ?? null })),
    error: receipt.error === undefined ? null : { path: null, code: null, ...receipt.error },
    stopped_by: receipt.stoppedBy ?? null,
    instance: receipt.instance ?? null,
    adjusts: receipt.adjusts ?? null,
  };
}
