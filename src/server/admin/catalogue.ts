import type { Static } from "typebox";
import type { JsonObject } from "../../base/json.ts";
import { Type } from "../../base/type.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { ModelEntry } from "../../catalogue/models-schema.ts";
import { changesOf } from "../../catalogue/updates/changes-of.ts";
import type { CatalogueUpdate } from "../../catalogue/updates/model-patch.ts";
import { readList } from "../../catalogue/updates/read-list.ts";
import type { SourceList } from "../../catalogue/updates/source-list.ts";
import { openObject } from "../../dialects/reading/schema-builders.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { dataAnswer } from "./schemas/answers.ts";
import { AppliedUpdateAnswer, CatalogueUpdatesAnswer, Day, UpdateReportAnswer } from "./schemas/catalogue.ts";

/** An update as the Admin API and the command line show it. */
export const updateView = ({ number, appliedAtMs, source, asOf, digest, models }: CatalogueUpdate) => ({
  number,
  applied_at: new Date(appliedAtMs).toISOString(),
  source,
  as_of: asOf,
  digest,
  models: models.length,
  retirements: models.flatMap(({ id, retires_after }) =>
    retires_after === undefined ? [] : [{ model: id, retires_after }],
  ),
});

export const listCatalogueUpdates = adminRoute({
  method: "GET",
  path: "/api/catalogue/updates",
  id: "listCatalogueUpdates",
  summary: "List the updates of the catalogue that are in force, the newest first.",
  roles: ["admin", "viewer"],
  answers: [json(CatalogueUpdatesAnswer, "The updates that this instance has applied.")],
  handle: (_, { gateway }) => ({ data: gateway.snapshot.catalogue.updates.map(updateView).toReversed() }),
});

const numberOf = (text: string | undefined): number => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new GatewayError("not_found", "The number of an update is a whole number above 0.");
};

const UpdateBody = Type.Object(
  {
    source: Type.String({ minLength: 1, maxLength: 500, description: "The name of the list." }),
    as_of: Day,
    models: Type.Optional(
      Type.Array(Type.Object({ ...Type.Partial(ModelEntry).properties, id: ModelEntry.properties.id }), {
        maxItems: 20_000,
        description: "What the list says about each model.",
      }),
    ),
    list: Type.Optional(openObject("In place of `models`: the list as models.dev or LiteLLM publish it.")),
    context_is_prompt: Type.Optional(
      Type.Boolean({ description: "The context lengths are those of prompts alone, so only new models take them." }),
    ),
    confirm: Type.Optional(
      Type.Array(Type.String(), { maxItems: 1_000, description: "Models whose held-back prices are accepted." }),
    ),
    apply: Type.Optional(Type.Boolean({ description: "Otherwise the update is only planned." })),
    digest: Type.Optional(Type.String({ description: "Apply only the update with this digest." })),
  },
  { title: "CatalogueUpdateRequest" },
);

function listOf({ source, models, list, context_is_prompt: isPrompt }: Static<typeof UpdateBody>): SourceList {
  if ((models === undefined) === (list === undefined)) {
    throw new GatewayError("invalid_request", "An update has either `models` or `list`.", { path: "models" });
  }
  if (list !== undefined) return readList(list as JsonObject, source);
  return {
    models: (models ?? []).map((model) => withoutAbsent(model)) as SourceList["models"],
    skipped: {},
    unread: {},
    ...(isPrompt ? { contextIsPrompt: true } : {}),
  };
}

export const showCatalogueUpdate = adminRoute({
  method: "GET",
  path: "/api/catalogue/updates/{number}",
  id: "showCatalogueUpdate",
  summary: "Show what an update has changed, compared with the updates before it.",
  roles: ["admin", "viewer"],
  answers: [json(AppliedUpdateAnswer, "The update and its changes.")],
  handle: ({ parameters }, { gateway }) => {
    const number = numberOf(parameters["number"]);
    const { updates } = gateway.snapshot.catalogue;
    const update = updates.find((one) => one.number === number);
    if (update === undefined) {
      const message = `No catalogue update ${number} is in force. GET /api/catalogue/updates lists them.`;
      throw new GatewayError("not_found", message);
    }
    return { data: { ...updateView(update), ...changesOf(updates, number) } };
  },
});

const MAX_BODY_BYTES = 16 * 1024 * 1024;

export const updateCatalogueRoute = adminRoute({
  method: "POST",
  path: "/api/catalogue/updates",
  id: "updateCatalogue",
  summary: "Compare a list of models and prices with those in force, and apply the differences with `apply`.",
  roles: ["admin"],
  body: UpdateBody,
  maxBodyBytes: MAX_BODY_BYTES,
  answers: [json(UpdateReportAnswer, "The differences, and whether they were applied.")],
  handle: async ({ body, operator, connection }, { gateway }, { catalogue }) => {
    const { source, as_of: asOf, confirm = [], apply = false, digest } = body;
    const list = listOf(body);
    const request = { source, asOf, list, confirmed: new Set(confirm), apply, digest };
    const report = await catalogue.update(request, actorOf(operator, connection));
    if (report.applied !== null) await gateway.changes.spread();
    return { data: report };
  },
});

export const removeCatalogueUpdate = adminRoute({
  method: "DELETE",
  path: "/api/catalogue/updates/{number}",
  id: "removeCatalogueUpdate",
  summary: "Remove an update. The values before it hold again.",
  roles: ["admin"],
  answers: [json(dataAnswer("RemovedCatalogueUpdate", Type.Object({ removed: Type.Integer() })), "Its number.")],
  handle: async ({ parameters, operator, connection }, { gateway }, { catalogue }) => {
    const number = numberOf(parameters["number"]);
    await catalogue.remove(number, actorOf(operator, connection));
    await gateway.changes.spread();
    return { data: { removed: number } };
  },
});
