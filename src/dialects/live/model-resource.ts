/** The model as messages name it. Hosts with projects have a longer name, which is complete. */
export const modelResource = (upstreamModel: string): string =>
  upstreamModel.includes("/") ? upstreamModel : `models/${upstreamModel}`;
