import type { Static, TSchema } from "typebox";
import type { JsonObject } from "../../../base/json.ts";
import { Type } from "../../../base/type.ts";
import { defineCheck } from "../../../dialects/reading/check.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import type { Gathered } from "../../../instances/questions.ts";

/** The fields of an answer that other processes contribute to. */
export const GATHERED_FIELDS = {
  instances: Type.Integer({ description: "How many processes have answered, including this one." }),
  unanswered: Type.Array(Type.Object({ id: Type.String(), place: Type.String() }), {
    description:
      "Running processes that did not answer within 1.5 seconds, by host and process. Their part is missing.",
  }),
  problem: nullable(Type.String({ description: "Why the other processes could not be asked." })),
};

export const gatheredView = ({ answers, unanswered, problem }: Gathered<unknown>) => ({
  instances: answers.length,
  unanswered: unanswered.map(({ id, place }) => ({ id, place })),
  problem: problem ?? null,
});

/** Reads an answer of this form. Throws for any other. */
export function answerReader<Answer extends TSchema>(schema: Answer): (answer: JsonObject) => Static<Answer> {
  const check = defineCheck(schema, { relations: () => undefined });
  return (answer) => check(answer, { door: "dropin", model: { id: "", reasoning: false } });
}
