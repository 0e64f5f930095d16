import { readPartLimits } from "../../access/parts/part-limits.ts";
import {
  createProject,
  deleteProject,
  listProjects,
  type ProjectUpdate,
  type ProjectView,
  projectView,
  updateProject,
} from "../../access/projects.ts";
import { system } from "../../base/system.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { dollarsOf, moneyOf, type SpentMoney, spentByOwner } from "../../ledger/queries.ts";
import { COMMAND_LINE } from "../actor.ts";
import { adminFields } from "../admin-fields.ts";
import { CACHE_FLAG, readCacheChange, readCacheFlag } from "../answer-cache/cache-flag.ts";
import { atGateway, GATEWAY_FLAGS } from "../at-gateway.ts";
import { EXIT, printJson, printTable, UsageError } from "../command.ts";
import {
  DISCOUNT_FLAG,
  KEY_FLAGS,
  OBJECTS_FLAG,
  readDiscountFlags,
  readLimitChanges,
  readLimitFlags,
  readSharing,
  readUnpriced,
  readUnpricedChange,
  UNPRICED_FLAG,
} from "../key-flags.ts";
import { PART_FLAGS, readPartFlags } from "../part-flags.ts";
import { readWholeNumber } from "../whole-number.ts";
import { withStorage } from "../with-storage.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const PROJECT_MB_FLAG = {
  type: "string",
  value: "MB",
  about: "how much space its stored objects may take (default: `objects.project_mb` of the configuration)",
} as const;

const readMegabytesChange = (word: string): number | null =>
  word === "default" ? null : (readWholeNumber("--project-mb", word, 0) ?? null);

const create = defineVerb({
  name: "create",
  usage: "ID [--name NAME] [--limit NAME=NUMBER] [options]",
  summary: "create a project",
  flags: {
    name: { type: "string", value: "NAME", about: "display name (default: the id)" },
    discount: DISCOUNT_FLAG,
    limit: { ...KEY_FLAGS.limit, about: `limit for all its keys together: ${KEY_FLAGS.limit.about}` },
    "provider-objects": {
      type: "boolean",
      default: false,
      about: "allow its keys to refer to objects in provider accounts, such as files, caches, and vector stores",
    },
    objects: {
      ...OBJECTS_FLAG,
      about: "who can access stored objects: all keys of the project, or only the key that created them",
    },
    "project-mb": PROJECT_MB_FLAG,
    unpriced: UNPRICED_FLAG,
    cache: CACHE_FLAG,
    ...PART_FLAGS,
    ...GATEWAY_FLAGS,
  },
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing project id. Choose one, such as team-a.");
    const limits = readLimitFlags(values.limit);
    const discounts = readDiscountFlags(values.discount);
    const request = {
      id,
      ...withoutAbsent({ name: values.name }),
      limits,
      discounts,
      ...(values["provider-objects"] ? { providerObjects: true } : {}),
      ...withoutAbsent({
        objects: values.objects === undefined ? undefined : readSharing(values.objects),
        answerCache: values.cache === undefined ? undefined : readCacheFlag(values.cache),
        projectMb: readWholeNumber("--project-mb", values["project-mb"], 0),
        billing: values.unpriced === undefined ? undefined : { unpriced: readUnpriced(values.unpriced) },
      }),
    };
    const parts = readPartFlags(values);
    const partLimits = readPartLimits(parts);
    const asked = { ...request, ...withoutAbsent({ partLimits }) };
    const created = await atGateway(
      values,
      async (client) =>
        (await client.change("POST", "/api/projects", adminFields({ ...request, partLimits: parts }))) as ProjectView,
      () =>
        withStorage(
          values.config,
          async (storage) => projectView(await createProject(storage, asked, system, COMMAND_LINE)),
          { mayCreate: true },
        ),
    );
    if (values.json) printJson(created);
    else console.log(`Created project ${created.id}. Add keys to it with \`keys create --project ${created.id}\`.`);
    return EXIT.ok;
  },
});

const MOST_LISTED = 100_000;
const HEADER = ["id", "name", "limits", "today", "month", "total", "made", "status"];

interface ListedProject extends ProjectView {
  /** US dollars in the current UTC day, week, month and quarter, and in total. */
  spent_usd: SpentMoney;
}

const list = defineVerb({
  name: "list",
  usage: "",
  summary: "list projects with their limits and spending in US dollars",
  flags: GATEWAY_FLAGS,
  run: async ({ values }) => {
    const found = await atGateway(
      values,
      async (client) => (await client.list<OfGateway>("/api/projects", {}, MOST_LISTED)).map(ofGateway),
      () =>
        withStorage(values.config, async (storage): Promise<ListedProject[]> => {
          const { byProject } = await spentByOwner(storage, Date.now());
          return (await listProjects(storage)).map((project) =>
            listed(projectView(project), moneyOf(byProject.get(project.id))),
          );
        }),
    );
    if (values.json) printJson(found);
    else printTable(HEADER, found.map(row));
    return EXIT.ok;
  },
});

