// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer } from "./answers.ts";

export const ProviderFormsAnswer = dataAnswer(
  "ProviderKinds",
  Type.Array(
    Type.Object({
      kind: Type.String(),
      fields: Type.Array(
        Type.Object({
          name: Type.String(),
          required: Type.Boolean(),
          secret: Type.Boolean({
            description: "Given as a reference, `${VARIABLE}` or `${file:path}`, never literally.",
          }),
          variable: nullable(Type.String({ description: "Its usual environment variable." })),
        }),
      ),
    }),
  ),
);

const MAX_FIELDS = 20;

export const ProviderDraftRequest = Type.Object(
  {
    name: Type.String({ maxLength: 64, description: "Its name in the configuration." }),
    kind: Type.String({ maxLength: 64 }),
    fields: Type.Optional(
      Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 2_000 }), {
        maxProperties: MAX_FIELDS,
        description: "By their names in the configuration; secrets only as `${VARIABLE}` or `${file:path}`.",
      }),
    ),
  },
  { title: "ProviderDraft" },
);

export const CheckedProviderAnswer = dataAnswer(
  "CheckedProvider",
  Type.Object({
    yaml: Type.String({ description: "The section of the configuration that declares it." }),
    ok: Type.Boolean({ description: "Whether the configuration would be valid." }),
    problems: Type.Array(Type.String()),
    from_environment: Type.Array(Type.String(), {
      description: "Providers from the environment that the section must include, because it replaces them all.",
    }),
    credential: nullable(
      Type.Object({
        host: Type.String(),
        state: Type.Enum(["ok", "rejected", "unreachable", "unchecked"]),
        detail: Type.String(),
      }),
    ),
  }),
);

export type ProviderForms = Static<typeof ProviderFormsAnswer>["data"];
export type CheckedProvider = Static<typeof CheckedProviderAnswer>["data"];
