import type { Actor } from "../../access/audit.ts";
import type { Change, UpdatePlan } from "../../catalogue/updates/plan-update.ts";
import type { SourceList } from "../../catalogue/updates/source-list.ts";

/** A published list, and what to do with it. */
export interface UpdateRequest {
  /** The list's name. */
  source: string;
  /** YYYY-MM-DD: its day. */
  asOf: string;
  list: SourceList;
  /** Models whose held-back prices are accepted. */
  confirmed: ReadonlySet<string>;
  /** Otherwise the update is only planned. */
  apply: boolean;
  /** Apply only the update with this digest. */
  digest?: string | undefined;
}

/** What an update changes, and whether it was applied. */
export interface UpdateReport extends Pick<UpdatePlan, "added" | "digest"> {
  source: string;
  as_of: string;
  listed: number;
  skipped: Readonly<Record<string, number>>;
  unread: Readonly<Record<string, number>>;
  changes: readonly Change[];
  held: readonly Change[];
  /** How many models it changes or adds. */
  models: number;
  /** Its number; null if it was not applied. */
  applied: number | null;
}

/** The catalogue for the Admin API; the program's start knows how updates are stored. */
export interface AdminCatalogue {
  update(request: UpdateRequest, actor: Actor): Promise<UpdateReport>;
  remove(number: number, actor: Actor): Promise<void>;
}
