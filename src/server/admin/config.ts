import Type from "typebox";
import { nullable, openObject } from "../../dialects/schema-builders.ts";
import { json } from "../openapi/operation.ts";
import { dataAnswer, Moment } from "./answers.ts";
import { adminRoute } from "./define-route.ts";

const MAX_BYTES = 1024 * 1024;

const Problem = Type.Object(
  { file: Type.String(), line: Type.Integer(), column: Type.Integer(), message: Type.String() },
  { title: "ConfigProblem" },
);

const Reload = Type.Object({
  at: Moment,
  ok: Type.Boolean(),
  problems: Type.Array(Problem),
  restart_needed: Type.Array(Type.String()),
});

const ConfigAnswer = dataAnswer(
  "ConfigAnswer",
  Type.Object({
    file: nullable(Type.String()),
    origins: Type.Record(Type.String(), Type.Enum(["file", "environment", "default"])),
    values: openObject("By the names of the file; secrets are `[secret]`."),
    warnings: Type.Array(Problem),
    reloads: Type.Array(Reload, { description: "Since the start, the latest last." }),
  }),
);

export const showConfig = adminRoute({
  method: "GET",
  path: "/api/config",
  id: "showConfig",
  summary: "Show the configuration in force, without its secrets.",
  roles: ["admin", "viewer"],
  answers: [json(ConfigAnswer, "What applies now, and where it comes from.")],
  handle: (_call, _context, { config }) => ({ data: config.show() }),
});

export const checkConfig = adminRoute({
  method: "POST",
  path: "/api/config/check",
  id: "checkConfig",
  summary: "Check a configuration without saving or applying it.",
  roles: ["admin"],
  body: Type.Object({ yaml: Type.String({ description: "What trivium.yaml would hold." }) }, { title: "ConfigText" }),
  maxBodyBytes: MAX_BYTES,
  answers: [
    json(
      dataAnswer(
        "ConfigCheck",
        Type.Object({
          ok: Type.Boolean(),
          problems: Type.Array(Problem),
          warnings: Type.Array(Problem),
          models: nullable(Type.Integer()),
          providers: nullable(Type.Array(Type.String())),
          restart_needed: nullable(Type.Array(Type.String())),
        }),
      ),
      "What is wrong with it, if anything.",
    ),
  ],
  handle: ({ body }, _context, { config }) => ({ data: config.check(body.yaml) }),
});
