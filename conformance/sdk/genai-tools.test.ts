import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { withoutAbsent } from "../../src/base/without-absent.ts";
import {
  type DeclaredTools,
  type FunctionCall,
  GENAI_1,
  GENAI_2,
  GENAI_MODES,
  type GenaiAnswer,
  type GenaiGeneration,
  type GenaiRequest,
  type OwnPart,
  type OwnTurn,
  type ReadPart,
  type ReadTurn,
  setupFor,
  textOf,
} from "./genai-clients.ts";
import { collect, failureOf, type SimulatedGateway, startSimulatedGateway } from "./support.ts";
import { upstreamOf } from "./upstreams.ts";

const declare = (name: string) => ({
  name,
  description: `Looks up ${name} for a city.`,
  parametersJsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
});
const TOOLS: DeclaredTools = { functionDeclarations: [declare("get_weather"), declare("get_time")] };
const ONE_CALL = "Please use get_weather for Lisbon.";
const TWO_CALLS = "Call get_weather and get_time in parallel for Lisbon.";

/** Some hosts receive the result as an object, and quote it as such. */
const WEATHER_USED = /get_weather answered “[^”]*get_weather says so/;
const TIME_USED = /get_time answered “[^”]*get_time says so/;

const resultOf = ({ id, name = "" }: FunctionCall): OwnPart => ({
  functionResponse: withoutAbsent({ id, name, response: { output: `${name} says so` } }),
});

const said = (text: string): OwnTurn => ({ role: "user", parts: [{ text }] });
const results = (calls: readonly FunctionCall[]): OwnTurn => ({ role: "user", parts: calls.map(resultOf) });
const callsOf = (turn: ReadTurn) => (turn.parts ?? []).flatMap((part) => part.functionCall ?? []);

function turnOf<Turn extends ReadTurn>(answer: GenaiAnswer<Turn>): Turn {
  const turn = answer.candidates?.[0]?.content;
  if (turn === undefined) throw new Error("no content");
  return turn;
}

/** A streamed response as one turn, as callers assemble it for the next request: nothing signed is lost. */
const joinedTurn = (chunks: readonly GenaiAnswer<ReadTurn>[]): { role: "model"; parts: ReadPart[] } => ({
  role: "model",
  parts: chunks
    .flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
    .filter((part) => part.text !== "" || part.thoughtSignature !== undefined),
});

/** A signature with one character in its middle replaced. */
function forged(signature: string): string {
  const middle = Math.floor(signature.length / 2);
  return signature.slice(0, middle) + (signature[middle] === "A" ? "B" : "A") + signature.slice(middle + 1);
}

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

