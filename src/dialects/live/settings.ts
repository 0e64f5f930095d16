import { isObject, type JsonObject, objectAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { CanonCall, Extra } from "../../canon/call.ts";
import { Fields } from "../../canon/fields.ts";
import type { LiveModality, LiveSettingName, LiveSettings, LiveTurnDetection } from "../../canon/live.ts";
import { genaiCodec } from "../genai/codec.ts";
import { normaliseGenaiRequest } from "../genai/normalise.ts";
import { refuse } from "../session/refuse.ts";
import { camelKeys } from "./keys.ts";

type Paths = Partial<Record<LiveSettingName, string>>;

const MODALITIES: ReadonlyMap<unknown, LiveModality> = new Map([
  ["TEXT", "text"],
  ["AUDIO", "audio"],
] as const);

/** How loud speech must be for each sensitivity. */
const THRESHOLDS: ReadonlyMap<unknown, number> = new Map([
  ["START_SENSITIVITY_HIGH", 0.3],
  ["START_SENSITIVITY_LOW", 0.7],
]);
const EAGERNESS: ReadonlyMap<unknown, "high" | "low"> = new Map([
  ["END_SENSITIVITY_HIGH", "high"],
  ["END_SENSITIVITY_LOW", "low"],
] as const);

/** What a request of the same vendor has, too: it is decoded there. */
const OF_REQUESTS = ["generationConfig", "systemInstruction", "tools"];

/** The settings in a client's `setup`. */
export function decodeSetup(raw: JsonObject): LiveSettings {
  const setup = normaliseGenaiRequest({ contents: [], ...raw }) as JsonObject;
  const fields = new Fields(setup);
  fields.skip("contents", ...OF_REQUESTS);
  const model = fields.string("model");
  const shared = decodeShared(setup);
  const paths: Paths = { ...shared.paths, ...(model === undefined ? {} : { model: "setup.model" }) };
  const extras: Extra[] = [...shared.extras];
  const rest = (inner: Fields, ...keys: string[]) => {
    for (const [key, value] of Object.entries(inner.rest() ?? {}))
      extras.push({ keys: ["setup", ...keys, key], value });
  };
  const { turnDetection, unread } = decodeInputConfig(fields.object("realtimeInputConfig"), paths);
  extras.push(...unread);
  const heard = fields.object("inputAudioTranscription");
  if (heard !== undefined) paths.inputTranscription = "setup.inputAudioTranscription";
  const spoken = new Fields(heard);
  const languages = spoken.array("languageCodes")?.filter((one) => typeof one === "string");
  if (languages !== undefined) paths["inputTranscription.languages"] = "setup.inputAudioTranscription.languageCodes";
  rest(spoken, "inputAudioTranscription");
  const said = fields.object("outputAudioTranscription");
  if (said !== undefined) paths.outputTranscription = "setup.outputAudioTranscription";
  rest(new Fields(said), "outputAudioTranscription");
  const window = fields.object("contextWindowCompression");
  if (window !== undefined) paths.truncation = "setup.contextWindowCompression";
  const sliding = new Fields(window);
  rest(new Fields(sliding.object("slidingWindow")), "contextWindowCompression", "slidingWindow");
  rest(sliding, "contextWindowCompression");
  const resumption = new Fields(fields.object("sessionResumption"));
  if (setup["sessionResumption"] !== undefined && resumption.rest() === undefined)
    extras.push({ keys: ["setup", "sessionResumption"], value: {} });
  rest(resumption, "sessionResumption");
  rest(fields);
  return {
    ...withoutAbsent({
      ...shared.settings,
      model: model === undefined ? undefined : bareModel(model),
      turnDetection,
      inputTranscription: heard === undefined ? undefined : withoutAbsent({ languages }),
      outputTranscription: said === undefined ? undefined : true,
      truncation: window === undefined ? undefined : ("auto" as const),
    }),
    paths,
    extras,
  };
}

/** `models/x`, and the longer names of the vendor's other API, are x. */
export const bareModel = (model: string): string => model.split("models/").at(-1) ?? model;

/** New instructions and tools within a session. */
export function decodeContextUpdate(raw: JsonObject): LiveSettings {
  const { systemInstruction, tools } = camelKeys(raw);
  const listed = isObject(tools) ? (tools["tools"] ?? []) : undefined;
  const body = normaliseGenaiRequest({ contents: [], ...withoutAbsent({ systemInstruction, tools: listed }) });
  const { settings, paths, extras } = decodeShared(body as JsonObject, "contextUpdate");
  return { ...settings, paths, extras };
}

interface SharedSettings {
  settings: Partial<LiveSettings>;
  paths: Paths;
  extras: readonly Extra[];
}

/** `setup` and requests share their instructions, tools and generation settings. */
function decodeShared(setup: JsonObject, prefix = "setup"): SharedSettings {
  const body = Object.fromEntries(OF_REQUESTS.flatMap((name) => (name in setup ? [[name, setup[name]]] : [])));
  const call: CanonCall = genaiCodec.decodeRequest({ contents: [], ...body });
  const within = (path: string | undefined): string | undefined => path && `${prefix}.${path}`;
  const own = (name: string) => call.extras.find(({ keys }) => keys.length === 2 && keys[1] === name);
  const modalities = decodeModalities(objectAt(setup, "generationConfig")?.["responseModalities"]);
  const speech = new Fields(own("speechConfig")?.value);
  const voice = new Fields(speech.object("voiceConfig"));
  const named = new Fields(voice.object("prebuiltVoiceConfig"));
  const voiceName = named.string("voiceName") ?? voice.string("voice");
  const speechPath = ["generationConfig", "speechConfig"];
  const unread = [
    ...call.extras.filter(({ keys }) => !(keys.length === 2 && READ_HERE.has(keys[1] ?? ""))),
    ...leftOver(named, [...speechPath, "voiceConfig", "prebuiltVoiceConfig"]),
    ...leftOver(voice, [...speechPath, "voiceConfig"]),
    ...leftOver(speech, speechPath),
  ];
  const instructions = call.system.map(({ text }) => text).filter((text) => text !== "");
  const { temperature, maxOutputTokens, reasoning, tools } = call;
  const settings = withoutAbsent({
    modalities,
    voice: voiceName,
    instructions: "systemInstruction" in setup ? instructions.join("\n\n") : undefined,
    temperature,
    maxOutputTokens,
    reasoning: reasoning && { ...reasoning, path: `${prefix}.${reasoning.path}` },
    tools: "tools" in setup ? tools.map((tool) => ({ ...tool, path: `${prefix}.${tool.path}` })) : undefined,
  });
  const paths: Paths = withoutAbsent({
    modalities: modalities && within("generationConfig.responseModalities"),
    voice: voiceName && within("generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName"),
    instructions: within("systemInstruction"),
    temperature: within(call.paths.temperature),
    maxOutputTokens: within(call.paths.maxOutputTokens),
    tools: within("tools"),
  });
  // Settings of requests that a session does not have under a canonical name.
  const others = Object.entries(call.paths).filter(([name]) => !["temperature", "maxOutputTokens"].includes(name));
  const settled = others.map(
    ([name, path]): Extra => ({
      keys: [prefix, path ?? name],
      value: (call as unknown as Record<string, unknown>)[name],
    }),
  );
  const extras = [...unread.map(({ keys, value }) => ({ keys: [prefix, ...keys], value })), ...settled];
  return { settings, paths, extras };
}

const READ_HERE: ReadonlySet<string> = new Set(["responseModalities", "speechConfig"]);

const leftOver = (fields: Fields, keys: readonly string[]): Extra[] =>
  Object.entries(fields.rest() ?? {}).map(([key, value]) => ({ keys: [...keys, key], value }));

function decodeModalities(raw: unknown): readonly LiveModality[] | undefined {
  if (!Array.isArray(raw)) return undefined;
  const known = raw.map((one) => MODALITIES.get(one)).filter((one) => one !== undefined);
  if (known.length === 0 && raw.length > 0)
    return refuse("setup.generationConfig.responseModalities", 'must be ["AUDIO"] or ["TEXT"].');
  return known.length === 0 ? undefined : known;
}

interface InputConfig {
  turnDetection: LiveTurnDetection | null | undefined;
  unread: readonly Extra[];
}

function decodeInputConfig(raw: JsonObject | undefined, paths: Paths): InputConfig {
  if (raw === undefined) return { turnDetection: undefined, unread: [] };
  const at = "setup.realtimeInputConfig";
  const config = new Fields(raw);
  const handling = raw["activityHandling"];
  if (handling === "NO_INTERRUPTION" || handling === "START_OF_ACTIVITY_INTERRUPTS" || handling === UNSPECIFIED)
    config.skip("activityHandling");
  const automatic = config.object("automaticActivityDetection");
  const detection = new Fields(automatic);
  const disabled = detection.boolean("disabled") === true;
  const threshold = THRESHOLDS.get(detection.peek("startOfSpeechSensitivity"));
  const eagerness = EAGERNESS.get(detection.peek("endOfSpeechSensitivity"));
  if (threshold !== undefined) detection.skip("startOfSpeechSensitivity");
  if (eagerness !== undefined) detection.skip("endOfSpeechSensitivity");
  const turnDetection: LiveTurnDetection = withoutAbsent({
    type: "server" as const,
    threshold,
    prefixPaddingMs: detection.number("prefixPaddingMs"),
    silenceMs: detection.number("silenceDurationMs"),
    eagerness,
    responds: true,
    interrupts: handling !== "NO_INTERRUPTION",
  });
  const inside = `${at}.automaticActivityDetection`;
  paths.turnDetection = inside;
  paths["turnDetection.threshold"] = `${inside}.startOfSpeechSensitivity`;
  paths["turnDetection.eagerness"] = `${inside}.endOfSpeechSensitivity`;
  paths["turnDetection.prefixPaddingMs"] = `${inside}.prefixPaddingMs`;
  paths["turnDetection.silenceMs"] = `${inside}.silenceDurationMs`;
  paths["turnDetection.interrupts"] = `${at}.activityHandling`;
  const unread = [
    ...leftOver(detection, [...at.split("."), "automaticActivityDetection"]),
    ...leftOver(config, at.split(".")),
  ];
  return { turnDetection: disabled ? null : turnDetection, unread };
}

const UNSPECIFIED = "ACTIVITY_HANDLING_UNSPECIFIED";
