import { Type } from "../../base/type.ts";
import { openObject } from "../../dialects/schema-builders.ts";
import { json, type Operation } from "./operation.ts";
import { ResponseAnswer } from "./responses-answers.ts";

const DeletedResponse = Type.Object(
  { id: Type.String(), object: Type.Literal("response"), deleted: Type.Literal(true) },
  { title: "DeletedResponse" },
);

const ResponseInputItems = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(openObject(), { description: "Items as a request has them, each with its id." }),
    first_id: Type.Union([Type.String(), Type.Null()]),
    last_id: Type.Union([Type.String(), Type.Null()]),
    has_more: Type.Boolean(),
  },
  { title: "ResponseInputItems" },
);

export const getResponse: Operation = {
  method: "get",
  id: "getResponse",
  summary: "Show a stored response",
  dialect: "responses",
  parameters: ["response-id"],
  answers: [json(ResponseAnswer, "The response, as it was given; of one in the background, how it stands.")],
};

export const deleteResponse: Operation = {
  ...getResponse,
  method: "delete",
  id: "deleteResponse",
  summary: "Delete a stored response",
  answers: [json(DeletedResponse, "It is deleted, with the items of its request.")],
};

export const cancelResponse: Operation = {
  ...getResponse,
  method: "post",
  id: "cancelResponse",
  summary: "End a response that is made in the background",
  answers: [json(ResponseAnswer, "The response, which is cancelled.")],
};

export const listResponseInput: Operation = {
  ...getResponse,
  id: "listResponseInput",
  summary: "List the items that a stored response was made from",
  parameters: ["response-id", "limit", "order", "after"],
  answers: [json(ResponseInputItems, "One page of them.")],
};
