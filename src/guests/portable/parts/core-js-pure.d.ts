declare module 'core-js-pure/actual/url/index.js' {
  /** The web's URL. */
  export default class URLParser {
    constructor(input: string, base?: string);
    readonly href: string;
    readonly origin: string;
    readonly protocol: string;
    readonly username: string;
    readonly password: string;
    readonly host: string;
    readonly hostname: string;
    readonly port: string;
    readonly pathname: string;
    readonly search: string;
    readonly hash: string;
  }
}

declare module 'core-js-pure/actual/url-search-params/index.js' {
  /** The web's URLSearchParams. */
  export default class Query {
    constructor(init: string | [string, string][]);
    [Symbol.iterator](): Iterator<[string, string]>;
    toString(): string;
  }
}
