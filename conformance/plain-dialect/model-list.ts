import type { ModelLists } from "../../src/canon/listed-model.ts";

export const modelLists: ModelLists = {
  list: (models) => ({ names: models.map(({ id }) => id) }),
  entry: ({ id, displayName }) => ({ name: id, title: displayName }),
};
