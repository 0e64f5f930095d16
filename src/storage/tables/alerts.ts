import { withoutAbsent } from "../../base/without-absent.ts";
import { number, optionalNumber, optionalText, text } from "../columns.ts";
import type { Parameter, Queries, StoredRow } from "../storage.ts";

export interface StoredAlert {
  /** Sorts by time. */
  id: string;
  type: string;
  atMs: number;
  /** Sent byte for byte. */
  body: string;
}

export type DeliveryState = "pending" | "delivered" | "failed";

/** The delivery of one alert to one webhook. */
export interface StoredDelivery {
  alertId: string;
  webhook: string;
  state: DeliveryState;
  tries: number;
  /** Of the last attempt. */
  triedAtMs?: number;
  status?: number;
  error?: string;
}

export type NewDelivery = Pick<StoredDelivery, "webhook" | "state" | "tries" | "status" | "error">;

/** Claims the names, and returns those that nobody had claimed before. */
export async function takeClaims(
  queries: Queries,
  names: readonly string[],
  expiresAtMs: number | undefined,
): Promise<Set<string>> {
  const taken = new Set<string>();
  for (const name of names) {
    const rows = await queries.query(
      "INSERT INTO alert_claims (name, expires_at_ms) VALUES (?, ?) ON CONFLICT (name) DO NOTHING RETURNING name",
      [name, expiresAtMs === undefined ? null : Math.ceil(expiresAtMs)],
    );
    if (rows.length > 0) taken.add(name);
  }
  return taken;
}

export async function countPending(queries: Queries): Promise<number> {
  const [row] = await queries.query("SELECT COUNT(*) AS count FROM alert_deliveries WHERE state = 'pending'");
  return row === undefined ? 0 : number(row, "count");
}

