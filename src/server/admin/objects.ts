import { recordAct } from "../../access/audit.ts";
import type { Operator } from "../../access/operator-access.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Owned } from "../../canon/ownership.ts";
import type { Gateway } from "../../relay/gateway.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { projectOf } from "./project-scope.ts";
import { DeletedObjectAnswer } from "./schemas/object.ts";

/** Operators can delete what clients have stored, but not read it. */
export const deleteObjectRoute = adminRoute({
  method: "DELETE",
  path: "/api/objects/{id}",
  id: "deleteObject",
  summary:
    "Delete a stored object by its id: a response, or another object that a client has created. Its content is not shown.",
  roles: ["admin", "project"],
  answers: [json(DeletedObjectAnswer, "The object is deleted.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }) => {
    const id = parameters["id"] ?? "";
    const found = await find(id, operator, gateway);
    if (found === undefined || !(await found.remove())) {
      const message = `There is no stored object ${JSON.stringify(id.slice(0, 100))}.`;
      throw new GatewayError("not_found", message, { code: "object_not_found" });
    }
    const { kind, owned } = found;
    const view = { id, kind, project: owned.project, key: owned.keyId ?? null, objects: owned.share };
    const about = { act: "object.delete", target: id, project: owned.project, before: view };
    await recordAct(storage, { ...actorOf(operator, connection), ...about }, gateway);
    return { data: view };
  },
});

interface FoundObject {
  kind: string;
  owned: Owned;
  remove: () => Promise<boolean>;
}

/** For an operator of one project, another project's object does not exist (S09). */
async function find(id: string, operator: Operator, gateway: Gateway): Promise<FoundObject | undefined> {
  const { answers, objects, background } = gateway;
  const project = projectOf(operator, undefined);
  const isOurs = (owned: Owned) => project === undefined || owned.project === project;
  const answer = await answers.owner(id);
  if (answer !== undefined) {
    const remove = async () => {
      if (!(await answers.delete(answer.project, id, isOurs))) return false;
      await background.cancel(answer.project, id);
      return true;
    };
    return isOurs(answer) ? { kind: "response", owned: answer, remove } : undefined;
  }
  const object = await objects.owner(id);
  if (object === undefined || !isOurs(object)) return undefined;
  return { kind: object.kind, owned: object, remove: () => objects.delete(object.id) };
}
