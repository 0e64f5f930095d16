import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer } from "./answers.ts";

export const Day = Type.String({ pattern: "^20\\d\\d-\\d\\d-\\d\\d$", description: "YYYY-MM-DD" });

const Retirement = Type.Object({ model: Type.String(), retires_after: Day });

const CatalogueUpdateItem = Type.Object(
  {
    number: Type.Integer({ description: "In the order in which updates were applied." }),
    applied_at: Type.String(),
    source: Type.String({ description: "The list that the values come from." }),
    as_of: Type.String({ description: "The day of the list." }),
    digest: Type.String({ description: "The same digest means the same values." }),
    models: Type.Integer({ description: "How many models the update changes or adds." }),
    retirements: Type.Array(Retirement, {
      description: "The days until which it says that models are served at least.",
    }),
  },
  { title: "CatalogueUpdate" },
);

const ChangeItem = Type.Object({
  model: Type.String(),
  field: Type.String(),
  before: Type.Optional(Type.Unknown()),
  after: Type.Unknown(),
});

const Added = Type.Array(
  Type.Object({ model: Type.String(), family: Type.Optional(Type.String()), priced: Type.Boolean() }),
);

const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }));

const Report = Type.Object({
  source: Type.String(),
  as_of: Type.String(),
  listed: Type.Integer(),
  skipped: Counts,
  unread: Counts,
  added: Added,
  changes: Type.Array(ChangeItem),
  held: Type.Array(ChangeItem, { description: "Prices that would move by more than half." }),
  digest: Type.String(),
  models: Type.Integer(),
  applied: nullable(Type.Integer({ description: "The number of the update; null if it was not applied." })),
});

export const CatalogueUpdatesAnswer = dataAnswer("CatalogueUpdates", Type.Array(CatalogueUpdateItem));

export const AppliedUpdateAnswer = dataAnswer(
  "AppliedCatalogueUpdate",
  Type.Object({ ...CatalogueUpdateItem.properties, added: Added, changes: Type.Array(ChangeItem) }),
);

export const UpdateReportAnswer = dataAnswer("CatalogueUpdateReport", Report);

export type CatalogueUpdate = Static<typeof CatalogueUpdateItem>;
export type CatalogueReport = Static<typeof Report>;
