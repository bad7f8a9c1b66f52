/** A finished page: one HTML text that loads nothing else. */
export interface Page {
  /** The whole document, with its script and its styles. */
  readonly html: string;
  /** The `Content-Security-Policy` to send with it. It allows this script and these styles only. */
  readonly policy: string;
}
