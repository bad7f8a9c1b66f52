/** What an application needs to take its place in a session of a relay. */
export interface RelaySeat {
  readonly url: string;
  readonly code: string;
  readonly token: string;
}
