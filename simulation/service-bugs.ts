import type { Bug } from "./bug.ts";

/** Bugs in embeddings, rankings, speech, transcripts and completions. */
export const SERVICE_BUGS: readonly Bug[] = [
  {
    name: "service: vectors are taken in the order in which they come",
    file: "src/providers/service-adapters/place-vectors.ts",
    was: 'vectors[index] = item["embedding"]',
    becomes: 'vectors[place] = item["embedding"]',
  },
  {
    name: "service: what is there already is asked for again",
    file: "src/relay/service/ask-parts.ts",
    was: "      if (replies[index] !== undefined) continue;\n",
    becomes: "",
  },
  {
    name: "service: what was answered before a failure is not billed",
    file: "src/relay/service/try-service.ts",
    was: "    if (call.attempt !== undefined) billLeg(call, call.attempt);\n",
    becomes: "",
  },
  {
    name: "service: half of a sound looks like all of it",
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
    name: "service: the row comes after the last part",
    file: "src/relay/service/stream-service.ts",
    was: '  await settleService(call, gateway, { outcome: "ok", firstContentAtMs });\n  if (last',
    becomes: '  void settleService(call, gateway, { outcome: "ok", firstContentAtMs });\n  if (last',
  },
  {
    name: "service: an answer that says nothing is billed",
    file: "src/providers/service-adapters/rerank-api.ts",
    was: '  if (results.length === 0) throw emptyAnswer("a ranking");\n',
    becomes: "",
  },
  {
    name: "service: a usage that a host tells is not believed",
    file: "src/relay/service/service-attempt.ts",
    was: "believed === undefined ? source",
    becomes: "believed !== undefined ? source",
  },
  {
    name: "an answer in the background can be read before its row is there",
    file: "src/relay/settle/settle.ts",
    was: "  if (keeping.pending || call.stream) return closed.then(() => keeping.save(attempt));\n",
    becomes: "",
  },
  {
    name: "who goes on with a Responses stream counts its events anew",
    file: "src/relay/answer/answer-so-far.ts",
    was: "        this.#encoder.follow?.(frame);\n",
    becomes: "",
  },
  {
    name: "the storage is waited for beyond the deadline of a call",
    file: "src/relay/within-deadline.ts",
    was: "if (deadlineMs === undefined) return work;",
    becomes: "if (deadlineMs === undefined || startedAtMs >= 0) return work;",
  },
];
