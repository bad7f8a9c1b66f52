/** A registry as surfaces, stores and observers see it. */

import { together } from '../core/registry/gathered-changes.ts';
import type { RegistryState } from '../core/registry/registry-state.ts';
import { openSessions, registryStateOf } from '../core/registry/state-of.ts';
import { everyRule } from '../core/rules/rule-use.ts';
import { sessionOf } from '../core/session/session.ts';
import { readSessionOptions } from '../core/session/session-options.ts';
import type { ToolEntry } from '../core/tool/tool-entry.ts';
import type {
  AnyTool,
  ApprovalRequest,
  Logger,
  Profile,
  SessionOptions,
  ToolSession,
} from '../core.ts';
import { approvalsPort } from '../parts/durable-approvals/session-port.ts';
import { originsPort } from '../parts/origins/session-port.ts';
import { loggedError } from '../values/logging.ts';
import { nameSkeleton } from '../values/text/names.ts';

/** A rule of a registry, its scopes or its profiles. */
export interface RuleView {
  readonly id: string;
  /** Where it was written: `registry`, `scope:<source>` or `profile:<id>`. */
  readonly layer: string;
  readonly effect: 'allow' | 'ask' | 'deny';
  /** Whether it is only tried. */
  readonly shadow: boolean;
  /** Whether it has matched a call or hidden a tool. */
  readonly matched: boolean;
}

/** What a registry has, and what a surface may do with it. One object for each registry. */
export interface RegistryView {
  /** Whether the registry is closed. */
  readonly closed: boolean;
  /** The host's logger. */
  readonly logger: Logger | undefined;
  /** Milliseconds that the host's code may take to decide about a call. */
  readonly policyTimeoutMs: number;
  /** Grows with every change to tools, rules or profiles that may change a verdict or a listing. */
  readonly epoch: number;
  /** All tools, in the order in which their names were added, with who brought each. */
  readonly tools: readonly { readonly definition: AnyTool; readonly source: string }[];
  /** The rules of the registry, its scopes and its profiles. */
  readonly rules: readonly RuleView[];
  /** The profiles by id, as they were defined. */
  readonly profiles: ReadonlyMap<string, Profile>;
  /**
   * The open sessions that the registry knows of: those that began while someone listened to
   * `session:start` or `session:end`, and those that hold something. It keeps none of them alive.
   */
  readonly sessions: readonly ToolSession[];
  /** Whether a rule of the registry or of its scopes tests the origins of values. */
  readonly testsOrigins: boolean;
  /** Epoch milliseconds by the registry's clock. */
  now(): number;
  /** Logs what code has thrown, with its stack, as `{ err, ...where }`. */
  report(thrown: unknown, where: object, message: string, scrub?: (text: string) => string): void;
  /** Logs a message. */
  warn(data: object, message: string, level?: 'warn' | 'error'): void;
  /** Combines several changes. Sessions and listeners learn of all of them at the end. */
  change<T>(run: () => T): T;
  /** The registered or reserved name that this name equals, or could be confused with. */
  taken(name: string): string | undefined;
  /**
   * The tool about which a person is asked. Undefined if the registry and the session of the
   * request do not have exactly this tool.
   */
  askedTool(
    request: Pick<ApprovalRequest, 'tool' | 'sessionId' | 'principal'>,
  ): AnyTool | undefined;
  /**
   * The session of a call about which a person is asked, or the newest open one with its id and
   * principal that may suspend calls. Undefined if none is open here.
   */
  askingSession(request: Pick<ApprovalRequest, 'sessionId' | 'principal'>): ToolSession | undefined;
  /**
   * Checks the options of a session that is created later.
   * @throws MisuseError for options with which `createSession` would throw.
   */
  checkSession(options: SessionOptions<never>): void;
  /**
   * Checks that the registry has the part that a surface needs.
   * @param option The option of a registry that the part reads, such as `approvals`.
   * @param where What needs the part.
   * @throws MisuseError `missing_part` if the registry does not have the part.
   */
  requirePart(option: string, where: string): void;
}

const views = new WeakMap<RegistryState, RegistryView>();

