/** The registry: holds definitions, rules, profiles and scopes, and creates sessions. */

import type { Emitter, ToolEvents } from '../../api/events.ts';
import type { CallMetrics } from '../../api/metrics.ts';
import type { Profile } from '../../api/profile.ts';
import type { RegistryOptions } from '../../api/registry.ts';
import type { Rule } from '../../api/rule.ts';
import type { HostTool, ToolSession } from '../../api/session.ts';
import type { SessionOptions } from '../../api/session-options.ts';
import type { AnyTool, ToolRegistration } from '../../api/tool.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import { checkOption, reading, readOptions } from '../../values/options/index.ts';
import { exemplars } from '../call/handler-context.ts';
import { interrupts } from '../call/interrupt.ts';
import { defineMethods } from '../part.ts';
import { type UnusedRule, unusedRules } from '../rules/rule-use.ts';
import { closeSession } from '../session/close.ts';
import { metricsOf } from '../session/metrics.ts';
import { sessionOf } from '../session/session.ts';
import { type SessionState, wholeSession } from '../session/session-state.ts';
import { releaseExecutor } from '../tool/executors.ts';
import type { RegistryParts } from './define-part.ts';
import { defineProfile } from './define-profile.ts';
import { openSession } from './open-session.ts';
import { RegistryState } from './registry-state.ts';
import { RegistryTools } from './registry-tools.ts';
import {
  createScope,
  host,
  type ScopeOptions,
  scopeSource,
  scopeTable,
  type ToolScope,
} from './scope.ts';

/**
 * The state behind a registry; undefined for anything else. Set by the class, the only code that
 * can read the private field.
 */
export let readState: (registry: object) => RegistryState | undefined;

/**
 * The registry without parts. It is the base of the class that hosts use, which the entries of the
 * package export.
 * @typeParam S What its tools need as `context.services`.
 */
export class Registry<S = unknown> {
  readonly #state: RegistryState;
  readonly #tools: RegistryTools;
  readonly #scopes = new Set<string>();
  #closing: Promise<void> | undefined;

