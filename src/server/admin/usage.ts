import { recordAct } from "../../access/audit.ts";
import { TimeZone } from "../../base/time-zone.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { EXPORT_FORMATS, exportReceipts } from "../../ledger/export.ts";
import {
  groupsOverlap,
  lastDays,
  MAX_GROUPS,
  summariseUsage,
  totalUsage,
  type UsageRange,
  type UsageTotal,
} from "../../ledger/queries.ts";
import { usageView } from "../../ledger/receipt-view.ts";
import { selectUnpricedUses } from "../../storage/receipts/unpriced-uses.ts";
import { USAGE_DIMENSIONS, type UsageDimension } from "../../storage/receipts/usage-question.ts";
import type { Storage } from "../../storage/storage.ts";
import { json } from "../openapi/operation.ts";
import { wrongField } from "../wrong-field.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { keysFor, projectOf } from "./project-scope.ts";
import {
  endUserField,
  oneOfField,
  type QueryField,
  tagField,
  textField,
  wholeField,
  zonedMomentField,
} from "./query-fields.ts";
import { RECEIPT_FIELDS, receiptFilter } from "./receipts/receipt-filter.ts";
import { UsageAnswer } from "./schemas/usage.ts";

/** The most that a response lists: the latest. */
const MAX_UNPRICED = 100;

/** `model,day`: at most two. */
const dimensions: QueryField<UsageDimension[]> = {
  read: (text, name) => {
    const found = text.split(",").map((word) => USAGE_DIMENSIONS.find((dimension) => dimension === word));
    const known = found.filter((dimension) => dimension !== undefined);
    if (found.length <= 2 && known.length === found.length && new Set(known).size === known.length) return known;
    throw wrongField(name, `must be one or two of ${USAGE_DIMENSIONS.join(", ")}, separated by a comma`);
  },
  schema: { type: "string" },
  about: `The dimensions to group by: one or two of ${USAGE_DIMENSIONS.join(", ")}. Default: \`model\`.`,
};

const zone: QueryField<TimeZone> = {
  read: (text, name) => {
    try {
      if (text.length <= 64) return TimeZone.named(text);
    } catch {
      // Reported below: the engines' messages differ.
    }
    throw wrongField(name, "must be the name of a time zone such as Europe/Berlin");
  },
  schema: { type: "string" },
  about: "The time zone of days. Default: UTC.",
};

export const showUsage = adminRoute({
  method: "GET",
  path: "/api/usage",
  id: "showUsage",
  summary: "Sum calls, tokens and cost by one or two dimensions.",
  roles: ["admin", "viewer", "project"],
  query: {
    by: dimensions,
    days: wholeField("How many days to look back. Default: 30.", 1, 3660),
    from: zonedMomentField(
      "Start of the range, inclusive: a time, or a day in the time zone. Default: 30 days before `to`.",
    ),
    to: zonedMomentField("End of the range, exclusive: a time, or a day in the time zone. Default: now."),
    zone,
    project: textField("Only this project."),
    key: textField("Only the key with this id."),
    model: textField("Only this model."),
    provider: textField("Only this provider."),
    dialect: textField("Only calls in this dialect."),
    outcome: textField(
      "Only calls with this outcome: `ok`, `client_gone`, the kind of an error, or `failed` for every error.",
    ),
    tag: tagField("Only calls with this tag."),
    end_user: endUserField("Only calls of this end user."),
    compare: oneOfField(
      "`previous` adds to each group its amounts in the preceding period of equal length. Not possible by hour or day.",
      ["previous"],
    ),
  },
  answers: [
    json(
      UsageAnswer,
      "One row for each group, at most 1,000: times in order, otherwise by cost. By tag, a call with two tags is in both groups; by end user, calls without one are left out.",
    ),
  ],
  handle: async ({ query, operator }, { storage, gateway }) => {
    const { by = ["model"], days, from, to, key, model, provider, dialect, outcome, tag, end_user: endUser } = query;
    if (days !== undefined && (from !== undefined || to !== undefined))
      throw wrongField("days", "cannot be combined with from or to");
    const ofZone = query.zone ?? TimeZone.utc;
    const nowMs = gateway.clock.wallMs();
    const untilMs = to?.(ofZone) ?? lastDays(1, nowMs).untilMs;
    const sinceMs = from?.(ofZone) ?? lastDays(days ?? 30, to === undefined ? nowMs : untilMs).sinceMs;
    if (sinceMs >= untilMs) throw wrongField("from", "must be before to");
    const project = projectOf(operator, query.project);
    const filter = withoutAbsent({
      project,
      keyId: key,
      model,
      provider,
      dialect,
      outcome,
      tag,
      endUser,
      zone: query.zone,
    });
    const range = { ...filter, by, sinceMs, untilMs };
    if (query.compare !== undefined && by.some((dimension) => dimension === "hour" || dimension === "day"))
      throw wrongField(
        "compare",
        "cannot be combined with by=hour or by=day: request the period before by from and to",
      );
    const sums = await summariseUsage(storage, range);
    const previous = query.compare === undefined ? undefined : await amountsBefore(storage, range);
    const unpriced = await selectUnpricedUses(storage, { sinceMs, limit: MAX_UNPRICED, project });
    return {
      data: sums.map((sum) => ({
        group: sum.groups[0] ?? "",
        groups: sum.groups,
        ...amountsOf(sum),
        ...(previous && { previous: previous.of(sum.groups) ?? null }),
      })),
      total: amountsOf(await totalUsage(storage, range, sums)),
      ...(previous && { previous: previous.answer }),
      groups_overlap: groupsOverlap(by),
      groups_left_out: sums.length >= MAX_GROUPS,
      unpriced: [...new Set(unpriced.map(({ name }) => name))],
    };
  },
});

