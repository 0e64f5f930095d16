/** Results of tools that the client runs, and what only a client says. */
const CLIENT_KINDS = /(_output|_response|^compaction_trigger|^additional_tools)$/;

/** The provider runs its programs itself: what they put out is part of its answer. */
const OF_ANSWERS: ReadonlySet<string> = new Set(["program_output"]);

/** Whether an item of a kind that only this protocol knows comes from the client; else it is part of an answer. */
export const isClientItem = (type: string): boolean => CLIENT_KINDS.test(type) && !OF_ANSWERS.has(type);
