import { withoutAbsent } from "../base/without-absent.ts";
import { GatewayError } from "../canon/error.ts";
import { readAnswerCache } from "../canon/settings/answer-cache-settings.ts";
import { readBilling } from "./billing-input.ts";
import { JsonInput } from "./json-input.ts";
import { PART_FIELDS, readPartChange } from "./parts/part-input.ts";
import { readPartLimits } from "./parts/part-limits.ts";
import type { ProjectRequest, ProjectUpdate } from "./projects.ts";

const FIELDS = [
  ...["name", "limits", "discounts", "provider_objects", "objects", "project_mb", "billing", "cache"],
  ...PART_FIELDS,
];

/** Reads the JSON description of a new project. */
export function readProjectRequest(body: unknown): ProjectRequest {
  const input = new JsonInput(body, "a project", ["id", ...FIELDS]);
  const id = input.text("id");
  if (id === undefined) throw new GatewayError("invalid_request", "`id` is missing.", { path: "id" });
  const limits = Object.entries(input.numbers("limits") ?? {});
  return withoutAbsent({
    id,
    name: input.text("name"),
    limits: Object.fromEntries(limits.filter((entry): entry is [string, number] => entry[1] !== null)),
    discounts: input.list("discounts"),
    providerObjects: input.flag("provider_objects"),
    objects: input.sharing("objects"),
    projectMb: input.number("project_mb"),
    billing: readBilling(input, false),
    partLimits: readPartLimits(readPartChange(input)),
    answerCache: readAnswerCache(input.object("cache")),
  });
}

/** Reads a change of a project: omitted fields stay, and `null` removes a limit. */
export function readProjectUpdate(body: unknown): ProjectUpdate {
  const input = new JsonInput(body, "a project update", [...FIELDS, "status"]);
  return withoutAbsent({
    name: input.text("name"),
    limits: input.numbers("limits"),
    discounts: input.isNull("discounts") ? [] : input.list("discounts"),
    status: readStatus(input.text("status")),
    providerObjects: input.flag("provider_objects"),
    objects: input.sharing("objects"),
    projectMb: input.isNull("project_mb") ? null : input.number("project_mb"),
    billing: readBilling(input, true),
    partLimits: readPartChange(input),
    answerCache: input.isNull("cache") ? null : readAnswerCache(input.object("cache")),
  });
}

function readStatus(written: string | undefined): ProjectUpdate["status"] | undefined {
  if (written === undefined || written === "active" || written === "suspended") return written;
  throw new GatewayError("invalid_request", "`status` must be active or suspended.", { path: "status" });
}
