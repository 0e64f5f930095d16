import { describe } from "bun:test";
import { type RefusalCase, testRefusals } from "../../reading/refusal-table.ts";
import { checkGenerateContentRequest } from "./check-request.ts";

const part = (fields: object) => ({ contents: [{ role: "user", parts: [fields] }] });
const at = (rest: string) => `contents[0].parts[0]${rest}`;
const inline = (mimeType: unknown) => part({ inlineData: { mimeType, data: "AA==" } });
const video = { fileData: { mimeType: "video/mp4", fileUri: "gs://a/b.mp4" } };

const rows: RefusalCase[] = [
  { rule: "text is a string", good: part({ text: "" }), bad: part({ text: 1 }), path: at(".text"), says: "a string" },
  {
    rule: "one data field per part: not two",
    good: part({ text: "a", thought: true, thoughtSignature: "AA==" }),
    bad: part({ text: "a", inlineData: { mimeType: "image/png", data: "AA==" } }),
    path: at(""),
    says: "must have exactly one data field; it has text and inlineData",
  },
  {
    rule: "one data field per part: of a listed kind",
    good: part({ text: "a" }),
    bad: part({ hologram: { depth: 3 } }),
    path: at(""),
    says: "it has hologram",
  },
  {
    rule: "inlineData.data is base64",
    good: part({ inlineData: { mimeType: "image/png", data: "AAA" } }),
    bad: part({ inlineData: { mimeType: "image/png", data: "***" } }),
    path: at(".inlineData.data"),
    says: 'must be base64; it has "*" at character 1',
  },
  {
    rule: "inlineData.data has a valid length",
    good: part({ inlineData: { mimeType: "image/png", data: "" } }),
    bad: part({ inlineData: { mimeType: "image/png", data: "AAAAA" } }),
    path: at(".inlineData.data"),
    says: "5 characters is not a valid length",
  },
  {
    rule: "one data field per part: not none",
    good: part({ text: "a" }),
    bad: part({ thought: true }),
    path: at(""),
    says: "must have exactly one of text, inlineData",
  },
  {
    rule: "a signature may be all that a part has",
    good: part({ thoughtSignature: "AA==" }),
    bad: part({ thoughtSignature: "AA==", hologram: {} }),
    path: at(""),
    says: "it has hologram",
  },
  {
    rule: "accepted media types: the contract's list and its kin",
    good: inline("video/x-ms-wmv"),
    bad: inline("application/zip"),
    path: at(".inlineData.mimeType"),
    says: '"application/pdf", "audio/mpeg"',
  },
  {
    rule: "accepted media types: newer images",
    good: inline("image/heic"),
    bad: inline("image/"),
    path: at(".inlineData.mimeType"),
    says: "or another image, audio, video or text type",
  },
  {
    rule: "accepted media types: parameters are allowed",
    good: inline("audio/pcm;rate=16000"),
    bad: inline("font/woff"),
    path: at(".inlineData.mimeType"),
    says: "must be one of",
  },
  {
    rule: "inlineData needs data",
    good: inline("image/png"),
    bad: part({ inlineData: { mimeType: "image/png" } }),
    path: at(".inlineData.data"),
    says: "it is missing",
  },
  {
    rule: "fileData needs a URI; its media type may be left to the provider",
    good: part({ fileData: { fileUri: "https://a/watch" } }),
    bad: part({ fileData: { mimeType: "video/mp4" } }),
    path: at(".fileData.fileUri"),
    says: "it is missing",
  },
  {
    rule: "fileData has the same media types",
    good: part(video),
    bad: part({ fileData: { mimeType: "model/obj", fileUri: "gs://a" } }),
    path: at(".fileData.mimeType"),
    says: '"video/mp4"',
  },
  {
    rule: "functionCall: args is an object",
    good: part({ functionCall: { id: "1", name: "f", args: {} } }),
    bad: part({ functionCall: { name: "f", args: "{}" } }),
    path: at(".functionCall.args"),
    says: "an object",
  },
  {
    rule: "functionCall: a name, except in the later pieces of a streamed call",
    good: part({ functionCall: { partialArgs: [{ jsonPath: "$.a", stringValue: "b" }], willContinue: true } }),
    bad: part({ functionCall: { args: {} } }),
    path: at(".functionCall.name"),
    says: "a string; it is missing",
  },
  {
    rule: "functionResponse: a name",
    good: part({ functionResponse: { name: "f", response: { output: 1 } } }),
    bad: part({ functionResponse: { response: {} } }),
    path: at(".functionResponse.name"),
    says: "it is missing",
  },
  {
    rule: "functionResponse: response is an object",
    good: part({ functionResponse: { name: "f", response: {} } }),
    bad: part({ functionResponse: { name: "f", response: "12 C" } }),
    path: at(".functionResponse.response"),
    says: 'an object; it is "12 C"',
  },
  {
    rule: "functionResponse: its parts have the same media types",
    good: part({ functionResponse: { name: "f", parts: [{ inlineData: { mimeType: "image/png", data: "AA==" } }] } }),
    bad: part({ functionResponse: { name: "f", parts: [{ inlineData: { mimeType: "a/b", data: "AA==" } }] } }),
    path: at(".functionResponse.parts[0].inlineData.mimeType"),
    says: '"image/png"',
  },
  {
    rule: "videoMetadata: offsets are durations",
    good: part({ ...video, videoMetadata: { startOffset: "1.5s", endOffset: "20s", fps: 1 } }),
    bad: part({ ...video, videoMetadata: { startOffset: 1.5 } }),
    path: at(".videoMetadata.startOffset"),
    says: 'a duration in seconds such as "1.5s"',
  },
  {
    rule: "videoMetadata: fps is a number",
    good: part({ ...video, videoMetadata: { fps: 0.5 } }),
    bad: part({ ...video, videoMetadata: { fps: "1" } }),
    path: at(".videoMetadata.fps"),
    says: "a number",
  },
  {
    rule: "mediaResolution: a string",
    good: part({ ...video, mediaResolution: "LOW" }),
    bad: part({ ...video, mediaResolution: "TINY" }),
    path: at(".mediaResolution"),
    says: '"LOW", "MEDIUM", "HIGH"',
  },
  {
    rule: "mediaResolution: or an object",
    good: part({ ...video, mediaResolution: { level: "MEDIA_RESOLUTION_HIGH" } }),
    bad: part({ ...video, mediaResolution: { level: 3 } }),
    path: at(".mediaResolution.level"),
    says: '"MEDIA_RESOLUTION_HIGH"',
  },
];

describe("contract 2.6: parts", () => testRefusals(checkGenerateContentRequest, {}, rows));
