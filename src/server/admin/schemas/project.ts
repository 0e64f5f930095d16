import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { SHARING } from "../../../canon/ownership.ts";
import { nullable, openObject } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer, Timestamp } from "./answers.ts";
import { Billing } from "./billing.ts";
import { KeyBudget } from "./key.ts";
import { PART_FIELDS, PART_UPDATES, PART_VIEWS } from "./part-limits.ts";
import { SpentMoney } from "./spent.ts";

const ProviderObjects = Type.Boolean({
  description: "Whether requests of its keys may name objects in providers' accounts. Default: false.",
});
const Objects = Type.Enum([...SHARING], {
  description: "Who may see what its keys store: all of them, or only the key that stored it.",
});

const ProjectMb = Type.Number({
  minimum: 0,
  maximum: 1_000_000_000,
  description: "How much space its objects may take, in MB. Default: `objects.project_mb` of the configuration.",
});

export const Project = Type.Object(
  {
    id: Type.String(),
    from: Type.Enum(["file", "storage"], { description: "`file`: only keys of the configuration file name it." }),
    name: Type.String(),
    limits: Type.Record(Type.String(), Type.Number()),
    ...PART_VIEWS,
    discounts: Type.Array(openObject("Discounts on the list price.")),
    status: Type.Enum(["active", "suspended", "deleted"]),
    provider_objects: ProviderObjects,
    objects: Objects,
    project_mb: nullable(ProjectMb),
    billing: Billing,
    created_at: nullable(Timestamp),
    spent_nano_usd: Type.Optional(SpentMoney),
    budgets: Type.Optional(
      Type.Array(KeyBudget, { description: "Of the project itself; in lists, as is `spent_nano_usd`." }),
    ),
  },
  { title: "Project" },
);
export const ProjectAnswer = dataAnswer("ProjectAnswer", Project);

const Name = Type.String({ minLength: 1, maxLength: 100 });
const Discounts = Type.Array(openObject(), { maxItems: 100 });

export const ProjectRequestBody = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 100, description: "For example team-a; it never changes." }),
    name: Type.Optional(Name),
    limits: Type.Optional(Type.Record(Type.String(), Type.Number())),
    ...PART_FIELDS,
    discounts: Type.Optional(Discounts),
    provider_objects: Type.Optional(ProviderObjects),
    objects: Type.Optional(Objects),
    project_mb: Type.Optional(ProjectMb),
    billing: Type.Optional(Billing),
  },
  { title: "ProjectRequest" },
);

export const ProjectUpdateBody = Type.Object(
  {
    name: Type.Optional(Name),
    limits: Type.Optional(Type.Record(Type.String(), nullable(Type.Number()))),
    ...PART_UPDATES,
    discounts: Type.Optional(nullable(Discounts)),
    status: Type.Optional(Type.Enum(["active", "suspended"])),
    provider_objects: Type.Optional(ProviderObjects),
    objects: Type.Optional(Objects),
    project_mb: Type.Optional(nullable(ProjectMb)),
    billing: Type.Optional(nullable(Billing)),
  },
  { title: "ProjectUpdate" },
);

export type Project = Static<typeof Project>;