function tools<Turn extends ReadTurn>({ version, error, finish, connect }: GenaiGeneration<Turn>): void {
  for (const mode of GENAI_MODES) {
    const { name, kind } = mode;
    describe(`genai ${version}, ${name}`, () => {
      const upstream = upstreamOf(kind, "genai");
      const open = () => connect(setupFor(mode, harness.gateway.url, harness.gateway.key));
      const asking = (...contents: (OwnTurn | Turn)[]): GenaiRequest<Turn> => ({
        model: `${kind}/standard`,
        contents,
        config: { tools: [TOOLS] },
      });
      const thinking = (...contents: (OwnTurn | Turn)[]): GenaiRequest<Turn> => ({
        model: `${kind}/strict-thinker`,
        contents,
        config: { tools: [TOOLS], thinkingConfig: { includeThoughts: true } },
      });

      test("contract 2.6: a function is called, its result sent back, the answer uses it", async () => {
        const { models } = open();
        const first = await models.generateContent(asking(said(ONE_CALL)));
        expect(first.candidates?.[0]?.finishReason).toBe(finish.STOP);
        expect(first.functionCalls).toMatchObject([{ name: "get_weather", args: { city: "Lisbon" } }]);
        const turn = turnOf(first);
        const second = await models.generateContent(asking(said(ONE_CALL), turn, results(callsOf(turn))));
        expect(textOf(second)).toMatch(WEATHER_USED);
      });

      test("contract 2.8: parallel calls, streamed, each get their own result", async () => {
        const { models } = open();
        const chunks = await collect(await models.generateContentStream(asking(said(TWO_CALLS))));
        const turn = joinedTurn(chunks);
        expect(callsOf(turn)).toMatchObject([
          { name: "get_weather", args: { city: "Lisbon" } },
          { name: "get_time", args: { city: "Lisbon" } },
        ]);
        const next = asking(said(TWO_CALLS), turn, results(callsOf(turn)));
        const second = await collect(await models.generateContentStream(next));
        expect(second.map(textOf).join("")).toMatch(WEATHER_USED);
        expect(second.map(textOf).join("")).toMatch(TIME_USED);
      });

      test("contract 2.6: the package's own loop calls the functions and returns the answer", async () => {
        const called: string[] = [];
        const runnable = {
          tool: async () => TOOLS,
          callTool: async (calls: FunctionCall[]) => {
            called.push(...calls.map((call) => call.name ?? ""));
            return calls.map(resultOf);
          },
        };
        const answer = await open().models.generateContent({
          model: `${kind}/standard`,
          contents: TWO_CALLS,
          config: { tools: [runnable] },
        });
        expect(called).toEqual(["get_weather", "get_time"]);
        expect(textOf(answer)).toMatch(TIME_USED);
        expect(answer.automaticFunctionCallingHistory?.length).toBeGreaterThanOrEqual(3);
      });

      test("contract 2.6: a chat of the package keeps its history, calls included", async () => {
        const chat = open().chats.create({ model: `${kind}/strict-thinker`, config: { tools: [TOOLS] } });
        const first = await chat.sendMessage({ message: ONE_CALL });
        const second = await chat.sendMessage({ message: callsOf(turnOf(first)).map(resultOf) });
        expect(textOf(second)).toMatch(WEATHER_USED);
        expect(textOf(await chat.sendMessage({ message: "Thank you." }))).toContain("The request holds 5 turns");
      });

      test("contract 2.6: a streamed chat of the package, whose history has a turn for every chunk", async () => {
        const chat = open().chats.create({ model: `${kind}/strict-thinker`, config: { tools: [TOOLS] } });
        const first = await collect(await chat.sendMessageStream({ message: ONE_CALL }));
        const calls = callsOf(joinedTurn(first));
        const second = await collect(await chat.sendMessageStream({ message: calls.map(resultOf) }));
        expect(second.map(textOf).join("")).toMatch(WEATHER_USED);
      });

      test("contract 2.8: thoughts and signatures are returned unchanged with the call's result", async () => {
        const { models } = open();
        const whole = turnOf(await models.generateContent(thinking(said(ONE_CALL))));
        const streamed = joinedTurn(await collect(await models.generateContentStream(thinking(said(ONE_CALL)))));
        const signaturesOf = ({ parts = [] }: ReadTurn) =>
          parts.flatMap(({ functionCall, thoughtSignature }) =>
            thoughtSignature === undefined
              ? []
              : [[functionCall === undefined ? "thoughts" : "calls", thoughtSignature]],
          );
        // Thoughts are attached to the call too: many clients of this protocol keep no thoughts in their history.
        const signed = upstream.signs === "thoughts" ? ["thoughts", "calls"] : ["calls"];
        expect(signaturesOf(whole).map(([where]) => where)).toEqual(signed);
        for (const [, signature] of signaturesOf(whole)) expect(signature?.length).toBeGreaterThan(40);
        expect(signaturesOf(streamed)).toEqual(signaturesOf(whole));
        for (const turn of [whole, streamed]) {
          const final = await models.generateContent(thinking(said(ONE_CALL), turn, results(callsOf(turn))));
          expect(textOf(final)).toMatch(WEATHER_USED);
        }
      });

      // For what other hosts sign and how they treat a forgery, see conversations.test.ts.
      if (upstream.native)
        test("contract 2.8: an altered or missing signature is reported as the upstream's 400", async () => {
          const { models } = open();
          const turn = turnOf(await models.generateContent(thinking(said(ONE_CALL))));
          const changed = (change: (signature: string) => OwnPart): OwnTurn => ({
            role: "model",
            parts: (turn.parts ?? []).flatMap(({ functionCall, thoughtSignature = "" }) =>
              functionCall === undefined ? [] : [{ functionCall, ...change(thoughtSignature) }],
            ),
          });
          const refusals: [OwnTurn, RegExp][] = [
            [changed((signature) => ({ thoughtSignature: forged(signature) })), /signature is not valid/],
            [changed(() => ({})), /missing a thought_signature/],
          ];
          for (const [refused, message] of refusals) {
            const request = thinking(said(ONE_CALL), refused, results(callsOf(turn)));
            const failure = await failureOf(models.generateContent(request));
            expect(failure.constructor).toBe(error);
            expect(failure).toMatchObject({ status: 400 });
            expect(JSON.parse(failure.message)).toMatchObject({
              error: { code: 400, status: "INVALID_ARGUMENT", message: expect.stringMatching(message) },
            });
          }
        });
    });
  }
}

tools(GENAI_2);
tools(GENAI_1);