/** Inserts it once; an existing alert is left alone. */
export async function insertAlert(
  queries: Queries,
  alert: StoredAlert,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  const { id, type, body } = alert;
  const atMs = Math.floor(alert.atMs);
  await queries.query("INSERT INTO alerts (id, type, at_ms, body) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING", [
    id,
    type,
    atMs,
    body,
  ]);
  for (const { webhook, state, tries, status, error } of deliveries) {
    await queries.query(
      `INSERT INTO alert_deliveries
         (id, alert_id, webhook, state, tries, due_at_ms, lease_owner, lease_until_ms, tried_at_ms, status, error)
       VALUES (?, ?, ?, ?, ?, ?, '', 0, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
      [`${id}.${webhook}`, id, webhook, state, tries, atMs, tries > 0 ? atMs : null, status ?? null, error ?? null],
    );
  }
}

export interface LeasedDelivery {
  id: string;
  alertId: string;
  webhook: string;
  tries: number;
  type: string;
  body: string;
}

interface LeaseRequest {
  /** The webhooks that this process knows. */
  webhooks: readonly string[];
  owner: string;
  nowMs: number;
  leaseMs: number;
  /**
   * A lease that ends later than this, or an attempt that is due later, comes from a clock that has been set back
   * since.
   */
  farMs: number;
  limit: number;
}

/** Leases deliveries that are due and that no other process works on. */
export async function leaseDeliveries(queries: Queries, request: LeaseRequest): Promise<LeasedDelivery[]> {
  const { webhooks, owner, leaseMs, farMs, limit } = request;
  if (webhooks.length === 0) return [];
  const now = Math.floor(request.nowMs);
  const free = "(lease_until_ms <= ? OR lease_until_ms > ?)";
  const freeValues: Parameter[] = [now, now + farMs];
  const leased = await queries.query(
    `UPDATE alert_deliveries SET lease_owner = ?, lease_until_ms = ? WHERE state = 'pending' AND ${free} AND id IN (
       SELECT id FROM alert_deliveries WHERE state = 'pending' AND (due_at_ms <= ? OR due_at_ms > ?) AND ${free}
         AND webhook IN (${webhooks.map(() => "?").join(", ")}) ORDER BY due_at_ms LIMIT ?)
     RETURNING id, alert_id, webhook, tries`,
    [owner, now + leaseMs, ...freeValues, now, now + farMs, ...freeValues, ...webhooks, limit],
  );
  const found: LeasedDelivery[] = [];
  for (const row of leased) {
    const alertId = text(row, "alert_id");
    const [alert] = await queries.query("SELECT type, body FROM alerts WHERE id = ?", [alertId]);
    if (alert === undefined) continue;
    found.push({
      id: text(row, "id"),
      alertId,
      webhook: text(row, "webhook"),
      tries: number(row, "tries"),
      type: text(alert, "type"),
      body: text(alert, "body"),
    });
  }
  return found;
}

interface Tried {
  id: string;
  owner: string;
  state: DeliveryState;
  tries: number;
  triedAtMs: number;
  dueAtMs: number;
  status: number | undefined;
  error: string | undefined;
}

/** Records the outcome of an attempt, and releases the delivery. Does nothing if the lease is lost. */
export async function writeTry(queries: Queries, tried: Tried): Promise<void> {
  await queries.query(
    `UPDATE alert_deliveries SET state = ?, tries = ?, tried_at_ms = ?, due_at_ms = ?, status = ?, error = ?,
       lease_owner = '', lease_until_ms = 0 WHERE id = ? AND lease_owner = ? AND state = 'pending'`,
    [
      tried.state,
      tried.tries,
      Math.floor(tried.triedAtMs),
      Math.ceil(tried.dueAtMs),
      tried.status ?? null,
      tried.error ?? null,
      tried.id,
      tried.owner,
    ],
  );
}

/** Releases a leased delivery without an attempt. */
export async function releaseDelivery(queries: Queries, id: string, owner: string): Promise<void> {
  await queries.query(
    "UPDATE alert_deliveries SET lease_owner = '', lease_until_ms = 0 WHERE id = ? AND lease_owner = ?",
    [id, owner],
  );
}

/**
 * Makes a delivery due at once: with all attempts if it has ended, or with the remaining ones if it is pending. One
 * that is being sent is left alone.
 */
export async function deliverAgain(
  queries: Queries,
  { alertId, webhook, nowMs }: { alertId: string; webhook: string; nowMs: number },
): Promise<void> {
  const now = Math.floor(nowMs);
  await queries.query(
    `UPDATE alert_deliveries SET tries = CASE WHEN state = 'pending' THEN tries ELSE 0 END, state = 'pending',
       due_at_ms = ?, lease_owner = '', lease_until_ms = 0
     WHERE id = ? AND (state <> 'pending' OR lease_until_ms <= ?)`,
    [now, `${alertId}.${webhook}`, now],
  );
}

/** An alert with its deliveries. */
export type DeliveredAlert = StoredAlert & { deliveries: StoredDelivery[] };

export async function selectAlert(queries: Queries, id: string): Promise<DeliveredAlert | undefined> {
  const rows = await queries.query("SELECT id, type, at_ms, body FROM alerts WHERE id = ?", [id]);
  const [found] = await withDeliveries(queries, rows);
  return found;
}

/** Newest first; `after` is the last id of the previous page. */
export async function selectAlerts(
  queries: Queries,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<DeliveredAlert[]> {
  const where = after === undefined ? "" : "WHERE id < ?";
  const rows = await queries.query(`SELECT id, type, at_ms, body FROM alerts ${where} ORDER BY id DESC LIMIT ?`, [
    ...(after === undefined ? [] : [after]),
    limit,
  ]);
  return withDeliveries(queries, rows);
}

async function withDeliveries(queries: Queries, rows: readonly StoredRow[]): Promise<DeliveredAlert[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => text(row, "id"));
  const sent = await queries.query(
    `SELECT alert_id, webhook, state, tries, tried_at_ms, status, error FROM alert_deliveries
     WHERE alert_id IN (${ids.map(() => "?").join(", ")}) ORDER BY id`,
    ids,
  );
  const deliveries = sent.map(readDelivery);
  return rows.map((row) => ({
    id: text(row, "id"),
    type: text(row, "type"),
    atMs: number(row, "at_ms"),
    body: text(row, "body"),
    deliveries: deliveries.filter(({ alertId }) => alertId === text(row, "id")),
  }));
}

/** The last attempt of a webhook, for any alert. */
export async function selectLastTry(queries: Queries, webhook: string): Promise<StoredDelivery | undefined> {
  const [row] = await queries.query(
    `SELECT alert_id, webhook, state, tries, tried_at_ms, status, error FROM alert_deliveries
     WHERE webhook = ? AND tried_at_ms IS NOT NULL ORDER BY tried_at_ms DESC LIMIT 1`,
    [webhook],
  );
  return row === undefined ? undefined : readDelivery(row);
}

function readDelivery(row: StoredRow): StoredDelivery {
  const triedAtMs = optionalNumber(row, "tried_at_ms");
  const status = optionalNumber(row, "status");
  const error = optionalText(row, "error");
  return withoutAbsent({
    alertId: text(row, "alert_id"),
    webhook: text(row, "webhook"),
    state: text(row, "state") as DeliveryState,
    tries: number(row, "tries"),
    triedAtMs,
    status,
    error,
  });
}

/**
 * Ends deliveries that were due then and that no process has made since, because their webhook is no longer
 * configured. Removes older alerts.
 */
export async function sweepAlerts(
  queries: Queries,
  { abandonedMs, forgottenMs, nowMs }: { abandonedMs: number; forgottenMs: number; nowMs: number },
): Promise<void> {
  await queries.query(
    `UPDATE alert_deliveries SET state = 'failed', error = 'this webhook is not configured any more'
     WHERE state = 'pending' AND due_at_ms < ?`,
    [Math.floor(abandonedMs)],
  );
  await queries.query("DELETE FROM alert_deliveries WHERE alert_id IN (SELECT id FROM alerts WHERE at_ms < ?)", [
    Math.floor(forgottenMs),
  ]);
  await queries.query("DELETE FROM alerts WHERE at_ms < ?", [Math.floor(forgottenMs)]);
  await queries.query("DELETE FROM alert_claims WHERE expires_at_ms < ?", [Math.floor(nowMs)]);
}
