/** A session for tests, with a registry of its own and predictable ids. */
import type { AnyTool, Profile, RegistryOptions, SessionOptions, ToolSession } from '../../core.ts';
import { optionNames } from '../../extend.ts';
import { HostToolRegistry } from '../../index.ts';
import { array, checkOption, readMembers } from '../../values/options/index.ts';
import { sequentialIds } from './fixed-clock.ts';

/**
 * The options of a session and of a registry in one. `rules`, `policies` and `quotas` are the
 * session's. The default `newId` counts `call-1`, `call-2`.
 */
export type TestSessionOptions<S = unknown> = Omit<SessionOptions<S>, 'sessionId' | 'profile'> &
  Omit<RegistryOptions<S>, 'rules' | 'policies' | 'quotas'> & {
    /** The tools to register. @default none */
    readonly tools?: readonly AnyTool<S>[] | undefined;
    /** The profiles to define, in this order. @default none */
    readonly profiles?: readonly Profile[] | undefined;
    /**
     * The session's profile: the id of one of `profiles`, or a profile, which is then defined too.
     * @default none: every tool is effective
     */
    readonly profile?: string | Profile | undefined;
    /** The session's id. @default "test-session" */
    readonly sessionId?: string | undefined;
  };

/** A session and the registry that was made for it. */
export interface TestSession<S = unknown> extends ToolSession<S> {
  /** The registry of this session only. Closing it closes the session. */
  readonly registry: HostToolRegistry<S>;
}

/** `rules`, `policies` and `quotas` are in both lists; here they are the session's. */
const ofRegistry = optionNames.registry.filter((name) => !optionNames.session.includes(name));
const ownNames = ['tools', 'profiles', ...ofRegistry, ...optionNames.session];

/**
 * Makes a registry with `tools` and `profiles`, and a session over it.
 * @throws MisuseError in the cases in which `HostToolRegistry` and `createSession` throw.
 *
 * @example
 * ```ts
 * import { createTestSession, mockTool } from 'host-tools/testing';
 *
 * const session = createTestSession({
 *   tools: [mockTool({ name: 'weather', output: 'Sun' })],
 *   profiles: [{ id: 'reader', tools: ['weather'] }],
 *   profile: 'reader',
 * });
 * const result = await session.call('weather', {});
 * ```
 */
export function createTestSession<S = unknown>(
  options: TestSessionOptions<S> = {} as TestSessionOptions<S>,
): TestSession<S> {
  const {
    tools = [],
    profiles = [],
    profile,
    sessionId = 'test-session',
    ...rest
  } = readMembers(
    'createTestSession',
    options as TestSessionOptions & Record<string, unknown>,
    ownNames,
  );
  const forRegistry = Object.assign(Object.create(null) as Record<string, unknown>, {
    newId: sequentialIds(),
  });
  const forSession = Object.assign(Object.create(null) as Record<string, unknown>, { sessionId });
  for (const [key, value] of Object.entries(rest)) {
    if (value === undefined) continue;
    if (ofRegistry.includes(key)) forRegistry[key] = value;
    else forSession[key] = value;
  }
  const registry = new HostToolRegistry<S>(forRegistry as RegistryOptions<S>);
  registry.registerAll(tools as readonly AnyTool<S>[]);
  checkOption('createTestSession', 'profiles', profiles, array());
  for (const one of profiles) registry.defineProfile(one);
  if (typeof profile === 'object' && profile !== null) registry.defineProfile(profile);
  if (profile !== undefined)
    forSession.profile = typeof profile === 'object' && profile !== null ? profile.id : profile;
  const session = registry.createSession(forSession as SessionOptions<S>);
  // The session itself, not a wrapper: whatever takes a session takes it.
  return Object.defineProperty(session, 'registry', {
    value: registry,
    enumerable: true,
  }) as TestSession<S>;
}