const listed = (project: ProjectView, spent: SpentMoney): ListedProject => ({
  ...project,
  spent_usd: dollarsOf(spent),
});

type OfGateway = ProjectView & { spent_nano_usd: SpentMoney };

const ofGateway = ({ spent_nano_usd, ...project }: OfGateway): ListedProject => listed(project, spent_nano_usd);

function row({ id, name, limits, spent_usd, created_at, status }: ListedProject): string[] {
  const shown = Object.entries(limits).map(([limit, value]) => `${limit}=${value}`);
  const spent = [spent_usd.day, spent_usd.month, spent_usd.total].map((usd) => usd.toFixed(4));
  return [id, name, shown.join(",") || "none", ...spent, created_at?.slice(0, 10) ?? "configured", status];
}

const update = defineVerb({
  name: "update",
  usage: "ID [options]",
  summary: "update a project; other settings stay unchanged",
  flags: {
    name: { type: "string", value: "NAME", about: "new display name" },
    discount: { ...DISCOUNT_FLAG, about: `${DISCOUNT_FLAG.about}; replaces all discounts, "none" removes them` },
    limit: {
      ...KEY_FLAGS.limit,
      about: `limit for all its keys together: ${KEY_FLAGS.limit.about}; NAME=none removes the limit`,
    },
    suspend: { type: "boolean", default: false, about: "reject all calls from its keys" },
    activate: { type: "boolean", default: false, about: "accept its calls again" },
    "provider-objects": { type: "boolean", about: "allow its keys to refer to objects in provider accounts" },
    "no-provider-objects": { type: "boolean", about: "reject requests that refer to such objects" },
    objects: {
      ...OBJECTS_FLAG,
      about: "who can access stored objects: all keys of the project, or only the key that created them",
    },
    "project-mb": { ...PROJECT_MB_FLAG, about: `${PROJECT_MB_FLAG.about}; "default" removes the setting` },
    unpriced: { ...UNPRICED_FLAG, about: `${UNPRICED_FLAG.about}; "default" removes the setting` },
    cache: { ...CACHE_FLAG, about: `${CACHE_FLAG.about}; "none" removes the setting` },
    ...PART_FLAGS,
    ...GATEWAY_FLAGS,
  },
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing project. Pass the id of the project to update.");
    if (values.suspend && values.activate) throw new UsageError("--suspend and --activate cannot be combined.");
    if (values["provider-objects"] && values["no-provider-objects"])
      throw new UsageError("--provider-objects and --no-provider-objects cannot be combined.");
    const update: ProjectUpdate = {
      ...withoutAbsent({ name: values.name, partLimits: readPartFlags(values) }),
      ...(values.limit.length === 0 ? {} : { limits: readLimitChanges(values.limit) }),
      ...(values.discount.length === 0 ? {} : { discounts: readDiscountFlags(values.discount) }),
      ...(values.unpriced === undefined ? {} : { billing: { unpriced: readUnpricedChange(values.unpriced) } }),
      ...(values["project-mb"] === undefined ? {} : { projectMb: readMegabytesChange(values["project-mb"]) }),
      ...withoutAbsent({ answerCache: values.cache === undefined ? undefined : readCacheChange(values.cache) }),
      ...(values.suspend ? { status: "suspended" as const } : {}),
      ...(values.activate ? { status: "active" as const } : {}),
      ...(values["provider-objects"] ? { providerObjects: true } : {}),
      ...(values["no-provider-objects"] ? { providerObjects: false } : {}),
      ...(values.objects === undefined ? {} : { objects: readSharing(values.objects) }),
    };
    if (Object.keys(update).length === 0) throw new UsageError("Nothing to update. Pass at least one option.");
    const changed = await atGateway(
      values,
      async (client) =>
        (await client.change("PATCH", `/api/projects/${encodeURIComponent(id)}`, adminFields(update))) as ProjectView,
      () =>
        withStorage(values.config, async (storage) =>
          projectView(await updateProject(storage, id, update, system, COMMAND_LINE)),
        ),
    );
    if (values.json) printJson(changed);
    else console.log(`Updated project ${changed.id}. Running gateways apply the change within a second.`);
    return EXIT.ok;
  },
});

const remove = defineVerb({
  name: "delete",
  usage: "ID",
  summary: "delete a project whose keys are all revoked; its receipts are kept",
  flags: GATEWAY_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing project. Pass the id of the project to delete.");
    const deleted = await atGateway(
      values,
      async (client) => (await client.change("DELETE", `/api/projects/${encodeURIComponent(id)}`)) as ProjectView,
      () =>
        withStorage(values.config, async (storage) =>
          projectView(await deleteProject(storage, id, system, COMMAND_LINE)),
        ),
    );
    if (values.json) printJson(deleted);
    else console.log(`Deleted project ${deleted.id}. Its receipts are kept, and its id cannot be reused.`);
    return EXIT.ok;
  },
});

export const projects = withVerbs([create, list, update, remove]);
