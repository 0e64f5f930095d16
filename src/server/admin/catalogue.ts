import { Type } from "../../base/type.ts";
import { json } from "../openapi/operation.ts";
import { adminRoute } from "./define-route.ts";
import { dataAnswer } from "./schemas/answers.ts";

const CatalogueUpdateItem = Type.Object(
  {
    number: Type.Integer({ description: "In the order in which updates were applied." }),
    applied_at: Type.String(),
    source: Type.String({ description: "The list that the values come from." }),
    as_of: Type.String({ description: "The day of the list." }),
    digest: Type.String({ description: "The same digest means the same values." }),
    models: Type.Integer({ description: "How many models the update changes or adds." }),
  },
  { title: "CatalogueUpdate" },
);

export const listCatalogueUpdates = adminRoute({
  method: "GET",
  path: "/api/catalogue/updates",
  id: "listCatalogueUpdates",
  summary: "List the updates of the catalogue that are in force, the newest first.",
  roles: ["admin", "viewer"],
  answers: [
    json(
      dataAnswer("CatalogueUpdates", Type.Array(CatalogueUpdateItem)),
      "The updates that this instance has applied.",
    ),
  ],
  handle: (_, { gateway }) => ({
    data: gateway.snapshot.catalogue.updates
      .map(({ number, appliedAtMs, source, asOf, digest, models }) => ({
        number,
        applied_at: new Date(appliedAtMs).toISOString(),
        source,
        as_of: asOf,
        digest,
        models: models.length,
      }))
      .toReversed(),
  }),
});
