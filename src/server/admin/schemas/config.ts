import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable, openObject } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer, Timestamp } from "./answers.ts";

const Problem = Type.Object(
  { file: Type.String(), line: Type.Integer(), column: Type.Integer(), message: Type.String() },
  { title: "ConfigProblem" },
);

const Reload = Type.Object({
  at: Timestamp,
  ok: Type.Boolean(),
  problems: Type.Array(Problem),
  restart_needed: Type.Array(Type.String()),
});

export const ConfigAnswer = dataAnswer(
  "ConfigAnswer",
  Type.Object({
    file: nullable(Type.String()),
    origins: Type.Record(Type.String(), Type.Enum(["file", "environment", "default"])),
    written: nullable(
      openObject("The values of the file as they are written, with references in place of secrets. A configuration."),
    ),
    values: openObject("By the names of the file; secrets are `[secret]`."),
    warnings: Type.Array(Problem),
    reloads: Type.Array(Reload, { description: "Since the start, latest last." }),
  }),
);

export const ConfigCheck = dataAnswer(
  "ConfigCheck",
  Type.Object({
    ok: Type.Boolean(),
    problems: Type.Array(Problem),
    warnings: Type.Array(Problem),
    models: nullable(Type.Integer()),
    providers: nullable(Type.Array(Type.String())),
    restart_needed: nullable(Type.Array(Type.String())),
  }),
);

export type ConfigChecked = Static<typeof ConfigCheck>["data"];
export type ConfigShown = Static<typeof ConfigAnswer>["data"];
