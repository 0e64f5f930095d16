import { recordAct } from "../../access/audit.ts";
import type { Operator } from "../../access/people/operator.ts";
import { numberAt, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { OBJECT_KINDS, type Owned } from "../../canon/ownership.ts";
import type { CacheTerms } from "../../objects/caches.ts";
import { anyForm, parseObjectId } from "../../objects/object-id.ts";
import { endCache } from "../../relay/caches/end-cache.ts";
import { storageCost } from "../../relay/caches/storage-bill.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { StoredObject } from "../../storage/tables/objects.ts";
import { selectCopyProviders } from "../../storage/tables/provider-files.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { projectOf } from "./project-scope.ts";
import { limitOf, oneOfField, PAGE_FIELDS, textField } from "./query-fields.ts";
import { readPlace } from "./read-place.ts";
import { pageAnswer } from "./schemas/answers.ts";
import { DeletedObjectAnswer, ObjectItem } from "./schemas/object.ts";

export const listObjectsRoute = adminRoute({
  method: "GET",
  path: "/api/objects",
  id: "listObjects",
  summary: "List objects that clients have created, such as files, newest first. Their content is not shown.",
  roles: ["admin", "viewer", "project"],
  query: {
    ...PAGE_FIELDS,
    id: textField("Only the object with this id, in any form."),
    kind: oneOfField("Only objects of this kind.", OBJECT_KINDS),
    project: textField("Only objects of this project."),
    key: textField("Only objects of the key with this id."),
  },
  answers: [json(pageAnswer("ObjectList", ObjectItem), "Objects that have not expired.")],
  handle: async ({ query, operator }, { gateway, storage }) => {
    const limit = limitOf(query);
    const { kind, key, after } = query;
    const id = query.id === undefined ? undefined : (parseObjectId(query.id)?.random ?? query.id);
    const filter = { id, kind, key, project: projectOf(operator, query.project) };
    const page = { limit: limit + 1, after: after === undefined ? undefined : readPlace(after) };
    const found = await gateway.objects.list(filter, page);
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    const files = shown.flatMap(({ id, kind }) => (kind === "file" ? [id] : []));
    const copies = await selectCopyProviders(storage, files);
    const nowMs = gateway.clock.wallMs();
    return {
      data: shown.map((object) => objectView(object, copies.get(object.id) ?? [], nowMs)),
      next: found.length > limit && last !== undefined ? `${last.createdAtMs}.${last.id}` : null,
    };
  },
});

function objectView(
  { id, kind, state, size, purpose, metadata, ...object }: StoredObject,
  copies: readonly string[],
  nowMs: number,
) {
  const terms = kind === "cache" ? (metadata as unknown as CacheTerms) : undefined;
  const untilMs = Math.min(nowMs, object.expiresAtMs ?? nowMs);
  const costNanoUsd = terms === undefined ? undefined : storageCost(terms, untilMs - terms.paidUntilMs);
  return {
    id: anyForm(kind, id),
    kind,
    state,
    name: stringAt(metadata, "name") ?? null,
    type: stringAt(metadata, "mimeType") ?? null,
    model: kind === "cache" ? (stringAt(metadata, "model") ?? null) : null,
    tokens: kind === "cache" ? (numberAt(metadata, "tokens") ?? null) : null,
    cost_usd: costNanoUsd === undefined ? null : costNanoUsd / 1e9,
    providers: terms === undefined ? [...copies] : [terms.provider],
    purpose: purpose ?? null,
    bytes: size,
    project: object.project,
    key: object.keyId,
    objects: object.share,
    created_at: new Date(object.createdAtMs).toISOString(),
    expires_at: object.expiresAtMs === undefined ? null : new Date(object.expiresAtMs).toISOString(),
  };
}

/** Operators can delete what clients have stored, but not read it. */
export const deleteObjectRoute = adminRoute({
  method: "DELETE",
  path: "/api/objects/{id}",
  id: "deleteObject",
  summary:
    "Delete a stored object by its id: a response, or another object that a client has created. Its content is not shown.",
  roles: ["admin", "project"],
  idsMayHaveSlashes: true,
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
  const { answers, objects, caches, batches, background } = gateway;
  const project = projectOf(operator, undefined);
  const isOurs = (owned: Owned) => project === undefined || owned.project === project;
  const answer = await answers.owner(id);
  if (answer !== undefined) {
    const remove = async () => {
      if (!(await answers.delete(answer.project, id, isOurs))) return false;
      await background.cancel(answer.project, id);
      return true;
    };
    const kind = answer.model === undefined ? "response" : "completion";
    return isOurs(answer) ? { kind, owned: answer, remove } : undefined;
  }
  const cache = await caches.owner(id);
  if (cache !== undefined)
    return isOurs(cache) ? { kind: "cache", owned: cache, remove: () => endCache(cache, gateway) } : undefined;
  const object = await objects.owner(id);
  // A cache that is still being created cannot be deleted: its provider has not said yet what to delete.
  if (object === undefined || object.kind === "cache" || !isOurs(object)) return undefined;
  // The receipts of lines that run would be lost with a batch, so it must have ended.
  const remove = () => (object.kind === "batch" ? batches.delete(id, isOurs) : objects.delete(object.id));
  return { kind: object.kind, owned: object, remove };
}
