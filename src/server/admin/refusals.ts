import { Type } from "../../base/type.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { ERROR_TABLE, type ErrorKind } from "../../canon/error.ts";
import { nullable } from "../../dialects/reading/schema-builders.ts";
import type { RefusalExample } from "../../ledger/refusals.ts";
import {
  REFUSAL_DIMENSIONS,
  type RefusalDimension,
  type RefusalSum,
  sumRefusals,
} from "../../storage/tables/refusals.ts";
import { json } from "../openapi/operation.ts";
import { wrongField } from "../wrong-field.ts";
import { adminRoute } from "./define-route.ts";
import { projectOf } from "./project-scope.ts";
import { momentField, oneOfField, type QueryField, textField } from "./query-fields.ts";

const MAX_GROUPS = 1_000;
const DAY_MS = 86_400_000;
/** The name of a request without a known key. */
const NO_KEY = "none";

const dimensions: QueryField<RefusalDimension[]> = {
  read: (text, name) => {
    const found = text.split(",").map((word) => REFUSAL_DIMENSIONS.find((dimension) => dimension === word));
    const known = found.filter((dimension) => dimension !== undefined);
    if (found.length <= 2 && known.length === found.length && new Set(known).size === known.length) return known;
    throw wrongField(name, `must be one or two of ${REFUSAL_DIMENSIONS.join(", ")}, separated by a comma`);
  },
  schema: { type: "string" },
  about: `The dimensions to group by: one or two of ${REFUSAL_DIMENSIONS.join(", ")}. Default: reason.`,
};

const seen = {
  first_at: nullable(Type.String({ description: "Accurate to the minute, as is `last_at`." })),
  last_at: nullable(Type.String()),
};

const Sum = Type.Object({
  group: Type.String(),
  groups: Type.Array(Type.String()),
  requests: Type.Integer(),
  ...seen,
});
const Example = Type.Object(
  {
    reason: Type.String(),
    key: Type.String({ description: "`none` without a known key." }),
    project: nullable(Type.String()),
    endpoint: Type.String({ description: "Method and path." }),
    message: Type.String({ description: "The message to the client." }),
    at: Type.String(),
  },
  { title: "RefusalExample" },
);

const RefusalsAnswer = Type.Object(
  {
    data: Type.Array(Sum),
    total: Type.Object({ requests: Type.Integer(), ...seen }),
    examples: Type.Array(Example, {
      description:
        "The last refusal of each key and reason that the process that answers has seen since it started, latest first. Only for admins, because a message may quote the request.",
    }),
    groups_left_out: Type.Boolean({
      description: `There are more than ${MAX_GROUPS} groups; the total includes all of them.`,
    }),
  },
  { title: "RefusalsAnswer" },
);

export const showRefusals = adminRoute({
  method: "GET",
  path: "/api/refusals",
  id: "showRefusals",
  summary: "Count requests that were refused before they became calls, by one or two dimensions.",
  roles: ["admin", "viewer", "project"],
  query: {
    by: dimensions,
    from: momentField("Start of the range, inclusive. Default: 24 hours before `to`. Counts are kept for 7 days."),
    to: momentField("End of the range, exclusive. Default: now."),
    reason: oneOfField("Only refusals with this kind of error.", Object.keys(ERROR_TABLE) as ErrorKind[]),
    key: textField("Only requests with the key with this id; `none`: without a known key."),
    project: textField("Only keys of this project."),
    address: textField("Only this address; for IPv6 its first 64 bits, such as `2001:db8:0:1`."),
  },
  answers: [
    json(
      RefusalsAnswer,
      "One row for each group: times in order, otherwise the most requests first. `other` includes keys and addresses that were too many to count separately in a minute.",
    ),
  ],
  handle: async ({ query, operator }, { storage, gateway }) => {
    const { by = ["reason"], reason, key, address } = query;
    const toMs = query.to ?? gateway.clock.wallMs() + 1;
    const fromMs = query.from ?? toMs - DAY_MS;
    if (fromMs >= toMs) throw wrongField("from", "must be before to");
    // Includes what this process has counted so far; others write theirs every ten seconds.
    await gateway.refusals.write();
    const project = projectOf(operator, query.project);
    const keyId = key === NO_KEY ? "" : key;
    const question = { ...withoutAbsent({ reason, keyId, address, project }), fromMs, toMs };
    const sums = await sumRefusals(storage, { ...question, by }, MAX_GROUPS);
    const [total] = await sumRefusals(storage, { ...question, by: [] }, 1);
    return {
      data: sums.map((sum) => sumView(sum, by)),
      total: { requests: total?.requests ?? 0, ...seenView(total) },
      examples: operator.role === "admin" ? examplesOf(gateway.refusals.examples, { ...question, project }) : [],
      groups_left_out: sums.length >= MAX_GROUPS,
    };
  },
});

interface ExampleFilter {
  fromMs: number;
  toMs: number;
  reason?: string | undefined;
  keyId?: string | undefined;
  project?: string | undefined;
}

const examplesOf = (examples: readonly RefusalExample[], asked: ExampleFilter) =>
  examples
    .filter(({ reason }) => asked.reason === undefined || reason === asked.reason)
    .filter(({ keyId }) => asked.keyId === undefined || keyId === asked.keyId)
    .filter(({ project }) => asked.project === undefined || project === asked.project)
    .filter(({ atMs }) => atMs >= asked.fromMs && atMs < asked.toMs)
    .map(({ reason, keyId, project, endpoint, message, atMs }) => ({
      reason,
      key: keyId === "" ? NO_KEY : keyId,
      project: project === "" ? null : project,
      endpoint,
      message,
      at: new Date(atMs).toISOString(),
    }));

const seenView = (sum: Pick<RefusalSum, "firstMs" | "lastMs"> | undefined) => ({
  first_at: momentOf(sum?.firstMs),
  last_at: momentOf(sum?.lastMs),
});

const momentOf = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

function sumView({ groups, requests, ...times }: RefusalSum, by: readonly RefusalDimension[]) {
  const named = groups.map((group, index) => (group === "" && by[index] !== "address" ? NO_KEY : group));
  return { group: named[0] ?? "", groups: named, requests, ...seenView(times) };
}
