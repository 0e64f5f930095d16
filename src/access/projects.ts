import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { UnpricedPolicy } from "../canon/billable.ts";
import { GatewayError } from "../canon/error.ts";
import type { Sharing } from "../canon/ownership.ts";
import {
  type AnswerCacheSettings,
  type AnswerCacheView,
  answerCacheView,
} from "../canon/settings/answer-cache-settings.ts";
import type { Queries, Storage } from "../storage/storage.ts";
import { selectKeysOfProject } from "../storage/tables/keys.ts";
import {
  insertProject,
  type ProjectStatus,
  replaceProject,
  type StoredProject,
  selectProject,
  selectProjects,
} from "../storage/tables/projects.ts";
import { type Actor, changesOf, recordAct } from "./audit.ts";
import { readDiscounts } from "./discounts.ts";
import type { StaticKey } from "./known-keys.ts";
import { changeLimits, limitsView, readLimits } from "./limits.ts";
import { checkName, checkSlug } from "./names.ts";
import {
  changePartLimits,
  type PartLimits,
  type PartLimitsChange,
  type PartLimitsView,
  partLimitsView,
  readPartLimits,
  storedPartLimits,
} from "./parts/part-limits.ts";

/** A project to create; the name defaults to the id. */
export interface ProjectRequest
  extends Pick<StoredProject, "id">,
    Partial<
      Pick<StoredProject, "name" | "limits" | "discounts" | "providerObjects" | "objects" | "projectMb" | "answerCache">
    > {
  billing?: { unpriced?: UnpricedPolicy };
  partLimits?: PartLimits;
}

/** An update; omitted fields stay. */
export interface ProjectUpdate
  extends Partial<Pick<StoredProject, "name" | "discounts" | "providerObjects" | "objects">> {
  /** By their names in files; `null` removes a limit, and limits that are not named stay. */
  limits?: Readonly<Record<string, number | null>>;
  partLimits?: PartLimitsChange;
  status?: "active" | "suspended";
  /** `null`: the gateway's setting. */
  projectMb?: number | null;
  /** `null`: its keys decide. */
  answerCache?: AnswerCacheSettings | null;
  billing?: { unpriced?: UnpricedPolicy | null };
}

/** A project as the API and the command line show it. */
export interface ProjectView extends PartLimitsView {
  id: string;
  /** `file`: only keys of `trivium.yaml` name it. */
  from: "file" | "storage";
  name: string;
  limits: Record<string, number>;
  discounts: readonly unknown[];
  status: ProjectStatus;
  provider_objects: boolean;
  objects: Sharing;
  /** Its share of the space for objects, in MB; `null`: that of `objects.project_mb`. */
  project_mb: number | null;
  /** `null`: its keys, the gateway or budgets decide. */
  billing: { unpriced: UnpricedPolicy | null };
  /** `null`: its keys decide. */
  cache: AnswerCacheView | null;
  /** `null` for a configured project. */
  created_at: string | null;
}

export const projectView = (project: StoredProject): ProjectView => ({
  id: project.id,
  from: "storage",
  name: project.name,
  limits: limitsView(project.limits),
  ...partLimitsView(readPartLimits(project.partLimits)),
  discounts: project.discounts,
  status: project.status,
  provider_objects: project.providerObjects === true,
  objects: project.objects ?? "project",
  project_mb: project.projectMb ?? null,
  billing: { unpriced: project.unpriced ?? null },
  cache: answerCacheView(project.answerCache),
  created_at: new Date(project.createdAtMs).toISOString(),
});

/** Projects of configured keys that are not stored. */
export function configuredProjects(keys: readonly StaticKey[], stored: readonly { id: string }[]): ProjectView[] {
  const known = new Set(stored.map(({ id }) => id));
  const named = new Set(keys.map(({ project }) => project).filter((id) => !known.has(id)));
  const shared = {
    ...partLimitsView(undefined),
    limits: {},
    discounts: [],
    status: "active",
    created_at: null,
  } as const;
  const settings = {
    provider_objects: false,
    objects: "project",
    project_mb: null,
    billing: { unpriced: null },
    cache: null,
  } as const;
  return Array.from(named, (id) => ({ id, from: "file", name: id, ...shared, ...settings }));
}

/** Includes deleted projects. */
export const isStoredProject = async (storage: Storage, id: string): Promise<boolean> =>
  (await selectProject(storage, id)) !== undefined;

