import { Type } from "../../base/type.ts";
import { json } from "../openapi/operation.ts";
import { adminRoute } from "./define-route.ts";
import { ConfigAnswer, ConfigCheck } from "./schemas/config.ts";

const MAX_BYTES = 1024 * 1024;

export const showConfig = adminRoute({
  method: "GET",
  path: "/api/config",
  id: "showConfig",
  summary: "Show the active configuration, without its secrets.",
  roles: ["admin", "viewer"],
  answers: [json(ConfigAnswer, "The active values and where they come from.")],
  handle: async (_call, { gateway }, { config }) => {
    await gateway.changes.configured;
    return { data: config.show() };
  },
});

export const checkConfig = adminRoute({
  method: "POST",
  path: "/api/config/check",
  id: "checkConfig",
  summary: "Check a configuration without saving or applying it.",
  roles: ["admin"],
  body: Type.Object({ yaml: Type.String({ description: "The content of trivium.yaml." }) }, { title: "ConfigText" }),
  maxBodyBytes: MAX_BYTES,
  answers: [json(ConfigCheck, "The mistakes in it, if any.")],
  handle: ({ body }, _context, { config }) => ({ data: config.check(body.yaml) }),
});
