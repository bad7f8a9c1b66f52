/** The parts of a node that its live sessions use, and the state that they share. */
import type { HostToolRegistry } from '../../../core.ts';
import type { Hub } from '../hub.ts';
import type { RelaySessionOptions } from '../options.ts';
import type { RelaySettings } from '../settings.ts';
import type { Calls } from './calls.ts';
import type { LiveEntry } from './live-session.ts';

/** The live sessions of a node. */
export interface LiveState {
  /** Sessions by code, from when they begin to open until they begin to close. */
  readonly entries: Map<string, Promise<LiveEntry>>;
  /** Sessions by code that have opened and have not begun to close. */
  readonly alive: Map<string, LiveEntry>;
  /** True while sessions that have expired or are idle are closed. */
  sweeping: boolean;
  /** True once the node opens no further sessions. */
  ended: boolean;
}

/** The parts of a node that its live sessions use. */
export interface LiveSessionParts {
  readonly options: RelaySessionOptions;
  readonly settings: RelaySettings;
  readonly hub: Hub;
  readonly calls: Calls;
  readonly registry: HostToolRegistry;
  /** The most characters of the definitions of all live sessions. */
  readonly maxChars: number;
  readonly state: LiveState;
}
