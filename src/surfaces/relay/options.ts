/** The options of a relay. */
import type {
  AnyTool,
  Approver,
  CodeOptions,
  DiscoveryOptions,
  Hook,
  HostToolRegistry,
  JsonObject,
  Limits,
  MaybePromise,
  Policy,
  Profile,
  Quota,
  RegistryOptions,
  Rule,
} from '../../core.ts';
import type { Store } from '../../extend.ts';
import type { McpAuthorization } from '../mcp/index.ts';
import type { RelayLimits, RelayLogger } from './settings.ts';

/**
 * The host's part of every relay session: its own tools, and the checks that every call passes. The
 * principal of a relay session is `relay:` and its code. The values are checked like the options of
 * `HostToolRegistry` and `createSession`.
 */
export interface RelaySessionOptions<S = unknown> {
  /**
   * The host's tools. Every session has them in addition to its application's tools, which cannot
   * take their names. Not with `registry`. @default none
   */
  readonly tools?: readonly AnyTool<S>[] | undefined;
  /**
   * The host's own registry, instead of `tools`, `rules`, `quotas`, `quotaStore`, `profiles` and
   * `approvals`. The host may change it at any time, and must close it.
   * @default one is made from those options
   */
  readonly registry?: HostToolRegistry<S> | undefined;
  /** Rules for every session. Not with `registry`. @default none */
  readonly rules?: readonly Rule[] | undefined;
  /**
   * Quotas for every session. Nodes that share a `store` count together. Not with `registry`.
   * @default none
   */
  readonly quotas?: readonly Quota[] | undefined;
  /**
   * Keeps what the quotas have counted. Not with `registry`. @default the relay's `store` if there
   * is one, otherwise `memoryStore()`
   */
  readonly quotaStore?: Store | undefined;
  /** Profiles that `profile` may name. Not with `registry`. @default none */
  readonly profiles?: readonly Profile[] | undefined;
  /**
   * How suspended approvals are signed and stored. Without a store of their own, they are in the
   * relay's `store` if there is one. The first secret signs, and all of them verify.
   * An approval can be answered for `ttlMs` milliseconds, by default 3 600 000. Required for
   * `approvalMode: "suspend"`. Not with `registry`. @default none
   */
  readonly approvals?: RegistryOptions<S>['approvals'];
  /** The id of the profile of every session. @default none: all tools are effective */
  readonly profile?: string | undefined;
  /** Policies for every call, after those of the registry. @default none */
  readonly policies?: readonly Policy<S>[] | undefined;
  /** Hooks around every call, in this order. @default none */
  readonly hooks?: readonly Hook[] | undefined;
  /** The `services` of the host's handlers and policies. @default undefined */
  readonly services?: S | undefined;
  /**
   * Lists only a few tools to an agent. The agent finds the others with `find_tools`, including
   * those of the application. A tool that it has found is listed only by the node that found it,
   * but can be called on every node.
   * @default all tools are listed
   */
  readonly discovery?: DiscoveryOptions | undefined;
  /**
   * Shows an agent one tool that runs programs, in which each call passes the gates of its session.
   * Programs may call the tools of the application, too. Needs the package `run`. `true` is all
   * defaults; `false` is no programs, also if a file has `code`.
   * @default what a file that the registry has loaded says, otherwise no programs
   */
  readonly code?: CodeOptions | boolean | undefined;
  /** Facts for `requires`, flat and with dotted keys. @default {} */
  readonly facts?: JsonObject | undefined;
  /**
   * Limits of one session on one node, in addition to those of the relay. @default those of
   * `Limits`
   */
  readonly limits?: Limits | undefined;
  /**
   * `masked` hides the messages of errors that the host's handlers throw. Messages of an
   * application are never hidden. @default "masked"
   */
  readonly exposeErrors?: 'message' | 'masked' | undefined;
  /**
   * Asks a person for approval while the call waits. @default none: calls that need approval are
   * rejected
   */
  readonly approver?: Approver | undefined;
  /**
   * `suspend`: a call that needs approval waits in the store, agents get `approval-required`, and
   * the host answers with `POST /:code/approvals/:approvalId`. @default "ask"
   */
  readonly approvalMode?: 'ask' | 'suspend' | undefined;
  /** Milliseconds that `approver` has to answer, from when it is asked. @default 300_000 */
  readonly approvalTimeoutMs?: number | undefined;
}

/** Whose token it is that asks for a session. */
export interface RelayCaller {
  /** The session. */
  readonly code: string;
  /** Whom the token was issued for. */
  readonly principal: string;
  /** The scopes that it grants. */
  readonly scopes: readonly string[];
  /** The client that it was issued to. @default unknown */
  readonly clientId?: string | undefined;
  /** The agents through which the principal acts, the first one first. @default none */
  readonly actors?: readonly string[] | undefined;
  /** Everything that it says. @default none */
  readonly claims?: JsonObject | undefined;
}

