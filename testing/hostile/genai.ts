import { wire } from "../upstream-wire.ts";
import { type Attack, around, LONG_TEXTS, list, TINY_VALUES } from "./attack.ts";

const genaiEvent = (parts: unknown[]) =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts }, index: 0 }] })}\r\n\r\n`;
const genaiEnd = wire.genaiChunk("end", "STOP");
export const GENAI_STREAMS: readonly Attack[] = [
  { name: "small parts", part: () => genaiEvent([{ text: "a" }]) },
  { name: "texts and thoughts", part: (index: number) => genaiEvent([{ text: "a", thought: index % 2 === 0 }]) },
  { name: "calls", part: () => genaiEvent([{ functionCall: { name: "f", args: {} } }]) },
  {
    name: "partial calls",
    part: (index: number) =>
      genaiEvent([
        {
          functionCall: {
            ...(index === 0 ? { name: "f" } : {}),
            partialArgs: [{ jsonPath: `$.a${index}`, stringValue: "x" }],
            willContinue: true,
          },
        },
      ]),
  },
  {
    name: "partial array",
    part: (index: number) =>
      genaiEvent([
        {
          functionCall: {
            ...(index === 0 ? { name: "f" } : {}),
            partialArgs: [{ jsonPath: `$.a[${index}]`, stringValue: "x" }],
            willContinue: true,
          },
        },
      ]),
  },
  { name: "images", part: () => genaiEvent([{ inlineData: { mimeType: "image/png", data: "AAAA" } }]) },
  { name: "newlines", part: () => "\r\n\r\n" },
  {
    name: "parts in one event",
    head: 'data: {"candidates":[{"index":0,"content":{"role":"model","parts":[',
    part: list(() => ({ text: "a" })),
    tail: `]}}]}\r\n\r\n${genaiEnd}`,
  },
  {
    name: "candidates in one event",
    head: 'data: {"candidates":[',
    part: list((index) => ({ index, content: { role: "model", parts: [{ text: "a" }] } })),
    tail: `]}\r\n\r\n${genaiEnd}`,
  },
  {
    name: "grounding",
    part: (index: number) =>
      `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: "a" }] }, index: 0, groundingMetadata: { webSearchQueries: ["q"], groundingChunks: [{ web: { uri: `https://a.test/${index}`, title: "t" } }], groundingSupports: [{ segment: { startIndex: 0, endIndex: 1, text: "a" }, groundingChunkIndices: [0] }] } }] })}\r\n\r\n`,
  },
  {
    name: "one partial text",
    part: (index: number) =>
      genaiEvent([
        {
          functionCall: {
            ...(index === 0 ? { name: "f" } : {}),
            partialArgs: [{ jsonPath: "$.a", stringValue: "x\n".repeat(200), willContinue: true }],
            willContinue: true,
          },
        },
      ]),
  },
  {
    name: "partial calls, deep",
    part: (index: number) =>
      genaiEvent([
        {
          functionCall: {
            ...(index === 0 ? { name: "f" } : {}),
            partialArgs: [{ jsonPath: `$${".a".repeat(200)}.b${index}`, numberValue: 1 }],
            willContinue: true,
          },
        },
      ]),
  },
  {
    name: "partial calls in one event",
    head: 'data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"name":"f","willContinue":true,"partialArgs":[',
    part: list((index) => ({ jsonPath: `$.a${index}`, numberValue: 1 })),
    tail: `]}}]}}]}\r\n\r\n${genaiEnd}`,
  },
  ...around(
    TINY_VALUES,
    "args in one event, ",
    'data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":[',
    `]}}}]}}]}\r\n\r\n${genaiEnd}`,
  ),
  ...around(
    LONG_TEXTS,
    "",
    'data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"',
    `"}]}}]}\r\n\r\n${genaiEnd}`,
  ),
  {
    name: "grounding of other members",
    part: (index: number) =>
      `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: "a" }] }, index: 0, groundingMetadata: { [`k${index}`]: 1 } }] })}\r\n\r\n`,
  },
  {
    name: "recitations",
    part: (index: number) =>
      `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: "a" }] }, index: 0, citationMetadata: { citations: [{ startIndex: index, endIndex: index + 1, uri: `https://a.test/${index}` }] } }] })}\r\n\r\n`,
  },
].map((answer) => ({ tail: genaiEnd, ...answer }));

const WHOLE = '{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[';

export const GENAI_ANSWERS: readonly Attack[] = [
  {
    name: "whole: parts",
    head: WHOLE,
    part: list((index) => ({ text: "a", thought: index % 2 === 0 })),
    tail: "]}}]}",
  },
  { name: "whole: calls", head: WHOLE, part: list(() => ({ functionCall: { name: "f", args: {} } })), tail: "]}}]}" },
  ...around(TINY_VALUES, "whole: args of ", `${WHOLE}{"functionCall":{"name":"f","args":{"a":[`, "]}}}]}}]}"),
  ...around(LONG_TEXTS, "whole: ", `${WHOLE}{"text":"`, '"}]}}]}'),
  {
    name: "whole: grounding",
    head: `${WHOLE}{"text":"${"a".repeat(5000)}"}]},"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.test","title":"t"}}],"groundingSupports":[`,
    part: list((index) => ({
      segment: { startIndex: index % 5000, endIndex: (index % 5000) + 1, text: "a" },
      groundingChunkIndices: [0],
    })),
    tail: "]}}]}",
  },
];
