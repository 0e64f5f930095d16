import type { Catalogue } from "./catalogue.ts";
import { type Model, nameOf, type Offer } from "./model.ts";

/** Another model than the one that was asked for, as an answer names it. */
export interface OtherModel {
  /** The host's name of it. */
  name: string;
  /** Its id; undefined if the catalogue does not know the name. */
  id: string | undefined;
  /**
   * Whose price holds: its own at the same provider or, elsewhere than at its vendor, that of the offer that was asked for, since who
   * configures a router prices what it answers. Undefined if the price is unknown.
   */
  offer: Offer | undefined;
}

/** What was asked for, and where. */
interface Asked {
  model: Model;
  offer: Offer;
  /** The host is the model's own vendor, whose every name means something. */
  atHome: boolean;
}

/**
 * The model that an answer names, if it is another one (H62). Elsewhere than at its vendor, names vary, so that only a name of another
 * known model counts.
 */
export function otherModel(
  { model, offer, atHome }: Asked,
  name: string,
  catalogue: Catalogue,
): OtherModel | undefined {
  if (name === offer.upstreamModel) return undefined;
  const own = [nameOf(model.id), ...model.offers.map(({ upstreamModel }) => upstreamModel)].map(baseOf);
  const ids = catalogue.named(name);
  if (ids.includes(model.id)) return undefined;
  const [id] = ids;
  if (own.includes(baseOf(name)) && (id === undefined || isDated(name))) return undefined;
  if (id === undefined) return atHome ? { name, id, offer: undefined } : undefined;
  const its = catalogue.get(id)?.offers.find(({ provider }) => provider === offer.provider);
  return { name, id, offer: its ?? (atHome ? undefined : offer) };
}

/** The folders in front of a name: `models/`, a publisher. */
const FOLDERS = /^.*\//;
/** A date, a number of at most three digits, or `latest`: the same model, as its vendor numbers it. */
const DATE = /[-@](20\d\d-?\d\d-?\d\d|\d{6}|\d{4}|\d\d-20\d\d)$/;
const REVISION = /[-@](\d{1,3}|latest)$/;

const plain = (name: string): string => name.toLowerCase().replace(FOLDERS, "");
const isDated = (name: string): boolean => DATE.test(plain(name));
const baseOf = (name: string): string => plain(name).replace(DATE, "").replace(REVISION, "");