  static {
    readState = (registry) => (#state in registry ? registry.#state : undefined);
  }

  /** @internal Left out of the declarations, which would have the whole inside otherwise. */
  constructor(options: RegistryOptions<S>, parts: RegistryParts) {
    const state = new RegistryState(options as RegistryOptions<never>, interrupts, parts);
    state.exemplars = exemplars();
    this.#state = state;
    this.#tools = new RegistryTools(state);
  }

  /**
   * Adds a tool, or another version of one.
   * @throws MisuseError `duplicate_name` for a name and version that are registered,
   * `name_conflict` for a name that could be confused with another, `invalid_schema`,
   * `foreign_definition`.
   *
   * @example
   * ```ts
   * const registration = registry.register(add);
   * // later: registration.unregister();
   * ```
   */
  register(definition: AnyTool<S>): ToolRegistration {
    return this.#add([definition], host)[0] as ToolRegistration;
  }

  /** Adds all of the tools or, if one is refused, none. Emits one `tools:changed`. */
  registerAll(definitions: readonly AnyTool<S>[]): readonly ToolRegistration[] {
    return this.#add(definitions, host);
  }

  /**
   * Adds a tool, or replaces the one of its name and version, or the only one of its name, in its
   * place. Calls in flight finish on the definition with which they started. True if it replaced a
   * tool.
   */
  registerOrReplace(definition: AnyTool<S>): boolean {
    this.#checkOpen('register a tool');
    return this.#tools.addOrReplace(definition as AnyTool, host);
  }

  /** Removes a tool in all versions, or one definition; calls in flight finish. False if absent. */
  unregister(tool: string | AnyTool<S>): boolean {
    return this.#tools.unregister(tool as string | AnyTool);
  }

  /** The definition of this name that sessions without a range see; undefined if there is none. */
  get(name: string): AnyTool<S> | undefined {
    return this.#state.catalogue.tools.get(name)?.definition as AnyTool<S> | undefined;
  }

  /** All definitions, in the order in which their names were added; newest version first. */
  listTools(): readonly AnyTool<S>[] {
    return this.#state.catalogue.names.all().map(({ definition }) => definition as AnyTool<S>);
  }

  /** The names of all tools, in the order of `listTools`. */
  listNames(): readonly string[] {
    return [...this.#state.catalogue.tools.keys()];
  }

  /** Removes every tool. Returns how many there were. */
  clear(): number {
    const entries = this.#state.catalogue.names.all();
    if (entries.length > 0) this.#tools.remove(entries);
    return entries.length;
  }

  /** The number of names of tools, including disabled ones. */
  get count(): number {
    return this.#state.catalogue.tools.size;
  }

  /** Grows with every change to the tools. */
  get revision(): number {
    return this.#state.catalogue.revision;
  }

  /** The registry's events, and those of every session except its `tools:changed`. */
  get events(): Emitter<ToolEvents> {
    return this.#state.hub;
  }

  /**
   * Adds rules for every session, such as those from a file or a plugin. The returned function
   * removes them. A rule that can never match the registered tools is logged.
   * @throws MisuseError `invalid_rule`, with `strictRules` also for a rule that can never match.
   */
  addRules(rules: readonly Rule[]): () => void {
    return this.#state.addRules(rules, 'registry', undefined);
  }

  /**
   * The rules of registry, scopes and profiles that have neither matched a call nor hidden a tool
   * yet. A rule that replaces one of the same layer and id counts as used if that one was.
   */
  unusedRules(): readonly UnusedRule[] {
    return unusedRules(this.#state);
  }

  /** The counts of all calls since the registry was created, including those of closed sessions. */
  metrics(): CallMetrics {
    return metricsOf(this.#state.sessions.counts);
  }

  /**
   * Defines a profile, or replaces the profile with this id. Sessions with the profile follow the
   * change.
   * @throws MisuseError that names the profile, the tool and the knob.
   *
   * @example
   * ```ts
   * registry.defineProfile({
   *   id: 'reader',
   *   tools: ['add'],
   *   rules: [{ effect: 'deny', annotations: { destructive: true }, reason: 'read_only' }],
   * });
   * const session = registry.createSession({ sessionId: 's1', profile: 'reader' });
   * ```
   */
  defineProfile(profile: Profile): void {
    this.#checkOpen('define a profile');
    defineProfile(this.#state, profile);
  }

  /** A profile as it was defined, without its parents; undefined if there is none. */
  profile(id: string): Profile | undefined {
    return this.#state.profiles.get(id)?.given;
  }

  /**
   * Creates a scope for a plugin, which can register, list, drain and dispose its own tools and
   * nothing else.
   * @throws MisuseError if another scope has this source.
   *
   * @example
   * ```ts
   * const plugin = registry.scope('plugin:math', { prefix: 'math.' });
   * plugin.register(add); // registered as `math.add`
   * // later: await plugin.dispose();
   * ```
   */
  scope(source: string, options: ScopeOptions = {}): ToolScope<S> {
    this.#checkOpen('make a scope');
    const { prefix, rules } = readOptions('scope', options, scopeTable);
    checkOption('scope', 'source', source, scopeSource);
    if (this.#scopes.has(source))
      throw new MisuseError(
        'duplicate_name',
        `The scope \`${source}\` already exists. Dispose it first, or choose another source.`,
      );
    const removeRules =
      rules === undefined
        ? undefined
        : reading('scope', 'rules', () => this.#state.addRules(rules, `scope:${source}`, source));
    this.#scopes.add(source);
    const state = this.#state;
    return createScope<S>({
      source,
      prefix,
      add: (definitions) => this.#add(definitions, source),
      entries: () => state.catalogue.names.all().filter((entry) => entry.owner === source),
      remove: (entries) => this.#tools.remove(entries),
      disposed: () => {
        removeRules?.();
        this.#scopes.delete(source);
      },
    });
  }

  /**
   * Creates a session: one agent conversation over the registry's tools.
   * @throws MisuseError that names the wrong option.
   *
   * @example
   * ```ts
   * declare const askUser: (question: string) => Promise<boolean>; // yours
   * const session = registry.createSession({
   *   sessionId: 'chat-1',
   *   principal: 'user:ann',
   *   approver: async ({ title }) => ((await askUser(title)) ? 'allow_once' : 'reject_once'),
   * });
   * ```
   */
  createSession(options: SessionOptions<S>): ToolSession<S> {
    const state = this.#state;
    this.#checkOpen('create a session');
    return sessionOf<S>(openSession(state, options as SessionOptions<never>));
  }

  /** Creates a session and returns its tools. It closes with the registry or its signal. */
  createSessionTools(
    sessionId: string,
    context: Omit<SessionOptions<S>, 'sessionId'>,
  ): readonly HostTool[] {
    return this.createSession({ ...context, sessionId } as SessionOptions<S>).tools();
  }

  /** Closes every open session and refuses new ones. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= closeRegistry(this.#state);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #add(definitions: readonly AnyTool<S>[], owner: string): readonly ToolRegistration[] {
    this.#checkOpen('register a tool');
    return this.#tools.add(definitions as readonly AnyTool[], owner);
  }

  #checkOpen(action: string): void {
    if (this.#state.closed)
      throw new MisuseError('closed', `Cannot ${action}, because the registry is closed.`);
  }
}

/** Defines methods of parts. One of an absent part throws a MisuseError `missing_part`. */
export function defineRegistryMethods(names: Iterable<string>): void {
  defineMethods(Registry.prototype, 'registry', names, (registry) => {
    const state = readState(registry) as RegistryState;
    return { state, methods: state.ports.methods, parts: state.parts };
  });
}

/** Closes the open sessions of a registry, which accepts no more, and disposes its executors. */
async function closeRegistry(registry: RegistryState): Promise<void> {
  registry.closed = true;
  const open = new Set<SessionState>();
  registry.sessions.each((session) => open.add(session));
  for (let call = registry.calls; call !== undefined; call = call.next)
    open.add(wholeSession(call.session));
  await Promise.all([...open].map(closeSession));
  await Promise.all(
    registry.catalogue.names.all().map((entry) => releaseExecutor(entry, registry)),
  );
  const {
    ports,
    settings: { policyTimeoutMs },
  } = registry;
  const saved = Promise.all(ports.closing.map((save) => save()));
  await withDeadline<unknown, void>(saved, policyTimeoutMs, () => undefined);
}
