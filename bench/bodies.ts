/** The traffic of a benchmark: requests as clients send them and responses as a host sends them, encoded once. */

const encoder = new TextEncoder();

export const MODEL = "bench/model";
export const UPSTREAM_MODEL = "bench-model";

/** The upstream looks for it in the first bytes only: parsing the body would cost it more than answering. */
export const STREAM_MARK = /"stream": ?true/;

const SENTENCES = [
  "The build failed at the second step because the lock file names a package that the registry no longer has.",
  "Read the file again before you change it; somebody else may have written to it in the meantime.",
  'The log says "connection reset by peer" eleven times, always in the first minute after a deployment.',
  "const total = rows.reduce((sum, row) => sum + row.amount, 0);\n  if (total < 0) return undefined;\n",
  "A test that passes alone and fails together with others usually shares a port, a file or a clock.",
];

const FOREIGN_SENTENCES = [
  "Der Prüfschlüssel läuft übermorgen ab; bitte früh genug für Ersatz sorgen.",
  "構成ファイルの三行目に誤りがあります。保存する前に確認してください。",
  "La requête a été refusée : le modèle demandé n’existe pas à cette adresse. 🙂",
];

/** Deterministic, so that every run and every contender sees the same bytes. */
export function prose(seed: number, characters: number, unicode = true): string {
  let text = "";
  for (let step = seed; text.length < characters; step++) {
    const source = unicode && step % 8 === 0 ? FOREIGN_SENTENCES : SENTENCES;
    text += `${source[step % source.length]} `;
  }
  return text.slice(0, characters).toWellFormed();
}

const shortQuestion = [
  { role: "system", content: prose(1, 500) },
  { role: "user", content: prose(3, 300) },
];

const smallRequest = (max_completion_tokens: number): Uint8Array =>
  encoder.encode(
    JSON.stringify({ model: MODEL, stream: false, temperature: 0.2, max_completion_tokens, messages: shortQuestion }),
  );

/** About 1 KB. */
export const SMALL_REQUEST = smallRequest(400);
/** The same, whose limit admits a long answer. */
export const LONG_ANSWER_REQUEST = smallRequest(16_000);

/** The same question, streamed, with usage at the end as most clients ask for it. */
export const STREAM_REQUEST = encoder.encode(
  JSON.stringify({ model: MODEL, stream: true, stream_options: { include_usage: true }, messages: shortQuestion }),
);

/** About 300 KB: an agent that reads and writes files, some forty turns in. */
export const LARGE_REQUEST = encoder.encode(agentRequest(300 * 1024));

function agentRequest(bytes: number): string {
  const messages: unknown[] = [{ role: "system", content: prose(5, 12_000) }];
  const tools = Array.from({ length: 24 }, (_, index) => agentTool(index));
  let size = 12_000 + JSON.stringify(tools).length;
  for (let turn = 0; size < bytes; turn++) {
    const id = `call_${String(turn).padStart(24, "0")}`;
    const toolArguments = JSON.stringify({ path: `src/part-${turn}.ts`, content: prose(turn, 900) });
    const turnMessages = [
      { role: "user", content: prose(turn + 2, 400) },
      {
        role: "assistant",
        content: prose(turn + 4, 700),
        tool_calls: [{ id, type: "function", function: { name: `tool_${turn % 24}`, arguments: toolArguments } }],
      },
      { role: "tool", tool_call_id: id, content: prose(turn + 6, 4_500) },
    ];
    messages.push(...turnMessages);
    size += encoder.encode(JSON.stringify(turnMessages)).length;
  }
  return JSON.stringify({ model: MODEL, stream: false, messages, tools, tool_choice: "auto" });
}

function agentTool(index: number): unknown {
  const text = (seed: number) => ({ type: "string", description: prose(index + seed, 120) });
  const parameters = {
    type: "object",
    properties: { path: text(1), content: text(2), limit: { type: "integer", minimum: 1, maximum: 2000 } },
    required: ["path"],
    additionalProperties: false,
  };
  return { type: "function", function: { name: `tool_${index}`, description: prose(index, 400), parameters } };
}

const ANSWER_ID = "chatcmpl-CbT9vQe3mJk2sYp0Zr7LhXw4uGd6F";
const USAGE = {
  prompt_tokens: 214,
  completion_tokens: 37,
  total_tokens: 251,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};

export const unaryAnswer = (content: string, completion_tokens: number) => ({
  id: ANSWER_ID,
  object: "chat.completion",
  created: 1_767_225_600,
  model: UPSTREAM_MODEL,
  choices: [
    {
      index: 0,
      message: { role: "assistant", content, refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: { ...USAGE, completion_tokens, total_tokens: USAGE.prompt_tokens + completion_tokens },
  service_tier: "default",
  system_fingerprint: null,
});

export const UNARY_ANSWER = encoder.encode(JSON.stringify(unaryAnswer(prose(2, 160), USAGE.completion_tokens)));

/** What a complete response contains, whichever contender passed it on. */
export const UNARY_ANSWER_MARKS = ['"finish_reason":"stop"', '"total_tokens":251'];

function chunk(delta: unknown, finish: string | null, ending: object): Uint8Array {
  const head = { id: ANSWER_ID, object: "chat.completion.chunk", created: 1_767_225_600, model: UPSTREAM_MODEL };
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const data = { ...head, service_tier: "default", system_fingerprint: null, choices, ...ending };
  return encoder.encode(`data: ${JSON.stringify(data)}\n\n`);
}

export const FIRST_CHUNK = chunk({ role: "assistant", content: "", refusal: null }, null, {
  usage: null,
  obfuscation: "q0",
});

/** Just under 300 bytes each, as a host sends them that hides the length of its tokens. */
export const CONTENT_CHUNKS = [
  "The",
  " build",
  " failed",
  " at",
  " the",
  " second",
  " step",
  ",",
  " because",
  " überall",
].map((content, index) =>
  chunk({ content }, null, { usage: null, obfuscation: "Zk3Qx9LmT2wV".slice(0, 12 - (index % 7)) }),
);

export const DONE = "data: [DONE]\n\n";

/** The finish reason, the usage and the sentinel, in one write. */
export const STREAM_ENDING = Buffer.concat([
  chunk({}, "stop", { usage: null, obfuscation: "p7R" }),
  encoder.encode(
    `data: ${JSON.stringify({
      id: ANSWER_ID,
      object: "chat.completion.chunk",
      created: 1_767_225_600,
      model: UPSTREAM_MODEL,
      choices: [],
      usage: USAGE,
    })}\n\n`,
  ),
  encoder.encode(DONE),
]);

/** Events of a stream in addition to its content: the first, the finish reason, the usage, the sentinel. */
export const EVENTS_AROUND_CONTENT = 4;
