import { Type } from "../../../base/type.ts";
import { anyOtherKind, openObject } from "../../reading/schema-builders.ts";
import { CONTENT_TYPES, Content, LISTED_CONTENT } from "./content.ts";

const signature = Type.Optional(Type.String({ description: "Base64. Opaque; return it unchanged." }));
const CallId = Type.String({ minLength: 1 });
const ToolName = Type.String({ minLength: 1 });

const FunctionResult = Type.Object(
  {
    type: Type.Literal("function_result"),
    call_id: CallId,
    name: Type.Optional(Type.String()),
    is_error: Type.Optional(Type.Boolean()),
    result: Type.Union([Type.String(), Type.Array(Content), openObject()]),
    signature,
  },
  { title: "InteractionsFunctionResult" },
);

/** Some clients put results into the content of the user's step. */
const UserInput = Type.Object(
  {
    type: Type.Literal("user_input"),
    content: Type.Optional(
      Type.Array(Type.Union([...LISTED_CONTENT, FunctionResult, anyOtherKind([...CONTENT_TYPES, "function_result"])])),
    ),
  },
  { title: "InteractionsUserInput" },
);

const ModelOutput = Type.Object(
  { type: Type.Literal("model_output"), content: Type.Optional(Type.Array(Content)) },
  { title: "InteractionsModelOutput" },
);

const Thought = Type.Object(
  { type: Type.Literal("thought"), signature, summary: Type.Optional(Type.Array(Content)) },
  { title: "InteractionsThought" },
);

const FunctionCall = Type.Object(
  {
    type: Type.Literal("function_call"),
    id: CallId,
    name: ToolName,
    arguments: Type.Optional(openObject()),
    signature,
  },
  { title: "InteractionsFunctionCall" },
);

/** The steps that other protocols have too. Any other one is the work of a tool that a provider ran. */
const LISTED_STEPS = ["user_input", "model_output", "thought", "function_call", "function_result"];

/** A step, or content of the user. Steps come first, because the compiled check tries the alternatives in order. */
export const StepOrContent = Type.Union(
  [
    UserInput,
    ModelOutput,
    FunctionCall,
    FunctionResult,
    Thought,
    ...LISTED_CONTENT,
    anyOtherKind([...LISTED_STEPS, ...CONTENT_TYPES]),
  ],
  { title: "InteractionsStep" },
);
