const legacyNames =
  'IndexSize,,HierarchyRequest,WrongDocument,InvalidCharacter,,NoModificationAllowed,NotFound,NotSupported,InUseAttribute,InvalidState,Syntax,InvalidModification,Namespace,InvalidAccess,,TypeMismatch,Security,Network,Abort,URLMismatch,QuotaExceeded,Timeout,InvalidNodeType,DataClone'.split(
    ',',
  );

/** The web's error class: a message, a name such as AbortError and the legacy code of that name. */
export class DOMException extends Error {
  static readonly ABORT_ERR = 20;
  readonly #name: string;

  constructor(message = '', options: string | { name?: string; cause?: unknown } = 'Error') {
    const { name = 'Error', ...rest } = typeof options === 'string' ? { name: options } : options;
    super(message, rest);
    this.#name = String(name);
  }

  override get name(): string {
    return this.#name;
  }

  get code(): number {
    return /.Error$/.test(this.#name) ? legacyNames.indexOf(this.#name.slice(0, -5)) + 1 : 0;
  }
}
