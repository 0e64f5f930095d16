import { describe, expect, test } from "bun:test";
import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import { hostedImages } from "./hosted-images.ts";

const body = { model: "m", input: "a picture", tools: [{ type: "image_generation" }] };

/** A model that calls the tool this often in every round, whatever the results are. */
function insistent(calls: number, limits = { rounds: 8, images: 16 }) {
  let id = 0;
  const answer = hostedImages.play(body, { answerId: undefined, makeId: () => String(id++), limits });
  const requests: JsonObject[] = [];
  let images = 0;
  // Far beyond every limit, so that an endless loop fails here.
  while (requests.length < 100) {
    requests.push(answer.request);
    answer.take({
      id: "resp_1",
      status: "completed",
      output: Array.from({ length: calls }, () => ({
        type: "function_call",
        name: "image_generation",
        call_id: `call_${id++}`,
        arguments: '{"prompt":"x"}',
      })),
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    });
    for (const asked of answer.asked) {
      images++;
      answer.beginImage(asked);
      answer.endImage(asked, { image: { b64_json: "aGk=" }, format: "png" });
    }
    if (!answer.goOn()) break;
  }
  return { requests, images, whole: answer.finish().answer };
}

const results = (request: JsonObject | undefined) =>
  arrayAt(request, "input").filter((item) => stringAt(item, "type") === "function_call_output");

describe("decision 0083: images within a response are limited", () => {
  test("a model that never stops calling the tool gets eight rounds of images and one more request", () => {
    const { requests, images, whole } = insistent(1);
    expect([requests.length, images]).toEqual([9, 8]);
    expect(arrayAt(requests.at(-1), "tools")).toEqual([]);
    expect(arrayAt(whole, "output")).toHaveLength(8);
  });

  test("a model that calls it 300 times at once gets sixteen images, and errors for the others", () => {
    const { requests, images, whole } = insistent(300);
    expect(images).toBe(16);
    expect(requests.length).toBeLessThanOrEqual(9);
    const told = results(requests[1]);
    expect(told).toHaveLength(300);
    expect(
      told.filter((item) => stringAt(item, "output")?.startsWith("Error: this answer has 16 images")),
    ).toHaveLength(284);
    expect(arrayAt(whole, "output")).toHaveLength(16);
  });

  test("the configuration sets the limits", () => {
    expect(insistent(2, { rounds: 2, images: 100 })).toMatchObject({ images: 4, requests: { length: 3 } });
    expect(insistent(2, { rounds: 50, images: 3 })).toMatchObject({ images: 3 });
  });
});