/**
 * Looks into a registry.
 * @throws MisuseError `invalid_option` for anything but a registry of this copy of the package.
 *
 * @example
 * ```ts
 * import { inspectRegistry } from 'host-tools/extend';
 *
 * for (const { id, layer, matched } of inspectRegistry(registry).rules)
 *   console.log(`${layer}: ${id} ${matched ? 'has matched' : 'has not matched yet'}`);
 * ```
 */
export function inspectRegistry(registry: unknown): RegistryView {
  return viewOfRegistry(registryStateOf(registry));
}

export function viewOfRegistry(state: RegistryState): RegistryView {
  let view = views.get(state);
  if (view === undefined) {
    view = new Inspected(state);
    views.set(state, view);
  }
  return view;
}

class Inspected implements RegistryView {
  readonly #state: RegistryState;

  constructor(state: RegistryState) {
    this.#state = state;
  }

  get closed(): boolean {
    return this.#state.closed;
  }

  get logger(): Logger | undefined {
    return this.#state.settings.logger;
  }

  get policyTimeoutMs(): number {
    return this.#state.settings.policyTimeoutMs;
  }

  get epoch(): number {
    return this.#state.epoch;
  }

  get tools(): readonly ToolEntry[] {
    return this.#state.catalogue.names.all();
  }

  get rules(): readonly RuleView[] {
    return everyRule(this.#state).map(({ id, layer, effect, shadow, use }) => ({
      id,
      layer,
      effect,
      shadow,
      matched: use.matched,
    }));
  }

  get profiles(): ReadonlyMap<string, Profile> {
    return new Map([...this.#state.profiles].map(([id, { given }]) => [id, given]));
  }

  get sessions(): readonly ToolSession[] {
    return openSessions(this.#state).map(({ session }) => session);
  }

  get testsOrigins(): boolean {
    return originsPort.of(this.#state)?.isTestedIn(this.#state) === true;
  }

  now(): number {
    return this.#state.now();
  }

  report(thrown: unknown, where: object, message: string, scrub?: (text: string) => string): void {
    this.#state.hostFault(thrown, where, message, scrub && ((error) => loggedError(error, scrub)));
  }

  warn(data: object, message: string, level?: 'warn' | 'error'): void {
    this.#state.warn(data, message, level);
  }

  change<T>(run: () => T): T {
    return together(this.#state, run);
  }

  taken(name: string): string | undefined {
    const { reserved } = this.#state.ports.tools;
    const skeleton = nameSkeleton(name);
    return (
      this.#state.catalogue.twinOf(name) ??
      [...reserved.keys()].find((one) => nameSkeleton(one) === skeleton)
    );
  }

  askedTool({
    tool,
    sessionId,
    principal,
  }: Pick<ApprovalRequest, 'tool' | 'sessionId' | 'principal'>): AnyTool | undefined {
    const state = this.#state;
    // A session may have tools of its own. Those of sessions in other processes are not known here.
    const waiting = [...state.sessions.asking].find((one) => one.sessionId === sessionId);
    const suspending =
      principal === undefined ? undefined : approvalsPort.of(state)?.session(sessionId, principal);
    const own = (waiting ?? suspending)?.binding(tool.name)?.entry;
    return [own, ...state.catalogue.names.of(tool.name)].find(
      (one) => one?.fingerprint === tool.fingerprint && one.source === tool.source,
    )?.definition;
  }

  askingSession({
    sessionId,
    principal,
  }: Pick<ApprovalRequest, 'sessionId' | 'principal'>): ToolSession | undefined {
    const state = this.#state;
    const waiting = [...state.sessions.asking].find(
      (one) => one.sessionId === sessionId && one.principal === principal,
    );
    const suspending =
      principal === undefined ? undefined : approvalsPort.of(state)?.session(sessionId, principal);
    const found = waiting ?? suspending;
    return found && sessionOf(found);
  }

  checkSession(options: SessionOptions<never>): void {
    readSessionOptions(options, this.#state);
  }

  requirePart(option: string, where: string): void {
    const { parts } = this.#state;
    if (!parts.specs.some(({ options }) => Object.hasOwn(options?.registry ?? {}, option)))
      throw parts.missing('registry', option, where);
  }
}
