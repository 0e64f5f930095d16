export type { Alert, AlertSettings, AlertTest } from "../../src/server/admin/schemas/alert.ts";
export type { Finding } from "../../src/server/admin/schemas/attention.ts";
export type { Act } from "../../src/server/admin/schemas/audit.ts";
export type { BatchItem } from "../../src/server/admin/schemas/batch.ts";
export type { CapturedBodies, CapturedBody, CapturedMedium } from "../../src/server/admin/schemas/bodies.ts";
export type { CallItem } from "../../src/server/admin/schemas/call-in-flight.ts";
export type { CatalogueReport, CatalogueUpdate } from "../../src/server/admin/schemas/catalogue.ts";
export type { ConfigChecked, ConfigShown } from "../../src/server/admin/schemas/config.ts";
export type { EndUser } from "../../src/server/admin/schemas/end-user.ts";
export type { ExportItem } from "../../src/server/admin/schemas/export.ts";
export type { GuardItem } from "../../src/server/admin/schemas/guard.ts";
export type { CreatedKey, Key, ListedKey, RotatedKey, ShownKey } from "../../src/server/admin/schemas/key.ts";
export type { SessionItem } from "../../src/server/admin/schemas/live-session.ts";
export type { CatalogueModel } from "../../src/server/admin/schemas/model.ts";
export type { ObjectItem } from "../../src/server/admin/schemas/object.ts";
export type { OperationItem } from "../../src/server/admin/schemas/operation.ts";
export type { OperatorItem } from "../../src/server/admin/schemas/operator.ts";
export type { Overview } from "../../src/server/admin/schemas/overview.ts";
export type { OfferPrices } from "../../src/server/admin/schemas/price.ts";
export type { Project } from "../../src/server/admin/schemas/project.ts";
export type { ProviderHealth, ProviderHistory, ProvidersAnswer } from "../../src/server/admin/schemas/provider.ts";
export type { CheckedProvider, ProviderForms } from "../../src/server/admin/schemas/provider-form.ts";
export type { ProviderTest } from "../../src/server/admin/schemas/provider-test.ts";
export type { ReceiptDetail, ReceiptItem } from "../../src/server/admin/schemas/receipt.ts";
export type { LoginWays, OpenSession, Session } from "../../src/server/admin/schemas/session.ts";
export type { TokenSubject } from "../../src/server/admin/schemas/subject.ts";
export type { UsageAmounts, UsageAnswer, UsageRow } from "../../src/server/admin/schemas/usage.ts";

/** One page of a list. */
export interface Page<Item> {
  data: Item[];
  next: string | null;
  /** For receipts: how far back the search went before it stopped. */
  searched_back_to?: string | null;
  /** Of a search in captured bodies. */
  bodies?: { searched: number; unreadable: number } | null;
}

/** What all processes answered, and which did not. */
export interface Gathered<Item> {
  data: Item[];
  /** How many match, whether or not they are in `data`. */
  total: number;
  instances: number;
  unanswered: { id: string; place: string }[];
  problem: string | null;
}
