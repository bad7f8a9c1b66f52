/** Why a module could not be loaded. */

/** Thrown if a module cannot be loaded. The message is for the report. */
export class ModuleFault {
  readonly message: string;
  /** What the module itself threw; undefined if none of its code ran. */
  readonly thrown: { readonly value: unknown } | undefined;
  constructor(message: string, thrown?: { readonly value: unknown }) {
    this.message = message;
    this.thrown = thrown;
  }
}