/** The same question about the period of equal length before. */
async function amountsBefore(storage: Storage, range: UsageRange) {
  const sinceMs = Math.max(0, 2 * range.sinceMs - range.untilMs);
  const before = { ...range, sinceMs, untilMs: range.sinceMs };
  const sums = await summariseUsage(storage, before);
  const byGroups = new Map(sums.map((sum) => [JSON.stringify(sum.groups), sum]));
  const isWhole = sums.length < MAX_GROUPS;
  return {
    answer: {
      from: new Date(sinceMs).toISOString(),
      to: new Date(range.sinceMs).toISOString(),
      total: amountsOf(await totalUsage(storage, before, sums)),
    },
    /** Of a group that had nothing, zeros; undefined if it may have been left out. */
    of: (groups: readonly string[]) => {
      const found = byGroups.get(JSON.stringify(groups));
      if (found !== undefined) return amountsOf(found);
      return isWhole ? amountsOf({ calls: 0, failures: 0, usage: {}, costNanoUsd: 0 }) : undefined;
    },
  };
}

const amountsOf = ({ calls, failures, usage, costNanoUsd }: UsageTotal) => ({
  calls,
  failures,
  usage: usageView(usage),
  cost_nano_usd: costNanoUsd,
  cost_usd: costNanoUsd / 1e9,
});

const TYPES = { csv: "text/csv; charset=utf-8", jsonl: "application/jsonl" } as const;

export const exportUsage = adminRoute({
  method: "GET",
  path: "/api/usage/export",
  id: "exportUsage",
  summary: "Export receipts, oldest first, as a stream.",
  roles: ["admin", "viewer", "project"],
  query: { format: oneOfField("Default: `csv`.", EXPORT_FORMATS), ...RECEIPT_FIELDS },
  answers: [
    { contentType: "text/csv", description: "One line for each receipt." },
    { contentType: "application/jsonl", description: "One object for each receipt." },
  ],
  handle: async ({ query, operator, connection }, { storage, gateway }) => {
    const { format = "csv" } = query;
    const project = projectOf(operator, query.project);
    const act = { ...actorOf(operator, connection), act: "usage.export", target: format };
    await recordAct(storage, project === undefined ? act : { ...act, project }, gateway);
    connection.hold();
    const keys = await keysFor(operator, query.project, { storage, gateway });
    const names = new Map(keys.map(({ id, name }) => [id, name]));
    const filter = { ...receiptFilter(query), ...withoutAbsent({ project }) };
    const pieces = exportReceipts(storage, filter, format, names);
    return new Response(bytesOf(pieces), {
      headers: {
        "content-type": TYPES[format],
        "content-disposition": `attachment; filename="receipts.${format}"`,
        "cache-control": "no-store",
      },
    });
  },
});

/** Each chunk is made when the reader has taken the previous one. */
function bytesOf(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      cancel: async () => void (await pieces.return(undefined)),
    },
    { highWaterMark: 0 },
  );
}
