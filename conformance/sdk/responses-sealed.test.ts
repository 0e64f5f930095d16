import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAi from "openai";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** A host of the protocol that seals its thoughts, and records its requests. */
class SealingHost {
  readonly asked: string[] = [];
  readonly #server: Bun.Server<undefined>;
  readonly #name: string;
  #answers = 0;

  constructor(name: string) {
    this.#name = name;
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#answer(request) });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/v1`;
  }

  stop = () => this.#server.stop(true);

  async #answer(request: Request): Promise<Response> {
    const text = await request.text();
    this.asked.push(text);
    const number = ++this.#answers;
    const thought = {
      id: `rs_${this.#name}_${number}`,
      type: "reasoning",
      summary: [],
      encrypted_content: `sealed-by-${this.#name}-${number}-${"x".repeat(60)}${number}${this.#name}`,
    };
    const content = [{ type: "output_text", text: "Hello.", annotations: [] }];
    const said = { id: `msg_${number}`, type: "message", role: "assistant", status: "completed", content };
    const output = [thought, said];
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
    const response = {
      id: `resp_${number}`,
      object: "response",
      created_at: 1,
      model: "m",
      status: "completed",
      output,
      usage,
    };
    if ((JSON.parse(text) as { stream?: boolean }).stream !== true) return Response.json(response);
    const events = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
      ...output.flatMap((item, output_index) => [
        { type: "response.output_item.added", output_index, item: { ...item, content: [] } },
        { type: "response.output_item.done", output_index, item },
      ]),
      { type: "response.completed", response },
    ];
    const body = events.map(
      (event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
    );
    return new Response(body.join(""), { headers: { "content-type": "text/event-stream" } });
  }
}

let [vendor, other]: [SealingHost | undefined, SealingHost | undefined] = [undefined, undefined];
let gateway: TestGateway;

beforeAll(async () => {
  vendor = new SealingHost("vendor");
  other = new SealingHost("other");
  const facts = {
    reasoning: true,
    context_length: 100_000,
    max_output_tokens: 10_000,
    input_modalities: ["text"],
    output_modalities: ["text"],
  };
  gateway = await startTestGateway({
    config: {
      providers: {
        vendor: { kind: "openai", base_url: vendor.url, api_key: "k", dialects: ["responses"] },
        other: { kind: "x-ai", base_url: other.url, api_key: "k", dialects: ["responses"] },
      },
      models: [
        { id: "acme/vendor", ...facts, offers: [{ provider: "vendor", model: "m" }] },
        { id: "acme/other", ...facts, offers: [{ provider: "other", model: "m" }] },
      ],
    },
  });
});
beforeEach(() => {
  for (const host of [vendor, other]) host?.asked.splice(0);
});
afterAll(async () => {
  await gateway.stop();
  vendor?.stop();
  other?.stop();
});

const open = () => new OpenAi({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
const QUESTION = { role: "user" as const, content: "Hello" };

/** One turn with the whole history, streamed or not; returns the history of the next. */
async function turn(model: string, input: OpenAi.Responses.ResponseInput, streamed: boolean) {
  const request = { model, input, store: false };
  const { data, response } = streamed
    ? { data: await open().responses.stream(request).finalResponse(), response: undefined }
    : await open().responses.create(request).withResponse();
  return { next: [...input, ...data.output, QUESTION] as OpenAi.Responses.ResponseInput, response };
}

describe.each([false, true])(
  "decision 0011: sealed thoughts of a conversation that moves, streamed: %p",
  (streamed) => {
    test.each([
      ["acme/vendor", "acme/other", "vendor"],
      ["acme/other", "acme/vendor", "other"],
    ])("from %s to %s: they are not sent to the second, and are returned to the first", async (from, to, sealer) => {
      const [first, second] = sealer === "vendor" ? [vendor, other] : [other, vendor];
      const begun = await turn(from, [QUESTION], streamed);
      const stayed = await turn(from, begun.next, streamed);
      expect(first?.asked.at(-1)).toContain(`sealed-by-${sealer}`);
      const moved = await turn(to, stayed.next, streamed);
      expect(second?.asked.at(-1)).not.toContain("sealed-by-");
      expect(second?.asked.at(-1)).not.toContain("rs_");
      if (moved.response !== undefined) expect(moved.response.headers.get("x-trivium-dropped")).toContain("input[1]");
      await turn(from, moved.next, streamed);
      const back = first?.asked.at(-1) ?? "";
      expect(back).toContain(`sealed-by-${sealer}`);
      expect(back).not.toContain(sealer === "vendor" ? "sealed-by-other" : "sealed-by-vendor");
      // Each with the id that it is bound to (R10).
      const items = (JSON.parse(back) as { input: { id?: string; encrypted_content?: string }[] }).input;
      const sealed = items.filter(({ encrypted_content }) => encrypted_content !== undefined);
      expect(sealed).toHaveLength(2);
      for (const { id, encrypted_content } of sealed) {
        expect(encrypted_content).toStartWith(`sealed-by-${sealer}-${id?.split("_").at(-1)}`);
      }
    });

    test("a strict call that would drop them is refused with their path", async () => {
      const begun = await turn("acme/vendor", [QUESTION], streamed);
      const strict = { headers: { "x-trivium-strict": "true" } };
      const call = open().responses.create({ model: "acme/other", input: begun.next, store: false }, strict);
      expect(
        await call.then(
          () => undefined,
          (error: unknown) => error,
        ),
      ).toMatchObject({ status: 400, param: "input[1]" });
    });
  },
);
