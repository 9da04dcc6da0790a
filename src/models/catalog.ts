import type { AskedBy, UpstreamTarget } from './upstream.ts';

/** Who asks, and what for: a key's rule `models` holds for what it asks for itself, not for what a granted plugin asks. */
export type CatalogAsker = Pick<AskedBy, 'caller' | 'purpose'>;

/** A model as clients see it. */
export interface CatalogModel {
  /** `provider/model`, or an alias. */
  readonly name: string;
  readonly provider: string;
  /** As the provider knows it. */
  readonly model: string;
  readonly isDefault: boolean;
  /** What an alias stands for: the first is asked, the others after it failed. */
  readonly aliasOf?: readonly string[];
}

/** Which models there are, and where each is asked. Reads the config each time, so that an edit holds from the next request on. */
export interface ModelCatalog {
  /**
   * Where a model is asked: the first, and the others after it failed; never none. `model` is an alias of the config, `provider/model`,
   * the name of a provider, a bare name that one provider has, or `''` for the default. Rejects with `model-unknown` (which a model that the
   * key may not use is, too) and `model-not-configured`, which says what is missing. Asks a provider for its list at most once in a while, and
   * only for a bare name that the config does not have.
   */
  resolve(model: string, by: CatalogAsker): Promise<readonly UpstreamTarget[]>;
  /** The models that the caller may use: those of the config and, with `isFetched`, those that ready providers list. Never rejects. */
  list(
    by: CatalogAsker,
    options?: { readonly isFetched?: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly CatalogModel[]>;
}
