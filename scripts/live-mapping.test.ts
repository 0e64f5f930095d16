import { describe, expect, test } from "bun:test";
import { live } from "../src/dialects/live/index.ts";
import { realtime } from "../src/dialects/realtime/index.ts";
import { Bridge, liveOnRealtime } from "../src/dialects/session/bridge.sample.ts";
import type { Shape } from "../testing/sdk-types/declared-type.ts";
import { readTypeScript } from "../testing/sdk-types/read-typescript.ts";
import { LIVE_MAPPING_FILE, liveMappingDocument, liveOutcomes, SAMPLES, type Side } from "./live-mapping.ts";

const MODULES = new URL("../node_modules", import.meta.url).pathname;
const REALTIME = "openai/resources/realtime/realtime.d.ts";
const LIVE = "@google/genai/dist/genai.d.ts";

const [session, response, setup, clientEvents, serverEvents, clientMessage, serverMessage, input, content] =
  await readTypeScript(MODULES, [
    { file: REALTIME, type: "RealtimeSessionCreateRequest" },
    { file: REALTIME, type: "RealtimeResponseCreateParams" },
    { file: LIVE, type: "LiveClientSetup" },
    { file: REALTIME, type: "RealtimeClientEvent" },
    { file: REALTIME, type: "RealtimeServerEvent" },
    { file: LIVE, type: "LiveClientMessage" },
    { file: LIVE, type: "LiveServerMessage" },
    { file: LIVE, type: "LiveClientRealtimeInput" },
    { file: LIVE, type: "LiveServerContent" },
  ]);

const membersOf = (shape: Shape | undefined): string[] => [
  ...new Set([...(shape?.types ?? [])].flatMap(({ members }) => [...members.keys()])),
];

const wordsOf = (shape: Shape | undefined, member: string): string[] => [
  ...new Set([...(shape?.types ?? [])].flatMap(({ members }) => [...(members.get(member)?.words ?? [])])),
];

/** Whether the sample has the field, a field in it, or the object around it. */
function isCovered(shape: Shape | undefined, samples: readonly string[], path = ""): string[] {
  return [...(shape?.types ?? [])].flatMap(({ members }) =>
    [...members].flatMap(([name, inner]) => {
      const at = path === "" ? name : `${path}.${name}`;
      if (samples.includes(at)) return [];
      return samples.some((sample) => sample.startsWith(`${at}.`)) ? isCovered(inner, samples, at) : [at];
    }),
  );
}

describe("decision 0118: fields of the official SDKs", () => {
  test.each([
    ["session", session],
    ["response", response],
    ["setup", setup],
  ] as const)("every declared field of %s has a sample", (side: Side, shape) => {
    expect(membersOf(shape).length).toBeGreaterThan(5);
    expect(isCovered(shape, Object.keys(SAMPLES[side]))).toEqual([]);
  });

  test("H09: no field is lost without a word", () => {
    expect(liveOutcomes().filter(({ outcome }) => outcome === "lost")).toEqual([]);
  });

  test("every event of a Realtime client is known, except one of another transport", () => {
    const types = wordsOf(clientEvents, "type").filter((type) => type.includes("."));
    expect(types.length).toBeGreaterThan(8);
    const client = realtime.client({ sessionId: "s", model: "m", expiresAtSeconds: 0, makeId: () => "1" });
    const unknown = types.filter((type) =>
      client.decode(JSON.stringify({ type })).some((one) => one.type === "unknown"),
    );
    expect(unknown).toEqual(["output_audio_buffer.clear"]);
  });

  test("every event of a Realtime host is known", () => {
    const types = wordsOf(serverEvents, "type").filter((type) => type.includes("."));
    expect(types.length).toBeGreaterThan(30);
    const { host } = new Bridge(live, realtime);
    const unknown = types.filter((type) =>
      host.decode(JSON.stringify({ type })).events.some((one) => one.type === "unknown"),
    );
    expect(unknown).toEqual([]);
  });

  test("every message of a Live client is known", () => {
    const { client } = liveOnRealtime();
    const isUnknown = (frame: object) => client.decode(JSON.stringify(frame)).some(({ type }) => type === "unknown");
    expect(membersOf(clientMessage)).toContain("clientContent");
    expect(membersOf(clientMessage).filter((name) => isUnknown({ [name]: {} }))).toEqual([]);
    expect(membersOf(input)).toContain("audioStreamEnd");
    expect(membersOf(input).filter((name) => isUnknown({ realtimeInput: { [name]: true } }))).toEqual([]);
  });

  test("every message of a Live host is known", () => {
    const { host } = new Bridge(realtime, live);
    // Accessors of the SDK, which are not on the wire.
    const messages = membersOf(serverMessage).filter((name) => name !== "text" && name !== "data");
    expect(messages).toContain("serverContent");
    const unknown = messages.filter((name) =>
      host.decode(JSON.stringify({ [name]: {} })).events.some((one) => one.type === "unknown"),
    );
    expect(unknown).toEqual([]);
  });

  test("the members of a Live host's content are those that were reviewed", () => {
    expect(membersOf(content).sort()).toEqual(
      [
        // Not translated: sources, a transcript that changes, and what clients show while they wait.
        ...[
          "groundingMetadata",
          "interactionStatus",
          "interimInputTranscription",
          "urlContextMetadata",
          "waitingForInput",
        ],
        ...["generationComplete", "inputTranscription", "interrupted", "modelTurn"],
        ...["outputTranscription", "turnComplete", "turnCompleteReason"],
      ].sort(),
    );
  });
});

test("docs/reference/live-mapping.md matches the code", async () => {
  const page = await Bun.file(new URL(`../${LIVE_MAPPING_FILE}`, import.meta.url)).text();
  expect(page).toBe(liveMappingDocument());
});
