/** The names of betas by which a prompt may be longer than the model takes otherwise, at another price. */
export const isLongContextBeta = (beta: string): boolean => /^context-1m\b/i.test(beta);
