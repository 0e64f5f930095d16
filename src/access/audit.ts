import type { Sources } from "../base/sources.ts";
import { timePrefix } from "../base/timed-id.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { Queries } from "../storage/storage.ts";
import { type ActFilter, insertAct, type StoredAct, selectActs } from "../storage/tables/audit.ts";

/** Who acts, and from where. */
export interface Actor {
  /** `operator:<name>`, `admin`, `key:<id>`, `command line`, `gateway`. */
  who: string;
  address?: string;
}

/** An administrative act. */
export interface NewAct extends Actor {
  /** Such as `key.create`. */
  act: string;
  /** The id of the object. */
  target: string;
  project?: string;
  /** The changed fields before the act, as the API shows them. */
  before?: unknown;
  after?: unknown;
}

const ID_PREFIX = "act_";
/** Fields of these names are never shown. */
const SECRET_FIELDS = /^(key|secret|hash|digest|password|token|api_key|csrf)$/i;
const MAX_DETAIL = 64 * 1024;
const MAX_PAGE = 1_000;

/** Records the act in the transaction of the change itself: both are kept, or neither. */
export async function recordAct(queries: Queries, act: NewAct, { clock, random }: Sources): Promise<void> {
  const atMs = Math.floor(clock.wallMs());
  await insertAct(
    queries,
    withoutAbsent({
      id: ID_PREFIX + timePrefix(atMs) + random.id(),
      atMs,
      who: act.who,
      address: act.address,
      act: act.act,
      target: act.target,
      project: act.project,
      before: act.before === undefined ? undefined : detail(act.before),
      after: act.after === undefined ? undefined : detail(act.after),
    }),
  );
}

/** Secrets are recognised by the field's name, not by their value. */
function detail(value: unknown): string {
  const text = JSON.stringify(value, (name, member: unknown) => (SECRET_FIELDS.test(name) ? "[secret]" : member));
  return text.length <= MAX_DETAIL ? text : JSON.stringify({ too_long: text.length });
}

/** The fields that differ, before and after. */
export function changesOf(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const pick = (from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(changed.filter((name) => name in from).map((name) => [name, from[name]]));
  return { before: pick(before), after: pick(after) };
}

/** An act as the API shows it. */
export interface ActView {
  id: string;
  at: string;
  who: string;
  address: string | null;
  act: string;
  target: string;
  project: string | null;
  before: unknown;
  after: unknown;
}

/** Newest first. */
export async function listActs(
  queries: Queries,
  filter: ActFilter,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<{ acts: ActView[]; next?: string }> {
  const most = Math.max(1, Math.min(limit, MAX_PAGE));
  const found = await selectActs(queries, filter, { limit: most + 1, after });
  const acts = found.slice(0, most).map(actView);
  const last = acts.at(-1);
  return { acts, ...(found.length > most && last !== undefined ? { next: last.id } : {}) };
}

const actView = ({ id, atMs, who, address, act, target, project, before, after }: StoredAct): ActView => ({
  id,
  at: new Date(atMs).toISOString(),
  who,
  address: address ?? null,
  act,
  target,
  project: project ?? null,
  before: before === undefined ? null : JSON.parse(before),
  after: after === undefined ? null : JSON.parse(after),
});
