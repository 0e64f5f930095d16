import { Type } from "../../../base/type.ts";
import { nullable, openObject } from "../../reading/schema-builders.ts";
import { GenaiSchema } from "./json-schema.ts";

const FunctionDeclaration = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    description: Type.Optional(nullable(Type.String())),
    parameters: Type.Optional(GenaiSchema),
    parametersJsonSchema: Type.Optional(openObject("A JSON Schema, instead of parameters.")),
    response: Type.Optional(GenaiSchema),
    responseJsonSchema: Type.Optional(openObject("A JSON Schema, instead of response.")),
  },
  { title: "GenaiFunctionDeclaration" },
);

/** Other tools of the provider (such as maps and retrieval) are open fields of the same object. */
export const Tool = Type.Object(
  {
    functionDeclarations: Type.Optional(Type.Array(FunctionDeclaration)),
    googleSearch: Type.Optional(openObject()),
    codeExecution: Type.Optional(openObject()),
    urlContext: Type.Optional(openObject()),
  },
  { title: "GenaiTool" },
);

export const ToolConfig = Type.Object(
  {
    functionCallingConfig: Type.Optional(
      Type.Object({
        mode: Type.Optional(Type.Enum(["AUTO", "ANY", "NONE", "VALIDATED", "MODE_UNSPECIFIED"])),
        allowedFunctionNames: Type.Optional(Type.Array(Type.String())),
      }),
    ),
  },
  { title: "GenaiToolConfig" },
);
