/** Results of tools that the client runs, and items that only a client sends. */
const CLIENT_KINDS = /(_output|_response|^compaction_trigger|^additional_tools|^configuration_update)$/;

/** The provider runs its own programs, so their output is part of its response. */
const OF_ANSWERS: ReadonlySet<string> = new Set(["program_output"]);

/** Whether an item that exists only in this protocol comes from the client. Otherwise it is part of a response. */
export const isClientItem = (type: string): boolean => CLIENT_KINDS.test(type) && !OF_ANSWERS.has(type);