/** Who may be the agent of a session over MCP with an access token of OAuth. */
export interface RelayAuthorization extends McpAuthorization {
  /**
   * The address by which clients know the relay, such as `https://relay.example.com`. Tokens are for
   * it, and so for all sessions.
   */
  readonly resource: string | URL;
  /**
   * Whether the bearer of a valid token may be the agent of a session. Asked for each request.
   * Anything but true is refused as if there were no such session, and so is an error, or no answer
   * within 30 seconds.
   */
  readonly admit: (caller: RelayCaller) => MaybePromise<boolean>;
}

/**
 * Options of `createRelay`. An unknown option or a value out of range throws a MisuseError
 * `invalid_option` that names the field.
 */
export interface RelayOptions<S = unknown> {
  /**
   * Keeps everything that must outlive a node, and carries wake-ups between the nodes that share
   * it. The relay neither migrates nor closes a store that the host passes.
   * @default `memoryStore()`, which is for one process and is lost when the process ends
   */
  readonly store?: Store | undefined;
  /**
   * Seconds that a session lives from its creation, unless the host extends it with
   * `POST /:code/extend`. 1 to 2 000 000. @default 3_600
   */
  readonly ttlSeconds?: number | undefined;
  /**
   * Seconds from its creation after which a session ends, however often the host extends it. From
   * `ttlSeconds` to 2 000 000. @default 86_400, or `ttlSeconds` if that is more
   */
  readonly maxTtlSeconds?: number | undefined;
  /**
   * Milliseconds that the application has to answer a call, from when the call is passed on. After
   * that the call ends as `timeout`. 1 to 2^31-1. @default 30_000
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Milliseconds between heartbeats on a stream, and the longest wait of a poll. 1 to 2^31-1.
   * @default 30_000
   */
  readonly heartbeatMs?: number | undefined;
  /**
   * Milliseconds without a connected application after which a call ends as `executor_lost`. A node
   * counts as dead after the same time, but after at most three seconds. 1 to 2^31-1.
   * @default 10_000
   */
  readonly leaseMs?: number | undefined;
  /**
   * Limits per session or address, shared by all nodes. Each from 1. @default those of
   * {@link RelayLimits}
   */
  readonly limits?: Partial<RelayLimits> | undefined;
  /**
   * The host's own Bearer token. With it set, only requests with this token can create sessions or
   * answer approvals. 16 to 200 visible ASCII characters without spaces; use at least 32, for
   * example from `openssl rand -hex 32`. @default none: anyone can create sessions, and the route
   * for approvals does not exist
   */
  readonly hostKey?: string | undefined;
  /**
   * Lets agents call tools over MCP with access tokens of OAuth, too. Only tools whose `scopes` a
   * token grants can be called with it. @default the tokens of the relay only
   */
  readonly authorization?: RelayAuthorization | undefined;
  /**
   * Offers the counts of the node's calls at `/metrics`, for Prometheus, to requests with the host
   * key. Needs `hostKey`. @default false: the route does not exist
   */
  readonly metrics?: boolean | undefined;
  /**
   * Origins of web pages that may call the relay, such as `https://app.example.com`. `"*"` allows
   * all. Requests without an Origin pass, because they do not come from a page of another site.
   * @default only pages of the relay's own origin, if its host is a loopback name or in
   * `allowedHosts`
   */
  readonly allowedOrigins?: '*' | readonly string[] | undefined;
  /**
   * Values of the `Host` header that the relay accepts: names for any port, or `name:port`.
   * `/healthz` and `/readyz` accept any value. @default any; for `serveRelay` on a loopback
   * address, the loopback names
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Identifies the client for per-address limits; undefined if it is unknown. Called only for
   * requests that have such a limit. @default the address that the server reports, see `trustProxy`
   */
  readonly clientAddress?: ((request: Request) => MaybePromise<string | undefined>) | undefined;
  /**
   * How many proxies in front of the relay write to `X-Forwarded-For`. The client's address is the
   * entry of the outermost of them. `true` means 1. Up to 16. @default false
   */
  readonly trustProxy?: boolean | number | undefined;
  /** The host's part of every session. @default no host tools and no rules */
  readonly session?: RelaySessionOptions<S> | undefined;
  /**
   * Lets a client exchange a session code for a token with `POST /:code/pair`, once per side. The
   * first client that knows the code gets that side. @default false
   */
  readonly pairing?: boolean | undefined;
  /**
   * Refuses a definition that differs from the first one that the session had under its name.
   * @default false
   */
  readonly pinDefinitions?: boolean | undefined;
  /**
   * The time in epoch milliseconds, for timestamps and expiry. Deadlines use a monotonic clock.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
  /**
   * Gets one line for each request, and lines about failures. It never gets tokens, arguments or
   * results. Errors that it throws are ignored. @default none
   */
  readonly logger?: RelayLogger | undefined;
}
