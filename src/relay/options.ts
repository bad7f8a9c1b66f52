/** What a relay is made with. */
import type {
  AnyTool,
  Approver,
  Hook,
  HostToolRegistry,
  JsonObject,
  Limits,
  MaybePromise,
  Policy,
  Profile,
  RegistryOptions,
  Rule,
} from '../index.ts';
import type { RelayBus } from './ports/bus.ts';
import type { RelayStore } from './ports/store.ts';
import type { RelayLimits, RelayLogger } from './settings.ts';

/**
 * The host's part of every relay session: its own tools, and the gates that calls of any tool pass.
 * A relay session's principal is `relay:` and its code. The values are checked as those of
 * `HostToolRegistry` and `createSession` are.
 */
export interface RelaySessionOptions<S = unknown> {
  /**
   * The host's tools, in every session beside those of its application, whose names never take
   * theirs. Not with `registry`. @default none
   */
  readonly tools?: readonly AnyTool<S>[] | undefined;
  /**
   * A registry of the host's instead of `tools`, `rules`, `profiles` and `approvals`; it stays the
   * host's to change and to close. @default one is made
   */
  readonly registry?: HostToolRegistry<S> | undefined;
  /** Rules for every session. Not with `registry`. @default none */
  readonly rules?: readonly Rule[] | undefined;
  /** Profiles that `profile` may name. Not with `registry`. @default none */
  readonly profiles?: readonly Profile[] | undefined;
  /**
   * What suspended approvals are signed and kept with. The first secret signs, all verify; `ttlMs`
   * is how long a person has, 3 600 000 unless given. Needed for `approvalMode: "suspend"`. Not
   * with `registry`.
   */
  readonly approvals?: RegistryOptions<S>['approvals'];
  /** The profile of every session, by its id. @default none: all tools are effective */
  readonly profile?: string | undefined;
  /** Asked for every call, after the registry's. @default none */
  readonly policies?: readonly Policy<S>[] | undefined;
  /** Run around every call, in this order. @default none */
  readonly hooks?: readonly Hook[] | undefined;
  /** What the host's handlers and policies are given as `services`. @default undefined */
  readonly services?: S | undefined;
  /** Flat facts with dotted keys, for `requires`. @default {} */
  readonly facts?: JsonObject | undefined;
  /** Limits of one session on one node, beside the relay's own. @default those of `Limits` */
  readonly limits?: Limits | undefined;
  /**
   * `masked` hides what the host's handlers throw; an application's own messages are never hidden.
   * @default "masked"
   */
  readonly exposeErrors?: 'message' | 'masked' | undefined;
  /** Asks a person, while the call waits. @default none: what needs approval is rejected */
  readonly approver?: Approver | undefined;
  /**
   * `suspend`: what needs approval waits in the store, agents hear `approval-required`, and the
   * host answers by `POST /:code/approvals/:approvalId`. @default "ask"
   */
  readonly approvalMode?: 'ask' | 'suspend' | undefined;
  /** Milliseconds that `approver` has. Starts when it is asked. @default 300_000 */
  readonly approvalTimeoutMs?: number | undefined;
}

/**
 * Settings of `createRelay`. Unknown ones, and values out of range, throw a MisuseError
 * `invalid_option` that names the field.
 */
export interface RelayOptions<S = unknown> {
  /**
   * Where everything is kept that must outlive a node. A host's own is never closed by the relay.
   * @default `memoryStore()`: one process, gone with it
   */
  readonly store?: RelayStore | undefined;
  /**
   * How the nodes that share a store wake each other. A host's own is never closed by the relay.
   * @default `memoryBus()`: one process
   */
  readonly bus?: RelayBus | undefined;
  /**
   * Seconds that a session lives, from its creation on; nothing lengthens it. 1 to 2 000 000.
   * @default 3_600
   */
  readonly ttlSeconds?: number | undefined;
  /**
   * Milliseconds until a call that the application has not answered ends as `timeout`. Starts when
   * the call is handed on. 1 to 2^31-1. @default 30_000
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Milliseconds between heartbeats on a stream, and the longest wait of a poll. 1 to 2^31-1.
   * @default 30_000
   */
  readonly heartbeatMs?: number | undefined;
  /**
   * Milliseconds without a connected application after which a call ends as `executor_lost`, and
   * after which another node takes over what a dead one ran. 1 to 2^31-1. @default 10_000
   */
  readonly leaseMs?: number | undefined;
  /**
   * Counts of a session or an address, over all nodes. Each from 1. @default those of
   * {@link RelayLimits}
   */
  readonly limits?: Partial<RelayLimits> | undefined;
  /**
   * The host's own Bearer token: then only who has it creates sessions, and it answers approvals.
   * 16 to 200 visible ASCII characters without spaces; take 32 at least, such as those of
   * `openssl rand -hex 32`. @default anybody creates sessions; the route of approvals is not there
   */
  readonly hostKey?: string | undefined;
  /**
   * Origins of browser pages that may speak to the relay, such as `https://app.example.com`; `"*"`
   * allows all. Requests without an Origin are no page's and pass. @default none but pages of the
   * relay's own origin, where that is loopback or in `allowedHosts`
   */
  readonly allowedOrigins?: '*' | readonly string[] | undefined;
  /**
   * Values of `Host` that are answered: names for any port, or `name:port`. `/healthz` and
   * `/readyz` answer to any. @default any; `serveRelay` on loopback: the loopback names
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Whose request this is, for the limits an address; undefined for nobody knows. @default the
   * address that the server tells, see `trustProxy`
   */
  readonly clientAddress?: ((request: Request) => MaybePromise<string | undefined>) | undefined;
  /**
   * Read the address from `X-Forwarded-For`: the entry that the outermost of so many proxies has
   * written. `true` is 1. Up to 16. @default false
   */
  readonly trustProxy?: boolean | number | undefined;
  /** The host's part of every session. @default no tools of the host's, no rules */
  readonly session?: RelaySessionOptions<S> | undefined;
  /**
   * Lets a code be traded for a token by `POST /:code/pair`, once a side. Whoever reads the code
   * first has that side. @default false
   */
  readonly pairing?: boolean | undefined;
  /**
   * Refuses a definition that differs from the first one of its name in the session. @default false
   */
  readonly pinDefinitions?: boolean | undefined;
  /**
   * Epoch milliseconds, for timestamps and expiry; deadlines run on a monotonic clock of their own.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
  /**
   * Gets one line a request, and what failed: never tokens, arguments or results. One that throws
   * is ignored. @default nobody is told
   */
  readonly logger?: RelayLogger | undefined;
}