export async function createProject(
  storage: Storage,
  request: ProjectRequest,
  sources: Sources,
  actor: Actor,
): Promise<StoredProject> {
  const id = checkSlug("id", request.id);
  const project: StoredProject = withoutAbsent({
    id,
    name: checkName("name", request.name ?? id),
    limits: { ...readLimits({ ...request.limits }) },
    discounts: readDiscounts(request.discounts ?? []),
    status: "active" as const,
    unpriced: request.billing?.unpriced,
    createdAtMs: Math.floor(sources.clock.wallMs()),
    providerObjects: request.providerObjects ? true : undefined,
    objects: request.objects,
    projectMb: checkMegabytes(request.projectMb),
    partLimits: partColumn(request.partLimits),
    answerCache: request.answerCache,
  });
  await storage.transaction(async (queries) => {
    if (!(await insertProject(queries, project))) throw isTaken(id, await selectProject(queries, id));
    await recordAct(
      queries,
      { ...actor, act: "project.create", target: id, project: id, after: projectView(project) },
      sources,
    );
  });
  return project;
}

function partColumn(limits: PartLimits | undefined): StoredProject["partLimits"] {
  const stored = storedPartLimits(limits);
  return stored && { ...stored };
}

/** Without deleted projects. */
export async function listProjects(queries: Queries): Promise<StoredProject[]> {
  return (await selectProjects(queries)).filter(({ status }) => status !== "deleted");
}

export async function findProject(queries: Queries, id: string): Promise<StoredProject> {
  const project = await selectProject(queries, id);
  if (project !== undefined && project.status !== "deleted") return project;
  const message = `There is no project ${JSON.stringify(id.slice(0, 100))}.`;
  throw new GatewayError("not_found", message, { code: "project_not_found" });
}

export function updateProject(
  storage: Storage,
  id: string,
  update: ProjectUpdate,
  sources: Sources,
  actor: Actor,
): Promise<StoredProject> {
  return storage.transaction(async (queries) => {
    const project = await findProject(queries, id);
    const changed: StoredProject = withoutAbsent({
      ...project,
      unpriced: (update.billing?.unpriced === undefined ? project.unpriced : update.billing.unpriced) ?? undefined,
      name: update.name === undefined ? project.name : checkName("name", update.name),
      limits: changeLimits(project.limits, update.limits ?? {}),
      discounts: update.discounts === undefined ? project.discounts : readDiscounts(update.discounts),
      status: update.status ?? project.status,
      providerObjects: (update.providerObjects ?? project.providerObjects) ? true : undefined,
      objects: update.objects ?? project.objects,
      projectMb: (update.projectMb === undefined ? project.projectMb : checkMegabytes(update.projectMb)) ?? undefined,
      partLimits:
        update.partLimits === undefined
          ? project.partLimits
          : partColumn(changePartLimits(readPartLimits(project.partLimits), update.partLimits)),
      answerCache: (update.answerCache === undefined ? project.answerCache : update.answerCache) ?? undefined,
    });
    await change(queries, project, changed, "project.update", sources, actor);
    return changed;
  });
}

/** Fails while the project has keys that are not revoked. Its receipts stay, and its id is never reused. */
export function deleteProject(storage: Storage, id: string, sources: Sources, actor: Actor): Promise<StoredProject> {
  return storage.transaction(async (queries) => {
    const project = await findProject(queries, id);
    const valid = (await selectKeysOfProject(queries, id)).filter(({ revokedAtMs }) => revokedAtMs === undefined);
    if (valid.length > 0) {
      const message = `The project "${id}" has ${valid.length} keys that are not revoked; revoke them first, or suspend the project.`;
      throw new GatewayError("invalid_request", message, { code: "project_in_use" });
    }
    const deleted: StoredProject = { ...project, status: "deleted" };
    await change(queries, project, deleted, "project.delete", sources, actor);
    return deleted;
  });
}

async function change(
  queries: Queries,
  before: StoredProject,
  after: StoredProject,
  act: "project.update" | "project.delete",
  sources: Sources,
  actor: Actor,
): Promise<void> {
  await replaceProject(queries, before.id, after);
  const changes = changesOf({ ...projectView(before) }, { ...projectView(after) });
  await recordAct(queries, { ...actor, act, target: before.id, project: before.id, ...changes }, sources);
}

/** More than any disk has; beyond it, bytes could not be counted exactly. */
const MAX_MB = 1_000_000_000;

function checkMegabytes<Given extends number | null | undefined>(given: Given): Given {
  if (typeof given !== "number" || (given >= 0 && given <= MAX_MB)) return given;
  throw new GatewayError("invalid_request", `\`project_mb\` must be a number from 0 to ${MAX_MB}.`, {
    path: "project_mb",
  });
}

function isTaken(id: string, project: StoredProject | undefined): GatewayError {
  const why =
    project?.status === "deleted"
      ? `was deleted, and its receipts still use this id: choose another`
      : "already exists; an id is unique and cannot be changed";
  return new GatewayError("invalid_request", `The project "${id}" ${why}.`, { path: "id", code: "project_exists" });
}
