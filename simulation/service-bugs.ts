import type { Bug } from "./bug.ts";

/** Bugs in embeddings, rankings, speech, transcripts and completions. */
export const SERVICE_BUGS: readonly Bug[] = [
  {
    name: "service: vectors are used in order of arrival",
    file: "src/providers/service-adapters/place-vectors.ts",
    was: 'vectors[index] = item["embedding"]',
    becomes: 'vectors[place] = item["embedding"]',
  },
  {
    name: "service: received parts are requested again",
    file: "src/relay/service/ask-parts.ts",
    was: "      if (replies[index] !== undefined) continue;\n",
    becomes: "",
  },
  {
    name: "service: parts answered before a failure are not billed",
    file: "src/relay/service/try-service.ts",
    was: "    if (call.attempt !== undefined) billLeg(call, call.attempt);\n",
    becomes: "",
  },
  {
    name: "service: half an audio stream looks complete",
    file: "src/relay/service/stream-service.ts",
    was: 'if (whole || form === "events" || call.client.disconnected) return output.close();',
    becomes: "return output.close();",
  },
  {
    name: "service: the last part before a break is lost",
    file: "src/relay/service/stream-service.ts",
    was: "if (last !== undefined && !call.client.disconnected) await send(output, last);",
    becomes: "",
  },
  {
    name: "service: the row is stored after the last part",
    file: "src/relay/service/stream-service.ts",
    was: '  await settleService(call, gateway, { outcome: "ok", firstContentAtMs });\n  if (last',
    becomes: '  void settleService(call, gateway, { outcome: "ok", firstContentAtMs });\n  if (last',
  },
  {
    name: "service: an empty response is billed",
    file: "src/providers/service-adapters/rerank-api.ts",
    was: '  if (results.length === 0) throw emptyAnswer("a ranking");\n',
    becomes: "",
  },
  {
    name: "service: reported usage is ignored",
    file: "src/relay/service/service-attempt.ts",
    was: "believed === undefined ? source",
    becomes: "believed !== undefined ? source",
  },
  {
    name: "a background response can be read before its row is stored",
    file: "src/relay/settle/settle.ts",
    was: "  if (saver.insists || call.stream) {\n",
    becomes: "  if (false) {\n",
  },
  {
    name: "a continued Responses stream restarts its event numbers",
    file: "src/relay/answer/answer-so-far.ts",
    was: "        this.#encoder.follow?.(frame);\n",
    becomes: "",
  },
  {
    name: "a call waits for the storage beyond its deadline",
    file: "src/relay/derived/while-running.ts",
    was: "if (deadlineMs === undefined) return work;",
    becomes: "if (deadlineMs === undefined || startedAtMs >= 0) return work;",
  },
];
