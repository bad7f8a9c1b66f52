/** What a session knows of its registry. The registry knows more. */

import type { Limits } from '../../api/profile.ts';
import type { VersionRange } from '../../values/text/versions.ts';
import type { ToolStatus } from '../call/binding.ts';
import type { CallPorts } from '../call/call-ports.ts';
import { Counters } from '../call/counters.ts';
import type { CallRegistry } from '../call/session-port.ts';
import type { PartSet } from '../part.ts';
import type { KnownProfile } from '../rules/lineage.ts';
import type { ResolvedProfile } from '../rules/profile.ts';
import type { CompiledRule } from '../rules/rule.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { Review, SessionPorts, ToolPorts } from './session-ports.ts';
import type { SessionState } from './session-state.ts';
import type { View } from './view.ts';

export interface SessionRegistry extends CallRegistry {
  readonly parts: PartSet;
  readonly ports: {
    readonly calls: CallPorts;
    readonly sessions: SessionPorts;
    readonly tools: ToolPorts;
    readonly review: Review | undefined;
  };
  /** Grows with every change to tools, rules or profiles that may change a verdict or a listing. */
  readonly epoch: number;
  readonly catalogue: CallRegistry['catalogue'] & {
    /** Grows with every change to the tools. Public. */
    readonly revision: number;
    /** For each name, the tool that is shown. */
    readonly tools: ReadonlyMap<string, ToolEntry>;
    /** All tools. */
    readonly names: { pick(name: string, range: VersionRange | undefined): ToolEntry | undefined };
    readonly skeletons: ReadonlyMap<string, string>;
    /** Removed tools with the epoch of their removal. */
    readonly removed: ReadonlyMap<string, number>;
    /** The registered name that could be confused with this name. */
    twinOf(name: string): string | undefined;
  };
  readonly profiles: ReadonlyMap<string, KnownProfile>;
  /** A session's limits combined with its profile's: the tightest of each. */
  limitsOf(own: Limits, profile: ResolvedProfile | undefined): Limits;
  readonly rules: { readonly denies: boolean; readonly testsPrincipal: boolean };
  /** The rules that apply to tools of this source. */
  rulesFor(source: string): readonly CompiledRule[];
  /** What a session shows. Cached until something that it depends on changes. */
  viewOf(session: SessionState): View;
  /** The status of a tool in a session. Cached like {@link viewOf}. */
  toolStatusOf(session: SessionState, entry: ToolEntry): ToolStatus;
  readonly sessions: KnownSessions;
  /** It only tries definitions and runs no calls. */
  readonly isTrial: boolean;
  listenerFailed(error: unknown, type: string): void;
}

/** The sessions of a registry. No others need anything of it when something changes. */
export class KnownSessions {
  /** Those that must learn of changes and of closing. They are not kept alive. */
  readonly watchers = new Set<WeakRef<SessionState>>();
  /** Those that hold something that closing must dispose, so they must not be garbage-collected. */
  readonly held = new Set<SessionState>();
  /** Those with calls that wait on an approver in this process. */
  readonly asking = new Set<SessionState>();
  /** The counts of all, closed ones too. */
  readonly counts = new Counters(undefined);
  /** A session was opened. Sessions and calls rely on the parts that were there before them. */
  hasOpened = false;
  /** Some profile limits the calls per minute. All count theirs, because they may switch to it. */
  limitsRate = false;

  each(run: (session: SessionState) => void): void {
    for (const session of this.held) run(session);
    for (const ref of this.watchers) {
      const session = ref.deref();
      if (session === undefined) this.watchers.delete(ref);
      else if (!this.held.has(session)) run(session);
    }
  }
}
