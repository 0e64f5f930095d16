import { readProjectRequest, readProjectUpdate } from "../../access/project-input.ts";
import {
  configuredProjects,
  createProject,
  deleteProject,
  findProject,
  isStoredProject,
  listProjects,
  type ProjectView,
  projectView,
  updateProject,
} from "../../access/projects.ts";
import { GatewayError } from "../../canon/error.ts";
import { moneyOf, spentByOwner } from "../../ledger/queries.ts";
import { json } from "../openapi/operation.ts";
import type { ServerContext } from "../routed-request.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { keyBudgets } from "./keys/key-budgets.ts";
import { projectOf } from "./project-scope.ts";
import { PAGE_FIELDS, pageOf } from "./query-fields.ts";
import { pageAnswer } from "./schemas/answers.ts";
import { Project, ProjectAnswer, ProjectRequestBody, ProjectUpdateBody } from "./schemas/project.ts";

export const listProjectsRoute = adminRoute({
  method: "GET",
  path: "/api/projects",
  id: "listProjects",
  summary: "List the projects with their spending and budgets, newest first.",
  roles: ["admin", "viewer", "project"],
  query: PAGE_FIELDS,
  answers: [json(pageAnswer("ProjectList", Project), "Projects that are not deleted.")],
  handle: async ({ query, operator }, { storage, gateway }) => {
    const own = projectOf(operator, undefined);
    const stored = (await listProjects(storage)).toSorted(
      (one, other) => other.createdAtMs - one.createdAtMs || one.id.localeCompare(other.id),
    );
    const all = [...stored.map(projectView), ...configuredProjects(gateway.keys.configured, stored)];
    const { data, next } = pageOf(
      all.filter(({ id }) => own === undefined || id === own),
      query,
      ({ id }) => id,
    );
    const nowMs = gateway.clock.wallMs();
    const { byProject } = await spentByOwner(storage, nowMs);
    return {
      data: data.map((project) => {
        const spent = moneyOf(byProject.get(project.id));
        return { ...project, spent_nano_usd: spent, budgets: keyBudgets(project.limits, spent, nowMs) };
      }),
      next,
    };
  },
});

export const showProjectRoute = adminRoute({
  method: "GET",
  path: "/api/projects/{id}",
  id: "showProject",
  summary: "Show a project.",
  roles: ["admin", "viewer", "project"],
  answers: [json(ProjectAnswer, "The project.")],
  handle: async ({ parameters, operator }, { storage, gateway }) => {
    const id = parameters["id"] ?? "";
    const own = projectOf(operator, undefined);
    if (own !== undefined && own !== id) {
      const message = `There is no project ${JSON.stringify(id.slice(0, 100))}.`;
      throw new GatewayError("not_found", message, { code: "project_not_found" });
    }
    const configured = await configuredProject(id, { storage, gateway });
    return { data: configured ?? projectView(await findProject(storage, id)) };
  },
});

export const createProjectRoute = adminRoute({
  method: "POST",
  path: "/api/projects",
  id: "createProject",
  summary: "Create a project.",
  roles: ["admin"],
  body: ProjectRequestBody,
  answers: [{ ...json(ProjectAnswer, "The project."), status: 201 }],
  handle: async ({ body, operator, connection }, { storage, gateway }) => {
    const created = await createProject(storage, readProjectRequest(body), gateway, actorOf(operator, connection));
    await gateway.changes.spread();
    return { data: projectView(created) };
  },
});

export const updateProjectRoute = adminRoute({
  method: "PATCH",
  path: "/api/projects/{id}",
  id: "updateProject",
  summary: "Change a project. Omitted fields stay, and null removes a limit.",
  roles: ["admin"],
  body: ProjectUpdateBody,
  answers: [json(ProjectAnswer, "The changed project. It holds here, and at other instances within a second.")],
  handle: async ({ parameters, body, operator, connection }, { storage, gateway }) => {
    const update = readProjectUpdate(body);
    await refuseConfigured(parameters["id"] ?? "", { storage, gateway });
    const actor = actorOf(operator, connection);
    const changed = await updateProject(storage, parameters["id"] ?? "", update, gateway, actor);
    await gateway.changes.spread();
    return { data: projectView(changed) };
  },
});

export const deleteProjectRoute = adminRoute({
  method: "DELETE",
  path: "/api/projects/{id}",
  id: "deleteProject",
  summary: "Delete a project whose keys are revoked. Its receipts stay, and its id is never reused.",
  roles: ["admin"],
  answers: [json(ProjectAnswer, "The deleted project.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }) => {
    const actor = actorOf(operator, connection);
    await refuseConfigured(parameters["id"] ?? "", { storage, gateway });
    const deleted = await deleteProject(storage, parameters["id"] ?? "", gateway, actor);
    await gateway.changes.spread();
    return { data: projectView(deleted) };
  },
});

type Context = Pick<ServerContext, "storage" | "gateway">;

async function configuredProject(id: string, { storage, gateway }: Context): Promise<ProjectView | undefined> {
  const configured = configuredProjects(gateway.keys.configured, []).find((project) => project.id === id);
  return configured === undefined || (await isStoredProject(storage, id)) ? undefined : configured;
}

async function refuseConfigured(id: string, context: Context): Promise<void> {
  if ((await configuredProject(id, context)) === undefined) return;
  const message = `The project "${id}" exists only in the configuration file, where its keys name it. Change it there, or create it with POST /api/projects to give it limits.`;
  throw new GatewayError("invalid_request", message, { code: "project_from_file" });
}
