/** Why the host does not answer; crosses into the guest as an exception with this code and sentence. */
export class HostRefusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'HostRefusal';
    this.code = code;
  }
}
